"""Secrets in text: what they look like, and what is put in their place."""

from knowrepo.sessions.redact.gate import Suspects
from knowrepo.sessions.redact.redactor import DEFAULT, DEFAULT_RULES, SHORTEST, Redactor

redact = DEFAULT.redact
redact_value = DEFAULT.redact_value

__all__ = ["DEFAULT", "DEFAULT_RULES", "SHORTEST", "Redactor", "Suspects", "redact", "redact_value"]
