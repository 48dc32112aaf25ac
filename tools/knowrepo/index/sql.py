"""Reading what is derived and archived by SQL, for people who want to look.

Owns the statement's way: it must be one query, the tables that it names are brought into a
throwaway DuckDB database, that database is locked, and only then it runs. Nothing that it
says can write, read a file, load an extension or reach a network. DuckDB's SQLite reader is
an extension that would have to be fetched, so the catalog's rows come by way of Python, and
those of the archive too; vectors are attached where they lie, read only.

Memory stays bounded, whatever the sizes: a batch of rows (`_BATCH_BYTES`, or one row that is
larger), DuckDB's own limit (`_MEMORY`), and what it cannot hold goes to a folder that is
removed with the database. So a query needs about as much of the disk as the tables it names.
"""

from __future__ import annotations

import contextlib
import json
import tempfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from dataclasses import dataclass, field
from typing import Any, TypeVar

import duckdb

from knowrepo.errors import KnowError, UsageError
from knowrepo.git.layout import Repository
from knowrepo.index.catalog import Catalog, told
from knowrepo.sessions import listing, store
from knowrepo.sessions.lines import clean, decode

_MEMORY = "400MB"
_BATCH_ROWS = 2000
_BATCH_BYTES = 8_000_000
# All the kinds of query that only read; DuckDB 2 takes COPY and INSERT in a WITH.
_READING = frozenset(
    {"SELECT_NODE", "SET_OPERATION_NODE", "RECURSIVE_CTE_NODE", "CTE_NODE", "BOUND_SUBQUERY_NODE"}
)
_CONFIG: dict[str, str | bool | int | float | list[str]] = {
    "memory_limit": _MEMORY,
    "autoinstall_known_extensions": "false",
    "autoload_known_extensions": "false",
    "allow_community_extensions": "false",
    "allow_persistent_secrets": "false",
    "python_enable_replacements": "false",  # a table's name never means a Python variable
}
_BY_NAME = frozenset({"query", "query_table"})  # functions that take a table's name as text
_LINES = frozenset({"records", "lines"})  # the view, and what lies below it
_TYPES = {"INTEGER": "BIGINT", "REAL": "DOUBLE"}  # of SQLite; all else is text

_T = TypeVar("_T")

RECORDS = "records"
VECTORS = "vectors"
_COLUMNS = {
    RECORDS: "session VARCHAR, agent VARCHAR, line BIGINT, type VARCHAR, role VARCHAR,"
    " time VARCHAR, json JSON",
    VECTORS: "text_hash VARCHAR, part SMALLINT, vector FLOAT[]",
}
# In the order of the agents that write them so.
_ROLE = "coalesce(json->>'$.message.role', json->>'$.payload.role', json->>'$.role')"


@dataclass
class Answer:
    """What a query found: names of columns, and rows as they are asked for.

    ``notes`` say what could not be looked at.
    """

    columns: tuple[str, ...]
    rows: Iterator[tuple[Any, ...]]
    notes: list[str] = field(default_factory=list)


def tables(repository: Repository) -> dict[str, str]:
    """Return ``{table: its columns with their types}`` of all that can be asked."""
    found = dict(_COLUMNS)
    catalog = Catalog.open(repository.catalog)
    if catalog is not None:
        with told(repository.catalog), catalog:
            found |= {name: _declared(catalog, name) for name in catalog.tables()}
    return dict(sorted(found.items()))


@contextlib.contextmanager
def answer(repository: Repository, statement: str, *, fingerprint: str = "") -> Iterator[Answer]:
    """Run one query; ``fingerprint`` is that of the vectors to show, empty for none.

    Raises UsageError where it is no query, or DuckDB finds fault with it, and
    KnowError where a table that it names cannot be read.
    """
    with tempfile.TemporaryDirectory(prefix="know-sql-") as folder, _interrupts():
        config = {**_CONFIG, "temp_directory": folder}
        with duckdb.connect(f"{folder}/rows.duckdb", config=config) as db:
            with _faults():
                named = _tables_of(db, statement)
            notes = _bring(db, repository, named, fingerprint)
            db.execute("SET enable_external_access = false")
            db.execute("SET lock_configuration = true")
            with _faults():
                db.execute("BEGIN TRANSACTION READ ONLY")
                _interruptible(db, lambda: db.execute(statement))
                columns = tuple(str(column[0]) for column in db.description or ())
            yield Answer(columns, _fetched(db), notes)


