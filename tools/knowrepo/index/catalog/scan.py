"""The words of chunks in an ordinary table, for a SQLite that has no FTS5.

Owns BM25 in Python, over the rows of `words`: the same chunks, scores and order
as `words.FullText` gives, by reading all of them. Rows go by one at a time, and
only the best are held, so the memory does not grow with the archive.

The formula is that of FTS5's `bm25()`: an occurrence counts by the weight of its
column; a form that more than half of the chunks hold has a very small weight, not
a negative one; a text is long by the words of all columns together. It is
computed in the same order, so that equal scores stay equal.
"""

from __future__ import annotations

import math
import sqlite3
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from heapq import nlargest

from knowrepo.index.catalog.conditions import batches
from knowrepo.index.catalog.rows import Occurrence, Often
from knowrepo.index.catalog.words import WEIGHTS, Among, Row, forms_of
from knowrepo.index.text import PREFIX, forms

_COLUMNS = ("title", "heading", "body")
_K1 = 1.2
_B = 0.75
_LEAST_WEIGHT = 1e-6  # of a form that is no rarity

_Forms = tuple[str, ...]
# A row: its number, its size and its text, in which a space stands before and after
# each word, and a line break between two columns.
_ROW = (
    "words.id, words.size, ' ' || words.title || ' \n ' || words.heading || ' \n '"
    " || words.body || ' '"
)


class Scan:
    """The words of chunks in a table that is read through for each question.

    Where all that ``db`` reads is of one state, ``settled``, what was counted once
    is remembered: a search asks how frequent each of its words is.
    """

    # The size comes first: it is read without what follows it.
    TABLE = """
CREATE TABLE words (
    id INTEGER PRIMARY KEY,        -- of a chunk
    size INTEGER NOT NULL,         -- how many words there are
    title TEXT NOT NULL,           -- words, and one space between two
    heading TEXT NOT NULL,
    body TEXT NOT NULL
);
"""

    def __init__(self, db: sqlite3.Connection, *, settled: bool = False) -> None:
        self._db = db
        self._settled = settled
        self._counted: dict[_Forms, int] = {}
        self._rows = self._size = 0

    def add(self, rows: Iterable[Row]) -> None:
        """See `Words.add`."""
        self._db.executemany(
            "INSERT INTO words (id, size, title, heading, body) VALUES (?, ?, ?, ?, ?)",
            (_stored(number, columns) for number, *columns in rows),
        )

    def forget(self, numbers: Iterable[int], rows: Iterable[Row]) -> None:  # noqa: ARG002
        """See `Words.forget`."""
        self._db.executemany("DELETE FROM words WHERE id = ?", ((number,) for number in numbers))

    def best(self, words: Sequence[str], limit: int, among: Among) -> list[tuple[int, float]]:
        """See `Words.best`."""
        sought = _Sought([(form,) for form in forms_of(words)])
        # The words too: a search asks next how frequent they are.
        counted = self._count([*sought.groups, *map(forms, words)])
        if not self._rows:
            return []
        average = self._size / self._rows
        weights = [_weight(self._rows, counted[group]) for group in sought.groups]
        rows = self._db.execute(
            f"SELECT {_ROW} FROM {among.tables} WHERE {among.condition}", among.values
        )
        scored = (
            (_score(weights, sought.occurrences(text, held), size, average), -number)
            for number, size, text in rows
            if (held := sought.held(text))
        )
        return [(-number, score) for score, number in nlargest(limit, scored)]

    def holding(self, word: str, chunks: Sequence[int]) -> set[int]:
        """See `Words.holding`."""
        sought = _Sought([forms(word)])
        found: set[int] = set()
        for some in batches(chunks):
            rows = self._db.execute(
                f"SELECT {_ROW} FROM words WHERE id IN ({','.join('?' * len(some))})", list(some)
            )
            found.update(number for number, _, text in rows if sought.held(text))
        return found

    def frequency(self, word: str) -> int:
        """See `Words.frequency`."""
        group = forms(word)
        return self._count([group])[group]

    def often(self, words: Sequence[str]) -> dict[str, Often]:
        """See `Words.often`: every form is counted for itself, and every term of a beginning."""
        places: Counter[str] = Counter()
        chunks: Counter[str] = Counter()
        sought = _Sought([forms(word) for word in words])
        for _, _, text in self._db.execute(f"SELECT {_ROW} FROM words"):
            for place in sought.held(text):
                for form in dict.fromkeys(sought.groups[place]):
                    terms = _terms_of(form, text)
                    places[words[place]] += len(terms)
                    chunks[words[place]] += len(set(terms))
        return {word: Often(places[word], chunks[word]) for word in words}

    def occurrences(
        self, words: Sequence[str], among: Collection[int] | None
    ) -> dict[str, list[Occurrence]]:
        """See `Words.occurrences`."""
        sought = _Sought([forms(word) for word in words])
        found: dict[str, list[Occurrence]] = {word: [] for word in words}
        wanted = None if among is None else frozenset(among)
        for number, _, text in self._db.execute(f"SELECT {_ROW} FROM words"):
            if wanted is None or number in wanted:
                for place in sought.held(text):
                    found[words[place]] += _occurrences(number, text, sought.groups[place])
        return found

    def vocabulary(self, prefix: str, shortest: int, longest: int) -> dict[str, int]:
        """See `Words.vocabulary`."""
        return self._terms(
            lambda term: term.startswith(prefix) and shortest <= len(term) <= longest
        )

    def terms_among(self, terms: Sequence[str]) -> dict[str, int]:
        """See `Words.terms_among`."""
        return self._terms(frozenset(terms).__contains__)

    def _terms(self, wanted: Callable[[str], bool]) -> dict[str, int]:
        rows = self._db.execute(f"SELECT {_ROW} FROM words")
        return dict(
            Counter(term for *_, text in rows for term in set(text.split()) if wanted(term))
        )

    def merge(self) -> None:
        """See `Words.merge`: a row that is removed is gone."""

    def _count(self, groups: Iterable[_Forms]) -> dict[_Forms, int]:
        """Return how many chunks hold any form of a group, and count the chunks and words."""
        if not self._settled:
            self._counted.clear()
        new = [group for group in dict.fromkeys(groups) if group not in self._counted]
        if new:
            sought = _Sought(new)
            counts = [0] * len(new)
            self._rows = self._size = 0
            for _, size, text in self._db.execute(f"SELECT {_ROW} FROM words"):
                self._rows += 1
                self._size += size
                for place in sought.held(text):
                    counts[place] += 1
            self._counted.update(zip(new, counts, strict=True))
        return self._counted


