from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from helpers import transcript
from knowrepo.sessions.readers.cursor import CursorReader
from unpacking import agent_of, grows_the_same, lines_of, told, unpacked

READER = CursorReader()
SESSION = "c0450000-1111-4222-8333-444455556666"
HELPER = "c0450000-1111-4222-8333-444455557777"


def said(role: str, *blocks: Any) -> dict[str, Any]:
    content = [{"type": "text", "text": b} if isinstance(b, str) else b for b in blocks]
    return {"role": role, "message": {"content": content}}


def use(name: str, given: Any, **fields: Any) -> dict[str, Any]:
    return {"type": "tool_use", "name": name, "input": given, **fields}


def query(text: str, before: str = "") -> dict[str, Any]:
    return said("user", f"{before}<user_query>\n{text}\n</user_query>")


def test_who_said_what():
    records = [query("why?"), said("assistant", "Because."), {"type": "turn_ended"}]
    assert told(READER, *records) == [("user", "why?"), ("assistant", "Because."), ("system", "")]


def test_what_cursor_puts_before_a_prompt_is_not_the_users():
    before = (
        "<timestamp>Friday, May 8, 2026, 6:05 AM (UTC+5:30)</timestamp>\n[Image]\n"
        "<image_files>\n1. /a.png\n</image_files>\n<attached_files>\ncode\n</attached_files>\n"
    )
    (user, injected) = READER.read(lines_of([query("match <b>this</b>", before)]))
    assert (user.role, user.text) == ("user", "match <b>this</b>")
    assert user.time == "2026-05-08T06:05+05:30"
    assert injected.role == "injected"
    assert "/a.png" in injected.text
    assert "timestamp" not in injected.text


@pytest.mark.parametrize(
    ("stated", "time"),
    [
        ("Sunday, Sep 20, 2026, 12:31 AM (UTC+3)", "2026-09-20T00:31+03:00"),
        ("Monday, May 4, 2026, 12:47 PM (UTC-5)", "2026-05-04T12:47-05:00"),
        ("Monday, May 4, 2026, 2:45 PM (UTC)", "2026-05-04T14:45+00:00"),
        ("May 4, 2026, 2:45 PM", "2026-05-04T14:45+00:00"),
        ("Monday, May 99, 2026, 2:45 PM", ""),
        ("yesterday", ""),
    ],
)
def test_the_time_of_a_prompt_has_its_offset(stated, time):
    record = query("hi", f"<timestamp>{stated}</timestamp>\n")
    assert READER.time(record) == time


def test_a_time_that_the_user_pasted_is_not_the_prompts():
    pasted = "<timestamp>Monday, May 4, 2026, 2:45 PM</timestamp>"
    assert READER.time(query(pasted)) == ""
    assert told(READER, query(pasted)) == [("user", pasted)]


def test_what_cursor_says_for_the_user_is_not_the_users():
    record = said("user", "<user_query>The above subagent result is already visible.</user_query>")
    assert [role for role, _ in told(READER, record)] == ["injected"]


def test_a_prompt_without_a_wrapper_is_the_users_and_a_wrapper_alone_is_not():
    for words in ("plain words", "why is <div>this</div> <b>bold</b>?"):
        assert told(READER, said("user", words)) == [("user", words)]
    reminder = "<system_reminder>be\nbrief</system_reminder>"
    assert told(READER, said("user", reminder)) == [("injected", reminder)]
    both = said("user", f"{reminder}\nplain words")
    assert told(READER, both) == [("user", "plain words"), ("injected", reminder)]


def test_a_call_has_a_name_and_the_argument_that_says_most():
    record = said(
        "assistant",
        "**Plan**",
        use("ReadFile", {"path": "/a/b.py", "offset": 1}),
        use("ApplyPatch", "*** Begin Patch\n*** End Patch"),
        use("Grep path\n/a", {"pattern": "x"}),
    )
    (spoken,) = READER.read(lines_of([record]))
    assert [(call.name, call.argument) for call in spoken.calls] == [
        ("ReadFile", "/a/b.py"),
        ("ApplyPatch", "*** Begin Patch\n*** End Patch"),
        ("Grep path", "x"),
    ]


def test_results_where_a_version_keeps_them_are_the_tools():
    records = [
        said("assistant", use("Shell", {"command": "know recall x"}, id="t1"), use("Read", {})),
        said(
            "user",
            {"type": "tool_result", "tool_use_id": "t1", "content": "hits"},
            {"type": "tool_result", "content": [{"type": "text", "text": "file"}]},
        ),
    ]
    assert told(READER, *records)[1:] == [("injected", "hits"), ("tool", "file")]


def test_lines_that_are_the_same_are_all_told():
    lines = lines_of([said("assistant", "again"), said("assistant", "again")])
    assert len({record.key for record in READER.read(lines)}) == 2


