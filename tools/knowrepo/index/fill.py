"""Embedding the texts of a catalog that have no vector yet.

Owns the order and the batches of the slow part of indexing. It can be stopped
at any time, and goes on where it was.
"""

from __future__ import annotations

from collections.abc import Sequence

from knowrepo.index import Progress
from knowrepo.index.catalog import Catalog
from knowrepo.index.embed import Embedder, Passage
from knowrepo.index.vectors import Row, VectorStore

BATCH = 256
"""Texts that are embedded before their vectors are published."""


def pending_texts(catalog: Catalog, store: VectorStore) -> list[tuple[str, str]]:
    """Return (text hash, text) of what has no vector, in the order to embed it."""
    have = store.hashes()
    return list({name: text for name, text in catalog.texts() if name not in have}.items())


def embed(
    waiting: Sequence[tuple[str, str]],
    store: VectorStore,
    embedder: Embedder,
    *,
    progress: Progress = lambda _done, _total: None,
) -> None:
    """Embed texts, publishing their vectors batch by batch.

    An interrupt loses the batch that it falls in, and no more. No catalog is
    held open meanwhile: this may take hours.
    """
    progress(0, len(waiting))
    for start in range(0, len(waiting), BATCH):
        rows: list[Row] = []
        for offset, (name, text) in enumerate(waiting[start : start + BATCH]):
            vectors = embedder.embed_passage(Passage(text))
            rows += [(name, part, vector) for part, vector in enumerate(vectors)]
            progress(start + offset + 1, len(waiting))
        store.add(rows)
