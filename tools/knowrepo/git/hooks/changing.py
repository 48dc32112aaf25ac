"""Writing hook files, and giving back what was there.

Owns every change in the folder of the hooks. A hook of somebody else's is never
edited: it is kept under another name beside ours, with all its bytes, its mode and
its times, and runs first. Each step is one rename, so whoever is killed in between
leaves either the old hook or the new one.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

from filelock import FileLock

from knowrepo.config import write_atomically
from knowrepo.git import program
from knowrepo.git.hooks import STAGES, looking, others, place, scripts
from knowrepo.git.layout import Repository

Action = Literal[
    "make", "chain", "renew", "keep", "leave to pre-commit", "tell", "remove", "restore", "nothing"
]
_BEFORE = ".before-know"
_MODE = 0o755
_MORE = ("post-merge", "post-rewrite")
"""Stages in which ours does more than the hook that pre-commit has; indexing twice is once."""


@dataclass(frozen=True)
class Step:
    """What is done with a stage; ``path`` is the hook file, ``why`` what a person must know.

    ``tell`` does nothing: a person is to add the call of know to ``path`` by hand.
    """

    stage: str
    action: Action
    path: Path
    why: str = ""
    hook: scripts.Hook | None = None


def to_install(repository: Repository) -> list[Step]:
    """Return what is to be done so that git runs our hooks in this clone."""
    where = place.find(repository)
    ids = others.configured_ids(repository) or set()
    return [_to_install(repository, where, stage, ids) for stage in STAGES]


def to_uninstall(repository: Repository) -> list[Step]:
    """Return what is to be done so that git runs nothing of this knowledge repository."""
    where = place.find(repository)
    if where.shared:
        found = [one for one in looking.stages(repository) if one.state == "by hand"]
        return [Step(one.name, "tell", one.path, "it calls know") for one in found]
    return [_to_uninstall(repository, where.folder, stage) for stage in STAGES]


def do(step: Step) -> None:
    """Do a step. Raises OSError where the folder cannot be written."""
    before = step.path.with_name(step.hook.before if step.hook else f"{step.path.name}{_BEFORE}")
    if step.action == "chain" and not _same(step.path, before):
        _keep(step.path, before)
    if step.action in ("make", "chain", "renew") and step.hook is not None:
        write_atomically(step.path, scripts.text(step.hook), mode=_MODE)
        _drop_aside(step.path)
    elif step.action == "restore":
        before.replace(step.path)
    elif step.action == "remove":
        step.path.unlink(missing_ok=True)


@contextmanager
def alone(repository: Repository) -> Iterator[None]:
    """Let one process at a time change the hooks that all work trees share."""
    folder = repository.common_dir / "know"
    folder.mkdir(parents=True, exist_ok=True)
    with FileLock(folder / "hooks.lock"):
        yield


def _to_install(repository: Repository, where: place.Place, stage: str, ids: set[str]) -> Step:
    main = where.folder / stage
    if where.shared:
        return _by_hand(where, stage)
    data = others.head(main)
    runs_pre_commit = others.is_pre_commits(data)
    found = looking.ours(where.folder, stage)
    told = ", ".join(looking.ids_of(stage, ids))
    if told and runs_pre_commit and stage not in _MORE:
        return _leave(stage, main, found, told)
    if found is not None and (found[0] == main or runs_pre_commit):
        return _renew(repository, stage, *found)
    target = main.with_name(f"{stage}.legacy") if runs_pre_commit else main
    before = target.with_name(f"{target.name}{_BEFORE}")
    hook = _hook(repository, stage, before.name)
    if not os.path.lexists(target):
        return Step(stage, "make", target, hook=hook)
    if not target.is_file():
        return Step(stage, "tell", target, "it is no file")
    if others.calls_us(others.head(target), stage):
        return Step(stage, "keep", target, "it calls know already")
    if others.asks_its_own_name(others.head(target)):
        return Step(stage, "tell", target, "it goes by its own name, and may not be renamed")
    lefthooks = others.is_lefthooks(data)
    generated = lefthooks and others.is_lefthooks(others.head(before))  # no loss, it is newer
    if os.path.lexists(before) and not generated and not _same(before, target):
        return Step(stage, "tell", target, f"{before.name} is there already")
    why = "lefthook writes it anew when its configuration changes" if lefthooks else ""
    return Step(stage, "chain", target, why, hook)


def _by_hand(where: place.Place, stage: str) -> Step:
    for path in (where.folder / stage, where.scripts / stage):
        if others.calls_us(others.head(path), stage):
            return Step(stage, "keep", path, "it calls know already")
    return Step(stage, "tell", where.scripts / stage, where.shared)


def _leave(stage: str, main: Path, found: tuple[Path, scripts.Read] | None, told: str) -> Step:
    """Have pre-commit alone run a stage: a hook of ours beside its own would run all twice."""
    if found is None or not found[1].whole:
        return Step(stage, "leave to pre-commit", main, told)
    path, read = found
    is_kept = os.path.lexists(path.with_name(read.hook.before))
    return Step(
        stage, "restore" if is_kept else "remove", path, f"pre-commit runs {told}", read.hook
    )


def _renew(repository: Repository, stage: str, path: Path, read: scripts.Read) -> Step:
    if not read.whole:
        return Step(stage, "tell", path, "it was changed since know wrote it")
    hook = _hook(repository, stage, read.hook.before, read.hook.roots)
    same = scripts.text(hook) == others.head(path) and os.access(path, os.X_OK)
    return Step(stage, "keep" if same else "renew", path, hook=hook)


def _hook(
    repository: Repository, stage: str, before: str, roots: tuple[str, ...] = ()
) -> scripts.Hook:
    all_roots = tuple(sorted({*roots, looking.inside(repository)}))
    return scripts.Hook(stage, before, all_roots, program.own(), str(program.package()))


def _to_uninstall(repository: Repository, folder: Path, stage: str) -> Step:
    found = looking.ours(folder, stage)
    if found is None:
        return Step(stage, "nothing", folder / stage)
    path, read = found
    if not read.whole:
        return Step(stage, "tell", path, "it was changed since know wrote it")
    left = tuple(root for root in read.hook.roots if root != looking.inside(repository))
    if left:
        return Step(
            stage, "renew", path, f"it stays for {', '.join(left)}", replace(read.hook, roots=left)
        )
    if not os.path.lexists(path.with_name(read.hook.before)):
        return Step(stage, "remove", path, hook=read.hook)
    if path.name.endswith(".old"):  # what took our place is newer than what was before us
        return Step(stage, "remove", path, f"{read.hook.before} stays beside it", read.hook)
    return Step(stage, "restore", path, hook=read.hook)


def _keep(path: Path, before: Path) -> None:
    """Give a hook a second name; ours then takes the first, so that one is always there."""
    second = before.with_name(f"{before.name}.new")
    try:
        second.unlink(missing_ok=True)  # of one that was killed here
        os.link(path, second, follow_symlinks=False)
    except (OSError, NotImplementedError):  # a disk without links
        path.replace(before)
    else:
        second.replace(before)


def _drop_aside(path: Path) -> None:
    """Remove what lefthook made of a hook of ours when it took its place: it would stop it."""
    aside = path.with_name(f"{path.name}.old")
    read = scripts.read(others.head(aside))
    if read is not None and read.whole:
        aside.unlink()


def _same(one: Path, other: Path) -> bool:
    try:
        return os.path.samestat(one.lstat(), other.lstat())
    except OSError:
        return False
