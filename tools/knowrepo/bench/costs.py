"""What a recall costs, layer by layer, in repositories of more and more sessions.

Each repository holds as many concepts as sessions. Vectors are by hash, in the model's table
where there is a model: a query is then embedded by the model, and what the vectors say does
not matter to the clock. Warm is this process, with the catalog opened anew for each query;
cold is a process of its own, beside the least program that typer makes.
"""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

from knowrepo.bench.corpus import Corpus, needle
from knowrepo.bench.place import Clock, Place, Spent, in_process, in_turn, middle, spent
from knowrepo.bench.sizes import Sizes
from knowrepo.bench.standin import StandIn
from knowrepo.bench.structured import TAG, write_concepts
from knowrepo.errors import KnowError
from knowrepo.git.layout import Repository
from knowrepo.index import fill
from knowrepo.index.build import refresh
from knowrepo.index.catalog import Catalog, Filter
from knowrepo.index.vectors import VectorStore
from knowrepo.recall import route, structured
from knowrepo.recall.search import search
from knowrepo.recall.semantic import semantic

if TYPE_CHECKING:
    from knowrepo.index.embed import Embedder

COLD = ("typer", "structured", "lexical", "hybrid")
_CLOCKS: dict[str, Clock] = {"milliseconds": "wall", "cpu_milliseconds": "cpu"}
_ASKED = 3  # the number of the session that is asked for
_HITS = 10
_LEAST_PROGRAM = """\
import typer

app = typer.Typer()


@app.command()
def main() -> None:
    pass


app()
"""


def measure(place: Place, sizes: Sizes) -> Iterator[dict[str, Any]]:
    """Yield a row of the table for each size: milliseconds of each layer, warm and cold."""
    embedder = embedder_of(place)
    program = place.folder / "least.py"
    program.write_text(_LEAST_PROGRAM, encoding="utf-8")
    for count in sizes.recall:
        here = repository_of(place, f"recall-{count}", count, sizes.records)
        cold = _cold(here, COLD[:-1], sizes.processes, str(program))
        chunks = fill_by_hash(here, embedder)
        if place.model is not None:
            cold |= _cold(here, COLD[-1:], sizes.processes, str(program))
        warm = _warm(here, embedder, sizes.recalls)
        yield {
            "sessions": count,
            "concepts": count,
            "chunks": chunks,
            **{f"warm_{unit}": _milliseconds(warm, clock) for unit, clock in _CLOCKS.items()},
            **{f"cold_{unit}": _milliseconds(cold, clock) for unit, clock in _CLOCKS.items()},
            "model": place.model.name if place.model else "",
        }
        place.drop(f"recall-{count}")


def embedder_of(place: Place) -> Embedder:
    """Return the user's model, loaded; vectors by hash where there is none."""
    if place.model is None:
        return StandIn()
    from knowrepo.index.embed import open_embedder

    return open_embedder(place.model)


def repository_of(place: Place, name: str, count: int, records: int) -> Repository:
    """Make a repository of so many sessions and concepts, with its catalog."""
    here = place.repository(name)
    Corpus().write_sessions(here.sessions / "claude", count, records, marked=True)
    write_concepts(here.root / "concepts", count)
    subprocess.run(["git", "-C", str(here.root), "add", "-A"], check=True, capture_output=True)
    if refresh(here).behind:
        raise KnowError(f"{here.root}: not all of it was indexed")
    return here


def fill_by_hash(here: Repository, embedder: Embedder) -> int:
    """Give each text a vector by hash, in the table of ``embedder``; returns the chunks."""
    store = VectorStore(here.vectors, embedder.fingerprint)
    catalog = opened(here)
    with catalog:
        waiting = fill.pending_texts(catalog, store)
        chunks = catalog.counts()["chunks"]
    fill.embed(waiting, store, StandIn(embedder.fingerprint, embedder.dimension))
    return chunks


def opened(here: Repository) -> Catalog:
    """Open the catalog, which is there."""
    catalog = Catalog.open(here.catalog)
    if catalog is None:
        raise KnowError(f"{here.root}: no catalog")
    return catalog


def asked() -> str:
    """Return a query in words: some that are common, and one that one session alone has."""
    return f"{' '.join(Corpus().common(60)[50:53])} {needle(_ASKED)}"


def _milliseconds(spents: dict[str, list[Spent]], clock: Clock) -> dict[str, float]:
    return {name: 1000 * middle(some, clock) for name, some in spents.items()}


def _warm(here: Repository, embedder: Embedder, rounds: int) -> dict[str, list[Spent]]:
    query = asked()

    def in_catalog(ask: Callable[[Catalog], object]) -> Callable[[], Spent]:
        def work() -> None:
            with opened(here) as catalog:
                ask(catalog)

        return lambda: spent(work)

    only = Filter()
    works: dict[str, Callable[[], Spent]] = {
        "scan": lambda: spent(lambda: _scan(here, query)),
        "structured": in_catalog(lambda c: structured.ask(c, f"#{TAG}", only, most=_HITS)),
        "lexical": in_catalog(lambda c: search(here, c, query, only, words_only=True)),
        "semantic": in_catalog(lambda c: semantic(here, c, query, only, embedder)),
        "hybrid": lambda: spent(lambda: route.recall(here, query, embedder=embedder)),
    }
    in_turn(1, *works.values())  # the first ones find cold caches
    return dict(zip(works, in_turn(rounds, *works.values()), strict=True))


def _scan(here: Repository, query: str) -> list[str]:
    """Read and parse every file, and take those lines that hold any word of a query."""
    words = query.split()
    found = []
    for path in sorted(here.sessions.rglob("*.jsonl")):
        with path.open("rb") as stream:
            for line in stream:
                text = json.dumps(json.loads(line), ensure_ascii=False).lower()
                if any(word in text for word in words):
                    found.append(path.name)
    for path in sorted((here.root / "concepts").rglob("*.md")):
        text = path.read_text(encoding="utf-8").lower()
        if any(word in text for word in words):
            found.append(path.name)
    return found


def _cold(
    here: Repository, names: tuple[str, ...], rounds: int, program: str
) -> dict[str, list[Spent]]:
    recall = ["-m", "knowrepo", "recall", "--quiet"]
    commands = {
        "typer": [program],
        "structured": [*recall, f"#{TAG}"],
        "lexical": [*recall, asked()],
        "hybrid": [*recall, asked()],
    }

    def work(name: str) -> Callable[[], Spent]:
        return lambda: in_process(commands[name], here.root)

    works = [work(name) for name in names]
    in_turn(1, *works)
    return dict(zip(names, in_turn(rounds, *works), strict=True))
