"""The queue as a sweep sees it: taking entries, and saying what became of each.

Owns the life of an entry. It must not know repositories, projects or archives:
the sweep says which entries are its own, and archives what it was given.

1. A hook writes `queue/NAME.json`, or replaces it (`knowrepo.hook`).
2. A sweep moves it into a folder of its own, `queue/taken-ID/`, by rename: of two
   sweeps one gets it, and a hook that comes meanwhile makes a new entry.
3. *Given back*, it returns as it was. Entries of projects that no sweep wants
   are not even taken; after 45 days they go.
4. *Done*, it is forgotten where the session has ended; but a transcript lags
   behind its agent, so an end is believed a minute later. A session that has not
   ended may have crashed, or go on: its entry returns with the size and time that
   the transcript had when it was taken, and rests until they differ. After a week
   without a change or an event it goes too. One that names no transcript, where
   none was found, is looked for again for a day.
5. Where a newer entry of the hook stands in the place, the old one gives way.
6. A sweep holds a lock on its folder. A folder whose lock is free was left by a
   sweep that was killed: the next one returns what is in it to the queue.
7. What is no entry, or no regular file, is moved to `queue/broken/`, which keeps the last few.
"""

from __future__ import annotations

import contextlib
import json
import math
import os
import shutil
import stat
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from filelock import FileLock, Timeout

from knowrepo import hook

Mark = tuple[int, int]

ENDED_AFTER = 60
SOUGHT_FOR = 24 * 3600
QUIET_AFTER = 7 * 24 * 3600
EXPIRED_AFTER = 45 * 24 * 3600
_LEFT_OVER_AFTER = 3600
_MOST_BROKEN = 20
_LARGEST = 1 << 16


@dataclass(frozen=True)
class Entry:
    """A session that moved on.

    ``path`` is its transcript, None where the agent names only the session.
    ``mark`` is the transcript's size and time as it was taken, before anything
    of it was read; ``archived`` the same of the last sweep that was done with it.
    """

    name: str
    agent: str
    path: Path | None
    session: str
    cwd: str
    event: str
    time: float
    closed: bool
    mark: Mark | None = None
    archived: Mark | None = None

    def at(self, path: Path) -> Entry:
        """Return the entry with the transcript that was found for it; call it before reading."""
        return replace(self, path=path, mark=_mark(path))


@dataclass(frozen=True)
class Waiting:
    """What the queue holds.

    ``waiting`` entries have news; ``resting`` ones were archived and may go on;
    ``taken`` ones are in a sweep's hands. ``oldest`` is when the oldest waiting
    entry was noted.
    """

    waiting: int = 0
    resting: int = 0
    taken: int = 0
    broken: int = 0
    oldest: float | None = None


class Sweep:
    """One pass over the queue, made by `sweep`."""

    def __init__(self, queue: Path, folder: Path, clock: Callable[[], float]) -> None:
        self._queue = queue
        self._folder = folder
        self._clock = clock
        self.broken = 0  # files that were no entries
        self.expired = 0  # entries that nobody wanted for too long

    def take(self, wanted: Callable[[Entry], bool] = lambda _: True) -> list[Entry]:
        """Take the entries with news that ``wanted`` is true of, oldest first."""
        taken = []
        for file in _entries(self._queue):
            seen = self._read(file)
            if seen is None or self._is_left(seen, wanted):
                continue
            try:
                file.rename(self._folder / file.name)
            except FileNotFoundError:  # another sweep was quicker
                continue
            # What was looked at may have been replaced before it was taken.
            entry = self._read(self._folder / file.name)
            if entry is None:
                continue
            if self._is_over(entry):
                self._forget(entry)
            elif entry == seen or wanted(entry):
                taken.append(entry)
            else:
                self.give_back(entry)
        return sorted(taken, key=lambda entry: entry.time)

    def done(self, entry: Entry) -> None:
        """Say that the transcript was archived as it was when the entry was taken.

        An entry without a path is one whose transcript was not found (see `Entry.at`).
        """
        age = self._clock() - entry.time
        if entry.path is None:
            self._forget(entry) if age >= SOUGHT_FOR else self.give_back(entry)
            return
        if entry.closed and age >= ENDED_AFTER:
            self._forget(entry)
            return
        content = {
            "agent": entry.agent,
            "path": str(entry.path),
            "session": entry.session,
            "cwd": entry.cwd,
            "event": entry.event,
            "time": entry.time,
            "closed": entry.closed,
            "archived": entry.mark,
        }
        hook.write_entry(str(self._folder), entry.name, content)
        self.give_back(entry)

    def give_back(self, entry: Entry) -> None:
        """Return an entry as it was, for another sweep."""
        _return(self._folder / entry.name, self._queue)

    def _is_left(self, entry: Entry, wanted: Callable[[Entry], bool]) -> bool:
        """Tell whether the entry stays where it is: no news, or none of ours."""
        if self._is_over(entry):
            return False
        return _rests(entry) or not wanted(entry)

    def _is_over(self, entry: Entry) -> bool:
        """Tell whether an entry has had its time: archived and at rest, or wanted by nobody."""
        age = self._clock() - entry.time
        if _rests(entry) and entry.mark is not None:
            changed = max(entry.time, entry.mark[1] / 1e9)
            return entry.closed or self._clock() - changed > QUIET_AFTER
        if entry.path is not None and entry.mark is None:  # its transcript is gone
            return age > QUIET_AFTER
        return age > EXPIRED_AFTER

    def _forget(self, entry: Entry) -> None:
        (self._folder / entry.name).unlink(missing_ok=True)
        if entry.archived is None and self._clock() - entry.time > EXPIRED_AFTER:
            self.expired += 1

    def _read(self, file: Path) -> Entry | None:
        try:
            return _parse(file)
        except FileNotFoundError:
            return None
        except (OSError, ValueError, RecursionError):
            self.broken += 1
            _set_aside(file, self._queue / "broken")
            return None


