"""Which `know` git's hooks run in a clone.

Owns the command by which this very `know` is called again, and the entry
`know.program` in the clone's own git configuration: the environments that
pre-commit makes hold the light core, and embed through the full `know` named
there. Only that file is asked, without what it includes, for an include may lead
to a file that a clone brought; and of what stands there only an absolute path
that exists is run, with no arguments but those that we write ourselves.
"""

from __future__ import annotations

import contextlib
import os
import shlex
import sys
from importlib.util import find_spec
from pathlib import Path

from knowrepo.errors import KnowError
from knowrepo.git.layout import Repository
from knowrepo.git.plumbing import configure, git

KEY = "know.program"
# Without -P Python would import modules from the folder that it is started in: for a
# hook that is the top of the work tree, where a clone may have put a `typer.py`.
_AS_MODULE = ("-P", "-m", "knowrepo")

Command = tuple[str, ...]


def own() -> Command:
    """Return the command that runs this `know`, from wherever."""
    return (str(Path(sys.executable).absolute()), *_AS_MODULE)


def package() -> Path:
    """Return the file that goes when this `know` is uninstalled, though its Python stays."""
    return Path(__file__).absolute().parents[1] / "__main__.py"


def recorded(repository: Repository) -> Command | None:
    """Return the command that this clone's git configuration names, where it can be run."""
    command = parse(_configured(repository))
    return command if command and is_there(command) else None


def parse(text: str) -> Command | None:
    """Return a command as it is recorded; None where it is not of our making."""
    try:
        words = tuple(shlex.split(text))
    except ValueError:
        return None
    if words and Path(words[0]).is_absolute() and words[1:] in ((), _AS_MODULE):
        return words
    return None


def is_there(command: Command) -> bool:
    """Say whether the program of a command exists and may be run."""
    return Path(command[0]).is_file() and os.access(command[0], os.X_OK)


def is_full() -> bool:
    """Say whether this installation can embed; nothing heavy is imported."""
    return find_spec("llama_cpp") is not None and find_spec("numpy") is not None


def record(repository: Repository) -> Command | None:
    """Have the hooks of this clone run this `know`; returns the command where that is new.

    One that cannot embed is not recorded: the hooks can do without it.
    """
    if not is_full() or _configured(repository) == shlex.join(own()):
        return None
    configure(repository, KEY, shlex.join(own()))
    return own()


def record_if_missing(repository: Repository) -> None:
    """Record this `know` where it is a full one and none is recorded that can be run.

    It is done in passing: where git's configuration cannot be written, nothing is said.
    """
    with contextlib.suppress(KnowError, OSError):
        if is_full() and recorded(repository) is None:
            record(repository)


def forget(repository: Repository) -> bool:
    """Take the entry out of this clone's configuration; says whether there was one."""
    if not _configured(repository):
        return False
    configure(repository, "--unset-all", KEY)
    return True


def _configured(repository: Repository) -> str:
    value = git(
        repository, "config", "--local", "--no-includes", "--null", "--get", KEY, expected=(0, 1)
    )
    return os.fsdecode(value.rstrip(b"\0"))
