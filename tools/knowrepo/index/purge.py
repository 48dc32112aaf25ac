"""Taking documents that are to be forgotten out of everything that is derived.

Owns the order: what their texts were is asked before they go. The catalog is
then built anew, for a database keeps what was deleted in its free pages; the
vectors go from every table of vectors, unless another document has the text.
"""

from __future__ import annotations

from collections.abc import Sequence

from knowrepo.git.layout import Repository
from knowrepo.index.build import discard, refresh
from knowrepo.index.catalog import Catalog


def texts_of(repository: Repository, paths: Sequence[str]) -> set[str]:
    """Return the text hashes of the sessions at ``paths``, relative to the root."""
    refresh(repository)
    catalog = Catalog.open(repository.catalog)
    if catalog is None:
        return set()
    with catalog:
        return set(catalog.hashes_of([path.removesuffix(".jsonl") for path in paths]))


def purge(repository: Repository, texts: set[str]) -> int:
    """Build the catalog anew and remove the vectors of ``texts``; returns how many went.

    Call it when the documents are gone from the work tree.
    """
    discard(repository)
    refresh(repository)
    catalog = Catalog.open(repository.catalog)
    if catalog is None:
        return 0
    with catalog:
        gone = texts - set(catalog.text_hashes())
    if not gone or not repository.vectors.is_dir():
        return 0
    from knowrepo.index.vectors import VectorStore  # duckdb takes its time

    tables = [folder for folder in repository.vectors.iterdir() if folder.is_dir()]
    return sum(VectorStore(repository.vectors, table.name).remove(gone) for table in tables)
