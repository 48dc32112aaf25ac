"""Opening a catalog and changing what it holds."""

from __future__ import annotations

import contextlib
import re
import sqlite3
from collections.abc import Iterable, Iterator
from itertools import chain, islice
from operator import attrgetter
from pathlib import Path

from knowrepo.errors import KnowError
from knowrepo.index.catalog import chunks as chunk_tables
from knowrepo.index.catalog.queries import Queries
from knowrepo.index.catalog.rows import Document, Field, StoredChunk
from knowrepo.index.catalog.schema import VERSION, make_tables, open_writable, version_of

_FIELDS = tuple(name for name in Document.__dataclass_fields__ if name != "id")
_values = attrgetter(*_FIELDS)
_INSERT_DOCUMENT = (
    f"INSERT INTO documents (id, {', '.join(_FIELDS)}) VALUES (?, {', '.join('?' * len(_FIELDS))})"
)
_HELD = 2_000  # chunks of a document that are held in memory; a larger one comes in parts

SQLiteError = sqlite3.Error
"""What concerns the file, not what is put into it; see `told`."""
_DAMAGE = re.compile("malformed|no such table|no such column|vtable constructor")


class DamagedError(KnowError):
    """A catalog that SQLite cannot read: to be thrown away and built anew."""


@contextlib.contextmanager
def told(path: Path) -> Iterator[None]:
    """Turn what SQLite says of the file at ``path`` into our own errors."""
    try:
        yield
    except sqlite3.OperationalError as error:
        if _DAMAGE.search(str(error)):
            raise DamagedError(f"{path}: the catalog is damaged: {error}") from error
        raise _unwritable(path, str(error)) from error
    except sqlite3.DatabaseError as error:
        raise DamagedError(f"{path}: the catalog is damaged: {error}") from error


def _unwritable(path: Path, reason: str) -> KnowError:
    return KnowError(
        f"{path}: the catalog cannot be written: {reason}",
        hint="make the git directory writable, free some space, or work in a clone of yours",
    )


