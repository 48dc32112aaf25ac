"""Telling whether a catalog has seen the present state, from a few file stats.

Owns the signature that a catalog keeps of the git index and of the folders
under `sessions/`. Every recall computes it, so it starts no process and reads
no content: a folder's time changes when a session is published in it, and the
git index ends in a checksum of itself.
"""

from __future__ import annotations

import json
import os
import time
from dataclasses import dataclass, field
from pathlib import Path

from knowrepo.git.layout import Repository

# A change within the clock's tick of our look would leave the same time; a time
# this young is not kept, so that the next look looks again.
_RACY_NANOSECONDS = 100_000_000
_YOUNG = -2
_CHECKSUM_BYTES = 20


@dataclass(frozen=True)
class Signature:
    """What was seen: the git index's time and checksum, the folders' times."""

    index_time: int = -1
    index_sum: str = ""
    folders: dict[str, int] = field(default_factory=dict)

    def dumps(self) -> str:
        """Return the signature as text."""
        return json.dumps([self.index_time, self.index_sum, self.folders])

    @classmethod
    def loads(cls, text: str) -> Signature:
        """Return the signature from text; one that fits nothing where it is not whole."""
        try:
            index_time, index_sum, folders = json.loads(text)
            return cls(int(index_time), str(index_sum), dict(folders))
        except (ValueError, TypeError):
            return cls()


def take(repository: Repository) -> Signature:
    """Return the signature of the present state."""
    now = time.time_ns()
    index_time, index_sum = _mtime(repository.git_index), _index_sum(repository.git_index)
    folders = {str(folder): _mtime(folder) for folder in _folders(repository.sessions)}
    return Signature(
        _settled(index_time, now),
        index_sum,
        {folder: _settled(mtime, now) for folder, mtime in folders.items()},
    )


def is_current(repository: Repository, seen: Signature) -> bool:
    """Say whether the state is the one that was seen."""
    if str(repository.sessions) not in seen.folders:
        return False
    if any(_mtime(Path(folder)) != mtime for folder, mtime in seen.folders.items()):
        return False
    if _mtime(repository.git_index) == seen.index_time:
        return True
    # git rewrites its index for its own ends; the checksum tells what changed.
    return bool(seen.index_sum.strip("0")) and _index_sum(repository.git_index) == seen.index_sum


def is_settled(seen: Signature) -> bool:
    """Say whether no time in a signature was too young to be kept: it then names one state."""
    return seen.index_time != _YOUNG and _YOUNG not in seen.folders.values()


def _folders(top: Path) -> list[Path]:
    """Return ``top`` and the folders below it."""
    return [Path(folder) for folder, _, _ in os.walk(top)] or [top]


def _settled(mtime: int, now: int) -> int:
    return mtime if mtime < 0 or now - mtime > _RACY_NANOSECONDS else _YOUNG


def _mtime(path: Path) -> int:
    try:
        return path.stat().st_mtime_ns
    except OSError:
        return -1


def _index_sum(index: Path) -> str:
    """Return the checksum at the end of the git index; zeros where git leaves it out."""
    try:
        with index.open("rb") as stream:
            size = stream.seek(0, os.SEEK_END)
            stream.seek(max(0, size - _CHECKSUM_BYTES))
            return stream.read().hex()
    except OSError:
        return ""
