"""The layer of meaning: which chunks have vectors near that of a query.

Owns which model and which table of vectors an answer is made of, never two at
once, and which of the two ways of a search is taken: where a filter leaves few
texts they are joined with the scored vectors, else these are looked up in the
catalog from the best on. DuckDB and a model are opened only where
there are vectors.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from knowrepo.git.layout import Repository
from knowrepo.index import embedded
from knowrepo.index.catalog import Catalog, Filter
from knowrepo.index.text import content_words
from knowrepo.recall.spread import CANDIDATES, OVERFETCH, spread

if TYPE_CHECKING:
    from knowrepo.index.embed import Embedder, Vector
    from knowrepo.index.models import Model
    from knowrepo.index.vectors import Score, VectorStore

FEW = 5000
"""Texts that are joined with the vectors, where a filter leaves no more."""
MOST_LOOKED_UP = 20_000
"""Texts that are looked up in the catalog, best first, before all that count are joined."""

ENDPOINT_SECONDS = 5.0
"""How long a recall waits for a model behind an endpoint: words are there already."""

LOOKED_UP = 250
"""Texts that are looked up in the catalog at once, until there are chunks enough."""

Scored = list[tuple[int, float]]
"""(chunk, cosine), best first."""


@dataclass(frozen=True)
class Meaning:
    """What the layer found; without vectors nothing, and ``note`` says why.

    ``pending`` counts the texts of the catalog that have no vector of the
    user's model yet. ``mean`` and ``deviation`` are those of the cosines of many
    texts: how near one is to a query says little without them. ``foreign`` says
    that the query is of a language which the model was not made for.
    """

    scored: Scored
    pending: int = 0
    note: str = ""
    mean: float = 0.0
    deviation: float = 1.0
    foreign: bool = False
    documents: dict[int, int] = field(default_factory=dict)  # of each chunk
    cosines: dict[str, float] = field(default_factory=dict)  # of each text that was looked at


@dataclass(frozen=True)
class _Table:
    """The vectors of a model, and how many texts have none."""

    model: Model
    store: VectorStore
    pending: int


def semantic(
    repository: Repository,
    catalog: Catalog,
    query: str,
    only: Filter,
    embedder: Embedder | None,
) -> Meaning:
    """Return the chunks nearest to a query.

    ``embedder`` is used where one is loaded already, else the user's model is.
    Raises KnowError where a model or the vectors cannot be used.
    """
    if embedder is None:
        store, embedder, pending, note = _of_models(repository, catalog)
    else:
        store = _store(repository.vectors, embedder.fingerprint)
        pending = embedded.pending(repository, catalog, store)
        note = _waiting(catalog, pending)
    if store is None or embedder is None:
        return Meaning([], pending, note)
    from knowrepo.index.embed import Query

    found = nearest(store, embedder.embed_query(Query(query)), catalog, only)
    notes = "; ".join(filter(None, [note, *_damage(store)]))
    return Meaning(
        found.scored, pending, notes, found.mean, found.deviation,
        _is_foreign(embedder, query), found.documents, found.cosines,
    )  # fmt: skip


def _is_foreign(embedder: Embedder, query: str) -> bool:
    """Say whether a query is of a language that the model was not made for, as far as is seen."""
    if not embedder.language:
        return False
    words = content_words(query)
    unlike = sum(not word.isascii() for word in words)
    return unlike * 2 > len(words) or any(word.language for word in words)


class Nearest(NamedTuple):
    """The chunks nearest to a vector, best first, and the document that each is of.

    ``mean`` and ``deviation`` are those of the cosines of texts, whether or not
    they pass the filter. ``cosines`` are those of the nearest texts, best first, of more
    than ``scored`` has chunks of.
    """

    scored: Scored
    documents: dict[int, int]
    mean: float
    deviation: float
    cosines: dict[str, float]


def nearest(store: VectorStore, vector: Vector, catalog: Catalog, only: Filter) -> Nearest:
    """Return the chunks that pass a filter and are nearest to a vector.

    Of the best `CANDIDATES * OVERFETCH` texts, or of fewer where `spread` has
    enough of them. Both ways give the same.
    """
    limit = CANDIDATES * OVERFETCH
    few = catalog.text_hashes(only, most=FEW + 1) if only else []
    with store.ranked(vector) as ranking:
        found = Nearest([], {}, *ranking.spread(), {})
        if only and len(few) <= FEW:
            batches = iter([ranking.among(few, limit)])
        else:
            batches = ranking.batches()
        if not _taken(found, batches, catalog, only, limit):
            found.scored.clear()
            found.cosines.clear()
            best = ranking.among(catalog.text_hashes(only), limit)
            _taken(found, iter([best]), catalog, only, limit)
    return found


def _taken(
    found: Nearest, batches: Iterator[list[Score]], catalog: Catalog, only: Filter, limit: int
) -> bool:
    """Take chunks of texts, best first, until there are enough; False where too many had none."""
    texts = 0
    for batch in batches:
        found.cosines.update(batch)
        for start in range(0, len(batch), LOOKED_UP):
            some = batch[start : start + LOOKED_UP]
            texts += _take(found, catalog, some, only, limit - texts)
            if texts == limit or len(spread(found.scored, found.documents)) == CANDIDATES:
                return True
        if len(found.cosines) >= MOST_LOOKED_UP:
            return False
    return True


def _take(found: Nearest, catalog: Catalog, scores: list[Score], only: Filter, most: int) -> int:
    """Add the chunks of the first ``most`` texts that have any; returns how many texts had."""
    by_hash = catalog.chunks_with([text_hash for text_hash, _ in scores], only)
    live = [(text_hash, score) for text_hash, score in scores if text_hash in by_hash][:most]
    for text_hash, score in live:
        for chunk, document in by_hash[text_hash]:
            found.scored.append((chunk, score))
            found.documents[chunk] = document
    return len(live)


def _of_models(
    repository: Repository, catalog: Catalog
) -> tuple[VectorStore | None, Embedder | None, int, str]:
    """Return the vectors to answer from, a model for them, what is pending, and a note."""
    from knowrepo.index import embed, models

    if not repository.vectors.is_dir():
        return None, None, 0, "no vectors yet, so words only; `know index` makes them"
    model = models.current()
    if model is None:
        return None, None, 0, "no model, so words only; `know model pull` brings one"
    lacking = embed.lacking(model)
    if lacking:
        return None, None, 0, f"words only: {lacking}"
    table, pending, note = _chosen(repository, catalog, model)
    if table is None:
        return None, None, pending, note
    return table.store, _opened(repository.vectors, table.model), pending, note


def _opened(vectors: Path, model: Model) -> Embedder:
    """Return a model that embeds queries; one in a file is kept, for the next query.

    A server is asked each time whether it still serves the model whose vectors there are.
    """
    from knowrepo.index.embed import open_embedder

    if model.endpoint:
        return open_embedder(model, vectors=vectors, seconds=ENDPOINT_SECONDS)
    return _loaded(vectors, model)


@lru_cache(maxsize=2)
def _loaded(vectors: Path, model: Model) -> Embedder:
    from knowrepo.index.embed import open_embedder

    return open_embedder(model, vectors=vectors)


def _chosen(
    repository: Repository, catalog: Catalog, model: Model
) -> tuple[_Table | None, int, str]:
    """Return the current model's vectors, or an earlier one's where they cover more by far."""
    from knowrepo.index import embed, models

    def table(of: Model) -> _Table:
        store = _store(repository.vectors, embed.fingerprint(of))
        return _Table(of, store, embedded.pending(repository, catalog, store))

    own = table(model)
    if not own.pending:
        return own, 0, ""
    total = embedded.number_of_texts(catalog)
    have = total - own.pending
    if 2 * have < total:
        earlier = [table(other) for other in models.previous() if not embed.lacking(other)]
        best = min(earlier, key=lambda other: other.pending, default=own)
        if best.pending < own.pending:
            return best, own.pending, (
                f"{have} of {total} texts have a vector of {model.told} yet; this answer uses"
                f" those of {best.model.told}, which {total - best.pending} have;"
                " `know index` makes the others"
            )  # fmt: skip
    if not have:
        note = "no vectors of this model, so words only; `know index` makes them"
        return None, own.pending, note
    return own, own.pending, _waiting(catalog, own.pending)


def _waiting(catalog: Catalog, pending: int) -> str:
    if not pending:
        return ""
    total = embedded.number_of_texts(catalog)
    return f"{pending} of {total} texts have no vector yet; `know index` makes them"


def _damage(store: VectorStore) -> list[str]:
    """Return a line for each segment that was found to be damaged since the last look."""
    damaged, store.damaged = store.damaged, []
    return [
        f"{store.folder / one.name}: set aside ({one.why}); `know index` embeds its texts anew"
        for one in damaged
    ]


@lru_cache(maxsize=4)
def _store(folder: Path, fingerprint: str) -> VectorStore:
    """Return the vectors of a model; kept, so that the next query finds the files open."""
    from knowrepo.index.vectors import VectorStore

    return VectorStore(folder, fingerprint)
