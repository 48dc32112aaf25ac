"""``know recall``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

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
from knowrepo.errors import UsageError

if TYPE_CHECKING:
    from knowrepo.recall.hits import Hit


def recall(
    query: Annotated[
        list[str] | None,
        typer.Argument(metavar="QUERY", help="What to look for, in any words.", show_default=False),
    ] = None,
    limit: Annotated[
        int, typer.Option("-k", "--limit", metavar="N", min=1, help="Hits at most.")
    ] = 10,
    get: Annotated[
        str, typer.Option("--get", metavar="IDS", help="Print the bodies of these ids (a3f2,b8c1).")
    ] = "",
    timeline: Annotated[
        str, typer.Option("--timeline", metavar="ID", help="Print what stands around this id.")
    ] = "",
    window: Annotated[
        int,
        typer.Option(
            "--window", metavar="N", min=0, help="Neighbours on each side, with --timeline."
        ),
    ] = 5,
    full: Annotated[bool, typer.Option("--full", help="Print bodies at once.")] = False,
    as_json: JsonOption = False,
    kind: Annotated[str, typer.Option(metavar="KIND", help="Only `concept` or `session`.")] = "",
    type_: Annotated[
        str, typer.Option("--type", metavar="TYPE", help="Only concepts of this type.")
    ] = "",
    tag: Annotated[str, typer.Option(metavar="TAG", help="Only concepts with this tag.")] = "",
    since: SinceOption = "",
    until: UntilOption = "",
    session: Annotated[
        str, typer.Option(metavar="ID", help="Only sessions with this in their id.")
    ] = "",
    project: ProjectOption = "",
    agent: AgentOption = "",
    log: Annotated[
        bool, typer.Option("--log", help="Show what the log of recalls tells, instead.")
    ] = False,
    no_log: Annotated[bool, typer.Option("--no-log", help="Leave this out of the log.")] = False,
    clear_log: Annotated[bool, typer.Option("--clear-log", help="Remove the log.")] = False,
    repo: RepoOption = None,
    quiet: QuietOption = False,
) -> None:
    """Look something up: tags and titles first, then words and meaning.

    Prints one line a hit, with an id; --get brings the body of an id, --timeline
    its neighbours. How the answer came about goes to standard error.

    \b
    Examples:
      know recall how do we keep secrets out of the archive
      know recall tag:git
      know recall --type Decision "vector store"
      know recall --get a3f2,b8c1
      know recall --timeline a3f2 --window 3 --full
      know recall --log --since 30d
    """
    from knowrepo.index.catalog import Filter

    _check_options(kind)
    if log or clear_log:
        from knowrepo.cli.recall_log import show_or_clear

        if query or get or timeline or kind or type_ or tag or session or project or agent:
            raise UsageError("--log takes --since, --until, -k and --json, and no query")
        show_or_clear(repository(repo), since, until, limit, clear=clear_log, as_json=as_json)
        return
    if get or timeline:
        if query or (get and timeline) or not (get + timeline).strip(" ,"):
            raise UsageError("--get takes ids, --timeline one id, and both no query")
        _look_up(repo, get, timeline, window, full=full, as_json=as_json, noted=not no_log)
        return
    from knowrepo.recall import journal, present, route

    here = repository(repo)
    only = Filter(
        kind=kind, type=_text(type_), tag=_text(tag),
        since=iso_date("since", since), until=iso_date("until", until),
        session=_text(session), project=_text(project), agent=session_agent(here, _text(agent)),
    )  # fmt: skip
    if not query and not only:
        raise UsageError("nothing to look for", hint='try: know recall "how do we …"')
    text = _text(" ".join(query or []))
    answer = route.recall(here, text, limit=limit, only=only, full=full)
    lines = [present.as_json(answer, full=full)] if as_json else [*present.text(answer, full=full)]
    for line in lines:
        show(line)
    if not no_log:
        journal.record(here, answer, printed=sum(map(len, lines)), only=only, bodies=full)
    if not quiet:
        for note in answer.notes:
            say(f"note: {note}")
        say(present.trail(answer))


def _look_up(
    repo: Path | None,
    get: str,
    timeline: str,
    window: int,
    *,
    full: bool,
    as_json: bool,
    noted: bool,
) -> None:
    """Print bodies or neighbours; exits with 1 where an id names nothing."""
    from knowrepo.recall import ids, journal, opening, present

    missing: list[str] = []
    at, code = -1, 0
    hits: list[Hit] = []
    asked: list[str] = []
    here = repository(repo)
    with opening.current(here) as opened:
        catalog = opened.catalog
        if timeline:
            hits, at = ids.timeline(catalog, timeline.strip(" []"), window)
            asked = [ids.resolve(catalog, timeline.strip(" []")).uid]
        for given in filter(None, (part.strip(" []") for part in get.split(","))):
            try:
                hits.append(ids.with_text(catalog, ids.resolve(catalog, given)))
            except (ids.NoMatchError, ids.MalformedError) as error:
                missing.append(
                    f"know: {error.message}; {error.hint}" if error.hint else error.message
                )
                code = max(code, error.exit_code)
    bodies = full or not timeline
    if as_json:
        found = [present.fields(hit, full=bodies) for hit in hits]
        show_json({"version": present.JSON_VERSION, "hits": found})
    else:
        for index, hit in enumerate(hits):
            mark = "> " if index == at else "  " if timeline and not bodies else ""
            show(mark + (present.body(hit) if bodies else present.line(hit, scored=False)))
    if noted:
        read = sum(len(hit.text) for hit in hits) if bodies else 0
        journal.opened(here, asked or [hit.uid for hit in hits], printed=read)
    for note in [*opened.notes, *missing]:
        say(note)
    if missing:
        raise typer.Exit(code)


def _text(argument: str) -> str:
    """Return an argument that can be written; bytes that are not UTF-8 become `?`."""
    return argument.encode("utf-8", "replace").decode()


def _check_options(kind: str) -> None:
    if kind not in {"", "concept", "session"}:
        raise UsageError(f"--kind {kind}: neither `concept` nor `session`")
