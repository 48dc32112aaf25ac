"""Reranking: a second, slower look at the best of what was found, for a set time.

Owns what becomes of a reranker's scores: how long it is asked, and how its order and
that of the first search make one. Off unless the user chose a reranker, and then a
fault of it costs the reranking, never the answer. Which model it is, is
`index.models.rerankers`' business; running it is `index.reranker`'s.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple, Protocol

from knowrepo import config
from knowrepo.errors import KnowError

if TYPE_CHECKING:
    from knowrepo.index.models import Model

MOST = 50
"""Passages that are offered to the reranker, the best first."""
WEIGHT = 0.4
"""What the reranker's score counts beside that of the first search.

With scores drawn at random, and so worth nothing, this costs hit@1 about two points
and 0.5 costs seven; with scores of use it keeps the better part of what they give.
"""

Ranked = list[tuple[int, float]]
"""(chunk, score), best first."""


class Scorer(Protocol):
    """What tells how well passages answer a query."""

    def scores(self, query: str, passages: Iterable[str]) -> Iterator[float]:
        """Yield a score of each passage, in order; more is better.

        Passages are taken one by one, when there is somebody free to look at them.
        """


class Reranked(NamedTuple):
    """An order, how it came about, and what kept it from being reranked; both may be empty."""

    ranked: Ranked
    how: str = ""
    fault: str = ""


def reranked(
    query: str, ranked: Ranked, text_of: Callable[[list[int]], dict[int, str]]
) -> Reranked:
    """Return the order after the user's reranker has seen the best of it.

    ``text_of`` gives the text of chunks; one that it leaves out is taken for empty.
    Where nothing reranks, the order is returned as it is, and nothing is loaded.
    """
    try:
        if not config.rerank_choice().model or len(ranked) < 2:
            return Reranked(ranked)
        return _reranked(query, ranked, text_of)
    except KnowError as error:
        told = f"{error.message}; {error.hint}".rstrip("; ")
        return Reranked(ranked, fault=f"not reranked: {told}")


def rerank(
    scorer: Scorer,
    query: str,
    passages: Sequence[str],
    seconds: float,
    *,
    clock: Callable[[], float] = time.monotonic,
) -> list[float | None]:
    """Return the score of each passage, None from where the time was over.

    A passage is offered only where its score will come in time, if it takes as long as
    those before it did on average. What was begun is waited for; the first ones are
    begun however long they take.
    """
    end = clock() + seconds
    found: list[float | None] = []
    begun: list[float] = []
    took = 0.0

    def offered() -> Iterator[str]:
        for passage in passages:
            now = clock()
            if found and now + took / len(found) > end:
                return
            begun.append(now)
            yield passage

    for score in scorer.scores(query, offered()):
        took += clock() - begun[len(found)]
        found.append(score)
    return found + [None] * (len(passages) - len(found))


def blended(ranked: Ranked, scores: Sequence[float | None], weight: float = WEIGHT) -> Ranked:
    """Return the order that the first search and the reranker's scores make together.

    Both are brought to a mean of 0 and a spread of 1 over what was scored, so that
    neither's scale counts, and added: what the first search found best by far stays
    ahead of what the reranker likes a little more. The sums are brought back between
    the best and the worst of the first scores. What was not scored stays behind, as
    it was.
    """
    pairs = list(zip(ranked, scores, strict=False))
    scored = [(chunk, first, score) for (chunk, first), score in pairs if score is not None]
    if len(scored) < 2:
        return ranked
    firsts, seconds = ([one[n] for one in scored] for n in (1, 2))
    sums = [
        (1 - weight) * own + weight * other
        for own, other in zip(_levelled(firsts), _levelled(seconds), strict=True)
    ]
    low, high = min(sums), max(sums)
    least, most = min(firsts), max(firsts)
    scale = (most - least) / (high - low) if high > low else 0.0
    # Equals stay in the order of the first search.
    best = sorted(zip(scored, sums, strict=True), key=lambda one: -one[1])
    new = [(chunk, least + (value - low) * scale) for (chunk, _, _), value in best]
    seen = {chunk for chunk, _ in new}
    return new + [one for one in ranked if one[0] not in seen]


def _levelled(values: list[float]) -> list[float]:
    mean = math.fsum(values) / len(values)
    spread = math.sqrt(math.fsum((value - mean) ** 2 for value in values) / len(values))
    return [(value - mean) / spread if spread else 0.0 for value in values]


def _reranked(
    query: str, ranked: Ranked, text_of: Callable[[list[int]], dict[int, str]]
) -> Reranked:
    from knowrepo.index.models.rerankers import chosen

    choice = chosen()
    if choice is None:
        return Reranked(ranked)
    model = choice.model()
    scorer = _opened(model)
    chunks = [chunk for chunk, _ in ranked[:MOST]]
    texts = text_of(chunks)
    started = time.monotonic()
    scores = rerank(scorer, query, [texts.get(chunk, "") for chunk in chunks], choice.seconds)
    spent = time.monotonic() - started
    done = sum(score is not None for score in scores)
    if done < 2:
        return Reranked(
            ranked,
            fault=f"not reranked: {model.name} read {done} passage in {spent:.1f} s;"
            " `know model use --rerank` takes a smaller one, or more `--seconds`",
        )
    how = f"{model.name} reranked the first {done} of {len(chunks)} in {spent:.2f} s"
    return Reranked(blended(ranked, scores), how)


@lru_cache(maxsize=1)
def _opened(model: Model) -> Scorer:
    """Return the reranker, loaded; kept, so that the next query finds it there."""
    from knowrepo.index.reranker import Reranker

    return Reranker(model)
