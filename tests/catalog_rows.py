"""Everything that a catalog holds, row by row, without its own numbers."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

from helpers import catalog_file
from knowrepo.git.layout import Repository
from knowrepo.index.build import refresh
from knowrepo.index.catalog import Catalog, schema
from knowrepo.index.catalog.postings import BLOCK

Rows = dict[str, list[Any]]


def rows_of(repository: Repository) -> Rows:
    """Return ``{table: rows}`` of the catalog as it is."""
    with closing(sqlite3.connect(catalog_file(repository))) as connection:
        return _rows(connection)


def rebuilt(repository: Repository) -> Rows:
    """Return the same of a catalog that is built from nothing; the one there is stays."""
    know = repository.locks
    aside = know.with_name("know-aside")
    know.rename(aside)
    try:
        refresh(repository)
        found = rows_of(repository)
        Catalog.discard(repository.catalog)
        for file in know.iterdir():
            file.unlink()
        know.rmdir()
    finally:
        aside.rename(know)
    return found


def bytes_of(folder: Path) -> bytes:
    """Return the bytes of all catalog files in a folder."""
    return b"".join(file.read_bytes() for file in sorted(folder.glob("catalog*.db*")))


def _rows(connection: sqlite3.Connection) -> Rows:
    ask = connection.execute
    keys = dict(ask("SELECT id, key FROM documents"))
    uids = dict(ask("SELECT id, uid FROM chunks"))
    found: Rows = {
        "documents": _without(connection, "documents", {}, "id"),
        "chunks": _without(connection, "chunks", keys, "id"),
        "tags": _without(connection, "tags", keys),
        "names": _without(connection, "names", keys),
        "terms": _without(connection, "terms", keys),
        "postings": _postings(connection, keys),
        "leaving": ask("SELECT * FROM leaving").fetchall(),
        "waiting": ask(
            "SELECT * FROM meta WHERE key IN ('behind', 'forgotten') AND value NOT IN ('', '0')"
        ).fetchall(),
    }
    found |= _full_text(connection, uids) if schema.has_fts5() else _scanned(connection, uids)
    assert ask("PRAGMA integrity_check").fetchall() == [("ok",)]
    return found


def _full_text(connection: sqlite3.Connection, uids: dict[int, str]) -> Rows:
    ask = connection.execute
    ask("CREATE VIRTUAL TABLE temp.vocabulary USING fts5vocab(main, words, instance)")
    words = ask("SELECT term, doc, col, offset FROM temp.vocabulary")
    return {
        "words": sorted((term, uids[doc], col, offset) for term, doc, col, offset in words),
        "sizes": sorted((uids[n], size) for n, size in ask("SELECT id, sz FROM words_docsize")),
        "averages": _averages(ask("SELECT block FROM words_data WHERE id = 1").fetchone()[0]),
    }


def _scanned(connection: sqlite3.Connection, uids: dict[int, str]) -> Rows:
    rows = connection.execute("SELECT id, size, title, heading, body FROM words")
    return {"words": sorted((uids[number], *row) for number, *row in rows)}


def _postings(connection: sqlite3.Connection, keys: dict[int, str]) -> list[Any]:
    """Return (term, called, key of a document), one for each bit."""
    rows = connection.execute("SELECT * FROM postings").fetchall()
    assert all(bits[0] and bits[-1] for *_, bits in rows)
    return sorted(
        (term, called, keys[block * BLOCK + start * 8 + at])
        for term, called, block, start, bits in rows
        for at in range(len(bits) * 8)
        if bits[at // 8] >> at % 8 & 1
    )


def _averages(block: bytes) -> list[bytes]:
    return [block] if block.strip(b"\0") else []  # of no chunks


def _without(
    connection: sqlite3.Connection, table: str, keys: dict[int, str], *left_out: str
) -> list[Any]:
    cursor = connection.execute(f"SELECT * FROM {table}")
    names = [column[0] for column in cursor.description]
    return sorted(
        tuple(
            (name, keys[value] if name == "document" else value)
            for name, value in zip(names, row, strict=True)
            if name not in left_out
        )
        for row in cursor
    )
