"""OpenCode sessions.

Owns what OpenCode's messages mean: those of versions up to 1 (`{info, parts}`), and
the events that newer ones keep in a table of their own (`{type, …}`). Where they
are kept, and how they are archived, is told in `opencode_store`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from knowrepo.sessions.lines import Line
from knowrepo.sessions.readers.base import (
    UNREADABLE,
    BaseReader,
    Keys,
    asks_recall,
    plain,
    safe_id,
    tool_call,
)
from knowrepo.sessions.readers.message import Message
from knowrepo.sessions.readers.opencode_store import sessions_in
from knowrepo.sessions.readers.values import (
    iso_time,
    list_of,
    object_of,
    text_of,
)
from knowrepo.sessions.record import Identity, Record, Role, ToolResult
from knowrepo.sessions.source import Native, Source

_LATEST = 10**17  # a time in milliseconds is never this long
_FAILED = {"error": True, "completed": False}
_ROLES: dict[str, Role] = {"user": "user", "assistant": "assistant"}


class OpenCodeReader(BaseReader):
    """The reader for OpenCode."""

    agent = "opencode"

    def recognises(self, records: Sequence[Mapping[str, Any]]) -> bool:
        """See `Reader.recognises`: only what we archived ourselves is JSON lines."""
        return any(
            bool(text_of(object_of(record, "info"), "id"))
            and ("parts" in record or set(record) == {"info"})
            for record in records
        )

    def unpack(self, source: Source) -> Iterable[Native] | None:
        """See `Reader.unpack`."""
        return sessions_in(source)

    def record_id(self, record: Mapping[str, Any]) -> str:
        """See `Reader.record_id`."""
        return text_of(object_of(record, "info"), "id") or text_of(record, "id")

    def rank(self, record: Mapping[str, Any]) -> str:
        """See `Reader.rank`: by the last time that stands in the message."""
        return f"{max(_times(record), default=0):018d}"

    def session_id(self, record: Mapping[str, Any]) -> str:
        """See `Reader.session_id`."""
        info = object_of(record, "info")
        own = "" if "parts" in record else text_of(info, "id")
        return safe_id(text_of(info, "sessionID") or own or text_of(record, "sessionID"))

    def parent_id(self, record: Mapping[str, Any]) -> str:
        """See `Reader.parent_id`."""
        # A message's parent is a message.
        own = {} if "parts" in record else object_of(record, "info")
        return safe_id(text_of(own, "parentID"))

    def identity(self, path: Path, first: str, last: str, parent: str) -> Identity:  # noqa: ARG002
        """See `Reader.identity`."""
        return Identity(last, parent)

    def folder(self, record: Mapping[str, Any]) -> str:
        """See `Reader.folder`."""
        info = object_of(record, "info")
        return text_of(info, "directory") or text_of(object_of(info, "path"), "cwd")

    def time(self, record: Mapping[str, Any]) -> str:
        """See `BaseReader.time`."""
        of = record if "info" not in record else object_of(record, "info")
        return iso_time(object_of(of, "time").get("created"))

    def title(self, record: Mapping[str, Any]) -> str:
        """See `BaseReader.title`."""
        return "" if "parts" in record else text_of(object_of(record, "info"), "title")

    def read(self, lines: Iterable[Line]) -> Iterator[Record]:
        """See `Reader.read`."""
        keys = Keys()
        for line in lines:
            record = line.record
            if record is None:
                continue
            message = Message(
                keys.key(self.record_id(record), line.raw),
                line,
                time=self.time(record),
                parent=text_of(object_of(record, "info"), "parentID") if "parts" in record else "",
            )
            _tell(message, record)
            yield from message.records()


def _tell(message: Message, record: Mapping[str, Any]) -> None:
    info = object_of(record, "info")
    role = _ROLES.get(text_of(info, "role"), "system")
    if role == "assistant" and info.get("summary") is True:
        role = "summary"
    for part in list_of(record, "parts"):
        if isinstance(part, dict):
            _tell_part(message, part, role)
    if UNREADABLE in (record.get("type"), info.get("type")):
        message.say("system", text_of(record, "text") or text_of(info, "text"))
    elif "info" not in record:
        _tell_event(message, record)


def _tell_part(message: Message, part: Mapping[str, Any], role: Role) -> None:
    kind = part.get("type")
    if kind == "text":
        machine = part.get("synthetic") is True or part.get("ignored") is True
        message.say("injected" if machine else role, text_of(part, "text"))
    elif kind == "tool":
        call_id = text_of(part, "callID") or text_of(part, "id")
        _tell_tool(message, text_of(part, "tool"), object_of(part, "state"), call_id)
    elif kind == "subtask":
        message.say("injected", text_of(part, "prompt"))
    elif kind == UNREADABLE:
        message.say("system", text_of(part, "text"))


def _tell_tool(message: Message, name: str, state: Mapping[str, Any], call_id: str) -> None:
    call = tool_call(name, state.get("input"), call_id)
    message.call(call)
    metadata = object_of(state, "metadata")
    told = (state.get("output"), state.get("error"), _content(state), metadata.get("output"))
    output = next((text for value in told if (text := plain(value)).strip()), "")
    code = metadata.get("exit")
    failed = code != 0 if isinstance(code, int) else _FAILED.get(text_of(state, "status"))
    message.output(output, ours=asks_recall(call), result=ToolResult(call_id, failed))


def _content(state: Mapping[str, Any]) -> str:
    return "\n".join(
        text_of(item, "text") for item in list_of(state, "content") if isinstance(item, dict)
    )


def _tell_event(message: Message, record: Mapping[str, Any]) -> None:
    """Say what a row of the newer table says."""
    kind = record.get("type")
    if kind == "user":
        message.say("user", text_of(record, "text"))
    elif kind in ("synthetic", "system"):
        message.say("injected", text_of(record, "text"))
    elif kind == "compaction":
        message.say("summary", text_of(record, "summary"))
    elif kind == "shell":  # a command that the user ran
        call = tool_call("shell", {"command": record.get("command")})
        message.call(call)
        message.output(plain(record.get("output")), ours=asks_recall(call))
    elif kind == "assistant":
        for part in list_of(record, "content"):
            if isinstance(part, dict):
                _tell_part(message, {**part, "tool": part.get("name")}, "assistant")


def _times(record: Mapping[str, Any]) -> Iterator[int]:
    """Yield the times of a message, its parts and their states."""
    parts = [*list_of(record, "parts"), *list_of(record, "content")]
    held = [record, object_of(record, "info")]
    for part in parts:
        if isinstance(part, dict):
            held += [part, object_of(part, "state")]
    for owner in held:
        for value in object_of(owner, "time").values():
            if isinstance(value, int) and 0 < value < _LATEST:
                yield value
