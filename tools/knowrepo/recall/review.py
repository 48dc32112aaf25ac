"""What the log of recalls tells: who asked how often, what stayed unanswered, what it spared.

Owns how the lines of `journal` are read, tolerantly, and which opening belongs to
which recall: the latest that showed the id, within half an hour. Tokens are an
estimate, at four characters each.
"""

from __future__ import annotations

import json
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from statistics import median
from typing import Any

from knowrepo.git.layout import Repository
from knowrepo.recall import journal

WITHIN = timedelta(minutes=30)
"""How long after a recall an opening still belongs to it."""
CHARACTERS = 4
"""Of a token, by estimate."""
NO_HIT, NOT_CONFIDENT = "no hit", "no confident match"
_BEGINNING = b'{"did": '


@dataclass
class Recall:
    """A recall as it was noted; ``ranks`` are those of its hits that were opened, from 1."""

    time: datetime
    query: str
    only: dict[str, str]
    route: str
    confident: bool
    hits: int
    shown: list[list[str]]  # of each hit its id, and those of what says the same
    milliseconds: float
    printed: int
    whole: int
    bodies: bool
    by: str
    ranks: set[int] = field(default_factory=set)

    @property
    def why_unanswered(self) -> str:
        """Why it counts as unanswered, '' where it does not: what was opened was an answer."""
        if not self.hits:
            return NO_HIT
        return "" if self.confident or self.ranks else NOT_CONFIDENT


@dataclass(frozen=True)
class Opening:
    """Ids that were opened, and how many characters that showed."""

    time: datetime
    ids: list[str]
    printed: int


@dataclass(frozen=True)
class Unanswered:
    """A query that found nothing to rely on: how often, when last, and why then."""

    query: str
    count: int
    last: str
    why: str


@dataclass(frozen=True)
class Review:
    """What the recalls of a period tell. Amounts of text are characters, times milliseconds.

    ``opened`` counts recalls by the rank of the best hit that was opened, of those
    that left something to be opened (``openable``).
    """

    recalls: int = 0
    first: str = ""
    last: str = ""
    routes: dict[str, int] = field(default_factory=dict)
    askers: dict[str, int] = field(default_factory=dict)
    confident: int = 0
    openable: int = 0
    opened: dict[int, int] = field(default_factory=dict)
    unanswered: tuple[Unanswered, ...] = ()
    most_opened: tuple[tuple[str, int, str], ...] = ()  # id, how often, when last
    milliseconds: float = 0.0
    printed: int = 0
    whole: int = 0
    read: int = 0

    @property
    def tokens_spared(self) -> int:
        """By estimate: the bodies of all hits, less what was printed and opened of them."""
        return max(0, self.whole - self.printed - self.read) // CHARACTERS


def review(repository: Repository, *, since: str = "", until: str = "") -> Review:
    """Sum up the recalls of a period; the bounds are ISO times or their beginnings, inclusive."""

    def within(time: datetime) -> bool:
        text = _text(time)
        return (not since or text >= since) and (not until or text[: len(until)] <= until)

    recalls, openings = _read(repository)
    recalls = [one for one in recalls if within(one.time)]
    times = [one.time for one in recalls]
    counts: Counter[str] = Counter()
    last: dict[str, str] = {}
    read = 0
    for opening in openings:
        before = recalls[
            bisect_right(times, opening.time - WITHIN) : bisect_right(times, opening.time)
        ]
        ours = [uid for uid in opening.ids if _joined(before, uid)]
        read += opening.printed * len(ours) // max(1, len(opening.ids))
        if within(opening.time):
            counts.update(opening.ids)
            last.update(dict.fromkeys(opening.ids, _text(opening.time)))
    openable = [one for one in recalls if one.hits and not one.bodies]
    return Review(
        recalls=len(recalls),
        first=_text(recalls[0].time) if recalls else "",
        last=_text(recalls[-1].time) if recalls else "",
        routes=dict(Counter(one.route for one in recalls).most_common()),
        askers=dict(Counter(one.by for one in recalls).most_common()),
        confident=sum(one.confident and one.hits > 0 for one in recalls),
        openable=len(openable),
        opened=dict(sorted(Counter(min(one.ranks) for one in openable if one.ranks).items())),
        unanswered=tuple(_unanswered(recalls)),
        most_opened=tuple((uid, many, last[uid]) for uid, many in counts.most_common()),
        milliseconds=median(one.milliseconds for one in recalls) if recalls else 0.0,
        printed=sum(one.printed for one in recalls),
        whole=sum(one.whole for one in recalls),
        read=read,
    )


