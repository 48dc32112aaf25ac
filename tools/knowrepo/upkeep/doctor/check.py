"""What a check is given, and what it says."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from knowrepo.git.layout import Repository

Verdict = Literal["ok", "warn", "fail"]
Mend = Callable[[], str]
"""Mends something, and says in a line what was done."""


@dataclass(frozen=True)
class Found:
    """What a check found: a verdict, what was seen, and what to do about it.

    ``fix`` is a command or a sentence. ``mend`` does it, where that is safe.
    """

    verdict: Verdict
    seen: str
    fix: str = ""
    mend: Mend | None = None


@dataclass(frozen=True)
class Place:
    """Where the checks look: a repository, or why there is none at ``folder``."""

    folder: Path
    repository: Repository | None
    problem: str = ""
    hint: str = ""


def ok(seen: str) -> Found:
    """Return that all is well."""
    return Found("ok", seen)


def warn(seen: str, fix: str, mend: Mend | None = None) -> Found:
    """Return that something is missing or will go wrong, while know works."""
    return Found("warn", seen, fix, mend)


def fail(seen: str, fix: str, mend: Mend | None = None) -> Found:
    """Return that something does not work."""
    return Found("fail", seen, fix, mend)


def listed(names: list[str], most: int = 3) -> str:
    """Return the first of some names, and how many more there are."""
    more = f" and {len(names) - most} more" if len(names) > most else ""
    return ", ".join(names[:most]) + more
