"""Kiro CLI sessions, and those of Amazon Q Developer CLI, which it was before.

Owns what a Kiro record means: an entry of a conversation's history, which holds a
user's and an assistant's turn, both enums tagged by their name; and the JSON lines
of the newer `~/.kiro/sessions/cli` (version v1). Where they are kept, and how they
are archived, is told in `kiro_store`.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from knowrepo.sessions.lines import Line
from knowrepo.sessions.readers.base import (
    UNREADABLE,
    BaseReader,
    Keys,
    asks_recall,
    derived_id,
    own_stem,
    plain,
    safe_id,
    tool_call,
)
from knowrepo.sessions.readers.kiro_store import (
    AGENT,
    TOOLS,
    conversations_in,
    is_line,
    lacks_own_fields,
    unquoted,
    variant,
)
from knowrepo.sessions.readers.message import Message
from knowrepo.sessions.readers.values import (
    iso_time,
    list_of,
    object_of,
    text_of,
)
from knowrepo.sessions.record import Identity, Record, ToolResult
from knowrepo.sessions.source import Native, Source

_MACHINE_STARTS = ("--- CONTEXT ENTRY BEGIN ---", "[SYSTEM NOTE:")
_TYPED = re.compile(r"--- USER MESSAGE BEGIN ---\n(.*?)--- USER MESSAGE END ---", re.DOTALL)
_ANSWERS = frozenset({"y", "n", "t", "yes", "no"})  # to whether a tool may run


class KiroReader(BaseReader):
    """The reader for Kiro CLI and Amazon Q Developer CLI."""

    agent = AGENT

    def recognises(self, records: Sequence[Mapping[str, Any]]) -> bool:
        """See `Reader.recognises`."""
        return any(is_line(record) or _is_archived(record) for record in records)

    def unpack(self, source: Source) -> Iterable[Native] | None:
        """See `Reader.unpack`."""
        return conversations_in(source)

    def waits_for_more(self, source: Source) -> bool:
        """See `Reader.waits_for_more`."""
        return lacks_own_fields(source)

    def record_id(self, record: Mapping[str, Any]) -> str:
        """See `Reader.record_id`."""
        if record.get("type") == UNREADABLE:
            return ""  # or what is read later would be another version of it
        own = text_of(record, "conversation_id") or text_of(record, "session_id")
        if own:
            return own
        said = object_of(record, "data") or variant(record.get("assistant"))
        return text_of(said, "message_id") or _user_id(record)

    def session_id(self, record: Mapping[str, Any]) -> str:
        """See `Reader.session_id`."""
        return safe_id(text_of(record, "conversation_id") or text_of(record, "session_id"))

    def identity(self, path: Path, first: str, last: str, parent: str) -> Identity:  # noqa: ARG002
        """See `Reader.identity`."""
        return Identity(own_stem(path, self.agent) or last or derived_id(path, self.agent))

    def folder(self, record: Mapping[str, Any]) -> str:
        """See `Reader.folder`."""
        environment = object_of(object_of(record, "user"), "env_context")
        in_it = text_of(object_of(environment, "env_state"), "current_working_directory")
        return text_of(record, "directory") or text_of(record, "cwd") or in_it

    def time(self, record: Mapping[str, Any]) -> str:
        """See `BaseReader.time`."""
        meta = object_of(object_of(record, "data"), "meta")
        given = (
            object_of(record, "user").get("timestamp"),
            meta.get("timestamp"),
            object_of(record, "request_metadata").get("request_start_timestamp_ms"),
            object_of(record, "request_metadata").get("stream_end_timestamp_ms"),
            record.get("created_at"),
        )
        return next(filter(None, map(iso_time, given)), "")

    def title(self, record: Mapping[str, Any]) -> str:
        """See `BaseReader.title`."""
        return text_of(record, "title") if self.session_id(record) else ""

    def read(self, lines: Iterable[Line]) -> Iterator[Record]:
        """See `Reader.read`."""
        keys = Keys()
        recalls: set[str] = set()
        for line in lines:
            record = line.record
            if record is None:
                continue
            key = keys.key(self.record_id(record), line.raw)
            message = Message(key, line, time=self.time(record))
            if is_line(record):
                _tell_line(message, record, recalls)
            elif "user" in record or "assistant" in record:
                _tell_entry(message, record, recalls)
            else:
                _tell_other(message, record)
            yield from message.records()


def _tell_entry(message: Message, record: Mapping[str, Any], recalls: set[str]) -> None:
    user = object_of(record, "user")
    message.say("injected", text_of(user, "additional_context"))
    content = user.get("content")
    given = variant(content)
    _tell_prompt(message, text_of(given, "prompt") or plain(content if not given else ""))
    for result in list_of(given, "tool_use_results"):
        if isinstance(result, dict):
            text = "\n".join(filter(None, map(_block, list_of(result, "content"))))
            answers = _result(result, "tool_use_id")
            message.output(text, ours=answers.call in recalls, result=answers)
    metadata = object_of(record, "request_metadata")
    time = iso_time(metadata.get("stream_end_timestamp_ms"))
    said = variant(record.get("assistant"))
    message.say("assistant", plain(said.get("content")), time=time)
    for use in list_of(said, "tool_uses"):
        if isinstance(use, dict):
            call = tool_call(text_of(use, "name"), use.get("args"), text_of(use, "id"))
            message.call(call, time=time)
            if asks_recall(call):
                recalls.add(text_of(use, "id"))


def _result(held: Mapping[str, Any], name: str) -> ToolResult:
    failed = {"error": True, "success": False}.get(text_of(held, "status").lower())
    return ToolResult(text_of(held, name), failed)


def _tell_prompt(message: Message, prompt: str) -> None:
    typed = _TYPED.search(prompt)
    text = typed[1] if typed else prompt
    if not typed and text.strip().startswith(_MACHINE_STARTS):
        message.say("injected", text)
    elif text.strip().lower() in _ANSWERS:
        message.say("system", text)
    else:
        message.say("user", text)


def _block(block: object) -> str:
    """Return what one block of a tool's result says."""
    if not isinstance(block, dict):
        return plain(block)
    for name in ("Text", "Json", "text", "json", "data"):
        if name in block:
            return _streams(block[name]) or plain(block[name])
    return ""