def _joined(recalls: list[Recall], uid: str) -> bool:
    """Give an opening to the latest of these recalls that showed the id; says whether one did."""
    for one in reversed(recalls):
        for rank, (own, *also) in enumerate(one.shown, 1):
            if own == uid or any(uid.startswith(other) for other in also if other):
                one.ranks.add(rank)
                return True
    return False


def _unanswered(recalls: Iterable[Recall]) -> Iterator[Unanswered]:
    """Yield the queries without an answer, the newest first, each spelling once."""
    found: dict[str, list[Recall]] = {}
    for one in recalls:
        if one.why_unanswered:
            asked = " ".join([one.query, *(f"{k}:{v}" for k, v in one.only.items())]).strip()
            # What was asked last goes last, also among those of one second.
            before = found.pop(asked.casefold(), [])
            found[asked.casefold()] = [*before, one]
    for asked, times in reversed(found.items()):
        newest = times[-1]
        rest = asked[len(newest.query.casefold()) :]
        yield Unanswered(newest.query + rest, len(times), _text(newest.time), newest.why_unanswered)


# -- reading ----------------------------------------------------------------------


def _read(repository: Repository) -> tuple[list[Recall], list[Opening]]:
    """Return what is noted of this knowledge repository, in order of time."""
    recalls: list[Recall] = []
    openings: list[Opening] = []
    place = journal.inside(repository)
    for entry in _entries(repository):
        try:
            if str(entry.get("in", "")) != place:
                continue
            if entry["did"] == "recall":
                recalls.append(_recall(entry))
            elif entry["did"] == "opened":
                ids = [str(uid) for uid in entry["ids"]]
                openings.append(Opening(_time(entry), ids, int(entry["printed"])))
        except (ValueError, TypeError, KeyError, AttributeError, OverflowError):  # no line of ours
            continue
    recalls.sort(key=lambda one: one.time)
    openings.sort(key=lambda one: one.time)
    return recalls, openings


def _entries(repository: Repository) -> Iterator[dict[str, Any]]:
    """Yield the lines of the log; what is none, or was cut, is left out."""
    for file in journal.files(repository):
        try:
            data = file.read_bytes()
        except OSError:
            continue
        for line in data.split(b"\n"):
            # A full disk, or a kill, may have cut a line; the next one then stands behind it.
            start = line.rfind(_BEGINNING)
            try:
                entry = json.loads(line[start:]) if start >= 0 else None
            except (ValueError, RecursionError):
                continue
            if isinstance(entry, dict):
                yield entry


def _recall(entry: dict[str, Any]) -> Recall:
    return Recall(
        time=_time(entry),
        query=str(entry["query"]),
        only={str(key): str(value) for key, value in entry["only"].items()},
        route=str(entry["route"]),
        confident=entry["confident"] is True,
        hits=int(entry["hits"]),
        shown=[[str(uid), *map(str, also)] for uid, _score, *also in entry["shown"]],
        milliseconds=float(entry["ms"]),
        printed=int(entry["printed"]),
        whole=int(entry["whole"]),
        bodies=entry.get("bodies") is True,
        by=str(entry.get("by", "")),
    )


def _time(entry: dict[str, Any]) -> datetime:
    found = datetime.fromisoformat(entry["time"])
    if found.tzinfo is None:
        raise ValueError("a time without a zone")
    return found


def _text(time: datetime) -> str:
    return time.isoformat(timespec="seconds").replace("+00:00", "Z")
