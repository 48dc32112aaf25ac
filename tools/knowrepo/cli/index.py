"""``know index``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from knowrepo.cli.common import QuietOption, RepoOption, progress, repository, say, show

if TYPE_CHECKING:
    from knowrepo.git.layout import Repository


def index(
    vectors: Annotated[
        bool, typer.Option("--vectors/--no-vectors", help="Embed what has no vector yet.")
    ] = True,
    threads: Annotated[
        int, typer.Option(metavar="N", min=0, help="Threads that embed; 0 for all.")
    ] = 0,
    repo: RepoOption = None,
    quiet: QuietOption = False,
) -> None:
    """Bring the catalog and the vectors up to the present state.

    Only what is new is read and embedded. The run can be stopped at any time and
    goes on where it was; without a model it indexes words and says so. Exits 0
    also where another process is indexing already, and 1 where the catalog or
    the vectors cannot be written. What cannot be indexed is named, and costs
    that one document.

    \b
    Examples:
      know index
      know index --no-vectors
      know index --quiet --threads 1
    """
    from knowrepo.index.freshness import holds_all

    here = repository(repo)
    if holds_all(here):
        show("catalog: 0 documents indexed, 0 removed")
    elif not _refreshed(here, quiet=quiet):
        return
    if vectors:
        from knowrepo.cli.embedding import embed
        from knowrepo.upkeep import logs

        with logs.noted(here, "embedding") as what:
            embedded = embed(here, threads, quiet=quiet)
            if embedded is not None:
                what.update(embedded=embedded)


def _refreshed(here: Repository, *, quiet: bool) -> bool:
    """Bring the catalog up to the present state; says whether that was ours to do."""
    from knowrepo.git import program
    from knowrepo.index.build import refresh
    from knowrepo.upkeep import logs

    with logs.noted(here, "index") as what, progress("indexing", quiet=quiet) as tell:
        done = refresh(here, progress=tell, wait=5.0)
        if not done.busy:
            what.update(indexed=done.indexed, removed=done.removed, unreadable=len(done.notes))
    program.record_if_missing(here)
    for note in done.notes:
        say(note)
    if done.busy:
        if not quiet:
            say("another process is indexing this work tree; nothing to do")
        return False
    show(f"catalog: {done.indexed} documents indexed, {done.removed} removed")
    return True
