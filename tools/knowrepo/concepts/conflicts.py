"""What of the bundle a merge left in conflict: whose it is to decide.

Owns the question, for each `index.md` of which git holds several versions, whether it
is generated, and so follows from the concepts, or a person has to decide, and what git
asks of a file that is on one side only. The tag index is always ours. Nothing is
written here.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

from knowrepo.concepts import tags
from knowrepo.concepts.model import FOLDER
from knowrepo.git import plumbing
from knowrepo.git.layout import Repository

_SIDES = (2, 3)  # git's numbers for ours and theirs


@dataclass(frozen=True)
class Indexes:
    """The indexes that git has in conflict.

    ``kept`` are generated and on both sides, ``dropped`` generated and on one only;
    of ``foreign`` at least one side is a person's.
    """

    kept: frozenset[str] = frozenset()
    dropped: frozenset[str] = frozenset()
    foreign: frozenset[str] = frozenset()

    @property
    def ours(self) -> frozenset[str]:
        """Those that are ours to make anew."""
        return self.kept | self.dropped


NONE = Indexes()


def indexes(repository: Repository, unmerged: Iterable[str]) -> Indexes:
    """Tell the indexes among what is in conflict by what each side has there."""
    paths = {path for path in unmerged if tags.index_folder(path) is not None}
    if not paths:
        return Indexes()
    entries = plumbing.entries(repository, FOLDER)
    sides = [one for one in entries if one.path in paths and one.stage in _SIDES]
    blobs = plumbing.blobs(repository, [one.oid for one in sides])
    foreign = {
        one.path
        for one, data in zip(sides, blobs, strict=True)
        if data is None or not tags.is_generated(data)
    }
    counts = Counter(one.path for one in sides)
    kept = {path for path in paths - foreign if counts[path] == len(_SIDES)}
    return Indexes(frozenset(kept), frozenset(paths - foreign - kept), frozenset(foreign))


OneSided = Literal["changed", "moved", "gone"]
_NAMED: dict[frozenset[int], OneSided] = {
    frozenset({1, 2}): "changed",
    frozenset({1, 3}): "changed",
    frozenset({2}): "moved",
    frozenset({3}): "moved",
    frozenset({1}): "gone",
}


def one_sided(repository: Repository, unmerged: Iterable[str]) -> dict[str, OneSided]:
    """Tell what git asks of files that are not on both sides; these hold no markers.

    ``changed`` by one side and removed by the other; ``moved`` here by git, since the
    other side moved the folder, or by a rename that the other side made otherwise;
    ``gone`` from here on both.
    """
    paths = set(unmerged)
    stages: dict[str, set[int]] = defaultdict(set)
    for entry in plumbing.entries(repository, FOLDER) if paths else ():
        if entry.path in paths:
            stages[entry.path].add(entry.stage)
    found = {path: _NAMED.get(frozenset(numbers)) for path, numbers in stages.items()}
    return {path: name for path, name in found.items() if name is not None}


def rebuilt(repository: Repository, unmerged: Iterable[str]) -> set[str]:
    """Return the generated files among what is in conflict: the concepts decide what they hold."""
    found = list(unmerged)
    return {path for path in found if path == tags.TAG_INDEX} | indexes(repository, found).ours
