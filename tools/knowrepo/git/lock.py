"""One process at a time: the locks of a work tree.

Owns how work of a kind is held by one process. A lock belongs to the process:
one that was killed holds nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from filelock import FileLock, Timeout

from knowrepo.git.layout import Repository


@contextmanager
def held(
    repository: Repository, name: str, waiting: Callable[[], None] = lambda: None
) -> Iterator[None]:
    """Hold the lock ``name`` of a work tree; ``waiting`` is called where it must be waited for."""
    repository.locks.mkdir(parents=True, exist_ok=True)
    lock = FileLock(repository.locks / f"{name}.lock")
    try:
        lock.acquire(timeout=0)
    except Timeout:
        waiting()
        lock.acquire()
    try:
        yield
    finally:
        lock.release()
