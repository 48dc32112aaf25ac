"""A record says which calls it answers, and whether these failed, as far as its agent says so."""

from __future__ import annotations

import io
from typing import Any

import pytest

from helpers import jsonl, tool_call, tool_result
from knowrepo.sessions.lines import read_lines
from knowrepo.sessions.readers import reader_of
from samples import copilot, item


def results(agent: str, *records: dict[str, Any]) -> list[tuple[str, bool | None]]:
    reader = reader_of(agent)
    assert reader
    read = list(reader.read(list(read_lines(io.BytesIO(jsonl(records))))))
    made = {call.id for record in read for call in record.calls}
    found = [(one.call, one.failed) for record in read for one in record.results]
    assert all(call in made for call, _ in found if made)
    return found


def claude(mark: bool | None) -> list[dict[str, Any]]:
    answer = tool_result("12 s", 2, 1)
    if mark is not None:
        answer["message"]["content"][0]["is_error"] = mark
    return [tool_call("Bash", 1, command="make"), answer]


def codex(output: Any) -> list[dict[str, Any]]:
    return [
        item("function_call", name="shell", arguments='{"command": ["make"]}', call_id="c1"),
        item("function_call_output", call_id="c1", output=output),
    ]


def droid(mark: bool) -> list[dict[str, Any]]:
    call = {"type": "tool_use", "id": "c1", "name": "Execute", "input": {"command": "make"}}
    answer = {"type": "tool_result", "tool_use_id": "c1", "content": "x", "is_error": mark}
    return [
        {"type": "message", "id": "1", "message": {"role": "assistant", "content": [call]}},
        {"type": "message", "id": "2", "message": {"role": "user", "content": [answer]}},
    ]


def pi(**message: Any) -> list[dict[str, Any]]:
    return [{"type": "message", "id": "e1", "message": message}]


def gemini(status: str, output: str = "x") -> list[dict[str, Any]]:
    answer = {"functionResponse": {"id": "c1", "response": {"output": output}}}
    call = {"id": "c1", "name": "run", "args": {}, "result": [answer], "status": status}
    return [{"id": "m1", "type": "gemini", "content": "Let me see.", "toolCalls": [call]}]


def opencode(status: str, **state: Any) -> list[dict[str, Any]]:
    part = {
        "type": "tool", "tool": "bash", "callID": "c1",
        "state": {"status": status, "input": {"command": "make"}, **state},
    }  # fmt: skip
    return [{"info": {"id": "m1", "role": "assistant"}, "parts": [part]}]


def kiro(status: str) -> list[dict[str, Any]]:
    given = {"tool_use_id": "c1", "content": [{"Text": "x"}], "status": status}
    content = {"ToolUseResults": {"tool_use_results": [given]}}
    return [{"user": {"content": content}, "assistant": {"Response": {"content": "Hm."}}}]


@pytest.mark.parametrize(
    ("agent", "records", "failed"),
    [
        ("claude", claude(True), True),
        ("claude", claude(False), False),
        ("claude", claude(None), False),
        ("codex", codex("Exit code: 1\nWall time: 0 seconds\nOutput:\nno"), True),
        ("codex", codex("Chunk ID: 1\nProcess exited with code 0\nOutput:\nyes"), False),
        ("codex", codex('{"output": "no", "metadata": {"exit_code": 2}}'), True),
        ("codex", codex('{"output": "cut'), None),
        ("codex", codex({"content": "no", "success": False}), True),
        ("codex", codex("it printed:\nOutput:\nExit code: 1"), None),
        ("copilot", [copilot("tool.execution_complete", 1, toolCallId="c1", success=False)], True),
        ("copilot", [copilot("tool.execution_complete", 1, toolCallId="c1", success=True)], False),
        ("copilot", [copilot("tool.execution_complete", 1, toolCallId="c1")], None),
        ("droid", droid(True), True),
        ("pi", pi(role="toolResult", toolCallId="c1", content="x", isError=True), True),
        ("pi", pi(role="toolResult", toolCallId="c1", content="x", isError="no"), None),
        ("gemini", gemini("error"), True),
        ("gemini", gemini("success"), False),
        ("gemini", gemini("cancelled"), None),
        ("opencode", opencode("error", error="no"), True),
        ("opencode", opencode("completed", output="yes"), False),
        ("opencode", opencode("completed", output="no", metadata={"exit": 1}), True),
        ("opencode", opencode("running"), None),
        ("kiro", kiro("Error"), True),
        ("kiro", kiro("Success"), False),
    ],
)
def test_what_the_agent_marks_is_told(agent, records, failed):
    found = results(agent, *records)
    assert [mark for _, mark in found] == [failed]
    assert found[0][0] in {"c1", "toolu_1"}


def test_a_command_that_the_user_ran_says_how_it_ended():
    shell = {"role": "bashExecution", "command": "make", "output": "no", "exitCode": 2}
    assert results("pi", *pi(**shell)) == [("", True)]
    assert results("pi", *pi(**{**shell, "exitCode": 0})) == [("", False)]


def test_a_call_that_printed_nothing_has_a_result_and_no_record_of_its_own():
    reader = reader_of("opencode")
    assert reader
    lines = list(read_lines(io.BytesIO(jsonl(opencode("completed", output="")))))
    (record,) = reader.read(lines)
    assert (record.key, record.role, record.text) == ("m1", "assistant", "")
    assert [(one.call, one.failed) for one in record.results] == [("c1", False)]
