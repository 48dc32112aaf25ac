"""``know recall``."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

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
from knowrepo.errors import KnowError, UsageError

_LEAST_BUDGET = 100  # tokens: a citation and a few lines

if TYPE_CHECKING:
    from knowrepo.cli.recall_output import Form
    from knowrepo.recall.hits import Hit
    from knowrepo.recall.route import Answer
    from knowrepo.recall.then import Then


def recall(
    query: Annotated[
        list[str] | None,
        typer.Argument(metavar="QUERY", help="What to look for, in any words.", show_default=False),
    ] = None,
    limit: Annotated[
        int, typer.Option("-k", "--limit", metavar="N", min=1, help="Hits at most.")
    ] = 10,
    snippet: Annotated[
        bool, typer.Option("--snippet", help="The sentence that matches best, marked.")
    ] = False,
    full: Annotated[bool, typer.Option("--full", help="Print bodies at once.")] = False,
    budget: Annotated[
        int,
        typer.Option(
            "--budget",
            metavar="TOKENS",
            min=0,
            show_default=False,
            help="As many bodies as fit into so many tokens.",
        ),
    ] = 0,
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
    nearest: Annotated[
        bool, typer.Option("--all", help="The nearest too, where nothing matches well.")
    ] = False,
    explain: Annotated[
        bool, typer.Option("--explain", help="Tell the route, the terms and the scores.")
    ] = False,
    format_: Annotated[
        str, typer.Option("--format", metavar="FORMAT", help="`text`, `json`, `md` or `paths`.")
    ] = "text",
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
    at: Annotated[
        str, typer.Option("--at", metavar="REV", help="What was known at this revision of git.")
    ] = "",
    since_rev: Annotated[
        str,
        typer.Option("--since-rev", metavar="REV", help="Only what is new, or changed, since REV."),
    ] = "",
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
    its neighbours. How the answer came about goes to standard error. `-` as the
    query reads queries from standard input, one a line.

    --at asks the concepts as a commit holds them, and the sessions as far as 16
    MB of those that stand otherwise today; it writes nothing, fetches nothing,
    and is not logged.

    \b
    Examples:
      know recall how do we keep secrets out of the archive
      know recall tag:git
      know recall --type Decision "vector store"
      know recall --snippet database is locked
      know recall --budget 2000 why do the hooks fail
      know recall --get a3f2,b8c1
      know recall --timeline a3f2 --window 3 --full
      know recall --json - < queries.txt
      know recall --at v1.0 which vector store
      know recall --since-rev v1.0 --kind concept
      know recall --log --since 30d
    """
    from knowrepo.cli.past import opened_at, since_revision
    from knowrepo.cli.recall_output import Form
    from knowrepo.index.catalog import Filter

    if log or clear_log:
        from knowrepo.cli.recall_log import show_or_clear

        if query or get or timeline or kind or type_ or tag or session or project or agent:
            raise UsageError("--log takes --since, --until, -k and --json, and no query")
        show_or_clear(repository(repo), since, until, limit, clear=clear_log, as_json=as_json)
        return
    form = Form(
        format=_format(format_, as_json=as_json), full=full, snippet=snippet, budget=budget,
        explain=explain, nearest=nearest, quiet=quiet,
    )  # fmt: skip
    _check_options(kind, form, by_id=bool(get or timeline))
    if get or timeline:
        if query or (get and timeline) or not (get + timeline).strip(" ,"):
            raise UsageError("--get takes ids, --timeline one id, and both no query")
        if since_rev:
            raise UsageError("--since-rev goes with a query")
        with opened_at(repository(repo), at, "", quiet=quiet) as then:
            _look_up(repo, get, timeline, window, form, then, noted=not no_log)
        return
    here = repository(repo)
    only = Filter(
        kind=kind, type=_text(type_), tag=_text(tag),
        since=iso_date("since", since), until=iso_date("until", until),
        session=_text(session), project=_text(project), agent=session_agent(here, _text(agent)),
    )  # fmt: skip
    if not query and not only and not since_rev:
        raise UsageError("nothing to look for", hint='try: know recall "how do we …"')

    def ask(text: str) -> Answer:
        from knowrepo.recall import budget as budgets
        from knowrepo.recall import route

        most = limit * budgets.CANDIDATES if form.budget else limit
        given: dict[str, Any] = {"limit": most, "full": form.needs_text}
        if then is None:
            return route.recall(here, text, only=chosen, **given)
        return then.told(route.recall(here, text, only=chosen, opener=then.opener, **given))

    def answered(answer: Answer) -> bool:
        from knowrepo.cli.recall_output import print_answer
        from knowrepo.recall import journal

        printed = print_answer(answer, form)
        if not no_log and then is None:
            journal.record(
                here, printed.answer, printed=printed.characters, only=only, bodies=form.bodies
            )
        return printed.heard

    with opened_at(here, at, kind, quiet=quiet) as then:
        chosen = since_revision(here, only, since_rev, then)
        if query == ["-"]:
            _ask_each(ask, answered, form)
        else:
            answered(ask(_text(" ".join(query or []))))


