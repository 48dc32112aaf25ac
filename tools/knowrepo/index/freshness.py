"""Telling whether a catalog has seen the present state, from a few file stats.

Owns the signature that a catalog keeps of the git index and of the folders
under `sessions/`. Every recall computes it, so it starts no process and reads
no content: a folder's time changes when a session is published in it, and the
git index ends in a checksum of itself. A session that somebody edited in place
shows in its file's own stamp alone: `know index` looks at all of these.
"""

from __future__ import annotations

import hashlib
import json
import os
import time
from dataclasses import dataclass, field
from pathlib import Path

from knowrepo.git.layout import Repository
from knowrepo.index.catalog import SEEN, STAMPS, Catalog, SQLiteError

# A change within the clock's tick of our look would leave the same time; a time
# this young is not kept, so that the next look looks again.
_RACY_NANOSECONDS = 100_000_000
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


@dataclass(frozen=True)
class Difference:
    """How many documents a catalog lacks, has in another form, and has too many."""

    added: int = 0
    changed: int = 0
    removed: int = 0


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
    if any(_mtime(folder) != mtime for folder, mtime in seen.folders.items()):
        return False
    if _mtime(repository.git_index) == seen.index_time:
        return True
    # git rewrites its index for its own ends; the checksum tells what changed.
    return bool(seen.index_sum.strip("0")) and _index_sum(repository.git_index) == seen.index_sum


def stamps(repository: Repository) -> str:
    """Return a digest of the names, sizes and times of all files under `sessions/`, and of HEAD.

    Empty where one is so young that a change of it might not show.
    """
    settled = time.time_ns() - _RACY_NANOSECONDS
    digest = hashlib.blake2b(_head(repository), digest_size=16)
    waiting = [str(repository.sessions)]
    while waiting:
        found = []
        try:
            with os.scandir(waiting.pop()) as entries:
                for entry in entries:
                    if entry.is_dir(follow_symlinks=False):
                        waiting.append(entry.path)
                        continue
                    stat = entry.stat(follow_symlinks=False)
                    if stat.st_mtime_ns > settled:
                        return ""
                    found.append(f"{entry.path}\0{stat.st_size}\0{stat.st_mtime_ns}")
        except OSError:  # gone since we looked, or not there yet
            continue
        waiting.sort()
        digest.update(os.fsencode("\0".join([*sorted(found), ""])))
    return digest.hexdigest()


def holds_all(repository: Repository) -> bool:
    """Say whether the catalog holds the present state, down to each session's file.

    No process is started, and no file but the catalog is opened.
    """
    catalog = Catalog.open(repository.catalog)
    if catalog is None:
        return False
    with catalog:
        try:
            seen, stamped = catalog.meta(SEEN), catalog.meta(STAMPS)
        except SQLiteError:  # damaged: whoever writes finds out
            return False
    return (
        bool(stamped)
        and is_current(repository, Signature.loads(seen))
        and stamps(repository) == stamped
    )


def _head(repository: Repository) -> bytes:
    """Return what tells one commit of HEAD from another, for concepts that are dated by theirs."""
    head = _content(repository.git_dir / "HEAD")
    name = os.fsdecode(head.removeprefix(b"ref:").strip())
    if head.startswith(b"ref:") and ".." not in name:
        branch = _content(repository.common_dir / name)
        return head + (branch or str(_mtime(repository.common_dir / "packed-refs")).encode())
    return head


def _content(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError:
        return b""


def _folders(top: Path) -> list[Path]:
    """Return ``top`` and the folders below it."""
    return [Path(folder) for folder, _, _ in os.walk(top)] or [top]


def _settled(mtime: int, now: int) -> int:
    return mtime if mtime < 0 or now - mtime > _RACY_NANOSECONDS else -2


def _mtime(path: Path | str) -> int:
    try:
        return os.stat(path).st_mtime_ns  # noqa: PTH116 - on every recall's time
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
