"""Indexing in the background, for git's hooks: asked for at once, done one at a time.

Owns the requests, the process that serves them, and its end. A request is a small
file, one for each knowledge repository of each work tree, so that many of them are
one. Whoever holds the lock serves all that come while it works; the kernel takes a
lock from a process that dies, and what it had not finished is done by the next.
What is done is given by the caller: this module knows no catalog.
"""

from __future__ import annotations

import contextlib
import faulthandler
import hashlib
import os
import signal
import subprocess
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from filelock import FileLock, Timeout

from knowrepo.config import write_atomically
from knowrepo.errors import KnowError
from knowrepo.git.layout import Repository, repository_at
from knowrepo.git.program import Command
from knowrepo.upkeep import logs
from knowrepo.upkeep.locks import is_held

LIMIT = 3600.0
"""Seconds that a process lives: what is left is done after the next commit."""
NAME = "background"
"""What such a run is called in the log."""
LOG = "background.err"
_LOCK = "background.lock"
_GRACE = 60.0  # seconds to publish what is done, before the process is ended
_LOOK = 1.0  # seconds between two looks whether the repository is still there
_INSTANT, _PATIENCE = 0.05, 1.0  # seconds
_OLD = 3600  # seconds after which an unfinished request is nobody's

Work = Callable[[Repository, logs.Noted], None]
_THROUGH = frozenset({"GIT_SSH", "GIT_SSH_COMMAND", "GIT_ASKPASS", "GIT_EXEC_PATH"})


def request(repository: Repository) -> bool:
    """Ask for a run; says whether a process must be started for it.

    Where one is at work, it sees the request when it is done. Raises OSError where
    the git directory cannot be written.
    """
    folder = _folder(repository)
    folder.mkdir(parents=True, exist_ok=True)
    root = os.fsencode(repository.root)
    name = hashlib.sha256(root).hexdigest()[:16]
    write_atomically(folder / f"{name}.request", root)
    try:
        with _lock(folder, _INSTANT):
            return True
    except Timeout:
        return False


def start(repository: Repository, command: Command) -> None:
    """Start a process that serves requests, and wait for nothing of it.

    It has a session of its own, no terminal, and nothing of what git hands down.
    """
    env = {k: v for k, v in os.environ.items() if _passes(k)}
    arguments = ["hook", "index", "--detached", "--repo", str(repository.root)]
    with _err(repository) as stream:
        subprocess.Popen(
            [*command, *arguments],
            cwd=os.sep,  # no folder is held that somebody wants to unmount
            env=env,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=stream,
            start_new_session=True,
        )


def serve(repository: Repository, work: Work, *, wait: bool = False) -> int:
    """Do what is asked for, until nothing is; returns how many runs failed.

    Where another process does it already, nothing is done here; with ``wait`` its
    end is waited for.
    """
    folder = _folder(repository)
    failed = 0
    while True:
        try:
            with _lock(folder, -1 if wait else _PATIENCE):
                _take_over(folder)
                for path, root in _requests(folder):
                    failed += not _run(repository, root, work)
                    path.unlink(missing_ok=True)
        except Timeout:  # its holder looks once more when it lets go
            return failed
        if not any(folder.glob("*.request")):
            return failed


def live(repository: Repository, limit: float = LIMIT) -> None:
    """Bound the life of this process, which nobody watches.

    After ``limit`` seconds it stops as by SIGTERM, so that what is done is published;
    where even that takes too long it is ended, by a thread that needs nothing of
    Python's. Where the repository is gone it ends at once.
    """
    with contextlib.suppress(OSError):
        os.nice(10)

    def stop(_signal: int, _frame: object) -> None:
        raise KeyboardInterrupt

    signal.signal(signal.SIGTERM, stop)
    faulthandler.dump_traceback_later(limit + _GRACE, exit=True)
    arguments = (repository.common_dir, repository.common_dir.stat().st_ino, limit)
    threading.Thread(target=_watch, args=arguments, daemon=True).start()


