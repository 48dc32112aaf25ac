"""``know forget``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from knowrepo.cli.common import RepoOption, repository, say, show
from knowrepo.errors import KnowError, UsageError
from knowrepo.units import count

if TYPE_CHECKING:
    from pathlib import Path

    from knowrepo.git.layout import Repository
    from knowrepo.sessions.listing import Archived


def forget(
    session: Annotated[
        str, typer.Argument(metavar="SESSION", help="Its id, or enough of it to be the only one.")
    ],
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")] = False,
    repo: RepoOption = None,
) -> None:
    """Take a session out of the archive, the catalog and the vectors, for good.

    What remains is a small file that keeps every clone from archiving it again.
    The log of recalls goes too: what was asked may tell what was in the session.
    Earlier commits still hold the session: the commands that rewrite history are
    printed, and not run.

    \b
    Examples:
      know forget 768de5d6
      know forget claude/768de5d6 --yes
    """
    from knowrepo.sessions.archive import exclusively
    from knowrepo.sessions.listing import resolve

    here = repository(repo)
    found = resolve(here, session, forgotten=True)
    if not yes:
        _confirm(found.name)
    with exclusively(here, waiting=lambda: say("an archive is running; waiting")):
        files, vectors = _forget(here, found)
    show(
        f"{found.name}: forgotten; {count(len(files), 'file')}, {count(vectors, 'vector')} removed"
    )
    _say_what_is_left(here, files, _quoting(here, found.name))


def _forget(here: Repository, session: Archived) -> tuple[list[Path], int]:
    """Forget a session, under the archive's lock; returns its files, and how many vectors went.

    Killed at any point, it can be run again: the files, which tell what else is to
    go, go last.
    """
    import shutil

    from knowrepo.config import load_repository_config
    from knowrepo.index import purge
    from knowrepo.recall import journal
    from knowrepo.sessions import forget as archive_side
    from knowrepo.sessions.archive import cleared, finish

    scratch = cleared(here)
    try:
        # What an earlier run left half published would bring the session back.
        finish(here, scratch, load_repository_config(here.root).part_megabytes * 1_000_000)
        firsts = archive_side.first_files_of(here, session.place)
        texts = purge.texts_of(here, firsts, scratch)
        archive_side.bury(here, session.place)
        journal.clear(here)  # what was asked may tell what was in it
        try:
            vectors = purge.purge(here, texts)
        except KnowError as error:
            again = f"{session.name}: marked as forgotten, and not removed yet: {error.message}"
            raise KnowError(again, hint=error.hint) from error
        return archive_side.forget(here, session.place), vectors
    finally:
        shutil.rmtree(scratch, ignore_errors=True)


def _confirm(name: str) -> None:
    import sys

    if not sys.stdin.isatty():
        raise UsageError(f"{name}: nobody to ask whether to forget it", hint="pass --yes")
    if not typer.confirm(f"Forget {name}, with all that belongs to it?", err=True):
        raise typer.Exit(1)


def _quoting(here: Repository, name: str) -> list[str]:
    """Return the concepts, drafts among them, that name a session as what they quote."""
    import re

    from knowrepo.concepts import bundle
    from knowrepo.concepts.model import is_concept_path

    there = re.compile(rf"{re.escape(name)}(?![\w-])".encode())
    found = []
    for path in sorted({*bundle.read_tracked(here), *bundle.drafts(here)}):
        full = here.root / path
        if is_concept_path(path) and full.is_file() and not full.is_symlink():
            found += [path] if there.search(full.read_bytes()) else []
    return found


def _say_what_is_left(here: Repository, files: list[Path], quoting: list[str]) -> None:
    """Print what only a person can do: commit, and rewrite history where it matters."""
    if quoting:
        say("these still quote it; delete them, or take out what they have of it:")
        for path in quoting:
            say(f"    {path}")
    sessions = here.sessions.relative_to(here.work_tree).as_posix()
    say("commit it, so that every clone forgets:")
    say(f"    git add -A -- '{sessions}' && git commit -m 'Forget a session'")
    if (here.common_dir / "know" / "sharing").is_dir():
        say("and push it: the next `know sync push` takes its vectors off the remote")
    say("earlier commits still hold it. In a fresh clone, when everybody has pushed:")
    options = " ".join(f"--path '{p.relative_to(here.work_tree).as_posix()}'" for p in files)
    say(f"    git filter-repo --invert-paths {options}")
    say("then push with --force and have everybody clone anew; a code host may keep the old")
    say("commits reachable for a while, and a secret that was in them is to be revoked")
