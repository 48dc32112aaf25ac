"""What hooks there are, and what each of them runs.

Owns the state of each stage, for `know hooks status` and `know doctor`, and where a
hook file of ours is: beside pre-commit it is a `.legacy`, and other installers move
it aside. It reads files, asks git where the folder is, and changes nothing.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from knowrepo.git import program
from knowrepo.git.hooks import STAGES, others, place, scripts
from knowrepo.git.layout import Repository

State = Literal[
    "installed", "chained", "pre-commit", "by hand", "foreign", "missing", "changed", "broken"
]
WORKS: frozenset[State] = frozenset({"installed", "chained", "pre-commit", "by hand"})
_ASIDE = ("", ".legacy", ".old")  # as installers name what they find: pre-commit, lefthook
_IDS = {
    "pre-commit": ("know-commit", "know-check", "know-tags", "know-scan"),
    "pre-merge-commit": (),
}


@dataclass(frozen=True)
class Stage:
    """How a stage stands. ``path`` is the file that says so, ``detail`` what is to be known."""

    name: str
    state: State
    path: Path
    detail: str = ""


def stages(repository: Repository) -> list[Stage]:
    """Return the state of each stage that we have something to do in."""
    where = place.find(repository)
    ids = others.configured_ids(repository) or set()
    return [_stage(repository, where, name, ids) for name in STAGES]


def ids_of(stage: str, configured: set[str]) -> list[str]:
    """Return the ids of ours that pre-commit runs in a stage, of those that are configured."""
    return [name for name in _IDS.get(stage, ("know-index",)) if name in configured]


def ours(folder: Path, stage: str) -> tuple[Path, scripts.Read] | None:
    """Return the hook file of ours for a stage, wherever an installer has put it."""
    for ending in _ASIDE:
        path = folder / f"{stage}{ending}"
        found = scripts.read(others.head(path))
        if found is not None and not path.is_symlink():
            return path, found
    return None


def inside(repository: Repository) -> str:
    """Return where the knowledge lies, from the top of the work tree, where git runs hooks."""
    return repository.root.relative_to(repository.work_tree).as_posix()


def _stage(repository: Repository, where: place.Place, name: str, ids: set[str]) -> Stage:
    main = where.folder / name
    data = others.head(main)
    found = ours(where.folder, name)
    if found is not None:
        return _of_ours(repository, main, name, *found)
    if others.is_pre_commits(data):
        told = ids_of(name, ids)
        if told:
            return Stage(name, "pre-commit", main, ", ".join(told))
        return Stage(name, "foreign", main, "pre-commit's, which runs nothing of know there")
    script = where.scripts / name
    for path in (main, script):
        if others.calls_us(others.head(path), name):
            return Stage(name, "by hand", path)
    if os.path.lexists(main):
        whose = "lefthook's" if others.is_lefthooks(data) else "somebody else's"
        return Stage(name, "foreign", main, whose)
    return Stage(name, "missing", main)


def _of_ours(
    repository: Repository, main: Path, name: str, path: Path, found: scripts.Read
) -> Stage:
    hook = found.hook
    if not found.whole:
        return Stage(name, "changed", path, "it is not as know wrote it")
    if not program.is_there(hook.command) or not Path(hook.package).is_file():
        return Stage(
            name, "broken", path, f"{hook.command[0]} has no know any more; it does nothing"
        )
    beside = path.name == f"{name}.legacy" and others.is_pre_commits(others.head(main))
    if path != main and not beside:
        return Stage(name, "broken", path, f"something else took the place of {name}")
    if not os.access(path, os.X_OK):
        return Stage(name, "broken", path, "it is not executable, so git does not run it")
    if inside(repository) not in hook.roots:
        return Stage(name, "missing", path, f"it is for {', '.join(hook.roots)} only")
    if beside:
        return Stage(name, "chained", path, "pre-commit's hook runs it")
    if os.path.lexists(path.with_name(hook.before)):
        return Stage(name, "chained", path, f"{hook.before} runs before it")
    return Stage(name, "installed", path)
