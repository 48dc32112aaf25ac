"""The most memory that indexing takes, as the operating system counts it."""

from __future__ import annotations

from collections.abc import Iterator

from knowrepo.bench.corpus import Corpus
from knowrepo.bench.measured import Measured
from knowrepo.bench.place import Place, Spent, in_process
from knowrepo.bench.sizes import Sizes
from knowrepo.index.catalog import Catalog

MOST = 600.0  # MB
_CHUNKS_A_SESSION = 20  # of forty records


def measure(place: Place, sizes: Sizes) -> Iterator[Measured]:
    """Index so many chunks without a model, then a part with it."""
    took, chunks = _indexed(place, sizes, sizes.memory_chunks, "knowrepo.bench.indexing", "")
    yield Measured(
        f"peak memory of indexing {sizes.memory_chunks:,} chunks",
        took.peak / 1e6, "MB", "catalog and vectors in one process, with vectors by hash",
        most=MOST, details={"chunks": chunks, "seconds": took.wall, "cpu_seconds": took.cpu},
    )  # fmt: skip
    if place.model is None:
        return
    took, chunks = _indexed(place, sizes, sizes.memory_texts, "knowrepo", "index")
    yield Measured(
        "peak memory of know index with the model",
        took.peak / 1e6, "MB", f"of the process that embeds {chunks:,} chunks",
        most=MOST,
        details={"chunks": chunks, "seconds": took.wall, "model": place.model.name},
    )  # fmt: skip


def _indexed(
    place: Place, sizes: Sizes, chunks: int, module: str, command: str
) -> tuple[Spent, int]:
    """Run an indexer in a process of its own; returns what it took, and how many chunks came."""
    here = place.repository("memory")
    sessions = max(1, chunks // _CHUNKS_A_SESSION)
    Corpus().write_sessions(here.sessions / "claude", sessions, sizes.records)
    took = in_process(["-m", module, command or str(here.root)], here.root)
    found = 0
    catalog = Catalog.open(here.catalog)
    if catalog is not None:
        with catalog:
            found = catalog.counts()["chunks"]
    place.drop("memory")
    return took, found
