"""Which files a command that edits concepts works on.

Owns the choice: what git tracks in the bundle, or what a person names. What is
generated or in conflict is never edited, and a link is never followed.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from knowrepo.concepts import bundle, tags
from knowrepo.concepts.model import FOLDER
from knowrepo.concepts.relink import Names
from knowrepo.errors import KnowError
from knowrepo.git import plumbing
from knowrepo.git.layout import Repository


@dataclass(frozen=True)
class Chosen:
    """Files by path relative to the repository, and those left alone, in conflict."""

    files: dict[str, bytes]
    conflicts: tuple[str, ...]


def choose(repository: Repository, paths: Sequence[Path]) -> Chosen:
    """Return the tracked Markdown files of the bundle, or those that are named.

    Untracked files are taken where they are named. Raises KnowError for a named
    file that cannot be edited.
    """
    conflicts = tuple(path for path in plumbing.unmerged(repository) if path.endswith(".md"))
    if not paths:
        files = bundle.read_tracked(repository)
        edited = {path: data for path, data in sorted(files.items()) if not _is_ours(path, data)}
        return Chosen(edited, tuple(p for p in conflicts if p.startswith(f"{FOLDER}/")))
    named: dict[str, bytes] = {}
    for path in paths:
        name = _name(repository, path)
        if name in conflicts:
            raise KnowError(f"{path}: in conflict", hint="resolve it and `git add` it first")
        data = (repository.root / name).read_bytes()
        if _is_ours(name, data):
            raise KnowError(f"{path}: is generated", hint="`know tags build` writes it anew")
        named[name] = data
    return Chosen(named, ())


def names_around(repository: Repository) -> Names:
    """Return the names that links may lead to: all that git knows of, and what is on disk."""
    known = [*plumbing.tracked(repository), *plumbing.untracked(repository, ".")]
    return Names(known, lambda path: (repository.root / path).exists())


def _name(repository: Repository, path: Path) -> str:
    full = path.absolute()
    if full.is_symlink():
        raise KnowError(f"{path}: a symbolic link", hint="name the file that it leads to")
    full = full.resolve()
    if not full.is_relative_to(repository.root.resolve()):
        raise KnowError(f"{path}: not in the repository {repository.root}")
    if not full.is_file():
        raise KnowError(f"{path}: no such file")
    return full.relative_to(repository.root.resolve()).as_posix()


def _is_ours(path: str, data: bytes) -> bool:
    return PurePosixPath(path).name == "index.md" and tags.is_generated(data)
