"""Which texts some commits hold: those that a remote has already, in another form.

Owns the answer to "may this vector be pushed?". A document whose blob the catalog
has is asked of the catalog; any other is cut from its blob, as the catalog would, so
that a session that grew in the work tree counts only as far as it was pushed. What
was forgotten does not count, whatever older branch still has it.
"""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import TYPE_CHECKING

from knowrepo.git import tips
from knowrepo.git.layout import Repository
from knowrepo.index import Progress
from knowrepo.index.catalog import Catalog, told
from knowrepo.index.needed import Document, in_commits, texts_of
from knowrepo.index.vectors.packed import cut, digests
from knowrepo.sessions.forget import TOMBSTONE

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt


@dataclass(frozen=True)
class Held:
    """The hashes of texts, in order, each once.

    ``tombstones`` is a digest of which sessions were forgotten, empty for none. It
    is ``complete`` where nothing was lacking in this clone.
    """

    texts: npt.NDArray[np.bytes_]
    tombstones: str
    complete: bool


def held(
    repository: Repository,
    commits: Sequence[str],
    *,
    wanted: npt.NDArray[np.bytes_] | None = None,
    heeded: str | None = None,
    progress: Progress = lambda _done, _total: None,
) -> Held:
    """Return the texts of the concepts and sessions of some commits; nothing is fetched.

    Where only those ``wanted`` matter, it stops when it has found them, unless there
    are other tombstones than those ``heeded``: what is to go is all that is not found.
    """
    trees = in_commits(repository, commits, tips.roots(repository), fetching=False)
    gone = trees.tombstones | _tombstones_here(repository)
    documents = [one for one in trees.documents if not _is_forgotten(one.path, gone)]
    here = [one for one in documents if one.is_here]
    found, rest = _asked(repository, here)
    names = _digest(gone)
    missing = None
    if wanted is not None and names in {"", heeded}:
        missing = {*cut(wanted)} - {*cut(digests(bytes(found)))}
    progress(0, len(rest))
    for done, texts in enumerate(texts_of(repository, rest, fetching=False), start=1):
        if missing is not None:
            if not missing:
                break
            missing -= texts
        found += b"".join(texts)
        progress(done, len(rest))
    return Held(digests(bytes(found)), names, len(here) == len(documents))


def _digest(tombstones: Collection[str]) -> str:
    joined = "\n".join(sorted(tombstones)).encode("utf-8", "backslashreplace")
    return hashlib.sha256(joined).hexdigest() if tombstones else ""


def anywhere(repository: Repository) -> Held:
    """Return the texts of all tips of this clone and of its catalog."""
    import numpy as np

    found = held(repository, tips.commits(repository))
    catalog = Catalog.open(repository.catalog)
    if catalog is None:
        return found
    with told(repository.catalog), catalog:
        indexed = digests(catalog.text_digests())
    return Held(np.union1d(found.texts, indexed), found.tombstones, found.complete)


def _asked(
    repository: Repository, documents: Iterable[Document]
) -> tuple[bytearray, list[Document]]:
    """Return the texts of the documents that the catalog has as they are, and the others."""
    catalog = Catalog.open(repository.catalog)
    if catalog is None:
        return bytearray(), list(documents)
    rest: list[Document] = []
    keys: list[str] = []
    with told(repository.catalog), catalog:
        known = {(key, oid) for key, (oid, _, _) in catalog.states().items()}
        for document in documents:
            if document.in_catalog in known:
                keys.append(document.path.rpartition(".")[0])
            else:
                rest.append(document)
        return bytearray(catalog.digests_of(keys)), rest


def _tombstones_here(repository: Repository) -> set[str]:
    found = repository.sessions.rglob(f"*{TOMBSTONE}")
    return {path.relative_to(repository.root).as_posix() for path in found}


def _is_forgotten(path: str, tombstones: Collection[str]) -> bool:
    """Say whether a document is a forgotten session, or belongs to one."""
    if not tombstones:
        return False
    file = PurePosixPath(path)
    names = (file.with_suffix(""), *file.parents)
    return any(f"{name}{TOMBSTONE}" in tombstones for name in names)
