"""The table of vectors of one fingerprint: adding to it, and searching it.

Owns what changes the table. A segment is written beside the others, published by
renaming the manifest, and never changed; segments are merged as they grow many.
Readers attach them read-only, so nobody waits. No row is ever deleted to be
right: a vector whose text is gone matches no live chunk. Vectors of another
fingerprint lie in another folder, and a segment says itself of which it is.
"""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable, Collection, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

import duckdb
from filelock import FileLock, Timeout

from knowrepo.errors import KnowError
from knowrepo.index.vectors import engine, manifest, segment, sweep
from knowrepo.index.vectors.packed import Packed
from knowrepo.index.vectors.reader import Ranking, Reader
from knowrepo.index.vectors.segment import Row
from knowrepo.index.vectors.sweep import Damaged, Kept

if TYPE_CHECKING:
    from knowrepo.index.embed import Vector

MOST_SEGMENTS = 4
"""Segments that a reader attaches at most; each costs it some milliseconds."""
_T = TypeVar("_T")


class VectorStore:
    """The segments of one fingerprint; ``folder`` holds those of all fingerprints.

    It may be kept and asked again: it opens its files anew where they changed.
    What is damaged is passed over and told in ``damaged``; it is set aside where
    that can be, unless the store is to change nothing (``only_look``).
    """

    def __init__(self, folder: Path, fingerprint: str, *, only_look: bool = False) -> None:
        self._folder = folder / fingerprint
        self._fingerprint = fingerprint
        self._only_look = only_look
        self._reader: Reader | None = None
        self._opening = threading.Lock()
        self.damaged: list[Damaged] = []

    @property
    def folder(self) -> Path:
        """Where the segments lie."""
        return self._folder

    def close(self) -> None:
        """Let go of the files that are open."""
        if self._reader is not None:
            self._reader.close()
            self._reader = None

    def is_empty(self) -> bool:
        """Say whether there are no vectors, without opening a segment."""
        return not manifest.read(self._folder)

    def count(self) -> int:
        """Return how many vectors there are, without opening a segment."""
        return sum(found.rows for found in manifest.read(self._folder) or [])

    def state(self) -> str:
        """Return what changes whenever the table does, without opening a segment."""
        return ",".join(f"{s.file}:{s.rows}" for s in manifest.read(self._folder) or [])

    def segments(self) -> list[Path]:
        """Return the segment files; one may be merged into another at any time."""
        return [path for path in self._named() if path.is_file()]

    def _named(self) -> list[Path]:
        return [self._folder / found.file for found in manifest.read(self._folder) or []]

    def packed_digests(self) -> bytes:
        """Return the hashes of all vectors, 16 bytes each, in no order and some twice."""
        return self._read(Reader.digests)

    def digests(self) -> set[bytes]:
        """Return the hashes of all texts that have a vector, 16 bytes each."""
        return set(_cut(self._read(Reader.digests)))

    def hashes(self) -> set[str]:
        """Return the same in hex, as a catalog spells them."""
        return {digest.hex() for digest in self.digests()}

    def lacking(self, texts: bytes) -> int:
        """Return how many of some texts have no vector; ``texts`` are 16 bytes each."""
        import numpy as np

        # The first half of a hash tells texts apart as well as we need to count them.
        have = np.frombuffer(self._read(Reader.digests), dtype=np.uint64)[::2]
        asked = np.frombuffer(texts, dtype=np.uint64)[::2]
        return int(np.count_nonzero(np.isin(asked, have, invert=True)))

    @contextlib.contextmanager
    def ranked(self, query: Vector) -> Iterator[Ranking]:
        """Give all texts, nearest to ``query`` first.

        Raises KnowError where the segments cannot be read.
        """
        with contextlib.ExitStack() as held:
            yield self._read(lambda reader: held.enter_context(reader.ranked(query)))

    def dimension(self) -> int:
        """Return how many numbers a vector has, without opening a segment; 0 for no vectors."""
        return next((found.dimension for found in manifest.read(self._folder) or []), 0)

    def packed(self, texts: Sequence[str]) -> Packed:
        """Return the vectors of some texts, in the order that is the same everywhere."""
        return self._read(lambda reader: reader.packed(texts))

    def rows(self) -> list[Row]:
        """Return all vectors as they are kept, in no order; it holds them all in memory."""
        return self._read(Reader.rows)

    def add(
        self,
        rows: Sequence[Row],
        *,
        still: Callable[[Sequence[str]], Collection[str]] | None = None,
    ) -> None:
        """Publish vectors as a new segment; all are seen from then on, or none.

        ``still`` returns which of some texts are wanted now. It is asked under the
        lock of the table, so that `remove` comes before the question or after the rest.
        """
        if not rows:
            return
        with self._changing():
            if still is not None:
                wanted = set(still([row[0] for row in rows]))
                rows = [row for row in rows if row[0] in wanted]
                if not rows:
                    return
            segments = sweep.known(self._folder, self._fingerprint)
            dimension = len(rows[0][2])
            if any(found.dimension != dimension for found in segments):
                raise segment.ForeignError("the others have another dimension")
            with segment.new(self._folder, self._fingerprint, dimension) as made:
                segment.insert(made, rows)
            written = manifest.described(self._folder, made.name, len(rows), dimension)
            manifest.write(self._folder, [*segments, written])
            with contextlib.suppress(duckdb.Error, segment.ForeignError):
                self._merge()  # a comfort, never a condition

    def remove(self, texts: Collection[str]) -> int:
        """Write every segment that holds vectors of ``texts`` anew without them.

        Returns how many vectors went. What is damaged, or was set aside, goes whole,
        for it may hold some. Nothing needs this to be right: it is for
        texts that nobody is to have any more.
        """
        if not self._folder.is_dir():
            return 0
        with self._changing():
            return sweep.remove(self._folder, self._fingerprint, texts)

    def retain(self, needed: Collection[bytes], *, dry_run: bool = False) -> Kept:
        """Drop the vectors of all other texts than those ``needed``, 16 bytes each."""
        if dry_run:
            return sweep.retain(self._folder, self._fingerprint, needed, dry_run=True)
        with self._changing():
            return sweep.retain(self._folder, self._fingerprint, needed)

    def check(self, *, full: bool = False) -> list[Damaged]:
        """Set aside what is no segment of this table, and take out what nobody can read.

        A segment that lies there as it was written is looked at from outside; it
        is read to its end where its size or time differ, or with ``full``. A bit
        that flipped meanwhile is found by the next search: it reads every
        vector, and DuckDB compares the checksum of each block.
        """
        if not self._folder.is_dir():
            return []
        with self._changing():
            return sweep.check(self._folder, self._fingerprint, full=full)

    def look(self) -> list[Damaged]:
        """Read every segment to its end and say which are damaged; changes nothing."""
        found = sweep.broken(self._folder, self._fingerprint, [path.name for path in self._named()])
        # What a merge has replaced meanwhile is gone, and not damaged.
        named = {path.name for path in self._named()}
        return [one for one in found if one.name in named]

    # -- files ----------------------------------------------------------------

    @contextlib.contextmanager
    def _changing(self, *, timeout: float = -1) -> Iterator[None]:
        """Hold the lock under which the table is changed; raises KnowError where it cannot be."""
        try:
            self._folder.mkdir(parents=True, exist_ok=True)
            with FileLock(self._folder / "lock", timeout=timeout):
                yield
        except Timeout:
            raise
        except (OSError, duckdb.Error, segment.ForeignError) as error:
            raise KnowError(
                f"{self._folder}: vectors cannot be written: {engine.reason(error)}",
                hint="make the git directory writable, and free some space",
            ) from error

    def _read(self, ask: Callable[[Reader], _T]) -> _T:
        """Ask the segments; one that turns out to be damaged is passed over."""
        try:
            reader = self._opened()
            try:
                return ask(reader)
            except duckdb.Error:
                broken = sweep.broken(self._folder, self._fingerprint, reader.names)
                if not broken:
                    raise
            self._tell(broken)
            return ask(self._opened(without=[one.name for one in broken]))
        except duckdb.Error as error:
            raise KnowError(
                f"{self._folder}: vectors cannot be read: {engine.reason(error)}",
                hint="`know index` sets the damaged ones aside",
            ) from error

    def _opened(self, *, without: Sequence[str] = ()) -> Reader:
        with self._opening:
            reader = self._reader
            if reader is None or without or not reader.is_current:
                # Not closed: another thread may be asking it. It ends when nobody does.
                reader = self._reader = Reader(self._folder, self._fingerprint, without)
        if reader.damaged:  # looked at again: an error of another kind damages nothing
            names = [one.name for one in reader.damaged]
            self._tell(sweep.broken(self._folder, self._fingerprint, names))
        return reader

    def _tell(self, damaged: Sequence[Damaged]) -> None:
        """Note what is damaged, and set it aside unless somebody else is at it."""
        told = {one.name for one in self.damaged}
        self.damaged += [one for one in damaged if one.name not in told]
        if self._only_look:
            return
        with contextlib.suppress(KnowError, Timeout), self._changing(timeout=0):
            sweep.set_aside(self._folder, damaged)

    def _merge(self) -> None:
        """Keep the segments few: the newest are merged while the one before is not much larger.

        Each vector is so rewritten about as often as its table doubles.
        """
        segments = manifest.read(self._folder) or []
        newest = 1
        while newest < len(segments) and (
            segments[-newest - 1].rows <= 2 * sum(found.rows for found in segments[-newest:])
            or len(segments) - newest >= MOST_SEGMENTS
        ):
            newest += 1
        if newest > 1:
            sweep.rewrite(self._folder, self._fingerprint, segments[-newest:])


def _cut(digests: bytes) -> Iterator[bytes]:
    return (digests[at : at + 16] for at in range(0, len(digests), 16))