@dataclass(frozen=True)
class State:
    """How background runs stand: requests that wait, and runs that were begun.

    Where no process is ``running``, one that was begun was killed before its end.
    """

    running: bool
    asked: int
    begun: int


def state(repository: Repository) -> State:
    """Return how background runs stand; nothing is created for the look."""
    folder = _folder(repository)
    asked, begun = (len(list(folder.glob(f"*.{what}"))) for what in ("request", "begun"))
    return State(is_held(folder / _LOCK), asked, begun)


def last(repository: Repository) -> tuple[logs.Run | None, logs.Run | None]:
    """Return the last run that the log has, and the last that failed."""
    runs = [run for run in logs.recent(repository, 1 << 12) if run.name == NAME]
    bad = [run for run in runs if run.outcome in ("failed", "bug")]
    return (runs[-1] if runs else None), (bad[-1] if bad else None)


def said(repository: Repository) -> str:
    """Return the last line that the last process said: why it embedded nothing, or crashed."""
    try:
        text = (repository.logs / LOG).read_text("utf-8", errors="replace")
    except OSError:
        return ""
    lines = text.split("\n")
    return next((line.strip() for line in reversed(lines) if line.strip()), "")


def _folder(repository: Repository) -> Path:
    return repository.common_dir / "know" / "background"


def _lock(folder: Path, timeout: float) -> contextlib.AbstractContextManager[object]:
    """Take the lock, or raise Timeout.

    Others hold it for an instant to see whether it is free; that is waited for.
    """
    return FileLock(folder / _LOCK).acquire(timeout=timeout, poll_interval=_INSTANT / 5)


def _requests(folder: Path) -> Iterator[tuple[Path, Path]]:
    """Yield what is asked for, until nothing is: the file of a begun run, and its root."""
    while True:
        asked = folder.glob("*.request")
        found = min(asked, key=lambda path: path.stat().st_mtime_ns, default=None)
        if found is None:
            return
        begun = found.with_suffix(".begun")
        found.replace(begun)  # what is asked for from now on is a request of its own
        yield begun, Path(os.fsdecode(begun.read_bytes()))


def _take_over(folder: Path) -> None:
    """Ask again for what a process that was killed had begun, and drop its unfinished files."""
    for path in folder.glob("*.begun"):
        path.replace(path.with_suffix(".request"))
    for path in folder.glob(".*.tmp"):
        with contextlib.suppress(OSError):
            if time.time() - path.stat().st_mtime > _OLD:
                path.unlink()


def _run(repository: Repository, root: Path, work: Work) -> bool:
    """Do one run, and note it; says whether it went well."""
    try:
        here = repository_at(root)
    except KnowError:  # a work tree that was removed since
        return True
    if here.common_dir != repository.common_dir:
        return True
    try:
        with logs.noted(here, NAME) as what:
            work(here, what)
    except (KnowError, OSError):
        return False
    except Exception as error:
        logs.note_bug(here, NAME, error)
        return False
    return True


def _watch(folder: Path, inode: int, limit: float) -> None:
    until = time.monotonic() + limit
    while True:
        time.sleep(_LOOK)
        try:
            gone = folder.stat().st_ino != inode
        except OSError:
            gone = True
        if gone:
            os._exit(0)
        if time.monotonic() > until:
            until = float("inf")
            os.kill(os.getpid(), signal.SIGTERM)


def _passes(name: str) -> bool:
    return not name.startswith("GIT_") or name in _THROUGH or name.startswith("GIT_CONFIG")


@contextlib.contextmanager
def _err(repository: Repository) -> Iterator[int]:
    """Open a file for what one process says, remarks and last words; the next begins it anew."""
    path = repository.logs / LOG
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        number = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_APPEND, 0o600)
    except OSError:
        yield subprocess.DEVNULL
        return
    try:
        yield number
    finally:
        os.close(number)
