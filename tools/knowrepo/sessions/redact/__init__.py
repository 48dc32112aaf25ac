"""Secrets in text: what they look like, and what is put in their place."""

from knowrepo.sessions.redact.cover import covers
from knowrepo.sessions.redact.gate import Suspects
from knowrepo.sessions.redact.redactor import DEFAULT, DEFAULT_RULES, SHORTEST, Redactor

redact = DEFAULT.redact
redact_value = DEFAULT.redact_value

__all__ = [
    "DEFAULT",
    "DEFAULT_RULES",
    "SHORTEST",
    "Redactor",
    "Suspects",
    "covers",
    "redact",
    "redact_value",
]
