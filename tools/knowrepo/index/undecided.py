"""What is indexed of a session that a merge left in conflict: our side of it.

Owns the files that are made of it on the way. Until a person has decided, the file
in the work tree holds both sides and the markers of the merge, and is no session.
Our side is what was there before, so an answer stays what it was; and a catalog
that is built anew in the middle of a merge comes to the same. Of a concept in
conflict our side is a blob as any other, see `sources`.
"""

from __future__ import annotations

import contextlib
import hashlib
import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from knowrepo.git import partial, plumbing
from knowrepo.git.layout import Repository
from knowrepo.sessions import conflicts, origin, store
from knowrepo.sessions.forget import is_forgotten
from knowrepo.sessions.tracked import session_of

_OURS = (0, 2)  # the stages of git's index that are not theirs, nor the common base


@dataclass(frozen=True)
class OurSide:
    """Our side of a session: its first file, and the blobs of it and of its parts."""

    path: str
    blobs: tuple[tuple[str, str], ...]  # (path, blob oid)

    @property
    def mark(self) -> str:
        """What tells one content from another, as the stamp of a session's files does."""
        joined = "".join(oid for _, oid in self.blobs)
        return f"ours.{hashlib.sha1(joined.encode(), usedforsecurity=False).hexdigest()}"


def our_sides(repository: Repository) -> dict[str, OurSide | None]:
    """Return ``{key: our side}`` of the sessions in conflict; None for one that we deleted."""
    in_conflict = conflicts.unmerged(repository)
    if not in_conflict:
        return {}
    blobs: dict[str, list[tuple[str, str]]] = {f"sessions/{name}": [] for name in in_conflict}
    for entry in plumbing.entries(repository, repository.sessions.name):
        name = session_of(repository, repository.root / entry.path)
        if name in in_conflict and entry.stage in _OURS and entry.path.endswith(".jsonl"):
            blobs[f"sessions/{name}"].append((entry.path, entry.oid))
    found: dict[str, OurSide | None] = {}
    for name in in_conflict:
        key = f"sessions/{name}"
        own = blobs[key]
        whole = any(path == f"{key}.jsonl" for path, _ in own)
        there = whole and not is_forgotten(repository, name)
        found[key] = OurSide(f"{key}.jsonl", tuple(own)) if there else None
    return found


@contextlib.contextmanager
def written(repository: Repository, side: OurSide) -> Iterator[Path]:
    """Write our side of a session to a folder of its own, and give the folder."""
    folder = _folder(repository)
    try:
        contents = partial.blobs(repository, [oid for _, oid in side.blobs])
        for (path, _), content in zip(side.blobs, contents, strict=True):
            file = folder / path
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_bytes(content or b"")
        _add_origin(repository, folder, side)
        yield folder
    finally:
        clear(repository)


def _add_origin(repository: Repository, folder: Path, side: OurSide) -> None:
    """Add the note of the session's project, which is no part of what is in conflict."""
    name = session_of(repository, repository.root / side.path)
    about = origin.path_of(repository.sessions, name) if name else repository.root
    if store.is_file(about):
        file = folder / about.relative_to(repository.root)
        file.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(about, file)


def clear(repository: Repository) -> None:
    """Remove what a killed run left of what it wrote."""
    shutil.rmtree(_folder(repository), ignore_errors=True)


def _folder(repository: Repository) -> Path:
    return repository.locks / "ours"
