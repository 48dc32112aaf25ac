"""``know merge``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from knowrepo.cli.common import RepoOption, repository, say, show
from knowrepo.errors import KnowError

if TYPE_CHECKING:
    from knowrepo.git.layout import Repository
    from knowrepo.sessions.store import SessionName


def merge(
    paths: Annotated[
        list[Path] | None,
        typer.Argument(
            metavar="PATH",
            help="Archived files; by default all in conflict.",
            show_default=False,
        ),
    ] = None,
    repo: RepoOption = None,
) -> None:
    """Settle what a merge left in conflict and no person has to decide.

    Both sides of archived sessions are joined: no line of either is lost, unless
    one side forgot the session, which then stays forgotten. What is generated
    from the concepts is made anew once these are resolved, and the memory of
    `know distill`, concepts/distilled.jsonl, is merged. Where git called know
    itself there is mostly nothing to do: this is for clones without the merge
    drivers, and for what no driver sees. What to add to git is printed.

    \b
    Examples:
      know merge
      know merge sessions/claude/768de5d6-9fad-475b-8a4f-dfa7ddc01bb0.jsonl
    """
    import shlex

    from knowrepo.git.commit import next_step

    here = repository(repo)
    ledger = here.concepts / "distilled.jsonl"
    others = [path for path in paths or [] if path.absolute() != ledger]
    files = _settle_sessions(here, [] if paths and not others else _named(here, others))
    if not paths or len(others) < len(paths):
        files += _settle_ledger(here)
    undecided = None
    if not paths:
        rebuilt, undecided = _rebuild(here)
        files += rebuilt
    if files:
        say(f"when it is as you want it: git add -A -- {shlex.join(files)}")
        step = next_step(here)
        if step and undecided is None:
            say(f"then: {step}")
    elif undecided is None:
        say("nothing is in conflict")
    if undecided is not None:
        raise undecided


def _settle_sessions(here: Repository, names: list[SessionName]) -> list[str]:
    """Join both sides of sessions, or remove what was forgotten; returns their files."""
    import shutil

    from knowrepo.config import load_repository_config
    from knowrepo.sessions.archive import cleared, exclusively
    from knowrepo.sessions.forget import is_forgotten
    from knowrepo.sessions.joining import resolve

    files: list[str] = []
    part_bytes = load_repository_config(here.root).part_megabytes * 1_000_000
    with exclusively(here, waiting=lambda: say("an archive is running; waiting")):
        for name in names:
            scratch = cleared(here)
            forgotten = is_forgotten(here, name)
            try:
                files += resolve(here, name, scratch, part_bytes)
            finally:
                shutil.rmtree(scratch, ignore_errors=True)
            show(f"{name}: {'stays forgotten' if forgotten else 'joined'}")
    return list(dict.fromkeys(files))


def _settle_ledger(here: Repository) -> list[str]:
    """Merge what was distilled, where git has it in conflict; returns its path."""
    from knowrepo.concepts import keeping
    from knowrepo.distill.ledger import LEDGER, is_marked, joined, merged
    from knowrepo.git import plumbing

    path = here.root / LEDGER
    before = path.read_bytes() if path.is_file() and not path.is_symlink() else b""
    entries = {entry.stage: entry.oid for entry in plumbing.entries(here, LEDGER)}
    if not (entries.keys() - {0} or is_marked(before)):
        return []
    content = None
    if {2, 3} <= entries.keys():
        oids = [entries[stage] for stage in (1, 2, 3) if stage in entries]
        sides = [data or b"" for data in plumbing.blobs(here, oids)]
        content = merged(*sides) if len(sides) == len((1, 2, 3)) else merged(b"", *sides)
    keeping.write(here, LEDGER, joined(before) if content is None else content)
    show(f"{LEDGER}: joined")
    return [LEDGER]


def _rebuild(here: Repository) -> tuple[list[str], KnowError | None]:
    """Make anew what is generated, where a merge left it in conflict or behind.

    Returns its files, and the error where concepts are in conflict themselves.
    """
    from knowrepo.concepts import bundle, conflicts, keeping

    try:
        unmerged = bundle.refuse_conflicts(here)
        if not conflicts.rebuilt(here, unmerged) and not keeping.is_behind(here):
            return [], None
        files = keeping.rebuild(here)
    except KnowError as error:
        return [], error
    for path in files:
        show(f"{path}: made anew")
    return files, None


def _named(here: Repository, paths: list[Path]) -> list[SessionName]:
    """Return the sessions of these files, or all in conflict."""
    from knowrepo.sessions import conflicts
    from knowrepo.sessions.tracked import session_of

    if not paths:
        found = {*conflicts.unmerged(here), *conflicts.marked(here)}
        return sorted(found, key=str)
    named: dict[SessionName, None] = {}
    for path in paths:
        places = (path.absolute(), here.root / path)
        full = next((one for one in places if one.is_relative_to(here.sessions)), None)
        name = session_of(here, full) if full is not None else None
        if name is None:
            raise KnowError(f"{path}: no file of this repository's archive")
        named[name] = None
    return list(named)
