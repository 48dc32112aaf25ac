"""A hit: what an answer gives of a document or of one of its chunks.

Owns how the catalog's rows become a hit: the digits of its id, the short path,
the one-line summary, and what its standing (draft, superseded, stale) is worth.
"""

from __future__ import annotations

import posixpath
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime

from knowrepo.index.catalog import Catalog, Document, StoredChunk, trust
from knowrepo.recall import shown

_MARKED = frozenset(("deprecated", "draft"))
_DIGITS = 8  # of a session's id that are shown, where they tell it
_STALE = 80  # hundredths of a score that are left to what is stale


@dataclass(frozen=True)
class Hit:
    """A document or a chunk of one, as an answer gives it."""

    id: str  # as many digits as are needed
    uid: str
    kind: str
    path: str
    shown_path: str
    type: str
    title: str
    heading: str
    date: str
    summary: str
    score: float
    line: int = 1
    marks: tuple[str, ...] = ()
    text: str = ""
    also: tuple[str, ...] = ()  # ids of hits that say the same, and stand in for by this one
    evidence: dict[str, float] = field(default_factory=dict)  # the scores that made `score`
    place: int = -1  # among the chunks of its document; -1 where it is the whole of it


def document_hit(catalog: Catalog, document: Document, score: float) -> Hit:
    """Return a whole document as a hit."""
    return document_hits(catalog, [(document, score)])[0]


def document_hits(catalog: Catalog, found: Sequence[tuple[Document, float]]) -> list[Hit]:
    """Return whole documents with their scores as hits, in the same order."""
    ids = catalog.shown_ids(document.uid for document, _ in found)
    hits = []
    for document, score in found:
        summary = _summary(document, document.description)
        if not summary and (first := catalog.first_chunk(document.id)):
            summary = _summary(document, first.text)
        hits.append(_hit(catalog, document, document.uid, ids, score, summary))
    return hits


def chunk_hit(catalog: Catalog, document: Document, chunk: StoredChunk, score: float) -> Hit:
    """Return a chunk as a hit."""
    return chunk_hits(catalog, [(document, chunk, score)])[0]


def chunk_hits(catalog: Catalog, found: Sequence[tuple[Document, StoredChunk, float]]) -> list[Hit]:
    """Return chunks of documents with their scores as hits, in the same order."""
    ids = catalog.shown_ids(chunk.uid for _, chunk, _ in found)
    return [
        replace(
            _hit(catalog, document, chunk.uid, ids, score, _summary(document, chunk.text)),
            heading=chunk.heading,
            date=(chunk.time or document.date)[:10],
            line=chunk.line,
            text=chunk.text,
            place=chunk.seq,
        )
        for document, chunk, score in found
    ]


def _hit(
    catalog: Catalog,
    document: Document,
    uid: str,
    ids: Mapping[str, str],
    score: float,
    summary: str,
) -> Hit:
    return Hit(
        id=ids[uid],
        uid=uid,
        kind=document.kind,
        path=document.path,
        shown_path=_shown_path(catalog, document),
        type=document.type,
        title=document.title,
        heading="",
        date=document.date[:10],
        summary=summary,
        score=round(score, 4),
        marks=_marks(document),
    )


def _summary(document: Document, text: str) -> str:
    return shown.summary(text, title=document.title, concept=document.kind == "concept")


def _shown_path(catalog: Catalog, document: Document) -> str:
    folder, _, rest = document.key.partition("/")
    if document.kind == "concept":
        return rest
    # agent/ and the first digits of a uuid; a sub-agent's parent is told likewise
    above, _, own = document.key.rpartition("/")
    shortest = len(document.key) - len(own) + _DIGITS
    # Below `agent/id` lie its sub-agents, which its name is not to be told from.
    cut = catalog.shown_key if above.count("/") > 1 else catalog.shown_folder
    told = cut(document.key, shortest)[len(above) :]
    _, _, parent = above.removeprefix(f"{folder}/").partition("/")
    if parent:
        above = catalog.shown_folder(above, len(above) - len(parent) + _DIGITS)
    return f"{above}{told}".removeprefix(f"{folder}/")


def _marks(document: Document) -> tuple[str, ...]:
    marks = [document.status] if document.status in _MARKED else []
    if document.superseded_by:
        marks.append(f"superseded by {_successor(document)}")
    if is_stale(document.stale_after):
        marks.append("stale")
    return tuple(marks)


def _successor(document: Document) -> str:
    """Return what holds instead by its id: a path from the file tells whoever reads a line little.

    What leads to no file of the bundle stands as it was written.
    """
    folder = document.key.partition("/")[0]
    path = posixpath.join(posixpath.dirname(document.key), document.superseded_by)
    above, _, name = posixpath.normpath(path).partition("/")
    if above == folder and name.endswith(".md"):
        return name.removesuffix(".md")
    return document.superseded_by


def standing(document: Document) -> float:
    """Return what the score of a document is multiplied by for its standing, at most 1."""
    return worth(trust(document.status, document.superseded_by), document.stale_after)


def worth(trusted: int, stale_after: str) -> float:
    """Return the same of what is trusted so many hundredths, stale or not."""
    return trusted * (_STALE if is_stale(stale_after) else 100) / 10_000


def is_stale(stale_after: str) -> bool:
    """Say whether a date after which something is stale has come; one that is none never does."""
    if not stale_after:
        return False
    try:
        after = datetime.fromisoformat(stale_after)
    except ValueError:
        return False
    return datetime.now(UTC) >= (after if after.tzinfo else after.replace(tzinfo=UTC))
