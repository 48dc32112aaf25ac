"""``know init``."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from knowrepo.cli.common import say, show
from knowrepo.units import count

if TYPE_CHECKING:
    from knowrepo.git.layout import Repository
    from knowrepo.git.repo import ProjectIdentity

AGENTS_LINE = (
    "Before you answer from memory or search the code for why something is as it is, run"
    ' `know recall "<question>"`; it prints one line a hit, and `know recall --get <id>` the whole.'
)
_CONFIGURATION = (
    "# This folder is a knowledge repository of know.\n"
    "# Data only: it can tighten, never loosen.\n"
    "format = 1\n"
)
_HOOKS = """\
default_install_hook_types:
  [pre-commit, post-commit, post-merge, post-checkout, post-rewrite, pre-push]
default_stages: [pre-commit]
repos:
  - repo: local
    hooks:
      - id: know-commit
        name: check concepts, look for secrets, rebuild the tag index
        entry: know hook pre-commit{option}
        language: system
        always_run: true
        pass_filenames: false
        verbose: true
      - id: know-sweep
        name: archive what agents' hooks noted
        entry: know hook sweep{option}
        language: system
        stages: [post-commit]
        always_run: true
        pass_filenames: false
      - id: know-index
        name: index in the background
        entry: know hook index{option}
        language: system
        stages: [post-commit, post-merge, post-checkout, post-rewrite]
        always_run: true
        pass_filenames: false
      - id: know-eval
        name: ask what this repository must be able to answer
        entry: know hook eval{option}
        language: system
        stages: [pre-push]
        always_run: true
        pass_filenames: false
"""


def init(
    folder: Annotated[
        Path,
        typer.Argument(metavar="FOLDER", help="A folder in a git repository; by default this one."),
    ] = Path(),
    project: Annotated[
        Path | None,
        typer.Option(
            metavar="PATH",
            help="The project whose sessions belong here; by default the one you are in.",
        ),
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
      know init --project ~/code/app
      know init ~/memory --archive
      know init --no-archive --no-default
    """
    from knowrepo.git import drivers, program
    from knowrepo.git.layout import repository_at
    from knowrepo.git.repo import identify_project, work_tree_of

    _check_project(project)
    work_tree_of(folder)  # a clear error where there is no git repository
    here = repository_at(folder.resolve())
    _create(here.root / "know.toml", _CONFIGURATION)
    _create_attributes(here.root / ".gitattributes")
    _create(here.work_tree / ".pre-commit-config.yaml", _hooks(here))
    _generate(here)
    if drivers.install(here):
        show("git configuration of this clone: sessions and generated files are merged by know")
    program.record_if_missing(here)
    identity = identify_project(_project(project, here))
    _map(here, identity.identity, identity.path, default=default)
    show("recalls are noted on this machine only: `know recall --log` shows them, --clear-log")
    show("removes them, KNOW_RECALL_LOG=0 notes none")
    _offer_archive(here, identity, archive)
    show(f"\nNext, in {here.work_tree}: git add -A, commit, and `pre-commit install` to have")
    show("commits checked (`know hooks install --git` does without pre-commit).")
    show("Every other clone needs `know init` and one of these two once.")
    show("Put this line into AGENTS.md or CLAUDE.md, so that agents find the memory:\n")
    show(AGENTS_LINE)


def _project(given: Path | None, here: Repository) -> Path:
    """Return the folder of the project to map.

    Outside of any git repository it is the repository itself: the folder one
    happens to stand in may hold all of one's projects.
    """
    from knowrepo.errors import NotARepositoryError
    from knowrepo.git.repo import work_tree_of

    if given is not None:
        return given.resolve()
    try:
        return work_tree_of(Path.cwd())
    except NotARepositoryError:
        return here.root


def _check_project(given: Path | None) -> None:
    from knowrepo.errors import KnowError

    if given is not None and not given.is_dir():
        raise KnowError(
            f"--project {given}: no such folder",
            hint="name the folder that the agents worked in; nothing was changed",
        )


def _hooks(here: Repository) -> str:
    """Return the hooks' configuration; git runs hooks at the top of the work tree."""
    inside = here.root.relative_to(here.work_tree).as_posix()
    return _HOOKS.format(option="" if inside == "." else f" --repo '{inside}'")


def _create(path: Path, content: str) -> None:
    from knowrepo.config import write_atomically

    if not path.exists():
        write_atomically(path, content.encode())
        show(f"{path.name}: made")
    elif path.read_text(encoding="utf-8", errors="replace") == content or path.name == "know.toml":
        show(f"{path.name}: there already")
    else:
        say(f"{path.name}: there already and left alone; it may want:")
        say("".join(f"    {line}\n" for line in content.splitlines()).rstrip())


def _create_attributes(path: Path) -> None:
    """Make .gitattributes; where there is one, say which lines it lacks, and what they are for."""
    from knowrepo.git.drivers import DRIVERS

    wanted = [driver.attributes for driver in DRIVERS]
    if not path.exists():
        first = "# Archived bytes and generated files are the same on every platform."
        _create(path, "\n".join((first, *wanted, "")))
        return
    lines = path.read_text(encoding="utf-8", errors="replace").splitlines()
    missing = [line for line in wanted if line not in lines]
    if not missing:
        show(f"{path.name}: there already")
        return
    say(f"{path.name}: there already and left alone; add to it:")
    say("".join(f"    {line}\n" for line in missing).rstrip())
    say("  Without them git merges these files line by line: two clones that archived more of")
    say("  one session, or changed concepts beside each other, then end in a conflict.")


def _generate(here: Repository) -> None:
    from knowrepo.concepts import bundle

    for folder in (here.concepts, here.sessions):
        here.inside(folder).mkdir(exist_ok=True)
    for file in bundle.write_generated(here):
        show(
            f"{file.path}: {'removed' if file.gone else 'made' if file.stale else 'there already'}"
        )


def _map(here: Repository, identity: str, path: Path, *, default: bool) -> None:
    from knowrepo.config import Project, config_path, map_project

    mapped = map_project(Project(identity, str(path), str(here.root)), make_default=default)
    what = "maps" if mapped else "maps already"
    show(f"{config_path()}: {what} {identity} to {here.root}")


def _unreadable(error: OSError) -> None:
    say(f"{error.filename}: {error.strerror}")


def _offer_archive(here: Repository, mapped: ProjectIdentity, archive: bool | None) -> None:
    from knowrepo.cli.archive import projects_of, run
    from knowrepo.sessions import sweep

    project, projects = mapped.path, projects_of(here, only=mapped.identity)
    found = list(sweep.belonging(sweep.sources(projects, _unreadable), projects))
    if not found:
        show(f"no transcripts of {project} found")
        return
    if archive is None and sys.stdin.isatty():
        archive = typer.confirm(
            f"Archive {count(len(found), 'transcript')} of {project} now?", default=True
        )
    if archive:
        run(here, found, projects, quiet=False)
    else:
        # Which of them are archived already, only reading them all would tell.
        say(f"{count(len(found), 'transcript')} of {project} found; agents delete theirs after")
        say("some weeks. What is not archived yet, this archives:")
        inside = here.root in (Path.cwd(), *Path.cwd().parents)
        say("    know archive --all" + ("" if inside else f" --repo '{here.root}'"))
