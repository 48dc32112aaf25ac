"""Embedding what has no vector yet, as a part of ``know index``."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import TYPE_CHECKING

from knowrepo.cli.common import progress, say, show
from knowrepo.errors import KnowError

if TYPE_CHECKING:
    from knowrepo.git.layout import Repository
    from knowrepo.index import Progress
    from knowrepo.index.fill import Pending
    from knowrepo.index.models import Model
    from knowrepo.index.vectors import VectorStore

_WORTH_SAYING = 10.0  # seconds that are still to go
_MANY = 500  # texts: about a minute


def embed(here: Repository, threads: int, *, quiet: bool) -> int | None:
    """Embed the texts of the catalog that have no vector, or say why not.

    Returns how many were embedded; None where that is not for this process to do now.
    """
    from knowrepo.index import embed, models

    model = models.current()
    remark = (lambda _: None) if quiet else say
    if model is None:
        remark("no vectors: there is no model; `know model pull` brings one")
        return None
    lacking = embed.lacking(model)
    if lacking:
        remark(f"no vectors: {lacking}")
        return None
    from knowrepo.index import embedded

    fingerprint = embed.fingerprint(model)
    if embedded.all_embedded(here, fingerprint):
        show("vectors: 0 texts embedded")
        return 0
    from filelock import FileLock, Timeout

    from knowrepo.index.vectors import VectorStore

    store = VectorStore(here.vectors, fingerprint)
    for one in store.check():
        say(f"{store.folder / one.name}: set aside ({one.why}); what it held is embedded anew")
    state, waiting = _look(here, store)
    done = 0
    if waiting:
        try:
            store.folder.mkdir(parents=True, exist_ok=True)
            with FileLock(store.folder / "embedding.lock", timeout=0):
                done = _embed(here, waiting, store, model, threads, quiet=quiet)
        except Timeout:
            remark(
                "another process is embedding for this repository; run this again when it is done"
            )
            return None
        except OSError as error:
            raise KnowError(
                f"{error.filename or store.folder}: cannot be written: {error.strerror}",
                hint="make the git directory writable, and free some space",
            ) from error
        # In hours much may come, and a recall set a damaged segment aside.
        state, waiting = _look(here, store)
    if not waiting:
        embedded.note_all_embedded(here, fingerprint, state)
    show(f"vectors: {done} texts embedded")
    return done


def _embed(
    here: Repository,
    waiting: Pending,
    store: VectorStore,
    model: Model,
    threads: int,
    *,
    quiet: bool,
) -> int:
    """Embed what is waiting; whoever stops it is told that nothing of it is lost."""
    from knowrepo.index.embed import open_embedder
    from knowrepo.index.fill import embed as embed_texts

    if not quiet and len(waiting) >= _MANY and not store.count():
        _tell_of_sharing(here)
    embedder = open_embedder(model, threads=threads, vectors=here.vectors)
    with progress("embedding", quiet=quiet) as bar, _stoppable(quiet=quiet):
        tell = bar if quiet else _estimating(bar, model.told)
        return embed_texts(waiting, store, embedder, progress=tell)


def _tell_of_sharing(here: Repository) -> None:
    """Say where a clone has its first vectors from, if it has a remote; asks nobody."""
    from knowrepo.git import remotes

    with contextlib.suppress(KnowError):
        remote = remotes.default(here)
        say(
            f"no vectors are here yet: `know sync pull` brings those that others pushed to {remote}"
        )


@contextlib.contextmanager
def _stoppable(*, quiet: bool) -> Iterator[None]:
    """Let SIGTERM stop what is inside as ^C does, so that what is done is published."""
    import signal
    import threading

    def stop(_signal: int, _frame: object) -> None:
        raise KeyboardInterrupt

    in_main_thread = threading.current_thread() is threading.main_thread()
    before = signal.signal(signal.SIGTERM, stop) if in_main_thread else None
    try:
        yield
    except KeyboardInterrupt:
        if not quiet:
            say("stopped: `know index` goes on where it was")
        raise
    finally:
        if in_main_thread:
            signal.signal(signal.SIGTERM, before or signal.SIG_DFL)


def _estimating(bar: Progress, name: str) -> Progress:
    """Return what tells a bar, and says once how long it will take where nobody sees a bar."""
    import sys
    import time

    from knowrepo.index.fill import BATCH, SECONDS

    if sys.stderr.isatty():
        return bar
    began = time.monotonic()
    said = False

    def tell(done: int, total: int) -> None:
        nonlocal said
        taken = time.monotonic() - began
        if not said and (done >= BATCH or (done and taken > SECONDS)):
            said = True
            left = taken / done * (total - done)
            if left > _WORTH_SAYING:
                from knowrepo.units import duration

                say(
                    f"{total - done:,} of {total:,} texts are still to be embedded with {name}:"
                    f" about {duration(left)}, at {done / taken:.1f} a second"
                )
        bar(done, total)

    return tell


def _look(here: Repository, store: VectorStore) -> tuple[str, Pending]:
    """Return the present state, and what has no vector in it."""
    from knowrepo.index import embedded

    state = embedded.present(here, store.folder.name)
    return state, _waiting(here, store)


def _waiting(here: Repository, store: VectorStore) -> Pending:
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
