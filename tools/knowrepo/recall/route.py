"""The router: from a query to an answer, by the cheapest layer that knows.

Owns the order of the layers, and that an answer is of the present state: where
files changed since the catalog was built, it is brought up first, or the answer
says how far it is behind. Printing is `present`'s business.
"""

from __future__ import annotations

import re
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from knowrepo.errors import KnowError, UsageError
from knowrepo.git.layout import Repository
from knowrepo.index import freshness
from knowrepo.index.catalog import SEEN, Catalog, DamagedError, Filter, told
from knowrepo.index.text import content_words
from knowrepo.recall import structured
from knowrepo.recall.hits import Hit, chunk_hit, document_hit, standing

if TYPE_CHECKING:
    from knowrepo.index.embed import Embedder

REFRESH_SECONDS = 0.2
"""What an answer waits for the catalog to be brought up."""
FIRST_BUILD_SECONDS = 2.0
"""The same where there is no catalog yet."""
A_DOCUMENT = 2
"""Hits of one document at most."""

_ID = re.compile(r"[0-9a-f]{4,40}")
_ID_FORM = re.compile(rf"id:({_ID.pattern})")


@dataclass(frozen=True)
class Answer:
    """The answer to a query, with how it came about."""

    query: str
    route: str  # structured, hybrid, lexical or newest
    reason: str
    hits: list[Hit]
    seconds: float = 0.0
    behind: int = 0  # documents not indexed yet; -1 where another process is at it
    pending: int = 0  # texts without a vector
    notes: list[str] = field(default_factory=list)


@dataclass(frozen=True)
class Opened:
    """A catalog to answer from. ``partial``: only the tag index could be read."""

    catalog: Catalog
    behind: int
    notes: list[str]
    partial: bool = False


@contextmanager
def current(repository: Repository) -> Iterator[Opened]:
    """Give the catalog, brought up to the present state as far as time allows.

    All that is asked of it is answered from one state. A damaged catalog is
    built anew for the next question, and said to be so.
    """
    opened = _open(repository)
    try:
        with told(repository.catalog), opened.catalog:
            yield opened
    except DamagedError as error:
        from knowrepo.index.build import discard

        discard(repository)
        raise KnowError(
            f"{error.message}; it is removed", hint="ask again: it is built anew"
        ) from error


def _open(repository: Repository) -> Opened:
    catalog = Catalog.open(repository.catalog)
    if catalog is not None:
        try:
            with told(repository.catalog):
                seen = freshness.Signature.loads(catalog.meta(SEEN))
        except DamagedError:
            seen = freshness.Signature()
        if freshness.is_current(repository, seen):
            return Opened(catalog, 0, [])
        catalog.close()
    return _brought_up(repository, first=catalog is None)


def _brought_up(repository: Repository, *, first: bool) -> Opened:
    from knowrepo.index.build import refresh

    notes: list[str] = []
    behind = 0
    try:
        done = refresh(repository, budget=FIRST_BUILD_SECONDS if first else REFRESH_SECONDS)
        behind = -1 if done.busy else done.behind
        notes += done.notes
        if done.busy:
            notes.append("another process is indexing; this answer may lack the newest")
        elif behind:
            notes.append(f"{behind} documents are not indexed yet; run `know index`")
    except KnowError as error:
        notes.append(f"{error.message}; answering from what there is")
    catalog = Catalog.open(repository.catalog)
    if catalog is not None:
        return Opened(catalog, behind, notes)
    from knowrepo.index.documents import from_tag_index

    return Opened(from_tag_index(repository), behind, notes, partial=True)


def recall(
    repository: Repository,
    query: str,
    *,
    limit: int = 10,
    only: Filter | None = None,
    full: bool = False,
    embedder: Embedder | None = None,
) -> Answer:
    """Answer a query with at most ``limit`` hits; ``full`` brings their whole text."""
    started = time.perf_counter()
    only = only or Filter()
    with current(repository) as opened:
        answer = _route(repository, opened, query, limit, only, embedder)
        hits = [with_text(opened.catalog, hit) if full else hit for hit in answer.hits]
    return replace(
        answer,
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
) -> Answer:
    catalog = opened.catalog
    named = _ID_FORM.fullmatch(query.strip())
    if named:
        return Answer(query, "structured", "id", [resolve(catalog, named.group(1))])
    known = _structured(catalog, query, limit, only)
    if known is not None:
        return known
    if not content_words(query):
        hits = [document_hit(catalog, d, 0.0) for d in catalog.newest(limit, only)]
        return Answer(query, "newest", "no word to look for", hits)
    if opened.partial:
        return Answer(query, "structured", "the tag index knows nothing of it", [])
    from knowrepo.recall.search import search

    found = search(repository, catalog, query, only, embedder=embedder)
    return Answer(
        query,
        found.route,
        found.reason,
        _hits(catalog, found.ranked, limit),
        pending=found.pending,
        notes=[found.note] if found.note else [],
    )


