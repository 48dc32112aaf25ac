"""Candidates of a search: how many there are, and how few of one document.

Owns the numbers that both layers of the hybrid search share.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

CANDIDATES = 100
"""Chunks that each layer puts forward."""
OVERFETCH = 10
"""As many times more are looked at, so that other documents come into view."""
CANDIDATES_A_DOCUMENT = 8


def spread(
    scored: Sequence[tuple[int, float]], documents: Mapping[int, int], most: int = CANDIDATES
) -> list[tuple[int, float]]:
    """Return the best candidates, few of one document: a long session must not hide the rest.

    ``documents`` says which document a chunk is of.
    """
    taken: Counter[int] = Counter()
    best: list[tuple[int, float]] = []
    for chunk, score in scored:
        taken[documents[chunk]] += 1
        if taken[documents[chunk]] <= CANDIDATES_A_DOCUMENT:
            best.append((chunk, score))
        if len(best) == most:
            break
    return best
