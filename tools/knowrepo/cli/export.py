"""``know export``."""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import IO, Annotated

import typer

from knowrepo.cli.common import QuietOption, RepoOption, repository, say
from knowrepo.errors import KnowError, UsageError
from knowrepo.units import count, size

_ALIASES = {"": "md", "txt": "md", "markdown": "md", "htm": "html", "ndjson": "jsonl"}
_HUGE = 1_000_000  # bytes on a terminal that are worth a word


def export(
    session: Annotated[
        str,
        typer.Argument(metavar="SESSION", help="An id, the beginning of one, or an archived file."),
    ],
    format_: Annotated[
        str,
        typer.Option(
            "--format",
            metavar="FORMAT",
            help="`md`, `html` or `jsonl`; by default as -o says, or md.",
        ),
    ] = "",
    output: Annotated[
        Path | None,
        typer.Option("-o", "--output", metavar="FILE", help="Write to this file.", dir_okay=False),
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Replace the file.")] = False,
    full: Annotated[bool, typer.Option("--full", help="Cut nothing, however long.")] = False,
    subagents: Annotated[
        bool, typer.Option("--subagents/--no-subagents", help="With the sub-agents' sessions.")
    ] = True,
    repo: RepoOption = None,
    quiet: QuietOption = False,
) -> None:
    """Write one archived session as a page to read, or as JSON lines.

    An HTML page is one file without scripts that loads nothing. In md and html
    the middle of what is very long is left out: of outputs, of messages, of the
    session; a note says so, and --full shows all. jsonl holds every record, uncut.

    \b
    Examples:
      know export 768de5d6 -o session.html
      know export claude/768de5d6 | less
      know export 768de5d6 --format jsonl | jq -r 'select(.role == "user").text'
    """
    from knowrepo.sessions.export import FORMATS, FULL, Limits, open_page
    from knowrepo.sessions.listing import resolve

    output = None if output == Path("-") else output
    format_ = format_ or _guessed(output, FORMATS)
    if format_ not in FORMATS:
        raise UsageError(f"--format {format_}: none of {', '.join(FORMATS)}")
    special = output is not None and output.exists() and not output.is_file()
    if output is not None and output.exists() and not force and not special:
        raise KnowError(f"{output}: is there already", hint="--force replaces it")
    if output is not None and not output.parent.is_dir():
        raise KnowError(f"{output.parent}: no such folder", hint="make it, or write elsewhere")
    here = repository(repo)
    page = open_page(here, resolve(here, session), sub_agents=subagents)
    pieces = FORMATS[format_](page, FULL if full else Limits())
    if output is not None and not special:
        written = _write_file(output, pieces)
        if not quiet:
            below = f", with {count(page.sub_agents, 'sub-agent')}" if page.sub_agents else ""
            say(f"{output}: {page.main.session.name}{below}, {size(written)}")
        return
    target = output.open("wb") if output is not None else contextlib.nullcontext()
    with target as stream:
        written = _write(stream or sys.stdout.buffer, pieces)
    if written > _HUGE and output is None and sys.stdout.isatty() and not quiet:
        say(f"that was {size(written)}; `-o FILE` writes it to a file")


def _guessed(output: Path | None, formats: Iterable[str]) -> str:
    """Return the format that a file's name asks for; what says nothing is Markdown."""
    extension = output.suffix.lower().removeprefix(".") if output else ""
    extension = _ALIASES.get(extension, extension)
    if extension in formats:
        return extension
    raise UsageError(
        f"{output}: no format of that name; there are {', '.join(formats)}",
        hint="--format says which, whatever the file is called",
    )


def _write_file(path: Path, pieces: Iterable[str]) -> int:
    """Write a file that is there whole or not at all; returns its size in bytes."""
    path = path.resolve()  # through a symbolic link
    beside = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        try:
            stream = beside.open("xb")
        except OSError as error:  # nobody asked for the file beside it
            raise KnowError(f"{path.parent}: cannot be written to: {error.strerror}") from error
        with stream:
            size = _write(stream, pieces)
        beside.replace(path)
    finally:
        beside.unlink(missing_ok=True)
    return size


def _write(stream: IO[bytes], pieces: Iterable[str]) -> int:
    """Write text as UTF-8; returns the bytes. Who no longer listens ends it."""
    size = 0
    try:
        for piece in pieces:
            data = piece.encode("utf-8", "replace")
            size += len(data)
            stream.write(data)
        stream.flush()
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return size
