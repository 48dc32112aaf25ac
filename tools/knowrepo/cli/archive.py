"""``know archive``."""

from __future__ import annotations

from collections import Counter
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
)
from knowrepo.cli.outcomes import noted, print_stats, sum_up, tell
from knowrepo.errors import UsageError
from knowrepo.units import count

if TYPE_CHECKING:
    from knowrepo.git.layout import Repository
    from knowrepo.sessions.discover import Failed
    from knowrepo.sessions.outcome import Outcome
    from knowrepo.sessions.projects import Projects


def archive(
    paths: Annotated[
        list[str] | None,
        typer.Argument(metavar="PATH", help="Transcripts, or folders of them.", show_default=False),
    ] = None,
    everything: Annotated[
        bool, typer.Option("--all", help="Look in the places of every agent.")
    ] = False,
    agents: Annotated[
        list[str] | None,
        typer.Option(
            "--agent", metavar="AGENT", help="Look in the places of this agent; may be repeated."
        ),
    ] = None,
    queued: Annotated[
        bool, typer.Option("--queued", help="Archive what the agents' hooks noted.")
    ] = False,
    since: Annotated[
        str,
        typer.Option(metavar="WHEN", help="Only what was written since: a date, or 12h, 7d, 3w."),
    ] = "",
    stats: Annotated[
        bool, typer.Option("--stats", help="Say what each kind of archived content costs.")
    ] = False,
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
    from knowrepo.git.repo import require_git

    looks = everything or bool(agents)
    if stats and not (paths or looks or queued):
        print_stats(repository(repo))
        return
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
    _warn_of_unknown(here)
    projects = projects_of(here)
    if looks or queued:
        require_git()
    if queued:
        told = _take_queue(here, projects, quiet=quiet, dry_run=dry_run)
    else:
        after = moment("since", since) if since else 0.0
        failures: list[Outcome] = []
        found = _found(paths, projects, agents or [], after, _into(failures))
        named = len(paths or []) == len(found)
        told = run(
            here,
            found,
            projects if looks else None,
            quiet=quiet,
            dry_run=dry_run,
            named=named,
            failures=failures,
        )
    if commit:
        _commit(here, quiet=quiet)
    if stats:
        print_stats(here)
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
    from knowrepo.sessions.capture import queue

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
    from knowrepo.sessions import sweep
    from knowrepo.sessions.capture import queue

    failures: list[Outcome] = []
    with queue.sweep() as sweeping:
        sources: dict[Path, queue.Entry] = {}
        failed: set[str] = set()
        taken = [
            sweep.located(entry, _into(failures))
            for entry in sweeping.take(lambda entry: sweep.wants(entry, projects))
        ]
        for entry in taken:
            before = len(failures)
            files = sweep.files_of(entry, projects, _into(failures))
            sources.update(dict.fromkeys(files, entry))
            if len(failures) > before:
                failed.add(entry.name)
        told = run(here, list(sources), projects, quiet=quiet, dry_run=dry_run, failures=failures)
        for outcome in told:
            if outcome.action == "failed" and outcome.source in sources:
                failed.add(sources[outcome.source].name)
        for entry in taken:
            if dry_run or entry.name in failed:
                sweeping.give_back(entry)
            else:
                sweeping.done(entry)
    return told


def _into(failures: list[Outcome]) -> Failed:
    """Return what notes folders that cannot be read as what has failed."""
    from knowrepo.sessions.outcome import Outcome

    def failed(error: OSError) -> None:
        where = Path(str(error.filename))
        failures.append(Outcome(where, "failed", note=error.strerror or str(error)))

    return failed


def _found(
    paths: list[str] | None,
    projects: Projects,
    agents: list[str],
    since: float,
    failed: Failed,
) -> list[Path]:
    from knowrepo.sessions import sweep
    from knowrepo.sessions.discover import find_sources

    if not paths:
        return sweep.sources(projects, failed, agents=agents, since=since)
    named = [Path(path) for path in paths]
    found = find_sources(named, failed)
    return [
        path
        for path in found
        if path in named or (_is_recent(path, since) and not projects.excludes(str(path)))
    ]


def _is_recent(path: Path, since: float) -> bool:
    """Say whether a file was written since; of what cannot be looked at, archiving tells."""
    try:
        return not since or path.stat().st_mtime >= since
    except OSError:
        return True


def _warn_of_unknown(here: Repository) -> None:
    """Say which settings do nothing: one that was to leave sessions out would be missed."""
    from knowrepo.config import (
        REPOSITORY_FILE,
        config_path,
        load_repository_config,
        load_user_config,
    )

    files = (
        (config_path(), load_user_config().unknown),
        (here.root / REPOSITORY_FILE, load_repository_config(here.root).unknown),
    )
    for path, unknown in files:
        if unknown:
            keys = ", ".join(f"`{key}`" for key in unknown)
            hint = "; `exclude` belongs below [archive]" if "exclude" in unknown else ""
            say(f"{path}: know has no setting {keys}{hint}")


def projects_of(here: Repository, *, only: str = "") -> Projects:
    """Return which projects' sessions belong in a repository; of ``only`` that identity."""
    from knowrepo.config import load_repository_config, load_user_config
    from knowrepo.sessions.discover import worked_in
    from knowrepo.sessions.projects import Projects

    config = load_user_config()
    exclude = (*config.exclude, *load_repository_config(here.root).exclude)
    wanted = [one for one in config.projects if not only or one.identity == only]
    return Projects(wanted, here.root, exclude=exclude, known=worked_in)


def run(
    here: Repository,
    sources: list[Path],
    projects: Projects | None,
    *,
    quiet: bool,
    dry_run: bool = False,
    named: bool = False,
    failures: Iterable[Outcome] = (),
) -> list[Outcome]:
    """Archive, print a line for each session that changed, and sum up.

    ``named``: a person named just these files, and wants to know of each.
    ``failures`` are what could not be looked into for sources.
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
    told = list(failures)
    for outcome in told:
        tell(outcome, quiet=quiet, named=named, dry_run=dry_run)
    if projects is not None:
        projects.denied.clear()
    with noted(here, told, dry_run=dry_run), progress("archiving", quiet=quiet) as advance:
        seen: set[Path] = set()
        for outcome in outcomes:
            seen.add(outcome.source)
            advance(len(seen), len(sources))
            tell(outcome, quiet=quiet, named=named, dry_run=dry_run)
            told.append(outcome)
    if not quiet:
        denied = projects.denied if projects is not None else Counter[str]()
        sum_up(told, denied, dry_run=dry_run, named=named)
    return told


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
