"""The vector table: immutable DuckDB segments, addressed by the hash of the text.

Owns DuckDB. A segment is written beside the others, published by renaming the
manifest, and never changed; segments are merged as they grow many. Readers
attach them read-only, so nobody waits. No row is ever deleted to be right: a
vector whose text is gone matches no live chunk. Vectors of another fingerprint
lie in another folder and cannot be met.
"""

from __future__ import annotations

import contextlib
import json
import os
import uuid
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING

import duckdb
from filelock import FileLock

from knowrepo.config import write_atomically
from knowrepo.errors import KnowError

if TYPE_CHECKING:
    from knowrepo.index.embed import Vector

# DuckDB keeps what it read, and holds what it sorts, up to most of the machine's memory.
_Settings = dict[str, str | bool | int | float | list[str]]
_READING: _Settings = {"memory_limit": "256MB"}
_WRITING: _Settings = {"memory_limit": "128MB", "threads": 1, "preserve_insertion_order": False}
MOST_SEGMENTS = 4
"""Segments that a reader attaches at most; each costs it some milliseconds."""

Row = tuple[str, int, "Vector"]
"""(text hash, part, vector of unit length)."""


@dataclass(frozen=True)
class Found:
    """What a search of the vectors found.

    ``scores`` are (text hash, cosine of its best part), best first.
    ``embedded`` is how many of the texts that were asked for have a vector.
    """

    scores: list[tuple[str, float]]
    embedded: int