def _structured(catalog: Catalog, query: str, limit: int, only: Filter) -> Answer | None:
    """Return what the structured layer answers, or None where it does not know."""
    answer = structured.ask(catalog, query, only)
    documents = catalog.documents([match.document for match in answer.matches], only)
    if not documents and not answer.exact:
        return None
    scores = {
        match.document: match.score * standing(documents[match.document])
        for match in answer.matches
        if match.document in documents
    }
    best = sorted(documents.values(), key=lambda d: d.path)
    best.sort(key=lambda d: (scores[d.id], d.date[:10]), reverse=True)
    hits = [document_hit(catalog, d, scores[d.id]) for d in best[:limit]]
    return Answer(query, "structured", answer.reason, hits)


def _hits(catalog: Catalog, ranked: list[tuple[int, float]], limit: int) -> list[Hit]:
    """Turn the best chunks into hits, not too many of one document."""
    candidates = ranked[: max(100, limit * 10)]
    chunks = catalog.chunks([number for number, _ in candidates])
    documents = catalog.documents(list({chunk.document for chunk in chunks.values()}))
    worth = {
        number: score * standing(documents[chunks[number].document]) for number, score in candidates
    }
    taken: dict[int, int] = {}
    hits: list[Hit] = []
    for number in sorted(worth, key=lambda n: -worth[n]):
        chunk = chunks[number]
        taken[chunk.document] = taken.get(chunk.document, 0) + 1
        if taken[chunk.document] <= A_DOCUMENT:
            hits.append(chunk_hit(catalog, documents[chunk.document], chunk, worth[number]))
        if len(hits) == limit:
            break
    return hits


def resolve(catalog: Catalog, given: str) -> Hit:
    """Return what has this id.

    Raises `MalformedError` for what cannot be an id, `NoMatchError` for one
    that names nothing or several things.
    """
    wanted = given.strip().lower()
    if not _ID.fullmatch(wanted):
        raise MalformedError(f"`{given.strip()}` is no id", hint="an id is 4 to 40 hex digits")
    found = catalog.with_prefix(wanted)
    if not found:
        raise NoMatchError(f"[no match for {wanted}]")
    if len(found) > 1:
        shown = ", ".join(catalog.shown_id(uid) for uid, _, _ in found[:8])
        raise NoMatchError(f"[{wanted} is ambiguous: {shown}]")
    _, kind, number = found[0]
    if kind == "document":
        return document_hit(catalog, catalog.documents([number])[number], 1.0)
    chunk = catalog.chunks([number])[number]
    return chunk_hit(catalog, catalog.documents([chunk.document])[chunk.document], chunk, 1.0)


class MalformedError(UsageError):
    """What cannot be an id."""


class NoMatchError(KnowError):
    """An id that names nothing, or more than one thing."""


def timeline(catalog: Catalog, given: str, window: int) -> tuple[list[Hit], int]:
    """Return the chunks around an id in its document, in order, and the place of the id."""
    hit = resolve(catalog, given)
    document = catalog.document_at(hit.path)
    assert document is not None  # the hit came out of this catalog
    chunks = catalog.chunks_of(document.id)
    if not chunks:
        raise NoMatchError(f"[{hit.id} has no text that is searched]")
    at = next((chunk.seq for chunk in chunks if chunk.uid == hit.uid), 0)
    near = [chunk for chunk in chunks if abs(chunk.seq - at) <= window]
    return [chunk_hit(catalog, document, chunk, 0.0) for chunk in near], at - near[0].seq


def with_text(catalog: Catalog, hit: Hit) -> Hit:
    """Return a hit with its whole text: of a document, all its chunks."""
    if hit.text:
        return hit
    document = catalog.document_at(hit.path)
    chunks = catalog.chunks_of(document.id) if document else []
    text = "\n\n".join(
        f"## {chunk.heading}\n\n{chunk.text}" if chunk.heading and hit.kind == "concept"
        else chunk.text
        for chunk in chunks
    )  # fmt: skip
    return replace(hit, text=text)
