"""The catalog's tables, their version, and opening the file that holds them."""

from __future__ import annotations

import contextlib
import os
import sqlite3
from functools import cache
from pathlib import Path
from typing import NamedTuple

from knowrepo.index.catalog.files import UNFINISHED
from knowrepo.index.catalog.rows import TEXTS
from knowrepo.index.catalog.scan import Scan
from knowrepo.index.catalog.words import FullText, Words
from knowrepo.index.text import ANALYSER

SCHEMA = 5
CHUNK_RULE = 3
"""The version of the rule in `index.chunk`. It stands here because a recall
compares it and must not import what cuts Markdown."""

VERSION = f"{SCHEMA}.{ANALYSER}.{CHUNK_RULE}"
"""The version of a catalog, without what its words are kept in: see `version`."""

WAL_BYTES = 8_388_608
"""What is kept of a write-ahead log that has been written back."""
_CACHE_KIB = 16_384  # a transaction of a second fits: no page of it is written twice
_SECONDS = 30  # to wait for a reader that keeps a change of the journal waiting

_TABLES = """
CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE documents (
    id INTEGER PRIMARY KEY,
    key TEXT NOT NULL UNIQUE,      -- the path without its extension
    uid TEXT NOT NULL UNIQUE,      -- sha1 of the key
    path TEXT NOT NULL,
    oid TEXT NOT NULL,             -- git's name of the content
    stamp TEXT NOT NULL,           -- size and time of a session's file; empty for a concept
    kind TEXT NOT NULL,            -- concept or session
    type TEXT NOT NULL,
    title TEXT NOT NULL,
    description TEXT NOT NULL,
    date TEXT NOT NULL,
    project TEXT NOT NULL,         -- by its name
    identity TEXT NOT NULL,        -- the project's in every clone; empty where it is not known
    agent TEXT NOT NULL,
    branch TEXT NOT NULL,
    status TEXT NOT NULL,
    superseded_by TEXT NOT NULL,
    stale_after TEXT NOT NULL
);
CREATE INDEX documents_date ON documents (date);
CREATE TABLE leaving (             -- documents that are gone, and not yet removed
    document INTEGER PRIMARY KEY
);
CREATE TABLE tags (
    tag TEXT NOT NULL, document INTEGER NOT NULL, PRIMARY KEY (document, tag)
) WITHOUT ROWID;
CREATE TABLE names (               -- what a whole query may be the name of, normalised
    name TEXT NOT NULL, field TEXT NOT NULL,
    trust INTEGER NOT NULL,        -- what the standing leaves of the worth, in hundredths
    date TEXT NOT NULL, path TEXT NOT NULL, document INTEGER NOT NULL,
    stale_after TEXT NOT NULL,
    PRIMARY KEY (name, field, trust DESC, date DESC, path)  -- in the order of answers
) WITHOUT ROWID;
CREATE INDEX names_document ON names (document);
CREATE TABLE terms (               -- stems of a concept's front matter
    document INTEGER NOT NULL, term TEXT NOT NULL, field TEXT NOT NULL,
    PRIMARY KEY (document, term, field)
) WITHOUT ROWID;
CREATE TABLE postings (            -- who holds a stem: bits by document number; see `postings`
    term TEXT NOT NULL, called INTEGER NOT NULL, block INTEGER NOT NULL,
    start INTEGER NOT NULL, bits BLOB NOT NULL,
    PRIMARY KEY (term, called, block)
) WITHOUT ROWID;
CREATE TABLE chunks (
    id INTEGER PRIMARY KEY,
    uid TEXT NOT NULL UNIQUE,
    document INTEGER NOT NULL,
    seq INTEGER NOT NULL,
    anchor TEXT NOT NULL,
    heading TEXT NOT NULL,
    context TEXT NOT NULL,
    text TEXT NOT NULL,
    time TEXT NOT NULL,
    line INTEGER NOT NULL,
    text_hash TEXT NOT NULL
);
CREATE UNIQUE INDEX chunks_document ON chunks (document, seq);
CREATE INDEX chunks_hash ON chunks (text_hash);
"""


# Where each table names a document.
_DOCUMENT_IN = {
    "documents": "id", "chunks": "document", "names": "document", "terms": "document",
    "tags": "document",
}  # fmt: skip


@cache
def has_fts5() -> bool:
    """Say whether SQLite has full-text search. What it cannot do, `scan` does."""
    with contextlib.closing(sqlite3.connect(":memory:")) as connection:
        try:
            found = connection.execute("SELECT 1 FROM pragma_module_list WHERE name = 'fts5'")
            return found.fetchone() is not None
        except sqlite3.OperationalError:  # SQLite before 3.30 may not tell; trying takes longer
            try:
                connection.execute(FullText.TABLE)
            except sqlite3.OperationalError:
                return False
            return True


def version() -> str:
    """Return the version of the catalogs that this process reads and writes.

    One with FTS5 and one without it keep a catalog each: neither reads the other's.
    """
    return VERSION if has_fts5() else f"{VERSION}.scan"


