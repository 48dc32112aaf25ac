"""``know log``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from knowrepo.cli.common import RepoOption, SinceOption, iso_date, repository, say, show

if TYPE_CHECKING:
    from knowrepo.git.layout import Repository


def log(
    write: Annotated[
        bool, typer.Option("--write", help="Bring concepts/log.md up to date, and stage it.")
    ] = False,
    since: SinceOption = "",
    repo: RepoOption = None,
) -> None:
    """Say what became of the concepts, day by day, by the commits of this branch.

    With --write the entries that concepts/log.md lacks are added to it; what
    stands there stays, whoever wrote it. Days are those of the commits' authors,
    in UTC.

    \b
    Examples:
      know log --since 30d
      know log --write
    """
    from knowrepo.concepts.writing import log as history
    from knowrepo.errors import UsageError

    if write and since:
        raise UsageError("--since is for printing; --write adds all that is new")
    here = repository(repo)
    if write:
        _write(here)
        return
    found = history.entries(here, after=iso_date("since", since)[:10])
    if found:
        show(history.text(found))
    else:
        say("no commit changed a concept")


def _write(here: Repository) -> None:
    from knowrepo.concepts import keeping
    from knowrepo.concepts.writing.log_file import LOG, updated
    from knowrepo.errors import KnowError
    from knowrepo.git import plumbing

    if plumbing.unmerged(here, LOG):
        raise KnowError(
            f"{LOG}: in conflict",
            hint="keep the lines of both sides and `git add` it; what is there twice then goes",
        )
    full = here.inside(here.root / LOG)
    before = full.read_bytes() if full.is_file() else b""
    after = updated(here, before)
    if not after:
        show("no commit changed a concept; nothing to write")
        return
    if after == before and LOG in plumbing.tracked(here, LOG):
        show(f"{LOG}: up to date")
        return
    kept = keeping.keep(here, {LOG: after})
    show(f"{LOG}: {'staged' if after == before else 'written'}")
    if LOG in kept.unstaged:
        say(f"it has edits of yours, so it is not staged: git add {LOG}")
