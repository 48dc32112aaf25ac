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

    here = repository(repo)
    with progress("indexing", quiet=quiet) as tell:
        done = refresh(here, progress=tell, wait=5.0)
    for note in done.notes:
        say(note)
    if done.busy:
        say("another process is indexing this work tree; nothing to do")
        return
    show(f"catalog: {done.indexed} documents indexed, {done.removed} removed")
    if vectors:
        from knowrepo.cli.embedding import embed

        embed(here, threads, quiet=quiet)
