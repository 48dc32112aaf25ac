"""Joining what the words, the vectors, the dates and the front matter say into one score.

Owns the weights, and nothing else: pure functions of evidence. The words say how
much of the query a chunk holds, of all that was asked, not of what the best chunk
has. So where the words of the query are hardly found they weigh little by
themselves, and the vectors lead; where they are found together, the vectors only
help to order. How the weights were found is in the concept `weights-of-evidence`.
"""

from __future__ import annotations

import math
from typing import NamedTuple

from knowrepo.recall.evidence import Evidence


class Weights(NamedTuple):
    """How much each kind of evidence counts, where all of it would be there."""

    words: float = 1.4
    document: float = 0.45
    title: float = 0.65
    heading: float = 0.3
    together: float = 0.5
    meaning: float = 1.0
    dates: float = 1.5
    front_matter: float = 0.4


WEIGHTS = Weights()
_DEVIATIONS = 6.0
"""Standard deviations above the mean cosine of a query at which meaning is full."""
_FOREIGN = 0.3
"""What counts of the meaning of a query in a language that the model was not made for."""
_WHOLE = WEIGHTS.words + WEIGHTS.document + WEIGHTS.title + WEIGHTS.heading + WEIGHTS.together
_SLOPE, _OFFSET = 4.5, 2.1
"""Of the confidence: even odds where the words' share and the cosine, less what the heaviest
missing word costs, add up to 0.47."""
_MISSING = 0.5
"""What it costs that the chunk lacks a word of the query which no chunk holds."""
_NO_COSINE = 0.33
"""What stands in for the cosine where there is none that says anything."""
LEAST_CONFIDENCE = 0.07
"""Below it nothing is shown unasked: at most one in a hundred right answers had less."""


class Meaning(NamedTuple):
    """What the vectors say of a chunk: its cosine, and the mean and deviation of all.

    ``foreign``: the query is of a language that the model was not made for.
    """

    cosine: float
    mean: float
    deviation: float
    foreign: bool = False

    @property
    def share(self) -> float:
        """How far above the mean the chunk is, 1 at six deviations; less for a foreign query."""
        share = (self.cosine - self.mean) / max(self.deviation, 1e-6) / _DEVIATIONS
        return share * (_FOREIGN if self.foreign else 1.0)


Shares = Weights
"""How much there is of each kind of evidence, about 0 to 1, in the order of the weights."""


def shares(
    words: Evidence, meaning: Meaning | None, *, dates: float = 0.0, front_matter: float = 0.0
) -> Shares:
    """Return how much there is of each kind of evidence of a chunk."""
    return Shares(
        words.words, words.document, words.title, words.heading, words.together,
        meaning.share if meaning else 0.0, dates, front_matter,
    )  # fmt: skip


def score(given: Shares) -> float:
    """Return the score of a chunk, about 0 to 1: 1 where all words and the meaning fit."""
    return sum(weight * share for weight, share in zip(WEIGHTS, given, strict=True)) / _WHOLE


def parts(given: Shares) -> dict[str, float]:
    """Return what each kind of evidence adds to the score of a chunk: they sum up to it."""
    return {
        name: weight * share / _WHOLE
        for name, weight, share in zip(Weights._fields, WEIGHTS, given, strict=True)
    }


def confidence(words: Evidence, meaning: Meaning | None) -> float:
    """Return how sure it is that the best chunk answers, 0 to 1.

    Calibrated on labelled queries, as many with an answer as without. Without
    vectors, or for a language that the model was not made for, words alone tell.
    """
    cosine = _NO_COSINE if meaning is None or meaning.foreign else meaning.cosine
    told = words.coverage + cosine - _MISSING * words.missing
    return 1 / (1 + math.exp(_OFFSET - _SLOPE * told))
