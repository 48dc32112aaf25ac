"""GitPython: what is asked of git now and then, off the hot path.

Owns set-up questions: who the user is, which project a folder belongs to. The
only module that imports GitPython; see `plumbing` for what every index run does.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from git.exc import GitCommandError, InvalidGitRepositoryError, NoSuchPathError

import git
from knowrepo.errors import NotARepositoryError


@dataclass(frozen=True)
class ProjectIdentity:
    """What tells one code repository from another on every clone and work tree of it.

    ``identity`` is the remote's URL without credentials, else `commit:` and the
    first commit, else `path:` and the folder, where git knows neither.
    """

    identity: str
    path: Path


def work_tree_of(folder: Path) -> Path:
    """Return the top of the git work tree that holds ``folder``."""
    top = _open(folder).working_tree_dir
    if top is None:
        raise NotARepositoryError(
            f"{folder}: a bare git repository has no files to work on",
            hint="clone it, and work in the clone",
        )
    return Path(top)


def identify_project(folder: Path) -> ProjectIdentity:
    """Return the identity of the project in ``folder``, a git repository or not."""
    try:
        repo = _open(folder)
    except NotARepositoryError:
        return ProjectIdentity(f"path:{folder.resolve()}", folder.resolve())
    top = Path(repo.working_tree_dir or repo.git_dir)
    for remote in sorted(repo.remotes, key=lambda r: (r.name != "origin", r.name)):
        return ProjectIdentity(_without_credentials(next(iter(remote.urls))), top)
    try:
        roots = repo.git.rev_list("--max-parents=0", "HEAD").split()
    except GitCommandError:  # no commit yet
        roots = []
    if roots:
        return ProjectIdentity(f"commit:{roots[-1]}", top)
    return ProjectIdentity(f"path:{top}", top)


def _open(folder: Path) -> git.Repo:
    try:
        return git.Repo(folder, search_parent_directories=True)
    except (InvalidGitRepositoryError, NoSuchPathError) as error:
        raise NotARepositoryError(
            f"{folder}: not in a git repository", hint="run `git init` there first"
        ) from error


def _without_credentials(url: str) -> str:
    scheme, separator, rest = url.partition("://")
    if not separator:
        return url
    host, slash, path = rest.partition("/")
    return f"{scheme}://{host.rpartition('@')[2]}{slash}{path}"
