"""Trying in a process of its own what may take the process down.

Owns running a few lines of Python where a crash of native code (an instruction
that the processor lacks, a damaged library) costs a line of the answer and
nothing else.
"""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
from functools import cache
from typing import NamedTuple

_SECONDS = 180.0
_OURS = re.compile(r"^knowrepo\.errors\.\w+: ")

_IMPORT = """
import importlib, sys
module = importlib.import_module(sys.argv[1])
print(getattr(module, "__version__", "unknown version"))
"""


class Tried(NamedTuple):
    """What a trial printed last, and what went wrong; one of them is empty."""

    said: str
    problem: str


@cache
def imported(module: str) -> Tried:
    """Import a module; returns its version."""
    return tried(_IMPORT, module)


def tried(code: str, *arguments: str) -> Tried:
    """Run ``code`` with this Python; what it prints last is the answer.

    It is isolated from the folder at hand (`-P`): a clone may hold a module of
    any name.
    """
    command = [sys.executable, "-P", "-c", code, *arguments]
    try:
        done = subprocess.run(
            command, stdin=subprocess.DEVNULL, capture_output=True, text=True, errors="replace",
            check=False, timeout=_SECONDS, env={**os.environ, "PYTHONFAULTHANDLER": ""},
        )  # fmt: skip
    except subprocess.TimeoutExpired:
        return Tried("", f"no answer within {_SECONDS:.0f} seconds")
    except OSError as error:
        return Tried("", f"Python cannot be started: {error.strerror}")
    if done.returncode < 0:
        return Tried("", f"the process died of {_name(-done.returncode)}")
    if done.returncode:
        return Tried("", _told(_last(done.stderr)) or f"exit code {done.returncode}")
    return Tried(_last(done.stdout), "")


def _name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"


def _told(line: str) -> str:
    """Return an error without the name of our own classes, which means nothing to a person."""
    return _OURS.sub("", line)


def _last(text: str) -> str:
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return lines[-1] if lines else ""
