"""Which sessions belong in this repository: those of the projects that the user mapped.

Owns the decision, which is to deny by default. A session belongs here where the
folder that it worked in is a mapped project's: the same remote or first commit,
else, where git knows neither or the folder is gone, below the mapped path. It
reads no transcript; the folder comes from the session's records.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Iterable
from fnmatch import fnmatchcase
from pathlib import Path, PurePosixPath

from knowrepo.config import Project
from knowrepo.git.repo import identify_project

Identify = Callable[[Path], str]
_URL = re.compile(
    r"(?i)(?:[a-z][a-z0-9+.-]*://)?(?:[^@/\s]+@)?(?P<host>[^:/\s]+)(?::\d+)?[:/]+(?P<path>.+)"
)


class Projects:
    """The projects whose sessions are archived in the repository at ``root``.

    ``name`` is another one for every other mapping.
    """

    def __init__(
        self,
        projects: Iterable[Project],
        root: Path,
        *,
        exclude: Iterable[str] = (),
        identify: Identify = lambda folder: identify_project(folder).identity,
    ) -> None:
        here = root.resolve()
        mapped = [project for project in projects if Path(project.repository).resolve() == here]
        self.folders = [Path(project.path) for project in mapped if project.path]
        self._names = {same_name(project.identity) for project in mapped}
        self._hashes = {path_hash(project.path) for project in mapped if project.path}
        self._exclude = tuple(exclude)
        self._identify = identify
        self._known: dict[str, bool] = {}
        told = [*sorted(self._names), *map(str, self.folders), *self._exclude]
        self.name = path_hash("\0".join(told))

    def admits(self, folder: str, folder_hash: str = "") -> bool:
        """Say whether a session that worked in ``folder`` belongs here.

        ``folder_hash`` is the sha256 of the folder, where an agent says no more.
        """
        if not folder:
            return folder_hash in self._hashes
        if folder not in self._known:
            self._known[folder] = not self.excludes(folder) and self._is_mapped(folder)
        return self._known[folder]

    def excludes(self, path: str) -> bool:
        """Say whether a folder or a file matches one of the patterns to leave out."""
        spelled = path.replace("\\", "/")
        return any(
            fnmatchcase(spelled, pattern) or fnmatchcase(spelled, f"{pattern.rstrip('/')}/*")
            for pattern in self._exclude
        )

    def _is_mapped(self, folder: str) -> bool:
        path = Path(folder)
        if path.is_dir():
            identity = self._identify(path)
            if same_name(identity) in self._names:
                return True
            if not identity.startswith("path:"):
                return self._was_mapped_by_path(path)
        return any(_is_below(folder, mapped) for mapped in self.folders)

    def _was_mapped_by_path(self, path: Path) -> bool:
        """Say whether the project was mapped when git knew no identity of it yet."""
        return any(
            same_name(f"path:{mapped}") in self._names and _is_below(str(path), mapped)
            for mapped in self.folders
        )


def _is_below(folder: str, mapped: Path) -> bool:
    pure = PurePosixPath(folder.replace("\\", "/"))
    return pure.is_relative_to(PurePosixPath(mapped.as_posix()))


def same_name(identity: str) -> str:
    """Return one spelling for the URLs of one remote: by ssh, by https, with `.git` or not."""
    if identity.startswith(("commit:", "path:")):
        return identity
    match = _URL.fullmatch(identity)
    if match is None:
        return identity
    path = match["path"].strip("/").removesuffix(".git")
    return f"{match['host'].lower()}/{path}"


def path_hash(path: str) -> str:
    """Return the sha256 by which an agent names a folder without saying it."""
    return hashlib.sha256(path.encode("utf-8", "surrogatepass")).hexdigest()
