"""Finding by rules: free, and fast enough for every session.

Owns the one pass over a session's records that all rules share.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from knowrepo.distill.model import Proposal, Session
from knowrepo.sessions.record import Record

RULES = 1
"""The version of the rules: with another one every session is looked at again."""


class Watcher(Protocol):
    """What finds proposals in one pass over a session's records."""

    def take(self, record: Record) -> None:
        """See one record."""

    def done(self) -> list[Proposal]:
        """Return what was found, at the end of the session."""


class RulesFinder:
    """What proposes by rules; see `model.Finder`."""

    name = f"knowrepo/rules-{RULES}"

    def __init__(self, watch: Callable[[Session], Watcher]) -> None:
        self._watch = watch

    def propose(self, session: Session) -> list[Proposal]:
        """See `Finder.propose`."""
        watcher = self._watch(session)
        for record in session.records:
            watcher.take(record)
        return watcher.done()
