"""Finding the transcripts that an agent keeps of a project.

Owns the standard places of agents' files. A folder's name loses what the path
was, so the folder that a session worked in is read from its records.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from itertools import islice
from pathlib import Path

from knowrepo.sessions.lines import read_lines

_HEAD_RECORDS = 50


def claude_projects() -> Path:
    """Return the folder in which Claude Code keeps its transcripts."""
    base = os.environ.get("CLAUDE_CONFIG_DIR")
    return (Path(base) if base else Path.home() / ".claude") / "projects"


def transcripts_of(project: Path) -> Iterator[Path]:
    """Yield the transcripts of Claude Code sessions that worked in ``project`` or below."""
    top = claude_projects()
    if not top.is_dir():
        return
    # The folder is named after the path, other characters than letters and
    # digits turned into `-`: enough to leave out most, not enough to be sure.
    slug = re.sub(r"[^A-Za-z0-9]", "-", str(project))[:200]
    for folder in sorted(top.iterdir()):
        if folder.is_dir() and folder.name.startswith(slug):
            yield from (
                path for path in sorted(folder.rglob("*.jsonl")) if _worked_in(path, project)
            )


def _worked_in(transcript: Path, project: Path) -> bool:
    try:
        with transcript.open("rb") as stream:
            for line in islice(read_lines(stream), _HEAD_RECORDS):
                cwd = (line.record or {}).get("cwd")
                if isinstance(cwd, str):
                    return Path(cwd) == project or project in Path(cwd).parents
    except OSError:
        return False
    return False
