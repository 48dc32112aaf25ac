"""Writing a document's chunks, and the words by which they are found.

Owns that two tables agree row by row: `chunks`, and the `words.Words` that are
kept of them. A document is gone through some chunks at a time: it may be larger
than the memory.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice
from operator import attrgetter
from typing import Any

from knowrepo.index.catalog.rows import TEXTS, StoredChunk
from knowrepo.index.catalog.words import Row as WordsRow
from knowrepo.index.catalog.words import Words
from knowrepo.index.text import analysed

FIELDS = tuple(name for name in StoredChunk._fields if name not in {"id", "document"})
Row = tuple[Any, ...]
"""A chunk's values in the order of `FIELDS`."""

row_of = attrgetter(*FIELDS)
_UID, _SEQ, _HEADING, _TEXT = map(FIELDS.index, ("uid", "seq", "heading", "text"))
_TEXTS = attrgetter(*(name for name in FIELDS if name not in {"seq", "line"}))
_BATCH = 500
_INSERT = (
    f"INSERT INTO chunks (id, document, {', '.join(FIELDS)})"
    f" VALUES (?, ?, {', '.join('?' * len(FIELDS))})"
)
_SELECT = f"SELECT id, {', '.join(FIELDS)} FROM chunks WHERE document = ? AND "


def check(chunks: Sequence[StoredChunk]) -> None:
    """Raise ValueError for chunks that the tables would not take."""
    if len({chunk.uid for chunk in chunks}) < len(chunks):
        raise ValueError("contradicts itself: two chunks have one id")
    for chunk in chunks:
        "".join(_TEXTS(chunk)).encode()


def add(
    db: sqlite3.Connection,
    words: Words,
    document: int,
    title: str,
    chunks: Iterable[StoredChunk],
    analyses: Mapping[str, str],
) -> None:
    """Write the chunks of a document that has none yet; some texts are analysed already."""
    for rows in _batches(chunks):
        _insert(db, words, document, title, rows, analyses)


def replace(
    db: sqlite3.Connection,
    words: Words,
    document: int,
    title: str,
    old_title: str,
    chunks: Iterable[StoredChunk],
    analyses: Mapping[str, str],
) -> None:
    """Write chunks, which come in the order of ``seq``, in the place of a document's old ones.

    Those that are as they were are left alone, unless the title has changed,
    which stands among the words of each.
    """
    newest = _newest(db)
    last = -1
    for rows in _batches(chunks):
        last = rows[-1][_SEQ]
        old = _old(db, document, "seq BETWEEN ? AND ?", rows[0][_SEQ], last)
        kept = {row[1:] for row in old} & set(rows) if title == old_title else set()
        fresh = [row for row in rows if row not in kept]
        gone = {row[0]: row for row in old if row[1:] not in kept}
        if fresh:  # another of its old ones may have the same id
            uids = [row[_UID] for row in fresh]
            same_id = f"id <= {newest} AND uid IN ({','.join('?' * len(uids))})"
            gone.update((row[0], row) for row in _old(db, document, same_id, *uids))
        _forget(db, words, old_title, gone.values())
        _insert(db, words, document, title, fresh, analyses)
    while old := _old(db, document, f"seq > ? LIMIT {_BATCH}", last):
        _forget(db, words, old_title, old)


def shrink(db: sqlite3.Connection, words: Words, key: str, most: int, title: str) -> bool:
    """Remove ``most`` chunks of a document that has more than that; says whether it had."""
    rows = db.execute(
        f"SELECT c.id, {', '.join(f'c.{name}' for name in FIELDS)} FROM documents d"
        " JOIN chunks c ON c.document = d.id WHERE d.key = ? LIMIT ?",
        (key, most + 1),
    ).fetchall()
    if len(rows) <= most:
        return False
    _forget(db, words, title, rows[:most])
    return True


def _old(db: sqlite3.Connection, document: int, condition: str, *values: object) -> list[Row]:
    """Return (id, values in the order of `FIELDS`) of a document's chunks."""
    return db.execute(_SELECT + condition, (document, *values)).fetchall()


def _newest(db: sqlite3.Connection) -> int:
    row = db.execute("SELECT coalesce(max(id), 0) FROM chunks").fetchone()
    return int(row[0])


def _insert(
    db: sqlite3.Connection,
    words: Words,
    document: int,
    title: str,
    rows: Sequence[Row],
    analyses: Mapping[str, str],
) -> None:
    if not rows:
        return
    first = _newest(db) + 1
    db.executemany(
        _INSERT, [(number, document, *row) for number, row in enumerate(rows, start=first)]
    )
    words.add(_with_words(title, enumerate(rows, start=first), analyses))
    db.execute("INSERT OR REPLACE INTO meta VALUES (?, hex(randomblob(8)))", (TEXTS,))


def _forget(db: sqlite3.Connection, words: Words, title: str, old: Iterable[Row]) -> None:
    numbered = sorted((row[0], row[1:]) for row in old)
    numbers = [number for number, _ in numbered]
    words.forget(numbers, _with_words(title, numbered, {}))
    db.executemany("DELETE FROM chunks WHERE id = ?", [(number,) for number in numbers])


def _batches(chunks: Iterable[StoredChunk]) -> Iterator[list[Row]]:
    rows = map(row_of, chunks)
    while some := list(islice(rows, _BATCH)):
        yield some


def _with_words(
    title: str, numbered: Iterable[tuple[int, Row]], analyses: Mapping[str, str]
) -> Iterator[WordsRow]:
    """Yield (number, words of the title, of the heading and of the text) of chunks."""

    def words_of(text: str) -> str:
        return analyses.get(text) or analysed(text)

    of_title = words_of(title)
    heading = of_heading = ""
    for number, row in numbered:
        if row[_HEADING] != heading:  # most share their neighbour's
            heading = row[_HEADING]
            of_heading = words_of(heading)
        yield number, of_title, of_heading, words_of(row[_TEXT])
