from __future__ import annotations

import io
from pathlib import Path

import pytest

from helpers import jsonl
from knowrepo.sessions.lines import read_lines
from knowrepo.sessions.readers.copilot import CopilotReader
from knowrepo.sessions.record import Record
from samples import COPILOT, SESSION, copilot

READER = CopilotReader()


def read(*records: dict) -> list[Record]:
    return list(READER.read(list(read_lines(io.BytesIO(jsonl(records))))))


def spoken(*records: dict) -> list[tuple[str, str]]:
    return [(record.role, record.text) for record in read(*records) if record.text]


def test_the_words_are_the_persons_and_not_what_the_model_was_sent():
    said = copilot("user.message", content="why?", transformedContent="<date>…</date>\n\nwhy?")
    assert spoken(said) == [("user", "why?")]


@pytest.mark.parametrize("source", ["skill-pdf", "system", "autopilot", "command-review"])
def test_what_copilot_sends_in_the_users_name_is_injected(source):
    assert spoken(copilot("user.message", content="x", source=source)) == [("injected", "x")]
    assert spoken(copilot("user.message", content="x", source="user")) == [("user", "x")]
    again = copilot("user.message", content="go on", isAutopilotContinuation=True)
    assert spoken(again) == [("injected", "go on")]


def test_prompts_notices_and_skills_are_injected():
    kinds = ["system.message", "system.notification", "skill.invoked"]
    assert spoken(*(copilot(kind, content="x") for kind in kinds)) == [("injected", "x")] * 3


def test_a_call_is_given_once_and_one_that_no_message_holds_is_found():
    started = copilot(
        "tool.execution_start", toolCallId="c9", toolName="bash", arguments={"command": "ls"}
    )
    calls = [call for record in read(*COPILOT, started) for call in record.calls]
    assert [(call.name, call.argument) for call in calls] == [("bash", "time app"), ("bash", "ls")]


def test_output_is_what_the_model_saw_or_what_went_wrong():
    def done(**data) -> list[tuple[str, str]]:
        return spoken(copilot("tool.execution_complete", toolCallId="c", **data))

    assert done(result={"content": "12 s", "detailedContent": "diff"}) == [("tool", "12 s")]
    assert done(result={"detailedContent": "diff"}) == [("tool", "diff")]
    blocks = [{"type": "text", "text": "12 s"}, {"type": "image", "data": "AA"}]
    assert done(result={"contents": blocks}) == [("tool", "12 s")]
    assert done(success=False, error={"message": "no such path"}) == [("tool", "no such path")]


def test_a_sub_agents_records_are_beside_the_conversation():
    prompt = {**copilot("user.message", content="explore"), "agentId": "a1"}
    old = copilot("assistant.message", content="found", parentToolCallId="c1")
    assert [record.side for record in read(prompt, old, COPILOT[2])] == [True, True, False]
    lines = list(read_lines(io.BytesIO(jsonl([prompt, *COPILOT]))))
    assert READER.facts(lines, "x").first_user_line == "why is it slow?"


def test_a_compaction_is_a_summary():
    packed = copilot("session.compaction_complete", success=True, summaryContent="We did x.")
    assert spoken(packed) == [("summary", "We did x.")]


def test_a_session_is_called_by_its_folder_else_by_the_id_inside():
    folder = Path("/home/dev/.copilot/session-state") / SESSION / "events.jsonl"
    assert READER.identity(folder, "a", "b", "") == (SESSION, "")
    assert READER.identity(Path("0/full.jsonl"), "a", "b", "") == ("a", "")


def test_a_session_that_moves_has_its_first_folder_and_its_last_branch():
    moved = copilot("session.context_changed", cwd="/home/dev/other", branch="fix")
    title = copilot("session.title_changed", title="Slow start")
    found = READER.facts(list(read_lines(io.BytesIO(jsonl([*COPILOT, moved, title])))), "x")
    assert (found.project, found.branch, found.title) == ("/home/dev/app", "fix", "Slow start")
