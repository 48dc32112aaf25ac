"""The checks of the git repository: where it is, what kind of clone, what git is doing."""

from __future__ import annotations

import time

from knowrepo.config import REPOSITORY_FILE
from knowrepo.git import plumbing
from knowrepo.git.layout import Repository
from knowrepo.upkeep.doctor.check import Found, Place, fail, listed, ok, warn

_OLD_LOCK = 600  # seconds that no git of the user's takes


def place(here: Place) -> Found:
    """Whether there is a knowledge repository where we were asked to look."""
    if here.repository is not None:
        return ok(str(here.repository.root))
    folder = here.folder
    if (folder / "HEAD").is_file() and (folder / "objects").is_dir():
        return fail(
            f"{folder}: a bare git repository has no files to work on",
            "clone it, and work in the clone",
        )
    return fail(here.problem, here.hint or "name a folder that is there: --repo PATH")


def clone(here: Repository) -> Found:
    """Whether the clone holds all that it is asked for: history, and every blob."""
    kind = "a git repository"
    if here.git_dir != here.common_dir:
        kind = "a linked work tree"
    elif (here.work_tree / ".git").is_file():
        kind = "a submodule, or a repository with its git directory elsewhere"
    if here.root != here.work_tree:
        kind += f", the knowledge in {here.root.relative_to(here.work_tree).as_posix()}"
    if (here.common_dir / "shallow").is_file():
        return warn(
            f"{kind}, shallow: concepts without a date of their own get a wrong one",
            "`git fetch --unshallow`",
        )
    if plumbing.git(
        here, "config", "--get-regexp", r"^(extensions\.partialclone|remote\..*\.promisor)$",
        expected=(0, 1),
    ).strip():  # fmt: skip
        return warn(
            f"{kind}, partial: git fetches contents when they are read, which needs its remote",
            "`git fetch --refetch --no-filter`",
        )
    return ok(kind)


def folders(here: Repository) -> Found:
    """Which other knowledge repositories lie in the same work tree."""
    listing = plumbing.git(here, "ls-files", "-z", "--full-name", "--", ":(top,glob)**/know.toml")
    own = (here.root / REPOSITORY_FILE).relative_to(here.work_tree).as_posix()
    others = sorted(set(plumbing.names_in(listing)) - {own})
    if not here.concepts.is_dir():
        return warn("no concepts/ yet", "`know init` makes it")
    if others:
        return ok(f"in the same work tree, each with a catalog of its own: {listed(others)}")
    return ok("concepts/ is there; no other knowledge repository in this work tree")


def state(here: Repository) -> Found:
    """Whether git is in the middle of something, or was killed in it."""
    plumbing.git(here, "rev-parse", "--git-dir")  # which fails where git refuses the folder
    lock = here.git_dir / "index.lock"
    try:
        age = time.time() - lock.stat().st_mtime
    except OSError:
        age = -1.0
    if age > _OLD_LOCK:
        return warn(
            f"{lock} is {age / 60:.0f} minutes old: a git that was killed leaves it",
            "if no git is running, remove that file",
        )
    names = {
        "MERGE_HEAD": "a merge", "rebase-merge": "a rebase", "rebase-apply": "a rebase",
        "CHERRY_PICK_HEAD": "a cherry-pick", "REVERT_HEAD": "a revert", "BISECT_LOG": "a bisect",
    }  # fmt: skip
    doing = sorted({what for name, what in names.items() if (here.git_dir / name).exists()})
    if doing:
        return warn(
            f"in the middle of {listed(doing)}: `know archive --commit` waits for its end",
            "finish it, or abort it",
        )
    return ok("git is in the middle of nothing")
