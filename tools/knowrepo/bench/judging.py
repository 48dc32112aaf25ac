"""What ranked answers are worth: the figures of a layer, and how two layers compare.

Owns which figures are given of a set, by kind and over all; what each means is
`evaluate.metrics`' business.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass
from statistics import fmean

from knowrepo.bench.making import Answers
from knowrepo.bench.sets import Question
from knowrepo.bench.shown import Shown, Spot
from knowrepo.evaluate.metrics import (
    first_right,
    hit_at,
    ndcg_at,
    paired_lower_bound,
    recall_at,
    reciprocal_rank,
)

DEPTH = 100
"""Units of an answer that are judged."""
ALL = "all"
_COMPARED = ("hit@1", "hit@5", "mrr")


@dataclass(frozen=True)
class Asked:
    """A question of a set with what answers it, as units of this repository.

    ``twins`` are the units that hold the answer verbatim, the right ones among them.
    """

    question: Question
    answers: Answers
    right: frozenset[str]
    twins: frozenset[str]

    @property
    def kind(self) -> str:
        """The kind of the question."""
        return self.question.kind


@dataclass(frozen=True)
class Ranked:
    """What a layer answered to one question: units, best first, each shown by one spot."""

    units: list[str]
    rank: int | None
    group_rank: int | None
    record: bool | None  # whether one of the first five shows a labelled record


@dataclass(frozen=True)
class Figures:
    """The figures of some questions, as shares; None where nothing of it is labelled."""

    kind: str
    questions: int
    hit_1: float
    hit_5: float
    recall_1: float
    recall_5: float
    recall_10: float
    mrr: float
    ndcg_10: float
    record_5: float | None = None
    group_1: float | None = None
    group_5: float | None = None

    def facts(self) -> dict[str, object]:
        """Return them as JSON has them."""
        return {
            name: round(value, 4) if isinstance(value, float) else value
            for name, value in asdict(self).items()
        }


@dataclass(frozen=True)
class Compared:
    """How a layer stands against another, by kind and over all.

    ``bounds`` are the one-sided lower 95 % bounds of the mean difference, by paired
    bootstrap; ``lost`` and ``won`` count questions of which one alone is right.
    """

    kind: str
    questions: int
    bounds: dict[str, float]
    lost: dict[str, int]
    won: dict[str, int]

    def facts(self) -> dict[str, object]:
        """Return it as JSON has it."""
        return asdict(self) | {"bounds": {k: round(v, 4) for k, v in self.bounds.items()}}


def ranked(asked: Asked, spots: Iterable[Spot], shown: Shown) -> Ranked:
    """Judge what a layer gave: each unit counts at the first spot that shows it.

    A spot that shows several stands for one: a right one, if it is new, else the first that
    is new. One that shows nothing new takes no place.
    """
    units: list[str] = []
    seen: set[str] = set()
    first_five: list[Spot] = []
    for spot in spots:
        new = [unit for unit in shown.units(spot) if unit not in seen]
        if not new:
            continue
        unit = next((one for one in new if one in asked.right), None)
        unit = unit or next((one for one in new if one in asked.twins), new[0])
        # A long chunk shows many rows; that it was seen holds of all of them.
        seen.update(one for one in new if one == unit or one not in asked.right)
        units.append(unit)
        if len(units) <= 5:
            first_five.append(spot)
        if len(units) == DEPTH:
            break
    labelled = any(asked.answers.values())
    return Ranked(
        units,
        first_right(units, asked.right),
        first_right(units, asked.twins),
        any(shown.holds_record(spot, asked.answers) for spot in first_five) if labelled else None,
    )


def figures(asked: Sequence[Asked], answers: Sequence[Ranked]) -> list[Figures]:
    """Return the figures over all answerable questions, and then by kind."""
    pairs = [(one, answer) for one, answer in zip(asked, answers, strict=True) if one.right]
    kinds = dict.fromkeys(one.kind for one, _ in pairs)
    found = [_figures(ALL, pairs)] if pairs else []
    if len(kinds) > 1:
        found += [_figures(kind, [p for p in pairs if p[0].kind == kind]) for kind in kinds]
    return found


def _figures(kind: str, pairs: Sequence[tuple[Asked, Ranked]]) -> Figures:
    def mean(figure: Callable[[Asked, Ranked], float]) -> float:
        return fmean(figure(one, answer) for one, answer in pairs)

    records = [answer.record for _, answer in pairs if answer.record is not None]
    twinned = any(one.twins - one.right for one, _ in pairs)
    return Figures(
        kind,
        len(pairs),
        mean(lambda _, a: hit_at(a.rank, 1)),
        mean(lambda _, a: hit_at(a.rank, 5)),
        mean(lambda one, a: recall_at(a.units, one.right, 1)),
        mean(lambda one, a: recall_at(a.units, one.right, 5)),
        mean(lambda one, a: recall_at(a.units, one.right, 10)),
        mean(lambda _, a: reciprocal_rank(a.rank)),
        mean(lambda one, a: ndcg_at(a.units, one.right, 10)),
        fmean(records) if records else None,
        mean(lambda _, a: hit_at(a.group_rank, 1)) if twinned else None,
        mean(lambda _, a: hit_at(a.group_rank, 5)) if twinned else None,
    )


def compared(
    asked: Sequence[Asked], ours: Sequence[Ranked], theirs: Sequence[Ranked]
) -> list[Compared]:
    """Compare two layers question by question, over all and by kind."""
    rows = [row for row in zip(asked, ours, theirs, strict=True) if row[0].right]
    kinds = dict.fromkeys(one.kind for one, _, _ in rows)
    found = [_compared(ALL, rows)] if rows else []
    if len(kinds) > 1:
        found += [_compared(kind, [row for row in rows if row[0].kind == kind]) for kind in kinds]
    return found


def _compared(kind: str, rows: Sequence[tuple[Asked, Ranked, Ranked]]) -> Compared:
    bounds: dict[str, float] = {}
    lost: dict[str, int] = {}
    won: dict[str, int] = {}
    for name in _COMPARED:
        ours = [_value(name, answer.rank) for _, answer, _ in rows]
        theirs = [_value(name, answer.rank) for _, _, answer in rows]
        bounds[name] = paired_lower_bound(ours, theirs)
        if name != "mrr":
            lost[name] = sum(a < b for a, b in zip(ours, theirs, strict=True))
            won[name] = sum(a > b for a, b in zip(ours, theirs, strict=True))
    return Compared(kind, len(rows), bounds, lost, won)


def _value(name: str, rank: int | None) -> float:
    return reciprocal_rank(rank) if name == "mrr" else hit_at(rank, int(name.partition("@")[2]))
