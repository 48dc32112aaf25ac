"""Running the program that is asked: its prompt on standard input, its answer on the output.

Owns the bounds of a program that we did not write: its time, the size of its
answer, and its end. It is run without a shell, in an empty folder (what it finds
there would come from a clone), in a session of its own, so that all of its
processes can be ended. Its environment is the user's; nothing is added, and only
git's own variables are taken out.
"""

from __future__ import annotations

import contextlib
import os
import selectors
import signal
import subprocess
import tempfile
import time
from collections.abc import Sequence

from knowrepo.errors import KnowError
from knowrepo.units import shorten

MOST_BYTES = 1 << 20
"""The longest answer that is read."""
_BLOCK = 1 << 16
_KEPT_TALK = 2000  # the end of what it says on standard error
_LINGER = 1.0  # seconds for output that outlives its program
_GRACE = 2.0  # seconds from being asked to end to being ended


class NoAnswerError(KnowError):
    """The program, or the model, gave no answer that can be used."""


def run(command: Sequence[str], prompt: bytes, *, timeout: float) -> bytes:
    """Return what a program answers to a prompt.

    Raises NoAnswerError where it cannot be started, fails, takes longer than
    ``timeout`` seconds, or floods its output. It is gone when this returns, also
    where the person interrupts.
    """
    with tempfile.TemporaryDirectory(prefix="know-") as empty:
        try:
            process = subprocess.Popen(
                [os.path.expanduser(command[0]), *command[1:]],  # noqa: PTH111 - may be a bare name
                stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                cwd=empty, env=_environment(), start_new_session=True, bufsize=0,
            )  # fmt: skip
        except (OSError, ValueError) as error:
            said = error.strerror if isinstance(error, OSError) else str(error)
            raise NoAnswerError(f"{command[0]}: cannot be started: {said}") from error
        try:
            answer, talk = _converse(process, command[0], prompt, timeout)
        finally:
            _end(process)
    if process.returncode:
        why = f"ended by signal {-process.returncode}"
        if process.returncode > 0:
            why = f"exited with {process.returncode}"
        lines = talk.decode("utf-8", "replace").strip().splitlines()
        raise NoAnswerError(f"{command[0]}: {why}{_quoted(lines)}")
    return answer


def _environment() -> dict[str, str]:
    return {k: v for k, v in os.environ.items() if not k.startswith("GIT_")}


def _converse(
    process: subprocess.Popen[bytes], name: str, prompt: bytes, timeout: float
) -> tuple[bytes, bytes]:
    """Write the prompt and read answer and talk, whatever order the program likes."""
    assert process.stdin
    assert process.stdout
    assert process.stderr
    deadline = time.monotonic() + timeout
    ended = 0.0
    answer, talk = bytearray(), bytearray()
    rest = memoryview(prompt)
    with selectors.DefaultSelector() as streams:
        os.set_blocking(process.stdin.fileno(), False)
        streams.register(process.stdin, selectors.EVENT_WRITE)
        streams.register(process.stdout, selectors.EVENT_READ, answer)
        streams.register(process.stderr, selectors.EVENT_READ, talk)
        while any(key.events == selectors.EVENT_READ for key in streams.get_map().values()):
            now = time.monotonic()
            if now >= deadline:
                raise NoAnswerError(f"{name}: no answer within {timeout:.0f} seconds")
            if process.poll() is not None:
                # A child of its own may hold the output open for ever.
                ended = ended or now
                if now - ended > _LINGER:
                    break
            for key, _ in streams.select(min(deadline - now, 0.1)):
                if key.data is None:
                    rest = _write(streams, process, rest)
                elif not _read(streams, key, name):
                    continue
            del talk[:-_KEPT_TALK]
    with contextlib.suppress(subprocess.TimeoutExpired):
        process.wait(max(deadline - time.monotonic(), 0))
        return bytes(answer), bytes(talk)
    raise NoAnswerError(f"{name}: no answer within {timeout:.0f} seconds")


def _write(
    streams: selectors.BaseSelector, process: subprocess.Popen[bytes], rest: memoryview
) -> memoryview:
    assert process.stdin
    try:
        rest = rest[os.write(process.stdin.fileno(), rest[:_BLOCK]) :]
    except BrokenPipeError:  # it has read all that it wanted
        rest = rest[:0]
    except BlockingIOError:
        return rest
    if not rest:
        streams.unregister(process.stdin)
        with contextlib.suppress(BrokenPipeError):
            process.stdin.close()
    return rest


def _read(streams: selectors.BaseSelector, key: selectors.SelectorKey, name: str) -> bool:
    """Take what a stream holds; False where it has ended."""
    block = os.read(key.fd, _BLOCK)
    if not block:
        streams.unregister(key.fileobj)
        return False
    key.data.extend(block)
    if len(key.data) > MOST_BYTES:
        raise NoAnswerError(f"{name}: its answer is longer than {MOST_BYTES:,} bytes")
    return True


def _end(process: subprocess.Popen[bytes]) -> None:
    """End a program and all that it started; one that has ended may have left children."""
    for sign, wait in ((signal.SIGTERM, _GRACE), (signal.SIGKILL, None)):
        if process.poll() is not None:
            break
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, sign)
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(wait)
    # Its children may have outlived it, in its group.
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)
    for stream in (process.stdin, process.stdout, process.stderr):
        if stream is not None:
            with contextlib.suppress(OSError):
                stream.close()


def _quoted(lines: list[str]) -> str:
    return f": {shorten(lines[-1], 200)}" if lines else ""
