"""Where Kiro CLI keeps its conversations, and the form that they are archived in.

Owns the three places: the JSON conversation (what `/chat save` writes, and a value
of the database), whose history holds entries, in early versions of Amazon Q pairs;
the database `data.sqlite3` with the tables conversations_v2 (several conversations
a folder) and conversations (one); and the JSON lines in `~/.kiro/sessions/cli`, with
a file beside each that holds the session's own fields.

A conversation is archived as its own fields, the summary of what was compacted,
and one record an entry. Left out is the agent's own state: tool definitions, model,
context files, trackers; and the readable transcript, but where the history was
compacted: there it may be the only copy of what was said before. What records mean
is `kiro`'s.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import chain
from pathlib import Path
from typing import Any

from knowrepo.sessions.database import Database, tables, text_value
from knowrepo.sessions.lines import BOM, decode, read_lines
from knowrepo.sessions.readers.base import (
    parse_json,
    plain,
    safe_id,
    unreadable,
)
from knowrepo.sessions.readers.values import (
    list_of,
    object_of,
    text_of,
)
from knowrepo.sessions.source import COMPRESSED, Native, Source, opened
from knowrepo.sessions.source import plain as plain_path

AGENT = "kiro"
TOOLS = re.compile(r"\n?\[Tool uses: [^\n]*\]\s*$")
"""What the transcript puts under an answer."""
_OWN_STATE = frozenset({
    "history", "transcript", "next_message", "latest_summary", "tangent_state",
    "valid_history_range", "context_message_length", "user_turn_metadata", "tools",
    "context_manager", "file_line_tracker", "model", "model_info", "checkpoint_manager",
    "mcp_enabled", "mcp_last_checked", "mcp_registry_url", "mcp_registry_cache",
    "mcp_server_versions", "mcp_registry_error_type", "mcp_disabled_due_to_api_failure",
})  # fmt: skip
_KINDS = frozenset({"Prompt", "AssistantMessage", "ToolResults"})
_NEEDED = {
    "conversations_v2": frozenset({"key", "conversation_id", "value"}),
    "conversations": frozenset({"key", "value"}),
}
_LOOKED_AT = 20  # rows of the older table, whose columns could be anybody's


def conversations_in(source: Source) -> Iterable[Native] | None:
    """Return the conversations of a source; None where it is not Kiro's."""
    if source.is_database:
        database = _opened(source.path)
        return None if database is None else _from_database(database)
    records = [line.record for line in source.first_lines if line.record is not None]
    if any(map(is_line, records)):
        return _from_lines(source.path)
    document = source.document
    if not isinstance(document, dict) or not _is_conversation(document):
        return None
    return [_native(document, {})]


def variant(value: object) -> Mapping[str, Any]:
    """Return the fields of an enum that is written `{"Name": {…}}`."""
    if not isinstance(value, dict):
        return {}
    inner = next(iter(value.values()), None)
    if len(value) == 1 and isinstance(inner, str):
        return {"prompt": inner, "content": inner}
    return inner if len(value) == 1 and isinstance(inner, dict) else value


def unquoted(said: str) -> str:
    """Return what a user said without the transcript's quote marks."""
    return re.sub(r"(?m)^> ?|> $", "", said) if said.startswith(">") else said


def is_line(record: Mapping[str, Any]) -> bool:
    """Say whether a record is a line of `~/.kiro/sessions/cli`."""
    kind = record.get("kind")
    data = record.get("data")
    return isinstance(kind, str) and kind in _KINDS and isinstance(data, dict) and "content" in data


def _is_conversation(document: Mapping[str, Any]) -> bool:
    return bool(text_of(document, "conversation_id")) and isinstance(document.get("history"), list)


def _native(document: Mapping[str, Any], own: Mapping[str, Any]) -> Native:
    return Native(safe_id(text_of(document, "conversation_id")), _Conversation(document, own))


@dataclass(frozen=True)
class _Conversation:
    """The records of a conversation; they can be gone through more than once."""

    document: Mapping[str, Any]
    own: Mapping[str, Any]

    def __iter__(self) -> Iterator[Mapping[str, Any]]:
        kept = {name: v for name, v in self.document.items() if name not in _OWN_STATE}
        yield {**kept, **self.own}
        entries = list(_entries(self.document))
        if self.document.get("latest_summary"):
            yield {"latest_summary": self.document["latest_summary"]}
            yield from _forgotten(list_of(self.document, "transcript"), entries)
        yield from entries


