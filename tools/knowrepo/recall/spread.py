"""The candidates that the vectors put forward: how many, and how few of one document.

Owns these numbers, and nothing of the scores. What the words put forward,
`evidence` says.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

CANDIDATES = 100
"""Chunks that are put forward."""
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
