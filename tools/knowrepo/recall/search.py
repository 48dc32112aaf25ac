"""The hybrid layer: words by BM25 and meaning by vectors, over all chunks.

Owns the fusion of the two. Without vectors it is lexical, and says why; which
vectors there are is `semantic`'s business.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from knowrepo.errors import KnowError
from knowrepo.git.layout import Repository
from knowrepo.index.catalog import Catalog, Filter
from knowrepo.index.text import content_words
from knowrepo.recall import fuse
from knowrepo.recall.rerank import reranked
from knowrepo.recall.semantic import Meaning, semantic
from knowrepo.recall.spread import CANDIDATES, OVERFETCH, spread
from knowrepo.units import count

if TYPE_CHECKING:
    from knowrepo.index.embed import Embedder

MOST_WORDS = 64
"""Words of a query that are looked for; a pasted page has its first ones."""


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
    words_only: bool = False,
) -> Searched:
    """Search all chunks that pass the filter.

    ``embedder`` is used where one is loaded already, else the user's model is;
    with ``words_only`` none is.
    """
    words = content_words(query)[:MOST_WORDS]
    lexical = spread(catalog, catalog.lexical(words, CANDIDATES * OVERFETCH, only))
    try:
        meaning = (
            Meaning([]) if words_only else semantic(repository, catalog, query, only, embedder)
        )
    except KnowError as error:  # a model or a segment that cannot be used costs meaning, not words
        meaning = Meaning([], note=f"{error.message}; {error.hint}".rstrip("; "))
    if not meaning.scored:
        ranked = fuse.fuse(lexical, [], 0.0)
        reason = count(len(words), "word")
        found = Searched(ranked, "lexical", reason, meaning.note, meaning.pending)
        return _looked_at_again(catalog, query, found)
    coverage = _coverage(catalog, words, [chunk for chunk, _ in lexical[:3]])
    weight = fuse.semantic_weight(coverage)
    ranked = fuse.fuse(lexical, meaning.scored, weight)
    reason = f"words cover {coverage:.0%}, meaning weighs {weight:.0%}"
    found = Searched(ranked, "hybrid", reason, meaning.note, meaning.pending)
    return _looked_at_again(catalog, query, found)


def _looked_at_again(catalog: Catalog, query: str, found: Searched) -> Searched:
    """Return what was found in the order of the user's reranker, if there is one."""

    def texts(chunks: list[int]) -> dict[int, str]:
        return {number: chunk.embedded_text for number, chunk in catalog.chunks(chunks).items()}

    ranked, how, fault = reranked(query, found.ranked, texts)
    reason, note = (
        "; ".join(filter(None, two)) for two in ((found.reason, how), (found.note, fault))
    )
    return replace(found, ranked=ranked, reason=reason, note=note)


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
