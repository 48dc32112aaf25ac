"""The checks of git's hooks: what pre-commit is told, what is installed, how merges are made."""

from __future__ import annotations

import os
import shlex
import shutil
from pathlib import Path

from knowrepo.git import drivers
from knowrepo.git.hooks import looking, others, place
from knowrepo.git.hooks.others import CONFIGURATION
from knowrepo.git.layout import Repository
from knowrepo.upkeep.doctor.check import Found, listed, ok, warn

IDS = ("know-check", "know-tags", "know-scan")
TOGETHER = "know-commit"
"""What does the work of all three."""
_STAGES = {
    "know-sweep": ("post-commit",),
    "know-index": ("post-commit", "post-merge", "post-checkout", "post-rewrite"),
    "know-eval": ("pre-push",),
}
_INSTALL = (
    "`pre-commit install`, in every clone; it comes with `knowrepo[hooks]`; or without it"
    " `know hooks install --git`"
)


def configured(here: Repository) -> Found:
    """Whether the configuration of pre-commit names our hooks, or git runs them without it."""
    ids = others.configured_ids(here)
    plain = _state(here, "pre-commit")
    if plain.state in looking.WORKS - {"pre-commit"} and not (ids and ids & {TOGETHER, *IDS}):
        return ok(f"commits are checked without pre-commit, by {plain.path}")
    if ids is None:
        return warn(
            f"no {CONFIGURATION}: commits are not checked",
            "`know init` makes one; `know hooks install --git` needs none",
        )
    missing = [name for name in IDS if not ids & {name, TOGETHER}]
    if missing:
        return warn(
            f"{CONFIGURATION} does not name {listed(missing)}",
            "add what docs/git.md shows below `pre-commit`",
        )
    return ok(f"{CONFIGURATION} names {len(ids)} hooks of know")


def installed(here: Repository) -> Found:
    """Whether git will run what is configured: git takes no hooks from a clone."""
    ids = others.configured_ids(here) or set()
    found = {stage.name: stage for stage in looking.stages(here)}
    broken = [f"{one.path}: {one.detail}" for one in found.values() if one.state == "broken"]
    if broken:
        return warn(
            f"a hook of know does not work: {listed(broken, 1)}", "`know hooks install --git`"
        )
    changed = [str(one.path) for one in found.values() if one.state == "changed"]
    if changed:
        return warn(
            f"not as know wrote it: {listed(changed)}",
            "remove what you do not need of it, then `know hooks install --git`",
        )
    folder = place.find(here).folder
    plain = [one.name for one in found.values() if one.state in ("installed", "chained", "by hand")]
    wanted = ["pre-commit"]
    wanted += [stage for name, its in _STAGES.items() if name in ids for stage in its]
    wanted = [stage for stage in dict.fromkeys(wanted) if stage not in plain]
    missing = [name for name in wanted if not _runs(folder / name)]
    if missing:
        return warn(f"not installed in {folder}: {listed(missing)}", _INSTALL)
    idle = [name for name in wanted if not _calls_us(folder / name)]
    if idle:
        return warn(
            f"{folder}: {listed(idle)} runs neither pre-commit nor know",
            "have it run `pre-commit run`, or `know hooks install --git`, which keeps it",
        )
    return ok(f"{listed([*wanted, *plain], 8)} in {folder}")


def merge_driver(here: Repository) -> Found:
    """Whether git merges sessions and generated files by our drivers."""
    unnamed = drivers.unnamed(here)
    if unnamed:
        what = listed([driver.pattern for driver in unnamed])
        lines = "; ".join(f"`{driver.attributes}`" for driver in unnamed)
        return warn(
            f".gitattributes has no merge driver for {what}: git merges them line by line",
            f"add to it: {lines}",
        )

    def mend() -> str:
        drivers.install(here)
        return "named the drivers in this clone's git configuration (merge.know-*.driver)"

    fix = "`know init`, in every clone; or `know doctor --fix`"
    known = drivers.commands(here)
    unknown = [name for name, command in known.items() if not command]
    if unknown:
        return warn(f"this clone's git does not know how to run {listed(unknown)}", fix, mend)
    dead = {program for program in map(_program, known.values()) if shutil.which(program) is None}
    if dead:
        return warn(f"a merge driver runs {listed(sorted(dead))}, which is not there", fix, mend)
    return ok("git merges sessions and generated files by know")


def _program(command: str) -> str:
    try:
        return shlex.split(command)[0]
    except (ValueError, IndexError):
        return command


def _state(here: Repository, stage: str) -> looking.Stage:
    return next(one for one in looking.stages(here) if one.name == stage)


def _runs(hook: Path) -> bool:
    return hook.is_file() and os.access(hook, os.X_OK)


def _calls_us(hook: Path) -> bool:
    text = others.head(hook)
    return b"pre-commit" in text or b"pre_commit" in text or b"know" in text
