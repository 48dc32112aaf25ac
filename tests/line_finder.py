"""A finder without judgement: what a line of a session says it is, that it is.

`decision cache: We use a cache.` is a statement of the group `cache`; a group is a
proposal. It is a real `Finder`, and the same session always gives the same.
"""

from __future__ import annotations

import re
from typing import get_args

from knowrepo.distill.model import Kind, Proposal, Session, Statement

_LINE = re.compile(rf"({'|'.join(get_args(Kind))}) (\w+): (.+)")
_TYPES = {"preference": "Preference", "correction": "Correction", "worked": "Solution"}


class LineFinder:
    def __init__(self, name: str = "lines/1") -> None:
        self.name = name
        self.seen: list[str] = []

    def propose(self, session: Session) -> list[Proposal]:
        self.seen.append(session.name)
        groups: dict[str, list[Statement]] = {}
        for record in session.records:
            for kind, group, text in _LINE.findall(record.text):
                said = Statement(kind, text, record.key, record.line, record.role, record.time)
                groups.setdefault(group, []).append(said)
        return [self._proposal(session.name, group, said) for group, said in groups.items()]

    def _proposal(self, session: str, group: str, said: list[Statement]) -> Proposal:
        title = said[-1].text.rstrip(".")
        kind = _TYPES.get(said[0].kind, "Decision")
        return Proposal(kind, title, f"{title}.", session, tuple(said), tags=(group,))
