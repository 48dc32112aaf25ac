"""How many texts of a catalog have no vector, and remembering that none lacks one.

Owns what `pending` means in every command, and the note that a catalog keeps for
each fingerprint: which texts it held, and what lay in the folder of vectors, when
nothing was left to embed. Where the note holds, the vectors are not opened. One
that is lost, or fits no more, costs a full look. No model is opened.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
from pathlib import Path
from typing import TYPE_CHECKING

from knowrepo.errors import KnowError
from knowrepo.git.layout import Repository
from knowrepo.index.catalog import EMBEDDED, TEXTS, Catalog, SQLiteError

if TYPE_CHECKING:
    from knowrepo.index.vectors import VectorStore

_PASSING = (".lock", ".tmp")
_DIGEST = 16  # bytes of a text hash


def number_of_texts(catalog: Catalog) -> int:
    """Return how many distinct texts the chunks of a catalog have."""
    return len(catalog.text_digests()) // _DIGEST


def pending(repository: Repository, catalog: Catalog, store: VectorStore) -> int:
    """Return how many texts of a catalog have no vector in a table.

    Raises KnowError where the vectors cannot be read.
    """
    if store.is_empty():
        return number_of_texts(catalog)
    if is_noted(repository, catalog, store.folder.name):
        return 0
    return store.lacking(catalog.text_digests())


def present(repository: Repository, fingerprint: str) -> str:
    """Return what there is now, texts and vectors; empty where the catalog has no say.

    Take it before a look at what has no vector: what comes or goes later differs from it.
    """
    return _named(repository, fingerprint, _read(repository, TEXTS))


def all_embedded(repository: Repository, fingerprint: str) -> bool:
    """Say whether it was noted that these very texts have vectors, and these are as they were."""
    noted = _read(repository, EMBEDDED + fingerprint)
    return bool(noted) and noted == present(repository, fingerprint)


def is_noted(repository: Repository, catalog: Catalog, fingerprint: str) -> bool:
    """Say the same of a catalog that is open."""
    noted = catalog.meta(EMBEDDED + fingerprint)
    return bool(noted) and noted == _named(repository, fingerprint, catalog.meta(TEXTS))


def note_all_embedded(repository: Repository, fingerprint: str, state: str) -> None:
    """Note that a look at ``state``, see `present`, found a vector for every text.

    Where another process is writing the catalog, nothing is noted.
    """
    if not state:
        return
    from filelock import FileLock, Timeout

    with (
        contextlib.suppress(Timeout, OSError, KnowError, SQLiteError),
        FileLock(repository.locks / "catalog.lock", timeout=0),
        Catalog.create(repository.catalog) as catalog,
        catalog.transaction(),
    ):
        catalog.set_meta(EMBEDDED + fingerprint, state)


def _read(repository: Repository, key: str) -> str:
    catalog = Catalog.open(repository.catalog)
    if catalog is None:
        return ""
    with catalog:
        try:
            return catalog.meta(key)
        except SQLiteError:
            return ""


def _named(repository: Repository, fingerprint: str, texts: str) -> str:
    return f"{texts} {_state_of(repository.vectors / fingerprint)}" if texts else ""


def _state_of(folder: Path) -> str:
    """Return a digest of the names, sizes and times of a folder's files."""
    try:
        with os.scandir(folder) as entries:
            found = sorted(
                (entry.name, (stat := entry.stat()).st_size, stat.st_mtime_ns)
                for entry in entries
                if entry.name != "lock" and not entry.name.endswith(_PASSING)
            )
    except OSError:
        return ""
    return hashlib.blake2b(repr(found).encode("utf-8", "replace"), digest_size=16).hexdigest()
