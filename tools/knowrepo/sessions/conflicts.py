"""Archived sessions that a merge left in conflict: telling them.

Owns what counts as a conflict: git's index has the session in several stages, or the
note of its project, or a file of it holds the markers of a merge that went line by
line. Until a person has decided, nobody writes to such a session or indexes it;
`joining` joins its sides.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from knowrepo.errors import KnowError
from knowrepo.git import plumbing
from knowrepo.git.layout import Repository
from knowrepo.sessions import store
from knowrepo.sessions.origin import ORIGIN
from knowrepo.sessions.store import SessionName
from knowrepo.sessions.tracked import session_of

OURS, BASE, MIDDLE, THEIRS = b"<<<<<<< ", b"||||||| ", b"=======", b">>>>>>> "
"""What git writes around the sides; an archived line begins with a brace."""


class Conflicts:
    """The sessions of a repository that must not be written to: git's index is asked once."""

    def __init__(self, repository: Repository) -> None:
        self._repository = repository
        self._unmerged: set[SessionName] | None = None

    def refuse(self, name: SessionName) -> None:
        """Raise KnowError where a session is in conflict, or its files hold conflict markers."""
        first = name.path(self._repository.sessions)
        there = store.every_part(first)
        if not there:
            return
        if self._unmerged is None:
            self._unmerged = set(unmerged(self._repository))
        if name in self._unmerged or any(map(marker_line, there)):
            raise KnowError(
                f"{name}: in conflict after a merge; {mended_by(self._repository, first)}"
            )


def mended_by(repository: Repository, first: Path) -> str:
    """Return what to run for the session whose first file is ``first``."""
    return f"`know merge {first.relative_to(repository.root).as_posix()}` joins both sides"


def unmerged(repository: Repository) -> dict[SessionName, list[str]]:
    """Return the sessions that git has in conflict, each with its files that are."""
    folder = repository.sessions.name
    return _by_session(repository, plumbing.unmerged(repository, folder))


def marked(repository: Repository) -> dict[SessionName, list[str]]:
    """Return the sessions with conflict markers in their files, each with these."""
    folder = repository.sessions.name
    patterns = [f"^{marker.decode()}" for marker in (OURS, THEIRS)]
    return _by_session(repository, plumbing.with_lines(repository, folder, patterns))


def _by_session(repository: Repository, paths: Iterable[str]) -> dict[SessionName, list[str]]:
    found: dict[SessionName, list[str]] = {}
    for path in paths:
        name = session_of(repository, repository.root / path)
        if name is not None and path.endswith((store.SUFFIX, ORIGIN)):
            found.setdefault(name, []).append(path)
    return found


def marker_line(path: Path) -> int:
    """Return the number of the first line that is a conflict marker; 0 where there is none."""
    with path.open("rb") as stream:
        for number, line in enumerate(stream, start=1):
            if line.startswith((OURS, THEIRS)):
                return number
    return 0
