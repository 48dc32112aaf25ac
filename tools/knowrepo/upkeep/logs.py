"""The log: one line for each run that changed, or was to change, something derived.

Owns `know.log` in the folder of the logs: JSON lines, appended in one write
each, so that processes never mix, and turned over by size. It is there to say
later what ran, when, and why it failed. A line holds names of commands, counts
and our own errors; the words of any other error may come from an archive, so of
a bug it keeps the kind and the places in the code. No command fails for it.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
import time
import traceback
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from knowrepo import __version__
from knowrepo.errors import KnowError
from knowrepo.git.layout import Repository
from knowrepo.terminal import plain
from knowrepo.units import shorten

FILE = "know.log"
LARGEST = 1 << 20
"""Bytes of a log before it is turned over; the one before is kept beside it."""
_LONGEST_ERROR = 300
_MOST_FRAMES = 20
_TAIL = 1 << 18
_CREDENTIALS = re.compile(r"(?<=://)[^/@\s]+@")

Noted = dict[str, int | str]


@dataclass(frozen=True)
class Run:
    """A line of the log.

    ``outcome`` is `done`, `failed`, `interrupted` or `bug`; ``what`` are the counts
    that a run gave, and ``tree`` is the knowledge repository that it worked in.
    """

    name: str
    time: str
    seconds: float
    outcome: str
    tree: str = ""
    error: str = ""
    what: Mapping[str, int | str] = field(default_factory=dict)


@contextlib.contextmanager
def noted(repository: Repository, name: str) -> Iterator[Noted]:
    """Write a line about a run when it ends; what it counted goes into the dictionary.

    A run that ends well and counted nothing did nothing, and leaves no line.
    """
    what: Noted = {}
    started = time.monotonic()
    outcome, error = "done", ""
    try:
        yield what
    except KnowError as failure:
        outcome, error = "failed", failure.message
        raise
    except OSError as failure:
        outcome, error = "failed", f"{failure.filename or name}: {failure.strerror}"
        raise
    except KeyboardInterrupt:
        outcome = "interrupted"
        raise
    except Exception as failure:
        outcome, error = "bug", type(failure).__name__
        raise
    finally:
        if what or outcome != "done":
            seconds = round(time.monotonic() - started, 3)
            _write(repository, {"run": name, "outcome": outcome, "seconds": seconds}, error, what)


def note_bug(repository: Repository, command: str, error: BaseException) -> Path | None:
    """Write where in the code a bug showed; returns the log, None where there is none.

    Neither the words of the error nor the arguments are written down.
    """
    frames = traceback.extract_tb(error.__traceback__)[-_MOST_FRAMES:]
    places = [f"{_in_package(frame.filename)}:{frame.lineno} {frame.name}" for frame in frames]
    line = {"run": command, "outcome": "bug", "seconds": 0.0}
    return _write(repository, line, type(error).__name__, {}, places)


def recent(repository: Repository, most: int) -> list[Run]:
    """Return the last lines of the log, the newest last; what is no line of ours is left out."""
    log = repository.logs / FILE
    lines = [*_tail(_older(log)), *_tail(log)]
    runs: list[Run] = []
    for line in reversed(lines):
        if len(runs) == most:
            break
        if (run := _parse(line)) is not None:
            runs.append(run)
    return runs[::-1]


def _write(
    repository: Repository,
    line: dict[str, Any],
    error: str,
    what: Noted,
    places: list[str] | None = None,
) -> Path | None:
    now = datetime.now(UTC).isoformat(timespec="seconds").replace("+00:00", "Z")
    entry = {"time": now, **line, "know": __version__, "tree": str(repository.root)}
    if error:
        entry["error"] = shorten(_CREDENTIALS.sub("", plain(error)), _LONGEST_ERROR)
    if places:
        entry["traceback"] = places
    if what:
        entry["what"] = what
    log = repository.logs / FILE
    try:
        _append(log, json.dumps(entry).encode() + b"\n")
    except OSError:  # a full or read-only disk is the command's to tell
        return None
    return log


def _append(log: Path, data: bytes) -> None:
    log.parent.mkdir(parents=True, exist_ok=True)
    number = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    try:
        os.write(number, data)
        size = os.fstat(number).st_size
    finally:
        os.close(number)
    if size > LARGEST:
        _turn_over(log)


def _turn_over(log: Path) -> None:
    from filelock import FileLock, Timeout

    with contextlib.suppress(Timeout), FileLock(f"{log}.lock", timeout=0):
        if log.stat().st_size > LARGEST:  # another process may have been quicker
            log.replace(_older(log))


def _older(log: Path) -> Path:
    return log.with_name(f"{log.name}.1")


def _tail(log: Path) -> list[bytes]:
    try:
        with log.open("rb") as stream:
            size = stream.seek(0, os.SEEK_END)
            stream.seek(max(0, size - _TAIL))
            return stream.read().split(b"\n")
    except OSError:
        return []


def _parse(line: bytes) -> Run | None:
    # A full disk may have cut a line; the next one then stands behind its beginning.
    start = line.rfind(b'{"time": ')
    if start < 0:
        return None
    try:
        entry = json.loads(line[start:])
        what = entry.get("what", {})
        return Run(
            name=str(entry["run"]),
            time=str(entry["time"]),
            seconds=float(entry["seconds"]),
            outcome=str(entry["outcome"]),
            tree=str(entry.get("tree", "")),
            error=str(entry.get("error", "")),
            what={str(k): v for k, v in what.items() if isinstance(v, int | str)},
        )
    except (ValueError, TypeError, KeyError, AttributeError):
        return None


def _in_package(path: str) -> str:
    """Return a file's path from the package on: where it is installed is nobody's business."""
    parts = Path(path).parts
    for name in ("knowrepo", "site-packages"):
        if name in parts:
            return "/".join(parts[len(parts) - 1 - parts[::-1].index(name) :])
    return parts[-1] if parts else path
