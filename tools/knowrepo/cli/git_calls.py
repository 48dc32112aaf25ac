"""``know hook merge-session`` and ``know hook sweep``: what git calls."""

from __future__ import annotations

import os
from pathlib import Path
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

    Nothing of either copy is lost, so the ancestor does not matter.
    """
    from knowrepo.sessions.joining import merge_files

    merge_files(Path.cwd(), path, ours, theirs)  # git runs this at the top of the work tree


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
