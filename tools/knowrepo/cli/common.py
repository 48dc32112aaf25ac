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
from typing import TYPE_CHECKING, Annotated

import typer

from knowrepo.errors import UsageError
from knowrepo.git.layout import Repository, open_repository
from knowrepo.terminal import plain

if TYPE_CHECKING:
    from datetime import datetime

    from rich.progress import Progress

_bars: list[Progress] = []  # those on the screen now

RepoOption = Annotated[
    Path | None,
    typer.Option("--repo", metavar="PATH", help="The knowledge repository, if not the one here."),
]
SinceOption = Annotated[
    str,
    typer.Option(
        "--since", metavar="WHEN", help="Only from then on: 2026, 2026-05, 2026-05-31, or 12h, 7d."
    ),
]
UntilOption = Annotated[
    str, typer.Option("--until", metavar="WHEN", help="Only up to then, and the whole of it.")
]
ProjectOption = Annotated[
    str, typer.Option("--project", metavar="NAME", help="Only sessions of this project.")
]
AgentOption = Annotated[
    str, typer.Option("--agent", metavar="AGENT", help="Only sessions of this agent.")
]
JsonOption = Annotated[bool, typer.Option("--json", help="Print JSON.")]
QuietOption = Annotated[bool, typer.Option("--quiet", "-q", help="No progress, no remarks.")]


def repository(repo: Path | None) -> Repository:
    """Return the repository that a command works in."""
    return open_repository(repo)


def show(text: str, *, styled: bool = False) -> bool:
    """Print a line of the answer; who no longer listens stops no work.

    Returns whether somebody listens. ``styled`` text is plain already, but for the
    colours that were put into it.
    """
    try:
        _echo(text, err=False, styled=styled)
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return False
    return True


def show_json(value: object, *, indent: int | None = None) -> bool:
    """Print an answer as JSON; returns whether somebody listens."""
    from knowrepo.terminal import json_text

    return show(json_text(value, indent=indent))


def say(text: str) -> None:
    """Print a remark for a person."""
    _echo(text, err=True)


def _echo(text: str, *, err: bool, styled: bool = False) -> None:
    """Print a line; a bar that is on the screen steps aside, for it lives where lines go."""
    text = text if styled else plain(text)
    bar = _bars[-1] if _bars and (err or sys.stdout.isatty()) else None
    if bar is None:
        typer.echo(text, err=err)
        return
    bar.stop()  # which takes it off the screen
    try:
        typer.echo(text, err=err)
        (sys.stderr if err else sys.stdout).flush()
    finally:
        bar.start()


def moment(name: str, value: str) -> float:
    """Return the Unix time at which what option ``name`` says begins; see `iso_date`."""
    return _when(name, value)[1].timestamp()


def iso_date(name: str, value: str) -> str:
    """Return what option ``name`` says as records' times are written, to be compared as text.

    That is a year, a month or a day, kept as it is; or a time, or an age such as
    12h, 7d, 3w. What names no zone is in UTC, as all that is listed. Nothing
    stays nothing.
    """
    return _when(name, value)[0] if value else ""


def _when(name: str, value: str) -> tuple[str, datetime]:
    import re
    from datetime import UTC, datetime, timedelta

    age = re.fullmatch(r"(\d{1,6})([hdw])", value)
    day = re.fullmatch(r"\d{4}(-\d\d)?(-\d\d)?", value)
    try:
        if age:
            hours = int(age[1]) * {"h": 1, "d": 24, "w": 168}[age[2]]
            found = datetime.now(UTC) - timedelta(hours=hours)
        elif day:
            return value, datetime.fromisoformat(f"{value}-01-01"[:10]).replace(tzinfo=UTC)
        else:
            found = datetime.fromisoformat(value)
            found = found.astimezone(UTC) if found.tzinfo else found.replace(tzinfo=UTC)
            if not re.search("[T :]", value):  # another spelling of a day
                return found.date().isoformat(), found
    except (ValueError, OverflowError) as error:
        raise UsageError(
            f"--{name} {value}: neither a date nor an age",
            hint="write 2026, 2026-05, 2026-05-31, 2026-05-31T10:00, or 12h, 7d, 3w",
        ) from error
    return found.isoformat(timespec="seconds").removesuffix("+00:00"), found


def session_agent(here: Repository, name: str) -> str:
    """Return the agent that ``--agent`` names: one that we read, or that has sessions here."""
    if not name or name in _folders(here.sessions):
        return name
    from knowrepo.sessions.readers import READERS

    known = sorted(reader.agent for reader in READERS)
    if name in known:
        return name
    raise UsageError(f"--agent {name}: not known", hint=f"known are {', '.join(known)}")


def _folders(folder: Path) -> set[str]:
    try:
        return {entry.name for entry in os.scandir(folder) if entry.is_dir(follow_symlinks=False)}
    except OSError:  # nothing is archived yet
        return set()


@contextlib.contextmanager
def progress(
    label: str, *, quiet: bool, in_bytes: bool = False
) -> Iterator[Callable[[int, int], None]]:
    """Give a function that is told (done, total); a bar shows it on a terminal.

    The bar says how much of how much, how fast, and for how long still. A total of
    0 is one that nobody knows. With ``in_bytes`` the numbers are bytes.
    """
    if quiet or not sys.stderr.isatty():
        yield lambda _done, _total: None
        return
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

    with Progress(
        TextColumn("{task.description}"),
        BarColumn(bar_width=24),
        TextColumn("{task.fields[said]}"),
        TimeRemainingColumn(),
        console=Console(stderr=True),
        transient=True,
        # It would lead what goes to a pipe to the terminal; `_echo` makes room for lines.
        redirect_stdout=False,
        redirect_stderr=False,
    ) as bar:
        task = bar.add_task(label, total=None, said="")

        def tell(done: int, total: int) -> None:
            speed = bar.tasks[0].finished_speed or bar.tasks[0].speed
            said = _progress_text(done, total, speed, in_bytes=in_bytes)
            bar.update(task, completed=done, total=total or None, said=said)

        _bars.append(bar)
        try:
            yield tell
        finally:
            _bars.remove(bar)


def _progress_text(done: int, total: int, speed: float | None, *, in_bytes: bool) -> str:
    """Return `12/300, 4.1/s`; what is not known yet is left out."""
    from knowrepo.units import rate, size

    def amount(number: int) -> str:
        return size(number) if in_bytes else f"{number:,}"

    said = f"{amount(done)}/{amount(total)}" if total else amount(done)
    return f"{said}, {rate(speed, in_bytes=in_bytes)}" if speed else said
