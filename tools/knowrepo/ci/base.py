"""What a change is compared with: which commit, and that commit as a repository.

Owns the way from what a workflow's environment says to a commit, and the work tree
in which the base is asked the same questions: a temporary one, with a catalog of
its own and the vectors of all. What the environment says is data: it is resolved
by git, and reaches no shell.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
import shutil
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path

from knowrepo.config import REPOSITORY_FILE
from knowrepo.errors import KnowError, UsageError
from knowrepo.git.layout import Repository, repository_at
from knowrepo.git.plumbing import git

_COMMIT = re.compile(r"[0-9a-f]{40}(?:[0-9a-f]{24})?")
_MOST_BYTES = 50_000_000  # of an event's payload


def base_of(here: Repository, given: str, environment: Mapping[str, str]) -> str:
    """Return the commit that HEAD is compared with; '' where nothing names one.

    That is ``given``, else where a pull request left its base branch, else what the
    branch was before a push. Raises UsageError where ``given`` names no commit.
    """
    if given:
        commit = _resolved(here, given)
        if not commit:
            raise UsageError(
                f"--base {given}: no commit of this clone", hint="a shallow clone lacks older ones"
            )
        return commit
    branch = environment.get("GITHUB_BASE_REF", "")
    if branch:
        tip = _resolved(here, f"refs/remotes/origin/{branch}")
        if tip:
            return git(here, "merge-base", tip, "HEAD", expected=(0, 1)).decode().strip()
    return _before_push(here, environment.get("GITHUB_EVENT_PATH", ""))


@contextlib.contextmanager
def checked_out(here: Repository, commit: str) -> Iterator[Repository]:
    """Give the repository as it was at a commit, in a work tree that goes afterwards.

    Raises KnowError where it was no knowledge repository then.
    """
    folder = Path(tempfile.mkdtemp(prefix="know-base-", dir=os.environ.get("RUNNER_TEMP") or None))
    tree = folder / "tree"
    try:
        # A hook of the user's has no business with a work tree of ours.
        no_hooks = ("-c", f"core.hooksPath={os.devnull}")
        git(here, *no_hooks, "worktree", "add", "--quiet", "--detach", str(tree), commit)
        root = tree / here.root.relative_to(here.work_tree)
        if not (root / REPOSITORY_FILE).is_file():
            raise KnowError(f"{commit[:12]}: has no {REPOSITORY_FILE}")
        yield repository_at(root.resolve())
    finally:
        shutil.rmtree(folder, ignore_errors=True)
        with contextlib.suppress(KnowError):
            git(here, "worktree", "prune")


def _resolved(here: Repository, name: str) -> str:
    if name.startswith("-"):
        return ""
    asked = ("rev-parse", "--verify", "--quiet", f"{name}^{{commit}}")
    return git(here, *asked, expected=(0, 1, 128)).decode().strip()


def _before_push(here: Repository, payload: str) -> str:
    """Return what the branch was before the push that an event tells of."""
    if not payload:
        return ""
    try:
        with Path(payload).open("rb") as stream:
            event = json.loads(stream.read(_MOST_BYTES))
    except (OSError, ValueError):
        return ""
    before = event.get("before") if isinstance(event, dict) else None
    if not isinstance(before, str) or not _COMMIT.fullmatch(before) or not before.strip("0"):
        return ""
    return _resolved(here, before)