def _ask_each(ask: Callable[[str], Answer], answered: Callable[[Answer], bool], form: Form) -> None:
    """Answer the queries of standard input one by one, as they come; 1 where one failed.

    Each answer is written before the next query is read, so that another program can
    ask and read in turns. What cannot be answered is said, and the next is asked.
    """
    from dataclasses import replace

    code = 0
    noted: set[str] = set()
    for query in _queries():
        if form.format in {"text", "md"} and not show(f"> {query}"):
            break
        try:
            answer = ask(query)
        except (KnowError, OSError) as error:
            code = 1
            heard = _tell_failure(query, error, form)
        else:
            new = [note for note in answer.notes if note not in noted]
            noted.update(new)
            once = answer if form.format == "json" else replace(answer, notes=new)
            heard = answered(once)
        if not heard or (form.format != "json" and not show("")):
            break
    if code:
        raise typer.Exit(code)


def _tell_failure(query: str, error: KnowError | OSError, form: Form) -> bool:
    """Say why a query has no answer; returns whether somebody listens still."""
    message, hint = getattr(error, "message", "") or str(error), getattr(error, "hint", "")
    say(f"know: {query}: {message}" + (f"; {hint}" if hint else ""))
    if form.format != "json":
        return True
    from knowrepo.recall.present import JSON_VERSION

    return show_json({"version": JSON_VERSION, "query": query, "error": message, "hint": hint})


def _queries() -> Iterator[str]:
    """Yield the lines of standard input that say something."""
    for line in sys.stdin.buffer if sys.stdin else ():
        query = line.decode("utf-8", "replace").lstrip("\ufeff").strip()
        if query:
            yield query


def _look_up(
    repo: Path | None,
    get: str,
    timeline: str,
    window: int,
    form: Form,
    then: Then | None,
    *,
    noted: bool,
) -> None:
    """Print bodies or neighbours; exits with 1 where an id names nothing."""
    from knowrepo.cli.recall_output import print_found
    from knowrepo.recall import ids, journal, opening

    missing: dict[str, str] = {}
    at, code = -1, 0
    hits: list[Hit] = []
    asked: list[str] = []
    here = repository(repo)
    wanted = [part.strip(" []").lower() for part in (get or timeline).split(",")]
    opener = partial(opening.current, ids=wanted) if then is None else then.opener
    with opener(here) as opened:
        catalog = opened.catalog
        if timeline:
            hits, at = ids.timeline(catalog, timeline.strip(" []"), window)
            asked = [ids.resolve(catalog, timeline.strip(" []")).uid]
        for given in filter(None, (part.strip(" []") for part in get.split(","))):
            try:
                hits.append(ids.with_text(catalog, ids.resolve(catalog, given)))
            except (ids.NoMatchError, ids.MalformedError) as error:
                missing[given] = (
                    f"know: {error.message}; {error.hint}" if error.hint else error.message
                )
                code = max(code, error.exit_code)
    form = form._replace(full=form.full or not timeline)
    print_found(hits, form, at, list(missing))
    if noted and then is None:
        read = sum(len(hit.text) for hit in hits) if form.full else 0
        journal.opened(here, asked or [hit.uid for hit in hits], printed=read)
    for note in [*opened.notes, *missing.values()]:
        say(note)
    if missing:
        raise typer.Exit(code)


def _text(argument: str) -> str:
    """Return an argument that can be written; bytes that are not UTF-8 become `?`."""
    return argument.encode("utf-8", "replace").decode()


def _format(named: str, *, as_json: bool) -> str:
    from knowrepo.cli.recall_output import FORMATS

    if named not in FORMATS:
        raise UsageError(f"--format {named}: none of {', '.join(FORMATS)}")
    if as_json and named not in {"text", "json"}:
        raise UsageError(f"--json and --format {named}: choose one")
    return "json" if as_json else named


def _check_options(kind: str, form: Form, *, by_id: bool) -> None:
    if kind not in {"", "concept", "session"}:
        raise UsageError(f"--kind {kind}: neither `concept` nor `session`")
    shown = [
        f"--{name}" for name in ("snippet", "full", "budget") if getattr(form, name)
    ]  # what is shown of a hit
    if len(shown) > 1:
        raise UsageError(f"{' and '.join(shown)}: choose one")
    if 0 < form.budget < _LEAST_BUDGET:
        raise UsageError(f"--budget {form.budget}: no body fits; give {_LEAST_BUDGET} or more")
    if by_id and (form.snippet or form.budget):
        raise UsageError(f"{shown[0]} goes with a query", hint="--get and --timeline take --full")
