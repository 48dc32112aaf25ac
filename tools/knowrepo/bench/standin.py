"""An embedder without a model, for what is not about the model: vectors by hash."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Generator, Iterable

    from knowrepo.index.embed import Passage, Query, Vector

DIMENSION = 384


class StandIn:
    """Gives every text a vector of its own; counts the passages."""

    def __init__(self, fingerprint: str = "stand-in", dimension: int = DIMENSION) -> None:
        self.fingerprint = fingerprint
        self.language = ""
        self.dimension = dimension
        self.passages = 0

    def embed_passage(self, passage: Passage) -> list[Vector]:
        """See `Embedder.embed_passage`."""
        self.passages += 1
        return [self._vector(passage)]

    def embed_passages(self, passages: Iterable[Passage]) -> Generator[list[Vector], None, None]:
        """See `Embedder.embed_passages`."""
        yield from map(self.embed_passage, passages)

    def embed_query(self, query: Query) -> Vector:
        """See `Embedder.embed_query`."""
        return self._vector(query)

    def _vector(self, text: str) -> Vector:
        import numpy as np

        seed = int.from_bytes(hashlib.sha256(text.encode()).digest()[:8], "big")
        vector = np.random.default_rng(seed).standard_normal(self.dimension, dtype=np.float32)
        return vector / np.float32(np.linalg.norm(vector))
