"""Reading the segments of one table: what is near a query, and what there is.

Owns the open instance of DuckDB, which is kept while the manifest stays as it is,
and how it is searched: `Reader.ranked` scores all vectors in one scan. A
`Ranking` then gives them best first, for whoever can tell of each whether it
counts, or joins them with the texts that count. Both give the same answer.
"""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import duckdb

from knowrepo.index.vectors import engine, manifest, segment
from knowrepo.index.vectors.packed import Packed
from knowrepo.index.vectors.segment import Row
from knowrepo.index.vectors.sweep import Damaged

if TYPE_CHECKING:
    from knowrepo.index.embed import Vector

Score = tuple[str, float]
"""(text hash, cosine of its best part)."""

_LOOKS = 3
_FIRST = 1000  # of a ranking; each batch is twice as long as the one before
_HEX = "replace(hash::VARCHAR, '-', '')"


class Ranking:
    """All vectors with their score; it lives as long as the reader's block that gave it.

    ``scored`` is the SQL of (hash, score) of every vector.
    """

    def __init__(self, db: duckdb.DuckDBPyConnection, scored: str) -> None:
        self._db = db
        # Scored once: to plan that costs as much as to score some thousand vectors.
        db.execute(f"CREATE TEMP TABLE scored AS {scored}")

    def batches(self) -> Iterator[list[Score]]:
        """Yield all texts, best first and each once, in batches that grow."""
        seen: set[str] = set()
        size = _FIRST
        rows = self._next("true", [], size)
        while rows:
            batch: list[Score] = []
            for text_hash, score in rows:
                if text_hash not in seen:  # what comes first of a text is its best part
                    seen.add(text_hash)
                    batch.append((text_hash, score))
            yield batch
            last, least = rows[-1]
            size *= 2
            rest = "(score < $1 OR (score = $1 AND hash > $2::UUID))"
            rows = self._next(rest, [least, last], size)

    def _next(self, rest: str, values: list[object], size: int) -> list[Score]:
        return self._db.execute(
            f"SELECT {_HEX}, score FROM scored WHERE {rest} ORDER BY score DESC, hash LIMIT {size}",
            values,
        ).fetchall()

    def spread(self) -> tuple[float, float]:
        """Return the mean and the standard deviation of the scores."""
        [(mean, deviation)] = self._db.execute(
            "SELECT coalesce(avg(score), 0), coalesce(stddev_pop(score), 0) FROM scored"
        ).fetchall()
        return float(mean), float(deviation)

    def among(self, live: Sequence[str], limit: int) -> list[Score]:
        """Return the best of the texts ``live``."""
        segment.put_texts(self._db, "live", live)
        return self._db.execute(
            f"SELECT {_HEX}, max(score) AS best FROM scored JOIN live USING (hash)"
            " GROUP BY hash ORDER BY best DESC, hash LIMIT $1",
            [limit],
        ).fetchall()


