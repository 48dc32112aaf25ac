"""Which sessions belong in this repository: those of the projects that the user mapped.

Owns the decision, which is to deny by default. A session belongs here where the
folder that it worked in is a mapped project's: the same remote or first commit,
else, where git knows neither or the folder is gone, below the mapped path. It
reads no transcript; the folder comes from the session's records.
"""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from collections.abc import Callable, Iterable
from functools import cached_property
from pathlib import Path

from knowrepo.config import Project
from knowrepo.git.repo import identify_project
from knowrepo.sessions.folders import Excluded, is_below, spelled

Identify = Callable[[Path], str]
_URL = re.compile(
    r"(?i)(?P<scheme>[a-z][a-z0-9+.-]*)://(?:[^/]*@)?(?P<host>\[[^\]/]*\]|[^:/\s]*)"
    r"(?::(?P<port>\d*))?/+(?P<path>.+)"
)
_SCP = re.compile(r"(?:[^@/\s]+@)?(?P<host>\[[^\]/]*\]|[^:/\s]{2,}):/*(?P<path>.+)")
_PORTS = {"https": "443", "http": "80", "ssh": "22", "git": "9418"}
_MOST_DENIED = 1000  # folders that are remembered for being told


class Projects:
    """The projects whose sessions are archived in the repository at ``root``.

    ``known`` gives folders that agents worked in, to be found by their hash where
    an agent names a folder by nothing else. ``denied`` counts how often a folder
    was found not to belong here; the folder is '' where it is unknown.
    """

    def __init__(
        self,
        projects: Iterable[Project],
        root: Path,
        *,
        exclude: Iterable[str] = (),
        identify: Identify = lambda folder: identify_project(folder).identity,
        known: Callable[[], Iterable[str]] = tuple,
    ) -> None:
        here = root.resolve()
        mapped = [project for project in projects if Path(project.repository).resolve() == here]
        self.folders = [Path(project.path) for project in mapped if project.path]
        self.denied: Counter[str] = Counter()
        self._names = {same_name(project.identity) for project in mapped}
        self._paths = {spelled(project.path) for project in mapped if project.path}
        self._by_path = {path for path in self._paths if f"path:{path}" in self._names}
        patterns = tuple(exclude)
        self.has_excludes = bool(patterns)
        self._exclude = Excluded(patterns)
        self._mapped = [project for project in mapped if project.path]
        self._identify = identify
        self._known = known
        self._admitted: dict[str, bool] = {}

    def admits(self, folder: str, folder_hash: str = "") -> bool:
        """Say whether a session that worked in ``folder`` belongs here.

        ``folder_hash`` is the sha256 of the folder, where an agent says no more.
        """
        folder = self.folder_of(folder, folder_hash)
        if folder not in self._admitted:
            self._admitted[folder] = bool(folder) and self._belongs(folder)
        admitted = self._admitted[folder]
        if not admitted and (folder in self.denied or len(self.denied) < _MOST_DENIED):
            self.denied[folder] += 1
        return admitted

    def mapped(self, folder: str) -> str:
        """Return the identity under which the user mapped a folder that may be gone; '' for none.

        One that is a path is none that another clone would know.
        """
        gone = spelled(folder)
        for project in self._mapped:
            if is_below(gone, spelled(project.path)):
                return "" if is_path(project.identity) else project.identity
        return ""

    def folder_of(self, folder: str, folder_hash: str = "") -> str:
        """Return the folder that a session worked in, however its agent names it."""
        return folder or self._hashes.get(folder_hash, "")

    def excludes(self, path: str) -> bool:
        """Say whether a folder or a file matches one of the patterns to leave out."""
        return path in self._exclude

    @cached_property
    def _hashes(self) -> dict[str, str]:
        """The folders that may be named by their hash alone."""
        folders = [*map(str, self.folders), *self._known()]
        return {path_hash(folder): folder for folder in folders}

    def _belongs(self, folder: str) -> bool:
        if self.excludes(folder):
            return False
        path = Path(folder)
        if not path.is_absolute() or not _is_folder(path):
            gone = spelled(folder)
            return any(is_below(gone, mapped) for mapped in self._paths)
        # A link, or `..`, may lead to another project than it looks like.
        real = path.resolve()
        if self.excludes(str(real)):
            return False
        identity = self._identify(path)
        if same_name(identity) in self._names:
            return True
        # A project may have been mapped when git knew no identity of it yet.
        mapped = self._paths if identity.startswith("path:") else self._by_path
        return any(
            is_below(spelled(str(real)), spelled(str(Path(one).resolve()))) for one in mapped
        )


def _is_folder(path: Path) -> bool:
    """Say whether a folder is there and may be looked at; else its path says all."""
    try:
        return path.is_dir()
    except OSError:
        return False


def same_name(identity: str) -> str:
    """Return one spelling for the URLs of one remote: by ssh, by https, with `.git` or not."""
    kind, mark, rest = identity.partition(":")
    if mark and kind == "path":
        return f"path:{spelled(rest)}"
    if mark and kind == "commit":
        return identity
    match = (_URL if "://" in identity else _SCP).fullmatch(identity)
    if match is None:  # a path
        return spelled(identity).removesuffix(".git")
    found = match.groupdict()
    path = found["path"].strip("/").removesuffix(".git")
    scheme, port = (found.get("scheme") or "ssh").lower(), found.get("port") or ""
    if scheme == "file":
        return f"/{path}"
    own = f":{port}" if port and port != _PORTS.get(scheme) else ""
    return f"{found['host'].lower()}{own}/{path}"


def is_path(identity: str) -> bool:
    """Say whether an identity is a place on one machine, and no project's name elsewhere."""
    return identity.startswith("path:") or spelled(same_name(identity)).startswith("/")


def path_hash(path: str) -> str:
    """Return the sha256 by which an agent names a folder without saying it."""
    return hashlib.sha256(path.encode("utf-8", "surrogatepass")).hexdigest()
