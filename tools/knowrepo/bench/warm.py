"""A warm query by meaning, all included, against what cannot be spared of it.

That is the query embedded, one scan of the vectors by numpy, and one query of FTS5, measured
bare in the same run, in turn.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import count
from statistics import median

from knowrepo.bench.baseline import Baseline
from knowrepo.bench.corpus import Corpus
from knowrepo.bench.costs import embedder_of, fill_by_hash, opened, repository_of
from knowrepo.bench.measured import Measured
from knowrepo.bench.place import Place, Spent, in_turn, middle, ratio, spent
from knowrepo.bench.shown import Shown
from knowrepo.bench.sizes import Sizes
from knowrepo.index.embed import Query
from knowrepo.index.embedded import note_all_embedded, present
from knowrepo.index.vectors import VectorStore
from knowrepo.recall import route

MOST = 3.0
_CHUNKS_A_SESSION = 20  # of forty records, with the concept beside it
_NEAREST = 100
_WORDS = 9  # of a query


def measure(place: Place, sizes: Sizes) -> Iterator[Measured]:
    """Ask a repository new questions in both ways, in turn."""
    import numpy as np

    embedder = embedder_of(place)
    sessions = max(1, sizes.recall_chunks // _CHUNKS_A_SESSION)
    here = repository_of(place, "warm", sessions, sizes.records)
    chunks = fill_by_hash(here, embedder)
    note_all_embedded(here, embedder.fingerprint, present(here, embedder.fingerprint))
    matrix = np.stack([row[2] for row in VectorStore(here.vectors, embedder.fingerprint).rows()])
    with opened(here) as catalog:
        plain = Baseline(Shown(catalog, "session").pieces, {})
    queries = _queries()
    steps: dict[str, list[float]] = {"embedding": [], "numpy": [], "fts5": []}

    def bare() -> Spent:
        query = next(queries)
        vectors = []
        parts = [
            spent(lambda: vectors.append(embedder.embed_query(Query(query)))),
            spent(lambda: np.argpartition(-(matrix @ vectors[0]), min(_NEAREST, chunks - 1))),
            spent(lambda: plain.search(query, _NEAREST)),
        ]
        for told, part in zip(steps.values(), parts, strict=True):
            told.append(1000 * part.wall)
        return Spent(sum(part.wall for part in parts), sum(part.cpu for part in parts))

    def ours() -> Spent:
        query = next(queries)
        return spent(lambda: route.recall(here, query, embedder=embedder))

    in_turn(2, ours, bare)  # the first ones find cold caches
    for told in steps.values():
        told.clear()
    whole, bares = in_turn(sizes.recalls, ours, bare)
    plain.close()
    place.drop("warm")
    yield Measured(
        f"warm query by meaning, {chunks:,} chunks",
        ratio(whole, bares, "wall"),
        "times",
        "a whole recall, over the query embedded, a scan by numpy and a query of FTS5",
        most=MOST,
        details={
            "milliseconds": 1000 * middle(whole, "wall"),
            "bare_milliseconds": 1000 * middle(bares, "wall"),
            **{f"bare_{name}_milliseconds": median(told) for name, told in steps.items()},
            "cpu_ratio": ratio(whole, bares),
            "model": place.model.name if place.model else "",
        },
    )


def _queries() -> Iterator[str]:
    """Yield a new query each time: no layer may answer from what it just did."""
    corpus = Corpus()
    for number in count():
        yield f"{corpus.words(_WORDS)} {number}"
