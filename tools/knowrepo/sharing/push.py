"""Pushing vectors: those of texts that the remote has, and whose vectors it lacks.

Owns which vectors go, and the order: what the remote holds is asked first, then what
its packs hold, then one push of new refs, then compaction.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from knowrepo.errors import KnowError
from knowrepo.git import remotes
from knowrepo.index import Progress
from knowrepo.index.vectors import Packed, VectorStore
from knowrepo.index.vectors.packed import digests, hexes
from knowrepo.sharing import objects, pack
from knowrepo.sharing.compact import MOST_PACKS, Compacted, compact, purge
from knowrepo.sharing.held import Held, held
from knowrepo.sharing.objects import Ref
from knowrepo.sharing.publish import publish
from knowrepo.sharing.shelf import LOOKS, Listing, Shelf, look

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt


@dataclass(frozen=True)
class Pushed:
    """What was pushed, or would be: packs, texts, vectors and their bytes, compressed.

    ``compacted`` packs were replaced by others. ``fetched`` packs were brought to
    see what they hold. ``unknown`` packs were not looked at, in a dry run. ``refused``
    and ``passed_over`` are those of `Pulled`.
    """

    remote: str
    fingerprint: str
    packs: int = 0
    texts: int = 0
    vectors: int = 0
    size: int = 0
    compacted: int = 0
    fetched: int = 0
    unknown: int = 0
    refused: dict[str, str] = field(default_factory=dict)
    passed_over: dict[str, str] = field(default_factory=dict)
    notes: tuple[str, ...] = ()


def push(
    shelf: Shelf, *, dry_run: bool = False, progress: Progress = lambda _done, _total: None
) -> Pushed:
    """Push the vectors that a remote may have and lacks; raises KnowError where it refuses them."""
    import numpy as np

    store = VectorStore(shelf.repository.vectors, shelf.fingerprint)
    shelf.dimension = shelf.dimension or store.dimension()
    if dry_run:
        listing = look(shelf.repository, shelf.remote)
        shelf.stock(listing, note=False)
    else:
        listing = _stock(shelf)
    ours = _unshared(store, shelf)
    there, absent = _pushed_texts(shelf, listing, ours, progress)
    texts = np.intersect1d(ours, there.texts)
    notes = [_ABSENT.format(absent=absent, remote=remotes.shown(shelf.remote))] if absent else []
    if dry_run:
        return _would_push(shelf, store, texts, notes)
    packs, vectors = _made(shelf, store, texts)
    publish(shelf, packs)
    shelf.packs = tuple({one.ref: one for one in (*shelf.packs, *packs)}.values())
    changes = [purge(shelf, there), compact(shelf)]
    shelf.known.listed(shelf.remote, [one.name for one in shelf.packs])
    return Pushed(
        remotes.shown(shelf.remote),
        shelf.fingerprint,
        packs=len(packs),
        texts=len(texts),
        vectors=vectors,
        size=objects.disk_size(shelf.repository, packs),
        compacted=sum(one.gone for one in changes),
        fetched=shelf.fetched,
        refused=dict(shelf.refused),
        passed_over=dict(shelf.passed_over),
        notes=(*notes, *_said(changes)),
    )


_ABSENT = (
    "{absent} of {remote}'s branches are not in this clone, so what only they hold is not pushed"
)


def _unshared(store: VectorStore, shelf: Shelf) -> npt.NDArray[np.bytes_]:
    """Return the texts whose vectors are here and in no pack of the remote."""
    import numpy as np

    return np.setdiff1d(digests(store.packed_digests()), shelf.texts())


def _pushed_texts(
    shelf: Shelf, listing: Listing, wanted: npt.NDArray[np.bytes_], progress: Progress
) -> tuple[Held, int]:
    """Return the texts that a remote's branches and tags hold, and how many branches we lack."""
    here = remotes.present(shelf.repository, set(listing.tips.values()))
    absent = sum(oid not in here for oid in listing.branches.values())
    heeded = shelf.known.heeded(shelf.remote)
    found = held(
        shelf.repository, sorted(here), wanted=wanted, heeded=heeded, progress=progress
    )  # fmt: skip
    return replace(found, complete=found.complete and not absent), absent


def _packs_of(
    store: VectorStore, texts: npt.NDArray[np.bytes_], dimension: int
) -> Iterator[Packed]:
    """Yield the vectors of some texts in as many packs as they need."""
    if not len(texts):
        return
    step = pack.capacity(dimension) * 3 // 4  # some texts have several parts
    for at in range(0, len(texts), step):
        rows = store.packed(hexes(texts[at : at + step]))
        if len(rows):
            yield from pack.cut(rows)


def _fetch_tips(shelf: Shelf, listing: Listing) -> None:
    """Bring the branches that are not here; a shallow clone stays as shallow as it is."""
    if (shelf.repository.common_dir / "shallow").is_file():
        return
    branches = listing.branches
    here = remotes.present(shelf.repository, set(branches.values()))
    absent = [ref for ref, oid in branches.items() if oid not in here]
    remotes.fetch(shelf.repository, shelf.remote, absent, whole=False, tell=shelf.tell)


def _stock(shelf: Shelf) -> Listing:
    """Bring the branches and look into the packs that are new to us; returns what there is."""
    for _ in range(LOOKS):
        listing = look(shelf.repository, shelf.remote)
        shelf.stock(listing)
        try:
            _fetch_tips(shelf, listing)
            for _opened in shelf.open(shelf.unknown()):
                pass
        except remotes.GoneError:  # a branch was deleted, or packs compacted, meanwhile
            continue
        return listing
    raise changing(shelf.remote)


def changing(remote: str) -> KnowError:
    """Return the error where the packs of a remote do not stay long enough to be fetched."""
    return KnowError(
        f"{remotes.shown(remote)}: its packs change faster than they can be fetched",
        hint="run the command again",
    )


def _made(shelf: Shelf, store: VectorStore, texts: npt.NDArray[np.bytes_]) -> tuple[list[Ref], int]:
    packs: list[Ref] = []
    vectors = 0
    for rows in _packs_of(store, texts, shelf.dimension):
        one = objects.write(
            shelf.repository, shelf.fingerprint, pack.encode(shelf.fingerprint, rows)
        )
        shelf.known.note(one.name, rows.texts())
        packs.append(one)
        vectors += len(rows)
    return packs, vectors


def _would_push(
    shelf: Shelf, store: VectorStore, texts: npt.NDArray[np.bytes_], notes: list[str]
) -> Pushed:
    import zlib

    packs = vectors = size = 0
    for rows in _packs_of(store, texts, shelf.dimension):
        packs += 1
        vectors += len(rows)
        size += len(zlib.compress(pack.encode(shelf.fingerprint, rows)))
    return Pushed(
        remotes.shown(shelf.remote), shelf.fingerprint, packs, len(texts), vectors, size,
        unknown=len(shelf.unknown()), passed_over=dict(shelf.passed_over), notes=tuple(notes),
    )  # fmt: skip


def _said(changes: list[Compacted]) -> Iterator[str]:
    purged, compacted = changes
    if purged.kept:
        yield f"packs with vectors of forgotten texts are still on the remote: {purged.kept}"
    if compacted.kept:
        yield f"more than {MOST_PACKS} small packs are on the remote: {compacted.kept}"
