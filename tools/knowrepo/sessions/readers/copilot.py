"""GitHub Copilot CLI: the events of a session, one a line.

Owns what an event means. A person's words are the `content` of a message;
`transformedContent` is what the model was sent, with the date and reminders
around them. Every type and field is open.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from knowrepo.sessions.lines import Line
from knowrepo.sessions.readers.base import (
    NOTHING,
    UUID,
    BaseReader,
    Meaning,
    Recalls,
)
from knowrepo.sessions.readers.values import (
    content_text,
    list_of,
    object_of,
    text_of,
    told,
)
from knowrepo.sessions.record import Identity, Record, ToolCall, ToolResult

_MARKS = frozenset({"session.start", "session.resume", "assistant.turn_start", "assistant.message"})
_PLACES = frozenset({"session.start", "session.resume", "session.context_changed"})
# Who sends a message in the user's name. A person's own has no source, or another.
_MACHINES = ("skill", "system", "command", "schedule", "autopilot", "agent", "hook", "extension")


class CopilotReader(BaseReader):
    """The reader for GitHub Copilot CLI."""

    agent = "copilot"

    def recognises(self, records: Sequence[Mapping[str, Any]]) -> bool:
        """See `Reader.recognises`."""
        return any(
            text_of(record, "type") in _MARKS and isinstance(record.get("data"), dict)
            for record in records
        )

    def session_id(self, record: Mapping[str, Any]) -> str:
        """See `Reader.session_id`."""
        if record.get("type") not in ("session.start", "session.resume"):
            return ""
        return text_of(_data(record), "sessionId")

    def identity(self, path: Path, first: str, last: str, parent: str) -> Identity:
        """See `Reader.identity`: the file is `<id>/events.jsonl`."""
        if path.name.startswith("events.") and UUID.fullmatch(path.parent.name):
            return Identity(path.parent.name, parent)
        return super().identity(path, first, first or last, parent)

    def folder(self, record: Mapping[str, Any]) -> str:
        """See `Reader.folder`."""
        return text_of(_place(record), "cwd")

    def branch(self, record: Mapping[str, Any]) -> str:
        """See `BaseReader.branch`."""
        return text_of(_place(record), "branch")

    def title(self, record: Mapping[str, Any]) -> str:
        """See `BaseReader.title`."""
        named = record.get("type") == "session.title_changed"
        return text_of(_data(record), "title") if named else ""

    def read(self, lines: Iterable[Line]) -> Iterator[Record]:
        """See `Reader.read`."""
        return self.records(lines, _Session().meanings)


class _Session:
    """One session while it is read: which calls are known, and which asked our recall."""

    def __init__(self) -> None:
        self._called: set[str] = set()
        self._recalls = Recalls()

    def meanings(self, record: Mapping[str, Any]) -> Iterator[Meaning]:
        """Say what an event means; a sub-agent's stand among the others."""
        data = _data(record)
        said = self._meaning(text_of(record, "type"), data)
        side = bool(text_of(record, "agentId") or text_of(data, "parentToolCallId"))
        yield said._replace(side=side)

    def _meaning(self, kind: str, data: Mapping[str, Any]) -> Meaning:
        if kind == "user.message":
            return Meaning("injected" if _is_machines(data) else "user", text_of(data, "content"))
        if kind == "assistant.message":
            calls = tuple(self._calls(list_of(data, "toolRequests")))
            return Meaning("assistant", text_of(data, "content"), calls)
        if kind == "tool.execution_start":
            return self._started(data)
        if kind == "tool.execution_complete":
            called = text_of(data, "toolCallId")
            worked = told(data, "success")
            result = ToolResult(called, None if worked is None else not worked)
            return Meaning(self._recalls.role(called), _output(data), results=(result,))
        if kind in ("system.message", "system.notification", "skill.invoked"):
            return Meaning("injected", text_of(data, "content"))
        if kind == "session.compaction_complete":
            return Meaning("summary", text_of(data, "summaryContent"))
        return NOTHING

    def _calls(self, requests: Iterable[object]) -> Iterator[ToolCall]:
        for request in requests:
            if isinstance(request, dict):
                yield self._call(request, text_of(request, "name"))

    def _started(self, data: Mapping[str, Any]) -> Meaning:
        """Return the call that starts, where no message of the agent holds it.

        A person's own command (`!`) has none, nor have those of some sub-agents.
        """
        if text_of(data, "toolCallId") in self._called:
            return NOTHING
        return Meaning("assistant", "", (self._call(data, text_of(data, "toolName")),))

    def _call(self, given: Mapping[str, Any], name: str) -> ToolCall:
        call_id = text_of(given, "toolCallId")
        self._called.add(call_id)
        return self._recalls.call(name, given.get("arguments"), call_id)


def _data(record: Mapping[str, Any]) -> Mapping[str, Any]:
    return object_of(record, "data")


def _place(record: Mapping[str, Any]) -> Mapping[str, Any]:
    kind = text_of(record, "type")
    if kind not in _PLACES:
        return {}
    data = _data(record)
    return data if kind == "session.context_changed" else object_of(data, "context")


def _is_machines(data: Mapping[str, Any]) -> bool:
    if data.get("isAutopilotContinuation") is True:
        return True
    return text_of(data, "source").startswith(_MACHINES)


def _output(data: Mapping[str, Any]) -> str:
    result = data.get("result")
    if isinstance(result, dict):
        text = content_text(result.get("content")) or text_of(result, "detailedContent")
        return text or content_text(result.get("contents"))
    return content_text(result) or text_of(object_of(data, "error"), "message")