def test_the_project_is_what_cursor_stated_or_where_a_command_ran():
    info = "<user_info>\nWorkspace Path: /home/dev/app\n</user_info>\n"
    assert READER.facts(lines_of([query("hi", info)]), "x").project == "/home/dev/app"
    ran = said("assistant", use("Shell", {"command": "ls", "working_directory": "C:\\dev\\app"}))
    assert READER.facts(lines_of([ran]), "x").project == "C:\\dev\\app"
    relative = said("assistant", use("Shell", {"working_directory": "src"}))
    assert READER.facts(lines_of([relative]), "x").project == ""


def test_a_session_is_named_by_its_file_and_a_sub_agents_by_its_folder(tmp_path):
    folder = tmp_path / "agent-transcripts" / SESSION
    main = transcript(folder, [query("hi")], f"{SESSION}.jsonl")
    helper = transcript(folder / "subagents", [query("help")], f"{HELPER}.jsonl")
    assert READER.identity(main, "", "", "") == (SESSION, "")
    assert READER.identity(helper, "", "", "") == (HELPER, SESSION)
    copy = transcript(tmp_path / "f5" / "0", [query("hi")], "full.jsonl")
    later = transcript(tmp_path / "f5" / "1", [query("hi"), said("assistant", "x")], "full.jsonl")
    other = transcript(tmp_path / "b8" / "0", [query("ho")], "full.jsonl")
    named = [READER.identity(path, "", "", "").id for path in (copy, later, other)]
    assert named[0] == named[1] != named[2]
    assert named[0].startswith("cursor-")
    again = transcript(tmp_path, [query("hi, redacted")], f"{named[0]}.jsonl")
    assert READER.identity(again, "", "", "").id == named[0]


def test_other_agents_lines_are_not_claimed(tmp_path):
    others = [
        {"role": "user", "content": "hi"},
        {"role": "user", "message": "hi"},
        {"role": "system", "message": {"content": []}},
        {"type": "message", "id": "1", "message": {"role": "user", "content": []}},
        {**query("hi"), "uuid": "u"},
        {**query("hi"), "sessionId": "s"},
    ]
    for number, other in enumerate(others):
        assert agent_of(transcript(tmp_path, [other], f"{number}.jsonl")) != "cursor"
    assert agent_of(transcript(tmp_path, [query("hi")], "full.jsonl")) == "cursor"


TEXT = """user:
<user_query>
why is it slow?
</user_query>

assistant:
[Thinking]
  hm
I look.

[Tool call] Shell
  command=ls -la
  working_directory=/home/dev/app

[Tool result] Shell
  a.py

[Tool call] Read
  {"path": "a.py"}
[Tool call] ApplyPatch
  *** Begin Patch
It was the loop.
user:
<user_query>thanks</user_query>
"""


def test_the_plain_text_of_2025_is_read(tmp_path):
    path = tmp_path / f"{SESSION}.txt"
    path.write_text(TEXT)
    ((name, (records, facts)),) = unpacked(path).items()
    assert name == SESSION
    assert [(r.role, r.text) for r in records] == [
        ("user", "why is it slow?"), ("assistant", "I look."), ("tool", "a.py"),
        ("assistant", "It was the loop."), ("user", "thanks"),
    ]  # fmt: skip
    assert [(c.name, c.argument) for r in records for c in r.calls] == [
        ("Shell", "ls -la"), ("Read", "a.py"), ("ApplyPatch", "*** Begin Patch"),
    ]  # fmt: skip
    assert (facts.first_user_line, facts.project) == ("why is it slow?", "/home/dev/app")


def test_two_states_of_plain_text_end_in_the_same_bytes(tmp_path):
    def state(text: str) -> Path:
        path = tmp_path / "full.jsonl"
        path.write_text(text)
        return path

    for number, end in enumerate(range(TEXT.index("I look"), len(TEXT), 25)):
        folder = tmp_path / str(number)
        files = grows_the_same(folder, lambda end=end: state(TEXT[:end]), lambda: state(TEXT))
        assert len(files) == 1


def test_other_text_is_not_claimed(tmp_path):
    for number, text in enumerate(
        ["user:\nhi\n", "A <user_query>\nuser:\n", " \n", "<user_query>"]
    ):
        path = tmp_path / f"{number}.txt"
        path.write_text(text)
        assert agent_of(path) == ""


def test_two_states_end_in_the_same_bytes(tmp_path):
    records = [query("hi"), said("assistant", "yes"), said("assistant", "yes"), query("more")]

    def state(count: int) -> Path:
        return transcript(tmp_path, records[:count], f"{SESSION}.jsonl")

    files = grows_the_same(tmp_path, lambda: state(2), lambda: state(4))
    assert files[f"cursor/{SESSION}.jsonl"].count(b'"role":"assistant"') == 2
