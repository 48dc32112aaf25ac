"""``know hook merge-…``, ``merged`` and ``sweep``: what git calls."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Annotated

import typer

from knowrepo.cli.common import RepoOption, say

Base = Annotated[Path, typer.Argument(metavar="BASE", help="The common ancestor (%O).")]
Ours = Annotated[Path, typer.Argument(metavar="OURS", help="Our version, which is replaced (%A).")]
Theirs = Annotated[Path, typer.Argument(metavar="THEIRS", help="Their version (%B).")]
Place = Annotated[str, typer.Argument(metavar="PATH", help="The path in the repository (%P).")]
MarkerSize = Annotated[
    int, typer.Argument(metavar="SIZE", help="How long conflict markers are (%L).")
]


def merge_session(base: Base, ours: Ours, theirs: Theirs, path: Place) -> None:
    """Join two copies of an archived session; git calls this when it merges one.

    Nothing of either copy is lost. The ancestor tells whether they are of one session.
    """
    from knowrepo.sessions.joining import merge_files

    merge_files(Path.cwd(), path, base, ours, theirs)  # git runs this at the top of the work tree


def merge_tags(base: Base, ours: Ours, theirs: Theirs, path: Place, size: MarkerSize = 7) -> None:
    """Merge the records of the tag index; git calls this."""
    from knowrepo.concepts.merging import merge_tag_index

    _replace(merge_tag_index, (base, ours, theirs), path, size)


def merge_index(base: Base, ours: Ours, theirs: Theirs, path: Place, size: MarkerSize = 7) -> None:
    """Merge the entries of a generated index.md; git calls this.

    One that a person wrote is merged as text.
    """
    from knowrepo.concepts import merging

    _replace(merging.merge_index, (base, ours, theirs), path, size)


def merge_ledger(base: Base, ours: Ours, theirs: Theirs, path: Place, size: MarkerSize = 7) -> None:
    """Merge what was distilled; git calls this."""
    from knowrepo.distill.ledger import merged

    _replace(merged, (base, ours, theirs), path, size)


def _replace(
    merge: Callable[[bytes, bytes, bytes], bytes | None],
    files: tuple[Path, Path, Path],
    path: str,
    size: int,
) -> None:
    """Make our version what both come to, or what git's own merge of the lines makes of it.

    Whatever goes wrong here, git gets its answer: merged, or in conflict.
    """
    from knowrepo.git.drivers import merge_as_text

    base, ours, theirs = files
    try:
        content = merge(base.read_bytes(), ours.read_bytes(), theirs.read_bytes())
    except Exception as error:
        say(f"know: {path}: merged as text: {type(error).__name__}: {error}")
        content = None
    if content is not None:
        ours.write_bytes(content)
    elif not merge_as_text(base, ours, theirs, size):
        raise typer.Exit(1)


def merging(repo: RepoOption = None) -> None:
    """Note that git is about to commit a merge (pre-merge-commit); see `merged`."""
    from knowrepo.cli.common import repository
    from knowrepo.errors import KnowError
    from knowrepo.git import merged as commit

    try:
        commit.note(repository(repo))
    except (KnowError, OSError) as error:
        say(f"know: {error}")  # never a merge's concern


def merged(
    tell: Annotated[
        bool, typer.Option("--tell", help="Say where they are behind though no merge was noted.")
    ] = False,
    repo: RepoOption = None,
) -> None:
    """Have a merge commit hold what is generated from it (post-merge).

    The commit that `merging` noted is replaced by one with the generated files of the
    merged concepts; of a signed one, and after a rebase (post-rewrite, with --tell),
    it is only told that they are behind. Never fails git.
    """
    from knowrepo.cli.common import repository
    from knowrepo.concepts import keeping
    from knowrepo.errors import KnowError
    from knowrepo.git import merged as commit

    try:
        here = repository(repo)
        made = commit.take_noted(here)
        if not (made or tell) or not keeping.is_behind(here):
            return
        if not made or commit.is_signed(here, made):
            say("know: what is generated from the concepts is behind: know tags build; git commit")
            return
        keeping.keep(here, {})
        commit.give_tree_of_index(here, made)
    except (KnowError, OSError) as error:
        say(f"know: what is generated was not made anew: {error}")


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
