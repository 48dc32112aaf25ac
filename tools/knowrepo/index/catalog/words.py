"""The words of chunks in FTS5, by which chunks are found.

Owns the statements on the table `words` where SQLite has FTS5, and what a table
of words must be able to do (`Words`). Where it has none, `scan` gives the same
answers. What the words are, `index.text` says.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Collection, Iterable, Sequence
from typing import NamedTuple, Protocol

from knowrepo.index.catalog.conditions import batches
from knowrepo.index.catalog.rows import Occurrence, Often
from knowrepo.index.text import PREFIX, TOKENIZER, forms

WEIGHTS = (2.0, 1.5, 1.0)
"""How much a word counts in the title, in the heading and in the body."""

Row = tuple[int, str, str, str]
"""The number of a chunk, and the words of its title, of its heading and of its body."""


class Among(NamedTuple):
    """Which chunks are looked through: tables, a condition on them, and its values.

    ``tables`` has `words` first, whose rowid is the number of a chunk.
    """

    tables: str
    condition: str
    values: list[str]


class Words(Protocol):
    """The words of all chunks. A word is one of the analyser, in any of its forms."""

    def add(self, rows: Iterable[Row]) -> None:
        """Keep the words of chunks."""

    def forget(self, numbers: Iterable[int], rows: Iterable[Row]) -> None:
        """Remove the words of chunks, which are given as they were kept."""

    def best(self, words: Sequence[str], limit: int, among: Among) -> list[tuple[int, float]]:
        """Return (chunk number, BM25 score) of the best chunks that hold any word, best first.

        How rare a word is and how long a text is on average is said of all chunks.
        """

    def holding(self, word: str, chunks: Sequence[int]) -> set[int]:
        """Return which of some chunks hold a word."""

    def frequency(self, word: str) -> int:
        """Return how many chunks hold a word."""

    def often(self, words: Sequence[str]) -> dict[str, Often]:
        """Return how often each word stands somewhere; takes much less than `occurrences`."""

    def occurrences(
        self, words: Sequence[str], among: Collection[int] | None
    ) -> dict[str, list[Occurrence]]:
        """Return where each word stands, in some chunks or in all.

        Those of one chunk and column come in order.
        """

    def vocabulary(self, prefix: str, shortest: int, longest: int) -> dict[str, int]:
        """Return ``{term: chunks that hold it}`` of the terms that begin like this.

        Their length is from ``shortest`` to ``longest``. They are what
        `index.text.analysed` makes: stems, and marked ones of other languages.
        A term of documents that are hidden may be among them.
        """

    def terms_among(self, terms: Sequence[str]) -> dict[str, int]:
        """Return ``{term: chunks that hold it}`` of those terms that there are, as `vocabulary`."""

    def merge(self) -> None:
        """Take out what was forgotten, and is kept only until there is time."""


class FullText:
    """The words of chunks in FTS5, which keeps no text: it has to be told what it forgets."""

    TABLE = f"""
