"""What a change does to recall: the same questions, asked before and after it.

Owns the comparison of two runs over the same cases, and which cases are asked no
more: who removes a failing case must be seen to do so. Asking is `evaluate`'s.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

from knowrepo.evaluate.cases import Case
from knowrepo.evaluate.run import Outcome

Turn = Literal["no longer found", "newly found", "found later", "found earlier"]
TURNS: tuple[Turn, ...] = ("no longer found", "newly found", "found later", "found earlier")


@dataclass(frozen=True)
class Turned:
    """A case that has another outcome than before; ranks count from 1, None is not found."""

    turn: Turn
    case: Case
    before: int | None
    after: int | None


def compare(before: Sequence[Outcome], after: Sequence[Outcome]) -> list[Turned]:
    """Return the cases whose outcome is another, the worst first; both runs ask the same cases."""
    found = [
        Turned(turn, new.case, old.rank, new.rank)
        for old, new in zip(before, after, strict=True)
        if (turn := _turn(old, new)) is not None
    ]
    return sorted(found, key=lambda one: (TURNS.index(one.turn), one.case.line))


def no_longer_asked(before: Iterable[Case], after: Iterable[Case]) -> list[Case]:
    """Return the cases whose question is asked no more."""
    asked = {case.question for case in after}
    return [case for case in before if case.question not in asked]


def _turn(old: Outcome, new: Outcome) -> Turn | None:
    if old.passed != new.passed:
        return "newly found" if new.passed else "no longer found"
    if old.rank is None or new.rank is None or old.rank == new.rank:
        return None
    return "found later" if new.rank > old.rank else "found earlier"
