"""The layers of recall, each asked alone, as `know recall` would ask it.

Owns how a layer's answer becomes a list of spots, and that every layer answers from one
catalog. `hybrid` is a whole recall, by whichever layer it takes.
"""

from __future__ import annotations

import hashlib
import io
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from knowrepo.bench.baseline import Baseline
from knowrepo.bench.judging import DEPTH
from knowrepo.bench.shown import Shown, Spot
from knowrepo.config import write_atomically
from knowrepo.errors import KnowError, UsageError
from knowrepo.git.layout import Repository
from knowrepo.index.catalog import Catalog, Filter
from knowrepo.recall import route, structured
from knowrepo.recall.ids import NoMatchError
from knowrepo.recall.route import Answer
from knowrepo.recall.search import search
from knowrepo.recall.semantic import semantic

if TYPE_CHECKING:
    from knowrepo.index.embed import Embedder, Query, Vector

LAYERS = ("structured", "lexical", "semantic", "hybrid")
BASELINE = "fts5"


@dataclass(frozen=True)
class Told:
    """What a layer gives for a query: spots, best first, and what it says of itself."""

    spots: list[Spot]
    answered: bool = True
    confidence: float = 1.0
    confident: bool = True


@dataclass(frozen=True)
class Open:
    """What the layers answer from."""

    repository: Repository
    catalog: Catalog
    shown: Shown
    baseline: Baseline
    embedder: Embedder | None


def chosen(names: Iterable[str]) -> list[str]:
    """Return the layers of these names, in their order; all where there is none."""
    names = list(names)
    for name in names:
        if name not in LAYERS:
            raise UsageError(f"--layers {name}: no layer", hint=f"there are {', '.join(LAYERS)}")
    return [name for name in LAYERS if not names or name in names]


def ask(layer: str, here: Open, query: str) -> Told:
    """Ask one layer, or the baseline."""
    return _ASKED[layer](here, query)


def _baseline(here: Open, query: str) -> Told:
    return Told(here.baseline.search(query))


def _structured(here: Open, query: str) -> Told:
    answer = structured.ask(here.catalog, query, Filter(), most=DEPTH)
    documents = here.catalog.documents([match.document for match in answer.matches])
    spots = [Spot(documents[match.document].path) for match in answer.matches]
    return Told(spots, bool(spots), answer.confidence)


def _lexical(here: Open, query: str) -> Told:
    found = search(here.repository, here.catalog, query, Filter(), words_only=True)
    return _of_chunks(here.catalog, [number for number, _ in found.ranked])


def _semantic(here: Open, query: str) -> Told:
    if here.embedder is None:
        raise KnowError("there is no model, so no layer of meaning")
    found = semantic(here.repository, here.catalog, query, Filter(), here.embedder)
    return _of_chunks(here.catalog, [number for number, _ in found.scored])


def _hybrid(here: Open, query: str) -> Told:
    answer = recalled(here, query, DEPTH)
    spots = here.shown.spots(answer.hits)
    return Told(spots, bool(spots), answer.confidence, answer.confident)


def recalled(here: Open, query: str, limit: int) -> Answer:
    """Recall as a user does; an id that is not there gives no hit."""
    try:
        return route.recall(
            here.repository, query, limit=limit, embedder=here.embedder,
            words_only=here.embedder is None,
        )  # fmt: skip
    except NoMatchError as error:
        return Answer(query, "structured", error.message, [])


def _of_chunks(catalog: Catalog, numbers: list[int]) -> Told:
    chunks = catalog.chunks(numbers)
    documents = catalog.documents(list({chunk.document for chunk in chunks.values()}))
    found = (chunks[number] for number in numbers if number in chunks)
    spots = [Spot(documents[chunk.document].path, chunk.seq) for chunk in found]
    return Told(spots, bool(spots))


_ASKED: dict[str, Callable[[Open, str], Told]] = {
    BASELINE: _baseline,
    "structured": _structured,
    "lexical": _lexical,
    "semantic": _semantic,
    "hybrid": _hybrid,
}


class Remembering:
    """An embedder that embeds each query once: several layers ask the same, and later runs.

    ``kept`` is a file in which `keep` leaves the vectors for the next run.
    """

    def __init__(self, embedder: Embedder, kept: Path | None = None) -> None:
        import numpy as np

        self.embed_passage = embedder.embed_passage
        self.embed_passages = embedder.embed_passages
        self.fingerprint = embedder.fingerprint
        self.dimension = embedder.dimension
        self.language = embedder.language
        self._embedder = embedder
        self._kept = kept
        self._known: dict[str, Vector] = {}
        if kept is not None and kept.is_file():
            with np.load(kept) as found:
                self._known = dict(zip(found["names"].tolist(), found["vectors"], strict=True))
        self._read = len(self._known)

    def embed_query(self, query: Query) -> Vector:
        """See `Embedder.embed_query`."""
        name = hashlib.sha256(query.encode("utf-8", "replace")).hexdigest()
        if name not in self._known:
            self._known[name] = self._embedder.embed_query(query)
        return self._known[name]

    def keep(self) -> None:
        """Leave the vectors of all queries in the file."""
        import numpy as np

        if self._kept is None or len(self._known) == self._read:
            return
        data = io.BytesIO()
        np.savez(data, names=np.array(list(self._known)), vectors=np.stack([*self._known.values()]))
        write_atomically(self._kept, data.getvalue())
