"""What a person can go back to by name: branches, tags, stashes, and work that is under way.

Owns the list of such commits and of the work trees. The reflog is not asked: what
only it remembers is gone for most purposes.
"""

from __future__ import annotations

import contextlib
import re
from collections.abc import Iterable, Iterator
from pathlib import Path, PurePosixPath
from typing import NamedTuple

from knowrepo.config import REPOSITORY_FILE
from knowrepo.errors import KnowError
from knowrepo.git import partial, plumbing
from knowrepo.git.layout import Repository

_OID = re.compile(r"[0-9a-f]{40}(?:[0-9a-f]{24})?")
# What a merge, a rebase and the like keep in the folder of their work tree.
_UNDER_WAY = (
    "HEAD", "MERGE_HEAD", "CHERRY_PICK_HEAD", "REVERT_HEAD", "REBASE_HEAD", "MERGE_AUTOSTASH",
    "rebase-merge/orig-head", "rebase-merge/onto", "rebase-merge/autostash",
    "rebase-apply/orig-head", "rebase-apply/onto", "rebase-apply/autostash",
)  # fmt: skip
_MARKER = f":(top,glob)**/{REPOSITORY_FILE}"
_QUIET = (0, 128)  # git's code where there is no commit, or no stash


ABSENT = -1
"""The size of what a partial clone lacks."""


class Blob(NamedTuple):
    """A regular file of a tree."""

    path: str
    oid: str
    size: int


def commits(repository: Repository) -> list[str]:
    """Return the commits that a ref, a stash, a work tree, or what is under way there names."""
    refs = ("for-each-ref", "--format=%(objectname)")
    listings = [plumbing.git(repository, *refs)]
    # Of a stash its parents count too: what was staged, and what was not tracked.
    stashes = ("log", "--walk-reflogs", "--format=%H %P", "refs/stash", "--")
    listings.append(plumbing.git(repository, *stashes, expected=_QUIET))
    listings.append(plumbing.git(repository, "worktree", "list", "--porcelain"))
    found = {
        oid for listing in listings for oid in _OID.findall(listing.decode("utf-8", "replace"))
    }
    for folder in (repository.common_dir, *repository.common_dir.glob("worktrees/*")):
        files = [folder / name for name in _UNDER_WAY]
        if folder != repository.common_dir:  # refs of its own, as of a bisection
            files += [path for path in folder.glob("refs/**/*") if path.is_file()]
        for path in files:
            if path.is_file():
                found.update(_OID.findall(path.read_text("utf-8", "replace")))
    return sorted(found)


def work_trees(repository: Repository) -> list[Path]:
    """Return the tops of the work trees that are there."""
    listing = plumbing.git(repository, "worktree", "list", "--porcelain").decode("utf-8", "replace")
    named = [Path(line.removeprefix("worktree ")) for line in listing.split("\n")
             if line.startswith("worktree ")]  # fmt: skip
    return [path for path in {repository.work_tree, *named} if (path / ".git").exists()]


def roots(repository: Repository) -> list[str]:
    """Return the folders of knowledge repositories, in the work tree or any history.

    They are relative to the top; the top itself is `.`.
    """
    history = ("log", "--all", "--format=", "--name-only", "-z", "--no-renames", "--diff-filter=A")
    listings = [plumbing.git(repository, *history, "--", _MARKER, expected=_QUIET)]
    listings.append(plumbing.git(repository, "ls-files", "--full-name", "-z", "--", _MARKER))
    names = [name for listing in listings for name in plumbing.names_in(listing)]
    own = repository.root.relative_to(repository.work_tree).as_posix()
    return sorted({own, *(PurePosixPath(name.strip("\n")).parent.as_posix() for name in names)})


def folders(repository: Repository, paths: Iterable[str]) -> list[str]:
    """Return the trees at some ``commit:path``, each once; what is not there is left out."""
    asked = "".join(f"{path}\n" for path in paths).encode()
    listing = plumbing.git(repository, "cat-file", "--batch-check", data=asked)
    lines = [line.split(b" ") for line in listing.split(b"\n")]
    return sorted({line[0].decode() for line in lines if line[1:2] == [b"tree"]})


def files(repository: Repository, tree: str, *, fetching: bool = True) -> Iterator[Blob]:
    """Yield the regular files of a tree and below, by their paths in it.

    One whose name is not UTF-8 is left out, as `plumbing.tracked` does. Without
    ``fetching`` one that a partial clone lacks has the size `ABSENT`.
    """
    command = ("ls-tree", "-r", "-z", "--full-tree")
    sizes: dict[str, int] = {}
    try:
        listing = plumbing.git(repository, *command, "--long", tree, fetching=fetching)
    except KnowError:  # git gives up at the first that it would have to fetch
        if fetching:
            raise
        sizes = partial.all_sizes(repository)
        listing = plumbing.git(repository, *command, tree, fetching=False)
    for entry in listing.split(b"\0"):
        head, _, path = entry.partition(b"\t")
        if head.startswith(b"100"):
            _, _, oid, *size = head.decode().split()
            with contextlib.suppress(UnicodeDecodeError):
                known = int(size[0]) if size else sizes.get(oid, ABSENT)
                yield Blob(path.decode(), oid, known)
