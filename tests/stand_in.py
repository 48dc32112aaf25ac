"""A session of a few turns, and a finder by one plain rule that stands in for a language model."""

from __future__ import annotations

from knowrepo.distill.model import Proposal, Session, Statement
from knowrepo.sessions.record import Record, Role, SessionFacts


def session(*turns: tuple[Role, str], name: str = "claude/s1") -> Session:
    """Return a session of these turns; the record of the first is `k1`, on line 1."""
    records = [
        Record(key=f"k{number}", role=role, text=text, line=number, time="2026-05-01T10:00:00Z")
        for number, (role, text) in enumerate(turns, start=1)
    ]
    return Session(name, f"sessions/{name}.jsonl", SessionFacts(), records)


class StandIn:
    """Proposes every user's turn that says `always`."""

    name = "stand-in"

    def propose(self, session: Session) -> list[Proposal]:
        return [
            Proposal("Preference", one.text, one.text, session.name, (
                Statement("preference", one.text, one.key, one.line, "user"),
            ))
            for one in session.records
            if one.role == "user" and "always" in one.text.lower()
        ]  # fmt: skip
