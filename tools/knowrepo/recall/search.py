"""The hybrid layer: words by BM25 and meaning by vectors, over all chunks.

Owns candidates and their fusion. It opens DuckDB and a model only where there
are vectors to search; without them it is lexical, and says why.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from knowrepo.errors import KnowError
from knowrepo.git.layout import Repository
from knowrepo.index.catalog import Catalog, Filter
from knowrepo.index.text import content_words
from knowrepo.recall import fuse

if TYPE_CHECKING:
    from knowrepo.index.embed import Embedder

CANDIDATES = 100
"""Chunks that each layer puts forward."""
OVERFETCH = 10
"""As many times more are looked at, so that other documents come into view."""
CANDIDATES_A_DOCUMENT = 8
MOST_WORDS = 64
"""Words of a query that are looked for; a pasted page has its first ones."""
ENDPOINT_SECONDS = 5.0
"""How long a recall waits for a model behind an endpoint."""


@dataclass(frozen=True)
class Searched:
    """What the layer found: (chunk, score), best first.

    ``route`` is hybrid, or lexical where there were no vectors; ``note`` says
    why. ``pending`` counts the texts that have no vector yet.
    """

    ranked: list[tuple[int, float]]
    route: str
    reason: str
    note: str = ""
    pending: int = 0


def search(
    repository: Repository,
    catalog: Catalog,
    query: str,
    only: Filter,
    *,
    embedder: Embedder | None = None,
) -> Searched:
    """Search all chunks that pass the filter.

    ``embedder`` is used where one is loaded already, else the user's model is.
    """
    words = content_words(query)[:MOST_WORDS]
    lexical = _spread(catalog, catalog.lexical(words, CANDIDATES * OVERFETCH, only))
    try:
        semantic, pending, note = _semantic(repository, catalog, query, only, embedder)
    except KnowError as error:  # a model or a segment that cannot be used costs meaning, not words
        semantic, pending, note = [], 0, f"{error.message}; {error.hint}".rstrip("; ")
    if not semantic:
        ranked = fuse.fuse(lexical, [], 0.0)
        return Searched(
            ranked, "lexical", f"{len(words)} word" + "s" * (len(words) != 1), note, pending
        )
    coverage = _coverage(catalog, words, [chunk for chunk, _ in lexical[:3]])
    weight = fuse.semantic_weight(coverage)
    ranked = fuse.fuse(lexical, semantic, weight)
    reason = f"words cover {coverage:.0%}, meaning weighs {weight:.0%}"
    return Searched(ranked, "hybrid", reason, note, pending)


def _semantic(
    repository: Repository,
    catalog: Catalog,
    query: str,
    only: Filter,
    embedder: Embedder | None,
) -> tuple[list[tuple[int, float]], int, str]:
    """Return (chunk, cosine) best first, how many texts lack a vector, and a note."""
    if embedder is None:
        from knowrepo.index import embed, models

        if not repository.vectors.is_dir():
            return [], 0, "no vectors yet, so words only; `know index` makes them"
        model = models.current()
        if model is None:
            return [], 0, "no model, so words only; `know model pull` brings one"
        lacking = embed.lacking(model)
        if lacking:
            return [], 0, f"words only: {lacking}"
        if not (repository.vectors / embed.fingerprint(model) / "manifest.json").is_file():
            return [], 0, "no vectors of this model, so words only; `know index` makes them"
        # Who asks does not wait for a server that hangs: words are there already.
        embedder = embed.open_embedder(model, vectors=repository.vectors, seconds=ENDPOINT_SECONDS)
    from knowrepo.index.embed import Query
    from knowrepo.index.vectors import VectorStore

    live = catalog.text_hashes(only)
    store = VectorStore(repository.vectors, embedder.fingerprint)
    found = store.search(embedder.embed_query(Query(query)), live, CANDIDATES * OVERFETCH)
    by_hash = catalog.chunks_with([text_hash for text_hash, _ in found.scores], only)
    scored = [
        (chunk, score) for text_hash, score in found.scores for chunk in by_hash.get(text_hash, [])
    ]
    pending = len(live) - found.embedded
    note = f"{pending} of {len(live)} texts have no vector yet; `know index` makes them"
    return _spread(catalog, scored), pending, note if pending else ""


def _spread(catalog: Catalog, scored: list[tuple[int, float]]) -> list[tuple[int, float]]:
    """Return the best candidates, few of one document: a long session must not hide the rest."""
    documents = catalog.documents_of([chunk for chunk, _ in scored])
    taken: Counter[int] = Counter()
    spread = []
    for chunk, score in scored:
        taken[documents[chunk]] += 1
        if taken[documents[chunk]] <= CANDIDATES_A_DOCUMENT:
            spread.append((chunk, score))
    return spread[:CANDIDATES]


def _coverage(catalog: Catalog, words: Sequence[str], chunks: list[int]) -> float:
    """Return how much of a query's weight the best of some chunks holds."""
    if not words or not chunks:
        return 0.0
    total = catalog.counts()["chunks"]
    held = dict.fromkeys(chunks, 0.0)
    whole = 0.0
    for word in words:
        frequency = catalog.chunk_frequency(word)
        weight = math.log(1 + (total - frequency + 0.5) / (frequency + 0.5))
        whole += weight
        for chunk in catalog.matches(word, chunks):
            held[chunk] += weight
    return max(held.values()) / whole
