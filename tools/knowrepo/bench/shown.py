"""What a chunk or a hit shows of a labelled set: units of relevance, and labelled records.

Owns the mapping from places in the repository (a path, a chunk of it) to what is judged.
A chunk shows the lines from its own to the next one's.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

from knowrepo.bench.making import Answers
from knowrepo.bench.sets import Unit
from knowrepo.errors import KnowError
from knowrepo.index.catalog import Catalog, Filter
from knowrepo.recall.hits import Hit
from knowrepo.recall.ids import resolve

WHOLE = -1
"""In place of the number of a chunk: all of its document."""
_TO_THE_END = 1 << 40


@dataclass(frozen=True)
class Spot:
    """A chunk of a document, or `WHOLE` of it; ``also`` are others that say the same."""

    path: str
    seq: int = WHOLE
    also: tuple[Spot, ...] = ()


@dataclass(frozen=True)
class Piece:
    """A chunk as it is judged: the lines it shows, and its words."""

    path: str
    seq: int
    first: int
    last: int
    title: str
    heading: str
    text: str


class Shown:
    """The chunks of a catalog, and the units that each shows."""

    def __init__(
        self,
        catalog: Catalog,
        unit: Unit,
        exchanges: Mapping[str, Sequence[int]] | None = None,
        rows: Mapping[str, int] | None = None,
    ) -> None:
        """``rows`` are how many lines each dialogue of ``exchanges`` has."""
        self.unit = unit
        self._exchanges = exchanges or {}
        self._rows = rows or {}
        self._catalog = catalog
        self.pieces = [
            piece
            for document in catalog.newest(-1, Filter())
            for piece in _pieces(catalog, document.id, document.path, document.title)
        ]
        self._at = {(piece.path, piece.seq): piece for piece in self.pieces}

    def units(self, spot: Spot) -> tuple[str, ...]:
        """Return the units that a spot shows, in their order, and then those of its equals."""
        piece = self._at.get((spot.path, spot.seq))
        first, last = (piece.first, piece.last) if piece else (1, _TO_THE_END)
        own = self._of_lines(spot.path, first, last)
        others = (unit for other in spot.also for unit in self.units(other))
        return tuple(dict.fromkeys((*own, *others)))

    def right(self, answers: Answers) -> frozenset[str]:
        """Return the units that answer."""
        return frozenset(
            unit
            for path, lines in answers.items()
            for first, last in ([(line, line) for line in lines] or [(1, _TO_THE_END)])
            for unit in self._of_lines(path, first, last)
        )

    def holds_record(self, spot: Spot, answers: Answers) -> bool:
        """Say whether a spot, or one of its equals, shows a labelled line."""
        piece = self._at.get((spot.path, spot.seq))
        first, last = (piece.first, piece.last) if piece else (1, _TO_THE_END)
        own = any(first <= line <= last for line in answers.get(spot.path, ()))
        return own or any(self.holds_record(other, answers) for other in spot.also)

    def twins(self, answers: Answers) -> frozenset[str]:
        """Return the units that hold, verbatim, what answers: a labelled chunk, or a concept."""
        found: set[str] = set()
        for path, lines in answers.items():
            if lines:
                texts = {piece.text for piece in self._labelled(path, lines)}
                same = [piece for text in texts for piece in self._by_text[text]]
            else:
                same = self._whole_twins(path)
            for piece in same:
                found.update(self._of_lines(piece.path, piece.first, piece.last))
        return frozenset(found)

    def spots(self, hits: Iterable[Hit]) -> list[Spot]:
        """Return where hits lie; what says the same as one of them lies with it."""
        return [Spot(hit.path, hit.place, tuple(map(self._named, hit.also))) for hit in hits]

    def _named(self, uid: str) -> Spot:
        try:
            hit = resolve(self._catalog, uid)
        except KnowError:
            return Spot("")
        return Spot(hit.path, hit.place)

    def _of_lines(self, path: str, first: int, last: int) -> list[str]:
        if not path:
            return []
        starts = self._exchanges.get(path)
        if self.unit in ("session", "concept") or not starts:
            return [path]
        if self.unit == "row":
            return [f"{path}:{line}" for line in range(first, min(last, self._rows[path]) + 1)]
        low = max(1, bisect_right(starts, first))
        high = max(low, bisect_right(starts, last))
        return [f"{path}#{number}" for number in range(low, high + 1)]

    def _labelled(self, path: str, lines: Iterable[int]) -> list[Piece]:
        wanted = set(lines)
        return [
            piece
            for piece in self._by_path.get(path, [])
            if any(piece.first <= line <= piece.last for line in wanted)
        ]

    def _whole_twins(self, path: str) -> list[Piece]:
        own = self._by_path.get(path, [])
        texts = [piece.text for piece in own]
        same = {piece.path for piece in self._by_text.get(texts[0], [])} if texts else set()
        return [
            self._by_path[other][0]
            for other in same
            if [piece.text for piece in self._by_path[other]] == texts
        ]

    @cached_property
    def _by_path(self) -> dict[str, list[Piece]]:
        found: dict[str, list[Piece]] = {}
        for piece in self.pieces:
            found.setdefault(piece.path, []).append(piece)
        return found

    @cached_property
    def _by_text(self) -> dict[str, list[Piece]]:
        found: dict[str, list[Piece]] = {}
        for piece in self.pieces:
            found.setdefault(piece.text, []).append(piece)
        return found


def _pieces(catalog: Catalog, document: int, path: str, title: str) -> list[Piece]:
    chunks = catalog.chunks_of(document)
    ends = [max(one.line, after.line - 1) for one, after in pairwise(chunks)] + [_TO_THE_END]
    return [
        Piece(path, chunk.seq, chunk.line, end, title, chunk.heading, chunk.text)
        for chunk, end in zip(chunks, ends, strict=False)
    ]
