"""A segment: one DuckDB file of vectors, written once and never changed.

Owns its form. A vector lies in pieces of 48 numbers, a column each. DuckDB adds
up an inner product number by number, each sum waiting for the one before, so
one long array leaves the processor idle; of short ones it works on several rows
at a time, which takes a third off the scan. Floats are not compressed, which
would triple it, and groups of rows are small, so that all threads have some. The
table `about` says what the vectors are of, and is looked at before anything
else; the view `vectors` shows them whole, for people.
"""

from __future__ import annotations

import contextlib
import os
import uuid
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import duckdb

from knowrepo.index.vectors import engine

if TYPE_CHECKING:
    from knowrepo.index.embed import Vector

FORMAT = 1
"""The version of the form; a file of another is made anew."""
PIECE = 48
"""Numbers of a piece; measured: 384, 192, 96, 64, 48, 32, 16 take 79, 69, 63, 56, 53, 53, 78 ms."""
# Every DuckDB that we allow can read it, whichever of them wrote it.
_STORAGE = "v1.2.0"

Row = tuple[str, int, "Vector"]
"""(text hash, part, vector of unit length)."""


class ForeignError(Exception):
    """What a file is that is no segment of this table, in a few words."""


@dataclass(frozen=True)
class Made:
    """A segment that was written, before it has its name."""

    db: duckdb.DuckDBPyConnection
    name: str


def _cuts(dimension: int) -> list[tuple[int, int]]:
    return [(at, min(at + PIECE, dimension)) for at in range(0, dimension, PIECE)]


def score(dimension: int) -> str:
    """Return the SQL of a row's inner product with the query; see `bind`."""
    return " + ".join(
        f"array_inner_product(v{index}, getvariable('q').p{index})"
        for index, _ in enumerate(_cuts(dimension))
    )


def bind(db: duckdb.DuckDBPyConnection, query: Vector) -> None:
    """Set the query for `score`, once: as a parameter it would be converted for every row."""
    cuts = _cuts(len(query))
    form = ", ".join(f"p{index} FLOAT[{end - start}]" for index, (start, end) in enumerate(cuts))
    pieces = {f"p{index}": query[start:end].tolist() for index, (start, end) in enumerate(cuts)}
    db.execute(f"SET VARIABLE q = $1::STRUCT({form})", [pieces])


@contextlib.contextmanager
def new(folder: Path, fingerprint: str, dimension: int) -> Iterator[Made]:
    """Give the table `made.pieces` of a new segment; it has its name when this ends."""
    name = f"{uuid.uuid4().hex}.duckdb"
    temporary = folder / f".{name}.{os.getpid()}.tmp"
    pieces = [f"v{index} FLOAT[{b - a}] NOT NULL" for index, (a, b) in enumerate(_cuts(dimension))]
    whole = " || ".join(f"v{index}::FLOAT[]" for index in range(len(pieces)))
    try:
        with engine.connect(threads=1) as db:  # more leave gaps in the file
            db.execute("SET force_compression = 'uncompressed'")
            db.execute(
                f"ATTACH '{engine.quoted(temporary)}' AS made"
                f" (ROW_GROUP_SIZE {engine.ROWS_A_GROUP}, STORAGE_VERSION '{_STORAGE}')"
            )
            db.execute(
                "CREATE TABLE made.about (format INTEGER, fingerprint VARCHAR, dimension INTEGER)"
            )
            db.execute(
                "INSERT INTO made.about VALUES ($1, $2, $3)", [FORMAT, fingerprint, dimension]
            )
            db.execute(
                "CREATE TABLE made.pieces"
                f" (hash UUID NOT NULL, part SMALLINT NOT NULL, {', '.join(pieces)})"
            )
            db.execute(
                "CREATE VIEW made.vectors AS"
                f" SELECT hash, part, ({whole})::FLOAT[{dimension}] AS vector FROM pieces"
            )
            yield Made(db, name)
            db.execute("CHECKPOINT made")
            db.execute("DETACH made")
        temporary.replace(folder / name)
    finally:
        temporary.unlink(missing_ok=True)
        temporary.with_name(f"{temporary.name}.wal").unlink(missing_ok=True)


