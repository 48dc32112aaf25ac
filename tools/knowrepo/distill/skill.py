"""The skill by which an agent writes concepts itself, and putting it where agents look.

Owns the text and its place. A file that differs from it is somebody's own, and
no link leads a file out of the folder that it was meant for.
"""

from __future__ import annotations

import os
from pathlib import Path

from knowrepo.config import write_atomically
from knowrepo.errors import KnowError

NAME = "know-distill"


def text() -> str:
    """Return the skill, as an agent reads it."""
    return Path(__file__).with_name("skill.md").read_text(encoding="utf-8")


def path_for_user() -> Path:
    """Return where Claude Code looks for a skill of the user's."""
    base = os.environ.get("CLAUDE_CONFIG_DIR")
    return (Path(base) if base else Path.home() / ".claude") / "skills" / NAME / "SKILL.md"


def path_in(project: Path) -> Path:
    """Return where Claude Code looks for a skill of a project's."""
    return project / ".claude" / "skills" / NAME / "SKILL.md"


def install(path: Path, *, within: Path | None = None, force: bool = False) -> bool:
    """Write the skill; returns False where it is there already.

    Raises KnowError where another text is, unless ``force``, or where links lead
    out of the folder ``within``.
    """
    if within is not None and not path.resolve().is_relative_to(within.resolve()):
        raise KnowError(f"{path}: a link leads out of {within}", hint="write it there by hand")
    wanted = text().encode()
    try:
        there = path.read_bytes() if path.exists() else None
        if there == wanted:
            return False
        if there is not None and not force:
            raise KnowError(f"{path}: holds another text", hint="--force replaces it")
        write_atomically(path.resolve(), wanted)
    except OSError as error:
        raise KnowError(f"{path}: cannot be written: {error.strerror}") from error
    return True