class Reader:
    """The attached segments of a table, as its manifest named them once.

    ``damaged`` are those that were passed over: their texts count as not embedded.
    """

    def __init__(self, folder: Path, fingerprint: str, without: Sequence[str] = ()) -> None:
        self._folder = folder
        self._fingerprint = fingerprint
        self.state = _state(folder)
        self.damaged: list[Damaged] = []
        self._tables: dict[str, str] = {}
        self._dimension = 0
        self._one_at_a_time = threading.Lock()
        self._db = engine.connect()
        try:
            self._attach_all(without)
            engine.seal(self._db)
        except BaseException:
            self._db.close()
            raise

    def _attach_all(self, without: Sequence[str]) -> None:
        # A merge may replace segments between the look at the manifest and the
        # opening, so another look is taken where one is missing.
        for look in range(_LOOKS):
            self.state = _state(self._folder)
            segments = [s for s in manifest.read(self._folder) or [] if s.file not in without]
            self._dimension = segments[0].dimension if segments else 0
            tables: dict[str, str] = {}
            self.damaged = []
            for index, name in enumerate(found.file for found in segments):
                alias = self._tables.get(name) or self._attach(name, f"s{look}_{index}")
                if alias:
                    tables[name] = alias
            self._tables = tables
            if not any(damaged.why == _GONE for damaged in self.damaged):
                return

    def _attach(self, name: str, alias: str) -> str:
        """Attach a segment; returns its alias, or nothing where it is none."""
        path = self._folder / name
        try:
            engine.attach(self._db, path, alias)
            if segment.dimension(self._db, alias, self._fingerprint) != self._dimension:
                raise segment.ForeignError("vectors of another dimension")
        except (segment.ForeignError, duckdb.Error) as error:
            why = engine.reason(error) if path.is_file() else _GONE
            self.damaged.append(Damaged(name, why))
            return ""
        return alias

    def close(self) -> None:
        """Let go of the files."""
        self._db.close()

    @property
    def is_current(self) -> bool:
        """Whether the manifest is still the one that was read."""
        return self.state == _state(self._folder)

    @property
    def is_empty(self) -> bool:
        """Whether there is nothing to read."""
        return not self._tables

    @contextlib.contextmanager
    def ranked(self, query: Vector) -> Iterator[Ranking]:
        """Give all vectors, scored in one scan."""
        with self._cursor() as db:
            if self._fits(query):
                segment.bind(db, query)
                scored = (
                    f"SELECT hash, {segment.score(self._dimension)} AS score FROM ({self._all()})"
                )
            else:
                scored = "SELECT NULL::UUID AS hash, 0::FLOAT AS score WHERE false"
            yield Ranking(db, scored)

    def digests(self) -> bytes:
        """Return the hashes of all vectors, 16 bytes each, in no order and some twice."""
        if self.is_empty:
            return b""
        with self._cursor() as db:
            found = db.execute(f"SELECT hash::VARCHAR AS hash FROM ({self._all()})").fetchnumpy()
        return bytes.fromhex("".join(found["hash"].tolist()).replace("-", ""))

    def rows(self) -> list[Row]:
        """Return all vectors, in no order; a text whose vector was made twice comes twice."""
        import numpy as np

        if self.is_empty:
            return []
        every = " UNION ALL ".join(f"FROM {alias}.vectors" for alias in self._tables.values())
        with self._cursor() as db:
            found = db.execute(f"SELECT {_HEX}, part, vector FROM ({every})").fetchall()
        return [(text, part, np.array(vector, dtype=np.float32)) for text, part, vector in found]

    def packed(self, texts: Sequence[str]) -> Packed:
        """Return the vectors of some texts; see `Packed`."""
        import numpy as np

        if self.is_empty or not texts:
            nothing = np.empty((0, self._dimension), np.float16)
            return Packed(np.empty(0, "S16"), np.empty(0, np.uint16), nothing)
        with self._cursor() as db:
            segment.put_texts(db, "texts", texts)
            found = db.execute(
                f"SELECT hash::VARCHAR AS hash, * EXCLUDE (hash) FROM ({self._all()})"
                " SEMI JOIN texts USING (hash)"
            ).fetchnumpy()
        digests = bytes.fromhex("".join(found.pop("hash").tolist()).replace("-", ""))
        parts = found.pop("part").astype(np.uint16)
        if not len(parts):
            return self.packed(())
        pieces = [np.stack(piece.tolist()) for piece in found.values()]
        vectors = np.concatenate(pieces, axis=1).astype(np.float16)
        return Packed(np.frombuffer(digests, "S16"), parts, vectors).in_order()

    @property
    def names(self) -> list[str]:
        """The segments that are attached."""
        return list(self._tables)

    def _fits(self, query: Vector) -> bool:
        return bool(self._tables) and self._dimension == len(query)

    def _all(self) -> str:
        return " UNION ALL ".join(f"FROM {alias}.pieces" for alias in self._tables.values())

    @contextlib.contextmanager
    def _cursor(self) -> Iterator[duckdb.DuckDBPyConnection]:
        """Give a connection whose variables and temporary tables are its own."""
        with self._one_at_a_time:
            db = self._db.cursor()
        with db:
            yield db


_GONE = "it is gone"


def _state(folder: Path) -> tuple[int, ...]:
    """Return what tells one manifest from another, without reading it."""
    try:
        stat = manifest.path(folder).stat()
    except OSError:
        return ()
    return stat.st_ino, stat.st_size, stat.st_mtime_ns
