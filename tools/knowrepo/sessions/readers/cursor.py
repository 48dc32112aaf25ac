"""Cursor's agent transcripts.

Owns what a line of `agent-transcripts/<id>/<id>.jsonl` means. A line has a role and
a message, no id and no time; a session is named by its file. What a person typed
stands in `<user_query>`; before it Cursor puts the time, files and other context.
Tools' outputs are not kept by most versions. Forms known: those of 2026, with
`{"type": "turn_ended"}` between turns, and without; sub-agents in `subagents/`; and
the plain text of 2025, whose turns begin with `user:` and `assistant:`, and which
is archived as lines of the same form.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta, timezone
from pathlib import Path, PurePosixPath, PureWindowsPath
from typing import Any

from knowrepo.sessions.lines import BOM, Line, decode
from knowrepo.sessions.readers.base import (
    BaseReader,
    Keys,
    asks_recall,
    derived_id,
    own_stem,
    parse_json,
    plain,
    safe_id,
    tool_call,
)
from knowrepo.sessions.readers.message import Message
from knowrepo.sessions.readers.values import (
    blocks_text,
    clean,
    object_of,
    text_of,
    told,
)
from knowrepo.sessions.record import Identity, Record, Role, ToolResult
from knowrepo.sessions.source import Native, Source, opened

_ROLES: dict[str, Role] = {"user": "user", "assistant": "assistant", "tool": "tool"}
_FOREIGN = frozenset({"type", "uuid", "sessionId", "session_id", "payload", "id", "parts"})
_OPEN, _CLOSE = "<user_query>", "</user_query>"
# What Cursor says for the user, in the same wrapper.
_MACHINE_STARTS = (
    "The above subagent result",
    "The beginning of the above subagent result",
    "Briefly inform the user about the task result",
)
_WRAPPED = re.compile(
    r"<(timestamp|user_info|attached_files|image_files|uploaded_documents|additional_data|"
    r"system_reminder|system-reminder|project_layout|rules|agent_skills|git_status|"
    r"open_and_recently_viewed_files|manually_attached_skills|cursor_commands|agent_transcripts|"
    r"current_file|linter_errors|external_links|hook_context)(?: [^<>]*)?>.*?</\1>",
    re.DOTALL,
)
_IMAGE = "[Image]"
_HIDDEN = "[REDACTED]"  # stands for what the model thought
_WORKSPACE = re.compile(r"^Workspace Path: *(\S.*?)\s*$", re.MULTILINE)
_TIME = re.compile(
    r"<timestamp>\s*(?:\w+, )?([A-Z][a-z]{2})[a-z]* (\d{1,2}), (\d{4}), (\d{1,2}):(\d\d) ([AP])M"
    r"(?: \(UTC(?:([+-])(\d{1,2})(?::(\d\d))?)?\))?\s*</timestamp>"
)
_MOST_TURNS = 10**9
_MARK = re.compile(r"\[(Thinking|Tool call|Tool result)\] ?(.*)")
_MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")


class CursorReader(BaseReader):
    """The reader for Cursor's agent transcripts."""

    agent = "cursor"

    def recognises(self, records: Sequence[Mapping[str, Any]]) -> bool:
        """See `Reader.recognises`."""
        return any(_is_message(record) for record in records)

    def unpack(self, source: Source) -> Iterable[Native] | None:
        """See `Reader.unpack`: the plain text that a transcript was."""
        _, mark, rest = source.text.partition(_OPEN)
        if not mark or source.text.split(None, 1)[0] != "user:":
            return None
        stem = own_stem(source.path, self.agent)
        if not stem:
            first = rest.partition(_CLOSE)[0].encode("utf-8", "surrogatepass")
            stem = f"{self.agent}-{hashlib.sha256(first).hexdigest()[:16]}"
        return [Native(stem, _Text(source.path))]

    def record_id(self, record: Mapping[str, Any]) -> str:
        """See `Reader.record_id`: a line of JSON is known by its bytes."""
        turn = record.get("turn")
        return f"turn-{turn}" if isinstance(turn, int) and abs(turn) < _MOST_TURNS else ""

    def session_id(self, record: Mapping[str, Any]) -> str:  # noqa: ARG002
        """See `Reader.session_id`: no line holds one."""
        return ""

    def identity(self, path: Path, first: str, last: str, parent: str) -> Identity:  # noqa: ARG002
        """See `Reader.identity`: the file's stem; sub-agents lie below their parent's folder."""
        own = own_stem(path, self.agent) or derived_id(path, self.agent)
        folders = [folder.name for folder in path.absolute().parents]
        above = folders[1] if len(folders) > 1 and folders[0] == "subagents" else ""
        return Identity(own, safe_id(above))

    def folder(self, record: Mapping[str, Any]) -> str:
        """See `Reader.folder`: what Cursor told the model, else where a command was run."""
        content = _content(record)
        if record.get("role") == "user":
            stated = _WORKSPACE.search(_before(blocks_text(content)))
            return stated[1] if stated else ""
        for block in content:
            given = object_of(block, "input") if isinstance(block, dict) else {}
            folder = text_of(given, "working_directory")
            if PurePosixPath(folder).is_absolute() or PureWindowsPath(folder).is_absolute():
                return folder
        return ""

    def time(self, record: Mapping[str, Any]) -> str:
        """See `BaseReader.time`: a prompt's; answers have none."""
        if record.get("role") != "user":
            return ""
        return _time(_before(blocks_text(_content(record))))

    def read(self, lines: Iterable[Line]) -> Iterator[Record]:
        """See `Reader.read`."""
        keys = Keys()
        recalls: set[str] = set()
        for line in lines:
            record = line.record
            if record is None:
                continue
            message = Message(keys.key("", line.raw), line, time=self.time(record))
            if _is_message(record):
                _tell(message, record, recalls)
            yield from message.records()


