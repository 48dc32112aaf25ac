"""Whether SQLite can do its work here, and whether a catalog is whole.

Owns looking at a catalog that may be damaged: it is opened for reading only. What
FTS5 checks by itself is written as an insert, so it is asked of a copy.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import sqlite3
import tempfile
from dataclasses import dataclass
from pathlib import Path

from knowrepo.index.catalog import schema

_MOST = 5  # problems that are told
# Each finds rows that have lost what they belong to; the answer is a number.
_PAIRS = {
    "chunks without a document": (
        "SELECT count(*) FROM chunks WHERE document NOT IN (SELECT id FROM documents)"
    ),
    "tags without a document": (
        "SELECT count(*) FROM tags WHERE document NOT IN (SELECT id FROM documents)"
    ),
    "names without a document": (
        "SELECT count(*) FROM names WHERE document NOT IN (SELECT id FROM documents)"
    ),
    "terms without a document": (
        "SELECT count(*) FROM terms WHERE document NOT IN (SELECT id FROM documents)"
    ),
}
# Where there is a row for each chunk that has words. FTS5 keeps one for each text,
# whether or not it keeps the text itself.
_WITH_WORDS = {True: "words_docsize", False: "words"}
_MISCOUNTED = "SELECT count(*) FROM words WHERE size != " + " + ".join(
    f"length({column}) - length(replace({column}, ' ', '')) + ({column} != '')"
    for column in ("title", "heading", "body")
)


@dataclass(frozen=True)
class Health:
    """What is wrong with a catalog; ``outdated`` is another version's, and whole or not.

    ``looked_at`` says what was compared.
    """

    problems: tuple[str, ...] = ()
    outdated: bool = False
    looked_at: str = ""


def sqlite_version() -> str:
    """Return the version of Python's SQLite."""
    return sqlite3.sqlite_version


def wal_problem(folder: Path) -> str:
    """Return why no database in ``folder`` can be read while it is written; '' where one can."""
    if not os.access(folder, os.W_OK):
        return "cannot be written"
    try:
        with tempfile.TemporaryDirectory(dir=folder, prefix=".wal-") as scratch:
            path = Path(scratch, "probe.db")
            with (
                contextlib.closing(sqlite3.connect(path, isolation_level=None)) as writer,
                contextlib.closing(sqlite3.connect(path, isolation_level=None)) as reader,
            ):
                mode = writer.execute("PRAGMA journal_mode = WAL").fetchone()[0]
                if mode != "wal":
                    return f"SQLite keeps to the journal mode {mode} here"
                writer.execute("CREATE TABLE one (n)")
                writer.execute("BEGIN IMMEDIATE")
                writer.execute("INSERT INTO one VALUES (1)")
                reader.execute("SELECT count(*) FROM one").fetchone()
                writer.execute("COMMIT")
    except (OSError, sqlite3.Error) as error:
        return str(error)
    return ""


def examine(path: Path) -> Health:
    """Look through a whole catalog; opens it for reading only."""
    try:
        with contextlib.closing(_open(path)) as connection:
            if schema.version_of(connection) != schema.version():
                return Health(outdated=True)
            problems = _of_pages(connection) or _of_rows(connection)
            if problems:
                return Health(tuple(problems))
            words = _of_words(path, connection)
            chunks = connection.execute("SELECT count(*) FROM chunks").fetchone()[0]
    except sqlite3.Error as error:
        return Health((str(error),))
    if words:
        return Health((words,))
    return Health(looked_at=f"{chunks:,} chunks agree with their words")


def _open(path: Path) -> sqlite3.Connection:
    uri = path.absolute().as_uri()
    connection = sqlite3.connect(f"{uri}?mode=ro", uri=True, isolation_level=None)
    try:
        connection.execute("SELECT 1 FROM sqlite_master").fetchone()
    except sqlite3.OperationalError:  # a WAL database on a read-only disk
        connection.close()
        connection = sqlite3.connect(f"{uri}?immutable=1", uri=True, isolation_level=None)
    return connection


def _of_pages(connection: sqlite3.Connection) -> list[str]:
    rows = connection.execute(f"PRAGMA integrity_check({_MOST})").fetchall()
    return [row[0] for row in rows if row[0] != "ok"]


def _of_rows(connection: sqlite3.Connection) -> list[str]:
    asked = dict(_PAIRS)
    table = _WITH_WORDS[schema.has_fts5()]
    if connection.execute("SELECT 1 FROM sqlite_master WHERE name = ?", (table,)).fetchone():
        asked["chunks without words"] = (
            f"SELECT count(*) FROM chunks WHERE id NOT IN (SELECT id FROM {table})"
        )
        asked["words without a chunk"] = (
            f"SELECT count(*) FROM {table} WHERE id NOT IN (SELECT id FROM chunks)"
        )
    found = {what: connection.execute(question).fetchone()[0] for what, question in asked.items()}
    return [f"{number} {what}" for what, number in found.items() if number]


def _of_words(path: Path, connection: sqlite3.Connection) -> str:
    """Return what is wrong with the words themselves; FTS5 is asked of a copy."""
    if not schema.has_fts5():
        wrong = connection.execute(_MISCOUNTED).fetchone()[0]
        return f"{wrong} chunks whose words are not counted right" if wrong else ""
    with tempfile.TemporaryDirectory(prefix="know-doctor-") as scratch:
        if shutil.disk_usage(scratch).free < 2 * path.stat().st_size:
            return ""  # the check of the disk tells; the pages and rows were looked at
        with contextlib.closing(sqlite3.connect(Path(scratch, "copy.db"))) as copy:
            connection.backup(copy)
            try:
                copy.execute("INSERT INTO words (words) VALUES ('integrity-check')")
            except sqlite3.DatabaseError as error:
                return f"the table of words is damaged: {error}"
    return ""
