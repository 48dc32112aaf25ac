"""The catalog's tables as they are, for those who want to look (`know sql`)."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator

SQLITE = sqlite3.sqlite_version


class Tables:
    """What an open catalog says of itself. Only for an open `Catalog` to inherit."""

    _db: sqlite3.Connection

    def tables(self) -> list[str]:
        """Return the names of the tables, without those of the full-text search."""
        found = self._db.execute(
            "SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name"
        ).fetchall()
        inner = ("sqlite_", "words_")  # of SQLite itself, and of FTS5
        return [name for (name,) in found if name != "words" and not name.startswith(inner)]

    def columns(self, table: str) -> list[tuple[str, str]]:
        """Return (name, declared type) of the columns of one of `tables`."""
        return self._db.execute("SELECT name, type FROM pragma_table_info(?)", (table,)).fetchall()

    def rows(self, table: str) -> Iterator[tuple[object, ...]]:
        """Yield the rows of one of `tables`, one by one."""
        if table not in self.tables():
            raise ValueError(f"{table}: no table of the catalog")
        yield from self._db.execute(f'SELECT * FROM "{table}"')
