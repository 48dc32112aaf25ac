"""Committing the archive's files, and nothing of what the user has at hand.

Owns the one commit that know makes on request. The files are added, then
committed with `--only`: gates run, what the user has staged stays staged, and
git's index agrees with the commit. (A private index file would leave the real
one without the new files, so that the user's next commit removed them.)
"""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterable
from pathlib import Path

from knowrepo.errors import KnowError
from knowrepo.git.layout import Repository
from knowrepo.git.plumbing import environment

_WHO = ("GIT_AUTHOR_", "GIT_COMMITTER_")
_AT_WORK = {
    "MERGE_HEAD": "a merge",
    "rebase-merge": "a rebase",
    "rebase-apply": "a rebase",
    "CHERRY_PICK_HEAD": "a cherry-pick",
    "REVERT_HEAD": "a revert",
    "BISECT_LOG": "a bisect",
}


def refuse_while_busy(repository: Repository) -> None:
    """Raise KnowError where a commit of ours would get into the user's way."""
    for name, what in _AT_WORK.items():
        if (repository.git_dir / name).exists():
            raise KnowError(
                f"{repository.work_tree}: {what} is going on; nothing is committed",
                hint="finish it, or archive without --commit",
            )
    head = _git(repository, ["symbolic-ref", "--quiet", "HEAD"])
    if head.returncode:
        raise KnowError(
            f"{repository.work_tree}: HEAD is detached; a commit would be on no branch",
            hint="check out a branch, or archive without --commit",
        )


def changed(repository: Repository, folder: Path) -> list[str]:
    """Return the files below ``folder`` that differ from HEAD and exist, from the work tree."""
    inside = folder.relative_to(repository.work_tree).as_posix()
    status = ["status", "--porcelain=v1", "-z", "--untracked-files=all", "--no-renames"]
    done = _git(repository, [*status, "--", inside])
    _raise_on(done, "git status")
    entries = (os.fsdecode(entry) for entry in done.stdout.split(b"\0") if entry)
    paths = (entry[3:] for entry in entries)
    return sorted(path for path in paths if (repository.work_tree / path).is_file())


def commit_only(repository: Repository, paths: Iterable[str], message: str) -> str:
    """Commit ``paths``, relative to the work tree; returns the new commit's short name.

    Raises KnowError with git's words where it refuses, as a hook may; what was
    untracked before is then untracked again.
    """
    given = b"\0".join(os.fsencode(path) for path in paths)
    files = ["--pathspec-from-file=-", "--pathspec-file-nul"]
    tracked = set(_git(repository, ["ls-files", "-z"]).stdout.split(b"\0"))
    _raise_on(_git(repository, ["add", *files], given), "git add")
    done = _git(repository, ["commit", "--quiet", "--only", "-m", message, *files], given)
    if done.returncode:
        new = b"\0".join(path for path in given.split(b"\0") if path not in tracked)
        if new:
            _git(repository, ["rm", "--cached", "--quiet", *files], new)
        _raise_on(done, "git commit")
    return _git(repository, ["rev-parse", "--short", "HEAD"]).stdout.decode().strip()


def _raise_on(done: subprocess.CompletedProcess[bytes], what: str) -> None:
    if done.returncode:
        said = (done.stderr + b"\n" + done.stdout).decode("utf-8", "replace").strip()
        raise KnowError(f"{what} refused: {said}", hint="the sessions are archived; commit them")


def _git(
    repository: Repository, arguments: list[str], given: bytes = b""
) -> subprocess.CompletedProcess[bytes]:
    command = ["git", "--literal-pathspecs", "-C", str(repository.work_tree), *arguments]
    who = {key: value for key, value in os.environ.items() if key.startswith(_WHO)}
    env = {**environment(repository), **who}
    return subprocess.run(command, input=given, capture_output=True, check=False, env=env)
