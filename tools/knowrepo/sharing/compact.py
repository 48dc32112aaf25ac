"""Keeping the packs of a remote few, and free of what was forgotten.

Owns which packs are replaced by one, and the order: the new pack is on the remote
before any that it stands for goes. Whoever does the same at the same time leaves a
pack too many at worst, never a vector too few.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from knowrepo.git import remotes
from knowrepo.index.vectors.packed import joined
from knowrepo.sharing import objects, pack
from knowrepo.sharing.objects import Ref
from knowrepo.sharing.publish import publish, withdraw
from knowrepo.sharing.shelf import Shelf

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    from knowrepo.sharing.held import Held

MOST_PACKS = 8
"""Small packs of a remote that are left as they are; each is a ref that everybody lists."""


@dataclass(frozen=True)
class Compacted:
    """What was done: packs that went, those that stand for them; ``kept`` says why none went."""

    gone: int = 0
    made: tuple[Ref, ...] = ()
    kept: str = ""


def plan(texts: Mapping[str, int], full: int) -> list[str]:
    """Return which packs become one, by how many texts each has.

    The smallest, while the next is not much larger than all of them: so each vector
    is rewritten about as often as their number doubles.
    """
    small = sorted((number, name) for name, number in texts.items() if number < full // 2)
    if len(small) <= MOST_PACKS:
        return []
    taken: list[str] = []
    total = 0
    for at, (number, name) in enumerate(small):
        few = len(small) - at < MOST_PACKS // 2
        if total + number > full or (len(taken) > 1 and few and number > 2 * total):
            break
        taken.append(name)
        total += number
    return taken if len(taken) > 1 else []


def compact(shelf: Shelf) -> Compacted:
    """Replace small packs by one, where there are many."""
    numbers = {}
    for one in shelf.packs:
        texts = shelf.texts_in(one)
        if texts is not None:
            numbers[one.name] = len(texts)
    if not shelf.dimension:
        return Compacted()
    names = plan(numbers, pack.capacity(shelf.dimension) * 3 // 4)
    return _replace(shelf, [one for one in shelf.packs if one.name in names])


def purge(shelf: Shelf, held: Held) -> Compacted:
    """Rewrite packs without the texts that nothing on the remote holds, where some were forgotten.

    It is done once for the tombstones that there are: else every change of a
    concept would have its pack rewritten. It is not done where this clone cannot
    see all that the remote holds.
    """
    if not held.tombstones or shelf.known.heeded(shelf.remote) == held.tombstones:
        return Compacted()
    stale = [one for one in shelf.packs if _has_other(shelf, one, held.texts)]
    if stale and not held.complete:
        return Compacted(kept="this clone has not all that the remote's branches hold")
    done = _replace(shelf, stale, only=held.texts) if stale else Compacted()
    if not done.kept:
        shelf.known.heed(shelf.remote, held.tombstones)
    return done


def _has_other(shelf: Shelf, one: Ref, texts: npt.NDArray[np.bytes_]) -> bool:
    import numpy as np

    own = shelf.texts_in(one)
    return own is not None and bool(np.any(np.isin(own, texts, invert=True)))


def _replace(
    shelf: Shelf, packs: Sequence[Ref], *, only: npt.NDArray[np.bytes_] | None = None
) -> Compacted:
    try:
        opened = list(shelf.open(packs))
    except remotes.GoneError:  # another machine is at it just now
        return Compacted(kept="another machine is replacing them")
    if not opened:
        return Compacted()
    rows = joined([rows for _, rows in opened])
    if only is not None:
        rows = rows.of(only)
    made = []
    for some in pack.cut(rows):
        one = objects.write(
            shelf.repository, shelf.fingerprint, pack.encode(shelf.fingerprint, some)
        )
        shelf.known.note(one.name, some.texts())
        made.append(one)
    names = {one.name for one in made}
    old = [one for one, _ in opened if one.name not in names]
    publish(shelf, made)
    kept = withdraw(shelf, old)
    gone = set() if kept else {one.name for one in old}
    stay = [one for one in shelf.packs if one.name not in gone | names]
    shelf.packs = tuple(sorted([*stay, *made], key=lambda one: one.ref))
    return Compacted(0 if kept else len(old), tuple(made), kept)
