"""``know archive``."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from knowrepo.cli.common import (
    QuietOption,
    RepoOption,
    moment,
    progress,
    repository,
    say,
    show,
)
from knowrepo.errors import UsageError
from knowrepo.units import count, size

if TYPE_CHECKING:
    from knowrepo.git.layout import Repository
    from knowrepo.sessions.projects import Projects
    from knowrepo.sessions.run import Outcome

_SHOWN = ("new", "grown", "joined", "unchanged", "not mapped", "private", "forgotten", "failed")


def archive(
    paths: Annotated[
        list[str] | None,
        typer.Argument(help="Transcripts, or folders of them.", show_default=False),
    ] = None,
    everything: Annotated[
        bool, typer.Option("--all", help="Look in the places of every agent.")
    ] = False,
    agents: Annotated[
        list[str] | None,
        typer.Option("--agent", help="Look in the places of this agent; may be repeated."),
    ] = None,
    queued: Annotated[
        bool, typer.Option("--queued", help="Archive what the agents' hooks noted.")
    ] = False,
    since: Annotated[
        str, typer.Option(help="Only what was written since: a date, or as 12h, 7d, 3w.")
    ] = "",
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Say what would be done, and change nothing.")
    ] = False,
    commit: Annotated[
        bool, typer.Option("--commit", help="Commit the sessions, and nothing else.")
    ] = False,
    repo: RepoOption = None,
    quiet: QuietOption = False,
) -> None:
    """Bring transcripts into sessions/, redacted, one file a session.

    Naming a path is consent to archive it. With --all or --agent only sessions
    of the projects that your configuration maps to this repository are archived
    (`know init` maps one); the others are counted. A longer copy of an archived
    session appends to it; nothing is ever shortened, and a second run changes
    nothing. A session in which you typed know:private is left out.

    \b
    Examples:
      know archive ~/.claude/projects/-home-me-app
      know archive --all --dry-run
      know archive --agent codex --since 7d --commit
      know archive --queued --quiet
    """
    looks = everything or bool(agents)
    if looks + queued + bool(paths) > 1:
        raise UsageError("name paths, or look with --all or --agent, or take what is --queued")
    if not (paths or looks or queued):
        raise UsageError("nothing to archive; name transcripts, or use --all, --agent or --queued")
    if not all(paths or []):  # an empty variable is no consent to archive this folder
        raise UsageError("an empty path; name a transcript or a folder")
    if queued and not _has_repository(repo, quiet=quiet):
        return
    here = repository(repo)
    commit = commit and not dry_run
    if commit:
        _refuse_while_busy(here)
    projects = projects_of(here)
    if queued:
        told = _take_queue(here, projects, quiet=quiet, dry_run=dry_run)
    else:
        after = moment("since", since) if since else 0.0
        found = _found(paths, projects, agents or [], after)
        named = len(paths or []) == len(found)
        told = run(
            here, found, projects if looks else None, quiet=quiet, dry_run=dry_run, named=named
        )
    if commit:
        _commit(here, quiet=quiet)
    failed = any(outcome.action == "failed" for outcome in told)
    nothing = told and all(outcome.action == "not a transcript" for outcome in told)
    if failed or (nothing and paths):
        raise typer.Exit(1)


def _has_repository(repo: Path | None, *, quiet: bool) -> bool:
    """Say whether there is a repository to sweep into.

    Agents' hooks run the sweep wherever they are started: having none is no
    error there, and what nobody takes is to leave the queue in time.
    """
    from knowrepo.errors import NotARepositoryError
    from knowrepo.sessions import queue

    try:
        repository(repo)
    except NotARepositoryError:
        if not quiet:
            raise
        with queue.sweep() as sweep:
            sweep.take(lambda _: False)
        return False
    return True


def _take_queue(
    here: Repository, projects: Projects, *, quiet: bool, dry_run: bool
) -> list[Outcome]:
    """Archive the transcripts of the queue's entries that belong here."""
    from knowrepo.sessions import queue, sweep

    with queue.sweep() as sweeping:
        sources: dict[Path, queue.Entry] = {}
        taken = [
            sweep.located(entry)
            for entry in sweeping.take(lambda entry: sweep.wants(entry, projects))
        ]
        for entry in taken:
            sources.update(dict.fromkeys(sweep.files_of(entry), entry))
        told = run(here, list(sources), projects, quiet=quiet, dry_run=dry_run)
        failed = {sources[outcome.source].name for outcome in told if outcome.action == "failed"}
        for entry in taken:
            if dry_run or entry.name in failed:
                sweeping.give_back(entry)
            else:
                sweeping.done(entry)
    return told


def _found(
    paths: list[str] | None, projects: Projects, agents: list[str], since: float
) -> list[Path]:
    from knowrepo.sessions import sweep
    from knowrepo.sessions.discover import find_sources

    if not paths:
        return sweep.sources(projects, agents=agents, since=since)
    named = [Path(path) for path in paths]
    found = find_sources(named)
    return [
        path
        for path in found
        if path in named or (path.stat().st_mtime >= since and not projects.excludes(str(path)))
    ]


def projects_of(here: Repository) -> Projects:
    """Return which projects' sessions belong in a repository."""
    from knowrepo.config import load_repository_config, load_user_config
    from knowrepo.sessions.projects import Projects

    config = load_user_config()
    exclude = (*config.exclude, *load_repository_config(here.root).exclude)
    return Projects(config.projects, here.root, exclude=exclude)


