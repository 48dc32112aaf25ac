from __future__ import annotations

import io

from helpers import assistant, jsonl, tool_call, tool_result, user
from knowrepo.sessions.lines import read_lines
from knowrepo.sessions.readers.claude import ClaudeReader
from knowrepo.sessions.record import Record, SessionFacts

READER = ClaudeReader()


def read(*records: dict) -> list[Record]:
    return list(READER.read(list(read_lines(io.BytesIO(jsonl(records))))))


def facts(*records: dict, name: str = "x") -> SessionFacts:
    lines = list(read_lines(io.BytesIO(jsonl(records))))
    return READER.facts(lines, name)


def roles(*records: dict) -> list[tuple[str, str]]:
    return [(record.role, record.text) for record in read(*records)]


def test_who_said_what():
    assert roles(user("hello"), assistant("hi")) == [("user", "hello"), ("assistant", "hi")]


def test_a_tool_call_has_a_name_and_the_argument_that_says_most():
    (record,) = read(tool_call("Bash", 1, description="List", command="ls -la"))
    assert [(call.name, call.argument) for call in record.calls] == [("Bash", "ls -la")]


def test_tool_output_is_the_tools_in_every_form():
    parts = [{"type": "text", "text": "two"}, {"type": "tool_reference", "tool_name": "x"}]
    block = {"type": "tool_result", "tool_use_id": "toolu_9", "content": parts}
    assert roles(tool_result("one", 1, 9), user([block])) == [("tool", "one"), ("tool", "two")]


def test_empty_and_odd_content_does_no_harm():
    odd = [
        user(None), user([]), user(""), user([None, 3, {"type": "text"}]), assistant([]),
        {"type": "brand-new", "uuid": "n", "sessionId": "s", "payload_of": 1},
        {"type": "user", "uuid": "m", "sessionId": "s"},
        {"type": "assistant", "uuid": "k", "sessionId": "s", "message": "text"},
        {"type": ["x"], "uuid": {}, "sessionId": 3, "timestamp": [], "cwd": {}},
        {"type": "attachment", "attachment": {"type": "queued_command", "commandMode": []}},
        user([{"type": "tool_result", "tool_use_id": ["x"]}]),
        assistant([{"type": "tool_use", "name": [], "input": {"command": 3}, "id": {}}]),
    ]  # fmt: skip
    assert [text for _, text in roles(*odd)] == [""] * len(odd)


def test_a_compaction_summary_and_injected_text_are_not_a_users():
    records = [
        user("This session is being continued…", isCompactSummary=True),
        user("Caveat", isMeta=True),
        user("[Request interrupted by user]"),
        user("<local-command-stdout>done</local-command-stdout>"),
        {"type": "summary", "summary": "About hooks", "leafUuid": "x"},
    ]
    assert [role for role, _ in roles(*records)] == [
        "summary", "injected", "injected", "injected", "summary",
    ]  # fmt: skip


def test_what_the_agent_wraps_around_a_prompt_is_taken_off():
    text = (
        "<ide_opened_file>the file /a</ide_opened_file>why is it slow?"
        "<system-reminder>be\nbrief</system-reminder>"
    )
    assert roles(user(text)) == [("user", "why is it slow?")]


def test_input_typed_while_the_agent_worked_is_a_users_and_given_once():
    queue = {
        "type": "queue-operation",
        "operation": "enqueue",
        "content": "look at this",
        "sessionId": "s",
    }
    removed = {**queue, "operation": "remove"}
    attachment = {
        "type": "attachment", "uuid": "q", "sessionId": "s",
        "attachment": {"type": "queued_command", "prompt": "look at this", "commandMode": "prompt"},
    }  # fmt: skip
    said = [("user", "look at this")]
    only = [pair for pair in roles(queue, removed, attachment) if pair[1]]
    assert only == said
    assert [pair for pair in roles(queue, removed, user("look at this")) if pair[1]] == said
    assert [pair for pair in roles(queue, removed) if pair[1]] == said
    assert [pair for pair in roles(queue, queue) if pair[1]] == said * 2


def test_what_recall_printed_is_not_recalled_again():
    records = [
        tool_call("Bash", 1, command="know recall 'secrets'"),
        tool_result("[a3f2] concepts/x | Secrets", 2, 1),
        tool_result("other output", 3, 7),
    ]
    assert [record.role for record in read(*records)] == ["assistant", "injected", "tool"]


def test_the_same_id_twice_gives_two_keys():
    first, second = read(user("a", 1), user("b", 1))
    assert (first.key, second.key) == ("u-1", "u-1\0002")


def test_what_is_typed_beside_a_tools_result_is_a_users():
    block = {"type": "tool_result", "tool_use_id": "toolu_9", "content": "out"}
    said = user([block, {"type": "text", "text": "and stop there"}])
    assert roles(said) == [("tool", "out"), ("user", "and stop there")]
    assert len({record.key for record in read(said)}) == 2


def test_half_an_emoji_does_no_harm():
    records = [user("cut \ud83d here"), tool_call("Bash", 2, command="x \udcff")]
    for record in read(*records):
        (record.text + "".join(call.argument for call in record.calls)).encode()


def test_facts_sum_a_session_up():
    found = facts(
        {"type": "summary", "summary": "foreign", "leafUuid": "x"},
        user("<command-name>/clear</command-name>", 1),
        user("\n  Why is it slow?\nmore", 2),
        {"type": "ai-title", "aiTitle": "First", "sessionId": "s"},
        {"type": "ai-title", "aiTitle": "Slow start", "sessionId": "s"},
    )
    assert (found.title, found.first_user_line) == ("Slow start", "Why is it slow?")
    assert (found.project, found.branch, found.date) == (
        "/home/dev/app", "main", "2026-05-01T10:00:01.000Z",
    )  # fmt: skip


def test_helper_agents_are_told_from_sub_agents():
    assert facts(user("x"), name="agent-acompact-1").helper
    assert facts(user("Warmup"), name="agent-1").helper
    assert facts(user("task"), name="agent-1").sub_agent
    assert not facts(user("task"), name="agent-1").helper


def test_the_format_is_told_by_content():
    assert READER.recognises([{"type": "file-history-snapshot", "snapshot": {}}])
    assert READER.recognises([{"type": "summary", "leafUuid": "x", "summary": ""}])
    codex = {"timestamp": "t", "type": "session_meta", "payload": {"id": "x"}}
    assert not READER.recognises([codex])
    assert not READER.recognises([{"sessionId": "x", "projectHash": "y", "type": "z"}])
    assert not READER.recognises([])
