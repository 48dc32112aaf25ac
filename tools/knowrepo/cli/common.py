"""What every command shares: the repository option, talk, and progress.

Standard output is data, standard error is talk. Nothing here, nor at the top of
any command's module, may import more than typer: a recall starts through it.
"""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Annotated

import typer

from knowrepo.errors import UsageError
from knowrepo.git.layout import Repository, open_repository
from knowrepo.terminal import plain

RepoOption = Annotated[
    Path | None,
    typer.Option("--repo", help="The knowledge repository, if not the one here."),
]
JsonOption = Annotated[bool, typer.Option("--json", help="Print JSON.")]
QuietOption = Annotated[bool, typer.Option("--quiet", "-q", help="No progress, no remarks.")]


def repository(repo: Path | None) -> Repository:
    """Return the repository that a command works in."""
    return open_repository(repo)


def show(text: str) -> None:
    """Print a line of the answer; who no longer listens stops no work."""
    try:
        typer.echo(plain(text))
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def show_json(value: object, *, indent: int | None = None) -> None:
    """Print an answer as JSON."""
    from knowrepo.terminal import json_text

    show(json_text(value, indent=indent))


def moment(name: str, value: str) -> float:
    """Return the Unix time that option ``name`` says: a date, or an age such as 12h, 7d, 3w."""
    import re
    import time
    from datetime import datetime

    age = re.fullmatch(r"(\d{1,6})([hdw])", value)
    if age:
        return time.time() - int(age[1]) * {"h": 3600, "d": 86400, "w": 604800}[age[2]]
    try:
        return datetime.fromisoformat(value).timestamp()
    except (ValueError, OverflowError) as error:
        raise UsageError(
            f"--{name} {value}: neither a date nor an age", hint="write 2026-05-31, or 12h, 7d, 3w"
        ) from error


def say(text: str) -> None:
    """Print a remark for a person."""
    typer.echo(plain(text), err=True)


def iso_date(name: str, value: str) -> str:
    """Return the date that option ``name`` was given in the form in which dates are compared."""
    import re
    from datetime import datetime

    if re.fullmatch(r"\d{4}(?:-\d\d)?", value):
        return value  # dates are compared as text, so a year or a month does
    try:
        found = datetime.fromisoformat(value) if value else None
    except ValueError as error:
        raise UsageError(
            f"--{name} {value}: no ISO date", hint="write 2026-05-31, 2026-05 or 2026"
        ) from error
    if found is None:
        return ""
    return found.isoformat() if "T" in value else found.date().isoformat()


@contextlib.contextmanager
def progress(label: str, *, quiet: bool) -> Iterator[Callable[[int, int], None]]:
    """Give a function that is told (done, total); a bar shows it on a terminal."""
    if quiet or not sys.stderr.isatty():
        yield lambda _done, _total: None
        return
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        Progress,
        TextColumn,
        TimeRemainingColumn,
    )

    with Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeRemainingColumn(),
        console=Console(stderr=True),
        transient=True,
    ) as bar:
        task = bar.add_task(label, total=None)
        yield lambda done, total: bar.update(task, completed=done, total=total)
