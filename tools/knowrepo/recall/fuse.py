"""Joining lexical and semantic scores into one ranking.

Owns the arithmetic, and nothing else: pure functions of scores. Ranks say too
little (a weak second is a second), so scores are joined: each layer's are
brought to 0..1 and added with a weight. Where the words of the query are found
together, the vectors only help to order; where they are not, the vectors lead.
"""

from __future__ import annotations

from collections.abc import Sequence

Scored = Sequence[tuple[int, float]]
"""(chunk, score), best first."""

LEAST_WEIGHT, MOST_WEIGHT = 0.2, 0.8
"""The weight of the semantic layer where the query's words are all found, and where none is."""
ALL_FOUND, NONE_FOUND = 0.75, 0.35
"""The coverage at which these weights are reached; between, the weight is linear."""


def semantic_weight(coverage: float) -> float:
    """Return the weight of the semantic layer for a query.

    ``coverage`` is how much of the query's weight the best lexical hit holds, 0 to 1.
    """
    share = (ALL_FOUND - coverage) / (ALL_FOUND - NONE_FOUND)
    return LEAST_WEIGHT + (MOST_WEIGHT - LEAST_WEIGHT) * min(1.0, max(0.0, share))


def fuse(lexical: Scored, semantic: Scored, weight: float) -> list[tuple[int, float]]:
    """Return (chunk, score between 0 and 1), best first; ``weight`` is the semantic layer's."""
    if not semantic:
        weight = 0.0
    if not lexical:
        weight = 1.0
    words, meaning = _normalised(lexical), _normalised(semantic)
    scores = {
        chunk: (1 - weight) * words.get(chunk, 0.0) + weight * meaning.get(chunk, 0.0)
        for chunk in {**words, **meaning}
    }
    return sorted(scores.items(), key=lambda item: (-item[1], item[0]))


def _normalised(scored: Scored) -> dict[int, float]:
    """Bring scores to 0..1: the best is 1, the worst of the candidates is 0."""
    if not scored:
        return {}
    values = [score for _, score in scored]
    low, high = min(values), max(values)
    if high == low:
        return {chunk: 1.0 for chunk, _ in scored}
    return {chunk: (score - low) / (high - low) for chunk, score in scored}
