"""Telling git how the archive and the generated files are merged.

Owns the entries in this clone's own git configuration, and the lines by which
`.gitattributes` names them. A repository names a merge driver there, but git takes
the command only from the user's side: where it is not installed, git merges line
by line, and may find a conflict.
"""

from __future__ import annotations

import shlex
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

from knowrepo.git.layout import Repository
from knowrepo.git.plumbing import configure, git


class Driver(NamedTuple):
    """A merge driver: its name to git, what it does, our entry, and the files it is for."""

    name: str
    does: str
    entry: str
    pattern: str
    sample: str

    @property
    def attributes(self) -> str:
        """The line of `.gitattributes` that names it; the bytes are the same on every platform."""
        return f"{self.pattern} -text merge={self.name}"

    @property
    def command(self) -> str:
        """What git runs, at the top of the work tree.

        That folder is a clone's, which may hold a `json.py`: Python must not look there (-P).
        """
        python = f"{shlex.quote(sys.executable)} -P -m knowrepo"
        return f"{python} hook {self.entry} %O %A %B %P" + " %L" * (self is not SESSIONS)


SESSIONS = Driver(
    "know-session", "join two copies of an archived session", "merge-session",
    "sessions/**/*.jsonl", "sessions/claude/0.jsonl",
)  # fmt: skip
DRIVERS = (
    SESSIONS,
    Driver(
        "know-project", "keep one note of a session's project", "merge-project",
        "sessions/**/*.project", "sessions/claude/0.project",
    ),
    Driver(
        "know-tags", "merge the records of the tag index", "merge-tags",
        "concepts/tag_index.jsonl", "concepts/tag_index.jsonl",
    ),
    Driver(
        "know-index", "merge the entries of a generated index.md", "merge-index",
        "concepts/**/index.md", "concepts/index.md",
    ),
    Driver(
        "know-ledger", "merge what was distilled", "merge-ledger",
        "concepts/distilled.jsonl", "concepts/distilled.jsonl",
    ),
)  # fmt: skip
"""All of ours. Never `union`, which brings back what one side deleted."""


def install(repository: Repository) -> bool:
    """Name the drivers in this clone's configuration; says whether anything was new."""
    configured = _configured(repository)
    wanted: dict[str, str] = {}
    for driver in DRIVERS:
        wanted[f"merge.{driver.name}.name"] = driver.does
        wanted[f"merge.{driver.name}.driver"] = driver.command
    new = {key: value for key, value in wanted.items() if configured.get(key) != value}
    for key, value in new.items():
        configure(repository, "--replace-all", key, value)
    return bool(new)


def unnamed(repository: Repository) -> list[Driver]:
    """Return the drivers that `.gitattributes` does not name for their files."""
    samples = [driver.sample for driver in DRIVERS]
    fields = git(repository, "check-attr", "-z", "merge", "--", *samples).split(b"\0")
    named = [value.decode("utf-8", "replace") for value in fields[2::3]]
    return [driver for driver, name in zip(DRIVERS, named, strict=True) if name != driver.name]


def commands(repository: Repository) -> dict[str, str]:
    """Return by driver's name what git runs for it, '' where this git does not know it."""
    found: dict[str, str] = {}
    for driver in DRIVERS:
        key = f"merge.{driver.name}.driver"
        told = git(repository, "config", "--get", key, expected=(0, 1))
        found[driver.name] = told.decode("utf-8", "replace").strip()
    return found


def merge_as_text(base: Path, ours: Path, theirs: Path, marker_size: int) -> bool:
    """Merge the lines into ``ours`` as git does without a driver; says whether all is decided."""
    names = ("-L", "ours", "-L", "base", "-L", "theirs")
    # git's own environment: this runs within a merge, on files that git made for it.
    command = ["git", "merge-file", "--quiet", f"--marker-size={marker_size}", *names]
    command += [str(ours), str(base), str(theirs)]
    return subprocess.run(command, check=False, capture_output=True).returncode == 0


def _configured(repository: Repository) -> dict[str, str]:
    entries = git(repository, "config", "--local", "--null", "--list").decode("utf-8", "replace")
    found = [entry.partition("\n") for entry in entries.split("\0")]
    return {name: value for name, _, value in found}
