"""Embedding what has no vector yet, as a part of ``know index``."""

from __future__ import annotations

from typing import TYPE_CHECKING

from knowrepo.cli.common import progress, say, show
from knowrepo.errors import KnowError

if TYPE_CHECKING:
    from knowrepo.git.layout import Repository
    from knowrepo.index.vectors import VectorStore


def embed(here: Repository, threads: int, *, quiet: bool) -> None:
    """Embed the texts of the catalog that have no vector, or say why not."""
    from knowrepo.index import embed, models

    model = models.current()
    if model is None:
        say("no vectors: there is no model; `know model pull` brings one")
        return
    lacking = embed.lacking(model)
    if lacking:
        say(f"no vectors: {lacking}")
        return
    from filelock import FileLock, Timeout

    from knowrepo.index.fill import embed as embed_texts
    from knowrepo.index.vectors import VectorStore

    store = VectorStore(here.vectors, embed.fingerprint(model))
    for one in store.check():
        say(f"{store.folder / one.name}: set aside ({one.why}); what it held is embedded anew")
    waiting = _waiting(here, store)
    if waiting:
        try:
            store.folder.mkdir(parents=True, exist_ok=True)
            with FileLock(store.folder / "embedding.lock", timeout=0):
                embedder = embed.open_embedder(model, threads=threads)
                with progress("embedding", quiet=quiet) as tell:
                    embed_texts(waiting, store, embedder, progress=tell)
        except Timeout:
            say("another process is embedding for this repository; run this again when it is done")
            return
        except OSError as error:
            raise KnowError(
                f"{error.filename or store.folder}: cannot be written: {error.strerror}",
                hint="make the git directory writable, and free some space",
            ) from error
    show(f"vectors: {len(waiting)} texts embedded")


def _waiting(here: Repository, store: VectorStore) -> list[tuple[str, str]]:
    """Return the texts without a vector; a catalog that is damaged is built anew first."""
    from knowrepo.index.build import discard, refresh
    from knowrepo.index.catalog import Catalog, DamagedError, told
    from knowrepo.index.fill import pending_texts

    for _ in range(2):
        catalog = Catalog.open(here.catalog)
        if catalog is None:
            break
        try:
            with told(here.catalog), catalog:
                return pending_texts(catalog, store)
        except DamagedError as error:
            say(f"{error.message}; it is built anew")
            discard(here)
            refresh(here, wait=5.0)
    raise KnowError(f"{here.catalog}: the catalog is gone", hint="run `know index` again")
