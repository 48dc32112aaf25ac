"""``know sessions``."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Annotated, NamedTuple

import typer

from knowrepo.cli.common import (
    AgentOption,
    JsonOption,
    ProjectOption,
    QuietOption,
    RepoOption,
    SinceOption,
    UntilOption,
    iso_date,
    repository,
    say,
    session_agent,
    show,
    show_json,
)
from knowrepo.cli.width import columns_of, cut
from knowrepo.errors import KnowError, UsageError
from knowrepo.units import LONGEST_TITLE, count, shorten, size

if TYPE_CHECKING:
    from knowrepo.git.layout import Repository
    from knowrepo.index.catalog import Document
    from knowrepo.sessions.listing import Archived
    from knowrepo.sessions.origin import Origin

JSON_VERSION = 1
_SORTS = ("date", "size", "title")
_TITLE = 24  # columns that a title gets at least


class _Row(NamedTuple):
    session: Archived
    date: str
    title: str
    origin: Origin


def sessions(
    agent: AgentOption = "",
    project: ProjectOption = "",
    since: SinceOption = "",
    until: UntilOption = "",
    sort: Annotated[
        str, typer.Option(metavar="ORDER", help="By `date`, `size` or `title`.")
    ] = "date",
    limit: Annotated[
        int, typer.Option("-k", "--limit", metavar="N", min=0, help="At most; 0 for all.")
    ] = 0,
    as_json: JsonOption = False,
    repo: RepoOption = None,
    quiet: QuietOption = False,
) -> None:
    """List the archived sessions, the newest first.

    Date, size with sub-agents, a name that `know export` takes, project and
    title. In a pipe: tab-separated, size in bytes, the whole id, then the number
    of sub-agents, then the title, of at most 200 characters.

    \b
    Examples:
      know sessions -k 20
      know sessions --project app --since 2026-05
      know sessions --sort size | head
    """
    from knowrepo.sessions.listing import find, short_names

    if sort not in _SORTS:
        raise UsageError(f"--sort {sort}: none of {', '.join(_SORTS)}")
    since, until = iso_date("since", since), iso_date("until", until)
    here = repository(repo)
    agent = session_agent(here, agent)
    found = find(here)
    rows = [
        row
        for row in _rows(here, (session for session in found if agent in ("", session.agent)))
        if row.origin.answers(project) and row.date >= since
        if row.date[: len(until)] <= until and (row.date or not until)
    ]
    _sort(rows, sort)
    listed = rows[:limit] if limit else rows
    if as_json:
        _show_json(listed)
    elif sys.stdout.isatty():
        _show_table(listed, short_names(found))
    else:
        _show_lines(listed)
    if not quiet:
        say(_totals(found, rows, listed))


def _rows(here: Repository, found: Iterable[Archived]) -> Iterator[_Row]:
    """Sum sessions up: from the catalog where it knows them as they are, else by a look at each."""
    from knowrepo.sessions.listing import glance
    from knowrepo.sessions.origin import Origin, origin_of
    from knowrepo.sessions.readers import reader_of

    known = _catalogued(here)
    for session in found:
        document = known.get(session.name)
        if reader_of(session.agent) is None:
            yield _Row(session, "", f"(no reader for {session.agent} here)", Origin())
        elif document is not None and _is_current(document, session):
            origin = Origin(document.project, document.identity)
            yield _Row(session, document.date, document.title, origin)
        else:
            facts = glance(session)
            title = shorten(facts.title, LONGEST_TITLE) or session.id
            origin = origin_of(here.sessions, session.place, facts.project)
            yield _Row(session, facts.date, title, origin)


def _catalogued(here: Repository) -> dict[str, Document]:
    from knowrepo.index.catalog import Catalog, Filter, SQLiteError

    try:
        catalog = Catalog.open(here.catalog)
        if catalog is None:
            return {}
        with catalog:
            documents = catalog.newest(sys.maxsize, Filter(kind="session"))
    except (KnowError, SQLiteError):  # damaged, or in use: a list does not need it
        return {}
    return {document.key.partition("/")[2]: document for document in documents}


def _is_current(document: Document, session: Archived) -> bool:
    try:
        found = session.path.stat()
    except OSError:
        return False
    same = document.stamp.partition("@")[0] == f"{found.st_size}.{found.st_mtime_ns}"
    return same and found.st_size == session.size  # one file, not several parts


def _sort(rows: list[_Row], by: str) -> None:
    if by == "size":
        rows.sort(key=lambda row: row.session.whole_size, reverse=True)
    elif by == "title":
        rows.sort(key=lambda row: row.title.casefold())
    else:
        rows.sort(key=lambda row: row.date, reverse=True)


def _show_table(rows: list[_Row], names: dict[str, str]) -> None:
    import shutil

    cells = [
        (
            row.date[:10].ljust(10),
            size(row.session.whole_size).rjust(8),
            names[row.session.name],
            row.origin.name,
        )
        for row in rows
    ]
    name, project = (max((len(cell[i]) for cell in cells), default=0) for i in (2, 3))
    project = min(project, 20)
    width = shutil.get_terminal_size().columns
    for row, cell in zip(rows, cells, strict=True):
        lead = f"{cell[0]}  {cell[1]}  {cell[2]:{name}}  {_fit(cell[3], project)}  "
        agents = row.session.sub_agents
        more = f"  +{count(agents, 'agent')}" if agents else ""
        room = max(_TITLE, width - columns_of(lead) - len(more))
        show(f"{lead}{_fit(row.title, room, pad=bool(more))}{more}".rstrip())


def _show_lines(rows: list[_Row]) -> None:
    for row in rows:
        session = row.session
        cells = (row.date[:10], session.whole_size, session.name, row.origin.name)
        show("\t".join([*map(_cell, cells), str(session.sub_agents), _cell(row.title)]))


def _cell(value: object) -> str:
    return " ".join(str(value).split())


def _show_json(rows: list[_Row]) -> None:
    listed = [
        {
            "session": row.session.name,
            "agent": row.session.agent,
            "id": row.session.id,
            "path": f"sessions/{row.session.name}.jsonl",
            "date": row.date,
            "title": row.title,
            "project": row.origin.name,
            "size": row.session.whole_size,
            "sub_agents": row.session.sub_agents,
        }
        for row in rows
    ]
    show_json({"version": JSON_VERSION, "sessions": listed})


def _totals(found: Sequence[Archived], rows: Sequence[_Row], listed: Sequence[_Row]) -> str:
    if not found:
        return "nothing is archived yet; `know archive PATH…` brings transcripts in"
    agents = sum(row.session.sub_agents for row in rows)
    more = f" and {count(agents, 'sub-agent')}" if agents else ""
    total = size(sum(row.session.whole_size for row in rows))
    of = f" of {len(found)}" if len(rows) < len(found) else ""
    shown = f"; {len(listed)} shown" if len(listed) < len(rows) else ""
    return f"{count(len(rows), 'session')}{of}{more}, {total}{shown}"


def _fit(text: str, room: int, *, pad: bool = True) -> str:
    """Return ``text`` in ``room`` columns, cut with an ellipsis where it is longer."""
    text = cut(text, room)
    return text + " " * (room - columns_of(text)) if pad else text
