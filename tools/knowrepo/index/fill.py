"""Embedding the texts of a catalog that have no vector yet.

Owns the order and the batches of the slow part of indexing. It can be stopped
at any time, and goes on where it was. However large the corpus, hashes are all
that is held of it, and no catalog stays open: this may take hours.
"""

from __future__ import annotations

import contextlib
import time
from collections import deque
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from knowrepo.index import Progress
from knowrepo.index.catalog import Catalog, DamagedError, told
from knowrepo.index.embed import Embedder, Passage
from knowrepo.index.vectors import Row, VectorStore

BATCH = 256
"""Texts that are embedded at most before their vectors are published."""
SECONDS = 20.0
"""After so long they are published, however few."""
_FETCHED = 64  # texts that are read from the catalog at once
_DIGEST = 16  # bytes of a text hash


class Waiting(Protocol):
    """Texts that are to be embedded."""

    def __len__(self) -> int:
        """Return how many there are, at most."""

    def texts(self) -> Iterator[tuple[str, str]]:
        """Yield (text hash, text), in the order to embed them."""

    def still(self, names: Sequence[str]) -> Collection[str]:
        """Return the hashes among ``names`` of texts that are wanted now."""


@dataclass(frozen=True)
class Pending:
    """The texts of a catalog that have no vector, in the order to embed them."""

    catalog: Path
    digests: bytes
    """Their hashes, 16 bytes each, one after the other."""

    def __len__(self) -> int:
        """Return how many there are."""
        return len(self.digests) // _DIGEST

    def texts(self) -> Iterator[tuple[str, str]]:
        """Yield (text hash, text) of those that the catalog has when their turn comes."""
        step = _FETCHED * _DIGEST
        for start in range(0, len(self.digests), step):
            some = self.digests[start : start + step]
            names = [some[at : at + _DIGEST].hex() for at in range(0, len(some), _DIGEST)]
            found = self._fetch(names)
            yield from ((name, found[name]) for name in names if name in found)

    def still(self, names: Sequence[str]) -> Collection[str]:
        """Return the hashes among ``names`` of texts that the catalog has now."""
        catalog = Catalog.open(self.catalog)
        if catalog is None:
            return ()
        with told(self.catalog), catalog:
            return catalog.hashes_among(names)

    def _fetch(self, names: list[str]) -> dict[str, str]:
        catalog = Catalog.open(self.catalog)
        if catalog is None:  # it is being built anew: the next run finds them
            return {}
        with told(self.catalog), catalog:
            return catalog.texts_with(names)


def pending_texts(catalog: Catalog, store: VectorStore) -> Pending:
    """Return what of a catalog has no vector: concepts first, then the newest."""
    import numpy as np

    if catalog.place is None:
        raise ValueError("a catalog in memory cannot be opened again")
    ordered = np.frombuffer(_packed(catalog.text_hashes_in_order()), dtype=f"S{_DIGEST}")
    have = np.frombuffer(store.packed_digests(), dtype=f"S{_DIGEST}")
    distinct, first = np.unique(ordered, return_index=True)
    lacking = first[~np.isin(distinct, have)]
    lacking.sort()
    return Pending(catalog.place, ordered[lacking].tobytes())


def embed(
    waiting: Waiting,
    store: VectorStore,
    embedder: Embedder,
    *,
    progress: Progress = lambda _done, _total: None,
) -> int:
    """Embed texts, publishing their vectors batch by batch; returns how many texts.

    That is fewer than were waiting where the catalog has changed meanwhile. A text
    that is gone when its batch is published, perhaps forgotten, gets no vector. An
    interrupt or an error publishes what is done of the batch that it falls in; a
    killed process loses that batch, and no more.
    """
    names: deque[str] = deque()  # those that were taken and are not embedded yet

    def passages() -> Iterator[Passage]:
        for name, text in waiting.texts():
            names.append(name)
            yield Passage(text)

    total, done, rows, texts, since = len(waiting), 0, list[Row](), 0, time.monotonic()
    progress(0, total)
    try:
        with contextlib.closing(embedder.embed_passages(passages())) as embedded:
            for vectors in embedded:
                name = names.popleft()
                rows += [(name, part, vector) for part, vector in enumerate(vectors)]
                texts, done = texts + 1, done + 1
                progress(done, total)
                if texts >= BATCH or time.monotonic() - since > SECONDS:
                    ready, rows, texts = rows, [], 0
                    store.add(ready, still=waiting.still)
                    since = time.monotonic()
    finally:
        store.add(rows, still=waiting.still)
    return done


def _packed(hashes: Iterator[str]) -> bytearray:
    packed = bytearray()
    try:
        for name in hashes:
            packed += bytes.fromhex(name)
    except ValueError as error:
        raise DamagedError("the catalog is damaged: the hash of a text is none") from error
    return packed
