"""OpenAI Codex CLI rollouts: the envelopes of today and the flat lines of 2025.

Owns what a rollout's line means. Two logs stand interleaved in one file: what
the model was sent and answered (`response_item`), and what the screen showed
(`event_msg`); the same words in both are given once. Every type and field is
open: what is unknown has no text and does no harm.
"""

from __future__ import annotations

import re
from collections import Counter
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
from knowrepo.sessions.readers.codex_items import (
    call_of,
    folder_in,
    has_failed,
    is_injected,
    of_user,
    output_text,
    summary,
    texts,
    typed_text,
)
from knowrepo.sessions.readers.values import (
    digest,
    object_of,
    text_of,
)
from knowrepo.sessions.record import Identity, Record, SessionFacts, ToolResult
from knowrepo.sessions.source import Native, Source

_ENVELOPES = frozenset({"session_meta", "turn_context", "response_item", "event_msg", "compacted"})
_NAME = re.compile(r"rollout-\d{4}-\d\d-\d\d.*?-([0-9a-f]{8}-[0-9a-f-]{27}(?:_[0-9a-f-]{36})?)")
_HOUSEKEEPING = frozenset({"compact", "memory_consolidation"})


class CodexReader(BaseReader):
    """The reader for OpenAI Codex CLI, and for agents that write its rollouts."""

    agent = "codex"

    def recognises(self, records: Sequence[Mapping[str, Any]]) -> bool:
        """See `Reader.recognises`."""
        return any(
            (_kind(record) in _ENVELOPES and isinstance(record.get("payload"), dict))
            or record.get("record_type") == "state"
            or _is_flat_head(record)
            for record in records
        )

    def unpack(self, source: Source) -> Iterable[Native] | None:
        """See `Reader.unpack`: the first rollouts were one JSON document each."""
        document = source.document
        if not isinstance(document, dict) or not isinstance(document.get("items"), list):
            return None
        head = object_of(document, "session")
        if not _is_flat_head(head):
            return None
        items = (item for item in document["items"] if isinstance(item, dict))
        return [Native(text_of(head, "id"), [head, *items])]

    def record_id(self, record: Mapping[str, Any]) -> str:  # noqa: ARG002
        """See `Reader.record_id`: few items have an id, and a call shares its output's."""
        return ""

    def session_id(self, record: Mapping[str, Any]) -> str:
        """See `Reader.session_id`; `session_id` beside it is that of a whole family."""
        if _is_flat_head(record):
            return text_of(record, "id")
        return text_of(_meta(record), "id")

    def parent_id(self, record: Mapping[str, Any]) -> str:
        """See `Reader.parent_id`. A person's fork is a session of its own."""
        meta = _meta(record)
        spawn = object_of(_sub_agent(meta), "thread_spawn")
        named = text_of(spawn, "parent_thread_id")
        return named or (text_of(meta, "parent_thread_id") if _source(meta) else "")

    def identity(self, path: Path, first: str, last: str, parent: str) -> Identity:  # noqa: ARG002
        """See `Reader.identity`: a fork repeats its parent's head after its own."""
        named = _NAME.match(path.name)
        stem = path.name.partition(".")[0]
        found = named[1] if named else stem if UUID.fullmatch(stem) else first
        return Identity(found, parent if parent != found else "")

    def folder(self, record: Mapping[str, Any]) -> str:
        """See `Reader.folder`: the flat lines say it in a text only."""
        if _kind(record) in {"session_meta", "turn_context"}:
            return text_of(object_of(record, "payload"), "cwd")
        if record.get("role") != "user" or "payload" in record:
            return ""
        return next(filter(None, map(folder_in, texts(record))), "")

    def branch(self, record: Mapping[str, Any]) -> str:
        """See `BaseReader.branch`."""
        head = record if _is_flat_head(record) else _meta(record)
        return text_of(object_of(head, "git"), "branch")

    def title(self, record: Mapping[str, Any]) -> str:
        """See `BaseReader.title`."""
        event = object_of(record, "payload") if _kind(record) == "event_msg" else {}
        if event.get("type") != "thread_name_updated":
            return ""
        return text_of(event, "thread_name").strip()

    def tells_sub_agent(self, record: Mapping[str, Any]) -> bool:
        """See `BaseReader.tells_sub_agent`: a review names no parent."""
        return bool(_source(_meta(record)))

    def tells_helper(self, record: Mapping[str, Any]) -> bool:
        """See `BaseReader.tells_helper`."""
        source = _meta(record).get("source")
        if isinstance(source, dict) and "internal" in source:
            return True
        told = _source(_meta(record))
        if isinstance(told, dict):
            return text_of(told, "other").startswith("guardian")
        return isinstance(told, str) and told in _HOUSEKEEPING

    def facts(self, lines: Iterable[Line], name: str) -> SessionFacts:
        """See `Reader.facts`; what a parent's head says is the parent's."""
        return super().facts(_OwnLines(lines), name)

    def read(self, lines: Iterable[Line]) -> Iterator[Record]:
        """See `Reader.read`."""
        return self.records(lines, _Rollout(lines).meanings)


class _OwnLines:
    """The lines of a rollout without the heads of others that it repeats."""

    def __init__(self, lines: Iterable[Line]) -> None:
        self._lines = lines

    def __iter__(self) -> Iterator[Line]:
        own = ""
        for line in self._lines:
            found = text_of(_meta(line.record or {}), "id")
            own = own or found
            if not found or found == own:
                yield line


