"""One failure that was found twice: by what was said of it, and by what was tried.

Owns when two proposals of a session are about one matter, and what the joined
one is. What was tried says more of a failure, so that it leads.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

from knowrepo.distill.model import Proposal, Statement

MOST_EVIDENCE = 12
"""Statements of a joined proposal."""
_ALIKE = 0.6  # share of the words of the shorter of two statements that are one
_WORD = re.compile(r"\w+")
_SAID = frozenset({"cause", "fix"})


def joined(said: Sequence[Proposal], tried: Sequence[Proposal]) -> list[Proposal]:
    """Return the proposals of both, those of one matter as one."""
    causes = Counter(
        record for one in said for record in {s.record for s in one.statements if s.kind == "cause"}
    )
    left = list(said)
    found = []
    for proposal in tried:
        same = [one for one in left if _is_one(one, proposal, causes)]
        left = [one for one in left if not any(one is other for other in same)]
        found.append(_with(proposal, same))
    return [*left, *found]


def _is_one(said: Proposal, tried: Proposal, causes: Counter[str]) -> bool:
    """Say whether both give one cause.

    That is one sentence, or a record that gives the cause of one matter alone.
    """
    mine = [one for one in said.statements if one.kind in _SAID]
    theirs = [one for one in tried.statements if one.kind == "cause"]
    return any(
        one.record == other.record
        and (_alike(one, other) or (one.kind == "cause" and causes[one.record] == 1))
        for one in mine
        for other in theirs
    )


def _alike(one: Statement, other: Statement) -> bool:
    mine, theirs = (set(_WORD.findall(s.text.casefold())) for s in (one, other))
    return len(mine & theirs) >= _ALIKE * max(1, min(len(mine), len(theirs)))


def _with(proposal: Proposal, others: Sequence[Proposal]) -> Proposal:
    """Return a proposal with what others add to it: statements and tags."""
    statements = list(proposal.statements)
    for statement in (one for other in others for one in other.statements):
        held = any(one.record == statement.record and _alike(one, statement) for one in statements)
        if not held and len(statements) < MOST_EVIDENCE:
            statements.append(statement)
    tags = dict.fromkeys([*proposal.tags, *(tag for other in others for tag in other.tags)])
    return replace(proposal, statements=tuple(statements), tags=tuple(tags)[:5])