def _fetched(db: duckdb.DuckDBPyConnection) -> Iterator[tuple[Any, ...]]:
    with _faults():
        while rows := _interruptible(db, lambda: db.fetchmany(_BATCH_ROWS)):
            yield from rows


def _interruptible(db: duckdb.DuckDBPyConnection, work: Callable[[], _T]) -> _T:
    """Do ``work`` so that ^C ends it: DuckDB does not look while it makes rows."""
    with ThreadPoolExecutor(max_workers=1) as pool:
        future = pool.submit(work)
        try:
            return future.result()
        except KeyboardInterrupt:
            while not future.done():  # what has not begun yet does not hear it
                db.interrupt()
                wait([future], timeout=0.05)
            raise


@contextlib.contextmanager
def _interrupts() -> Iterator[None]:
    """Give back ^C as Python does: DuckDB makes an error of it where it notices."""
    try:
        yield
    except RuntimeError as error:
        if str(error) != "Query interrupted":
            raise
        raise KeyboardInterrupt from error


@contextlib.contextmanager
def _faults() -> Iterator[None]:
    """Turn what DuckDB says of a statement into one line."""
    try:
        yield
    except duckdb.OutOfMemoryException as error:
        raise KnowError(
            f"the query needs more than {_MEMORY} of memory", hint="ask for fewer columns or rows"
        ) from error
    except duckdb.Error as error:
        raise UsageError(_line(error), hint=_hint(str(error))) from error


def _line(error: duckdb.Error) -> str:
    return " ".join(str(error).split("\n\n")[0].split())


def _hint(text: str) -> str:
    if "disabled" in text or "read-only mode" in text:
        return "know sql only reads the tables of `know sql --tables`"
    if "does not exist" in text or "not found" in text:
        return "`know sql --tables` lists tables and columns"
    return ""


# -- what a statement is ----------------------------------------------------------


def _tables_of(db: duckdb.DuckDBPyConnection, statement: str) -> set[str] | None:
    """Return the names of the tables that a query names; None where it may be any.

    Raises UsageError where it is no query that reads.
    """
    found = db.execute("SELECT json_serialize_sql(?::VARCHAR)", [statement]).fetchone()
    tree = json.loads(found[0]) if found else {}
    if tree.get("error"):
        said = " ".join(str(tree.get("error_message")).split())
        if tree.get("error_type") == "parser":
            raise UsageError(f"Parser Error: {said}")
        raise UsageError("know sql takes a query (SELECT, FROM, WITH, DESCRIBE) and nothing else")
    if len(tree.get("statements", ())) != 1:
        raise UsageError("know sql takes one query at a time")
    names: set[str] = set()
    named_in_text = False
    waiting: list[Any] = [tree]
    while waiting:  # by hand: a query may be nested as deeply as it likes
        node = waiting.pop()
        if isinstance(node, list):
            waiting += node
        elif isinstance(node, dict):
            waiting += node.values()
            kind = str(node.get("type"))
            if kind.endswith("_NODE") and kind not in _READING:
                raise UsageError("know sql only reads: a WITH that writes is not taken")
            names.add(str(node.get("table_name", "")).strip('"').lower())
            named_in_text = named_in_text or node.get("function_name") in _BY_NAME
    return None if named_in_text else names


# -- bringing the rows ------------------------------------------------------------


def _bring(
    db: duckdb.DuckDBPyConnection, repository: Repository, named: set[str] | None, fingerprint: str
) -> list[str]:
    """Make the tables; those that a query does not name stay empty."""
    notes: list[str] = []
    catalog = Catalog.open(repository.catalog)
    if catalog is None:
        notes.append("there is no catalog yet: `know index` builds it")
    else:
        with told(repository.catalog), catalog:
            for name in catalog.tables():
                columns = _declared(catalog, name)
                db.execute(f'CREATE TABLE "{name}" ({columns})')
                if named is None or name in named:
                    _fill(db, f'"{name}"', columns.count(",") + 1, map(_texts, catalog.rows(name)))
    _bring_records(db, repository, wanted=named is None or not named.isdisjoint(_LINES))
    with_vectors = named is None or VECTORS in named
    notes += _bring_vectors(db, repository, fingerprint if with_vectors else "")
    return notes


