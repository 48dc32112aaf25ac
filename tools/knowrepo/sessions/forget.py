"""Forgetting a session: the one way out of the archive.

Owns the tombstone that is left behind: a small tracked file beside where the
session was, which keeps every clone's archive from bringing it back. It names
the session and says nothing of what was in it. History is git's: what is
forgotten here still stands in earlier commits.
"""

from __future__ import annotations

import re
import shutil
from pathlib import Path

from knowrepo.config import write_atomically
from knowrepo.git.layout import Repository
from knowrepo.sessions import origin, store
from knowrepo.sessions.store import SessionName

TOMBSTONE = ".forgotten"
# A first file, a part of whatever number, or what a killed run made beside one.
_FILE = re.compile(r"\.?(?P<id>[^.].*?)(?:\.\d+)?\.jsonl(?:\.[0-9a-f]+\.tmp)?")
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
    """Return the files of a session, and of all that belongs to it, in turn.

    Parts that do not fit are among them, and what a killed run left beside them.
    """
    found: dict[Path, None] = {}
    for one in _family(repository, name):
        first = one.path(repository.sessions)
        found.update(dict.fromkeys(_named_as(first)))
        beside = origin.path_of(repository.sessions, SessionName(one.agent, one.id))
        if beside.is_file() and not (one.parent and _has_own(repository, one)):
            found[beside] = None
        found.update(dict.fromkeys(_all_in(_folder_below(repository, one))))
    return list(found)


def first_files_of(repository: Repository, name: SessionName) -> list[Path]:
    """Return the first file of a session, and of each that belongs to it."""
    firsts = (one.path(repository.sessions) for one in _family(repository, name))
    return [first for first in firsts if store.is_file(first)]


def bury(repository: Repository, name: SessionName) -> None:
    """Leave the tombstones: from now on nobody archives, lists or indexes the session."""
    for one in _family(repository, name):
        below = SessionName(one.agent, one.id)
        if one == name:
            write_atomically(tombstone(repository, name), _TEXT, durable=True)
        elif _folder_below(repository, one) is not None:  # what is below it names only it
            write_atomically(tombstone(repository, below), _TEXT, durable=True)


def forget(repository: Repository, name: SessionName) -> list[Path]:
    """Remove a session with all that belongs to it, and leave tombstones.

    Returns the files that were removed. The tombstones come first: a run that is
    killed in between has forgotten less than it should, and can be run again.
    """
    removed = files_of(repository, name)
    folders = [_folder_below(repository, one) for one in _family(repository, name)]
    bury(repository, name)
    for path in removed:
        path.unlink(missing_ok=True)
    for folder in filter(None, folders):
        shutil.rmtree(folder, ignore_errors=True)
    return removed


def _family(repository: Repository, name: SessionName) -> list[SessionName]:
    """Return a session and all that belongs to it, each after the one that called it.

    What a sub-agent called lies in a folder of the sub-agent's own name. Where a
    session of its own has that name, the folder is that one's.
    """
    repository.inside(name.path(repository.sessions))
    family = [name]
    for one in family:
        folder = _folder_below(repository, one)
        for path in sorted(folder.iterdir()) if folder is not None else ():
            match = _FILE.fullmatch(path.name)
            below = SessionName(one.agent, match["id"], one.id) if match else one
            if below.is_safe and below not in family:
                family.append(below)
    return family


def _folder_below(repository: Repository, name: SessionName) -> Path | None:
    """Return the folder of what a session called, where it has one."""
    folder = SessionName(name.agent, name.id).path(repository.sessions).with_suffix("")
    if folder.is_symlink() or not folder.is_dir():
        return None
    return None if name.parent and _has_own(repository, name) else repository.inside(folder)


def _has_own(repository: Repository, name: SessionName) -> bool:
    """Say whether a session of its own, nobody's sub-agent, has the id."""
    return SessionName(name.agent, name.id).path(repository.sessions).exists()


def _named_as(first: Path) -> list[Path]:
    """Return the files beside ``first`` that have the session's name: parts, and leftovers."""
    beside = sorted(first.parent.iterdir()) if first.parent.is_dir() else []
    own = (_FILE.fullmatch(path.name) for path in beside)
    return [p for p, match in zip(beside, own, strict=True) if match and match["id"] == first.stem]


def _all_in(folder: Path | None) -> list[Path]:
    below = sorted(folder.rglob("*")) if folder is not None else []
    return [path for path in below if path.is_symlink() or not path.is_dir()]
