"""What there is to index: concepts by the blob that git tracks, sessions by their files.

Owns the names and marks of all documents of the present state; it reads no content
of any. What became of them in the catalog is `build`'s business.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import stat
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from knowrepo.concepts.model import FOLDER, is_concept_path
from knowrepo.git import plumbing
from knowrepo.git.layout import Repository
from knowrepo.index import undecided
from knowrepo.sessions import store
from knowrepo.sessions.forget import TOMBSTONE, is_forgotten
from knowrepo.sessions.origin import ORIGIN
from knowrepo.sessions.tracked import session_of

_OWN_SESSION = 3  # parts of the key of a session; what is below it is of its project
NOTED = "@"
"""What parts the stamp of a session's files from that of what says its project."""
_EMPTY = frozenset(
    hashlib.new(name, b"blob 0\0", usedforsecurity=False).hexdigest() for name in ("sha1", "sha256")
)
"""git's names of the empty content."""


@dataclass(frozen=True)
class Source:
    """A document that is to be in the catalog."""

    key: str
    path: str
    mark: str
    """A concept's blob oid, a session's stamp."""
    size: int = 0
    """Bytes of a session."""
    ours: undecided.OurSide | None = None
    """Of a session in conflict."""


def sources(repository: Repository, tombstones: list[str]) -> Iterator[Source]:
    """Yield what is to be indexed; the tombstones on the way are added to ``tombstones``."""
    # Of what a merge left in conflict, our side counts until a person has decided.
    for path, oid in plumbing.tracked(repository, FOLDER, ours=True).items():
        # `git add --intent-to-add` announces a file, and gives git no content yet.
        if is_concept_path(path) and oid not in _EMPTY:
            yield Source(path.removesuffix(".md"), path, oid)
    sides = undecided.our_sides(repository)
    for key, side in sides.items():
        if side is not None:
            yield Source(key, side.path, side.mark, ours=side)
    files = list(_files(repository))
    found = [path for path, _ in files if path.endswith(TOMBSTONE)]
    tombstones += found
    noted = {path: full for path, full in files if path.endswith(ORIGIN)}
    for path, full in files:
        key = path.removesuffix(store.SUFFIX)
        if key == path or key in sides:
            continue
        with contextlib.suppress(FileNotFoundError):  # gone since we looked
            if not stat.S_ISREG(full.lstat().st_mode) or store.is_part(full):
                continue
            if not (found and _is_forgotten(repository, full)):
                mark, size = store.measure(full)
                about = noted.get(f"{'/'.join(key.split('/')[:_OWN_SESSION])}{ORIGIN}")
                if about is not None:
                    mark = f"{mark}{NOTED}{store.file_stamp(about)}"
                yield Source(key, path, mark, size)


def _files(repository: Repository) -> Iterator[tuple[str, Path]]:
    """Yield (path in the repository, full path) of the files under `sessions/`."""
    for folder, _, names in os.walk(repository.inside(repository.sessions)):
        below = Path(folder).relative_to(repository.root).as_posix()
        for name in names:
            path = f"{below}/{name}"
            if not name.startswith(".") and _is_text(path):
                yield path, Path(folder, name)


def _is_forgotten(repository: Repository, path: Path) -> bool:
    """Say whether a session's file is of a forgotten session."""
    name = session_of(repository, path)
    return name is not None and is_forgotten(repository, name)


def _is_text(path: str) -> bool:
    """Say whether a file's name can be written as text; ours always can."""
    return path.isascii() or not any("\ud800" <= character <= "\udfff" for character in path)