class _Rollout:
    """One rollout while it is read: what it says twice, and what it repeats of another."""

    def __init__(self, lines: Iterable[Line]) -> None:
        self._own = ""
        self._began = 0  # in milliseconds, where its id says it
        self._start = 0  # the ordinal at which a sub-agent's own history starts
        self._side = False
        self._items: Counter[bytes] = Counter()
        for line in lines:
            self._look(line.record or {})
        self._events: Counter[bytes] = Counter()
        self._recalls = Recalls()
        self._repeating = False

    def _look(self, record: Mapping[str, Any]) -> None:
        meta = _meta(record)
        if meta and not self._own:
            self._own = text_of(meta, "id")
            self._began = _moment(self._own)
            start = meta.get("subagent_history_start_ordinal")
            self._start = start if isinstance(start, int) else 0
            self._side = bool(_source(meta))
        item = _item(record)
        if item.get("role") in ("user", "assistant"):
            text = "".join(text for text in texts(item) if not is_injected(text))
            self._items[digest(text)] += 1
            _, opened, plan = text.partition("<proposed_plan>")
            if opened:
                self._items[digest(plan.partition("</proposed_plan>")[0])] += 1

    def meanings(self, record: Mapping[str, Any]) -> Iterator[Meaning]:
        """Say what a line means."""
        said = self._meaning(record)
        if self._is_repeated(record):
            yield Meaning("injected", said.text, side=self._side)
        else:
            yield said._replace(side=self._side)

    def _is_repeated(self, record: Mapping[str, Any]) -> bool:
        """Say whether a fork, or a sub-agent, has this line from its parent.

        A turn's id says when the turn began: one that is older than the session
        was not its own. Lines between two such ids go with the first.
        """
        meta = _meta(record)
        if meta:
            return text_of(meta, "id") != self._own
        ordinal = record.get("ordinal")
        if isinstance(ordinal, int) and ordinal < self._start:
            return True
        turn = _moment(_turn(record)) if self._began else 0
        if turn:
            self._repeating = turn < self._began
        return self._repeating

    def _meaning(self, record: Mapping[str, Any]) -> Meaning:
        kind = record.get("type")
        payload = object_of(record, "payload")
        if kind == "event_msg":
            return self._event(payload)
        if kind == "compacted":
            return Meaning("summary", summary(payload))
        if kind == "session_meta":
            return Meaning("injected", text_of(object_of(payload, "base_instructions"), "text"))
        if kind == "inter_agent_communication":
            return Meaning("injected", text_of(payload, "content"))
        return self._of_item(_item(record))

    def _event(self, event: Mapping[str, Any]) -> Meaning:
        kind = event.get("type")
        if kind == "user_message":
            typed = text_of(event, "message")
            return self._unless_said(Meaning("user", typed_text(typed)), typed)
        if kind == "agent_message":
            text = text_of(event, "message")
            return self._unless_said(Meaning("assistant", text), text)
        if kind == "item_completed" and object_of(event, "item").get("type") == "Plan":
            text = text_of(object_of(event, "item"), "text")
            return self._unless_said(Meaning("assistant", text), text)
        return NOTHING

    def _unless_said(self, said: Meaning, text: str) -> Meaning:
        """Return ``said``, or nothing where an item holds the same words."""
        name = digest(text)
        self._events[name] += 1
        return NOTHING if self._events[name] <= self._items[name] else said

    def _of_item(self, item: Mapping[str, Any]) -> Meaning:
        kind, role = item.get("type"), item.get("role")
        if role == "user":
            return of_user(texts(item))
        if role == "assistant":
            return Meaning("assistant", "\n".join(texts(item)))
        if role is not None or kind == "agent_message":  # developer, system; of another agent
            return Meaning("injected", "\n".join(texts(item)))
        call_id = text_of(item, "call_id") or text_of(item, "id")
        if kind in ("function_call_output", "custom_tool_call_output"):
            output = item.get("output")
            result = ToolResult(call_id, has_failed(output))
            return Meaning(self._recalls.role(call_id), output_text(output), results=(result,))
        call = call_of(item)
        if call is not None:
            return Meaning("assistant", "", (self._recalls.call(*call, call_id),))
        if _is_flat_head(item):
            return Meaning("injected", text_of(item, "instructions"))
        return NOTHING


def _kind(record: Mapping[str, Any]) -> str:
    return text_of(record, "type")


def _is_flat_head(record: Mapping[str, Any]) -> bool:
    """Tell the first line of a rollout of 2025, which names no type."""
    return (
        "type" not in record
        and isinstance(record.get("id"), str)
        and isinstance(record.get("timestamp"), str)
        and "instructions" in record
    )


def _meta(record: Mapping[str, Any]) -> Mapping[str, Any]:
    return object_of(record, "payload") if record.get("type") == "session_meta" else {}


def _source(meta: Mapping[str, Any]) -> object:
    """Return what a session's head says of the agent that it is a sub-agent of."""
    return object_of(meta, "source").get("subagent")


def _sub_agent(meta: Mapping[str, Any]) -> Mapping[str, Any]:
    return object_of(object_of(meta, "source"), "subagent")


def _item(record: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the item in a line: in its envelope, or in 2025 the line itself."""
    if record.get("type") == "response_item":
        return object_of(record, "payload")
    return {} if "payload" in record else record


def _turn(record: Mapping[str, Any]) -> str:
    payload = object_of(record, "payload")
    for place in ("metadata", "internal_chat_message_metadata_passthrough"):
        if place in payload:
            return text_of(object_of(payload, place), "turn_id")
    return text_of(payload, "turn_id")


def _moment(name: str) -> int:
    """Return the milliseconds in a UUID of version 7; 0 where it is none."""
    if len(name) != 36 or name[14] != "7" or not UUID.fullmatch(name):
        return 0
    return int(name[:8] + name[9:13], 16)
