"""SQLite databases of other programs, read so that they never notice.

Owns how such a database is opened: read only, with nothing created, changed or
locked beside it for longer than one query. It is the only importer of sqlite3
in `sessions`, and it knows no agent. It must never hold a whole table: callers
ask for names first, then for one row after the other.

How a database is opened depends on what lies beside it:

- In WAL mode and at rest (no log): in place, as immutable, since any other way
  would create a log and an index file. Should it change meanwhile, reading stops
  with an error, and the next run sees it whole.
- With a log or a journal (its program runs, or crashed): a private copy of all
  parts, up to `LARGEST_COPY`; beyond that in place, as its own program does.
- Else: in place.
"""

from __future__ import annotations

import errno
import shutil
import sqlite3
import tempfile
import weakref
from functools import lru_cache
from pathlib import Path
from typing import Any
from urllib.parse import quote

LARGEST_COPY = 1 << 28
"""Bytes of a database in use beyond which it is not copied."""
BUSY_SECONDS = 3.0
_ATTEMPTS = 3  # to copy a database while its program writes
_COMPANIONS = ("-wal", "-journal")
_READ_FORMAT = 19  # the byte of the file that says whether it is in WAL mode
_LOCKED = frozenset({sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED})
_DAMAGED = frozenset({sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB})

_Mark = tuple[int, int]


class DatabaseError(OSError):
    """A database cannot be read: which one, why, and what to do."""

    def __init__(self, path: Path, reason: str) -> None:
        super().__init__(errno.EIO, reason, str(path))


class Database:
    """An open database. It closes, and its copy goes, when nobody refers to it any more."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._watched: _Mark | None = None
        folder: Path | None = None
        try:
            if any(_size(_beside(path, name)) for name in _COMPANIONS):
                if sum(_size(_beside(path, name)) for name in ("", *_COMPANIONS)) <= LARGEST_COPY:
                    folder = _copied(path)
                    connection = _connect(folder / path.name, "mode=rw")
                else:
                    connection = _connect(path, "mode=ro")
            elif _in_wal_mode(path):
                self._watched = _mark(path)
                connection = _connect(path, "mode=ro&immutable=1")
            else:
                connection = _connect(path, "mode=ro")
        except sqlite3.Error as error:
            _leave(None, folder)
            raise _explained(path, error) from error
        self._connection = connection
        self.close = weakref.finalize(self, _leave, connection, folder)

    def all(self, query: str, *values: object) -> list[dict[str, Any]]:
        """Return the rows that ``query`` gives, by column. Ask for few, or for small ones."""
        try:
            cursor = self._connection.execute(query, values)
            names = [column[0] for column in cursor.description or ()]
            rows = [dict(zip(names, row, strict=True)) for row in cursor]
        except sqlite3.Error as error:
            raise _explained(self.path, error) from error
        if self._watched is not None and self._watched != _mark(self.path):
            raise DatabaseError(self.path, "it changed while it was read; run the command again")
        return rows

    def tables(self) -> frozenset[str]:
        """Return the names of the tables."""
        rows = self.all("SELECT name FROM sqlite_master WHERE type = 'table'")
        return frozenset(str(row["name"]) for row in rows)

    def columns(self, table: str) -> frozenset[str]:
        """Return the names of a table's columns; none where there is no such table."""
        rows = self.all("SELECT name FROM pragma_table_info(?)", table)
        return frozenset(str(row["name"]) for row in rows)


def tables(path: Path) -> frozenset[str]:
    """Return the names of the tables of the database at ``path``, at little cost."""
    marks = tuple(_mark(_beside(path, name)) for name in ("", *_COMPANIONS))
    return _tables(path, marks)


@lru_cache(maxsize=16)
def _tables(path: Path, marks: tuple[_Mark, ...]) -> frozenset[str]:
    if any(size for size, _ in marks[1:]):
        # The main file nearly always has the tables; then no copy is needed.
        try:
            found = _names_at_rest(path)
        except sqlite3.Error:
            found = frozenset()
        if found:
            return found
    database = Database(path)
    try:
        return database.tables()
    finally:
        database.close()


def _names_at_rest(path: Path) -> frozenset[str]:
    connection = _connect(path, "mode=ro&immutable=1")
    try:
        rows = connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")
        return frozenset(str(name) for (name,) in rows)
    finally:
        connection.close()


def text_value(value: object) -> str:
    """Return a column's value as text, whatever its type."""
    if isinstance(value, bytes):
        return value.decode("utf-8", "replace")
    return "" if value is None else str(value)


def _connect(path: Path, how: str) -> sqlite3.Connection:
    where = f"file:{quote(str(path.absolute()))}?{how}"
    connection = sqlite3.connect(where, uri=True, timeout=BUSY_SECONDS)
    # Text in a database is bytes that its program said were UTF-8.
    connection.text_factory = lambda raw: raw.decode("utf-8", "replace")
    return connection


def _leave(connection: sqlite3.Connection | None, folder: Path | None) -> None:
    if connection is not None:
        connection.close()
    if folder is not None:
        shutil.rmtree(folder, ignore_errors=True)


def _copied(path: Path) -> Path:
    """Copy a database and what lies beside it into a folder of its own."""
    folder = Path(tempfile.mkdtemp(prefix="know-"))
    try:
        for _ in range(_ATTEMPTS):
            before = _state(path)
            for name in ("", *_COMPANIONS):
                source, target = _beside(path, name), folder / (path.name + name)
                target.unlink(missing_ok=True)
                if source.is_file():
                    shutil.copyfile(source, target)
            # A log may have grown meanwhile: what is half written there is not read.
            if before == _state(path):
                return folder
    except BaseException:
        shutil.rmtree(folder, ignore_errors=True)
        raise
    shutil.rmtree(folder, ignore_errors=True)
    raise DatabaseError(path, "it is being written to; run the command again")


def _state(path: Path) -> tuple[_Mark, bytes, _Mark]:
    """Return what stays the same as long as a log only grows."""
    try:
        with _beside(path, "-wal").open("rb") as stream:
            head = stream.read(32)
    except FileNotFoundError:
        head = b""
    return _mark(path), head, _mark(_beside(path, "-journal"))


def _in_wal_mode(path: Path) -> bool:
    with path.open("rb") as stream:
        head = stream.read(_READ_FORMAT + 1)
    return len(head) > _READ_FORMAT and head[_READ_FORMAT] == 2


def _explained(path: Path, error: sqlite3.Error) -> DatabaseError:
    code = getattr(error, "sqlite_errorcode", 0) & 0xFF
    if code in _LOCKED:
        return DatabaseError(path, "it is locked by its program; run the command again later")
    if code in _DAMAGED:
        return DatabaseError(path, f"it is damaged, or no SQLite database ({error})")
    return DatabaseError(path, f"it cannot be read: {error}")


def _beside(path: Path, name: str) -> Path:
    return path.with_name(path.name + name)


def _size(path: Path) -> int:
    return _mark(path)[0]


def _mark(path: Path) -> _Mark:
    """Return a file's size and time of change; zeros where there is none."""
    try:
        status = path.stat()
    except OSError:
        return (0, 0)
    return (status.st_size, status.st_mtime_ns)
