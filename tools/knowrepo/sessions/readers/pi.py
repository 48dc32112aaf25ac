"""Pi: sessions of version 1 (a list) to 3 (a tree of entries in one file).

Owns what an entry means. Every branch of a tree is read, in the order of the
file, those that were left as well: what was tried and given up is worth
finding. Every type and field is open.
"""

from __future__ import annotations

import re
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
    tool_call,
)
from knowrepo.sessions.readers.values import (
    content_text,
    list_of,
    object_of,
    text_of,
    told,
)
from knowrepo.sessions.record import Identity, Record, ToolResult

_SKILL = re.compile(r"\A\s*<skill name=[^>]*>.*</skill>", re.DOTALL)


class PiReader(BaseReader):
    """The reader for Pi."""

    agent = "pi"

    def recognises(self, records: Sequence[Mapping[str, Any]]) -> bool:
        """See `Reader.recognises`."""
        return any(_is_head(record) or _is_answer(record) for record in records)

    def session_id(self, record: Mapping[str, Any]) -> str:
        """See `Reader.session_id`."""
        return text_of(record, "id") if _is_head(record) else ""

    def identity(self, path: Path, first: str, last: str, parent: str) -> Identity:  # noqa: ARG002
        """See `Reader.identity`: the file is `<time>_<id>.jsonl`."""
        named = path.name.removesuffix(".jsonl").rpartition("_")[2]
        return Identity(named if UUID.fullmatch(named) else first, parent)

    def title(self, record: Mapping[str, Any]) -> str:
        """See `BaseReader.title`."""
        return text_of(record, "name") if record.get("type") == "session_info" else ""

    def read(self, lines: Iterable[Line]) -> Iterator[Record]:
        """See `Reader.read`."""
        return self.records(lines, _Session().meanings)


class _Session:
    """One session while it is read: what a fork was given, and calls of our recall."""

    def __init__(self) -> None:
        self._forked = ""  # when this session left its parent's
        self._recalls = Recalls()

    def meanings(self, record: Mapping[str, Any]) -> Iterator[Meaning]:
        """Say what an entry means.

        A fork copies its parent's entries with their times: those that are older
        than its own head are the parent's. (Version 1 has no ids by which a
        copy could be told from a session whose parent is gone: it is read whole.)
        """
        if _is_head(record) and text_of(record, "parentSession"):
            self._forked = text_of(record, "timestamp")
        said = self._meaning(record)
        if text_of(record, "timestamp") < self._forked:
            yield Meaning("injected", said.text)
        else:
            yield said

    def _meaning(self, record: Mapping[str, Any]) -> Meaning:
        kind = record.get("type")
        if kind == "message":
            return self._message(object_of(record, "message"))
        if kind in ("compaction", "branch_summary"):
            return Meaning("summary", text_of(record, "summary"))
        if kind == "custom_message":
            return Meaning("injected", content_text(record.get("content")))
        return NOTHING

    def _message(self, message: Mapping[str, Any]) -> Meaning:
        role = message.get("role")
        text = content_text(message.get("content"))
        if role == "user":
            typed = _SKILL.sub("", text).strip() if text.lstrip().startswith("<skill ") else text
            return Meaning("user", typed) if typed else Meaning("injected", text)
        if role == "assistant":
            calls = tuple(
                self._recalls.call(
                    text_of(block, "name"), block.get("arguments"), text_of(block, "id")
                )
                for block in list_of(message, "content")
                if isinstance(block, dict) and block.get("type") == "toolCall"
            )
            return Meaning("assistant", text, calls)
        if role == "toolResult":
            called = text_of(message, "toolCallId")
            result = ToolResult(called, told(message, "isError"))
            return Meaning(self._recalls.role(called), text, results=(result,))
        if role == "bashExecution":  # run by the user, with `!`
            call = tool_call("bash", message.get("command"))
            code = message.get("exitCode")
            result = ToolResult("", bool(code) if isinstance(code, int) else None)
            return Meaning("tool", text_of(message, "output"), (call,), results=(result,))
        if role in ("branchSummary", "compactionSummary"):
            return Meaning("summary", text or text_of(message, "summary"))
        return Meaning("injected", text)  # system prompts, extensions


def _is_head(record: Mapping[str, Any]) -> bool:
    return (
        record.get("type") == "session"
        and isinstance(record.get("id"), str)
        and isinstance(record.get("cwd"), str)
    )


def _is_answer(record: Mapping[str, Any]) -> bool:
    """Tell an entry of Pi's where the head of the file is broken."""
    message = object_of(record, "message")
    return record.get("type") == "message" and (
        message.get("role") in ("toolResult", "bashExecution")
        or (message.get("role") == "assistant" and "stopReason" in message)
    )
