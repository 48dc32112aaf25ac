from __future__ import annotations

import io

from helpers import jsonl
from knowrepo.sessions.lines import read_lines
from knowrepo.sessions.readers.droid import DroidReader
from knowrepo.sessions.record import Record
from samples import DROID, PARENT, blocks, droid, droid_start

READER = DroidReader()


def read(*records: dict) -> list[Record]:
    return list(READER.read(list(read_lines(io.BytesIO(jsonl(records))))))


def spoken(*records: dict) -> list[tuple[str, str]]:
    return [(record.role, record.text) for record in read(*records) if record.text]


def test_context_notices_hooks_and_automation_are_not_a_users():
    told = [
        droid("user", 1, "x", visibility="llm_only"), droid("user", 2, "x", visibility="user_only"),
        droid("user", 3, "x", hookEventName="Stop"),
        droid("user", 4, "x", userMessageSource="automation"),
        droid("user", 5, "<system-reminder>x</system-reminder>"), droid("system", 6, "x"),
    ]  # fmt: skip
    assert [role for role, _ in spoken(*told)] == ["injected"] * 6


def test_what_is_typed_beside_a_tools_result_is_a_users():
    result = {"type": "tool_result", "tool_use_id": "c", "content": blocks("12 s")}
    said = droid("user", 1, [result, *blocks("and stop there")])
    assert sorted(spoken(said)) == [("tool", "12 s"), ("user", "and stop there")]
    assert len({record.key for record in read(said)}) == 2


def test_a_compaction_is_a_summary_and_states_have_no_text():
    packed = {"type": "compaction_state", "id": "c", "summaryText": "We did x."}
    todo = {"type": "todo_state", "id": "t", "todos": [{"content": "x"}]}
    outcome = {"type": "agent_turn_outcome", "turnId": "m1", "reason": "completed"}
    assert spoken(packed, todo, outcome) == [("summary", "We did x.")]
    assert READER.recognises([todo])


def test_what_a_fork_was_given_is_injected_up_to_the_message_that_it_names():
    fork = droid_start(parent=PARENT, forkedAtMessageId="m3")
    assert spoken(fork, *DROID[1:])[-2:] == [("tool", "12 s"), ("assistant", "It reads twice.")]
    assert {role for role, _ in spoken(fork, *DROID[1:])[:-2]} == {"injected"}
    gone = droid_start(parent=PARENT, forkedAtMessageId="elsewhere")
    assert ("user", "why is it slow?") in spoken(gone, *DROID[1:])


def test_a_sub_agent_belongs_to_the_session_that_called_it():
    called = droid_start(callingSessionId=PARENT, callingToolUseId="c1")
    assert READER.parent_id(called) == PARENT
    assert READER.parent_id(droid_start(parent=PARENT)) == ""
    assert all(record.side for record in read(called, *DROID[1:]))
    found = READER.facts(list(read_lines(io.BytesIO(jsonl([called, *DROID[1:]])))), "x")
    assert found.sub_agent
    assert found.first_user_line == "why is it slow?"


def test_a_name_that_the_user_gave_is_the_title():
    lines = list(read_lines(io.BytesIO(jsonl([droid_start(sessionTitle="Mine")]))))
    assert READER.facts(lines, "x").title == "Mine"
