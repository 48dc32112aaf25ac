"""The catalog of generated sessions, against reading their lines with ``json.loads``."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

from knowrepo.bench.corpus import Corpus
from knowrepo.bench.measured import Measured
from knowrepo.bench.place import Place, Spent, in_turn, middle, ratio, spent
from knowrepo.bench.sizes import Sizes
from knowrepo.index.build import refresh
from knowrepo.index.catalog import Catalog

MOST = 5.0


def measure(place: Place, sizes: Sizes) -> Iterator[Measured]:
    """Index the sessions anew and read them, in turn."""
    here = place.repository("cataloging")
    paths = Corpus().write_sessions(here.sessions / "claude", sizes.sessions, sizes.records)

    def index() -> Spent:
        Catalog.discard(here.catalog)
        return spent(lambda: refresh(here))

    # The first of each finds cold caches, and is left out.
    ours, loads = (
        spents[1:]
        for spents in in_turn(sizes.rounds + 1, index, lambda: spent(lambda: _read(paths)))
    )
    catalog = Catalog.open(here.catalog)
    counts: dict[str, int] = {}
    if catalog is not None:
        with catalog:
            counts = catalog.counts()
    place.drop("cataloging")
    yield Measured(
        "catalog against json.loads",
        ratio(ours, loads, "wall"),
        "times",
        "time that a new catalog takes, over that of reading the same lines with json.loads",
        most=MOST,
        details={
            **counts,
            "catalog_seconds": middle(ours, "wall"),
            "loads_seconds": middle(loads, "wall"),
            "cpu_ratio": ratio(ours, loads),
        },
    )


def _read(paths: list[Path]) -> None:
    for path in paths:
        with path.open("rb") as stream:
            for line in stream:
                json.loads(line)
