"""``know sql``."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Annotated, Any

import typer

from knowrepo.cli.common import QuietOption, RepoOption, repository, say, show
from knowrepo.errors import ModelError, UsageError

if TYPE_CHECKING:
    from knowrepo.git.layout import Repository

_SHOWN = 200  # rows of a table, where nobody says how many
_LONGEST = 1_000_000  # characters of a statement


def sql(
    statement: Annotated[
        str, typer.Argument(metavar="QUERY", help="One query; `-` reads standard input.")
    ] = "",
    format_: Annotated[
        str, typer.Option("--format", metavar="FORMAT", help="table, csv, json, jsonl or md.")
    ] = "table",
    limit: Annotated[
        int | None,
        typer.Option(metavar="N", min=0, help="Rows at most, 0 for all; of a table 200."),
    ] = None,
    tables: Annotated[bool, typer.Option("--tables", help="List tables and columns.")] = False,
    repo: RepoOption = None,
    quiet: QuietOption = False,
) -> None:
    """Look at what is indexed and archived by SQL, as DuckDB speaks it.

    The tables are the catalog's (documents, tags, chunks, …), `vectors`, those of
    the current model, and `records`, the archived lines. Nothing can be changed,
    and nothing else can be read.

    \b
    Examples:
      know sql "select type, count(*) from documents group by all"
      know sql "select type, role, count(*) from records group by all"
      know sql "select * from tags" --format csv
      know sql --tables
    """
    from knowrepo.cli.rows import formats

    if format_ not in formats():
        raise UsageError(f"--format {format_}: none of {', '.join(formats())}")
    here = repository(repo)
    if tables:
        _show_tables(here, format_)
        return
    text = sys.stdin.read(_LONGEST) if statement == "-" else statement
    if not text.strip():
        raise UsageError("no query", hint='know sql "select …", or `know sql --tables`')
    if limit is None:
        limit = _SHOWN if format_ in {"table", "md"} else 0
    _show_answer(here, text, format_, limit, quiet=quiet)


def _show_tables(here: Repository, format_: str) -> None:
    from knowrepo.cli.rows import formats
    from knowrepo.index.sql import tables

    rows = [
        (name, column.partition(" ")[0].strip('"'), column.partition(" ")[2])
        for name, columns in tables(here).items()
        for column in columns.split(", ")
    ]
    for line in formats()[format_](["table", "column", "type"], rows):
        show(line)


def _show_answer(here: Repository, text: str, format_: str, limit: int, *, quiet: bool) -> None:
    from knowrepo.cli.rows import formats
    from knowrepo.index import sql

    with sql.answer(here, text, fingerprint=_fingerprint(text, quiet=quiet)) as found:
        if not quiet:
            for note in found.notes:
                say(note)
        rows = _Counted(found.rows, limit)
        for line in formats()[format_](found.columns, rows):
            show(line)
        if rows.more and not quiet:
            say(f"the first {limit:,} rows; `--limit 0` shows all")


class _Counted(Iterable[Any]):
    """Rows up to a limit, and whether there were more."""

    def __init__(self, rows: Iterator[Any], limit: int) -> None:
        self._rows = rows
        self._limit = limit
        self.more = False

    def __iter__(self) -> Iterator[Any]:
        from itertools import islice

        yield from islice(self._rows, self._limit or None)
        self.more = bool(self._limit) and next(self._rows, None) is not None


def _fingerprint(text: str, *, quiet: bool) -> str:
    """Return the fingerprint of the current model, where a query may ask for vectors."""
    if "vectors" not in text.lower():
        return ""
    from knowrepo.index import embed, models

    try:
        model = models.current()
    except ModelError as error:
        if not quiet:
            say(f"no vectors are shown: {error.message}")
        return ""
    if model is None:
        if not quiet:
            say("no vectors are shown: there is no model; `know model pull` brings one")
        return ""
    return embed.fingerprint(model)