CREATE VIRTUAL TABLE words USING fts5 (
    title, heading, body, content='', tokenize='{TOKENIZER}'
);
"""

    def __init__(self, db: sqlite3.Connection) -> None:
        self._db = db

    def add(self, rows: Iterable[Row]) -> None:
        """See `Words.add`."""
        self._db.executemany(
            "INSERT INTO words (rowid, title, heading, body) VALUES (?, ?, ?, ?)",
            list(rows),  # each by itself is quicker
        )

    def forget(self, numbers: Iterable[int], rows: Iterable[Row]) -> None:  # noqa: ARG002
        """See `Words.forget`."""
        self._db.executemany(
            "INSERT INTO words (words, rowid, title, heading, body) VALUES ('delete', ?, ?, ?, ?)",
            rows,
        )

    def best(self, words: Sequence[str], limit: int, among: Among) -> list[tuple[int, float]]:
        """See `Words.best`."""
        rows = self._db.execute(
            f"SELECT words.rowid, -bm25(words, {', '.join(map(str, WEIGHTS))}) AS score"
            f" FROM {among.tables} WHERE words MATCH ? AND {among.condition}"
            " ORDER BY score DESC, words.rowid LIMIT ?",
            [_any_of(words), *among.values, limit],
        )
        return rows.fetchall()

    def holding(self, word: str, chunks: Sequence[int]) -> set[int]:
        """See `Words.holding`."""
        found: set[int] = set()
        for some in batches(chunks):
            rows = self._db.execute(
                "SELECT rowid FROM words WHERE words MATCH ?"
                f" AND rowid IN ({','.join('?' * len(some))})",
                [_any_of([word]), *some],
            )
            found.update(row[0] for row in rows)
        return found

    def frequency(self, word: str) -> int:
        """See `Words.frequency`."""
        row = self._db.execute("SELECT count(*) FROM words WHERE words MATCH ?", (_any_of([word]),))
        return int(row.fetchone()[0])

    def often(self, words: Sequence[str]) -> dict[str, Often]:
        """See `Words.often`."""
        self._vocabulary("vocabulary", "row")
        found: dict[str, Often] = {}
        for word in words:
            places = chunks = 0
            for form in dict.fromkeys(forms(word)):
                condition, values = _term(form)
                row = self._db.execute(
                    "SELECT coalesce(sum(cnt), 0), coalesce(sum(doc), 0)"
                    f" FROM temp.vocabulary WHERE {condition}",
                    values,
                ).fetchone()
                places, chunks = places + row[0], chunks + row[1]
            found[word] = Often(places, chunks)
        return found

    def occurrences(
        self, words: Sequence[str], among: Collection[int] | None
    ) -> dict[str, list[Occurrence]]:
        """See `Words.occurrences`."""
        self._vocabulary("occurring", "instance")
        # Numbers, all in one statement: a term is gone through once. FTS5 jumps to no chunk.
        limit = "" if among is None else f" AND doc IN ({','.join(map(str, among))})"
        found: dict[str, list[Occurrence]] = {}
        for word in words:
            found[word] = []
            for form in dict.fromkeys(forms(word)):
                condition, values = _term(form)
                found[word] += self._db.execute(
                    f"SELECT doc, col, offset FROM temp.occurring WHERE {condition}{limit}", values
                )
        return found

    def vocabulary(self, prefix: str, shortest: int, longest: int) -> dict[str, int]:
        """See `Words.vocabulary`."""
        condition, values = _term(prefix + PREFIX)
        return self._terms(
            f"{condition} AND length(term) BETWEEN ? AND ?", (*values, shortest, longest)
        )

    def terms_among(self, terms: Sequence[str]) -> dict[str, int]:
        """See `Words.terms_among`."""
        found: dict[str, int] = {}
        for some in batches(terms):
            found.update(self._terms(f"term IN ({','.join('?' * len(some))})", some))
        return found

    def _terms(self, condition: str, values: Sequence[object]) -> dict[str, int]:
        self._vocabulary("vocabulary", "row")
        return dict(
            self._db.execute(f"SELECT term, doc FROM temp.vocabulary WHERE {condition}", values)
        )

    def _vocabulary(self, name: str, kind: str) -> None:
        self._db.execute(
            f"CREATE VIRTUAL TABLE IF NOT EXISTS temp.{name}"
            f" USING fts5vocab (main, words, '{kind}')"
        )

    def merge(self) -> None:
        """See `Words.merge`."""
        self._db.execute("INSERT INTO words (words) VALUES ('optimize')")


def _any_of(words: Sequence[str]) -> str:
    """Return a condition in FTS5's language: any of these words, in any of its forms."""
    return " OR ".join(
        f'"{form.removesuffix(PREFIX)}"{" *" if form.endswith(PREFIX) else ""}'
        for form in forms_of(words)
    )


def _term(form: str) -> tuple[str, tuple[str, ...]]:
    """Return a condition on the vocabulary: a term of this form, and its values."""
    if not form.endswith(PREFIX):
        return "term = ?", (form,)
    start = form.removesuffix(PREFIX)
    return "term >= ? AND term < ?", (start, start + "\U0010ffff")


def forms_of(words: Sequence[str]) -> list[str]:
    """Return the distinct forms of words, in order."""
    return list(dict.fromkeys(form for word in words for form in forms(word)))
