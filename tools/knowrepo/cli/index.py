"""``know index``."""

from __future__ import annotations

from typing import Annotated

import typer

from knowrepo.cli.common import QuietOption, RepoOption, progress, repository, say, show


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
    goes on where it was; without a model it indexes words and says so.

    \b
    Examples:
      know index
      know index --no-vectors
    """
    from knowrepo.index.build import refresh
    from knowrepo.upkeep import logs

    here = repository(repo)
    with logs.noted(here, "index") as what, progress("indexing", quiet=quiet) as tell:
        done = refresh(here, progress=tell, wait=5.0)
        if not done.busy:
            what.update(indexed=done.indexed, removed=done.removed, unreadable=len(done.notes))
    for note in done.notes:
        say(note)
    if done.busy:
        if not quiet:
            say("another process is indexing this work tree; nothing to do")
        return
    show(f"catalog: {done.indexed} documents indexed, {done.removed} removed")
    if vectors:
        from knowrepo.cli.embedding import embed

        with logs.noted(here, "embedding") as what:
            embedded = embed(here, threads, quiet=quiet)
            if embedded is not None:
                what.update(embedded=embedded)
