"""Gemini CLI sessions, from 2025 on.

Owns what a Gemini CLI record means. Forms known: one JSON document a session
(`chats/session-*.json`, 2025), and JSON lines (2026): a first line with the
session's own fields, messages, `{"$set": {…}}` for changed fields, and
`{"$rewindTo": "<id>"}`. A message that is written again replaces the one of the
same id. `$set` may bring a whole new list of messages: that is the history as it
was compressed or masked, and only what it adds is told.

A document is archived as its JSON lines would be: first its own fields, then its
messages. What a person rewound stays, in the archive and in search, for what was
tried and given up is knowledge too. The project is named by a hash only.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from knowrepo.sessions.lines import Line
from knowrepo.sessions.readers.base import (
    BaseReader,
    Keys,
    asks_recall,
    plain,
    safe_id,
    tool_call,
    unreadable,
)
from knowrepo.sessions.readers.message import Message
from knowrepo.sessions.readers.values import (
    clean,
    iso_time,
    list_of,
    object_of,
    text_of,
)
from knowrepo.sessions.record import Identity, Record, Role, SessionFacts, ToolResult
from knowrepo.sessions.source import Native, Source

# Fields of a document that follow from its messages, and change at every save.
_DERIVED = frozenset({"messages", "lastUpdated", "memoryScratchpad"})
_SUMMARY = "<state_snapshot>"
_FILES = "--- Content from referenced files ---"
# How what the agent itself puts into a user's turn begins.
_MACHINE_STARTS = (
    "<session_context>",
    "<hook_context>",
    "This is the Gemini CLI. We are setting up the context",
    "Here is the user's editor context",
    "Here is a summary of changes in the user's editor context",
    "System: ",
)
_FAILED = {"error": True, "success": False}  # by a call's status; others were not carried out
_CONTINUE = "Please continue."  # what the agent says for the user


def project_hash(path: str) -> str:
    """Return how Gemini CLI names the project in the folder ``path``."""
    return hashlib.sha256(path.encode("utf-8", "surrogatepass")).hexdigest()


class GeminiReader(BaseReader):
    """The reader for Gemini CLI."""

    agent = "gemini"

    def recognises(self, records: Sequence[Mapping[str, Any]]) -> bool:
        """See `Reader.recognises`."""
        return any(_is_gemini(record) for record in records)

    def unpack(self, source: Source) -> Iterable[Native] | None:
        """See `Reader.unpack`: the one document that a session was in 2025."""
        document = source.document
        if not isinstance(document, dict) or not _is_document(document):
            return None
        session = safe_id(text_of(document, "sessionId"))
        return [Native(session, list(_records(document)), parent=_parent(source.path))]

    def record_id(self, record: Mapping[str, Any]) -> str:
        """See `Reader.record_id`."""
        return text_of(record, "id") or (text_of(record, "sessionId") if _is_own(record) else "")

    def session_id(self, record: Mapping[str, Any]) -> str:
        """See `Reader.session_id`."""
        given = record if _is_own(record) else object_of(record, "$set")
        return safe_id(text_of(given, "sessionId"))

    def identity(self, path: Path, first: str, last: str, parent: str) -> Identity:  # noqa: ARG002
        """See `Reader.identity`: a sub-agent's file lies in a folder named after its parent."""
        return Identity(last, _parent(path))

    def time(self, record: Mapping[str, Any]) -> str:
        """See `BaseReader.time`."""
        return iso_time(record.get("timestamp")) or iso_time(record.get("startTime"))

    def title(self, record: Mapping[str, Any]) -> str:
        """See `BaseReader.title`."""
        given = record if _is_own(record) else object_of(record, "$set")
        return text_of(given, "summary")

    def folder(self, record: Mapping[str, Any]) -> str:
        """See `Reader.folder`: the one of the session's folders that its hash names."""
        named = text_of(record, "projectHash")
        folders = (clean(f) for f in list_of(record, "directories") if isinstance(f, str))
        return next((folder for folder in folders if project_hash(folder) == named), "")

    def folder_hash(self, record: Mapping[str, Any]) -> str:
        """See `Reader.folder_hash`."""
        return text_of(record, "projectHash") if _is_own(record) else ""

    def facts(self, lines: Iterable[Line], name: str) -> SessionFacts:
        """See `Reader.facts`."""
        facts = super().facts(lines, name)
        is_sub_agent = any((line.record or {}).get("kind") == "subagent" for line in lines)
        return replace(facts, sub_agent=is_sub_agent)

    def read(self, lines: Iterable[Line]) -> Iterator[Record]:
        """See `Reader.read`. Of a message that was written again, the last is given."""
        last, answered = _survey(lines)
        keys = Keys()
        added: set[str] = set()
        for index, line in enumerate(lines):
            record = line.record
            if record is None or last.get(text_of(record, "id"), index) != index:
                continue
            key = keys.key(self.record_id(record), line.raw)
            message = Message(key, line, time=self.time(record))
            if _is_message(record):
                _tell(message, record, answered=set())
            yield from message.records()
            for new in list_of(object_of(record, "$set"), "messages"):
                name = text_of(new, "id") if isinstance(new, dict) else ""
                if name and name not in last and name not in added:
                    added.add(name)
                    message = Message(keys.key(name, b""), line, time=self.time(new))
                    _tell(message, new, answered=answered, machine=True)
                    yield from message.records()


