"""The router: from a query to an answer, by the cheapest layer that knows.

Owns the order of the layers. That an answer is of the present state is
`opening`'s business, printing `present`'s.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from knowrepo.git.layout import Repository
from knowrepo.index.catalog import Catalog, Filter
from knowrepo.index.text import content_words
from knowrepo.recall import structured
from knowrepo.recall.hits import Hit, document_hits
from knowrepo.recall.ids import named_id, resolve, with_text
from knowrepo.recall.opening import Opened, Opener, current

if TYPE_CHECKING:
    from knowrepo.index.embed import Embedder


_DIGITS = 8  # of an id, where a catalog lacks documents
MOST_CHARACTERS = 16_384
"""Of a query that are looked at: of a pasted log the beginning, and at once."""


@dataclass(frozen=True)
class Answer:
    """The answer to a query, with how it came about."""

    query: str
    route: str  # structured, hybrid, lexical or newest
    reason: str
    hits: list[Hit]
    seconds: float = 0.0
    behind: int = 0  # documents not indexed yet; -1 where that is not known
    pending: int = 0  # texts without a vector
    notes: list[str] = field(default_factory=list)
    confidence: float = 1.0  # that the first hit answers, 0 to 1
    confident: bool = True  # False: no hit is worth showing unasked
    explanation: dict[str, object] = field(default_factory=dict)  # what `--explain` tells
    revision: str = ""  # the commit whose knowledge was asked; empty for the present


def recall(
    repository: Repository,
    query: str,
    *,
    limit: int = 10,
    only: Filter | None = None,
    full: bool = False,
    embedder: Embedder | None = None,
    words_only: bool = False,
    opener: Opener = current,
) -> Answer:
    """Answer a query with at most ``limit`` hits; ``full`` brings their whole text.

    With ``words_only`` neither a model nor vectors are asked, whatever there is.
    ``opener`` gives the catalog: of the present state, unless told otherwise.
    """
    started = time.perf_counter()
    only = only or Filter()
    query = query.encode(errors="replace").decode()  # SQLite takes no lone surrogates
    looked_at = query[:MOST_CHARACTERS]
    with opener(repository) as opened:
        answer = _route(repository, opened, looked_at, limit, only, embedder, words_only)
        hits = [_with_text(repository, opened, hit) if full else hit for hit in answer.hits]
    return replace(
        answer,
        query=query,
        hits=hits,
        seconds=time.perf_counter() - started,
        behind=opened.behind,
        notes=[*opened.notes, *answer.notes],
    )


def _route(
    repository: Repository,
    opened: Opened,
    query: str,
    limit: int,
    only: Filter,
    embedder: Embedder | None,
    words_only: bool,
) -> Answer:
    named = named_id(query)
    if named:
        return Answer(query, "structured", "id", [resolve(opened.catalog, named)])
    names = opened.names(query) if content_words(query) else None
    asked = structured.ask(names or opened.catalog, query, only, most=limit)
    if asked.matches or asked.exact:
        return _structured(names or opened.catalog, query, limit, asked, whole=names is None)
    opened.bring_up()
    if opened.partial:
        return Answer(query, "structured", "the tag index knows nothing of it", [])
    catalog = opened.catalog
    if not content_words(query):
        hits = document_hits(catalog, [(d, 0.0) for d in catalog.newest(limit, only)])
        return Answer(query, "newest", "no word to look for", hits)
    if names is not None:  # whose numbers are not those of the catalog
        asked = structured.ask(catalog, query, only, most=limit)
        if asked.matches and not opened.behind:
            return _structured(catalog, query, limit, asked, whole=True)
    from knowrepo.recall.fuse import LEAST_CONFIDENCE
    from knowrepo.recall.gather import gather
    from knowrepo.recall.search import search

    found = search(
        repository, catalog, query, only, embedder=embedder, words_only=words_only,
        front_matter={match.document: match.score for match in asked.near},
    )  # fmt: skip
    return Answer(
        query,
        found.route,
        found.reason,
        gather(catalog, found.ranked, found.documents, limit, found.parts),
        pending=found.pending,
        notes=[found.note] if found.note else [],
        confidence=round(found.confidence, 4),
        confident=found.confidence >= LEAST_CONFIDENCE,
        explanation=found.explanation,
    )


def _structured(
    catalog: Catalog, query: str, limit: int, answer: structured.StructuredAnswer, *, whole: bool
) -> Answer:
    """Return what the structured layer answers.

    Of a catalog that is not ``whole`` nobody knows how few digits tell one id from all others.
    """
    matches = answer.matches[:limit]
    documents = catalog.documents([match.document for match in matches])
    hits = document_hits(catalog, [(documents[match.document], match.score) for match in matches])
    if not whole:
        hits = [replace(hit, id=hit.uid[:_DIGITS]) for hit in hits]
    return Answer(query, "structured", answer.reason, hits, confidence=answer.confidence)


def _with_text(repository: Repository, opened: Opened, hit: Hit) -> Hit:
    """Return a hit with its text, also one of a concept that the catalog lacks."""
    found = hit if opened.waits or opened.partial else with_text(opened.catalog, hit)
    if found.text or hit.kind != "concept":
        return found
    from knowrepo.index.tag_catalog import read_text

    with Catalog.in_memory() as alone:
        read_text(alone, repository, hit.path)
        return with_text(alone, hit)
