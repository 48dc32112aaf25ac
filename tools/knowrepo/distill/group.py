"""What belongs together: statements of one matter, wherever in a session they stand.

Owns the likeness of statements: stems that both have, the rare ones counting
more, and how far apart they were said. A statement is compared with matters
that share a stem with it, and no more of them than a fixed number, so that a
session takes time in proportion to its statements.
"""

from __future__ import annotations

import heapq
import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from knowrepo.distill.model import Kind, Statement

LEAD = 0.72
"""The weight from which on a statement can be what a concept is made of."""
LEAD_ALONE = 0.85
"""The same of what an agent said once and nothing else in the session bears out."""
_BACKED = 0.06  # what each other turn that says it again adds
_CANDIDATES = 12  # matters that a statement is compared with
_COMMON = 40  # matters of one stem beyond which the stem leads to none of them
_MEMBERS = 40  # statements of a matter that are kept
_LATEST = 8  # of them that another is compared with
_BREATH = 0.9  # how far what stands around a statement counts
_OPPOSED = 0.3  # likeness of what is said and what takes it back
_CLOSE, _STRETCH = 6, 12  # turns apart that are near; in which one thing is being mended

# Likeness from which on two statements are of one matter, by where they stand; those of
# one paragraph or list item are.
_SAME = 0.8  # anywhere
_IN_LIST, _IN_TURN = 0.2, 0.42
_NEAR, _FAR = 0.42, 0.5
_UNLIKE = 0.6  # a user's wish, and what went wrong with it
_MENDED, _MENDED_FAR = 0.18, 0.3  # a cause and its fix
_AT_WORK, _AT_WORK_FAR = 0.3, 0.4  # two causes, two fixes
_WORK = frozenset({"cause", "fix"})

# What refers to something that was said before.
_OBJECTS = frozenset("it this that them these those".split())
_PRONOUNS = frozenset("it it's this that that's these those they he she there so such".split())


@dataclass(frozen=True, slots=True)
class Said:
    """A statement with its place: the number of its turn, of its block there, its list.

    ``own`` marks one of several in a list, each for itself; ``one`` one of several
    that say one thing. ``around`` are the stems of what a user said in one breath.
    """

    statement: Statement
    stems: frozenset[str]
    turn: int
    block: int
    heading: str = ""
    own: bool = False
    one: bool = False
    around: frozenset[str] = frozenset()

    @property
    def kind(self) -> Kind:
        """What the statement is."""
        return self.statement.kind


@dataclass(slots=True)
class Matter:
    """Statements of one thing, in the order in which they were said."""

    members: list[Said] = field(default_factory=list)
    lead: Said | None = None


class _Rarity:
    """How much a stem tells among the statements of a session."""

    def __init__(self, statements: Sequence[Said]) -> None:
        counts: Counter[str] = Counter()
        for said in statements:
            counts.update(said.stems)
        total = len(statements) + 1
        self._weights = {stem: math.log(1 + total / n) for stem, n in counts.items()}

    def sum(self, stems: Iterable[str]) -> float:
        return sum(self._weights[stem] for stem in stems)

    def likeness(self, one: frozenset[str], other: frozenset[str]) -> float:
        """Return how alike two statements are, 0 to 1, by the shorter of them."""
        shared = one & other
        if len(shared) < min(2, len(one), len(other)):
            return 0.0
        smaller = min(self.sum(one), self.sum(other))
        return self.sum(shared) / smaller if smaller else 0.0

    def covered(self, one: frozenset[str], breath: frozenset[str]) -> float:
        """Return how much of a statement a user said in one breath, though not in one sentence."""
        shared = one & breath
        return self.sum(shared) / self.sum(one) if len(shared) > 1 else 0.0


def matters(statements: Sequence[Said], withdrawals: Sequence[Said] = ()) -> list[Matter]:
    """Return the matters of a session that can be led, in the order in which they came up.

    ``withdrawals`` are statements by which something said before was taken back.
    """
    rarity = _Rarity([*statements, *withdrawals])
    gathering = _Gathering(rarity)
    for said in statements:
        gathering.add(said)
    found = gathering.matters
    for matter in found:
        _take_back(matter, withdrawals, rarity)
        matter.lead = _lead(matter)
    return [matter for matter in found if matter.lead is not None]


