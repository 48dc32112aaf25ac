"""Which files a check looks at, and what is around them.

Owns the three ways to say it: all that git tracks of the bundle, paths that a
person names, and the folder of any bundle, of ours or not, in git or not.
Symbolic links are never followed: what they lead to is not the bundle's.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from knowrepo.concepts import bundle
from knowrepo.concepts.checking.findings import Finding
from knowrepo.concepts.checking.tree import DiskTree, Tree
from knowrepo.concepts.model import FOLDER
from knowrepo.errors import KnowError, NotARepositoryError
from knowrepo.git import plumbing
from knowrepo.git.layout import Repository, repository_at

_SKIPPED = frozenset({".git"})


@dataclass(frozen=True)
class Selection:
    """Files to check, by path relative to the top of ``tree``.

    ``root`` is their bundle there; ``whole`` says that it is all of it.
    ``found`` is what was seen on the way: links out of the bundle, odd names.
    """

    files: dict[str, bytes]
    tree: Tree
    root: str
    whole: bool
    found: list[Finding] = field(default_factory=list)


def of_repository(repository: Repository) -> Selection:
    """Return all Markdown files of the bundle that git tracks."""
    found = [
        Finding(path, 1, 1, "OKF208", "the name is not UTF-8; rename the file")
        for path in plumbing.undecodable(repository, FOLDER)
    ]
    for path in plumbing.symbolic_links(repository, FOLDER):
        found += symbolic_link(repository.root, path)
    files = bundle.read_tracked(repository)
    return Selection(files, DiskTree(repository.root), FOLDER, whole=True, found=found)


def of_paths(repository: Repository, paths: Iterable[Path]) -> list[Selection]:
    """Return the files that somebody names, and all in the folders, tracked or not.

    What lies in the bundle is checked as part of it; a folder elsewhere is taken
    for a bundle of its own, a file for one of the bundle that its folder is.
    """
    tree = DiskTree(repository.root)
    by_root: dict[str, Selection] = {}
    for path in paths:
        full = path.resolve()
        if not full.is_relative_to(repository.root.resolve()):
            raise KnowError(
                f"{path}: not in the repository {repository.root}",
                hint="--bundle checks a bundle anywhere",
            )
        if not full.exists():
            raise KnowError(f"{path}: no such file")
        name = full.relative_to(repository.root.resolve()).as_posix()
        root = root_of(name, is_folder=full.is_dir())
        chosen = by_root.setdefault(root, Selection({}, tree, root, whole=False))
        if full.is_dir():
            files, found = _walk(full, repository.root.resolve())
            chosen.files.update(files)
            chosen.found.extend(found)
        else:
            chosen.files[name] = full.read_bytes()
    return list(by_root.values())


def root_of(name: str, *, is_folder: bool) -> str:
    """Return the folder of the bundle that a path is part of, where a person names the path."""
    if name == FOLDER or name.startswith(f"{FOLDER}/"):
        return FOLDER
    own = name if is_folder else name.rpartition("/")[0]
    return "" if own == "." else own


def of_bundle(folder: Path) -> Selection:
    """Return all Markdown files of a bundle anywhere.

    Paths start from the top of the git work tree where there is one: links may
    lead to other files of it. What git ignores is no part of the bundle then.
    """
    full = folder.resolve()
    if not full.is_dir():
        raise KnowError(f"{folder}: no such folder")
    try:
        top = repository_at(full).work_tree.resolve()
    except NotARepositoryError:
        top = full
    files, found = _walk(full, top)
    if top != full or (full / ".git").exists():
        ignored = set(plumbing.ignored(repository_at(full)))
        prefix = "" if top == full else f"{full.relative_to(top).as_posix()}/"
        files = {
            p: data for p, data in files.items() if not _is_in(p.removeprefix(prefix), ignored)
        }
    root = "" if top == full else full.relative_to(top).as_posix()
    return Selection(files, DiskTree(top), root, whole=True, found=found)


def _is_in(path: str, ignored: set[str]) -> bool:
    """Say whether git ignores a path, by itself or by a folder (whose name ends with `/`)."""
    parts = path.split("/")
    above = {"/".join(parts[:n]) + "/" for n in range(1, len(parts))}
    return path in ignored or not above.isdisjoint(ignored)


def _walk(folder: Path, top: Path) -> tuple[dict[str, bytes], list[Finding]]:
    """Return the Markdown files below a folder, and what is to be said of other entries."""
    files: dict[str, bytes] = {}
    found: list[Finding] = []
    for entry in _entries(folder):
        path = Path(entry.path).relative_to(top).as_posix()
        if not _is_text(path):
            said = "the name is not UTF-8; rename the file"
            shown = os.fsencode(path).decode("utf-8", "backslashreplace")
            found.append(Finding(shown, 1, 1, "OKF208", said))
        elif entry.is_symlink():
            found += symbolic_link(top, path)
        elif path.endswith(".md") and entry.is_file(follow_symlinks=False):
            files[path] = Path(entry.path).read_bytes()
    return files, found


def _entries(folder: Path) -> Iterator[os.DirEntry[str]]:
    waiting = [folder]
    while waiting:
        with os.scandir(waiting.pop()) as entries:
            for entry in sorted(entries, key=lambda one: one.name):
                if entry.is_dir(follow_symlinks=False):
                    if entry.name not in _SKIPPED:
                        waiting.append(Path(entry.path))
                else:
                    yield entry


def _is_text(path: str) -> bool:
    try:
        path.encode()
    except UnicodeEncodeError:
        return False
    return True


def symbolic_link(top: Path, path: str) -> Iterator[Finding]:
    """Yield a symbolic link that leads out of the repository, or to nothing."""
    full = top / path
    try:
        leads = full.resolve(strict=True)
    except (OSError, RuntimeError):
        said = "a symbolic link that leads nowhere; remove it, or put the file there"
        yield Finding(path, 1, 1, "OKF216", said)
        return
    if not leads.is_relative_to(top.resolve()):
        said = "a symbolic link out of the repository; put the file itself there"
        yield Finding(path, 1, 1, "OKF216", said)
