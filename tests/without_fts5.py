"""Runs `know` in a process whose SQLite has no FTS5: `python without_fts5.py ARGUMENTS`.

SQLite itself forgets the module on every connection that is opened
(`sqlite3_drop_modules`), so that it says what one says that was built without:
`no such module: fts5`. What it cannot take away are the SQL functions of FTS5,
which nobody can use without a table.
"""

from __future__ import annotations

import _sqlite3
import ctypes
import sqlite3
import sys

import pytest

_library = ctypes.CDLL(getattr(_sqlite3, "__file__", None))
_drop = _library.sqlite3_drop_modules
_drop.argtypes = [ctypes.c_void_p, ctypes.POINTER(ctypes.c_char_p)]
_really_connect = sqlite3.connect


def _connect(*arguments, **options):
    connection = _really_connect(*arguments, **options)
    # A connection of Python's begins with what every object has, then SQLite's own.
    handle = ctypes.c_void_p.from_address(id(connection) + object.__basicsize__)
    kept = [name.encode() for name in _modules(connection) if not name.startswith("fts5")]
    _drop(handle, (ctypes.c_char_p * (len(kept) + 1))(*kept, None))
    return connection


def _modules(connection: sqlite3.Connection) -> list[str]:
    return [name for (name,) in connection.execute("PRAGMA module_list")]


if __name__ == "__main__":
    sqlite3.connect = _connect
    with pytest.raises(sqlite3.OperationalError, match=r"^no such module: fts5$"):
        sqlite3.connect(":memory:").execute("CREATE VIRTUAL TABLE one USING fts5 (text)")
    from knowrepo.cli.main import main

    sys.exit(main(sys.argv[1:]))
