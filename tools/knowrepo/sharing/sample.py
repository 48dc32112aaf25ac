"""A look at whether vectors are what the model makes of their texts.

Owns which rows of a pack are embedded again, and how near is near enough. Without a
model nothing is compared, and that is told once. It finds a pack that was made with
another model or damaged, not one that lies about a single text.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import TYPE_CHECKING

from knowrepo.errors import KnowError
from knowrepo.git.layout import Repository
from knowrepo.index.catalog import Catalog, told
from knowrepo.index.embed import Embedder, Passage
from knowrepo.index.vectors.packed import Packed, digests, hexes
from knowrepo.sharing.pack import RefusedError

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

TEXTS = 4
"""Texts of a pack that are embedded again."""
LEAST_COSINE = 0.999
"""Processors differ in the last digits of a vector, other models in the first."""


class Sampler:
    """Compares packs with the model at hand; ``note`` says why it did not, where it did not.

    ``opened`` loads the model, or returns None where there is none; it is called
    when the first text is to be compared.
    """

    def __init__(self, repository: Repository, opened: Callable[[], Embedder | None]) -> None:
        self._repository = repository
        self._opened = opened
        self._embedder: Embedder | None = None
        self._tried = False
        self.note = ""
        self.compared = 0

    def __call__(self, rows: Packed) -> None:
        """Raise RefusedError where a pack's vectors are not those of the texts that we have."""
        embedder = self._open()
        if embedder is None:
            return
        if embedder.dimension != rows.dimension:
            raise RefusedError(f"its vectors have {rows.dimension} numbers, the model's have"
                               f" {embedder.dimension}")  # fmt: skip
        catalog = Catalog.open(self._repository.catalog)
        if catalog is None:
            return
        with told(self._repository.catalog), catalog:
            shared = hexes(_common(rows, digests(catalog.text_digests())))
            # What is compared must not be foreseen.
            chosen = random.SystemRandom().sample(shared, min(TEXTS, len(shared)))
            texts = catalog.texts_with(chosen)
        for name, text in texts.items():
            mine = rows.of(digests(bytes.fromhex(name))).vectors
            if not _agree(mine, embedder, text):
                raise RefusedError("its vectors are not what the model makes of the same texts")
            self.compared += 1

    def _open(self) -> Embedder | None:
        if not self._tried:
            self._tried = True
            try:
                self._embedder = self._opened()
                if self._embedder is None:
                    self.note = "no model is here, so no vector was compared with its text"
            except KnowError as error:
                self.note = f"no vector was compared with its text: {error.message}"
        return self._embedder


def _common(rows: Packed, texts: npt.NDArray[np.bytes_]) -> npt.NDArray[np.bytes_]:
    import numpy as np

    return np.intersect1d(rows.texts(), texts)


def _agree(mine: npt.NDArray[np.float16], embedder: Embedder, text: str) -> bool:
    import numpy as np

    theirs = np.stack(embedder.embed_passage(Passage(text)))
    if theirs.shape != mine.shape:
        return False
    if np.array_equal(theirs.astype(np.float16), mine):
        return True
    return bool(np.all(np.sum(theirs * mine.astype(np.float32), axis=1) > LEAST_COSINE))
