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
    """Join both sides of sessions that a merge left in conflict.

    No line of either side is lost. Where git called know itself there is nothing to
    do: this is for clones without the merge driver, for a session in several parts,
    and for a file with conflict markers. The memory of `know distill` is joined
    too, concepts/distilled.jsonl. What to add to git is printed.

    \b
    Examples:
      know merge
      know merge sessions/claude/768de5d6-9fad-475b-8a4f-dfa7ddc01bb0.jsonl
    """
    import shlex
    import shutil

    from knowrepo.config import load_repository_config
    from knowrepo.sessions.archive import cleared, exclusively
    from knowrepo.sessions.joining import resolve

    here = repository(repo)
    ledger = here.concepts / "distilled.jsonl"
    others = [path for path in paths or [] if path.absolute() != ledger]
    names = [] if paths and not others else _named(here, others)
    part_bytes = load_repository_config(here.root).part_megabytes * 1_000_000
    files: list[str] = []
    with exclusively(here, waiting=lambda: say("an archive is running; waiting")):
        for name in names:
            scratch = cleared(here)
            try:
                files += resolve(here, name, scratch, part_bytes)
            finally:
                shutil.rmtree(scratch, ignore_errors=True)
            show(f"{name}: joined")
    if not paths or len(others) < len(paths):
        files += _join_ledger(here)
    if files:
        say(f"when it is as you want it: git add -A -- {shlex.join(files)}")
    else:
        say("nothing is in conflict")


def _join_ledger(here: Repository) -> list[str]:
    """Join both sides of what was distilled, where git has it in conflict; returns its path."""
    from knowrepo.concepts import keeping
    from knowrepo.distill.ledger import LEDGER, is_marked, joined
    from knowrepo.git import plumbing

    path = here.root / LEDGER
    before = path.read_bytes() if path.is_file() and not path.is_symlink() else b""
    if not (plumbing.unmerged(here, LEDGER) or is_marked(before)):
        return []
    keeping.write(here, LEDGER, joined(before))
    show(f"{LEDGER}: joined")
    return [LEDGER]


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
