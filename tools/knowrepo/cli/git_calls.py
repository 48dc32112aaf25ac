"""``know hook merge-session`` and ``know hook sweep``: what git calls."""

from __future__ import annotations

import os
from pathlib import Path, PurePosixPath
from typing import Annotated

import typer

from knowrepo.cli.common import RepoOption, say


def merge_session(
    base: Annotated[Path, typer.Argument(metavar="BASE", help="The common ancestor (%O).")],  # noqa: ARG001
    ours: Annotated[
        Path, typer.Argument(metavar="OURS", help="Our version, which is replaced (%A).")
    ],
    theirs: Annotated[Path, typer.Argument(metavar="THEIRS", help="Their version (%B).")],
    path: Annotated[str, typer.Argument(metavar="PATH", help="The path in the repository (%P).")],
) -> None:
    """Join two copies of an archived session; git calls this when it merges one.

    Either direction ends in the same bytes. Nothing of either copy is lost, so
    the ancestor does not matter.
    """
    import shutil
    from tempfile import TemporaryDirectory

    from knowrepo.sessions.readers import reader_of
    from knowrepo.sessions.redact.settings import redactor_for
    from knowrepo.sessions.unite import merge

    above, _, below = path.rpartition("sessions/")
    agent = PurePosixPath(below).parts[0] if "/" in below else ""
    reader = reader_of(agent)
    if reader is None:
        say(f"{path}: no reader for sessions of {agent or '?'}; left to git as a conflict")
        raise typer.Exit(1)
    with TemporaryDirectory(prefix="know-merge-") as scratch:
        redactor = redactor_for(Path.cwd() / above)  # git runs this at the top of the work tree
        merged = merge(ours, theirs, reader, Path(scratch), redactor)
        shutil.copyfile(merged, Path(scratch, "merged"))
        shutil.copyfile(Path(scratch, "merged"), ours)


def sweep(repo: RepoOption = None) -> None:
    """Archive what agents' hooks noted, in the background; git waits for nothing.

    It never fails git, and what it does is told by `know hooks status`.
    """
    import subprocess
    import sys

    command = [sys.executable, "-m", "knowrepo", "archive", "--queued", "--quiet"]
    command += ["--repo", str(repo)] if repo else []
    # What a commit hands down is right for git's own processes only.
    env = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    try:
        subprocess.Popen(
            command,
            env=env,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
    except OSError as error:
        say(f"the queue was not swept: {error.strerror}")
