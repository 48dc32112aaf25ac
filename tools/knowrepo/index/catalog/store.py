"""Opening a catalog and changing what it holds."""

from __future__ import annotations

import contextlib
import sqlite3
from collections.abc import Iterable, Iterator
from pathlib import Path

from knowrepo.errors import KnowError
from knowrepo.index.catalog.queries import Queries
from knowrepo.index.catalog.rows import Document, Field, StoredChunk
from knowrepo.index.catalog.schema import VERSION, make_tables, open_writable, version_of
from knowrepo.index.text import analysed


class Catalog(Queries):
    """An open catalog. Use it as a context manager, or close it."""

    @classmethod
    def create(cls, path: Path) -> Catalog:
        """Open the catalog for writing; make or remake it where it does not fit.

        Raises KnowError where it cannot be written.
        """
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            try:
                return cls(open_writable(path))
            except sqlite3.DatabaseError as error:
                if isinstance(error, sqlite3.OperationalError):
                    raise
                for leftover in path.parent.glob(f"{path.name}*"):  # damaged: derived, so remade
                    leftover.unlink()
                return cls(open_writable(path))
        except (OSError, sqlite3.OperationalError) as error:
            raise KnowError(
                f"{path}: the catalog cannot be written: {error}",
                hint="make the git directory writable, or work in a clone that is yours",
            ) from error

    @classmethod
    def open(cls, path: Path) -> Catalog | None:
        """Open the catalog for reading; None where there is none that fits."""
        if not path.is_file():
            return None
        uri = "file:" + str(path).replace("%", "%25").replace("?", "%3f").replace("#", "%23")
        # A WAL database on a read-only disk opens as immutable only.
        for mode in ("mode=ro", "immutable=1"):
            connection = sqlite3.connect(f"{uri}?{mode}", uri=True, isolation_level=None)
            try:
                if version_of(connection) == VERSION:
                    return cls(connection)
            except sqlite3.DatabaseError:
                pass
            connection.close()
        return None

    @classmethod
    def in_memory(cls) -> Catalog:
        """Return an empty catalog that is kept nowhere."""
        connection = sqlite3.connect(":memory:", isolation_level=None)
        make_tables(connection)
        return cls(connection)

    def __enter__(self) -> Catalog:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the file."""
        self._db.close()

    @contextlib.contextmanager
    def transaction(self) -> Iterator[None]:
        """Make everything inside one change, or none."""
        self._db.execute("BEGIN IMMEDIATE")
        try:
            yield
        except BaseException:
            self._db.execute("ROLLBACK")
            raise
        self._db.execute("COMMIT")

    def put(
        self,
        document: Document,
        chunks: Iterable[StoredChunk],
        *,
        tags: Iterable[str] = (),
        names: Iterable[tuple[str, Field]] = (),
        terms: Iterable[tuple[str, Field]] = (),
    ) -> None:
        """Store a document in the place of what the catalog has under its key."""
        self.remove(document.key)
        fields = [name for name in Document.__dataclass_fields__ if name != "id"]
        cursor = self._db.execute(
            f"INSERT INTO documents ({', '.join(fields)}) VALUES ({', '.join('?' * len(fields))})",
            [getattr(document, name) for name in fields],
        )
        number = cursor.lastrowid or 0
        tags = sorted(set(tags))
        rows = self._db.executemany
        rows("INSERT OR IGNORE INTO tags VALUES (?, ?)", [(tag, number) for tag in tags])
        rows("INSERT OR IGNORE INTO names VALUES (?, ?, ?)", [(n, f, number) for n, f in names])
        terms = list(terms)
        rows("INSERT OR IGNORE INTO terms VALUES (?, ?, ?)", [(t, number, f) for t, f in terms])
        rows(
            "INSERT INTO term_counts VALUES (?, 1)"
            " ON CONFLICT (term) DO UPDATE SET documents = documents + 1",
            [(term,) for term in {"", *(term for term, _ in terms)} if terms],
        )
        title = " ".join((document.title, *tags))
        for chunk in chunks:
            self._put_chunk(number, title, chunk)

    def _put_chunk(self, document: int, title: str, chunk: StoredChunk) -> None:
        cursor = self._db.execute(
            "INSERT OR IGNORE INTO chunks (uid, document, seq, anchor, heading, context, text,"
            " time, line, text_hash) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
            (
                chunk.uid, document, chunk.seq, chunk.anchor, chunk.heading, chunk.context,
                chunk.text, chunk.time, chunk.line, chunk.text_hash,
            ),
        )  # fmt: skip
        if cursor.rowcount:
            self._db.execute(
                "INSERT INTO words (rowid, title, heading, body) VALUES (?, ?, ?, ?)",
                (cursor.lastrowid, *_words(title, chunk.heading, chunk.text)),
            )

    def remove(self, key: str) -> None:
        """Remove a document, if it is there."""
        row = self._db.execute("SELECT id, title FROM documents WHERE key = ?", (key,)).fetchone()
        if row is None:
            return
        number, title = row
        tags = self._db.execute(
            "SELECT tag FROM tags WHERE document = ? ORDER BY tag", (number,)
        ).fetchall()
        title = " ".join((title, *(tag for (tag,) in tags)))
        chunks = self._db.execute(
            "SELECT id, heading, text FROM chunks WHERE document = ?", (number,)
        ).fetchall()
        # A table without content of its own has to be told what it forgets.
        self._db.executemany(
            "INSERT INTO words (words, rowid, title, heading, body) VALUES ('delete', ?, ?, ?, ?)",
            [(chunk, *_words(title, heading, text)) for chunk, heading, text in chunks],
        )
        self._db.execute(
            "UPDATE term_counts SET documents = documents - 1 WHERE term IN"
            " (SELECT term FROM terms WHERE document = ?1 UNION SELECT '' WHERE EXISTS"
            " (SELECT 1 FROM terms WHERE document = ?1))",
            (number,),
        )
        for table, column in (
            ("chunks", "document"), ("tags", "document"), ("names", "document"),
            ("terms", "document"), ("documents", "id"),
        ):  # fmt: skip
            self._db.execute(f"DELETE FROM {table} WHERE {column} = ?", (number,))

    def restamp(self, key: str, *, stamp: str = "", date: str = "") -> None:
        """Note a new stamp or date of a document whose content is the same."""
        if stamp:
            self._db.execute("UPDATE documents SET stamp = ? WHERE key = ?", (stamp, key))
        if date:
            self._db.execute("UPDATE documents SET date = ? WHERE key = ?", (date, key))

    def set_meta(self, key: str, value: str) -> None:
        """Keep a value."""
        self._db.execute("INSERT OR REPLACE INTO meta VALUES (?, ?)", (key, value))


def _words(title: str, heading: str, text: str) -> tuple[str, str, str]:
    return analysed(title), analysed(heading), analysed(text)
