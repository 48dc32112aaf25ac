"""From ranked chunks to hits: few of one document, and each text once.

Owns what is left out of a ranking because it says nothing new. Resumed and forked
sessions repeat whole exchanges: the best of equal texts is shown, and names the
others. What a document's standing is worth, `hits` says, and what it is worth that
somebody said something, `said`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from knowrepo.index.catalog import Catalog, Document, StoredChunk
from knowrepo.recall.hits import Hit, chunk_hits, standing
from knowrepo.recall.said import worth as worth_said
from knowrepo.recall.spread import CANDIDATES, OVERFETCH, spread

A_DOCUMENT = 2
"""Hits of one document at most."""
MOST_ALSO = 8
"""Hits that say the same and are named."""
_TWIN = 80  # characters from which an equal text is no chance


def gather(
    catalog: Catalog,
    ranked: Sequence[tuple[int, float]],
    documents_of: Mapping[int, int],
    limit: int,
    parts: Callable[[int], dict[str, float]],
) -> list[Hit]:
    """Return at most ``limit`` hits of (chunk, score), best first.

    ``documents_of`` tells of which document a chunk is, ``parts`` what its score is made of.
    """
    candidates = spread(ranked, documents_of, max(CANDIDATES, limit * OVERFETCH))
    chunks = catalog.chunks([number for number, _ in candidates])
    documents = catalog.documents(list({chunk.document for chunk in chunks.values()}))
    worth = {
        number: max(0.0, score) * _worth(documents[chunks[number].document], chunks[number])
        for number, score in candidates
    }
    taken: Counter[int] = Counter()
    shown: list[int] = []
    first: dict[str, int] = {}  # of each text, the chunk that stands for it
    also: dict[int, list[StoredChunk]] = {}
    for number in sorted(worth, key=lambda number: -worth[number]):
        chunk = chunks[number]
        text = " ".join(chunk.text.split())
        twin = first.get(text)
        if twin is not None and chunks[twin].document != chunk.document:
            also.setdefault(twin, []).append(chunk)
            continue
        taken[chunk.document] += 1
        if taken[chunk.document] > A_DOCUMENT or len(shown) == limit:
            continue
        shown.append(number)
        if len(text) >= _TWIN:
            first[text] = number
    hits = chunk_hits(
        catalog, [(documents[chunks[n].document], chunks[n], worth[n]) for n in shown]
    )
    return [
        replace(
            hit,
            also=tuple(catalog.shown_id(other.uid) for other in also.get(number, ())[:MOST_ALSO]),
            evidence={name: round(part, 4) for name, part in parts(number).items()},
        )
        for number, hit in zip(shown, hits, strict=True)
    ]


def _worth(document: Document, chunk: StoredChunk) -> float:
    said = worth_said(chunk.text) if document.kind == "session" else 1.0
    return standing(document) * said
