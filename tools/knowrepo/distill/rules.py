"""Finding by rules: free, and fast enough for every session.

Owns the one pass over a session's records that all rules share.
"""

from __future__ import annotations

from knowrepo.distill.attempts import Attempts
from knowrepo.distill.model import Proposal, Session

RULES = 1
"""The version of the rules: with another one every session is looked at again."""


class RulesFinder:
    """What proposes by rules; see `model.Finder`."""

    name = f"knowrepo/rules-{RULES}"

    def propose(self, session: Session) -> list[Proposal]:
        """See `Finder.propose`."""
        attempts = Attempts(session)
        for record in session.records:
            attempts.take(record)
        return attempts.done()