def insert(made: Made, rows: Sequence[Row]) -> None:
    """Put vectors into a new segment, as float16 can hold them."""
    import numpy as np

    # float16 is what is shared; rounding now makes both sides equal.
    matrix = np.stack([vector for _, _, vector in rows]).astype(np.float16).astype(np.float32)
    columns: Any = {
        "hash": np.array([text_hash for text_hash, _, _ in rows], dtype=object),
        "part": np.array([part for _, part, _ in rows], dtype=np.int16),
    }
    cuts = _cuts(matrix.shape[1])
    for index, (start, end) in enumerate(cuts):
        lists = matrix[:, start:end].tolist()
        columns[f"v{index}"] = np.fromiter(lists, dtype=object, count=len(rows))
    casts = ", ".join(f"v{index}::FLOAT[{b - a}]" for index, (a, b) in enumerate(cuts))
    made.db.register("columns", columns)
    made.db.execute(f"INSERT INTO made.pieces SELECT hash::UUID, part, {casts} FROM columns")
    made.db.unregister("columns")


def dimension(db: duckdb.DuckDBPyConnection, alias: str, fingerprint: str) -> int:
    """Return the dimension of an attached segment of ``fingerprint``.

    Raises ForeignError for a file that is none, duckdb.Error for one that
    cannot be read. Reads its first blocks only.
    """
    tables = dict(
        db.execute(
            "SELECT table_name,"
            " string_agg(column_name || ' ' || data_type, ', ' ORDER BY column_index)"
            " FROM duckdb_columns() JOIN duckdb_tables() USING (database_name, table_name)"
            " WHERE database_name = $1 GROUP BY table_name",
            [alias],
        ).fetchall()
    )
    if tables.get("about") != "format INTEGER, fingerprint VARCHAR, dimension INTEGER":
        raise ForeignError("no segment of this version")
    rows = db.execute(f"SELECT * FROM {alias}.about").fetchall()
    if len(rows) != 1 or rows[0][0] != FORMAT:
        raise ForeignError("no segment of this version")
    if rows[0][1] != fingerprint:
        raise ForeignError(f"a segment of other vectors ({rows[0][1]})")
    found = int(rows[0][2])
    pieces = [f"v{index} FLOAT[{b - a}]" for index, (a, b) in enumerate(_cuts(found))]
    if tables.get("pieces") != ", ".join(["hash UUID", "part SMALLINT", *pieces]):
        raise ForeignError("not what it says of itself")
    return found


def count(db: duckdb.DuckDBPyConnection, alias: str, dimension: int) -> int:
    """Read an attached segment to its end; returns how many rows it has.

    DuckDB compares each block's checksum as it reads it. Raises duckdb.Error for
    one that does not fit, ForeignError for numbers that are no vector's.
    """
    columns = ", ".join(
        f"sum(array_inner_product(v{index}, v{index})::DOUBLE)"
        for index, _ in enumerate(_cuts(dimension))
    )
    row = db.execute(f"SELECT count(hash), count(part), {columns} FROM {alias}.pieces").fetchone()
    assert row is not None
    rows, parts, *squares = row
    length = sum(number or 0.0 for number in squares)
    if rows != parts or not abs(length - rows) <= 0.01 * rows:
        raise ForeignError("holds what is no vector")
    return int(rows)


def put_texts(db: duckdb.DuckDBPyConnection, table: str, texts: Collection[str]) -> None:
    """Make a temporary table of text hashes."""
    import numpy as np

    # Registered, not found by its name: that is closed to an instance that opens nothing.
    asked: Any = {"hash": np.fromiter(texts, dtype=object, count=len(texts))}
    db.register("asked", asked)
    db.execute(
        f"CREATE OR REPLACE TEMP TABLE {table} AS SELECT DISTINCT hash::UUID AS hash FROM asked"
    )
    db.unregister("asked")


def merge(made: Made, aliases: Sequence[str], *, only: str = "") -> int:
    """Put what some attached segments hold into a new one, each vector once; returns the rows.

    ``only`` is a join in SQL that says which.
    """
    made.db.execute("CREATE TEMP TABLE taken (hash UUID, part SMALLINT)")
    made.db.execute("BEGIN")  # as one change: the rows of several would leave gaps
    for alias in aliases:
        # The keys alone are looked at: vectors are never sorted, and never held.
        made.db.execute(
            f"INSERT INTO made.pieces SELECT * FROM {alias}.pieces {only}"
            " ANTI JOIN taken USING (hash, part)"
        )
        made.db.execute(f"INSERT INTO taken SELECT hash, part FROM {alias}.pieces")
    made.db.execute("COMMIT")
    row = made.db.execute("SELECT count(*) FROM made.pieces").fetchone()
    return int(row[0]) if row else 0
