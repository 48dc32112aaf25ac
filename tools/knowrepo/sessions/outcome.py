"""What became of a source: the value that a run hands to whoever asked for it."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from knowrepo.sessions.keep import Kept

Action = Literal[
    "new", "grown", "joined", "unchanged", "empty", "private", "forgotten", "not mapped",
    "not a transcript", "failed",
]  # fmt: skip


@dataclass(frozen=True)
class Outcome:
    """What became of one session of a source."""

    source: Path
    action: Action
    session: str = ""  # `AGENT/ID` or `AGENT/PARENT/ID`, the path below `sessions/`
    lines: int = 0  # archived lines now
    added: int = 0  # of these, new in this run
    size: int = 0  # archived bytes now
    grown: int = 0  # of these, new in this run
    note: str = ""
    agent: str = ""  # whose it is, where it became no session
    kept: Kept = field(default_factory=Kept)
