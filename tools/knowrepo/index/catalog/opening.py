"""Opening a catalog's file, changing it in transactions, and going on in the next one.

Owns what concerns the file as a whole: errors, generations, the bound on the
write-ahead log. What is put into the tables is `store`'s business.
"""

from __future__ import annotations

import contextlib
import os
import re
import sqlite3
from collections.abc import Iterator
from pathlib import Path
from typing import Self

from knowrepo.errors import KnowError
from knowrepo.index.catalog import files, idle
from knowrepo.index.catalog.queries import Queries
from knowrepo.index.catalog.schema import (
    WAL_BYTES,
    copy,
    hide_leaving,
    make_tables,
    meta_of,
    open_readable,
    open_writable,
    version,
    written_back,
)

SQLiteError = sqlite3.Error
"""What concerns the file, not what is put into it; see `told`."""
_DAMAGE = re.compile(
    "malformed|no such (?:fts5 )?table|no such column|vtable constructor|Could not decode to UTF-8"
)


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


class Opened(Queries):
    """An open catalog, as a file. ``path`` names it; in which file it lies, `files` tells."""

    def __init__(self, connection: sqlite3.Connection, path: Path | None = None) -> None:
        super().__init__(connection)
        self.place = path
        """What to open again for the same catalog; None where it is kept nowhere."""
        self._path = path  # of a catalog that is written to a file
        self._file = files.current(path, version()) if path else None
        self._stays = False
        self._kept: idle.Kept | None = None  # the connection, where it is to be used again

    @classmethod
    def create(cls, path: Path) -> Self:
        """Open the catalog for writing; make or remake it where it does not fit.

        One process at a time may do so. Raises KnowError where it cannot be written.
        """
        idle.close_all()
        with told(path):
            try:
                path.parent.mkdir(parents=True, exist_ok=True)
            except OSError as error:
                raise _unwritable(path, error.strerror or str(error)) from error
            try:
                made = cls(open_writable(_file_to_write(path)), path)
            except sqlite3.OperationalError:
                raise
            except sqlite3.DatabaseError:
                cls.discard(path)
                made = cls(open_writable(_file_to_write(path)), path)
            with contextlib.suppress(OSError):
                files.tidy(path, version())
            return made

    @classmethod
    def file(cls, path: Path) -> Path | None:
        """Return the file that the catalog lies in now; None where there is none."""
        found = files.current(path, version())
        return found.file if found else None

    @classmethod
    def discard(cls, path: Path) -> None:
        """Throw a catalog away, of every version. It is derived, so that costs only time."""
        idle.close_all()
        files.discard(path)

    @classmethod
    def open(cls, path: Path, *, keep: bool = False) -> Self | None:
        """Open the catalog for reading; None where there is none that fits.

        All that is read until it is closed is of one state. With ``keep`` the connection
        is one that lay idle, if there is one, and does so again afterwards. Then nothing
        that was read may be left half read.
        """
        found = files.current(path, version())
        if keep and (kept := idle.take(path, found.file if found else None)):
            return cls._reading(path, kept.connection, kept)
        while found is not None:
            stamp = idle.stamp(found.file) if keep else ()
            readable = open_readable(found.file)
            # What was opened may have been left by its writer meanwhile, and its log be gone.
            again = files.current(path, version())
            if again != found:
                if readable is not None:
                    readable.connection.close()
                found = again
                continue
            if readable is None:
                return None
            own = idle.Kept(readable.connection, found.file, stamp, os.getpid())
            return cls._reading(
                path, readable.connection, own if keep and readable.follows else None
            )
        return None

    @classmethod
    def _reading(cls, path: Path, connection: sqlite3.Connection, kept: idle.Kept | None) -> Self:
        catalog = cls(connection)
        catalog.place = path
        catalog._kept = kept
        catalog._use(connection, settled=True)
        with contextlib.suppress(sqlite3.DatabaseError):  # told where it is read
            catalog._hides = hide_leaving(connection)
        return catalog

    @classmethod
    def in_memory(cls) -> Self:
        """Return an empty catalog that is kept nowhere."""
        connection = sqlite3.connect(":memory:", isolation_level=None)
        make_tables(connection)
        return cls(connection)

    @classmethod
    def copied(cls, path: Path) -> Self:
        """Return a copy in memory of the catalog at ``path``; an empty one where there is none."""
        made = cls.in_memory()
        source = cls.open(path)
        if source is not None:
            with told(path), source:
                source._db.backup(made._db)
        return made

    def __enter__(self) -> Self:
        return self

    def __exit__(self, error: type[BaseException] | None, *_: object) -> None:
        if error is not None:  # a statement may be half done, or the file be damaged
            self._kept = None
        self.close()

    def close(self) -> None:
        """Close the file, or keep it open for the next; see `open`."""
        kept, self._kept = self._kept, None
        if kept is None or self.place is None:
            self._db.close()
        else:
            self._use(idle.CLOSED)
            idle.give_back(self.place, kept)

    @contextlib.contextmanager
    def transaction(self) -> Iterator[None]:
        """Make everything inside one change, or none."""
        self._db.execute("BEGIN IMMEDIATE")
        try:
            yield
            self._db.execute("COMMIT")
        except BaseException:
            if self._db.in_transaction:  # SQLite ends it itself where the disk is full
                self._db.execute("ROLLBACK")
            raise
        self._bound_the_log()

    def _bound_the_log(self) -> None:
        """Go on in a new file where a reader keeps the log from being written back for good.

        The old file goes with its last reader. Where there is no room for the
        new one, the log grows on.
        """
        if self._stays or self._file is None:
            return
        if _size(Path(f"{self._file.file}-wal")) <= max(WAL_BYTES, _size(self._file.file) // 2):
            return
        try:
            if not written_back(self._db):
                self._publish()
        except (sqlite3.Error, OSError, ValueError):
            self._stays = True
        else:
            self._move()

    def _publish(self) -> None:
        assert self._path is not None
        copy(self._db, files.following(self._path, version()))

    def _move(self) -> None:
        """Go on in the file that is current now."""
        assert self._path is not None
        if files.current(self._path, version()) in {None, self._file}:
            return
        self._db.close()
        idle.close_all()
        self._use(open_writable(_file_to_write(self._path)))
        self._file = files.current(self._path, version())
        files.tidy(self._path, version())

    def purge(self) -> None:
        """Take what was removed out of the file too.

        Otherwise SQLite keeps it in free pages, and in the word lists until they are merged.
        """
        self._words.merge()
        self._publish()
        self._move()

    def discard_others(self, but: dict[str, str]) -> None:
        """Throw other versions' catalogs away, but those with these values under these keys."""
        for file in files.of_others(self._path, version()) if self._path else ():
            if any(meta_of(file, key) != value for key, value in but.items()):
                files.remove(file)

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
            if self._db.in_transaction:
                self._db.execute("ROLLBACK TO part")
            raise
        finally:
            if self._db.in_transaction:
                self._db.execute("RELEASE part")


def _file_to_write(path: Path) -> Path:
    found = files.current(path, version())
    return found.file if found else files.following(path, version())


def _size(file: Path) -> int:
    try:
        return file.stat().st_size
    except OSError:
        return 0
