"""What distilling finds, before it is a file: statements, and the proposals made of them.

Owns the vocabulary between those who find (rules, a language model) and those
who write concepts. It knows no rule and no file.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Literal, Protocol, runtime_checkable

from knowrepo.sessions.record import Record, Role, SessionFacts

Kind = Literal[
    "decision", "rejection", "cause", "fix", "preference", "correction", "failed", "worked"
]
"""What a statement is. `failed` and `worked` are attempts at a goal: a tool call
and what came of it. All others are sentences that somebody said."""

_WORD = re.compile(r"\w+")


@dataclass(frozen=True)
class Session:
    """An archived session as distilling sees it.

    ``name`` is `AGENT/ID` (`AGENT/PARENT/ID` for a sub-agent's); ``path`` is its
    first file, relative to the repository. ``records`` may be gone through more
    than once, one by one: a session may be larger than the memory.
    """

    name: str
    path: str
    facts: SessionFacts
    records: Iterable[Record]


@dataclass(frozen=True)
class Statement:
    """One thing that was said or tried, and is worth keeping.

    ``text`` is one line as it was said, without Markdown's marks. ``record`` is
    the key of its record, ``line`` the 1-based line of the session's file.
    ``weight`` is how sure the finder is, above 0 and up to 1.
    """

    kind: Kind
    text: str
    record: str
    line: int
    role: Role
    time: str = ""
    weight: float = 1.0

    def key(self, session: str) -> str:
        """Return what names this statement for good, whatever later rules make of it."""
        words = " ".join(_WORD.findall(self.text.casefold()))
        return hashlib.sha256(f"{session}\n{self.record}\n{words}".encode()).hexdigest()[:16]


@dataclass(frozen=True)
class Proposal:
    """One concept that a session gives reason for.

    ``statements`` are its evidence, the one that says it best first. ``title``
    says the decision itself, ``description`` is one sentence. ``note`` is
    Markdown of the finder's own that stands before the evidence, or nothing.
    ``found_by`` is what `generated.by` says where it is not the finder's name: one
    finder may stand in for another.
    """

    type: str
    title: str
    description: str
    session: str
    statements: tuple[Statement, ...]
    tags: tuple[str, ...] = field(default=())
    note: str = ""
    found_by: str = ""


class Finder(Protocol):
    """What proposes: rules, a command of the user's, a local model."""

    name: str
    """What `generated.by` says made the concept."""

    def propose(self, session: Session) -> list[Proposal]:
        """Return what a session gives reason for, in the order in which it was said."""


@runtime_checkable
class Asking(Protocol):
    """A finder that asks somebody, and may get no answer."""

    unanswered: int
    """Questions without an answer so far; a session with one is looked at again."""