class Catalog(Queries):
    """An open catalog. Use it as a context manager, or close it."""

    @classmethod
    def create(cls, path: Path) -> Catalog:
        """Open the catalog for writing; make or remake it where it does not fit.

        Raises KnowError where it cannot be written.
        """
        with told(path):
            try:
                path.parent.mkdir(parents=True, exist_ok=True)
            except OSError as error:
                raise _unwritable(path, error.strerror or str(error)) from error
            try:
                return cls(open_writable(path))
            except sqlite3.OperationalError:
                raise
            except sqlite3.DatabaseError:
                cls.discard(path)
                return cls(open_writable(path))

    @classmethod
    def discard(cls, path: Path) -> None:
        """Throw a catalog away. It is derived, so that costs only time."""
        for leftover in path.parent.glob(f"{path.name}*"):
            leftover.unlink(missing_ok=True)

    @classmethod
    def open(cls, path: Path) -> Catalog | None:
        """Open the catalog for reading; None where there is none that fits.

        All that is read until it is closed is of one state.
        """
        if not path.is_file():
            return None
        uri = "file:" + str(path).replace("%", "%25").replace("?", "%3f").replace("#", "%23")
        # A WAL database on a read-only disk opens as immutable only.
        for mode in ("mode=ro", "immutable=1"):
            connection = sqlite3.connect(f"{uri}?{mode}", uri=True, isolation_level=None)
            try:
                connection.execute("BEGIN")
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

    @contextlib.contextmanager
    def part(self) -> Iterator[None]:
        """Make everything inside one part of a transaction: undone alone where it fails.

        Raises ValueError where what is put contradicts itself.
        """
        self._db.execute("SAVEPOINT part")
        try:
            yield
        except sqlite3.IntegrityError as error:
            self._db.execute("ROLLBACK TO part")
            raise ValueError(f"contradicts itself: {error}") from error
        except BaseException:
            self._db.execute("ROLLBACK TO part")
            raise
        finally:
            self._db.execute("RELEASE part")

    def put(
        self,
        document: Document,
        chunks: Iterable[StoredChunk],
        *,
        tags: Iterable[str] = (),
        names: Iterable[tuple[str, Field]] = (),
        terms: Iterable[tuple[str, Field]] = (),
    ) -> None:
        """Store a document in the place of what the catalog has under its key.

        Chunks, in the order of ``seq``, that are as they were are left alone: of a
        session that grew, only what is new is written. What fails on the way, or
        contradicts itself (ValueError), changes nothing.
        """
        chunks = iter(chunks)
        first = list(islice(chunks, _HELD))
        chunk_tables.check(first)
        "".join(_values(document)).encode()
        tags, names, terms = sorted(set(tags)), list(names), list(terms)
        # A savepoint makes FTS5 write out what it has gathered, which costs more
        # than a small document itself. One that is whole and sound needs none.
        with self.part() if len(first) == _HELD else contextlib.nullcontext():
            old, old_title = self._forget_front_matter(document.key)
            number = self._put_front_matter(old, document, tags, names, terms)
            title = " ".join((document.title, *tags))
            if old is None:
                chunk_tables.add(self._db, number, title, chain(first, chunks))
            else:
                chunk_tables.replace(self._db, number, title, old_title, chain(first, chunks))

    def _put_front_matter(
        self,
        number: int | None,
        document: Document,
        tags: list[str],
        names: list[tuple[str, Field]],
        terms: list[tuple[str, Field]],
    ) -> int:
        cursor = self._db.execute(_INSERT_DOCUMENT, (number, *_values(document)))
        number = cursor.lastrowid or 0
        rows = self._db.executemany
        if tags:
            rows("INSERT INTO tags VALUES (?, ?)", [(tag, number) for tag in tags])
        if names:
            rows(
                "INSERT OR IGNORE INTO names VALUES (?, ?, ?)", [(*name, number) for name in names]
            )
        if terms:
            rows(
                "INSERT OR IGNORE INTO terms VALUES (?, ?, ?)",
                [(term, number, field) for term, field in terms],
            )
            rows(
                "INSERT INTO term_counts VALUES (?, 1)"
                " ON CONFLICT (term) DO UPDATE SET documents = documents + 1",
                [(term,) for term in {"", *(term for term, _ in terms)}],
            )
        return number

    def _forget_front_matter(self, key: str) -> tuple[int | None, str]:
        """Remove a document but its chunks; returns its number and its title for words."""
        row = self._db.execute("SELECT id, title FROM documents WHERE key = ?", (key,)).fetchone()
        if row is None:
            return None, ""
        number, title = row
        tags = self._db.execute(
            "SELECT tag FROM tags WHERE document = ? ORDER BY tag", (number,)
        ).fetchall()
        self._db.execute(
            "UPDATE term_counts SET documents = documents - 1 WHERE term IN"
            " (SELECT term FROM terms WHERE document = ?1 UNION SELECT '' WHERE EXISTS"
            " (SELECT 1 FROM terms WHERE document = ?1))",
            (number,),
        )
        for table, column in (
            ("tags", "document"), ("names", "document"), ("terms", "document"),
            ("documents", "id"),
        ):  # fmt: skip
            self._db.execute(f"DELETE FROM {table} WHERE {column} = ?", (number,))
        return number, " ".join((title, *(tag for (tag,) in tags)))

    def remove(self, key: str) -> None:
        """Remove a document, if it is there."""
        number, title = self._forget_front_matter(key)
        if number is not None:
            chunk_tables.replace(self._db, number, "", title, [])

    def restamp(self, key: str, *, stamp: str = "", date: str = "") -> None:
        """Note a new stamp or date of a document whose content is the same."""
        if stamp:
            self._db.execute("UPDATE documents SET stamp = ? WHERE key = ?", (stamp, key))
        if date:
            self._db.execute("UPDATE documents SET date = ? WHERE key = ?", (date, key))

    def set_meta(self, key: str, value: str) -> None:
        """Keep a value."""
        self._db.execute("INSERT OR REPLACE INTO meta VALUES (?, ?)", (key, value))
