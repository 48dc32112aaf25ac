"""Which locks of a repository are held, and by whom.

Owns looking at lock files. A lock of ours is held by a process and goes with it,
so a file that is there says nothing; only the kernel knows. Nothing is created,
and no lock is taken that somebody could wait for: a shared one for an instant.
"""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from knowrepo.git.layout import Repository

_KERNELS = Path("/proc/locks")


@dataclass(frozen=True)
class Lock:
    """A lock file of ours. ``holder`` is 0 where the kernel does not say who holds it."""

    name: str
    path: Path
    held: bool
    holder: int = 0
    command: str = ""


def locks(repository: Repository) -> Iterator[Lock]:
    """Yield the locks of a work tree and of the vectors that it shares, held or free."""
    holders = _holders()
    for path in _files(repository):
        held = is_held(path)
        holder = _holder(path, holders) if held else 0
        yield Lock(_name(repository, path), path, held, holder, _command(holder))


def _files(repository: Repository) -> list[Path]:
    tables = repository.vectors.glob("*/*lock")
    shared = (repository.common_dir / "know" / "background").glob("*.lock")
    return sorted({*repository.locks.glob("*.lock"), *shared, *tables})


def _name(repository: Repository, path: Path) -> str:
    """Return what a lock guards: `catalog`, `archive`, `embedding 3fa91c02`."""
    table = path.parent.name[:8] if path.is_relative_to(repository.vectors) else ""
    what = path.name.removesuffix("lock").removesuffix(".") or "vectors"
    return f"{what} {table}".strip()


def is_held(path: Path) -> bool:
    """Say whether a process holds the lock of a file; one that is not there is free."""
    if sys.platform == "win32":
        return False
    import fcntl

    try:
        number = os.open(path, os.O_RDONLY)
    except OSError:  # gone since, or not ours to look at
        return False
    try:
        fcntl.flock(number, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    except OSError:  # a file system without locks
        return False
    finally:
        os.close(number)
    return False


def _holders() -> dict[tuple[int, int, int], int]:
    """Return `{(major, minor, inode): process}` of the locks that Linux lists; elsewhere nothing.

    A line is `1: FLOCK  ADVISORY  WRITE 4711 08:01:1835015 0 EOF`.
    """
    found: dict[tuple[int, int, int], int] = {}
    with contextlib.suppress(OSError):
        for line in _KERNELS.read_text(encoding="ascii", errors="replace").splitlines():
            words = line.split()
            if len(words) > 5 and words[1] == "FLOCK":
                with contextlib.suppress(ValueError):
                    major, minor, inode = words[5].split(":")
                    found[int(major, 16), int(minor, 16), int(inode)] = int(words[4])
    return found


def _holder(path: Path, holders: dict[tuple[int, int, int], int]) -> int:
    with contextlib.suppress(OSError):
        stat = path.stat()
        exact = (os.major(stat.st_dev), os.minor(stat.st_dev), stat.st_ino)
        if exact in holders:
            return max(holders[exact], 0)
        # Overlays and subvolumes show files under another device than the kernel does.
        same = {process for (_, _, inode), process in holders.items() if inode == stat.st_ino}
        if len(same) == 1:
            return max(same.pop(), 0)
    return 0


def _command(process: int) -> str:
    """Return the command line of a process, as far as the kernel tells it."""
    if not process:
        return ""
    try:
        words = Path(f"/proc/{process}/cmdline").read_bytes().split(b"\0")
    except OSError:
        return ""
    return " ".join(word.decode("utf-8", "replace") for word in words if word)
