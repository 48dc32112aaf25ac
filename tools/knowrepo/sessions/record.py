"""The record model that every agent's transcript is read into.

Owns the vocabulary between readers and the index: roles, records, and what a
reader must offer. It knows no agent.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Literal, Protocol

from knowrepo.sessions.lines import Line

Role = Literal["user", "assistant", "tool", "system", "summary", "injected"]
"""Who wrote it. `summary` and `injected` are machine-written text that an agent
stores as if a user had said it; `tool` is a tool's output."""


@dataclass(frozen=True)
class ToolCall:
    """An agent's call of a tool: its name and the argument that says most."""

    name: str
    argument: str


@dataclass(frozen=True)
class Record:
    """One record of a session.

    ``key`` names it within its session: its own id, else a hash of its line;
    a NUL and a number follow where several are equal. ``time`` is ISO 8601 as
    written, or empty. ``line`` is the 1-based line of the file that was read.
    """

    key: str
    role: Role
    text: str
    line: int
    parent: str = ""
    time: str = ""
    calls: tuple[ToolCall, ...] = ()
    side: bool = False  # belongs to a sub-agent's conversation


@dataclass(frozen=True)
class SessionFacts:
    """What is known of a session as a whole."""

    title: str = ""
    project: str = ""  # the folder that the agent worked in, as its machine called it
    branch: str = ""
    date: str = ""  # ISO 8601 of the first dated record
    first_user_line: str = ""
    helper: bool = False  # a warm-up or housekeeping agent: kept, but not searched
    sub_agent: bool = False  # a sub-agent's own file


class Reader(Protocol):
    """One agent's transcript format."""

    agent: str
    """The folder under `sessions/`."""

    def recognises(self, records: Iterable[Mapping[str, Any]]) -> bool:
        """Tell from its first records whether a source is of this agent."""

    def record_id(self, record: Mapping[str, Any]) -> str:
        """Return the record's own id, or an empty string."""

    def session_id(self, record: Mapping[str, Any]) -> str:
        """Return the session id that the record carries, or an empty string."""

    def read(self, lines: Iterable[Line]) -> Iterator[Record]:
        """Yield the records of a session in file order."""

    def facts(self, lines: Iterable[Line], records: Iterable[Record], name: str) -> SessionFacts:
        """Sum the session up; ``name`` is the stem of its file."""
