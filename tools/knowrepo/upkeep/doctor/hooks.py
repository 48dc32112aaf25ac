"""The checks of git's hooks: what pre-commit is told, what is installed, how merges are made."""

from __future__ import annotations

import os
import re
import shlex
import shutil
from pathlib import Path

from knowrepo.git import drivers, plumbing
from knowrepo.git.layout import Repository
from knowrepo.upkeep.doctor.check import Found, listed, ok, warn

CONFIGURATION = ".pre-commit-config.yaml"
IDS = ("know-check", "know-tags", "know-scan")
TOGETHER = "know-commit"
"""What does the work of all three."""
_STAGES = {"know-sweep": "post-commit"}
_INSTALL = "`pre-commit install`, in every clone; it comes with `knowrepo[hooks]`"


def configured(here: Repository) -> Found:
    """Whether the configuration of pre-commit names our hooks."""
    ids = _ids(here)
    if ids is None:
        return warn(f"no {CONFIGURATION}: commits are not checked", "`know init` makes one")
    missing = [name for name in IDS if not ids & {name, TOGETHER}]
    if missing:
        return warn(
            f"{CONFIGURATION} does not name {listed(missing)}",
            "add what the README shows below `pre-commit`",
        )
    return ok(f"{CONFIGURATION} names {len(ids)} hooks of know")


def installed(here: Repository) -> Found:
    """Whether git will run what is configured: git takes no hooks from a clone."""
    # git tells it from the folder that it runs in, or from the root of the disk.
    told = plumbing.git(here, "rev-parse", "--git-path", "hooks").strip()
    folder = Path(os.path.normpath(here.root / os.fsdecode(told)))
    wanted = ["pre-commit"]
    wanted += [stage for name, stage in _STAGES.items() if name in (_ids(here) or set())]
    missing = [name for name in wanted if not os.access(folder / name, os.X_OK)]
    if missing:
        return warn(f"not installed in {folder}: {listed(missing)}", _INSTALL)
    idle = [name for name in wanted if not _calls_us(folder / name)]
    if idle:
        return warn(
            f"{folder}: {listed(idle)} runs neither pre-commit nor know",
            "have it run `pre-commit run`, or move it away and `pre-commit install`",
        )
    return ok(f"{listed(wanted)} in {folder}")


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


def _ids(here: Repository) -> set[str] | None:
    """Return the ids of ours that the configuration names; None where there is none.

    The file is searched and not parsed: what YAML means in it is pre-commit's.
    """
    try:
        text = (here.work_tree / CONFIGURATION).read_text(encoding="utf-8", errors="replace")
    except FileNotFoundError:
        return None
    return set(re.findall(r"^\s*(?:-\s+)?id:\s*[\"']?(know-[a-z]+)", text, re.MULTILINE))


def _calls_us(hook: os.PathLike[str]) -> bool:
    with open(hook, "rb") as stream:  # noqa: PTH123 - any path
        text = stream.read(1 << 16)
    return b"pre-commit" in text or b"pre_commit" in text or b"know" in text
