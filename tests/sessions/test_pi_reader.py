from __future__ import annotations

import io
from pathlib import Path

from helpers import jsonl
from knowrepo.sessions.lines import read_lines
from knowrepo.sessions.readers.pi import PiReader
from knowrepo.sessions.record import Record
from samples import PARENT, PI, SESSION, blocks, entry, pi, pi_head

READER = PiReader()


def read(*records: dict) -> list[Record]:
    return list(READER.read(list(read_lines(io.BytesIO(jsonl(records))))))


def spoken(*records: dict) -> list[tuple[str, str]]:
    return [(record.role, record.text) for record in read(*records) if record.text]


def v1(record: dict) -> dict:
    return {key: value for key, value in record.items() if key not in ("id", "parentId")}


def test_a_list_of_version_1_is_read_like_a_tree():
    linear = [pi_head(version=1), *map(v1, PI[1:])]
    assert spoken(*linear) == spoken(*PI)
    assert len({record.key for record in read(*linear)}) == len(linear)
    assert READER.recognises(linear[1:])


def test_every_branch_is_read_in_the_order_of_the_file():
    left = pi("user", 6, content="try a cache")
    other = {**pi("user", 7, content="read once"), "parentId": left["parentId"]}
    branch = entry("branch_summary", 8, fromId=left["id"], summary="A cache was tried.")
    assert spoken(left, branch, other) == [
        ("user", "try a cache"), ("summary", "A cache was tried."), ("user", "read once"),
    ]  # fmt: skip
    assert read(other)[0].parent == left["parentId"]


def test_a_command_that_the_user_ran_is_a_tools_output():
    (record,) = read(pi("bashExecution", 6, command="ls", output="a.py\n", exitCode=0))
    assert (record.role, record.text) == ("tool", "a.py\n")
    assert [(call.name, call.argument) for call in record.calls] == [("bash", "ls")]


def test_what_extensions_skills_and_prompts_say_is_injected():
    told = [
        entry("custom_message", 6, content="context", customType="x", display=False),
        pi("custom", 7, content=blocks("context")), pi("hookMessage", 8, content="context"),
        pi("system", 9, content="context"),
        pi("user", 10, content='<skill name="a" location="/x">\ntext\n</skill>'),
    ]  # fmt: skip
    assert [role for role, _ in spoken(*told)] == ["injected"] * 5
    asked = pi("user", 11, content='<skill name="a">\ntext\n</skill>\n\nmake it fast')
    assert spoken(asked) == [("user", "make it fast")]


def test_compactions_are_summaries_and_bookkeeping_has_no_text():
    silent = [
        entry("model_change", 6, modelId="m"), entry("label", 7, label="x"),
        entry("custom", 8, data={"text": "x"}), entry("brand_new", 9, text="x"),
        pi("assistant", 10, content=[{"type": "thinking", "thinking": "x"}], stopReason="stop"),
    ]  # fmt: skip
    packed = entry("compaction", 11, summary="We did x.", firstKeptEntryId="00000002")
    assert spoken(*silent, packed) == [("summary", "We did x.")]
    assert spoken(pi("compactionSummary", 12, summary="x")) == [("summary", "x")]


def test_what_a_fork_copied_of_its_parent_is_injected():
    """A session that only names a parent has no entries that are older than its head."""
    later = {"parentSession": f"/x/{PARENT}.jsonl", "timestamp": "2026-05-01T10:00:03.500Z"}
    forked = spoken(pi_head(**later), *PI[1:])
    assert forked == [
        ("injected", "why is it slow?"), ("tool", "12 s"), ("assistant", "It reads twice."),
    ]  # fmt: skip
    named = spoken(pi_head(parentSession=later["parentSession"]), *PI[1:])
    assert named == spoken(*PI)


def test_a_branch_of_version_1_is_read_whole():
    later = {"branchedFrom": "/x/a.jsonl", "timestamp": "2026-05-02T10:00:00.000Z"}
    assert spoken(pi_head(**later), *map(v1, PI[1:])) == spoken(*PI)


def test_a_session_is_called_by_its_file_else_by_its_head():
    assert READER.identity(Path(f"2026-05-01T10-00-00-000Z_{SESSION}.jsonl"), "a", "b", "") == (
        SESSION, "",
    )  # fmt: skip
    assert READER.identity(Path("2026-05-01T10-00-00-000Z_mine.jsonl"), "a", "b", "").id == "a"


def test_a_name_that_the_user_gave_is_the_title():
    lines = list(read_lines(io.BytesIO(jsonl([*PI, entry("session_info", 9, name="Slow start")]))))
    assert READER.facts(lines, "x").title == "Slow start"
