"""``know init``."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from knowrepo.cli.common import say

if TYPE_CHECKING:
    from knowrepo.git.layout import Repository

AGENTS_LINE = (
    "Before you answer from memory or search the code for why something is as it is, run"
    ' `know recall "<question>"`; it prints one line a hit, and `know recall --get <id>` the whole.'
)
_FILES = {
    "know.toml": (
        "# This folder is a knowledge repository of know.\n"
        "# Data only: it can tighten, never loosen.\n"
        "format = 1\n"
    ),
    ".gitattributes": (
        "# Archived bytes and generated files are the same on every platform.\n"
        "sessions/**/*.jsonl -text\n"
        "concepts/tag_index.jsonl -text\n"
        "concepts/index.md -text\n"
    ),
    ".pre-commit-config.yaml": """\
repos:
  - repo: local
    hooks:
      - id: know-check
        name: check the concepts against OKF
        entry: know check
        language: system
        always_run: true
        pass_filenames: false
      - id: know-tags
        name: rebuild the tag index
        entry: know hook tags
        language: system
        always_run: true
        pass_filenames: false
""",
}


def init(
    folder: Annotated[
        Path, typer.Argument(help="A folder in a git repository; by default this one.")
    ] = Path(),
    project: Annotated[
        Path | None,
        typer.Option(help="The project whose sessions belong here; by default this folder's."),
    ] = None,
    archive: Annotated[
        bool | None,
        typer.Option("--archive/--no-archive", help="Archive the project's transcripts now."),
    ] = None,
    default: Annotated[
        bool, typer.Option("--default/--no-default", help="Recall from here in other folders too.")
    ] = True,
) -> None:
    """Make a git repository a knowledge repository; overwrites nothing.

    Maps the current project to it in your own configuration, offers to archive
    the project's transcripts (agents delete them after some weeks), and prints
    the line by which agents find the tool.

    \b
    Examples:
      know init
      know init ~/memory --archive
      know init --no-archive --no-default
    """
    from knowrepo.git.layout import repository_at
    from knowrepo.git.repo import identify_project, work_tree_of

    work_tree_of(folder)  # a clear error where there is no git repository
    here = repository_at(folder.resolve())
    for name, content in _FILES.items():
        _create(here.root / name, content)
    _generate(here)
    identity = identify_project((project or Path.cwd()).resolve())
    _map(here, identity.identity, identity.path, default=default)
    _offer_archive(here, identity.path, archive)
    typer.echo("\nPut this line into AGENTS.md or CLAUDE.md, so that agents find it:\n")
    typer.echo(AGENTS_LINE)


def _create(path: Path, content: str) -> None:
    from knowrepo.config import write_atomically

    if not path.exists():
        write_atomically(path, content.encode())
        typer.echo(f"{path.name}: made")
    elif path.read_text(encoding="utf-8", errors="replace") == content or path.name == "know.toml":
        typer.echo(f"{path.name}: there already")
    else:
        say(f"{path.name}: there already and left alone; it may want:")
        say("".join(f"    {line}\n" for line in content.splitlines()).rstrip())


def _generate(here: Repository) -> None:
    from knowrepo.concepts import bundle

    here.concepts.mkdir(exist_ok=True)
    here.sessions.mkdir(exist_ok=True)
    for file in bundle.write_generated(here):
        typer.echo(f"{file.path}: {'made' if file.stale else 'there already'}")


def _map(here: Repository, identity: str, path: Path, *, default: bool) -> None:
    from knowrepo.config import Project, config_path, map_project

    mapped = map_project(Project(identity, str(path), str(here.root)), make_default=default)
    what = "maps" if mapped else "maps already"
    typer.echo(f"{config_path()}: {what} {identity} to {here.root}")


def _offer_archive(here: Repository, project: Path, archive: bool | None) -> None:
    from knowrepo.cli.archive import run
    from knowrepo.sessions.discover import transcripts_of

    found = list(transcripts_of(project))
    if not found:
        typer.echo(f"no transcripts of {project} found")
        return
    if archive is None and sys.stdin.isatty():
        archive = typer.confirm(f"Archive {len(found)} transcripts of {project} now?", default=True)
    if archive:
        run(found, here.root, quiet=False)
    else:
        folders = sorted({str(path.parent) for path in found if "subagents" not in path.parts})
        say(f"{len(found)} transcripts of {project} wait; their agent deletes them in time:")
        say("    know archive " + " ".join(f"'{folder}'" for folder in folders))
