"""Embedding the texts of a catalog that have no vector yet.

Owns the order and the batches of the slow part of indexing. It can be stopped
at any time, and goes on where it was.
"""

from __future__ import annotations

from collections.abc import Callable

from knowrepo.index.catalog import Catalog
from knowrepo.index.embed import Embedder, Passage
from knowrepo.index.vectors import Row, VectorStore

BATCH = 256
"""Texts that are embedded before their vectors are published."""

Progress = Callable[[int, int], None]
"""Told (done, total) now and then."""


def pending_texts(catalog: Catalog, store: VectorStore) -> dict[str, str]:
    """Return ``{text hash: text}`` of what has no vector, in the order to embed it."""
    have = store.hashes()
    return {name: text for name, text in catalog.texts() if name not in have}


def embed_pending(
    catalog: Catalog,
    store: VectorStore,
    embedder: Embedder,
    *,
    progress: Progress = lambda _done, _total: None,
) -> int:
    """Embed every text that has no vector, publishing batch by batch; returns how many.

    An interrupt loses the batch that it falls in, and no more.
    """
    waiting = list(pending_texts(catalog, store).items())
    progress(0, len(waiting))
    for start in range(0, len(waiting), BATCH):
        batch = waiting[start : start + BATCH]
        rows: list[Row] = []
        for offset, (name, text) in enumerate(batch):
            rows += [
                (name, part, v) for part, v in enumerate(embedder.embed_passage(Passage(text)))
            ]
            progress(start + offset + 1, len(waiting))
        store.add(rows)
    return len(waiting)