class _Sought:
    """Groups of forms that are looked for; any form of a group will do."""

    def __init__(self, groups: Sequence[_Forms]) -> None:
        self.groups = groups
        places: dict[str, list[int]] = {}
        for place, group in enumerate(groups):
            for form in group:
                places.setdefault(_bounded(form), []).append(place)
        self._needles = tuple(places.items())
        self._ascii = tuple(item for item in self._needles if item[0].isascii())

    def held(self, text: str) -> set[int]:
        """Return the places of the groups that the text of a row holds."""
        needles = self._ascii if text.isascii() else self._needles
        return {place for needle, places in needles if needle in text for place in places}

    def occurrences(self, text: str, held: Iterable[int]) -> list[tuple[int, float]]:
        """Return (place, occurrences by the weights of the columns) of groups of one form."""
        columns = [column.split() for column in text.split("\n")]
        return [
            (
                place,
                sum(
                    weight * _times(self.groups[place][0], words)
                    for weight, words in zip(WEIGHTS, columns, strict=True)
                ),
            )
            for place in sorted(held)
        ]


def _occurrences(number: int, text: str, group: _Forms) -> Iterator[Occurrence]:
    for name, column in zip(_COLUMNS, text.split("\n"), strict=True):
        for place, word in enumerate(column.split()):
            if any(
                word.startswith(form.removesuffix(PREFIX))
                if form.endswith(PREFIX)
                else word == form
                for form in group
            ):
                yield number, name, place


def _terms_of(form: str, text: str) -> list[str]:
    """Return the words of a row that have a form, each as often as it stands there."""
    if form.endswith(PREFIX):
        return [word for word in text.split() if word.startswith(form.removesuffix(PREFIX))]
    return [word for word in text.split() if word == form]


def _stored(number: int, columns: Sequence[str]) -> tuple[int, int, str, str, str]:
    title, heading, body = (column.split() for column in columns)
    size = len(title) + len(heading) + len(body)
    return number, size, " ".join(title), " ".join(heading), " ".join(body)


def _bounded(form: str) -> str:
    """Return what stands in a row, between spaces, where it holds a form."""
    return f" {form.removesuffix(PREFIX)}" if form.endswith(PREFIX) else f" {form} "


def _times(form: str, words: Sequence[str]) -> int:
    if form.endswith(PREFIX):
        return sum(word.startswith(form.removesuffix(PREFIX)) for word in words)
    return words.count(form)


def _weight(rows: int, holding: int) -> float:
    """Return the inverse document frequency of a form."""
    weight = math.log((rows - holding + 0.5) / (holding + 0.5))
    return weight if weight > 0.0 else _LEAST_WEIGHT


def _score(
    weights: Sequence[float], occurring: Iterable[tuple[int, float]], size: int, average: float
) -> float:
    """Return the BM25 of a row with so many words, of which some occur so often."""
    score = 0.0
    for place, often in occurring:
        score += weights[place] * (
            (often * (_K1 + 1.0)) / (often + _K1 * (1 - _B + _B * size / average))
        )
    return score
