"""The measurements of the index, in the order in which they are made."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from dataclasses import replace

from knowrepo.bench import (
    appending,
    cataloging,
    embedding,
    idle,
    memory,
    reading,
    searching,
    structured,
)
from knowrepo.bench.measured import Measured
from knowrepo.bench.place import Place, prepared
from knowrepo.bench.sizes import LARGE, Sizes
from knowrepo.errors import UsageError

Say = Callable[[str], None]

MEASUREMENTS: dict[str, Callable[[Place, Sizes], Iterator[Measured]]] = {
    "embedding": embedding.measure,
    "appending": appending.measure,
    "cataloging": cataloging.measure,
    "idle": idle.measure,
    "searching": searching.measure,
    "reading": reading.measure,
    "structured": structured.measure,
    "memory": memory.measure,
}


def measure(
    sizes: Sizes,
    *,
    only: Collection[str] = (),
    model: str = "",
    large: bool = False,
    say: Say = lambda _: None,
) -> Iterator[Measured]:
    """Make all measurements, or some; each figure is given as soon as it is there."""
    unknown = sorted(set(only) - set(MEASUREMENTS))
    if unknown:
        raise UsageError(
            f"--only {unknown[0]}: no measurement", hint=f"there are {', '.join(MEASUREMENTS)}"
        )
    if large:
        sizes = replace(sizes, vectors=LARGE)
    with prepared(model) as place:
        if place.model is None:
            say("there is no model (`know model pull`): what needs one is left out")
        for name, work in MEASUREMENTS.items():
            if not only or name in only:
                say(f"measuring: {name}")
                yield from work(place, sizes)