class VectorStore:
    """The segments of one fingerprint; ``folder`` holds those of all fingerprints."""

    def __init__(self, folder: Path, fingerprint: str) -> None:
        self._folder = folder / fingerprint

    @property
    def folder(self) -> Path:
        """Where the segments lie."""
        return self._folder

    def is_empty(self) -> bool:
        """Say whether there are no vectors, without opening a segment."""
        return not self._manifest()

    def hashes(self) -> set[str]:
        """Return the hashes of all texts that have a vector; raises KnowError."""
        with self._readable(), self._attached() as (db, table):
            if not table:
                return set()
            rows = db.execute(f"SELECT DISTINCT hash FROM ({table})").fetchall()
        return {text_hash.hex for (text_hash,) in rows}

    def packed_digests(self) -> bytes:
        """Return the hashes of all texts that have a vector, 16 bytes each; raises KnowError."""
        packed = bytearray()
        with self._readable(), self._attached() as (db, table):
            if table:
                found = db.execute(f"SELECT hash FROM ({table}) WHERE part = 0")
                while rows := found.fetchmany(10_000):
                    packed += b"".join(text_hash.bytes for (text_hash,) in rows)
        return bytes(packed)

    def add(self, rows: Sequence[Row]) -> None:
        """Publish vectors as a new segment; all are seen from then on, or none."""
        if not rows:
            return
        try:
            self._folder.mkdir(parents=True, exist_ok=True)
            with FileLock(self._folder / "lock"):
                name = self._write(rows)
                self._publish([*self._manifest(), (name, len(rows))])
                with contextlib.suppress(duckdb.Error):  # merging is a comfort, never a condition
                    self._merge()
        except (OSError, duckdb.Error) as error:
            reason = getattr(error, "strerror", None) or str(error).splitlines()[0]
            raise KnowError(
                f"{self._folder}: vectors cannot be written: {reason}",
                hint="make the git directory writable, and free some space",
            ) from error

    def search(self, query: Vector, live: Sequence[str], limit: int) -> Found:
        """Return the texts among ``live`` whose vectors are nearest to ``query``.

        The filter comes first: what is not in ``live`` takes no place. Raises
        KnowError where a segment cannot be read to the end.
        """
        with self._readable(), self._attached() as (db, table):
            if not table or not live:
                return Found([], 0)
            import numpy as np

            asked = {"hash": np.array(live, dtype=object)}  # noqa: F841  # read by DuckDB by name
            db.execute("CREATE TEMP TABLE live AS SELECT hash::UUID AS hash FROM asked")
            # Bound once: as a list parameter it would be converted for every row.
            db.execute(f"SET VARIABLE query = $1::FLOAT[{len(query)}]", [[float(x) for x in query]])
            rows = db.execute(
                "SELECT hash, max(array_inner_product(vector, getvariable('query'))) AS score,"
                f" count(*) OVER () FROM ({table}) JOIN live USING (hash)"
                " GROUP BY hash ORDER BY score DESC, hash LIMIT $1",
                [limit],
            ).fetchall()
        scores = [(text_hash.hex, float(score)) for text_hash, score, _ in rows]
        return Found(scores, rows[0][2] if rows else 0)

    # -- files ----------------------------------------------------------------

    @contextlib.contextmanager
    def _readable(self) -> Iterator[None]:
        try:
            yield
        except duckdb.Error as error:
            raise KnowError(
                f"{self._folder}: vectors cannot be read: {str(error).splitlines()[0]}",
                hint="`know index` sets the damaged ones aside",
            ) from error

    def _manifest(self) -> list[tuple[str, int]]:
        try:
            entries = json.loads((self._folder / "manifest.json").read_bytes())["segments"]
            return [(str(entry["file"]), int(entry["rows"])) for entry in entries]
        except FileNotFoundError:
            return []
        except (ValueError, TypeError, KeyError):
            return []  # derived: what it named is embedded anew

    def segments(self) -> list[Path]:
        """Return the segment files; one may be merged into another at any time."""
        paths = [self._folder / name for name, _ in self._manifest()]
        return [path for path in paths if path.is_file()]

    def _publish(self, segments: Sequence[tuple[str, int]]) -> None:
        content = {"segments": [{"file": name, "rows": rows} for name, rows in segments]}
        write_atomically(self._folder / "manifest.json", json.dumps(content).encode(), durable=True)

    def _write(self, rows: Sequence[Row]) -> str:
        import numpy as np

        # float16 is what is shared; rounding now makes both sides equal.
        vectors = [v.astype(np.float16).astype(np.float32).tolist() for _, _, v in rows]
        columns = {  # noqa: F841  # read by DuckDB by name
            "hash": np.array([name for name, _, _ in rows], dtype=object),
            "part": np.array([part for _, part, _ in rows], dtype=np.int16),
            "vector": np.fromiter(vectors, dtype=object, count=len(rows)),
        }
        dimension = len(rows[0][2])
        with self._new_segment(dimension) as (db, name):
            db.execute(
                f"INSERT INTO vectors SELECT hash::UUID, part, vector::FLOAT[{dimension}]"
                " FROM columns"
            )
        return name

    @contextlib.contextmanager
    def _new_segment(self, dimension: int) -> Iterator[tuple[duckdb.DuckDBPyConnection, str]]:
        """Give a connection to a new segment's table; the file is whole when this ends."""
        name = f"{uuid.uuid4().hex}.duckdb"
        temporary = self._folder / f".{name}.{os.getpid()}.tmp"
        try:
            with duckdb.connect(str(temporary), config=_WRITING) as db:
                # Compressed floats take three times as long to scan.
                db.execute("PRAGMA force_compression = 'uncompressed'")
                db.execute(
                    "CREATE TABLE vectors"
                    f" (hash UUID NOT NULL, part SMALLINT NOT NULL, vector FLOAT[{dimension}])"
                )
                yield db, name
                db.execute("CHECKPOINT")
            temporary.replace(self._folder / name)
        finally:
            temporary.unlink(missing_ok=True)

    def _merge(self) -> None:
        """Keep the segments few: the newest are merged while the one before is not much larger.

        Each vector is so rewritten about as often as its table doubles.
        """
        segments = self._manifest()
        newest = 1
        while newest < len(segments) and (
            segments[-newest - 1][1] <= 2 * sum(rows for _, rows in segments[-newest:])
            or len(segments) - newest >= MOST_SEGMENTS
        ):
            newest += 1
        if newest == 1:
            return
        old, new = segments[:-newest], segments[-newest:]
        with self._attached([name for name, _ in new]) as (db, table):
            row = db.execute(f"SELECT len(vector) FROM ({table}) LIMIT 1").fetchone()
        if row is None:
            return
        dimension = int(row[0])
        with self._new_segment(dimension) as (db, name):
            for index, (file, _) in enumerate(new):
                db.execute(f"ATTACH '{_quoted(self._folder / file)}' AS s{index} (READ_ONLY)")
                # What is there already is told by its key: vectors are not held meanwhile.
                db.execute(
                    f"INSERT INTO vectors SELECT * FROM s{index}.vectors"
                    " ANTI JOIN vectors USING (hash, part)"
                )
            rows = db.execute("SELECT count(*) FROM vectors").fetchone()
            for index in range(len(new)):
                db.execute(f"DETACH s{index}")
        self._publish([*old, (name, int(rows[0]) if rows else 0)])
        for file, _ in new:
            # A reader that has it open keeps it; one that comes now reads the new manifest.
            with contextlib.suppress(OSError):
                (self._folder / file).unlink()

    def remove(self, texts: Collection[str]) -> int:
        """Write every segment that holds vectors of ``texts`` anew without them.

        Returns how many vectors went. Nothing needs this to be right: it is for
        texts that nobody is to have any more.
        """
        if self.is_empty():
            return 0
        removed = 0
        with FileLock(self._folder / "lock"), self._readable():
            segments = self._manifest()
            for index, (file, rows) in enumerate(segments):
                kept = self._without(file, texts)
                if kept is None:
                    continue
                removed += rows - kept[1]
                segments[index] = kept
                self._publish([entry for entry in segments if entry[1]])
                with contextlib.suppress(OSError):
                    (self._folder / file).unlink()
        return removed

    def _without(self, file: str, texts: Collection[str]) -> tuple[str, int] | None:
        """Return a segment like ``file`` without ``texts``; None where it has none of them."""
        import numpy as np

        asked = {"hash": np.array(sorted(texts), dtype=object)}  # noqa: F841  # read by name
        with self._attached([file]) as (db, table):
            if not table:
                return None
            db.execute("CREATE TEMP TABLE gone AS SELECT hash::UUID AS hash FROM asked")
            row = db.execute(
                f"SELECT len(any_value(vector)), count(*), count(g.hash) FROM ({table}) v"
                " LEFT JOIN gone g USING (hash)"
            ).fetchone()
        if row is None or not row[2]:
            return None
        if row[1] == row[2]:
            return file, 0
        with self._new_segment(int(row[0])) as (db, name):
            db.execute("CREATE TEMP TABLE gone AS SELECT hash::UUID AS hash FROM asked")
            db.execute(f"ATTACH '{_quoted(self._folder / file)}' AS old (READ_ONLY)")
            db.execute("INSERT INTO vectors SELECT * FROM old.vectors ANTI JOIN gone USING (hash)")
            db.execute("DETACH old")
        return name, int(row[1] - row[2])

    @contextlib.contextmanager
    def _attached(
        self, names: Sequence[str] | None = None
    ) -> Iterator[tuple[duckdb.DuckDBPyConnection, str]]:
        """Give a connection and the SQL of a table of all rows; an empty one for none.

        A segment that cannot be read is passed over: its texts count as not embedded.
        """
        with duckdb.connect(config=_READING) as db:
            attached: dict[str, str] = {}
            aliases = (f"a{number}" for number in count())
            # A merge may replace segments between the look at the manifest and
            # the opening, so a second look is taken where one is missing.
            for _ in range(3):
                wanted = list(names) if names is not None else [n for n, _ in self._manifest()]
                for name in wanted:
                    alias = next(aliases)
                    if name not in attached and self._attach(db, name, alias):
                        attached[name] = alias
                if all(name in attached for name in wanted):
                    break
            tables = [attached[name] for name in wanted if name in attached]
            yield db, " UNION ALL ".join(f"FROM {table}.vectors" for table in tables)

    def _attach(self, db: duckdb.DuckDBPyConnection, name: str, alias: str) -> bool:
        try:
            db.execute(f"ATTACH '{_quoted(self._folder / name)}' AS {alias} (READ_ONLY)")
            db.execute(f"SELECT hash, part, vector FROM {alias}.vectors LIMIT 0")
        except duckdb.Error:
            return False
        return True

    def damaged(self) -> list[str]:
        """Return the segments that cannot be read to the end; changes nothing."""
        if self.is_empty():
            return []
        with duckdb.connect(config=_READING) as db:
            found = [
                name
                for index, (name, rows) in enumerate(self._manifest())
                if not (self._attach(db, name, f"r{index}") and _is_whole(db, f"r{index}", rows))
            ]
        # What a merge has replaced meanwhile is gone, and not damaged.
        return [name for name, _ in self._manifest() if name in found]

    def repair(self) -> list[str]:
        """Set segments aside that cannot be read to the end; returns their names."""
        if self.is_empty():
            return []
        with FileLock(self._folder / "lock"):
            broken = self.damaged()
            if broken:
                self._publish([entry for entry in self._manifest() if entry[0] not in broken])
            for name in broken:
                with contextlib.suppress(FileNotFoundError):
                    (self._folder / name).replace(self._folder / f"{name}.damaged")
        return broken


def _is_whole(db: duckdb.DuckDBPyConnection, alias: str, rows: int) -> bool:
    try:
        read = db.execute(
            "SELECT count(hash), count(part), count(list_sum(vector::FLOAT[]))"
            f" FROM {alias}.vectors"
        ).fetchone()
    except duckdb.Error:
        return False
    return read == (rows, rows, rows)


def _quoted(path: Path) -> str:
    return str(path).replace("'", "''")
