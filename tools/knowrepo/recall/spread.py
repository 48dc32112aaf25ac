"""The candidates that the vectors put forward: how many, and how few of one document.

Owns these numbers, and nothing of the scores. What the words put forward,
`evidence` says.
"""

from __future__ import annotations

from collections import Counter

from knowrepo.index.catalog import Catalog

CANDIDATES = 100
"""Chunks that are put forward."""
OVERFETCH = 10
"""As many times more are looked at, so that other documents come into view."""
CANDIDATES_A_DOCUMENT = 8


def spread(catalog: Catalog, scored: list[tuple[int, float]]) -> list[tuple[int, float]]:
    """Return the best candidates, few of one document: a long session must not hide the rest."""
    documents = catalog.documents_of([chunk for chunk, _ in scored])
    taken: Counter[int] = Counter()
    best = []
    for chunk, score in scored:
        taken[documents[chunk]] += 1
        if taken[documents[chunk]] <= CANDIDATES_A_DOCUMENT:
            best.append((chunk, score))
    return best[:CANDIDATES]
