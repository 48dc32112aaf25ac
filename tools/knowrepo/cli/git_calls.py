"""The hidden commands ``know hook …`` for what is done after git, and for `know-eval`.

What runs after git never fails it, and keeps nobody waiting. What git waits for is in
`commit_hook` and `merge_hooks`.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Annotated

import typer

from knowrepo.cli.common import RepoOption, repository, say

if TYPE_CHECKING:
    from knowrepo.git.layout import Repository
    from knowrepo.git.program import Command
    from knowrepo.upkeep.logs import Noted

_A_WHILE = 600.0  # seconds that a person's own `know index` may take

HereOption = Annotated[
    bool, typer.Option("--here", help="By this very know, and not by the one recorded in git.")
]


def sweep(repo: RepoOption = None) -> None:
    """Archive what agents' hooks noted, in the background; git waits for nothing.

    It never fails git, and what it does is told by `know hooks status`.
    """
    import subprocess

    from knowrepo.git.program import own

    command = [*own(), "archive", "--queued", "--quiet"]
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


def index(
    wait: Annotated[
        bool, typer.Option("--wait", help="In the foreground; exits with 1 where it fails.")
    ] = False,
    here: HereOption = False,
    detached: Annotated[
        bool, typer.Option("--detached", help="This is the process in the background.")
    ] = False,
    repo: RepoOption = None,
) -> None:
    """Bring catalog and vectors up in the background, one run at a time; never fails git."""
    from knowrepo.errors import KnowError
    from knowrepo.upkeep import background

    try:
        place = repository(repo)
        if detached:
            background.live(place)
            background.serve(place, _index)
        elif wait:
            _in_foreground(place, here=here)
        elif background.request(place):
            background.start(place, _program(place, here=here))
    except KnowError as error:
        _shrug(error.message, wait=wait)
    except OSError as error:
        _shrug(f"{error.filename or 'indexing'}: {error.strerror or error}", wait=wait)


def evaluate(here: HereOption = False, repo: RepoOption = None) -> None:
    """Run `know eval` where the repository has cases; passes where it has none."""
    from knowrepo.cli.evaluate import evaluate as run
    from knowrepo.evaluate import cases

    place = repository(repo)
    path = place.inside(place.root / cases.FILE)
    if not path.exists() or not cases.parse(cases.read_bytes(path, cases.FILE), cases.FILE):
        return
    command = _other(place, here=here)
    if command is not None:
        code = _run(command, "eval", "--here", "--repo", str(place.root))
        if code in (0, 1):
            raise typer.Exit(code)
    run(repo=place.root)


def _in_foreground(place: Repository, *, here: bool) -> None:
    from knowrepo.upkeep import background

    command = _other(place, here=here)
    code = -1
    if command is not None:
        code = _run(command, "index", "--wait", "--here", "--repo", str(place.root))
    if code not in (0, 1):  # there is no other, or it is too old to know this command
        background.request(place)
        code = int(background.serve(place, _index, wait=True) > 0)
    if code:
        raise typer.Exit(code)


def _index(place: Repository, what: Noted) -> None:
    """Do what `know index` does."""
    from knowrepo.cli.embedding import embed
    from knowrepo.errors import KnowError
    from knowrepo.index.build import refresh

    done = refresh(place, wait=_A_WHILE)
    if done.busy:
        raise KnowError("another process has been indexing this work tree all the time")
    what.update(indexed=done.indexed, removed=done.removed)
    if done.notes:
        what.update(unreadable=len(done.notes))
    embedded = embed(place, 0, quiet=False)
    if embedded is not None:
        what.update(embedded=embedded)


def _program(place: Repository, *, here: bool) -> Command:
    from knowrepo.git import program

    return _other(place, here=here) or program.own()


def _other(place: Repository, *, here: bool) -> Command | None:
    """Return the full know that this clone's git configuration names, if it is another one."""
    from knowrepo.git import program

    if here:
        return None
    command = program.recorded(place)
    if command is None and not program.is_full():
        say("words only: this know cannot embed, and no other is recorded for this clone")
        say("  `know init` or `know index` of one with knowrepo[semantic] records it")
    return None if command == program.own() else command


def _run(command: Command, *arguments: str) -> int:
    import subprocess

    try:
        return subprocess.run(
            [*command, "hook", *arguments], stdin=subprocess.DEVNULL, check=False
        ).returncode
    except OSError:
        return -1


def _shrug(message: str, *, wait: bool) -> None:
    """Say that nothing was indexed; only who waits for it is told by the exit code."""
    say(f"know: not indexed: {message}")
    if wait:
        raise typer.Exit(1)
