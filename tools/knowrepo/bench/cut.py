"""Vectors cut short: what a model is worth at fewer dimensions, without embedding anew.

A Matryoshka model is trained so that the first numbers of a vector, brought to unit length,
are a vector as well. Owns that these are made of the whole ones, text by text.
"""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

from knowrepo.errors import UsageError
from knowrepo.index.embed import unit

if TYPE_CHECKING:
    from collections.abc import Generator, Iterable

    from knowrepo.index.embed import Embedder, Passage, Query, Vector
    from knowrepo.index.models import Model


class Cut:
    """An embedder whose vectors are the first ``dimension`` numbers of another's."""

    def __init__(self, embedder: Embedder, dimension: int) -> None:
        if not 0 < dimension <= embedder.dimension:
            raise UsageError(f"--dimension {dimension}: the model has {embedder.dimension}")
        self._whole = embedder
        self.dimension = dimension
        self.language = embedder.language
        name = f"{embedder.fingerprint}/{dimension}"
        self.fingerprint = hashlib.sha256(name.encode()).hexdigest()[:16]

    def embed_passage(self, passage: Passage) -> list[Vector]:
        """See `Embedder.embed_passage`."""
        return [self.short(vector) for vector in self._whole.embed_passage(passage)]

    def embed_passages(self, passages: Iterable[Passage]) -> Generator[list[Vector], None, None]:
        """See `Embedder.embed_passages`."""
        for vectors in self._whole.embed_passages(passages):
            yield [self.short(vector) for vector in vectors]

    def embed_query(self, query: Query) -> Vector:
        """See `Embedder.embed_query`."""
        return self.short(self._whole.embed_query(query))

    def short(self, vector: Vector) -> Vector:
        """Return the first numbers of a vector, at unit length."""
        return unit(vector[: self.dimension], "a cut vector")


def trained(model: Model) -> tuple[int, ...]:
    """Return the dimensions that a model was trained to be cut to, the most first."""
    from knowrepo.index.models import known

    spec = next((spec for spec in known() if spec.name == model.name), None)
    if spec is None or len(spec.dimensions) < 2:
        raise UsageError(
            f"--dimensions: {model.name} was not trained to be cut",
            hint="`--dimension N` measures it at N all the same",
        )
    return tuple(sorted(spec.dimensions, reverse=True))
