"""Pulling vectors: fetching packs, checking them, and adding what is not here yet.

Owns which packs are opened and which of their rows are used. A pack that is new is
taken whole, for the branch that needs it may come later; one that was seen before
only where the catalog lacks what it holds. Where sessions were forgotten, only texts
that are still somewhere in this clone are taken.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from knowrepo.git import remotes
from knowrepo.git.layout import Repository
from knowrepo.index import Progress
from knowrepo.index.catalog import Catalog, told
from knowrepo.index.vectors import Packed, Row, VectorStore
from knowrepo.index.vectors.packed import digests
from knowrepo.sessions.forget import TOMBSTONE
from knowrepo.sharing.held import anywhere
from knowrepo.sharing.objects import Ref
from knowrepo.sharing.push import changing
from knowrepo.sharing.shelf import LOOKS, Shelf, look

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

_ROWS = 50_000  # that are held until they become a segment


@dataclass(frozen=True)
class Pulled:
    """What was pulled, or would be: packs and their bytes, texts and vectors that were new.

    ``pending`` texts of the catalog have no vector afterwards. In a dry run
    ``unknown`` packs were not looked at, and may hold more. ``refused`` says of
    which packs nothing was used, and why; ``passed_over`` the same of those that
    were refused before.
    """

    remote: str
    fingerprint: str
    packs: int = 0
    size: int = 0
    texts: int = 0
    vectors: int = 0
    pending: int = 0
    unknown: int = 0
    refused: dict[str, str] = field(default_factory=dict)
    passed_over: dict[str, str] = field(default_factory=dict)


class Store:
    """The vectors here, and which texts they are of, kept up as rows are added."""

    def __init__(self, repository: Repository, fingerprint: str) -> None:
        self._vectors = VectorStore(repository.vectors, fingerprint)
        self.have = digests(self._vectors.packed_digests())
        self.dimension = self._vectors.dimension()
        self.texts = self.vectors = 0
        self._waiting: list[Row] = []

    def add(self, rows: Packed) -> None:
        """Take vectors of texts that have none here."""
        import numpy as np

        fresh = rows.of(self.have, but=True)
        self.have = np.union1d(self.have, fresh.digests)
        self.texts += len(fresh.texts())
        self.vectors += len(fresh)
        self._waiting += fresh.rows()
        if len(self._waiting) >= _ROWS:
            self.flush()

    def flush(self) -> None:
        """Publish what was taken as a segment."""
        rows, self._waiting = self._waiting, []
        self._vectors.add(rows)


def pull(
    shelf: Shelf, *, dry_run: bool = False, progress: Progress = lambda _done, _total: None
) -> Pulled:
    """Bring the vectors of a remote that are not here; raises KnowError where it cannot be asked.

    The catalog is to be current: what it lacks is what is looked for.
    """
    store = Store(shelf.repository, shelf.fingerprint)
    shelf.dimension = shelf.dimension or store.dimension
    texts = catalog_texts(shelf.repository)
    if dry_run:
        return _would_pull(shelf, store, texts)
    allowed = _allowed(shelf.repository)
    for _ in range(LOOKS):
        shelf.stock(look(shelf.repository, shelf.remote))
        wanted = [*shelf.unknown(), *_useful(shelf, _lacking(texts, store))]
        progress(0, len(wanted))
        try:
            for done, (_, rows) in enumerate(shelf.open(wanted), start=1):
                store.add(rows if allowed is None else rows.of(allowed))
                progress(done, len(wanted))
        except remotes.GoneError:  # compacted meanwhile
            continue
        finally:
            store.flush()
        break
    else:
        raise changing(shelf.remote)
    return _result(shelf, store, texts)


def catalog_texts(repository: Repository) -> npt.NDArray[np.bytes_]:
    """Return the texts that the catalog of this work tree has, in order."""
    catalog = Catalog.open(repository.catalog)
    if catalog is None:
        return digests(b"")
    with told(repository.catalog), catalog:
        return digests(catalog.text_digests())


def _result(
    shelf: Shelf, store: Store, texts: npt.NDArray[np.bytes_], *, unknown: int = 0
) -> Pulled:
    return Pulled(
        remotes.shown(shelf.remote),
        shelf.fingerprint,
        packs=shelf.fetched,
        size=shelf.size,
        texts=store.texts,
        vectors=store.vectors,
        pending=len(_lacking(texts, store)),
        unknown=unknown,
        refused=dict(shelf.refused),
        passed_over=dict(shelf.passed_over),
    )


def _lacking(texts: npt.NDArray[np.bytes_], store: Store) -> npt.NDArray[np.bytes_]:
    import numpy as np

    return np.setdiff1d(texts, store.have)


def _useful(shelf: Shelf, lacking: npt.NDArray[np.bytes_]) -> Sequence[Ref]:
    """Return the packs seen before that hold something that is lacking now."""
    import numpy as np

    found: list[Ref] = []
    for one in shelf.packs:
        own = shelf.texts_in(one)
        if own is not None and np.any(np.isin(lacking, own)):
            found.append(one)
            lacking = np.setdiff1d(lacking, own)
    return found


def _allowed(repository: Repository) -> npt.NDArray[np.bytes_] | None:
    """Return the texts that may come where sessions were forgotten; None for all."""
    if next(repository.sessions.rglob(f"*{TOMBSTONE}"), None) is None:
        return None
    return anywhere(repository).texts


def _would_pull(shelf: Shelf, store: Store, texts: npt.NDArray[np.bytes_]) -> Pulled:
    import numpy as np

    shelf.stock(look(shelf.repository, shelf.remote), note=False)
    there = shelf.texts()
    store.texts = len(np.intersect1d(_lacking(texts, store), there))
    store.have = np.union1d(store.have, there)
    return _result(shelf, store, texts, unknown=len(shelf.unknown()))
