"""The packs of one fingerprint on one remote: which there are, and opening them.

Owns the way from a ref that a remote lists to vectors that may be used: fetch, read,
check, and remember which texts it holds. A pack that is refused counts as if it were
not there, and where that lies in the pack itself, it is never fetched again. Every
use of them is `push`'s, `pull`'s and `compact`'s.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from knowrepo.git import remotes
from knowrepo.git.layout import Repository
from knowrepo.index.vectors.packed import Packed
from knowrepo.sharing import objects, pack
from knowrepo.sharing.known import Known
from knowrepo.sharing.objects import Ref
from knowrepo.sharing.pack import RefusedError

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

LOOKS = 5
"""How often a remote is listed again where packs were replaced meanwhile."""


@dataclass(frozen=True)
class Listing:
    """What a remote has: the tips of branches and tags, and packs by their fingerprint."""

    tips: Mapping[str, str]
    packs: Mapping[str, tuple[Ref, ...]]

    @property
    def branches(self) -> dict[str, str]:
        """The tips of its branches."""
        return {ref: oid for ref, oid in self.tips.items() if ref.startswith("refs/heads/")}


def look(repository: Repository, remote: str) -> Listing:
    """Ask a remote what it has; fetches nothing."""
    found = remotes.listing(
        repository, remote, "refs/heads/*", "refs/tags/*", f"{objects.REFS}/*"
    )  # fmt: skip
    packs: dict[str, list[Ref]] = {}
    for ref, oid in sorted(found.items()):
        one = objects.parsed(ref, oid)
        if one is not None:
            packs.setdefault(one.fingerprint, []).append(one)
    tips = {r: oid for r, oid in found.items() if r.startswith(("refs/heads/", "refs/tags/"))}
    return Listing(tips, {name: tuple(some) for name, some in packs.items()})


def _silent(_line: str) -> None: ...


@dataclass
class Shelf:
    """The packs of ``fingerprint`` on ``remote``.

    ``check`` raises RefusedError for vectors that are not to be used. ``refused``
    says why of each pack that was refused in this run, ``passed_over`` of those that
    were before. ``dimension`` is that of the model or of the vectors here, 0 where
    neither is known; ``fetched`` counts packs, ``size`` their bytes. ``tell`` is given
    the words of servers and helpers.
    """

    repository: Repository
    remote: str
    fingerprint: str
    check: Callable[[Packed], None]
    dimension: int = 0
    tell: Callable[[str], None] = _silent
    packs: tuple[Ref, ...] = ()
    refused: dict[str, str] = field(default_factory=dict)
    passed_over: dict[str, str] = field(default_factory=dict)
    fetched: int = 0
    size: int = 0

    def __post_init__(self) -> None:
        """Open what is known of packs."""
        self.known = Known(self.repository, self.fingerprint)

    def stock(self, listing: Listing, *, note: bool = True) -> None:
        """Take the packs that a remote lists now; without ``note`` nothing is written."""
        self.packs = listing.packs.get(self.fingerprint, ())
        self.passed_over = {
            one.name: why
            for one in self.packs
            if one.name not in self.refused and (why := self.known.refusal(one))
        }
        if note:
            self.known.listed(self.remote, [one.name for one in self.packs])

    def unknown(self) -> list[Ref]:
        """Return the packs that were never looked at."""
        return [
            one
            for one in self.packs
            if not self._is_refused(one) and self.known.texts(one.name) is None
        ]

    def texts_in(self, one: Ref) -> npt.NDArray[np.bytes_] | None:
        """Return the texts of a pack, in order; None where it was not looked at, or is refused."""
        return None if self._is_refused(one) else self.known.texts(one.name)

    def texts(self) -> npt.NDArray[np.bytes_]:
        """Return the texts of all packs that are known, in order."""
        import numpy as np

        found = [some for some in map(self.texts_in, self.packs) if some is not None]
        return np.unique(np.concatenate(found)) if found else np.empty(0, "S16")

    def open(self, packs: Sequence[Ref]) -> Iterator[tuple[Ref, Packed]]:
        """Yield the vectors of some packs, each checked; those that are refused are left out.

        Raises GoneError where one is no longer on the remote.
        """
        wanted = [one for one in packs if not self._is_refused(one)]
        here = objects.whole(self.repository, wanted)
        absent = [one for one in wanted if one not in here]
        absent = self._fetched(absent)
        self.fetched += len(absent)
        self.size += objects.disk_size(self.repository, absent)
        for one in wanted:
            if self._is_refused(one):
                continue
            try:
                rows = self._read(one)
            except RefusedError as error:
                self._refuse(one, error)
                continue
            self.dimension = rows.dimension
            self.known.note(one.name, rows.texts())
            yield one, rows

    def _is_refused(self, one: Ref) -> bool:
        return one.name in self.refused or one.name in self.passed_over

    def _refuse(self, one: Ref, error: RefusedError) -> None:
        self.refused[one.name] = str(error)
        if error.lasting:
            self.known.refuse(one, str(error))

    def _fetched(self, packs: Sequence[Ref]) -> list[Ref]:
        """Fetch packs, all at once; where git does not take them so, by halves."""
        try:
            remotes.fetch(
                self.repository, self.remote, [one.ref for one in packs],
                largest=pack.READ_BYTES, tell=self.tell,
            )  # fmt: skip
        except remotes.BrokenError as error:
            if len(packs) > 1:
                half = len(packs) // 2
                return [*self._fetched(packs[:half]), *self._fetched(packs[half:])]
            self._refuse(packs[0], RefusedError(f"git does not take it ({error.message})"))
            return []
        return list(packs)

    def _read(self, one: Ref) -> Packed:
        rows = pack.decode(objects.read(self.repository, one), self.fingerprint, self.dimension)
        if self.known.texts(one.name) is None:  # else it was found good, and names are hashes
            self.check(rows)
        return rows
