"""Sessions of a few turns, for the rules that read what was said."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from knowrepo.distill.model import Proposal, Session
from knowrepo.distill.rules import RulesFinder
from knowrepo.sessions.record import Record, Role, SessionFacts

_ROLES: dict[str, Role] = {"u": "user", "a": "assistant", "t": "tool", "i": "injected"}


def records(*turns: tuple[str, str]) -> list[Record]:
    """Return records for turns given as (`u`, `a`, `t` or `i`; text)."""
    return [
        Record(f"r{line}", _ROLES[who], text, line) for line, (who, text) in enumerate(turns, 1)
    ]


def session(given: Iterable[Record], facts: SessionFacts | None = None) -> Session:
    return Session("claude/abc", "sessions/claude/abc.jsonl", facts or SessionFacts(), given)


def proposed(*turns: tuple[str, str], facts: SessionFacts | None = None) -> list[Proposal]:
    """Return what the rules propose for a session of these turns."""
    return RulesFinder().propose(session(records(*turns), facts))


class Lazy(Iterable[Record]):
    """Records that are made while they are gone through."""

    def __init__(self, made: Iterator[Record]) -> None:
        self._made = made

    def __iter__(self) -> Iterator[Record]:
        return self._made
