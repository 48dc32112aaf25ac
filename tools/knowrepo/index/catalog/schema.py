"""The catalog's tables, their version, and opening the file that holds them."""

from __future__ import annotations

import sqlite3
from pathlib import Path

from knowrepo.errors import KnowError
from knowrepo.index.catalog.rows import TEXTS
from knowrepo.index.text import ANALYSER

SCHEMA = 2
CHUNK_RULE = 2
"""The version of the rule in `index.chunk`. It stands here because a recall
compares it and must not import what cuts Markdown."""

VERSION = f"{SCHEMA}.{ANALYSER}.{CHUNK_RULE}"

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
    project TEXT NOT NULL,
    agent TEXT NOT NULL,
    branch TEXT NOT NULL,
    status TEXT NOT NULL,
    superseded_by TEXT NOT NULL,
    stale_after TEXT NOT NULL
);
CREATE INDEX documents_date ON documents (date);
CREATE TABLE tags (
    tag TEXT NOT NULL, document INTEGER NOT NULL, PRIMARY KEY (document, tag)
) WITHOUT ROWID;
CREATE TABLE names (               -- what a whole query may be the name of, normalised
    name TEXT NOT NULL, field TEXT NOT NULL, document INTEGER NOT NULL,
    PRIMARY KEY (name, field, document)
) WITHOUT ROWID;
CREATE INDEX names_document ON names (document);
CREATE TABLE terms (               -- stems of a concept's front matter
    term TEXT NOT NULL, document INTEGER NOT NULL, field TEXT NOT NULL,
    PRIMARY KEY (term, document, field)
) WITHOUT ROWID;
CREATE INDEX terms_document ON terms (document);
CREATE TABLE term_counts (         -- in how many concepts a stem occurs; the empty one in all
    term TEXT PRIMARY KEY, documents INTEGER NOT NULL
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
CREATE VIRTUAL TABLE words USING fts5 (
    title, heading, body, content='', tokenize='porter unicode61 remove_diacritics 0'
);
"""


def open_writable(path: Path) -> sqlite3.Connection:
    """Open the file for writing, with the tables of this version."""
    connection = sqlite3.connect(path, isolation_level=None, timeout=30)
    try:
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("PRAGMA synchronous = NORMAL")
        connection.execute("PRAGMA journal_size_limit = 8388608")
        if version_of(connection) != VERSION:
            make_tables(connection)
    except BaseException:
        connection.close()
        raise
    return connection


def version_of(connection: sqlite3.Connection) -> str:
    """Return the version of the tables in a file; empty where there are none of ours."""
    has_meta = connection.execute("SELECT 1 FROM sqlite_master WHERE name = 'meta'").fetchone()
    if not has_meta:
        return ""
    row = connection.execute("SELECT value FROM meta WHERE key = 'version'").fetchone()
    return row[0] if row else ""


def make_tables(connection: sqlite3.Connection) -> None:
    """Make the tables in place of whatever tables there are.

    Raises KnowError where SQLite has no FTS5.
    """
    tables = connection.execute(
        "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%'"
        " AND name NOT LIKE 'words\\_%' ESCAPE '\\'"
    ).fetchall()
    drops = "".join(f"DROP TABLE {name};" for (name,) in tables)
    try:
        connection.executescript(
            f"BEGIN IMMEDIATE; {drops} {_TABLES}"
            f" INSERT INTO meta VALUES ('version', '{VERSION}');"
            f" INSERT INTO meta VALUES ('{TEXTS}', hex(randomblob(8))); COMMIT;"
        )
    except sqlite3.OperationalError as error:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        if "no such module" in str(error):
            raise KnowError(
                "this Python's SQLite has no FTS5", hint="use a Python built with FTS5"
            ) from error
        raise