@contextlib.contextmanager
def sweep(state: Path | None = None, *, clock: Callable[[], float] = time.time) -> Iterator[Sweep]:
    """Begin a sweep; entries that were taken and not decided on return at its end."""
    queue = (state or Path(hook.state_dir())) / hook.QUEUE
    queue.mkdir(mode=0o700, parents=True, exist_ok=True)
    folder = queue / f"taken-{os.getpid()}-{os.urandom(4).hex()}"
    lock = FileLock(folder / "lock")
    # Held for a moment: nobody may meet a folder whose owner has yet to lock it.
    with FileLock(queue / ".lock"):
        folder.mkdir(mode=0o700)
        lock.acquire()
        _recover(queue, own=folder)
    try:
        yield Sweep(queue, folder, clock)
    finally:
        _return_all(folder, queue)
        lock.release()
        shutil.rmtree(folder, ignore_errors=True)


def waiting(state: Path | None = None) -> Waiting:
    """Count what the queue holds; changes nothing."""
    queue = (state or Path(hook.state_dir())) / hook.QUEUE
    news: list[float] = []
    resting = broken = 0
    for file in _entries(queue):
        try:
            entry = _parse(file)
        except FileNotFoundError:
            continue
        except (OSError, ValueError, RecursionError):
            broken += 1
            continue
        if _rests(entry):
            resting += 1
        else:
            news.append(entry.time)
    return Waiting(
        waiting=len(news),
        resting=resting,
        taken=sum(1 for _ in queue.glob("taken-*/*.json")),
        broken=broken + sum(1 for _ in queue.glob("broken/*")),
        oldest=min(news, default=None),
    )


def _entries(queue: Path) -> list[Path]:
    return sorted(path for path in queue.glob("*.json") if not path.name.startswith("."))


def _parse(file: Path) -> Entry:
    """Read an entry; raises ValueError where the file is none."""
    data = _content(file)
    said = json.loads(data)
    if len(data) > _LARGEST or not isinstance(said, dict):
        raise ValueError("no entry")
    texts = [said.get(key) for key in ("agent", "path", "session", "cwd", "event")]
    strings = [text for text in texts if isinstance(text, str) and "\0" not in text]
    when, closed = said.get("time"), said.get("closed")
    if len(strings) < len(texts) or not isinstance(closed, bool):
        raise ValueError("no entry: a value is missing")
    if not isinstance(when, int | float) or not math.isfinite(when):
        raise ValueError("no entry: no time")
    agent, name, session, cwd, event = strings
    path = Path(name) if name else None
    if not (path.is_absolute() if path else session):
        raise ValueError("no entry: no transcript")
    mark = _mark(path) if path else None
    archived = _stored_mark(said.get("archived"))
    return Entry(file.name, agent, path, session, cwd, event, when, closed, mark, archived)


def _content(file: Path) -> bytes:
    """Read a regular file: a pipe of that name would be waited for, a link leads elsewhere."""
    flags = sum(getattr(os, name, 0) for name in ("O_NONBLOCK", "O_NOFOLLOW", "O_BINARY"))
    number = os.open(file, os.O_RDONLY | flags)
    try:
        if not stat.S_ISREG(os.fstat(number).st_mode):
            raise ValueError("no entry: not a regular file")
        with open(number, "rb", closefd=False) as stream:
            return stream.read(_LARGEST + 1)
    finally:
        os.close(number)


def _mark(path: Path) -> Mark | None:
    try:
        status = path.stat()
    except (OSError, ValueError):  # also a path that no file system could hold
        return None
    return status.st_size, status.st_mtime_ns


def _stored_mark(value: object) -> Mark | None:
    match value:
        case [int(size), int(when)]:
            return size, when
    return None


def _rests(entry: Entry) -> bool:
    return entry.archived is not None and entry.archived == entry.mark


def _return(file: Path, queue: Path) -> None:
    """Put an entry back into the queue, unless a newer one stands there."""
    target = queue / file.name
    try:
        os.link(file, target)
    except (FileExistsError, FileNotFoundError):
        pass
    except OSError:  # a file system without links: a hook may come in between
        # Then the end of a session may be unknown, and it is looked at for a week.
        if not target.exists():
            file.replace(target)
    file.unlink(missing_ok=True)


def _return_all(folder: Path, queue: Path) -> None:
    for file in _entries(folder):
        _return(file, queue)


def _recover(queue: Path, *, own: Path) -> None:
    """Return what killed sweeps had taken, and remove what killed hooks had begun."""
    for folder in queue.glob("taken-*"):
        if folder == own:
            continue
        with contextlib.suppress(Timeout, OSError), FileLock(folder / "lock", timeout=0):
            _return_all(folder, queue)
            shutil.rmtree(folder, ignore_errors=True)
    for file in queue.glob(".*.tmp"):
        with contextlib.suppress(OSError):
            if time.time() - file.stat().st_mtime > _LEFT_OVER_AFTER:
                file.unlink()


def _set_aside(file: Path, broken: Path) -> None:
    with contextlib.suppress(OSError):
        broken.mkdir(mode=0o700, exist_ok=True)
        file.replace(broken / file.name)
        kept = sorted(broken.iterdir(), key=lambda path: path.lstat().st_mtime, reverse=True)
        for old in kept[_MOST_BROKEN:]:
            shutil.rmtree(old) if old.is_dir() and not old.is_symlink() else old.unlink()
