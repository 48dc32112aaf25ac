"""Committing the archive's files, and nothing of what the user has at hand.

Owns the one commit that know makes on request. The files are added, then
committed with `--only`: gates run, what the user has staged stays staged, and
git's index agrees with the commit. (A private index file would leave the real
one without the new files, so that the user's next commit removed them.)
"""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable, Iterable
from pathlib import Path

from knowrepo.errors import KnowError
from knowrepo.git.layout import Repository
from knowrepo.git.plumbing import environment, no_git

_WHO = ("GIT_AUTHOR_", "GIT_COMMITTER_")
_AT_WORK = {
    "MERGE_HEAD": "a merge",
    "rebase-merge": "a rebase",
    "rebase-apply": "a rebase",
    "CHERRY_PICK_HEAD": "a cherry-pick",
    "REVERT_HEAD": "a revert",
    "BISECT_LOG": "a bisect",
}
_GOES_ON = {
    "rebase-merge": "git rebase --continue",  # first: a rebase stops in other things
    "rebase-apply": "git rebase --continue",
    "MERGE_HEAD": "git commit",
    "CHERRY_PICK_HEAD": "git cherry-pick --continue",
    "REVERT_HEAD": "git revert --continue",
    "SQUASH_MSG": "git commit",
}
_UNMERGED = frozenset({"DD", "AU", "UD", "UA", "DU", "AA", "UU"})
_UPDATE = ("--add", "--remove", "--ignore-skip-worktree-entries")


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


def next_step(repository: Repository) -> str:
    """Return what goes on with what git has stopped in; '' where nothing is going on."""
    steps = (step for name, step in _GOES_ON.items() if (repository.git_dir / name).exists())
    return next(steps, "")


def changed(repository: Repository, folder: Path, wanted: Callable[[Path], bool]) -> list[str]:
    """Return the paths below ``folder`` that differ from HEAD, relative to the work tree.

    ``wanted`` is asked of each, whether it is there or was deleted. What a merge
    left in conflict is not among them: to add it would be to resolve it.
    """
    inside = folder.relative_to(repository.work_tree).as_posix()
    status = ["status", "--porcelain=v1", "-z", "--untracked-files=all", "--no-renames"]
    done = _git(repository, [*status, "--", inside])
    _raise_on(done, "git status")
    entries = [os.fsdecode(entry) for entry in done.stdout.split(b"\0") if entry]
    paths = [entry[3:] for entry in entries if entry[:2] not in _UNMERGED]
    return sorted(path for path in paths if wanted(repository.work_tree / path))


def ignored(repository: Repository, folder: Path, wanted: Callable[[Path], bool]) -> list[str]:
    """Return the files below ``folder`` that git was told to ignore; see `changed`."""
    inside = folder.relative_to(repository.work_tree).as_posix()
    listing = ["ls-files", "--others", "--ignored", "--exclude-standard", "-z", "--", inside]
    done = _git(repository, listing)
    _raise_on(done, "git ls-files")
    paths = [os.fsdecode(path) for path in done.stdout.split(b"\0") if path]
    return sorted(path for path in paths if wanted(repository.work_tree / path))


def commit_only(repository: Repository, paths: Iterable[str], message: str) -> str:
    """Commit ``paths``, relative to the work tree; returns the new commit's short name.

    Those that are not there are committed as deleted. The name is empty where HEAD
    never had any of them. Raises KnowError with git's words where it refuses, as a
    hook may; git's index then holds of these paths what it held before.
    """
    given = [os.fsencode(path) for path in paths]
    staged = _staged(repository)
    in_head = _git(repository, ["ls-tree", "-r", "-z", "--name-only", "--full-tree", "HEAD"])
    known = set(in_head.stdout.split(b"\0"))  # none before the first commit
    there = {path for path in given if (repository.work_tree / os.fsdecode(path)).exists()}
    committed = [path for path in given if path in there or path in known]
    done = None
    try:
        # Plumbing: `git add` takes neither what is staged as deleted already, nor
        # what lies outside a sparse checkout.
        added = _git(repository, ["update-index", *_UPDATE, "-z", "--stdin"], _nul(given))
        _raise_on(added, "git update-index")
        if not committed:
            return ""
        files = ["--pathspec-from-file=-", "--pathspec-file-nul"]
        commit = ["commit", "--quiet", "--only", "-m", message, *files]
        done = _git(repository, commit, _nul(committed))
        _raise_on(done, "git commit")
    finally:
        if committed and (done is None or done.returncode):
            _restore(repository, given, staged)
    return _git(repository, ["rev-parse", "--short", "HEAD"]).stdout.decode().strip()


def _staged(repository: Repository) -> dict[bytes, bytes]:
    """Return by path what git's index holds, each as `update-index --index-info` takes it."""
    listing = _git(repository, ["ls-files", "--stage", "-z"])
    _raise_on(listing, "git ls-files")
    return {entry.partition(b"\t")[2]: entry for entry in listing.stdout.split(b"\0") if entry}


def _restore(repository: Repository, paths: list[bytes], staged: dict[bytes, bytes]) -> None:
    new = [path for path in paths if path not in staged]
    _git(repository, ["update-index", "--force-remove", "-z", "--stdin"], _nul(new))
    old = [staged[path] for path in paths if path in staged]
    _git(repository, ["update-index", "-z", "--index-info"], _nul(old))


def _nul(fields: Iterable[bytes]) -> bytes:
    return b"".join(field + b"\0" for field in fields)


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
    try:
        return subprocess.run(command, input=given, capture_output=True, check=False, env=env)
    except FileNotFoundError as error:
        raise no_git() from error