def run(
    here: Repository,
    sources: list[Path],
    projects: Projects | None,
    *,
    quiet: bool,
    dry_run: bool = False,
    named: bool = False,
) -> list[Outcome]:
    """Archive, print a line for each session that changed, and sum up.

    ``named``: a person named just these files, and wants to know of each.
    """
    from knowrepo.config import load_repository_config
    from knowrepo.sessions.archive import archive as archive_sources

    part = load_repository_config(here.root).part_megabytes * 1_000_000
    outcomes = archive_sources(
        here,
        sources,
        projects=projects,
        dry_run=dry_run,
        part_bytes=part,
        waiting=lambda: say("another archive is running; waiting"),
    )
    told: list[Outcome] = []
    with progress("archiving", quiet=quiet) as tell:
        seen: set[Path] = set()
        for outcome in outcomes:
            seen.add(outcome.source)
            tell(len(seen), len(sources))
            _tell(outcome, quiet=quiet, named=named, dry_run=dry_run)
            told.append(outcome)
    if not quiet:
        _sum_up(told, dry_run=dry_run, named=named)
    return told


def _tell(outcome: Outcome, *, quiet: bool, named: bool, dry_run: bool) -> None:
    if outcome.action == "not a transcript":
        if named or outcome.note:  # it was named, or nearly is one
            note = f" ({outcome.note})" if outcome.note else ""
            say(f"{outcome.source}: not a transcript that know can read{note}")
    elif outcome.action == "failed":
        say(f"{outcome.source}: {outcome.note}")
    elif quiet:  # what a session's hooks print would become its agent's context
        return
    elif outcome.action in {"new", "grown", "joined"}:
        show(f"{'would be ' if dry_run else ''}{_line(outcome)}")
    elif outcome.note or named:
        show(_line(outcome))


def _line(outcome: Outcome) -> str:
    """Return what became of a source, in one line."""
    name = outcome.session or str(outcome.source)
    parts = [outcome.note] if outcome.note else []
    if outcome.action in {"new", "grown", "joined"}:
        added = f" (+{outcome.added})" if outcome.action != "new" else ""
        parts += [f"{count(outcome.lines, 'line')}{added}", size(outcome.size), *_remarks(outcome)]
    return f"{name}: {', '.join([outcome.action, *parts])}"


def _remarks(outcome: Outcome) -> Iterable[str]:
    kept = outcome.kept
    if kept.redacted:
        kinds = ", ".join(f"{number} {kind}" for kind, number in sorted(kept.redacted.items()))
        yield f"redacted {kinds}"
    if kept.stubbed:
        yield f"{count(kept.stubbed, 'payload')} stubbed"
    if kept.dropped:
        yield f"{count(kept.dropped, 'progress line')} dropped"
    if kept.bad:
        numbers = ", ".join(map(str, kept.bad[:5])) + ("…" if len(kept.bad) > 5 else "")
        yield f"{count(len(kept.bad), 'bad line')} kept as text (line {numbers})"
    if kept.pending:
        yield "its last line is unfinished and waits"


def _sum_up(told: list[Outcome], *, dry_run: bool, named: bool) -> None:
    """Print how many sessions of each agent became what."""
    agents: dict[str, Counter[str]] = defaultdict(Counter)
    grown: Counter[str] = Counter()
    other = 0
    for outcome in told:
        if outcome.action in _SHOWN:
            agent = outcome.session.partition("/")[0] or "-"
            agents[agent][outcome.action] += 1
            grown[agent] += outcome.grown
        elif outcome.action == "not a transcript":
            other += 1
    if len(told) > 1 and agents:
        shown = [action for action in _SHOWN if any(row[action] for row in agents.values())]
        rows = [["agent", *shown, "bytes added"]]
        for agent, row in sorted(agents.items()):
            rows.append([agent, *(str(row[action]) for action in shown), size(grown[agent])])
        widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
        for cells in rows:
            first, *rest = (cell.rjust(width) for cell, width in zip(cells, widths, strict=True))
            say("  ".join([cells[0].ljust(len(first)), *rest]))
    if other and not named:
        say(f"passed over {count(other, 'other file')}: no transcript that know can read")
    if any(row["not mapped"] for row in agents.values()):
        say("not mapped: of other projects; `know init --project FOLDER` maps one to a repository")
    if dry_run:
        say("nothing was changed (--dry-run)")


def _refuse_while_busy(here: Repository) -> None:
    from knowrepo.git.commit import refuse_while_busy

    refuse_while_busy(here)


def _commit(here: Repository, *, quiet: bool) -> None:
    """Commit what the archive has and git has not; fail where git is told to ignore it."""
    from functools import partial

    from knowrepo.git.commit import changed, commit_only, ignored
    from knowrepo.sessions.tracked import is_committed

    wanted = partial(is_committed, here)
    paths = changed(here, here.sessions, wanted)
    unseen = ignored(here, here.sessions, wanted)
    name = commit_only(here, paths, _message(here, paths)) if paths else ""
    if name and not quiet:
        say(f"committed {count(len(paths), 'file')} as {name}")
    if unseen:
        more = f" and {len(unseen) - 1} more" if len(unseen) > 1 else ""
        say(f"git ignores {unseen[0]}{more}, which is not committed")
        say(f"  `git check-ignore -v {unseen[0]}` names the pattern; remove it")
        raise typer.Exit(1)
    if not name and not quiet:
        say("nothing to commit: git has all sessions")


def _message(here: Repository, paths: list[str]) -> str:
    """Return the commit's message: what comes, what was forgotten."""
    there = [path for path in paths if (here.work_tree / path).exists()]
    archived = sum(path.endswith(".jsonl") for path in there)
    forgotten = sum(path.endswith(".forgotten") for path in there)
    what = [f"archive {count(archived, 'session file')}"] if archived else []
    what += [f"forget {count(forgotten, 'session')}"] if forgotten or not what else []
    return ", ".join(what).capitalize()
