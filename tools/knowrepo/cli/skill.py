"""``know skill``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from knowrepo.cli.common import show
from knowrepo.errors import UsageError


def skill(
    install: Annotated[
        bool, typer.Option("--install", help="Write it where the agent looks for skills.")
    ] = False,
    agent: Annotated[
        str, typer.Option("--agent", metavar="AGENT", help="For which agent to install it.")
    ] = "claude",
    user: Annotated[
        bool, typer.Option("--user", help="Install it for all projects of yours.")
    ] = False,
    project: Annotated[
        Path | None,
        typer.Option("--project", metavar="PATH", help="Install it there, if not in this folder."),
    ] = None,
    force: Annotated[
        bool, typer.Option("--force", help="Replace a skill that was changed.")
    ] = False,
) -> None:
    """Print the skill by which an agent writes concepts at the end of a session.

    With --install it is written to `.claude/skills/know-distill/SKILL.md`. The
    agent then knows when a concept is worth writing, in which form, and that a
    person accepts it.

    \b
    Examples:
      know skill
      know skill --install
      know skill --install --user
    """
    from knowrepo.distill import skill as skills

    if not install:
        if user or project or force:
            raise UsageError("--user, --project and --force belong to --install")
        show(skills.text().rstrip("\n"))
        return
    if agent != "claude":
        raise UsageError(
            f"--agent {agent}: not known", hint="`know skill` prints the text, to be put anywhere"
        )
    if user and project:
        raise UsageError("--user and --project exclude each other")
    folder = project or Path()
    if not user and not folder.is_dir():
        raise UsageError(f"--project {folder}: no such folder")
    path = skills.path_for_user() if user else skills.path_in(folder.resolve())
    within = None if user else folder
    written = skills.install(path, within=within, force=force)
    show(f"{path}: {'written' if written else 'there already'}")