def _is_gemini(record: Mapping[str, Any]) -> bool:
    if isinstance(record.get("$set"), dict) or isinstance(record.get("$rewindTo"), str):
        return True
    return _is_own(record) or (record.get("type") == "gemini" and _is_message(record))


def _is_own(record: Mapping[str, Any]) -> bool:
    """Say whether a record holds the session's own fields."""
    return bool(text_of(record, "sessionId") and text_of(record, "projectHash"))


def _is_message(record: Mapping[str, Any]) -> bool:
    return bool(text_of(record, "id")) and "content" in record


def _is_document(document: Mapping[str, Any]) -> bool:
    messages = document.get("messages")
    if not isinstance(messages, list) or not text_of(document, "sessionId"):
        return False
    return "projectHash" in document or any(
        isinstance(message, dict) and message.get("type") == "gemini" for message in messages
    )


def _parent(path: Path) -> str:
    """Return the session that a file in `chats/<session>/` belongs to."""
    folder = path.absolute().parent
    return safe_id(folder.name) if folder.parent.name == "chats" else ""


def _records(document: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    yield {name: value for name, value in document.items() if name not in _DERIVED}
    for message in document["messages"]:
        yield message if isinstance(message, dict) else unreadable(plain(message))


def _survey(lines: Iterable[Line]) -> tuple[dict[str, int], set[str]]:
    """Return where each message stands last, and the ids of calls whose output is told."""
    last: dict[str, int] = {}
    answered: set[str] = set()
    for index, line in enumerate(lines):
        record = line.record or {}
        if _is_message(record):
            last[text_of(record, "id")] = index
            answered.update(text_of(call, "id") for call in _objects(record.get("toolCalls")))
    return last, answered


def _tell(
    message: Message, record: Mapping[str, Any], *, answered: set[str], machine: bool = False
) -> None:
    """Say what a message says. ``machine``: it stands in a history that the agent rewrote."""
    kind = record.get("type")
    parts = _parts(record.get("content"))
    if kind == "gemini":
        calls = _objects(record.get("toolCalls"))
        known = answered | {text_of(call, "id") for call in calls}
        _tell_parts(message, parts, "injected" if machine else "assistant", known)
        for call in calls:
            _tell_call(message, call)
    elif kind == "user":
        shown = _parts(record.get("displayContent"))
        if shown:
            _tell_parts(message, shown, "user", answered)
            seen = {part.get("text") for part in shown if isinstance(part.get("text"), str)}
            beside = [part for part in parts if _text(part) not in seen]
            _tell_parts(message, beside, "injected", answered)
        else:
            _tell_user(message, parts, answered, machine=machine)
    else:  # info, warning, error: the agent's own words to its user
        _tell_parts(message, parts, "system", answered)


def _tell_user(
    message: Message, parts: list[Mapping[str, Any]], answered: set[str], *, machine: bool
) -> None:
    in_files = False
    for part in parts:
        text = _text(part)
        typed, mark, rest = text.partition(_FILES)
        if in_files or not mark:
            role: Role = "injected" if in_files or machine else _role(text)
            _tell_parts(message, [part], "summary" if _SUMMARY in text else role, answered)
        else:
            in_files = True
            message.say(_role(typed), typed)
            message.say("injected", mark + rest)


def _role(text: str) -> Role:
    start = text.strip()
    machine = start.startswith(_MACHINE_STARTS) or start == _CONTINUE
    return "injected" if machine else "user"


def _tell_parts(
    message: Message, parts: list[Mapping[str, Any]], role: Role, answered: set[str]
) -> None:
    for part in parts:
        if part.get("thought") is not True:
            message.say(role, _text(part))
        called = object_of(part, "functionCall")
        if called and text_of(called, "id") not in answered:
            message.call(
                tool_call(text_of(called, "name"), called.get("args"), text_of(called, "id"))
            )
        answer = object_of(part, "functionResponse")
        if answer and text_of(answer, "id") not in answered:
            message.output(_output(part), result=ToolResult(text_of(answer, "id")))


def _tell_call(message: Message, call: Mapping[str, Any]) -> None:
    named = tool_call(text_of(call, "name"), call.get("args"), text_of(call, "id"))
    message.call(named)
    parts = _parts(call.get("result"))
    text = "\n".join(filter(None, map(_output, parts)))
    shown = call.get("resultDisplay")
    if not text and isinstance(shown, str):
        text = clean(shown)
    result = ToolResult(named.id, _FAILED.get(text_of(call, "status")))
    message.output(text, ours=asks_recall(named), result=result)


def _output(part: Mapping[str, Any]) -> str:
    answer = object_of(part, "functionResponse").get("response")
    if isinstance(answer, dict):
        for name in ("output", "error", "content", "llmContent"):
            if text := plain(answer.get(name)):
                return text
    return plain(answer) or _text(part)


def _text(part: Mapping[str, Any]) -> str:
    return text_of(part, "text")


def _parts(content: object) -> list[Mapping[str, Any]]:
    """Return the parts of content, which is a text, a part, or a list of both."""
    items = content if isinstance(content, list) else [content]
    return [{"text": item} if isinstance(item, str) else item for item in items
            if isinstance(item, str | dict)]  # fmt: skip


def _objects(value: object) -> list[Mapping[str, Any]]:
    return [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []
