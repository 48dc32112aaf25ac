"""What every command shares: the repository option, talk, and progress.

Standard output is data, standard error is talk. Nothing here, nor at the top of
any command's module, may import more than typer: a recall starts through it.
"""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Annotated

import typer

from knowrepo.git.layout import Repository, open_repository

RepoOption = Annotated[
    Path | None,
    typer.Option("--repo", help="The knowledge repository, if not the one here."),
]
JsonOption = Annotated[bool, typer.Option("--json", help="Print JSON.")]
QuietOption = Annotated[bool, typer.Option("--quiet", "-q", help="No progress, no remarks.")]


def repository(repo: Path | None) -> Repository:
    """Return the repository that a command works in."""
    return open_repository(repo)


def say(text: str) -> None:
    """Print a remark for a person."""
    typer.echo(text, err=True)


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
