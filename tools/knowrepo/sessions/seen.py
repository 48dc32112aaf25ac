"""What the last runs saw of each source, so that what did not change is not read again.

Owns a small derived file in the git directory. It is never believed further
than the disk bears it out: a source counts as unchanged only with the same size
and time, under the same rules, and with every session that it became still
there as it was left. A lost or broken file costs time, nothing else.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from knowrepo.config import write_atomically

_FORMAT = 3
_BLOCK = 1 << 20


@dataclass(frozen=True)
class Resume:
    """How far a source was read, where reading may go on.

    Its first ``offset`` bytes, whose sha256 is ``digest``, are ``lines`` lines,
    and the archived session is just what they became.
    """

    offset: int
    digest: str
    lines: int
    first_id: str
    last_id: str
    parent_id: str
    folder: str
    folder_hash: str


@dataclass(frozen=True)
class Seen:
    """A source as it was: what became of it, and the sessions that it became.

    ``sessions`` maps their names to the stamps of their files, ``natives`` to the
    stamps that the source itself gave them. ``denied`` are the folders (and their
    hashes) of those sessions that did not belong here.
    """

    stat: list[int]
    action: str
    sessions: dict[str, str] = field(default_factory=dict)
    natives: dict[str, str] = field(default_factory=dict)
    denied: list[list[str]] = field(default_factory=list)
    resume: Resume | None = None


class SeenSources:
    """The sources that were looked at, by path."""

    def __init__(self, path: Path, rules: str) -> None:
        self._path = path
        self._rules = rules
        self._sources: dict[str, Seen] = {}
        self._changed = False
        try:
            data = json.loads(path.read_bytes())
            if data["format"] == _FORMAT and data["rules"] == rules:
                self._sources = {key: _seen(entry) for key, entry in data["sources"].items()}
        except (OSError, ValueError, KeyError, TypeError, AttributeError):
            pass

    def unchanged(
        self, source: Path, stamp_of: Callable[[str], str], maps: Callable[[str, str], bool]
    ) -> Seen | None:
        """Return what became of ``source`` where it, and its sessions, are as they were.

        What did not belong here is asked of ``maps`` again: a project may have been
        mapped, or have got a remote, since.
        """
        seen = self._sources.get(_key(source))
        if seen is None or seen.stat != stat_of(source):
            return None
        if any(maps(folder, folder_hash) for folder, folder_hash in seen.denied):
            return None
        held = all(stamp_of(name) == stamp for name, stamp in seen.sessions.items())
        return seen if held else None

    def resume(self, source: Path, stamp_of: Callable[[str], str]) -> tuple[str, Resume] | None:
        """Return the session of ``source`` and how far it was read, where it only grew."""
        seen = self._sources.get(_key(source))
        if seen is None or seen.resume is None or len(seen.sessions) != 1:
            return None
        ((name, stamp),) = seen.sessions.items()
        if source.stat().st_size < seen.resume.offset or stamp_of(name) != stamp:
            return None
        if _digest(source, seen.resume.offset) != seen.resume.digest:
            return None
        return name, seen.resume

    def native(self, source: Path, session: str, stamp_of: Callable[[str], str]) -> str:
        """Return the stamp that ``source`` gave a session that is archived as it was left."""
        seen = self._sources.get(_key(source))
        if seen is None or seen.sessions.get(session, "-") != stamp_of(session):
            return ""
        return seen.natives.get(session, "")

    def note(self, source: Path, seen: Seen) -> None:
        """Note what became of a source."""
        self._sources[_key(source)] = seen
        self._changed = True

    def forget(self, source: Path) -> None:
        """Forget a source, so that it is read again."""
        self._changed = self._sources.pop(_key(source), None) is not None or self._changed

    def save(self) -> None:
        """Write what was noted; what is gone from the disk is left out."""
        if not self._changed:
            return
        sources = {
            path: asdict(seen) for path, seen in self._sources.items() if Path(path).exists()
        }
        data = {"format": _FORMAT, "rules": self._rules, "sources": sources}
        write_atomically(self._path, json.dumps(data, separators=(",", ":")).encode())


def stat_of(source: Path) -> list[int]:
    """Return what changes with a source; a database's log of late writes counts with it."""
    marks: list[int] = []
    for path in (source, source.with_name(f"{source.name}-wal")):
        try:
            found = path.stat()
        except OSError:  # there is no log, or its name would be too long
            if path == source:
                raise
        else:
            marks += [found.st_size, found.st_mtime_ns, found.st_ctime_ns, found.st_ino]
    return marks


def _key(source: Path) -> str:
    return str(source.absolute())


def _digest(source: Path, length: int) -> str:
    digest = hashlib.sha256()
    with source.open("rb") as stream:
        while length and (block := stream.read(min(length, _BLOCK))):
            digest.update(block)
            length -= len(block)
    return digest.hexdigest() if not length else ""


def _seen(entry: dict[str, Any]) -> Seen:
    resume = entry.pop("resume")
    return Seen(**entry, resume=Resume(**resume) if resume else None)
