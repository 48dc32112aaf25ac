"""Connections that lie idle between two recalls of a process.

A file that is opened has its whole schema read by SQLite: that costs more than all that
a lookup asks. So who recalls again goes on with the connection there is, in a new
transaction. Owns which ones are kept, and that each is closed where it is of no use:
another file is current, something was put into it from outside, this process writes,
forks or ends. An idle one holds no transaction: no writer waits for it, and whoever takes
it sees what was committed meanwhile. Nobody else has a connection that was taken.
"""

from __future__ import annotations

import atexit
import contextlib
import os
import sqlite3
from collections import OrderedDict
from pathlib import Path
from typing import NamedTuple

from knowrepo.index.catalog.schema import begin

_MOST = 8  # files: each takes three descriptors, and pages in memory

CLOSED = sqlite3.connect(":memory:")
"""What stands in a catalog for the connection that it gave back."""
CLOSED.close()


class Kept(NamedTuple):
    """A connection for reading that may be kept, and what it was opened on."""

    connection: sqlite3.Connection
    file: Path
    stamp: tuple[int, ...]
    process: int


# By the path that names the catalog. Single steps of it are atomic, so it needs no lock,
# which a fork might find held.
_idle: OrderedDict[Path, Kept] = OrderedDict()


def stamp(file: Path) -> tuple[int, ...]:
    """Return what tells whether a file is the same, and as it was; to be asked before it is opened.

    What is committed goes into the log first. When it comes into the file, one new
    connection is cheap, and right also where SQLite's own bookkeeping does not reach: a
    file that was restored, damaged, or copied up by an overlay.
    """
    try:
        found = os.stat(file)  # noqa: PTH116 - on every recall's time
    except OSError:
        return ()
    return found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns


def take(path: Path, file: Path | None) -> Kept | None:
    """Return the idle connection to the file that a catalog lies in now, in a new transaction."""
    kept = _idle.pop(path, None)
    if kept is None:
        return None
    if kept.file == file and kept.stamp == stamp(file):
        with contextlib.suppress(sqlite3.DatabaseError):
            if begin(kept.connection):
                return kept
    kept.connection.close()
    return None


def give_back(path: Path, kept: Kept) -> None:
    """Keep a connection for the next who opens the catalog; its transaction ends.

    What was made in it for one reader, temporary tables and views, is undone with it.
    """
    if kept.process != os.getpid():  # SQLite's locks do not pass on to a child
        kept.connection.close()
        return
    try:
        kept.connection.execute("ROLLBACK")
    except sqlite3.Error:
        kept.connection.close()
        return
    other = _idle.pop(path, None)
    _idle[path] = kept
    if other is not None:
        other.connection.close()
    if len(_idle) > _MOST:
        _close_oldest()


def close_all() -> None:
    """Close what is idle, so that nothing is held of files that are to go."""
    while _idle:
        _close_oldest()


def _close_oldest() -> None:
    with contextlib.suppress(KeyError):  # another thread took the last
        _idle.popitem(last=False)[1].connection.close()


# A child that inherits an open connection takes its parent's locks for its own.
os.register_at_fork(before=close_all)
atexit.register(close_all)
