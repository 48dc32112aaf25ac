"""Which session a file below `sessions/` belongs to, and which of them git is to have.

Owns the way from a path, as git lists it, back to a session: a first file, one
of its parts, a tombstone, the note of its project. The file need not be there. It asks git nothing.
"""

from __future__ import annotations

import re
from pathlib import Path

from knowrepo.git.layout import Repository
from knowrepo.sessions import store
from knowrepo.sessions.forget import TOMBSTONE, is_forgotten
from knowrepo.sessions.origin import ORIGIN
from knowrepo.sessions.store import SessionName

_PART = re.compile(r"(.+)\.[1-9]\d{0,5}")


def session_of(repository: Repository, path: Path) -> SessionName | None:
    """Return the session that a file's name makes it belong to; None where it is none of ours."""
    if path.suffix not in {store.SUFFIX, TOMBSTONE, ORIGIN}:
        return None
    part = _PART.fullmatch(path.stem) if path.suffix == store.SUFFIX else None
    first = path.with_name(f"{part[1] if part else path.stem}{store.SUFFIX}")
    name = store.name_of(repository.sessions, first)
    return name if name is not None and name.is_safe else None


def is_committed(repository: Repository, path: Path) -> bool:
    """Say whether a changed path is to be committed: the archive's own files, as they are.

    A deletion is, where the session was forgotten; one that somebody deleted
    otherwise stays in history.
    """
    name = session_of(repository, path)
    if name is None:
        return False
    if path.suffix == TOMBSTONE:  # one below a forgotten session is not needed any more
        parent = SessionName(name.agent, name.parent)
        return store.is_file(path) or (bool(name.parent) and is_forgotten(repository, parent))
    forgotten = is_forgotten(repository, name)
    # What a late archive brought back of a forgotten session is not committed again.
    return forgotten != store.is_file(path)
