"""What a helper does that `ahead` has started: it reads, cuts and analyses sessions.

Owns the helper's side of the pipes. It imports little, for every helper pays for it,
and writes no file.
"""

from __future__ import annotations

import contextlib
import os
import pickle
import signal
import sys
from pathlib import Path
from typing import BinaryIO, NamedTuple

from knowrepo.index.archived import ReadSession, read_session
from knowrepo.index.text import analysed


class Job(NamedTuple):
    """A session that is to be read; ``oid`` is that of the content that is known."""

    root: str
    path: str
    stamp: str
    oid: str | None


def work() -> None:
    """Be a helper: answer what is asked on standard input, until it ends."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    answers = os.fdopen(os.dup(sys.stdout.fileno()), "wb")
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())  # nobody's print gets between
    with contextlib.suppress(EOFError, BrokenPipeError):
        serve(sys.stdin.buffer, answers)
    os._exit(0)


def serve(asked: BinaryIO, answers: BinaryIO) -> None:
    """Answer one batch after the other; raises EOFError at the end of what is asked."""
    while True:
        jobs = pickle.load(asked)
        read = [_read(job) for job in jobs]
        answer = [one and one._replace(analyses=_analyses(one)) for one in read]
        answers.write(pickle.dumps(answer, pickle.HIGHEST_PROTOCOL))
        answers.flush()


def _read(job: Job) -> ReadSession | None:
    try:
        read = read_session(Path(job.root), job.path, job.stamp, job.oid)
        return read._replace(chunks=list(read.chunks))
    except Exception:  # told where it is met again
        return None


def _analyses(read: ReadSession) -> dict[str, str]:
    texts = {text for chunk in read.chunks for text in (chunk.heading, chunk.text)}
    if read.document is not None:
        texts.add(read.document.title)
    return {text: analysed(text) for text in texts}
