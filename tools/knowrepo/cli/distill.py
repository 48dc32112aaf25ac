"""``know distill``."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Annotated, Any

import typer

from knowrepo.cli.common import (
    AgentOption,
    JsonOption,
    ProjectOption,
    QuietOption,
    RepoOption,
    SinceOption,
    iso_date,
    progress,
    repository,
    say,
    session_agent,
    show,
    show_json,
)
from knowrepo.errors import UsageError
from knowrepo.units import count

if TYPE_CHECKING:
    from contextlib import AbstractContextManager

    from knowrepo.distill.model import Finder, Proposal, Statement
    from knowrepo.distill.run import Done, Outcome
    from knowrepo.git.layout import Repository
    from knowrepo.index.catalog import Catalog
    from knowrepo.sessions.listing import Archived

JSON_VERSION = 1
_NEXT = (
    "next: read them, and delete what is wrong: it is not proposed again.",
    "`know accept CONCEPT` makes one stable; then all of them:",
    "    git add concepts && know tags build && git commit",
)


def distill(
    sessions: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="SESSION",
            help="Sessions, as `know sessions` names them; by default all that changed.",
            show_default=False,
        ),
    ] = None,
    since: SinceOption = "",
    agent: AgentOption = "",
    project: ProjectOption = "",
    types: Annotated[
        list[str] | None,
        typer.Option("--type", metavar="TYPE", help="Only concepts of this type; repeatable."),
    ] = None,
    limit: Annotated[
        int, typer.Option("--limit", "-k", metavar="N", min=0, help="At most so many; 0 for all.")
    ] = 0,
    again: Annotated[
        bool, typer.Option("--all", help="Look at sessions too that did not change.")
    ] = False,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Print proposals and evidence; write nothing.")
    ] = False,
    llm: Annotated[
        bool, typer.Option("--llm", help="Ask the language model that you configured.")
    ] = False,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask whether it may be.")] = False,
    as_json: JsonOption = False,
    repo: RepoOption = None,
    quiet: QuietOption = False,
) -> None:
    """Propose concepts for what sessions decided, fixed and found out.

    Each is a draft in concepts/ that quotes its sources. Nothing is staged: a
    draft is nobody's knowledge until somebody adds it. A draft that nobody
    touched follows its session; one that was edited, accepted or deleted is
    never written again. Sessions of sub-agents are left out unless named.

    \b
    Examples:
      know distill
      know distill claude/5d0b8f0e --dry-run
      know distill --since 7d --type Decision --type Solution
      know distill --since 7d --llm
    """
    from knowrepo.distill import run
    from knowrepo.distill.pending import Wanted, pending

    here = repository(repo)
    wanted = Wanted(_types(types or []), limit, bool(sessions), again, dry_run)
    found = _sessions(here, sessions or [], iso_date("since", since), agent, project)
    outcomes: list[Outcome] = []

    def tell(outcome: Outcome) -> None:
        outcomes.append(outcome)
        if not as_json:
            _show(outcome, evidence=dry_run, quiet=quiet)

    with _catalog(here) as catalog:
        finds = finder(here, catalog)
        if llm:
            from knowrepo.cli.asking import language_model

            finds = language_model(lambda name: pending(here, found, name, wanted), finds, yes=yes)
        with progress("distilling", quiet=quiet) as advance:
            done = run.distill(
                here,
                found,
                finds,
                tell,
                wanted=wanted,
                advance=advance,
                waiting=lambda: say("another distill is running; waiting"),
            )
    if as_json:
        _print_json(outcomes, done, finds.name, dry_run=dry_run)
    if not quiet:
        _sum_up(outcomes, done, sub_agents=_left_out(found), dry_run=dry_run)
    if any(outcome.action == "failed" for outcome in outcomes):
        raise typer.Exit(1)


def finder(here: Repository, catalog: Catalog | None) -> Finder:
    """Return what finds proposals in a session: the rules, and what watches the attempts.

    Tags are chosen by what the bundle and the catalog hold; both may be missing.
    """
    from knowrepo.distill.attempts import Attempts
    from knowrepo.distill.rules import RulesFinder
    from knowrepo.distill.tagging import CatalogBackground

    background = CatalogBackground(catalog) if catalog is not None else None
    return RulesFinder(_vocabulary(here), background, watch=Attempts)


def _vocabulary(here: Repository) -> dict[str, int]:
    """Return how many concepts carry each tag, as the tag index says."""
    from collections import Counter

    from knowrepo.concepts.tags import TAG_INDEX, read_tag_index

    try:
        index = (here.root / TAG_INDEX).read_bytes()
    except OSError:
        return {}
    return Counter(tag for entry in read_tag_index(index) for tag in entry.tags)


def _catalog(here: Repository) -> AbstractContextManager[Catalog | None]:
    """Return the catalog, open for reading; nothing where there is none that can be read."""
    from contextlib import nullcontext

    from knowrepo.index.catalog import Catalog

    return Catalog.open(here.catalog) or nullcontext()


def _types(given: list[str]) -> frozenset[str]:
    from knowrepo.concepts.kinds import TYPES, spelled

    types = frozenset(map(spelled, given))
    for name in sorted(types - set(TYPES)):
        raise UsageError(f"--type {name}: not proposed", hint=f"known are {', '.join(TYPES)}")
    return types


def _sessions(
    here: Repository, given: list[str], since: str, agent: str, project: str
) -> list[Archived]:
    """Return the sessions to look at, each with a file of its own."""
    from knowrepo.sessions.listing import find, glance, resolve
    from knowrepo.sessions.origin import origin_of

    if given and (since or agent or project):
        raise UsageError("name sessions, or choose them with --since, --agent or --project")
    if given:
        named = {session.name: session for session in (resolve(here, name) for name in given)}
        return list(named.values())
    agent = session_agent(here, agent)
    found = [one for one in find(here) if agent in ("", one.agent) and one.size]
    if not (since or project):
        return found
    facts = [(one, glance(one)) for one in found]
    return [
        one
        for one, told in facts
        if told.date >= since
        and (not project or origin_of(here.sessions, one.place, told.project).answers(project))
    ]


def _left_out(found: list[Archived]) -> int:
    """Return how many sub-agents the sessions called that were not asked for."""
    named = {session.name for session in found}
    return sum(s.sub_agents for s in found if not any(b.name in named for b in s.below))


def _show(outcome: Outcome, *, evidence: bool, quiet: bool) -> None:
    """Print a proposal: what it says, then where; in a pipe one line, cut by tabs."""
    if outcome.proposal is None:
        say(f"{outcome.session}: {outcome.note}")
        return
    if outcome.action == "already":
        if not quiet:
            say(f"already {outcome.path}: {outcome.proposal.title}")
        return
    title = " ".join(outcome.proposal.title.split())
    grown = ["(grown)"] if outcome.action == "grown" else []
    if sys.stdout.isatty():
        show(" ".join([f"{outcome.proposal.type}: {title}", *grown]))
        show(f"    {outcome.path}")
    else:
        show("\t".join([outcome.path, outcome.proposal.type, title, *grown]))
    if evidence:
        for statement in outcome.proposal.statements:
            show(f"    {statement.kind}: {' '.join(statement.text.split())}")
            show(f"      {_place(outcome.session, statement)}")


def _place(session: str, statement: Statement) -> str:
    time = " ".join(statement.time.split())
    return ", ".join(filter(None, (f"{session}:{statement.line}", statement.role, time)))


def _print_json(outcomes: list[Outcome], done: Done, by: str, *, dry_run: bool) -> None:
    failed = [
        {"session": outcome.session, "error": outcome.note}
        for outcome in outcomes
        if outcome.action == "failed"
    ]
    proposals = [_as_json(o, o.proposal) for o in outcomes if o.proposal is not None]
    show_json(
        {
            "version": JSON_VERSION,
            "finder": by,
            "dry_run": dry_run,
            "sessions": {"looked": done.looked, "unchanged": done.unchanged},
            "proposals": proposals,
            "failed": failed,
        }
    )


def _as_json(outcome: Outcome, proposal: Proposal) -> dict[str, Any]:
    from knowrepo.distill.files import shown_record

    statements = [
        {
            "kind": one.kind,
            "text": one.text,
            "record": shown_record(one.record),
            "line": one.line,
            "role": one.role,
            "time": one.time,
            "new": one.key(proposal.session) in outcome.fresh,
        }
        for one in proposal.statements
    ]
    return {
        "action": outcome.action,
        "path": outcome.path,
        "type": proposal.type,
        "title": proposal.title,
        "description": proposal.description,
        "tags": list(proposal.tags),
        "session": outcome.session,
        "statements": statements,
    }


def _sum_up(outcomes: list[Outcome], done: Done, *, sub_agents: int, dry_run: bool) -> None:
    by = {action: sum(o.action == action for o in outcomes) for action in ("new", "grown")}
    would = " would be written" if dry_run else ""
    parts = [f"{count(by['new'], 'draft')}{would}"]
    if by["grown"]:
        parts.append(f"{by['grown']} brought up to date")
    known = sum(outcome.action == "already" for outcome in outcomes)
    parts += [f"{known} known already"] if known else []
    failed = sum(outcome.action == "failed" for outcome in outcomes)
    parts += [f"{count(failed, 'session')} failed"] if failed else []
    say(f"{', '.join(parts)}; {_looked_at(done, sub_agents)}")
    if (by["new"] or by["grown"]) and not dry_run:
        for line in _NEXT:
            say(line)


def _looked_at(done: Done, sub_agents: int) -> str:
    told = f"{count(done.looked, 'session')} looked at"
    told += f", {done.unchanged:,} unchanged" if done.unchanged else ""
    return told + (f", {count(sub_agents, 'sub-agent')} left out" if sub_agents else "")
