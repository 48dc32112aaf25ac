"""Plain full-text search over the same chunks: what any layer of ours has to beat.

SQLite's FTS5 in memory, `porter unicode61`, the columns title (with tags), heading and body,
stop words dropped, the other words joined with OR, `bm25()` as it comes. It is the one module
here that opens a database of its own, since nothing of ours may be in it.
"""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Mapping, Sequence

from knowrepo.bench.shown import Piece, Spot
from knowrepo.index.text import STOP_WORDS

_WORD = re.compile(r"\w+")
MOST = 2000
"""Chunks that a search gives at most."""


class Baseline:
    """The index of some chunks. ``tags`` are those of each path, as one text."""

    def __init__(self, pieces: Sequence[Piece], tags: Mapping[str, str]) -> None:
        self._pieces = pieces
        self._db = sqlite3.connect(":memory:")
        self._db.execute(
            "CREATE VIRTUAL TABLE words"
            " USING fts5 (title, heading, body, tokenize = 'porter unicode61')"
        )
        self._db.executemany(
            "INSERT INTO words (rowid, title, heading, body) VALUES (?, ?, ?, ?)",
            (
                (number, f"{piece.title} {tags.get(piece.path, '')}", piece.heading, piece.text)
                for number, piece in enumerate(pieces)
            ),
        )

    def search(self, query: str, most: int = MOST) -> list[Spot]:
        """Return the best chunks, best first."""
        wanted = matching(query)
        if not wanted:
            return []
        rows = self._db.execute(
            "SELECT rowid FROM words WHERE words MATCH ? ORDER BY bm25(words), rowid LIMIT ?",
            (wanted, most),
        )
        return [Spot(self._pieces[number].path, self._pieces[number].seq) for (number,) in rows]

    def close(self) -> None:
        """Close the index."""
        self._db.close()


def matching(query: str) -> str:
    """Return a query in FTS5's language; empty where it has stop words only."""
    words = [word for word in _WORD.findall(query.lower()) if word not in STOP_WORDS]
    return " OR ".join(f'"{word}"' for word in words)
