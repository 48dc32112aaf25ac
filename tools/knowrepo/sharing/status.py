"""How this clone and a remote stand to each other: what each has, what would go where.

Owns these facts as one frozen value. The remote is listed and nothing is fetched, so
what a pack holds that was never looked at is not known.
"""

from __future__ import annotations

from dataclasses import dataclass

from knowrepo.git import remotes
from knowrepo.index import Progress
from knowrepo.index.vectors import VectorStore
from knowrepo.sharing import objects
from knowrepo.sharing.pull import Pulled, pull
from knowrepo.sharing.push import Pushed, push
from knowrepo.sharing.shelf import Shelf


@dataclass(frozen=True)
class Status:
    """Vectors of one fingerprint. Sizes are bytes.

    ``packs`` are on the remote, ``packs_size`` is what those of them take that are
    in this clone's objects, and ``packs_here`` how many these are.
    """

    remote: str
    fingerprint: str
    vectors: int
    vectors_size: int
    packs: int
    packs_here: int
    packs_size: int
    push: Pushed
    pull: Pulled


def status(shelf: Shelf, *, progress: Progress = lambda _done, _total: None) -> Status:
    """Look how things stand; changes nothing."""
    store = VectorStore(shelf.repository.vectors, shelf.fingerprint, only_look=True)
    pushed = push(shelf, dry_run=True, progress=progress)
    pulled = pull(shelf, dry_run=True)
    present = objects.whole(shelf.repository, shelf.packs)
    return Status(
        remotes.shown(shelf.remote),
        shelf.fingerprint,
        vectors=store.count(),
        vectors_size=sum(path.stat().st_size for path in store.segments()),
        packs=len(shelf.packs),
        packs_here=len(present),
        packs_size=objects.disk_size(shelf.repository, present),
        push=pushed,
        pull=pulled,
    )
