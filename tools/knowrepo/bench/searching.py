"""Exact search through the public store, against a matrix product by numpy."""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from knowrepo.bench.measured import Measured
from knowrepo.bench.place import Place, Spent, in_turn, middle, ratio, spent
from knowrepo.bench.sizes import Sizes
from knowrepo.index.vectors import VectorStore

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    Matrix = npt.NDArray[np.float32]

MOST = 3.5
_BATCH = 10_000
_NEAREST = 50
_IDLE = 0.1  # seconds: the threads of a product turn in place for a while after it


def measure(place: Place, sizes: Sizes) -> Iterator[Measured]:
    """Search one matrix in both ways, in turn; then larger ones."""
    steps = [_at(place, sizes, rows) for rows in sizes.vectors]
    first = steps[0]
    yield Measured(
        f"exact search of {first['rows']:,} x {sizes.dimension} against numpy",
        first["ratio"],
        "times",
        f"the nearest {_NEAREST} of all texts by a search without a filter, over matrix @ query",
        most=MOST,
        details={"steps": steps},
    )
    yield Measured(
        "exact search: answers that differ from numpy's",
        float(sum(step["differing"] for step in steps)),
        "texts",
        "of the nearest; vectors are kept as float16, so equals may change places",
        most=0,
    )


def _at(place: Place, sizes: Sizes, rows: int) -> dict[str, Any]:
    import numpy as np

    generator = np.random.default_rng(rows)
    names = [f"{number:032x}" for number in range(rows)]
    matrix = np.empty((rows, sizes.dimension), dtype=np.float32)
    store = VectorStore(place.folder / f"vectors-{rows}", "bench")

    def load() -> None:
        for start in range(0, rows, _BATCH):
            part = matrix[start : start + _BATCH]
            part[:] = generator.standard_normal(part.shape, dtype=np.float32)
            part /= np.linalg.norm(part, axis=1, keepdims=True)
            part[:] = part.astype(np.float16)  # as they are kept
            store.add([(names[start + i], 0, vector) for i, vector in enumerate(part)])

    loading = spent(load)
    query = matrix[rows // 2] + generator.standard_normal(sizes.dimension, dtype=np.float32) * 0.02
    query /= np.float32(np.linalg.norm(query))

    def search() -> list[tuple[str, float]]:
        with store.ranked(query) as ranking:
            return next(ranking.batches())[:_NEAREST]

    def product() -> Spent:
        took = spent(lambda: matrix @ query)
        time.sleep(_IDLE)
        return took

    found = search()
    best = np.argsort(-(matrix @ query), kind="stable")[:_NEAREST]
    products, ours = in_turn(sizes.searches, product, lambda: spent(search))
    return {
        "rows": rows,
        "ratio": ratio(ours, products, "wall"),
        "search_seconds": middle(ours, "wall"),
        "search_cpu_seconds": middle(ours),
        "numpy_seconds": middle(products, "wall"),
        "load_seconds": loading.wall,
        "bytes": sum(path.stat().st_size for path in store.folder.iterdir()),
        "differing": len({names[index] for index in best} - {name for name, _ in found}),
    }
