"""How a program of ours ends: the one place where errors become exit codes.

0 done, 1 an expected failure or a finding, 2 wrong usage, 3 a bug, 130 interrupted.
Imports no typer: git waits for a hook, and half of a hook's time would go there.
"""

from __future__ import annotations

import io
import os
import sys
from collections.abc import Callable, Collection, Sequence
from typing import NoReturn

from knowrepo import __version__
from knowrepo.errors import KnowError
from knowrepo.terminal import plain

INTERRUPTED = 130


def show(text: str) -> None:
    """Print a line of the answer; who no longer listens stops no work."""
    try:
        sys.stdout.write(f"{plain(text)}\n")
        sys.stdout.flush()
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def say(text: str) -> None:
    """Print a remark for a person."""
    sys.stderr.write(f"{plain(text)}\n")
    sys.stderr.flush()


def tell(error: KnowError) -> int:
    """Say what went wrong and what to do; returns the exit code."""
    say(f"know: {error.message}")
    if error.hint:
        say(f"  {error.hint}")
    return error.exit_code


def code_of(
    work: Callable[[], int], arguments: Sequence[str], commands: Collection[str] = ()
) -> int:
    """Do some work and return the exit code, whatever comes of it.

    ``commands`` are the words among the arguments that a log may name.
    """
    try:
        return work()
    except SystemExit as done:
        code = done.code if isinstance(done.code, int) else int(done.code is not None)
        if code == INTERRUPTED:
            say("know: interrupted")
        return code
    except KnowError as error:
        return tell(error)
    except KeyboardInterrupt:
        say("know: interrupted")
        return INTERRUPTED
    except OSError as error:  # a full or read-only disk, a file without permission
        say(f"know: {error.filename or 'writing'}: {error.strerror or error}")
        return 1
    except Exception as error:
        return _bug(error, arguments, commands)


def run(main: Callable[[], int]) -> NoReturn:
    """Run as a console script."""
    for name in ("stdout", "stderr"):
        stream = getattr(sys, name)
        if stream is None:  # closed by whoever started us
            setattr(sys, name, io.TextIOWrapper(io.BytesIO()))
        elif isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")  # a terminal that knows no `…`
    code = main()
    # What is still to be written to a closed pipe is nobody's concern.
    try:
        sys.stdout.flush()
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    except OSError as error:
        say(f"know: standard output: {error.strerror}")
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        code = code or 1
    sys.exit(code)


def _bug(error: Exception, arguments: Sequence[str], commands: Collection[str]) -> int:
    """Say that this is ours, and keep what is needed to mend it."""
    import tempfile
    import traceback

    with tempfile.NamedTemporaryFile(
        "w", prefix="know-bug-", suffix=".log", delete=False, encoding="utf-8"
    ) as log:
        log.write(f"know {__version__}, Python {sys.version}\n{sys.argv[1:]!r}\n\n")
        traceback.print_exception(error, file=log)
    say(f"know: a bug: {type(error).__name__}: {error}")
    noted = _note(error, arguments, commands)
    if noted:
        say(f"  {noted} says where in the code, and nothing of yours")
    say(f"  please report it with {log.name}")
    return 3


def _note(error: Exception, arguments: Sequence[str], commands: Collection[str]) -> str:
    """Write the bug into the log of the repository; returns the log, '' where there is none."""
    try:
        from itertools import pairwise
        from pathlib import Path

        from knowrepo.git.layout import open_repository
        from knowrepo.upkeep import logs

        named = [word for word in arguments if word in commands]
        where = [Path(after) for word, after in pairwise(arguments) if word == "--repo"]
        here = open_repository(where[0] if where else None)
        log = logs.note_bug(here, named[0] if named else "know", error)
    except Exception:  # the bug may be anywhere, and this is a comfort
        return ""
    return str(log or "")
