"""Putting concepts into the repository: the file, git's index, and what is generated.

Owns what a command that a person typed may do to the work tree. A file is
staged only where all that is new in it is ours: what a person has begun to edit
is theirs to stage. Generated files are nobody's: they are staged as they follow
from what git's index holds, so that the next commit agrees with itself whatever
else is being edited. Nothing is committed. Hooks never come here.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from knowrepo.concepts import bundle, conflicts
from knowrepo.concepts.model import FOLDER
from knowrepo.concepts.tags import TAG_INDEX
from knowrepo.config import write_atomically
from knowrepo.errors import KnowError
from knowrepo.git import plumbing
from knowrepo.git.layout import Repository
from knowrepo.git.lock import held


@dataclass(frozen=True)
class Kept:
    """What became of the files: those that are staged now, and those that a person must stage."""

    staged: tuple[str, ...]
    unstaged: tuple[str, ...]


def keep(repository: Repository, files: Mapping[str, bytes], removed: Iterable[str] = ()) -> Kept:
    """Write ``files``, remove ``removed``, rebuild what is generated, and stage all of it.

    Paths are relative to the repository. Raises KnowError where concepts are in
    conflict, before anything is written, and where a file cannot be written; those
    before it stand, and none is staged. A second process waits its turn: what is
    generated must follow from what both have staged.
    """
    bundle.refuse_conflicts(repository)
    with held(repository, "keeping"):
        return _keep(repository, files, list(removed))


def _keep(repository: Repository, files: Mapping[str, bytes], gone: list[str]) -> Kept:
    begun = set(_unstaged(repository))
    for path, data in files.items():
        write(repository, path, data)
    for path in gone:
        repository.inside(repository.root / path).unlink(missing_ok=True)
    ours = [path for path in (*files, *gone) if path not in begun]
    stage(repository, ours)
    built = _stage_generated(repository, begun)
    return Kept((*ours, *built), tuple(path for path in (*files, *gone) if path in begun))


def _stage_generated(repository: Repository, begun: set[str]) -> tuple[str, ...]:
    """Bring the generated files up to date, in the work tree and in git's index."""
    built = bundle.write_generated(repository)
    if begun <= {file.path for file in built if not file.foreign}:  # git's index has the rest
        paths = [file.path for file in built if file.is_wrong or file.path in begun]
        stage(repository, paths)
        return tuple(paths)
    built = [file for file in bundle.generated_files(repository, staged=True) if file.is_wrong]
    as_there = [file.path for file in built if _is_there(repository, file)]
    stage(repository, as_there)
    others = {file.path: file.content for file in built if file.path not in as_there}
    plumbing.update_index_with(repository, others)
    return tuple(file.path for file in built)


def rebuild(repository: Repository) -> list[str]:
    """Bring the generated files of the work tree up to date, and stage nothing.

    Returns those that are then to be staged, those in conflict among them. Raises
    KnowError while concepts are in conflict.
    """
    with held(repository, "keeping"):
        unmerged = conflicts.rebuilt(repository, bundle.refuse_conflicts(repository))
        begun = {*_unstaged(repository), *unmerged}
        built = bundle.write_generated(repository)
    wrong = {one.path for one in built if not one.foreign and (one.is_wrong or one.path in begun)}
    return sorted(wrong | unmerged)


def is_behind(repository: Repository) -> bool:
    """Say whether the generated files in git's index differ from what its concepts make them.

    Where git knows no tag index there is nothing to be behind.
    """
    if not plumbing.entries(repository, TAG_INDEX):
        return False
    return any(file.is_wrong for file in bundle.generated_files(repository, staged=True))


def _is_there(repository: Repository, file: bundle.Generated) -> bool:
    full = repository.root / file.path
    return not full.exists() if file.gone else full.is_file() and full.read_bytes() == file.content


def write(repository: Repository, path: str, data: bytes) -> None:
    """Write one file of the bundle, whole or not at all; it stays as executable as it was."""
    full = repository.inside(repository.root / path)
    try:
        full.parent.mkdir(parents=True, exist_ok=True)
        mode = full.stat().st_mode & 0o777 if full.is_file() else None
        write_atomically(full, data, mode=mode, aside=repository.locks)
    except OSError as error:
        raise KnowError(f"{path}: cannot be written: {error.strerror}") from error


def stage(repository: Repository, paths: Iterable[str]) -> None:
    """Put files as they are into git's index, and out of it where they are gone."""
    listed = list(paths)
    if listed:
        plumbing.update_index(repository, listed)


def _unstaged(repository: Repository) -> list[str]:
    """Return the tracked files of the bundle that differ from git's index."""
    return plumbing.modified(repository, FOLDER)
