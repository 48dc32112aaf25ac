"""``know hook merge-session``: what git calls to merge an archived session."""

from __future__ import annotations

from pathlib import Path, PurePosixPath
from typing import Annotated

import typer

from knowrepo.cli.common import say


def merge_session(
    base: Annotated[Path, typer.Argument(help="The common ancestor (%O).")],  # noqa: ARG001
    ours: Annotated[Path, typer.Argument(help="Our version, which is replaced (%A).")],
    theirs: Annotated[Path, typer.Argument(help="Their version (%B).")],
    path: Annotated[str, typer.Argument(help="The path in the repository (%P).")],
) -> None:
    """Join two copies of an archived session; git calls this when it merges one.

    Either direction ends in the same bytes. Nothing of either copy is lost, so
    the ancestor does not matter.
    """
    import shutil
    from tempfile import TemporaryDirectory

    from knowrepo.sessions.readers import reader_of
    from knowrepo.sessions.unite import merge

    _, _, below = path.rpartition("sessions/")
    agent = PurePosixPath(below).parts[0] if "/" in below else ""
    reader = reader_of(agent)
    if reader is None:
        say(f"{path}: no reader for sessions of {agent or '?'}; left to git as a conflict")
        raise typer.Exit(1)
    with TemporaryDirectory(prefix="know-merge-") as scratch:
        shutil.copyfile(merge(ours, theirs, reader, Path(scratch)), Path(scratch, "merged"))
        shutil.copyfile(Path(scratch, "merged"), ours)
