from __future__ import annotations

import json

from helpers import assistant, jsonl, tool_call, tool_result, user
from knowrepo.sessions.stats import KINDS, content_costs

STUB = "[stub base64 sha256=00 bytes=9 type=image/png]"


def costs(*records: dict) -> dict[str, int]:
    lines = jsonl(records).splitlines(keepends=True)
    found = content_costs(lines)
    assert sum(found.values()) == sum(map(len, lines))
    assert tuple(found) == KINDS
    return {kind: number for kind, number in found.items() if number and kind != "other"}


def test_what_was_said_and_done_is_told_apart():
    assert costs(
        user("five!"),
        assistant([{"type": "text", "text": "four"}, {"type": "thinking", "thinking": "hmm"}]),
        tool_call("Bash", 3, command="ls"),
        tool_result("out", 4, 3, toolUseResult={"stdout": "again"}),
        user([{"type": "image", "source": {"type": "base64", "data": STUB}}]),
    ) == {
        "user text": 5, "assistant text": 4, "thinking": 3, "tool calls": len("Bashls"),
        "tool results": 3, "toolUseResult": 5, "payload stubs": len(STUB),
    }  # fmt: skip


def test_other_agents_records_are_understood():
    assert costs(
        {"type": "response_item", "payload": {"type": "message", "role": "user",
                                              "content": [{"type": "input_text", "text": "ask"}]}},
        {"type": "response_item", "payload": {"type": "function_call", "arguments": "{}"}},
        {"type": "response_item", "payload": {"type": "function_call_output", "output": "done"}},
        {"type": "gemini", "content": "reply", "thoughts": [{"description": "so"}]},
        {"type": "message", "message": {"role": "toolResult",
                                        "content": [{"type": "text", "text": "file"}]}},
    ) == {
        "user text": 3, "tool calls": 2, "tool results": 8, "assistant text": 5, "thinking": 2,
    }  # fmt: skip


def test_lines_that_hold_no_record_count_as_other():
    lines = [b"broken\n", b"[1]\n", json.dumps({"type": "know.bad", "text": "x"}).encode()]
    assert content_costs(lines)["other"] == sum(map(len, lines)) + 1