def _is_message(record: Mapping[str, Any]) -> bool:
    role = record.get("role")
    if not isinstance(role, str) or role not in _ROLES or not _FOREIGN.isdisjoint(record):
        return False
    message = record.get("message")
    return isinstance(message, dict) and isinstance(message.get("content"), list | str)


def _content(record: Mapping[str, Any]) -> list[Any]:
    content = object_of(record, "message").get("content")
    if isinstance(content, str):
        return [{"type": "text", "text": content}]
    return content if isinstance(content, list) else []


def _tell(message: Message, record: Mapping[str, Any], recalls: set[str]) -> None:
    role = _ROLES[record["role"]]
    if role == "user":
        _tell_user(message, blocks_text(_content(record)))
    for block in _content(record):
        if not isinstance(block, dict):
            continue
        if block.get("type") == "text" and role != "user":
            message.say(role, text_of(block, "text").strip().removesuffix(_HIDDEN))
        elif block.get("type") == "tool_use":
            name = text_of(block, "name").partition("\n")[0]
            call = tool_call(name, block.get("input"), text_of(block, "id"))
            message.call(call)
            if asks_recall(call):
                recalls.add(text_of(block, "id"))
        elif block.get("type") == "tool_result":
            content = block.get("content")
            text = blocks_text(content) if isinstance(content, list) else plain(content)
            ours = text_of(block, "tool_use_id") in recalls - {""}
            result = ToolResult(text_of(block, "tool_use_id"), told(block, "is_error"))
            message.output(text, ours=ours, result=result)


def _tell_user(message: Message, text: str) -> None:
    before, mark, rest = text.partition(_OPEN)
    if not mark:
        typed = _WRAPPED.sub("", text).replace(_IMAGE, "").strip()
        if typed:
            message.say("user", typed)
        wrapped = "\n".join(match[0] for match in _WRAPPED.finditer(text))
        message.say("injected", _TIME.sub("", wrapped).strip())
        return
    typed, _, after = rest.rpartition(_CLOSE) if _CLOSE in rest else (rest, "", "")
    machine = typed.strip().startswith(_MACHINE_STARTS)
    message.say("injected" if machine else "user", clean(typed.strip()))
    message.say("injected", _TIME.sub("", f"{before}\n{after}").strip())


@dataclass(frozen=True)
class _Text:
    """The turns of a transcript that is plain text, as lines of the later form."""

    path: Path

    def __iter__(self) -> Iterator[Mapping[str, Any]]:
        turns = 0
        role = ""
        said: list[str] = []
        with opened(self.path) as stream:
            for raw in stream:
                line = decode(raw.removeprefix(BOM) if not turns else raw).rstrip("\r\n")
                if line.strip() not in ("user:", "assistant:"):
                    said.append(line)
                    continue
                if role:
                    yield _turn(turns, role, said)
                turns, role, said = turns + 1, line.strip().rstrip(":"), []
        if role:
            yield _turn(turns, role, said)


def _turn(number: int, role: str, said: list[str]) -> dict[str, Any]:
    blocks: list[Any] = [{"type": "text", "text": "\n".join(said).strip()}]
    if role == "assistant":
        blocks = list(_blocks(said))
    return {"turn": number, "role": role, "message": {"content": blocks}}


def _blocks(said: list[str]) -> Iterator[dict[str, Any]]:
    """Cut an answer at its marks; what belongs to a mark is indented, or blank."""
    kind, name, body = "", "", list[str]()
    for line in [*said, "[Thinking]"]:
        mark = _MARK.fullmatch(line.strip())
        if mark is None and (not kind or not line.strip() or line[0].isspace()):
            body.append(line)
            continue
        text = "\n".join(body).strip()
        if kind == "Tool call":
            yield {"type": "tool_use", "name": name, "input": _given(text)}
        elif text:
            kinds = {"Tool result": "tool_result", "Thinking": "thinking"}
            yield {"type": kinds.get(kind, "text"), "content" if kind else "text": text}
        kind, name = (mark[1], mark[2]) if mark else ("", "")
        body = [] if mark else [line]
        if kind == "Thinking":
            body.append(name)


def _given(text: str) -> object:
    """Return a call's arguments: JSON, lines of `name=value`, or text."""
    value = parse_json(text)
    if isinstance(value, dict):
        return value
    pairs = [line.partition("=") for line in text.splitlines() if line.strip()]
    if all(mark and name.strip().isidentifier() for name, mark, _ in pairs):
        return {name.strip(): value.strip() for name, _, value in pairs}
    return text


def _before(text: str) -> str:
    """Return what Cursor put before the prompt; a time in the prompt is the user's."""
    return text.partition(_OPEN)[0]


def _time(text: str) -> str:
    found = _TIME.search(text)
    if found is None:
        return ""
    month, day, year, hour, minute, half, sign, hours, minutes = found.groups()
    offset = timedelta(hours=int(hours or 0), minutes=int(minutes or 0))
    try:
        moment = datetime(
            int(year),
            _MONTHS.index(month) + 1,
            int(day),
            int(hour) % 12 + (12 if half == "P" else 0),
            int(minute),
            tzinfo=timezone(-offset if sign == "-" else offset),
        )
    except ValueError:
        return ""
    return moment.isoformat(timespec="minutes")