def _declared(catalog: Catalog, table: str) -> str:
    return ", ".join(
        f'"{name}" {_TYPES.get(kind, "VARCHAR")}' for name, kind in catalog.columns(table)
    )


def _texts(row: tuple[Any, ...]) -> tuple[Any, ...]:
    return tuple(value.hex() if isinstance(value, bytes) else value for value in row)


def _fill(
    db: duckdb.DuckDBPyConnection,
    table: str,
    width: int,
    rows: Iterable[tuple[Any, ...]],
    *,
    last: str = "",
) -> None:
    """Insert rows in batches; ``last`` is SQL for the last column, of `$N`, its parameter."""
    values = [f"unnest(${number})" for number in range(1, width + 1)]
    values[-1] = last.replace("$N", values[-1]) or values[-1]
    insert = f"INSERT INTO {table} SELECT {', '.join(values)}"
    for batch in _batches(rows):
        db.execute(insert, [list(column) for column in zip(*batch, strict=True)])


def _batches(rows: Iterable[tuple[Any, ...]]) -> Iterator[Sequence[tuple[Any, ...]]]:
    batch: list[tuple[Any, ...]] = []
    size = 0
    for row in rows:
        batch.append(row)
        size += sum(len(value) for value in row if isinstance(value, str))
        if len(batch) >= _BATCH_ROWS or size >= _BATCH_BYTES:
            yield batch
            batch, size = [], 0
    if batch:
        yield batch


def _bring_records(db: duckdb.DuckDBPyConnection, repository: Repository, *, wanted: bool) -> None:
    db.execute("CREATE SCHEMA archive")
    db.execute(
        "CREATE TABLE archive.lines (session VARCHAR, agent VARCHAR, line BIGINT, json JSON)"
    )
    db.execute(
        f"CREATE VIEW {RECORDS} AS SELECT session, agent, line, json->>'$.type' AS type,"
        f" {_ROLE} AS role, json->>'$.timestamp' AS time, json FROM archive.lines"
    )
    if wanted:
        _fill(db, "archive.lines", 4, _lines(repository), last="try_cast($N AS JSON)")


def _lines(repository: Repository) -> Iterator[tuple[str, str, int, str]]:
    """Yield the archived lines, numbered as the catalog numbers them."""
    for session in listing.find(repository):
        for one in (session, *session.below):
            for number, line in enumerate(store.chunks(one.path), start=1):
                raw = clean(line, first=number == 1)
                if raw:
                    yield one.name, one.agent, number, decode(raw)


def _bring_vectors(
    db: duckdb.DuckDBPyConnection, repository: Repository, fingerprint: str
) -> list[str]:
    """Attach the segments of a fingerprint; returns what could not be attached."""
    notes: list[str] = []
    parts = [f"SELECT {', '.join(f'NULL::{kind}' for kind in _kinds(VECTORS))} WHERE false"]
    if fingerprint:
        from knowrepo.index.vectors import VectorStore, engine

        for number, path in enumerate(VectorStore(repository.vectors, fingerprint).segments()):
            try:
                engine.attach(db, path, f"segment{number}")
                table = f"segment{number}.vectors"
                db.execute(f"SELECT hash, part, vector FROM {table} LIMIT 0")
            except duckdb.Error:  # damaged, or merged into another a moment ago
                notes.append(f"{path}: cannot be read now; its vectors are not shown")
                continue
            parts.append(f"SELECT replace(hash::VARCHAR, '-', ''), part, vector FROM {table}")
    columns = ", ".join(column.split()[0] for column in _COLUMNS[VECTORS].split(", "))
    db.execute(f"CREATE VIEW {VECTORS} ({columns}) AS {' UNION ALL '.join(parts)}")
    return notes


def _kinds(table: str) -> list[str]:
    return [column.split()[1] for column in _COLUMNS[table].split(", ")]
