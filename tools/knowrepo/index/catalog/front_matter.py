"""What is asked of the concepts' front matter: who bears a name, who holds a term.

Owns that the cost hardly depends on how many concepts there are: the bearers of
a name are kept in the order in which they are wanted, so that ten of thousands
are ten rows; the holders of a term are bitmaps (`postings`).
"""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from typing import NamedTuple

from knowrepo.index.catalog import postings
from knowrepo.index.catalog.conditions import batches, passing
from knowrepo.index.catalog.postings import Holders
from knowrepo.index.catalog.rows import Field, Filter, trust

_LAST_LETTER = "{"  # the character behind z
_ENDING = 2  # letters
_SHORTEST = 5
_MOST_KIN = 8


class Standing(NamedTuple):
    """What the order of an answer looks at in a document. ``trust`` is that of `rows.trust`."""

    document: int
    trust: int
    date: str
    path: str
    stale_after: str


class FrontMatter:
    """The part of an open catalog that is asked of front matter."""

    _db: sqlite3.Connection
    _hides: bool

    def is_name(self, name: str, field: Field | None = None) -> bool:
        """Say whether anything bears a normalised name."""
        of_field = "" if field is None else " AND field = ?"
        values = [name] if field is None else [name, field]
        row = self._db.execute(
            f"SELECT 1 FROM names WHERE name = ?{of_field} LIMIT 1", values
        ).fetchone()
        return row is not None

    def named(
        self, name: str, field: Field, most: int, only: Filter | None = None
    ) -> list[Standing]:
        """Return the documents that bear a normalised name in a field and pass a filter.

        The most trusted come first, then the newest, then by path.
        """
        join, condition = "", "1"
        values: list[str] = []
        if only:
            join = " JOIN documents d ON d.id = n.document"
            condition, values = passing(only)
        rows = self._db.execute(
            f"SELECT n.document, n.trust, n.date, n.path, n.stale_after FROM names n{join}"
            f" WHERE n.name = ? AND n.field = ? AND {condition}"
            " ORDER BY n.trust DESC, n.date DESC, n.path LIMIT ?",
            [name, field, *values, most],
        )
        return [Standing(*row) for row in rows]

    def holders(self, terms: Sequence[str]) -> Holders:
        """Return which concepts hold some terms in their front matter."""
        hidden = self._db.execute("SELECT document FROM leaving") if self._hides else ()
        return postings.held(self._db, terms, [number for (number,) in hidden])

    def standings(self, numbers: Sequence[int]) -> dict[int, Standing]:
        """Return what the order of an answer looks at in some documents."""
        found: dict[int, Standing] = {}
        for some in batches(numbers):
            rows = self._db.execute(
                "SELECT id, status, superseded_by, date, path, stale_after FROM documents"
                f" WHERE id IN ({','.join('?' * len(some))})",
                list(some),
            )
            for number, status, successor, date, path, stale_after in rows:
                trusted = trust(status, successor)
                found[number] = Standing(number, trusted, date, path, stale_after)
        return found

    def concepts(self, only: Filter) -> list[int]:
        """Return the numbers of the concepts that pass a filter."""
        condition, values = passing(only)
        rows = self._db.execute(
            f"SELECT d.id FROM documents d WHERE d.kind = 'concept' AND {condition}", values
        )
        return [number for (number,) in rows]

    def kin(self, term: str) -> list[str]:
        """Return terms that differ from one in an ending alone: `estonia` and `estonian`.

        One of them begins with the other, and has two letters more at most.
        """
        if len(term) < _SHORTEST or not (term.isascii() and term.isalpha()):
            return []
        shorter = [term[:-n] for n in range(1, _ENDING + 1) if len(term) - n >= _SHORTEST]
        rows = self._db.execute(
            "SELECT DISTINCT term FROM postings WHERE"
            f" term IN ({','.join('?' * len(shorter))})"
            " UNION SELECT * FROM (SELECT DISTINCT term FROM postings"
            " WHERE term > ? AND term < ? AND length(term) <= ? LIMIT ?)",
            [*shorter, term, term + _LAST_LETTER, len(term) + _ENDING, _MOST_KIN],
        )
        return sorted(found for (found,) in rows)
