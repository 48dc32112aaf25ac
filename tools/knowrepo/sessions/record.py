"""The record model that every agent's transcript is read into.

Owns the vocabulary between readers and the index: roles, records, and what a
reader must offer. It knows no agent.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, NamedTuple, Protocol

from knowrepo.sessions.lines import Line
from knowrepo.sessions.source import Native, Source

Role = Literal["user", "assistant", "tool", "system", "summary", "injected"]
"""Who wrote it. `user` is what a person typed, and nothing else. `summary` and
`injected` are machine-written text that an agent stores as if a user had said
it; `tool` is a tool's output; `system` is bookkeeping."""


class ToolCall(NamedTuple):
    """An agent's call of a tool: its name, the argument that says most, and its own id."""

    name: str
    argument: str
    id: str = ""


class ToolResult(NamedTuple):
    """What came of a call, as the agent marked it; its output is the record's text.

    ``call`` is the call's id. ``failed`` is None where the agent does not say.
    """

    call: str
    failed: bool | None = None


class Record(NamedTuple):
    """One record of a session.

    ``key`` names it within its session: its own id, else a hash of its line;
    a NUL and a number follow where several are equal. ``time`` is ISO 8601, or
    empty. ``line`` is the 1-based line of the file that was read, ``start`` and
    ``end`` are the bytes that this line takes up in it.
    """

    key: str
    role: Role
    text: str
    line: int
    parent: str = ""
    time: str = ""
    calls: tuple[ToolCall, ...] = ()
    results: tuple[ToolResult, ...] = ()
    side: bool = False  # belongs to a sub-agent's conversation
    start: int = 0
    end: int = 0


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


class Identity(NamedTuple):
    """What a session is called in the archive: its id, and its parent's where it has one."""

    id: str
    parent: str = ""


class Reader(Protocol):
    """One agent's transcript format; `readers.base.BaseReader` has what most share.

    Readers are given lines that may be gone through more than once, and go
    through them one by one: a session may be larger than the memory.
    """

    agent: str
    """The folder under `sessions/`."""

    def recognises(self, records: Sequence[Mapping[str, Any]]) -> bool:
        """Tell from the first records of JSON lines whether they are this agent's."""

    def unpack(self, source: Source) -> Iterable[Native] | None:
        """Return the sessions of a source that is no JSON lines; None where it is not ours."""

    def waits_for_more(self, source: Source) -> bool:
        """Say whether JSON lines are told more of by a file beside them that is not there yet."""

    def record_id(self, record: Mapping[str, Any]) -> str:
        """Return the record's own id, or an empty string."""

    def rank(self, record: Mapping[str, Any]) -> str:
        """Return what orders the versions of a record that its agent rewrites; greatest last."""

    def session_id(self, record: Mapping[str, Any]) -> str:
        """Return the session id that the record carries, or an empty string."""

    def parent_id(self, record: Mapping[str, Any]) -> str:
        """Return the id of the session that this sub-agent's session belongs to, or ''."""

    def identity(self, path: Path, first: str, last: str, parent: str) -> Identity:
        """Name the session in ``path``, given its first and last id and its first parent's."""

    def parent_source(self, path: Path, parent: str) -> Path | None:
        """Return where the transcript of a sub-agent's parent lies, where that is known."""

    def folder(self, record: Mapping[str, Any]) -> str:
        """Return the folder that the agent worked in, where the record says it."""

    def folder_hash(self, record: Mapping[str, Any]) -> str:
        """Return the sha256 of that folder's path, where the agent says no more than this."""

    def read(self, lines: Iterable[Line]) -> Iterator[Record]:
        """Yield the records of a session in file order."""

    def facts(self, lines: Iterable[Line], name: str) -> SessionFacts:
        """Sum the session up; ``name`` is the stem of its file in the archive."""
