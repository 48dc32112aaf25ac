"""Forgetting a session: the one way out of the archive.

Owns the tombstone that is left behind: a small tracked file beside where the
session was, which keeps every clone's archive from bringing it back. It names
the session and says nothing of what was in it. History is git's: what is
forgotten here still stands in earlier commits.
"""

from __future__ import annotations

import shutil
from pathlib import Path

from knowrepo.config import write_atomically
from knowrepo.git.layout import Repository
from knowrepo.sessions import store
from knowrepo.sessions.store import SessionName

TOMBSTONE = ".forgotten"
_TEXT = (
    b"This session was forgotten on purpose. While this file is here, know does not archive it.\n"
)


def tombstone(repository: Repository, name: SessionName) -> Path:
    """Return the path of a session's tombstone, which may not exist."""
    return name.path(repository.sessions).with_suffix(TOMBSTONE)


def is_forgotten(repository: Repository, name: SessionName) -> bool:
    """Say whether a session, or the one that it belongs to, was forgotten."""
    names = [name, SessionName(name.agent, name.parent)] if name.parent else [name]
    return any(tombstone(repository, one).is_file() for one in names)


def files_of(repository: Repository, name: SessionName) -> list[Path]:
    """Return the files of a session, and of all that belongs to it."""
    first = repository.inside(name.path(repository.sessions))
    folder = first.with_suffix("")
    below = folder.rglob("*") if not name.parent and folder.is_dir() else ()
    return [*store.parts(first), *sorted(path for path in below if path.is_file())]


def forget(repository: Repository, name: SessionName) -> list[Path]:
    """Remove a session with all that belongs to it, and leave a tombstone.

    Returns the files that were removed. The tombstone comes first: a run that is
    killed in between has forgotten less than it should, and can be run again.
    """
    removed = files_of(repository, name)
    write_atomically(tombstone(repository, name), _TEXT, durable=True)
    for path in removed:
        path.unlink(missing_ok=True)
    folder = name.path(repository.sessions).with_suffix("")
    if not name.parent and folder.is_dir() and not folder.is_symlink():
        shutil.rmtree(folder, ignore_errors=True)
    return removed
