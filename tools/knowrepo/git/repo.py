"""GitPython: what is asked of git now and then, off the hot path.

Owns set-up questions: who the user is, which project a folder belongs to. The
only module that imports GitPython, and it does so when it is first asked: the
import fails where there is no git. See `plumbing` for what every index run does.
"""

from __future__ import annotations

import configparser
import os
import posixpath
import re
import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from knowrepo.errors import KnowError, NotARepositoryError

if TYPE_CHECKING:
    import git

_SHARED_URL = re.compile(r"(?!(?i:file):)(?:[A-Za-z][A-Za-z0-9+.-]*://|[^/\\:]{2,}:)")
_ELSEWHERE = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*://|[^/\\]+:|[/\\]")


@dataclass(frozen=True)
class ProjectIdentity:
    """What tells one code repository from another on every clone and work tree of it.

    ``identity`` is the remote's URL without credentials, else `commit:` and the
    first commit, else `path:` and the folder, where git knows neither. A remote
    that is a path is told from the root.
    """

    identity: str
    path: Path


@dataclass(frozen=True)
class SharedIdentity:
    """What a project is called wherever it is cloned: no path of this machine is in it.

    ``identity`` is the URL of the remote without credentials, else `commit:` and the
    first commit; ``name`` is the last part of the remote, else the folder of the main
    work tree. Both are empty where git knows nothing that another clone would know.
    """

    identity: str = ""
    name: str = ""


def require_git() -> None:
    """Raise KnowError where git is not installed."""
    if shutil.which("git") is None:
        raise KnowError("git is not installed", hint="install git 2.30 or newer")


def work_tree_of(folder: Path) -> Path:
    """Return the top of the git work tree that holds ``folder``."""
    top = _open(folder).working_tree_dir
    if top is None:
        raise NotARepositoryError(
            f"{folder}: a bare git repository has no files to work on",
            hint="clone it, and work in the clone",
        )
    return Path(top)


def author_name(folder: Path) -> str:
    """Return the name under which git would record a commit's author in ``folder``; '' for none."""
    named = os.environ.get("GIT_AUTHOR_NAME", "").strip()
    if named:
        return named
    asked = _open(folder).git
    from git.exc import GitCommandError

    for key in ("author.name", "user.name"):
        try:
            return str(asked.config("--get", key)).strip()
        except GitCommandError:
            continue
    return ""


def identify_project(folder: Path) -> ProjectIdentity:
    """Return the identity of the project in ``folder``, a git repository or not."""
    try:
        repo = _open(folder)
    except NotARepositoryError:
        return ProjectIdentity(f"path:{folder.resolve()}", folder.resolve())
    top = Path(repo.working_tree_dir or repo.git_dir)
    url = _remote(repo, top)
    if url:
        return ProjectIdentity(_absolute(url, repo), top)
    first = _first_commit(repo)
    return ProjectIdentity(f"commit:{first}" if first else f"path:{top}", top)


def shared_identity(folder: Path) -> SharedIdentity:
    """Return what every clone and work tree of the project in ``folder`` would say of it.

    A remote that is a path is another on each machine, so the first commit counts.
    """
    try:
        repo = _open(folder)
        url = _remote(repo, folder)
    except KnowError:
        return SharedIdentity()
    common = Path(repo.common_dir).resolve()
    top = common.parent if common.name == ".git" else common
    name = re.split(r"[/\\:]", url.rstrip("/\\").removesuffix(".git"))[-1] if url else ""
    name = name or top.name.removesuffix(".git")
    if _SHARED_URL.match(url):
        return SharedIdentity(url, name)
    first = "" if (common / "shallow").exists() else _first_commit(repo)
    return SharedIdentity(f"commit:{first}", name) if first else SharedIdentity()


def _remote(repo: git.Repo, top: Path) -> str:
    """Return the URL of the remote, `origin` first, without credentials; '' where there is none."""
    try:
        names = [remote.name for remote in repo.remotes]
    except (configparser.Error, OSError, ValueError) as error:
        raise KnowError(f"{top}: git's configuration cannot be read: {error}") from error
    for name in sorted(names, key=lambda name: (name != "origin", name)):
        if url := _url(repo, name):
            return _without_credentials(url)
    return ""


def _first_commit(repo: git.Repo) -> str:
    """Return the oldest commit without a parent; '' where nothing is committed yet."""
    from git.exc import GitCommandError

    try:
        roots = repo.git.rev_list("--max-parents=0", "HEAD").split()
    except GitCommandError:
        return ""
    return str(roots[-1]) if roots else ""


def _open(folder: Path) -> git.Repo:
    require_git()
    from git.exc import InvalidGitRepositoryError, NoSuchPathError

    import git

    try:
        repo = git.Repo(folder, search_parent_directories=True)
    except (InvalidGitRepositoryError, NoSuchPathError) as error:
        raise NotARepositoryError(
            f"{folder}: not in a git repository", hint="run `git init` there first"
        ) from error
    if "GIT_DIR" in os.environ:  # of the repository whose hook we run in
        repo.git.update_environment(GIT_DIR=str(repo.git_dir))
    return repo


def _url(repo: git.Repo, remote: str) -> str:
    """Return the URL that git would use; '' where a remote's section says none."""
    from git.exc import GitCommandError

    try:
        # A section may hold other settings only; git would take its name for a URL.
        repo.git.config("--get", f"remote.{remote}.url")
        return str(repo.git.remote("get-url", remote)).strip()
    except GitCommandError:
        return ""


def _without_credentials(url: str) -> str:
    scheme, separator, rest = url.partition("://")
    if not separator:
        user, at, place = url.partition("@")
        hides = at and ":" in user and "/" not in user  # `user:password@host:path`
        return place if hides else url
    host, slash, path = rest.partition("/")
    if "@" not in host and "@" in path and re.search(r":(?!\d*$)", host) and host[0] != "[":
        place = rest.rpartition("@")[2]  # a password with a slash in it
    else:
        place = f"{host.rpartition('@')[2]}{slash}{path}"
    if scheme.lower().endswith(("http", "https")):
        place = re.split(r"[?#]", place, maxsplit=1)[0]  # a token may stand there as well
    return f"{scheme}://{place}"


def _absolute(url: str, repo: git.Repo) -> str:
    """Return a remote that is a relative path from the root: as it is, it names many."""
    if _ELSEWHERE.match(url):
        return url
    common = Path(repo.common_dir).resolve()
    # A linked work tree shares the configuration that its main one was given.
    top = common.parent if common.name == ".git" else Path(repo.working_tree_dir or common)
    return posixpath.normpath((top / url).as_posix())
