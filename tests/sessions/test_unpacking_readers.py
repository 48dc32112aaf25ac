"""What must hold for every reader of documents, databases and Markdown."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from knowrepo.sessions.lines import Line
from knowrepo.sessions.readers import recognise
from knowrepo.sessions.readers.aider import AiderReader
from knowrepo.sessions.readers.base import (
    safe_id,
)
from knowrepo.sessions.readers.cursor import CursorReader
from knowrepo.sessions.readers.gemini import GeminiReader
from knowrepo.sessions.readers.kiro import KiroReader
from knowrepo.sessions.readers.opencode import OpenCodeReader
from knowrepo.sessions.record import Reader
from knowrepo.sessions.source import Source, as_lines
from unpacking import lines_of

READERS: list[Reader] = [
    AiderReader(), CursorReader(), GeminiReader(), KiroReader(), OpenCodeReader(),
]  # fmt: skip

# Every field that a reader looks at.
NAMES = st.sampled_from(
    "id type sessionId projectHash startTime lastUpdated timestamp content displayContent messages "
    "toolCalls result resultDisplay functionResponse functionCall response output error args name "
    "text thought kind summary directories $set $rewindTo info parts role sessionID parentID time "
    "created completed updated state status input metadata tool synthetic ignored prompt directory "
    "path cwd title user assistant Response ToolUse Prompt ToolUseResults CancelledToolUses "
    "tool_use_results tool_use_id tool_uses message_id request_metadata stream_end_timestamp_ms "
    "env_context env_state current_working_directory additional_context conversation_id history "
    "latest_summary transcript tangent_state main_history next_message data meta toolUseId message "
    "working_directory Text Json stdout stderr aider_started session agent command".split()
)
VALUES = st.sampled_from([
    "user", "assistant", "gemini", "text", "tool", "tool_use", "tool_result", "toolUse", "Prompt",
    "toolResult", "ToolResults", "AssistantMessage", "compaction", "shell", "subtask", "y", "", "x",
    "know.unreadable", "kiro", "\ud83d", "<user_query>", "> ", "<timestamp>", "know recall x",
    "--- Content from referenced files ---", "a\x00b",
])  # fmt: skip
LEAVES = (
    VALUES | st.none() | st.booleans() | st.integers() | st.floats() | st.just(10**400) | st.text()
)
ANY = st.recursive(
    LEAVES,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(NAMES, inner, max_size=5),
    max_leaves=25,
)
RECORD = st.dictionaries(NAMES, ANY, min_size=1, max_size=6)


@pytest.mark.parametrize("reader", READERS, ids=lambda reader: reader.agent)
@given(records=st.lists(RECORD, max_size=4))
@settings(suppress_health_check=[HealthCheck.too_slow], deadline=None, max_examples=40)
def test_no_field_of_any_type_is_an_error(reader: Reader, records: list[dict[str, Any]]):
    lines = list(as_lines(records))
    reader.recognises(records)
    for record in records:
        assert isinstance(reader.record_id(record), str)
        assert isinstance(reader.rank(record), str)
        assert isinstance(reader.parent_id(record), str)
        assert isinstance(reader.folder(record), str)
        session = reader.session_id(record)
        assert session == safe_id(session)
    told = list(reader.read(lines))
    assert len({record.key for record in told}) == len(told)
    reader.facts(lines, "name")
    for record in told:
        (record.text + record.key + record.time + record.parent).encode()


BLOCK = {"type": "tool_use", "id": "t", "name": "x", "input": {"command": "know recall x"}}
RESULT = {"tool_use_id": "t", "content": [{"Text": "x"}, {"Json": {"stdout": "y"}}]}
ANSWER = {"functionResponse": {"id": "c", "response": {"output": "x"}}}
WHOLE: list[dict[str, Any]] = [
    {"role": "user", "message": {"content": [{"type": "text", "text": "<user_query>x"}]}},
    {"role": "assistant", "message": {"content": [BLOCK, {"type": "text", "text": "x"}]}},
    {"role": "user", "message": {"content": [{"type": "tool_result", "content": [BLOCK]}]}},
    {"sessionId": "x", "projectHash": "y", "directories": ["/a"], "summary": "z"},
    {"id": "m", "type": "user", "content": [{"text": "x"}], "displayContent": [{"text": "y"}]},
    {"id": "n", "type": "gemini", "content": "x", "toolCalls": [
        {"id": "c", "name": "x", "args": {"path": "y"}, "result": [ANSWER]}]},
    {"$set": {"messages": [{"id": "o", "type": "user", "content": [ANSWER, {"text": "x"}]}]}},
    {"info": {"id": "s", "title": "x", "directory": "/a", "time": {"created": 1}}},
    {"info": {"id": "m", "sessionID": "s", "role": "user", "time": {"created": 1}}, "parts": [
        {"type": "text", "text": "x"}, {"type": "tool", "tool": "x", "state": {
            "status": "error", "input": {"command": "x"}, "metadata": {"output": "y"}}}]},
    {"type": "assistant", "id": "e", "content": [{"type": "tool", "name": "x", "state": {
        "input": {}, "content": [{"type": "text", "text": "x"}]}}]},
    {"user": {"content": {"Prompt": {"prompt": "x"}}, "timestamp": "x"},
     "assistant": {"ToolUse": {"message_id": "a", "content": "x", "tool_uses": [
         {"id": "t", "name": "x", "args": {"command": "x"}}]}}},
    {"user": {"content": {"ToolUseResults": {"tool_use_results": [RESULT]}}},
     "assistant": {"Response": {"message_id": "a", "content": "x"}}},
    {"kind": "ToolResults", "data": {"message_id": "r", "content": [
        {"kind": "toolResult", "data": {"toolUseId": "t", "content": [
            {"kind": "text", "data": "x"}]}}, {"kind": "toolUse", "data": {"name": "x"}}]}},
    {"latest_summary": ["x", {}]},
    {"transcript": "> x"},
    {"aider_started": "x", "session": "y"},
    {"id": "turn-1", "role": "user", "text": "x"},
]  # fmt: skip


def changed(value: Any, steps: list[int], new: Any) -> Any:
    """Return ``value`` with what the steps lead to replaced by ``new``."""
    if not steps or not value or not isinstance(value, dict | list):
        return new
    step, rest = steps[0] % len(value), steps[1:]
    if isinstance(value, list):
        return [changed(v, rest, new) if i == step else v for i, v in enumerate(value)]
    return {k: changed(v, rest, new) if i == step else v for i, (k, v) in enumerate(value.items())}


@pytest.mark.parametrize("reader", READERS, ids=lambda reader: reader.agent)
@given(steps=st.lists(st.integers(0, 9), min_size=2, max_size=8), new=ANY)
@settings(deadline=None, max_examples=100)
def test_no_change_of_one_field_is_an_error(reader: Reader, steps: list[int], new: Any):
    records = changed(WHOLE, [sum(steps), *steps[1:]], new)
    records = [record for record in records if isinstance(record, dict)]
    reader.recognises(records)
    for record in records:
        reader.record_id(record)
        reader.rank(record)
        reader.session_id(record)
    lines = list(as_lines(records))
    list(reader.read(lines))
    reader.facts(lines, "name")


@pytest.mark.parametrize("reader", READERS, ids=lambda reader: reader.agent)
def test_no_depth_is_an_error(reader: Reader):
    for name in ("content", "info", "parts", "state", "input", "user", "assistant", "args", "time"):
        deep: Any = "x"
        for _ in range(400):
            deep = {name: [deep]}
        records = [changed(record, [0, step], deep) for record in WHOLE for step in range(9)]
        lines = [Line(1, b"{}", record) for record in records if isinstance(record, dict)]
        list(reader.read(lines))
        for line in lines:
            reader.rank(line.record or {})


@pytest.mark.parametrize("reader", READERS, ids=lambda reader: reader.agent)
@given(record=RECORD)
@settings(suppress_health_check=[HealthCheck.too_slow], deadline=None, max_examples=40)
def test_every_record_is_told_with_its_line_and_bytes(reader: Reader, record: dict[str, Any]):
    lines = lines_of([{"first": 1}, record])
    told = list(reader.read(lines))
    assert [(r.line, r.start, r.end) for r in told if r.line == 2]
    assert all((r.start, r.end) == (lines[1].start, lines[1].end) for r in told if r.line == 2)


@given(document=ANY | RECORD)
@settings(
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture],
    deadline=None,
    max_examples=60,
)
def test_no_document_is_an_error(tmp_path, document: object):
    path = tmp_path / "any.json"
    path.write_bytes(json.dumps(document, indent=1).encode())
    found = recognise(Source(path))
    for session in (found.sessions if found else None) or ():
        lines = list(as_lines(session.records))
        list(found.reader.read(lines))
        found.reader.facts(lines, session.id)


@pytest.mark.parametrize(
    ("given_id", "kept"),
    [
        ("ses_4f0000000ffeAbCd", True), ("20260609T140100-ab", True), ("a.b", True),
        ("a.1", False), ("../etc", False), (".hidden", False), ("a b", False), ("é", False),
        ("x" * 129, False), ("a\0b", False),
    ],
)  # fmt: skip
def test_an_id_may_always_name_a_file(given_id: str, kept: bool):
    safe = safe_id(given_id)
    assert (safe == given_id) is kept
    assert safe_id(safe) == safe
    assert safe


def test_ids_that_differ_stay_different():
    assert len({safe_id(name) for name in ("a b", "a/b", "a.1", "a-1", "a..1")}) == 5
    assert safe_id("") == ""
