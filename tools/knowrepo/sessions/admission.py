"""Whether a session may be archived.

Owns the one decision: it was not forgotten, no person kept it private, and it is
of a project that belongs here. What is below a session shares its fate. The
sessions that are private are remembered in a derived file, which is never
cleared: a sub-agent may come when its session's transcript is long gone.
"""

from __future__ import annotations

import contextlib
import json
from typing import Literal

from knowrepo.config import write_atomically
from knowrepo.git.layout import Repository
from knowrepo.sessions import store
from knowrepo.sessions.conflicts import Conflicts
from knowrepo.sessions.forget import is_forgotten
from knowrepo.sessions.projects import Projects
from knowrepo.sessions.store import SessionName

Verdict = Literal["admitted", "not mapped", "private", "forgotten"]


class Admission:
    """What may be archived in a repository.

    With ``projects`` a session must be of one of them; without, all may: a path
    that a person names is consent.
    """

    def __init__(self, repository: Repository, projects: Projects | None) -> None:
        self._repository = repository
        self._projects = projects
        self._conflicts = Conflicts(repository)
        self._file = repository.locks / "private.json"
        self._private: set[str] = set()
        self._gone: set[str] = set()
        with contextlib.suppress(OSError, ValueError, TypeError):
            self._private = set(map(str, json.loads(self._file.read_bytes())))

    def of(self, name: SessionName, folder: str, folder_hash: str = "") -> Verdict:
        """Return the verdict on a session that worked in ``folder``.

        Raises KnowError where git has the session in conflict: a person decides first.
        """
        verdict = self._of(name, folder, folder_hash)
        if verdict == "admitted":
            self._conflicts.refuse(name)
        return verdict

    def _of(self, name: SessionName, folder: str, folder_hash: str) -> Verdict:
        if is_forgotten(self._repository, name) or f"{name.agent}/{name.parent}" in self._gone:
            self.gone(str(name))
            return "forgotten"
        if self.is_private(name):
            return "private"
        parent = SessionName(name.agent, name.parent)
        if name.parent and store.parts(parent.path(self._repository.sessions)):
            return "admitted"
        return "admitted" if self.maps(folder, folder_hash) else "not mapped"

    def maps(self, folder: str, folder_hash: str = "") -> bool:
        """Say whether a session that worked in ``folder`` is of a project that belongs here."""
        return self._projects is None or self._projects.admits(folder, folder_hash)

    def excludes(self, folder: str) -> bool:
        """Say whether the configuration excludes a folder."""
        return self._projects is not None and self._projects.excludes(folder)

    def gone(self, session: str) -> None:
        """Note that a session is forgotten, for what is below it."""
        agent, *_, own = session.split("/")
        self._gone.add(f"{agent}/{own}")

    def is_private(self, name: SessionName) -> bool:
        """Say whether a person kept the session, or the one that it belongs to, private."""
        ids = {f"{name.agent}/{one}" for one in (name.id, name.parent) if one}
        if ids.isdisjoint(self._private):
            return False
        self.keep_private(name)  # so that what is below it in turn is told too
        return True

    def knows(self, name: SessionName) -> bool:
        """Say whether it is known of a session that it is archived, or private."""
        there = store.parts(name.path(self._repository.sessions))
        return bool(there) or f"{name.agent}/{name.id}" in self._private

    def keep_private(self, name: SessionName) -> None:
        """Remember that a session is private."""
        own = f"{name.agent}/{name.id}"
        if own not in self._private:
            self._private.add(own)
            write_atomically(self._file, json.dumps(sorted(self._private)).encode())
