"""Secrets in text: what they look like, and what is put in their place.

- `rule`: what a rule is; `rules`: our own; `library`: those of detect-secrets
- `names`: values under a name that tells; `keys`: private keys, whole or cut
- `gate`: which rules can match at all; `redactor`: finding, and replacing
- `settings`: who may allow and add what
- `cover`: one line as another with placeholders; `pseudonyms`: user names in paths
"""

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
