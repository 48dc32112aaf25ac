"""The figures by which retrieval is judged, as functions of ranked lists.

Owns their definitions, and nothing else: no query is asked here and no file is
read. `know eval` and `know bench` both take them from here, so that a name means
one thing. A list of results holds ids, best first; places count from 1. An answer
that stands twice in a list counts once, at its first place, and takes up both
places: what a reader has to pass is what was shown.
"""

from __future__ import annotations

import math
import random
from collections.abc import Collection, Iterable, Sequence
from itertools import groupby


def first_right(found: Iterable[str], right: Collection[str]) -> int | None:
    """Return the place of the first right answer in ``found``, or None where there is none."""
    return next((place for place, one in enumerate(found, start=1) if one in right), None)


def hit_at(rank: int | None, k: int) -> float:
    """Return hit@k (success@k) of one query: 1 where the first right answer is in the first k.

    ``rank`` is what `first_right` gives. The mean over queries is the share of
    them that have at least one right answer among the first k.
    """
    _check(k)
    return 1.0 if rank is not None and rank <= k else 0.0


def reciprocal_rank(rank: int | None) -> float:
    """Return 1/rank of the first right answer, 0 where there is none; the mean of it is MRR.

    Of a list that was cut at n places, that is MRR@n.
    """
    return 0.0 if rank is None else 1.0 / rank


def recall_at(found: Sequence[str], right: Collection[str], k: int) -> float:
    """Return recall@k of one query: the share of all right answers that the first k hold.

    It is divided by the number of right answers, also where there are more of
    them than k. Raises ValueError where nothing is right: a query without an
    answer has no recall.
    """
    wanted = _wanted(right, k)
    return len(wanted.intersection(found[:k])) / len(wanted)


def ndcg_at(found: Sequence[str], right: Collection[str], k: int) -> float:
    """Return NDCG@k of one query with gains of 0 and 1.

    DCG is the sum of 1/log2(place + 1) over the places, up to k, at which a right
    answer stands for the first time. It is divided by the DCG of a list that
    begins with all right answers, as many as k has room for. Raises ValueError
    where nothing is right.
    """
    wanted = _wanted(right, k)
    gained = 0.0
    left = set(wanted)
    for place, one in enumerate(found[:k], start=1):
        if one in left:
            left.remove(one)
            gained += _discount(place)
    return gained / sum(_discount(place) for place in range(1, min(k, len(wanted)) + 1))


def paired_lower_bound(
    ours: Sequence[float],
    theirs: Sequence[float],
    *,
    confidence: float = 0.95,
    resamples: int = 2000,
    seed: int = 0,
) -> float:
    """Return the one-sided lower bound of the mean of ``ours - theirs``, by paired bootstrap.

    Both hold one value a query, in the same order. The differences, one a query,
    are drawn with replacement, as many as there are, ``resamples`` times; the bound
    is the (1 - confidence) quantile of the means: of the means in ascending order
    the one at index floor((1 - confidence) * resamples). The same input gives the
    same bound. Raises ValueError where the lengths differ or there is no query.
    """
    if len(ours) != len(theirs) or not ours:
        raise ValueError(f"{len(ours)} and {len(theirs)} values are no pairs")
    if not 0 < confidence < 1 or resamples < 1:
        raise ValueError(f"confidence {confidence}, {resamples} resamples")
    differences = [a - b for a, b in zip(ours, theirs, strict=True)]
    draw = random.Random(seed)
    many = len(differences)
    means = sorted(math.fsum(draw.choices(differences, k=many)) / many for _ in range(resamples))
    # Rounded first: (1 - 0.9) * 2000 is 199.99999999999994.
    return means[math.floor(round((1 - confidence) * resamples, 6))]


def auroc(positive: Sequence[float], negative: Sequence[float]) -> float:
    """Return how well a score tells positives from negatives: the area under the ROC curve.

    That is the share of all pairs of a positive and a negative in which the
    positive scores higher; a tie counts half. Raises ValueError where there are
    no positives or no negatives.
    """
    if not positive or not negative:
        raise ValueError("without positives and negatives there are no pairs")
    scored = sorted([(score, True) for score in positive] + [(score, False) for score in negative])
    won = below = 0.0
    for _, tied in groupby(scored, key=lambda one: one[0]):
        kinds = [is_positive for _, is_positive in tied]
        positives = sum(kinds)
        negatives = len(kinds) - positives
        won += positives * (below + negatives / 2)
        below += negatives
    return won / (len(positive) * len(negative))


def _discount(place: int) -> float:
    return 1.0 / math.log2(place + 1)


def _wanted(right: Collection[str], k: int) -> set[str]:
    _check(k)
    if not right:
        raise ValueError("a query without a right answer has no such figure")
    return set(right)


def _check(k: int) -> None:
    if k < 1:
        raise ValueError(f"k is {k}; it must be 1 or more")
