"""Which project an archived session is of: a small tracked file beside the session.

Owns `<session>.project`, written once, when the session is archived: at that time
the folder that it worked in is there and git can say which repository it belongs
to. Another clone has neither the folder nor the user's configuration, and a
folder's name says little: work trees have names of their own, and in containers
every project lies in the same place. One file a session, because two branches
that archive different sessions then have nothing to merge.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path, PurePath, PurePosixPath, PureWindowsPath
from typing import TYPE_CHECKING

from knowrepo.config import write_atomically
from knowrepo.sessions.store import SessionName, is_file
from knowrepo.terminal import json_text

if TYPE_CHECKING:
    from knowrepo.git.layout import Repository
    from knowrepo.sessions.redact import Redactor

ORIGIN = ".project"
_MOST_BYTES = 4096
_LONGEST_NAME = 100


@dataclass(frozen=True)
class Origin:
    """A project: the name it is shown by, and its identity, empty where that is not known."""

    name: str = ""
    identity: str = ""

    def answers(self, given: str) -> bool:
        """Say whether ``given``, of `--project`, names it; nothing names every project."""
        return not given or given == self.name or normal_identity(given) == self.identity != ""


def normal_identity(given: str) -> str:
    """Return one spelling of an identity that somebody typed; '' where it is a mere name."""
    from knowrepo.sessions.projects import same_name

    return same_name(given) if "/" in given or ":" in given else ""


def folder_name(folder: str) -> str:
    """Return the last part of a folder's path, which another machine wrote."""
    pure: PurePath = PureWindowsPath(folder) if "\\" in folder else PurePosixPath(folder)
    return pure.name


def path_of(sessions: Path, name: SessionName) -> Path:
    """Return where the project of a session is noted: what is below a session shares its file."""
    return sessions / name.agent / f"{name.parent or name.id}{ORIGIN}"


def origin_of(sessions: Path, name: SessionName, folder: str) -> Origin:
    """Return the project of a session; that of its ``folder``'s name where none is noted."""
    return noted(sessions, name) or Origin(folder_name(folder))


def note(repository: Repository, name: SessionName, origin: Origin, redactor: Redactor) -> None:
    """Note the project of a session, where none is noted yet.

    What is noted stays: two clones that disagreed would have a conflict to solve.
    """
    path = path_of(repository.sessions, name)
    if not origin.identity or path.is_symlink() or path.exists():
        return
    found = {
        "name": redactor.redact(origin.name[:_LONGEST_NAME]),
        "project": redactor.redact(origin.identity),
    }
    data = f"{json_text(found)}\n".encode("utf-8", "replace")
    if len(data) <= _MOST_BYTES:
        write_atomically(path, data, aside=repository.locks)


def noted(sessions: Path, name: SessionName) -> Origin | None:
    """Return the project that is noted of a session; None for none, or for what is none of ours."""
    path = path_of(sessions, name)
    if not is_file(path):  # a clone may bring a symbolic link
        return None
    try:
        with path.open("rb") as stream:
            return read(stream.read(_MOST_BYTES + 1))
    except OSError:
        return None


def read(data: bytes) -> Origin | None:
    """Return the project that a note says; None for what is none of ours."""
    try:
        found = json.loads(data[: _MOST_BYTES + 1])
        name, identity = found["name"], found["project"]
    except (ValueError, TypeError, KeyError, RecursionError):
        return None
    if not (isinstance(name, str) and isinstance(identity, str) and name and identity):
        return None
    return Origin(_one_line(name)[:_LONGEST_NAME], _one_line(identity))


def merged(*versions: bytes) -> bytes:
    """Return what several versions of a note come to; nothing where none of them says a project.

    A version may hold the markers of a merge. Of two projects one is kept, in every
    clone the same: nobody could decide it by reading.
    """
    lines = (line for version in versions for line in version.splitlines(keepends=True))
    return min((line for line in lines if read(line) is not None), default=b"")


def _one_line(text: str) -> str:
    return " ".join(text.encode("utf-8", "replace").decode().split())
