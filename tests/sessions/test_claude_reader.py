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


def queued(text: str, operation: str = "enqueue", **fields) -> dict:
    return {
        "type": "queue-operation", "operation": operation, "content": text, "sessionId": "s",
        **fields,
    }  # fmt: skip


def spoken(*records: dict) -> list[tuple[str, str]]:
    return [pair for pair in roles(*records) if pair[1]]


def test_what_waited_as_a_slash_command_or_beside_an_editors_note_is_given_once():
    command = "<command-name>/model</command-name>\n  <command-args>opus</command-args>"
    assert spoken(queued("/model opus"), user(command)) == [("user", "/model opus")]
    noted = "<ide_opened_file>/a</ide_opened_file>look"
    assert spoken(queued("look"), user(noted)) == [("user", "look")]


def test_what_was_taken_back_to_be_edited_is_given_as_it_was_sent():
    assert spoken(queued("is it"), queued("is it", "popAll"), user("is it done?")) == [
        ("user", "is it done?")
    ]
    assert spoken(queued("is it"), queued("is it", "popAll")) == []


def test_a_removal_that_repeats_the_text_does_not_repeat_the_words():
    removed = queued("look", "remove", reason="absorbed_mid_turn")
    assert spoken(queued("look"), removed) == [("user", "look")]
    assert spoken(removed) == [("user", "look")]


def test_notices_of_tasks_and_of_teammates_are_not_a_users_however_they_come():
    notice = "<task-notification>\n<status>completed</status>\n</task-notification>\nRead the file"
    task = '{"task_id":"b1","description":"bun test","task_type":"local_bash"}'
    letter = '<teammate-message teammate_id="a">done</teammate-message>'
    peer = {
        "type": "attachment", "uuid": "q", "sessionId": "s",
        "attachment": {"type": "queued_command", "prompt": notice, "commandMode": "prompt"},
    }  # fmt: skip
    sent = [
        queued(notice), queued(task), peer, user(notice), user(letter),
        user("go on", promptSource="system"), user("go on", origin={"kind": "peer"}),
        user("shown only", isVisibleInTranscriptOnly=True),
    ]  # fmt: skip
    assert [text for role, text in roles(*sent) if role == "user"] == []


def test_a_teammates_task_is_the_first_turn_of_its_own_file():
    task = '<teammate-message teammate_id="lead">test the server</teammate-message>'
    assert spoken(user(task, isSidechain=True)) == [("user", "test the server")]


def test_an_inline_sidechain_is_beside_the_conversation():
    records = [user("examine it", 1, isSidechain=True), user("why is it slow?", 2)]
    assert [(record.text, record.side) for record in read(*records)] == [
        ("examine it", True), ("why is it slow?", False),
    ]  # fmt: skip
    assert facts(*records).first_user_line == "why is it slow?"


def test_what_a_person_said_who_refused_a_call_is_a_users():
    refused = (
        "The user doesn't want to proceed with this tool use. The tool use was rejected. "
        "To tell you how to proceed, the user said:\n"
    )
    found = roles(tool_result(f"{refused}use a switch", 2, 1))
    assert found == [("tool", f"{refused}use a switch"), ("user", "use a switch")]
    asked = f"{refused}The user wants to clarify these questions.\n"
    assert [role for role, _ in roles(tool_result(asked, 2, 1))] == ["tool"]
    quoted = f"notes.md:1: {refused}use a switch"
    assert [role for role, _ in roles(tool_result(quoted, 2, 1))] == ["tool"]


def test_answers_that_no_model_gave_are_injected():
    empty = assistant("No response requested.")
    empty["message"]["model"] = "<synthetic>"
    failed = assistant("API Error: 500", isApiErrorMessage=True)
    assert [role for role, _ in roles(empty, failed)] == ["injected", "injected"]


def test_an_approved_plan_is_the_agents_text_and_names_its_session():
    plan = user("Implement the following plan:\n\n# Read once\n\nx", planContent="# Read once\n\nx")
    assert [role for role, _ in roles(plan)] == ["assistant"]
    assert (facts(plan).title, facts(plan).first_user_line) == ("Read once", "")


def test_commands_of_the_user_and_what_they_printed():
    typed = user("<bash-input>git fetch</bash-input>")
    printed = user("<bash-stdout>up to date</bash-stdout><bash-stderr></bash-stderr>")
    assert roles(typed, printed) == [("user", "git fetch"), ("tool", "up to date")]
    slash = (
        "<command-message>review is running…</command-message>"
        "\n<command-name>/review</command-name>"
        "\n            <command-args>the last\ntwo commits</command-args>"
    )
    assert roles(user(slash)) == [("user", "/review the last\ntwo commits")]


def test_summaries_of_every_age_are_summaries():
    old = user("This session is being continued from a previous conversation that ran out…")
    away = {"type": "system", "subtype": "away_summary", "content": "Tests pass.", "uuid": "a"}
    boundary = {"type": "system", "subtype": "compact_boundary", "content": "x", "uuid": "b"}
    plain = {"type": "system", "content": "\x1b[2mRunning\x1b[22m", "level": "info", "uuid": "c"}
    assert [role for role, _ in roles(old, away, boundary, plain)] == [
        "summary", "summary", "system", "system",
    ]  # fmt: skip
    assert [text for _, text in roles(boundary, plain)] == ["", ""]


def test_what_hooks_and_progress_repeat_has_no_text():
    hook = {"type": "hook_additional_context", "content": ["know: [a3f2] …"]}
    inner = {"type": "user", "message": {"role": "user", "content": "explore"}}
    records = [
        {"type": "attachment", "uuid": "h", "sessionId": "s", "attachment": hook},
        {"type": "progress", "uuid": "p", "sessionId": "s",
         "data": {"type": "agent_progress", "message": inner, "prompt": "explore"}},
        {"type": "last-prompt", "lastPrompt": "why?", "sessionId": "s"},
    ]  # fmt: skip
    assert spoken(*records) == []


def test_a_message_that_is_split_over_records_is_not_repeated():
    parts = [assistant("one", 2), tool_call("Bash", 3, command="ls"), assistant("two", 4)]
    for part in parts:
        part["message"]["id"] = "msg_1"
    assert spoken(*parts) == [("assistant", "one"), ("assistant", "two")]
    assert [len(record.calls) for record in read(*parts)] == [0, 1, 0]


def test_other_agents_that_write_alike_are_not_taken_for_claude_code():
    qwen = {**user("x"), "message": {"role": "user", "parts": [{"text": "x"}]}}
    assert not READER.recognises([qwen])
