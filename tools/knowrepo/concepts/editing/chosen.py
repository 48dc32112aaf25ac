"""Which files a command that edits concepts works on.

Owns the choice: what git tracks in the bundle, or what a person names. What is
generated or in conflict is never edited, and a link is never followed.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath

from knowrepo.concepts import bundle, tags
from knowrepo.concepts.checking.gather import root_of
from knowrepo.concepts.model import FOLDER
from knowrepo.errors import KnowError
from knowrepo.git import plumbing
from knowrepo.git.layout import Repository


@dataclass(frozen=True)
class Chosen:
    """Files by path relative to the repository, and those left alone, in conflict.

    ``roots`` are the folders of the bundles that files outside of ours belong to.
    """

    files: dict[str, bytes]
    conflicts: tuple[str, ...]
    roots: dict[str, str] = field(default_factory=dict)

    def root(self, path: str) -> str:
        """Return the folder of the bundle that a file belongs to, as the check has it."""
        return self.roots.get(path, FOLDER)


def choose(repository: Repository, paths: Sequence[Path]) -> Chosen:
    """Return the tracked Markdown files of the bundle, or those that are named.

    Untracked files are taken where they, or a folder of theirs, are named.
    Raises KnowError for a named file that cannot be edited.
    """
    conflicts = tuple(path for path in plumbing.unmerged(repository) if path.endswith(".md"))
    if not paths:
        files = bundle.read_tracked(repository)
        edited = {path: data for path, data in sorted(files.items()) if not _is_ours(path, data)}
        return Chosen(edited, tuple(p for p in conflicts if p.startswith(f"{FOLDER}/")))
    named: dict[str, bytes] = {}
    roots: dict[str, str] = {}
    for path in paths:
        name = _name(repository, path)
        if (repository.root / name).is_dir():
            below = _below(repository, name, conflicts)
            named |= below
            roots |= dict.fromkeys(below, root_of(name, is_folder=True))
            continue
        if name in conflicts:
            raise KnowError(f"{path}: in conflict", hint="resolve it and `git add` it first")
        data = (repository.root / name).read_bytes()
        if _is_ours(name, data):
            raise KnowError(f"{path}: is generated", hint="`know tags build` writes it anew")
        named[name] = data
        roots[name] = root_of(name, is_folder=False)
    folders = [f"{_name(repository, path)}/" for path in paths if path.is_dir()]
    return Chosen(named, tuple(p for p in conflicts if any(map(p.startswith, folders))), roots)


def _below(repository: Repository, folder: str, conflicts: Sequence[str]) -> dict[str, bytes]:
    """Return the Markdown files below a folder that git tracks or does not ignore."""
    found: dict[str, bytes] = {}
    listed = {*plumbing.tracked(repository, folder), *plumbing.untracked(repository, folder)}
    for path in sorted(listed.difference(conflicts)):
        full = repository.root / path
        if path.endswith(".md") and full.is_file() and not full.is_symlink():
            data = full.read_bytes()
            if not _is_ours(path, data):
                found[path] = data
    return found


def _name(repository: Repository, path: Path) -> str:
    full = path.absolute()
    if full.is_symlink():
        raise KnowError(f"{path}: a symbolic link", hint="name the file that it leads to")
    full = full.resolve()
    if not full.is_relative_to(repository.root.resolve()):
        raise KnowError(f"{path}: not in the repository {repository.root}")
    if not full.exists():
        raise KnowError(f"{path}: no such file")
    return full.relative_to(repository.root.resolve()).as_posix()


def _is_ours(path: str, data: bytes) -> bool:
    return PurePosixPath(path).name == "index.md" and tags.is_generated(data)