class _Gathering:
    """The matters so far, found by the stems of their statements."""

    def __init__(self, rarity: _Rarity) -> None:
        self.matters: list[Matter] = []
        self._rarity = rarity
        self._by_stem: dict[str, list[int]] = defaultdict(list)

    def add(self, said: Said) -> None:
        best, place = 0.0, -1
        for number in self._candidates(said):
            closeness = max(
                (self._nearness(said, other) for other in self.matters[number].members[-_LATEST:]),
                default=0.0,
            )
            if closeness > best:
                best, place = closeness, number
        if best < 1.0:
            place = len(self.matters)
            self.matters.append(Matter())
        matter = self.matters[place]
        if len(matter.members) < _MEMBERS:
            matter.members.append(said)
            for stem in said.stems | said.around:
                where = self._by_stem[stem]
                if not where or where[-1] != place:
                    where.append(place)

    def _candidates(self, said: Said) -> list[int]:
        """Return the matters that share most stems with a statement, and the latest one."""
        votes: Counter[int] = Counter()
        for stem in said.stems:
            places = self._by_stem.get(stem, ())
            if len(places) <= _COMMON:
                votes.update(dict.fromkeys(places, 1))
        near = heapq.nlargest(_CANDIDATES, votes, key=lambda number: (votes[number], number))
        latest = len(self.matters) - 1
        return near if latest < 0 or latest in near else [*near, latest]

    def _nearness(self, said: Said, other: Said) -> float:
        """Return likeness as a share of what is enough; from 1 on they belong together."""
        likeness = self._rarity.likeness(said.stems, other.stems)
        if said.turn == other.turn:
            return _within(said, other, likeness)
        if other.around:
            likeness = max(likeness, _BREATH * self._rarity.covered(said.stems, other.around))
        if likeness >= _SAME:
            return 1.0 + likeness
        return likeness / _enough(said, other)


def _within(said: Said, other: Said, likeness: float) -> float:
    """Return the nearness of two statements of one turn."""
    listed = bool(said.heading) and said.heading == other.heading
    apart = said.block - other.block
    if listed and said.own and other.own:
        return 0.0
    if listed and said.one and other.one:
        return 1.0
    if apart == 0:
        return 1.0 + likeness
    if listed and said.kind == other.kind == "rejection" and apart <= 2:
        return 1.0
    if other.kind == "cause" and said.kind == "fix":
        return max(likeness / _MENDED, 1.5 - apart / 10)  # the nearest cause, up to five blocks up
    return likeness / (_IN_LIST if listed else _IN_TURN)


def _enough(said: Said, other: Said) -> float:
    """Return the likeness that makes two statements of different turns one matter."""
    apart = said.turn - other.turn
    if {said.kind, other.kind} == _WORK:
        return _MENDED if apart <= _STRETCH else _MENDED_FAR
    if said.kind == other.kind and said.kind in _WORK:
        return _AT_WORK if apart <= _STRETCH else _AT_WORK_FAR
    if _WORK & {said.kind, other.kind} and "user" in {said.statement.role, other.statement.role}:
        return _UNLIKE
    return _NEAR if apart <= _CLOSE else _FAR


def _take_back(matter: Matter, withdrawals: Sequence[Said], rarity: _Rarity) -> None:
    """Leave out what was withdrawn later: explicitly, or by what the user wanted instead."""
    members = matter.members
    for gone in withdrawals:
        members = [
            said for said in members if said.turn >= gone.turn or not _withdraws(gone, said, rarity)
        ]
    objections = [s.turn for s in members if s.kind == "correction" and s.statement.role == "user"]
    if objections:
        last = max(objections)
        members = [s for s in members if s.turn >= last or s.statement.role == "user"]
    matter.members = members


def _withdraws(gone: Said, said: Said, rarity: _Rarity) -> bool:
    if len(gone.stems) < 3:  # `no, undo that`: what was said last
        return gone.turn - said.turn == 1
    return rarity.likeness(gone.stems, said.stems) >= _OPPOSED


def _lead(matter: Matter) -> Said | None:
    """Return the statement that says the matter best, or None where none says it well enough.

    What was said last of equals leads: it holds.
    """
    if not matter.members:
        return None
    best = max(matter.members, key=lambda said: (_standing(said), said.turn))
    alone = len(matter.members) == 1 and best.statement.role == "assistant" and best.kind != "fix"
    if alone and best.statement.weight < LEAD_ALONE:
        return None
    said_again = {(said.turn, said.kind == "fix") for said in matter.members}
    backing = min(2, len(said_again) - 1) * _BACKED
    return best if _standing(best) + backing >= LEAD else None


def _standing(said: Said) -> float:
    """Return how well a statement stands alone: a short one, or one of a pronoun, stands less."""
    words = said.statement.text.casefold().split()
    short = (0.0, 0.15, 0.25)[(len(said.stems) < 3) + (len(said.stems) < 2)]
    vague = 0.2 if words[0] in _PRONOUNS else 0.0
    loose = 0.1 if len(said.stems) < 7 and not _OBJECTS.isdisjoint(words[1:4]) else 0.0
    return said.statement.weight - short - vague - loose
