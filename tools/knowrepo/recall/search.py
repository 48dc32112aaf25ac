"""The hybrid layer: words, meaning, dates and front matter, over all chunks.

Owns which chunks are looked at and that each has all the evidence there is of it.
What each kind of evidence is worth, `fuse` says. Without vectors the layer is
lexical, and says why; which vectors there are is `semantic`'s business.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from datetime import date
from typing import TYPE_CHECKING

from knowrepo.errors import KnowError
from knowrepo.git.layout import Repository
from knowrepo.index.catalog import Catalog, Filter
from knowrepo.index.text import content_words
from knowrepo.recall import fuse
from knowrepo.recall.dates import near_dates
from knowrepo.recall.evidence import Lexical, look_for
from knowrepo.recall.rerank import reranked
from knowrepo.recall.semantic import Meaning, semantic
from knowrepo.recall.spread import spread
from knowrepo.recall.times import period

if TYPE_CHECKING:
    from knowrepo.index.embed import Embedder

MOST_WORDS = 64
"""Words of a query that are looked for; a pasted page has its first ones."""


@dataclass(frozen=True)
class Searched:
    """What the layer found: (chunk, score), best first.

    ``route`` is hybrid, or lexical where there were no vectors; ``note`` says
    why. ``pending`` counts the texts that have no vector yet. ``parts`` tells of a
    chunk what made its score, ``documents`` of which document it is, ``explanation``
    what was made of the query.
    """

    ranked: list[tuple[int, float]]
    route: str
    reason: str
    note: str = ""
    pending: int = 0
    confidence: float = 0.0
    documents: dict[int, int] = field(default_factory=dict)
    parts: Callable[[int], dict[str, float]] = lambda _chunk: {}
    explanation: dict[str, object] = field(default_factory=dict)


def search(
    repository: Repository,
    catalog: Catalog,
    query: str,
    only: Filter,
    *,
    embedder: Embedder | None = None,
    words_only: bool = False,
    front_matter: Mapping[int, float] | None = None,
    today: date | None = None,
) -> Searched:
    """Search all chunks that pass the filter.

    ``embedder`` is used where one is loaded already, else the user's model is;
    with ``words_only`` none is. ``front_matter`` is how well that of a document
    fits, 0 to 1, where it did not suffice for an answer. ``today`` is what "last
    week" counts from, today in UTC if not given.
    """
    words = content_words(query)[:MOST_WORDS]
    try:
        meaning = (
            Meaning([]) if words_only else semantic(repository, catalog, query, only, embedder)
        )
    except KnowError as error:  # a model or a segment that cannot be used costs meaning, not words
        meaning = Meaning([], note=f"{error.message}; {error.hint}".rstrip("; "))
    meant = period(query, today or _today())
    nearest = [chunk for chunk, _ in spread(meaning.scored, meaning.documents)]
    of_time = meant.words if meant else frozenset()
    lexical = look_for(catalog, words, only, nearest, of_time=of_time)
    dates = near_dates(catalog, query, meant, lexical.places, only)
    nearness = _nearness(meaning, lexical)

    def shares(chunk: int) -> fuse.Shares:
        return fuse.shares(
            lexical.evidence[chunk],
            nearness(chunk),
            dates=dates.near.get(chunk, 0.0),
            front_matter=(front_matter or {}).get(lexical.places[chunk].document, 0.0),
        )

    scores = {chunk: fuse.score(shares(chunk)) for chunk in lexical.places}
    ranked = sorted(scores.items(), key=lambda item: (-item[1], item[0]))
    found = replace(
        _told(ranked, lexical, meaning, nearness),
        documents={chunk: place.document for chunk, place in lexical.places.items()},
        parts=lambda chunk: fuse.parts(shares(chunk)),
        explanation=_explanation(lexical, dates.said, meaning),
    )
    return _looked_at_again(catalog, query, found)


def _today() -> date:
    from datetime import UTC, datetime

    return datetime.now(UTC).date()


_Nearness = Callable[[int], fuse.Meaning | None]


def _nearness(meaning: Meaning, lexical: Lexical) -> _Nearness:
    """Return what gives of a chunk what the vectors say of it; without vectors nothing."""
    if not meaning.cosines:
        return lambda _chunk: None
    # What is not among the nearest is about as near as the last of them, or less.
    least = min(meaning.cosines.values())
    return lambda chunk: fuse.Meaning(
        meaning.cosines.get(lexical.places[chunk].text_hash, least),
        meaning.mean, meaning.deviation, meaning.foreign,
    )  # fmt: skip


def _told(
    ranked: list[tuple[int, float]], lexical: Lexical, meaning: Meaning, nearness: _Nearness
) -> Searched:
    """Return what was found, with the route, why, and how sure it is."""
    route = "hybrid" if meaning.scored else "lexical"
    if not ranked:
        return Searched([], route, "no word is found", meaning.note, meaning.pending)
    best = ranked[0][0]
    words, near = lexical.evidence[best], nearness(best)
    reason = f"the first holds {words.coverage:.0%} of the words' weight"
    if near is not None:
        reason += f", its cosine is {near.cosine:.2f}"
    confidence = fuse.confidence(words, near)
    return Searched(ranked, route, reason, meaning.note, meaning.pending, confidence)


def _explanation(lexical: Lexical, said: str, meaning: Meaning) -> dict[str, object]:
    told: dict[str, object] = {"candidates": len(lexical.places)}
    if lexical.respelled:
        told["respelled"] = {
            str(word): [str(term) for term in terms] for word, terms in lexical.respelled.items()
        }
    if said:
        told["dates"] = said
    if meaning.scored:
        told["cosines"] = {
            "mean": round(meaning.mean, 3), "deviation": round(meaning.deviation, 3)
        }  # fmt: skip
    if meaning.foreign:
        told["language"] = "not the model's: meaning counts less"
    return told


def _looked_at_again(catalog: Catalog, query: str, found: Searched) -> Searched:
    """Return what was found in the order of the user's reranker, if there is one."""

    def texts(chunks: list[int]) -> dict[int, str]:
        return {number: chunk.embedded_text for number, chunk in catalog.chunks(chunks).items()}

    ranked, how, fault = reranked(query, found.ranked, texts)
    reason, note = (
        "; ".join(filter(None, two)) for two in ((found.reason, how), (found.note, fault))
    )
    return replace(found, ranked=ranked, reason=reason, note=note)
