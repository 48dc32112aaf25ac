"""Factory Droid: a session's start, its messages and its states, one a line.

Owns what a record means. Messages have the blocks of the Anthropic API, and
fields that say where text in the user's name came from. Every type and field
is open.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from knowrepo.sessions.lines import Line
from knowrepo.sessions.readers.base import (
    NOTHING,
    BaseReader,
    Meaning,
    Recalls,
)
from knowrepo.sessions.readers.values import (
    content_text,
    list_of,
    object_of,
    text_of,
    without_wrappers,
    wrappers,
)
from knowrepo.sessions.record import Record, ToolResult

_STATES = frozenset({"compaction_state", "todo_state", "agent_turn_outcome"})
_WRAPPERS = wrappers("system-reminder", "system-notification")


class DroidReader(BaseReader):
    """The reader for Factory Droid."""

    agent = "droid"

    def recognises(self, records: Sequence[Mapping[str, Any]]) -> bool:
        """See `Reader.recognises`."""
        return any(
            isinstance(record.get("id"), str) and (_is_start(record) or _is_state(record))
            for record in records
        )

    def session_id(self, record: Mapping[str, Any]) -> str:
        """See `Reader.session_id`."""
        return text_of(record, "id") if _is_start(record) else ""

    def parent_id(self, record: Mapping[str, Any]) -> str:
        """See `Reader.parent_id`. A person's fork is a session of its own."""
        return text_of(record, "callingSessionId") if _is_start(record) else ""

    def folder(self, record: Mapping[str, Any]) -> str:
        """See `Reader.folder`."""
        return text_of(record, "cwd") if _is_start(record) else ""

    def title(self, record: Mapping[str, Any]) -> str:
        """See `BaseReader.title`."""
        if not _is_start(record):
            return ""
        return text_of(record, "sessionTitle") or text_of(record, "title")

    def read(self, lines: Iterable[Line]) -> Iterator[Record]:
        """See `Reader.read`."""
        return self.records(lines, _Session(lines).meanings)


class _Session:
    """One session while it is read: what a fork was given, and calls of our recall."""

    def __init__(self, lines: Iterable[Line]) -> None:
        self._recalls = Recalls()
        self._side = False
        self._forked_at = ""
        for line in lines:
            record = line.record or {}
            if _is_start(record):
                self._side = bool(text_of(record, "callingSessionId"))
                self._forked_at = text_of(record, "forkedAtMessageId")
                break
        # A head may name a message that the file does not hold: then nothing is a copy.
        self._copied = bool(self._forked_at) and any(
            (line.record or {}).get("id") == self._forked_at for line in lines
        )

    def meanings(self, record: Mapping[str, Any]) -> Iterator[Meaning]:
        """Say what a record means; a fork names the last message that it was given."""
        copied = self._copied
        if copied and record.get("id") == self._forked_at:
            self._copied = False
        for said in self._meanings(record):
            if copied:
                yield Meaning("injected", said.text, side=self._side)
            else:
                yield said._replace(side=self._side)

    def _meanings(self, record: Mapping[str, Any]) -> Iterator[Meaning]:
        kind = record.get("type")
        if kind == "compaction_state":
            yield Meaning("summary", text_of(record, "summaryText"))
        elif kind == "message":
            yield from self._message(object_of(record, "message"))
        else:
            yield NOTHING

    def _message(self, message: Mapping[str, Any]) -> Iterator[Meaning]:
        role = message.get("role")
        text = content_text(message.get("content"))
        blocks = [block for block in list_of(message, "content") if isinstance(block, dict)]
        calls = tuple(
            self._recalls.call(text_of(block, "name"), block.get("input"), text_of(block, "id"))
            for block in blocks
            if block.get("type") == "tool_use"
        )
        results = [block for block in blocks if block.get("type") == "tool_result"]
        typed = without_wrappers(text, _WRAPPERS) if role == "user" else ""
        if role == "assistant":
            yield Meaning("assistant", text, calls)
        elif role != "user" or _is_machines(message) or not (typed or results):
            yield Meaning("injected", text)
        elif typed:
            yield Meaning("user", typed)
        for block in results:
            output = content_text(block.get("content"))
            call = text_of(block, "tool_use_id")
            result = ToolResult(call, block.get("is_error") is True)
            yield Meaning(self._recalls.role(call), output, results=(result,))


def _is_start(record: Mapping[str, Any]) -> bool:
    return record.get("type") == "session_start" and ("cwd" in record or "version" in record)


def _is_state(record: Mapping[str, Any]) -> bool:
    return text_of(record, "type") in _STATES


def _is_machines(message: Mapping[str, Any]) -> bool:
    """Tell context, notices, hooks and automation from what a person typed."""
    return (
        text_of(message, "visibility") in {"llm_only", "user_only"}
        or "hookEventName" in message
        or text_of(message, "userMessageSource") == "automation"
    )