def words_of(connection: sqlite3.Connection, *, settled: bool = False) -> Words:
    """Return the words of a catalog of this version.

    ``settled`` says that all that the connection reads is of one state.
    """
    return FullText(connection) if has_fts5() else Scan(connection, settled=settled)


def open_writable(file: Path) -> sqlite3.Connection:
    """Open a file for writing, with the tables of this version."""
    connection = sqlite3.connect(file, isolation_level=None, timeout=_SECONDS)
    try:
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("PRAGMA synchronous = NORMAL")
        connection.execute(f"PRAGMA journal_size_limit = {WAL_BYTES}")
        connection.execute(f"PRAGMA cache_size = -{_CACHE_KIB}")
        if version_of(connection) != version():
            make_tables(connection)
    except BaseException:
        connection.close()
        raise
    return connection


class Readable(NamedTuple):
    """A connection for reading. ``follows``: in its next transaction it sees what is new."""

    connection: sqlite3.Connection
    follows: bool


def open_readable(file: Path) -> Readable | None:
    """Open a file for reading, in a transaction that has begun; None where it does not fit."""
    # A WAL database on a read-only disk opens as immutable only.
    for mode in ("mode=ro", "immutable=1"):
        with contextlib.suppress(sqlite3.DatabaseError), contextlib.ExitStack() as opened:
            connection = sqlite3.connect(
                _uri(file, mode),
                uri=True,
                isolation_level=None,
                check_same_thread=False,  # one thread after another may have it; see `idle`
            )
            opened.callback(connection.close)
            connection.execute("PRAGMA temp_store = MEMORY")
            if begin(connection):
                opened.pop_all()
                return Readable(connection, follows=mode == "mode=ro")
    return None


def begin(connection: sqlite3.Connection) -> bool:
    """Begin to read: all that follows is of one state. Says whether the tables are ours."""
    connection.execute("BEGIN")
    return version_of(connection) == version()  # the first question settles the state


def meta_of(file: Path, key: str) -> str | None:
    """Return a value that a catalog of any version keeps; None where it cannot be asked."""
    try:
        with contextlib.closing(sqlite3.connect(_uri(file, "mode=ro"), uri=True)) as connection:
            row = connection.execute("SELECT value FROM meta WHERE key = ?", (key,)).fetchone()
    except sqlite3.Error:
        return None
    return row[0] if row else ""


def _uri(file: Path, mode: str) -> str:
    return f"file:{str(file).replace('%', '%25').replace('?', '%3f').replace('#', '%23')}?{mode}"


def hide_leaving(connection: sqlite3.Connection) -> bool:
    """Hide the documents that are gone from a reader; says whether there are any.

    SQLite looks for a name among the temporary ones first: a view of a table's
    own name stands before it.
    """
    if not connection.execute("SELECT 1 FROM leaving LIMIT 1").fetchone():
        return False
    for table, column in _DOCUMENT_IN.items():
        connection.execute(
            f"CREATE TEMP VIEW {table} AS SELECT * FROM main.{table}"
            f" WHERE {column} NOT IN (SELECT document FROM main.leaving)"
        )
    return True


def written_back(connection: sqlite3.Connection) -> bool:
    """Empty the write-ahead log; False where a reader still needs it. Waits for nobody."""
    connection.execute("PRAGMA busy_timeout = 0")
    try:
        busy = connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()[0]
    finally:
        connection.execute(f"PRAGMA busy_timeout = {_SECONDS * 1000}")
    return not busy


def copy(connection: sqlite3.Connection, file: Path) -> None:
    """Publish a copy of a database, without free pages, as ``file``, which must not be there."""
    new = file.with_name(file.name + UNFINISHED)
    new.unlink(missing_ok=True)
    try:
        connection.execute("VACUUM INTO ?", (str(new),))
        open_writable(new).close()  # in WAL mode, with nothing beside it
        with new.open("rb+") as stream:
            os.fsync(stream.fileno())
        new.rename(file)
    except BaseException:
        with contextlib.suppress(OSError):
            new.unlink(missing_ok=True)
        raise


def version_of(connection: sqlite3.Connection) -> str:
    """Return the version of the tables in a file; empty where there are none of ours."""
    try:
        row = connection.execute("SELECT value FROM meta WHERE key = 'version'").fetchone()
    except sqlite3.OperationalError as error:
        if "no such table: meta" in str(error):
            return ""
        raise
    return row[0] if row else ""


def make_tables(connection: sqlite3.Connection) -> None:
    """Make the tables in place of whatever tables there are."""
    tables = connection.execute(
        "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%'"
        " AND name NOT LIKE 'words\\_%' ESCAPE '\\'"
    ).fetchall()
    drops = "".join(f"DROP TABLE {name};" for (name,) in tables)
    words = FullText.TABLE if has_fts5() else Scan.TABLE
    try:
        connection.executescript(
            f"BEGIN IMMEDIATE; {drops} {_TABLES} {words}"
            f" INSERT INTO meta VALUES ('version', '{version()}');"
            f" INSERT INTO meta VALUES ('{TEXTS}', hex(randomblob(8))); COMMIT;"
        )
    except sqlite3.OperationalError:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        raise
