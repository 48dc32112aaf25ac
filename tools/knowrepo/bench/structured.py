"""A lookup in the structured layer, over repositories of more and more concepts.

The layer alone is a catalog that is opened, asked, and closed again, with the documents of
the answer; the whole recall also looks whether the catalog is of the present state. Both as
in a process that recalls again: what can be kept open between two recalls is.
"""

from __future__ import annotations

import subprocess
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from statistics import median

from knowrepo.bench.corpus import Corpus, needle
from knowrepo.bench.measured import Measured
from knowrepo.bench.place import Place, Spent, in_turn, spent
from knowrepo.bench.sizes import Sizes
from knowrepo.errors import KnowError
from knowrepo.git.layout import Repository
from knowrepo.index.build import refresh
from knowrepo.index.catalog import Catalog, Filter
from knowrepo.recall import coverage, route, structured

MILLISECONDS = 1.0
GROWTH = 1.5
_AT = 1_600  # concepts, at which the milliseconds are a target
_HITS = 10
TAG = "eighth"
_A_TAG = 8  # of so many concepts one has the tag
_FOLDER = 400  # concepts in a folder
_RARE = 3  # the number of the concept that the query of rare words is about

Steps = list[dict[str, float]]


def measure(place: Place, sizes: Sizes) -> Iterator[Measured]:
    """Ask every repository every query in turn, the layer alone and a whole recall."""
    asked = _queries()
    places = {count: _repository(place, count) for count in sizes.concepts}
    for kind, query in asked.items():
        alone = _asked(places, sizes.lookups, partial(_lookup, query))
        whole = _asked(places, sizes.lookups, partial(_recall, query))
        yield from _figures(kind, query, places, alone, whole)
    for count in sizes.concepts:
        place.drop(_name(count))


def _queries() -> dict[str, str]:
    """Return a query of each kind; words of the corpus are common, its needles are rare."""
    said = coverage.content(" ".join(Corpus().common(40)))
    common = [word for word, asks in said.items() if not asks]
    return {
        "common words": " ".join(common[:3]),
        "rare words": f"{needle(_RARE)} {_rare(_RARE)}",
        "a tag of an eighth": TAG,
    }


def _rare(number: int) -> str:
    """Return a second word that one concept alone has."""
    return needle(number)[::-1]


def _name(count: int) -> str:
    return f"structured-{count}"


def _repository(place: Place, count: int) -> Repository:
    """Make a repository of so many concepts, all of them in its catalog."""
    here = place.repository(_name(count))
    write_concepts(here.root / "concepts", count)
    subprocess.run(["git", "-C", str(here.root), "add", "-A"], check=True, capture_output=True)
    if refresh(here).behind:
        raise KnowError(f"{here.root}: not all concepts were indexed")
    return here


def write_concepts(folder: Path, count: int) -> None:
    """Write generated concepts; of every eight, one has the tag that is asked for."""
    corpus = Corpus()
    for number in range(count):
        tags = [corpus.words(1), *([TAG] if number % _A_TAG == 0 else [])]
        path = folder / f"part{number // _FOLDER}" / f"concept-{number}.md"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(
            "---\n"
            f"type: {'Decision' if number % 2 else 'Reference'}\n"
            f'title: "{corpus.words(4)} {needle(number)}"\n'
            f'description: "{corpus.words(14)} {_rare(number)}"\n'
            f"tags: [{', '.join(tags)}]\n"
            f'generated: {{by: "process:bench", at: "2026-0{1 + number % 9}-01T00:00:00Z"}}\n'
            f"---\n\n{corpus.words(20)}\n",
            encoding="utf-8",
        )


def _asked(
    places: dict[int, Repository], rounds: int, ask: Callable[[Repository], int]
) -> dict[int, list[Spent]]:
    def work(here: Repository) -> Callable[[], Spent]:
        return lambda: spent(lambda: ask(here))

    works = [work(here) for here in places.values()]
    in_turn(2, *works)  # the first ones find cold caches
    return dict(zip(places, in_turn(rounds, *works), strict=True))


def _lookup(query: str, here: Repository) -> int:
    catalog = Catalog.open(here.catalog, keep=True)
    if catalog is None:
        raise KnowError(f"{here.root}: no catalog")
    with catalog:
        answer = structured.ask(catalog, query, Filter(), most=_HITS)
        return len(catalog.documents([match.document for match in answer.matches[:_HITS]]))


def _recall(query: str, here: Repository) -> int:
    return len(route.recall(here, query, limit=_HITS).hits)


def _figures(
    kind: str,
    query: str,
    places: dict[int, Repository],
    alone: dict[int, list[Spent]],
    whole: dict[int, list[Spent]],
) -> Iterator[Measured]:
    steps: Steps = [
        {
            "concepts": count,
            "hits": _lookup(query, here),
            "milliseconds": _milliseconds(alone[count]),
            "wall_milliseconds": _milliseconds(alone[count], wall=True),
            "recall_milliseconds": _milliseconds(whole[count]),
        }
        for count, here in places.items()
    ]
    at = next((step for step in steps if step["concepts"] == _AT), steps[-1])
    yield Measured(
        f"structured lookup of {kind}", at["milliseconds"], "ms",
        f"processor time with opening the catalog, {at['concepts']:,} concepts, k = {_HITS}",
        most=MILLISECONDS, details={"query": query, "steps": steps},
    )  # fmt: skip
    for name, key in (("lookup", "milliseconds"), ("recall", "recall_milliseconds")):
        yield Measured(
            f"structured {name} of {kind}: growth", _growth(steps, key), "times",
            f"from {steps[0]['concepts']:,} to {steps[-1]['concepts']:,} concepts",
            most=GROWTH if name == "lookup" else None,
        )  # fmt: skip


def _milliseconds(spents: Sequence[Spent], *, wall: bool = False) -> float:
    return 1000 * median(one.by("wall" if wall else "cpu") for one in spents)


def _growth(steps: Steps, key: str) -> float:
    return steps[-1][key] / max(steps[0][key], 1e-9)