def _streams(value: object) -> str:
    """Return what a command wrote, where a result holds it by stream."""
    if not isinstance(value, dict) or "stdout" not in value:
        return ""
    return "\n".join(filter(None, (text_of(value, name) for name in ("stdout", "stderr"))))


def _tell_line(message: Message, record: Mapping[str, Any], recalls: set[str]) -> None:
    for block in list_of(object_of(record, "data"), "content"):
        if not isinstance(block, dict):
            continue
        kind, data = block.get("kind"), block.get("data")
        held = data if isinstance(data, dict) else {}
        if kind == "text" and isinstance(data, str):
            if record.get("kind") == "Prompt":
                _tell_prompt(message, data)
            else:
                message.say("assistant", data)
        elif kind == "toolUse":
            call = tool_call(text_of(held, "name"), held.get("input"), text_of(held, "toolUseId"))
            message.call(call)
            if asks_recall(call):
                recalls.add(text_of(held, "toolUseId"))
        elif kind == "toolResult":
            content = held.get("content")
            blocks = content if isinstance(content, list) else [content]
            text = "\n".join(filter(None, map(_block, blocks)))
            answers = _result(held, "toolUseId")
            message.output(text, ours=answers.call in recalls, result=answers)


def _tell_other(message: Message, record: Mapping[str, Any]) -> None:
    if record.get("type") == UNREADABLE:
        message.say("system", text_of(record, "text"))
    elif "latest_summary" in record:
        summary = record["latest_summary"]
        message.say("summary", plain(summary[0] if isinstance(summary, list) and summary else ""))
    elif said := text_of(record, "transcript"):
        if said.startswith("> "):
            _tell_prompt(message, unquoted(said))
        else:
            message.say("assistant", TOOLS.sub("", said))


def _is_archived(record: Mapping[str, Any]) -> bool:
    if record.get("type") == UNREADABLE:
        return record.get("agent") == AGENT
    user, said = object_of(record, "user"), object_of(record, "assistant")
    if "content" in user and not said.keys().isdisjoint({"Response", "ToolUse"}):
        return True
    own = {"conversation_id", "directory", "created_at"}
    return bool(text_of(record, "conversation_id")) and set(record) <= own


def _user_id(record: Mapping[str, Any]) -> str:
    """Return an id for an entry whose answer has none: by what the user's turn holds."""
    user = object_of(record, "user")
    given = variant(user.get("content"))
    uses = [text_of(r, "tool_use_id") for r in list_of(given, "tool_use_results")
            if isinstance(r, dict)]  # fmt: skip
    marks = (text_of(user, "timestamp"), text_of(given, "prompt"), *uses)
    if not any(marks):
        return ""
    return "user-" + hashlib.sha256("\0".join(marks).encode()).hexdigest()[:32]