def _entries(document: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    # In a tangent, what was said before it stands in the history as well.
    before = list_of(object_of(document, "tangent_state"), "main_history")
    history = list_of(document, "history")
    known = set(map(plain, history)) if before else set()
    for entry in chain((e for e in before if plain(e) not in known), history):
        if isinstance(entry, dict):
            yield entry
        elif isinstance(entry, list) and len(entry) == 2:
            yield {"user": entry[0], "assistant": entry[1]}
        else:
            yield unreadable(plain(entry), agent=AGENT)
    if isinstance(document.get("next_message"), dict):
        yield {"user": document["next_message"]}


def _forgotten(transcript: list[Any], entries: list[dict[str, Any]]) -> Iterator[dict[str, str]]:
    """Yield what the transcript holds and the compacted history does not."""
    known = set()
    for entry in entries:
        content = object_of(entry, "user").get("content")
        known.add(_bare(plain(variant(content).get("prompt"))))
        known.add(_bare(plain(variant(entry.get("assistant")).get("content"))))
    for said in transcript:
        if isinstance(said, str) and _bare(unquoted(TOOLS.sub("", said))) not in known:
            yield {"transcript": said}


def _bare(text: str) -> str:
    return "".join(text.split())


def _from_lines(path: Path) -> Iterable[Native] | None:
    """Return the session of JSON lines beside which a file holds its own fields."""
    side = _side(path)
    if side == path or not side.is_file():
        return None
    with opened(side) as stream:
        fields = parse_json(decode(stream.read().removeprefix(BOM)))
    if not isinstance(fields, dict) or not text_of(fields, "session_id"):
        return None
    names = ("session_id", "cwd", "title", "created_at")
    own = {name: fields[name] for name in names if isinstance(fields.get(name), str)}
    # The title comes later than the lines, and may change without them.
    return [Native(safe_id(own["session_id"]), _Lines(path, own), elsewhere=True)]


def lacks_own_fields(source: Source) -> bool:
    """Say whether JSON lines are as Kiro wrote them, with no file beside them yet.

    Without it nobody knows where the session worked.
    """
    first = next((line.record for line in source.first_lines if line.record is not None), {})
    return is_line(first) and plain_path(source.path).suffix == ".jsonl"


def _side(path: Path) -> Path:
    """Return the file beside JSON lines."""
    side = plain_path(path).with_suffix(".json")
    names = (side, *(side.with_name(side.name + end) for end in COMPRESSED))
    return next((name for name in names if name.is_file()), side)


@dataclass(frozen=True)
class _Lines:
    path: Path
    own: Mapping[str, str]

    def __iter__(self) -> Iterator[Mapping[str, Any]]:
        yield self.own
        with opened(self.path) as stream:
            for line in read_lines(stream):
                if line.record is not None:
                    yield line.record
                elif not line.pending:
                    yield unreadable(decode(line.raw), agent=AGENT)


def _opened(path: Path) -> Database | None:
    """Return the database at ``path``, or None where it is neither Kiro's nor Amazon Q's."""
    if tables(path).isdisjoint(_NEEDED):
        return None
    database = Database(path)
    found = [table for table, needed in _NEEDED.items() if database.columns(table) >= needed]
    if found == ["conversations"]:
        query = "SELECT value FROM conversations LIMIT ?"
        values = (parse_json(text_value(row["value"])) for row in database.all(query, _LOOKED_AT))
        return (
            database if any(isinstance(v, dict) and _is_conversation(v) for v in values) else None
        )
    return database if found else None


def _from_database(database: Database) -> Iterator[Native]:
    newer: set[str] = set()
    for table, needed in _NEEDED.items():
        if not database.columns(table) >= needed:
            continue
        for row in database.all(f"SELECT rowid AS number FROM {table} ORDER BY rowid"):
            found = database.all(f"SELECT * FROM {table} WHERE rowid = ?", row["number"])
            native = _from_row(found[0]) if found else None
            if native is None or (table == "conversations" and native.id in newer):
                continue
            newer.add(native.id)
            yield native


def _from_row(row: Mapping[str, Any]) -> Native | None:
    text = text_value(row["value"])
    own: dict[str, Any] = {}
    if key := text_value(row["key"]):
        own["directory"] = key
    if isinstance(row.get("created_at"), int):
        own["created_at"] = row["created_at"]
    document = parse_json(text)
    named = text_value(row.get("conversation_id"))
    if isinstance(document, dict):
        document = {"conversation_id": named, **document}
        if _is_conversation(document):
            return replace(_native(document, own), stamp=_digest(text))
    if not text.strip("{} \n"):
        return None  # a conversation without anything in it
    own["conversation_id"] = safe_id(named) or "unreadable-" + _digest(text)
    return Native(own["conversation_id"], [{**own, **unreadable(text, agent=AGENT)}])


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:16]
