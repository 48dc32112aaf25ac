"""Reading sessions ahead: processes beside this one read, cut and analyse what it writes.

Owns these processes: when they are worth their start, how much they may be ahead,
and their end. They see files only; the catalog has one writer as ever. Nothing here
decides what comes of a session: what a helper could not do, for whatever reason, is
answered with None, and whoever asked does it himself and meets the same error.

A helper is a plain child with a pipe each way. It ends when its input does, so
none outlives a parent that was killed; and a script that starts an index without
guarding its main module is not run again in it.
"""

from __future__ import annotations

import contextlib
import os
import pickle
import subprocess
import sys
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import IO

from knowrepo.index.archived import ReadSession
from knowrepo.index.helper import Job
from knowrepo.index.sources import Source

_WORTH = 8_000_000  # bytes to be read; below it helpers would hardly have started
_LARGEST = 4_000_000  # of a session: a larger one is gone through some lines at a time
_BATCH_BYTES, _BATCH = 600_000, 32  # of sessions that are read at once
_GIVEN = 2  # batches that a helper has before it; it answers one when the last was taken
_MOST = 4  # helpers: one process does not write faster than they read
_PIPE_BYTES = 1 << 20
_START = "import sys; sys.path[:] = {path!r}; from knowrepo.index.helper import work; work()"


class Ahead:
    """What is read ahead. Sessions are taken in the order in which they were given."""

    def __init__(
        self, root: Path, sources: Sequence[Source], oids: Mapping[str, str], helpers: int
    ) -> None:
        self._waiting = deque(
            [
                (source.key, Job(str(root), source.path, source.mark, oids.get(source.key)))
                for source in batch
            ]
            for batch in _batches(sources)
        )
        self._expected = {key for batch in self._waiting for key, _ in batch}
        self._given: deque[tuple[_Helper, list[str]]] = deque()
        self._taken: dict[str, ReadSession | None] = {}
        self._helpers: list[_Helper] = []
        try:
            for _ in range(min(helpers, len(self._waiting))):
                self._helpers.append(_Helper())
            self._idle = deque(self._helpers * _GIVEN)
            self._give()
        except (OSError, ValueError):  # no room for a process, or none may be started
            self.close()

    def take(self, source: Source) -> ReadSession | None:
        """Return a session as it was read; None where that is still to be done."""
        if source.key not in self._expected:
            return None
        try:
            while source.key not in self._taken:
                self._next()
        except Exception:  # a helper is gone, or says what cannot be understood
            self.close()
            return None
        self._expected.discard(source.key)
        return self._taken.pop(source.key)

    def _next(self) -> None:
        """Take the answer to the oldest batch, and give its helper another."""
        helper, keys = self._given.popleft()
        self._taken = dict(zip(keys, helper.answer(), strict=True))
        self._idle.append(helper)
        self._give()

    def _give(self) -> None:
        while self._idle and self._waiting:
            batch = self._waiting.popleft()
            helper = self._idle.popleft()
            helper.ask([job for _, job in batch])
            self._given.append((helper, [key for key, _ in batch]))

    def close(self) -> None:
        """End the helpers."""
        self._expected.clear()
        for helper in self._helpers:
            helper.end()
        self._helpers.clear()


@contextlib.contextmanager
def reading(
    root: Path, sources: Sequence[Source], oids: Mapping[str, str]
) -> Iterator[Ahead | None]:
    """Give what reads the sessions among ``sources`` ahead; None where that is not worth it.

    ``oids`` are those of the contents that the catalog has, by key.
    """
    suited = [source for source in sources if source.ours is None and 0 < source.size <= _LARGEST]
    processors = _processors()
    frozen = getattr(sys, "frozen", False) or not sys.executable
    if sum(source.size for source in suited) < _WORTH or processors < 2 or frozen:
        yield None
        return
    ahead = Ahead(root, suited, oids, min(processors, _MOST))
    try:
        yield ahead
    finally:
        ahead.close()


class _Helper:
    """A process that reads sessions."""

    def __init__(self) -> None:
        path = [entry for entry in sys.path if entry]  # never the folder that we stand in
        self._process = subprocess.Popen(
            [sys.executable, "-I", "-X", f"utf8={sys.flags.utf8_mode}", "-c",
             _START.format(path=path)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            start_new_session=True,  # ^C is for the parent alone
        )  # fmt: skip
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._stdin, self._stdout = self._process.stdin, self._process.stdout
        _widen(self._stdout)

    def ask(self, jobs: Sequence[Job]) -> None:
        pickle.dump(list(jobs), self._stdin)
        self._stdin.flush()

    def answer(self) -> list[ReadSession | None]:
        found: list[ReadSession | None] = pickle.load(self._stdout)
        return found

    def end(self) -> None:
        self._process.kill()  # it has nothing to lose
        self._process.wait()
        for stream in (self._stdin, self._stdout):
            with contextlib.suppress(OSError):
                stream.close()


def _batches(sources: Sequence[Source]) -> Iterator[list[Source]]:
    batch: list[Source] = []
    size = 0
    for source in sources:
        if batch and (size + source.size > _BATCH_BYTES or len(batch) == _BATCH):
            yield batch
            batch, size = [], 0
        batch.append(source)
        size += source.size
    if batch:
        yield batch


def _processors() -> int:
    """Return how many processors this process may use."""
    try:
        return len(os.sched_getaffinity(0))
    except (AttributeError, OSError):  # not on every platform
        return os.cpu_count() or 1


def _widen(pipe: IO[bytes]) -> None:
    """Let an answer fit into a pipe, so that its helper goes on before it is taken."""
    with contextlib.suppress(ImportError, AttributeError, OSError):
        import fcntl

        fcntl.fcntl(pipe, fcntl.F_SETPIPE_SZ, _PIPE_BYTES)
