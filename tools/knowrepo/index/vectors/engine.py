"""Opening DuckDB: one in-memory instance that does nothing but what it is told.

Owns its settings. It loads no extension, writes no temporary files, and takes no
more memory than said here: a file that is larger is read through, not held.
"""

from __future__ import annotations

from pathlib import Path

import duckdb

MEMORY = "256MB"
"""What DuckDB may hold, most of it blocks of segments: 160,000 vectors of 384 numbers."""

ROWS_A_GROUP = 8192
"""Rows that one thread scans at a time; with DuckDB's own 122,880 most tables have one."""

_SETTINGS: dict[str, str | bool | int | float | list[str]] = {
    "memory_limit": MEMORY,
    "temp_directory": "",  # else `.tmp` in whatever folder the user is in
    "autoinstall_known_extensions": False,
    "autoload_known_extensions": False,
    "preserve_insertion_order": False,  # it says nothing, and keeping it takes memory and time
}


def connect(*, threads: int = 0) -> duckdb.DuckDBPyConnection:
    """Return a connection to an instance of its own; ``threads`` are 0 for all."""
    return duckdb.connect(config={**_SETTINGS, **({"threads": threads} if threads else {})})


def seal(db: duckdb.DuckDBPyConnection) -> None:
    """Let nothing be opened any more: a view in a file from elsewhere reads no other file."""
    db.execute("SET enable_external_access = false")


def attach(db: duckdb.DuckDBPyConnection, path: Path, alias: str) -> None:
    """Attach a segment for reading; raises duckdb.Error where it is none."""
    # The file has groups of this size; DuckDB gives a scan as many threads as it is told here.
    db.execute(f"ATTACH '{quoted(path)}' AS {alias} (READ_ONLY, ROW_GROUP_SIZE {ROWS_A_GROUP})")


def quoted(path: Path) -> str:
    """Return a path as it stands between quotes in SQL."""
    return str(path).replace("'", "''")


def reason(error: Exception) -> str:
    """Return what an error says, in a line."""
    said = getattr(error, "strerror", None) or str(error)
    return said.splitlines()[0] if said else type(error).__name__
