"""A process that indexes a repository, with vectors by hash: `python -m knowrepo.bench.indexing`.

What it needs is measured from outside, so it imports nothing that the real one does not.
"""

from __future__ import annotations

import sys
from pathlib import Path


def main(arguments: list[str]) -> int:
    """Index the repository that the first argument names, in full."""
    from knowrepo.bench.standin import StandIn
    from knowrepo.git.layout import repository_at
    from knowrepo.index import fill
    from knowrepo.index.build import refresh
    from knowrepo.index.catalog import Catalog
    from knowrepo.index.vectors import VectorStore

    here = repository_at(Path(arguments[0]))
    # A recall that brings the catalog up for a moment may hold it when this begins.
    while (done := refresh(here, wait=60.0)).busy or done.behind:
        pass
    embedder = StandIn()
    store = VectorStore(here.vectors, embedder.fingerprint)
    catalog = Catalog.open(here.catalog)
    if catalog is None:
        return 1
    with catalog:
        waiting = fill.pending_texts(catalog, store)
    fill.embed(waiting, store, embedder)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
