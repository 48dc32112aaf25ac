"""Telling, when a session is archived, which project it is of.

Owns the question to git, once for each folder of a run. What is found is noted
beside the session by `origin`. A folder that is gone is told by what the user mapped.
"""

from __future__ import annotations

from pathlib import Path

from knowrepo.git.repo import shared_identity
from knowrepo.sessions.origin import Origin, folder_name
from knowrepo.sessions.projects import Projects, same_name


class Origins:
    """The projects of the folders that sessions worked in."""

    def __init__(self, projects: Projects | None) -> None:
        self._projects = projects
        self._known: dict[str, Origin] = {}

    def of(self, folder: str, folder_hash: str = "") -> Origin:
        """Return the project of a folder; without an identity where nothing tells it."""
        if self._projects is not None:
            folder = self._projects.folder_of(folder, folder_hash)
        if folder not in self._known:
            self._known[folder] = self._look(folder)
        return self._known[folder]

    def _look(self, folder: str) -> Origin:
        path = Path(folder)
        if path.is_absolute() and _is_folder(path):
            found = shared_identity(path)
            if found.identity:
                return Origin(found.name, same_name(found.identity))
        identity = self._projects.mapped(folder) if self._projects is not None and folder else ""
        if not identity:
            return Origin(folder_name(folder))
        named = "" if identity.startswith("commit:") else folder_name(same_name(identity))
        return Origin(named or folder_name(folder), same_name(identity))


def _is_folder(path: Path) -> bool:
    try:
        return path.is_dir()
    except (OSError, ValueError):  # it may not be looked at, or is no path at all
        return False
