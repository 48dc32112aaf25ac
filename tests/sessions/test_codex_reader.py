from __future__ import annotations

import io
import json
from pathlib import Path

import pytest

from helpers import jsonl
from knowrepo.sessions.lines import read_lines
from knowrepo.sessions.readers import recognise
from knowrepo.sessions.readers.codex import CodexReader
from knowrepo.sessions.record import Record, SessionFacts
from knowrepo.sessions.source import Source, as_lines
from samples import CHILD, CODEX, PARENT, SESSION, event, head, item, rollout, words

READER = CodexReader()
SPAWNED = {"subagent": {"thread_spawn": {"parent_thread_id": PARENT, "depth": 1}}}


def read(*records: dict) -> list[Record]:
    return list(READER.read(list(read_lines(io.BytesIO(jsonl(records))))))


def spoken(*records: dict) -> list[tuple[str, str]]:
    return [(record.role, record.text) for record in read(*records) if record.text]


def facts(*records: dict) -> SessionFacts:
    return READER.facts(list(read_lines(io.BytesIO(jsonl(records)))), "x")


def call(**fields) -> tuple[str, str]:
    (record,) = read(item(**fields))
    (found,) = record.calls
    return found.name, found.argument


def output(value: object) -> str:
    return spoken(item("function_call_output", call_id="c", output=value))[0][1]


# -- the two logs -------------------------------------------------------------


def test_words_that_stand_in_both_logs_are_given_once_and_in_either_order():
    item_first = [words("user", "go on"), event("user_message", message="go on\n")]
    assert spoken(*item_first) == [("user", "go on")]
    assert spoken(*item_first[::-1]) == [("user", "go on")]


def test_what_is_said_twice_is_given_twice():
    twice = [words("user", "yes"), event("user_message", message="yes")] * 2
    assert spoken(*twice) == [("user", "yes")] * 2


def test_words_that_only_the_screen_shows_are_found():
    said = [event("user_message", message="ls"), event("agent_message", message="Reviewing.")]
    assert spoken(*said) == [("user", "ls"), ("assistant", "Reviewing.")]


def test_the_screen_shows_one_text_where_the_item_has_blocks_and_an_image():
    sent = words("user", "look: ", '<image name="[Image #1]">', "</image>", "why?")
    assert spoken(sent, event("user_message", message="look: why?")) == [("user", "look: \nwhy?")]


def test_a_plan_is_given_once():
    shown = event("item_completed", item={"type": "Plan", "id": "p", "text": "1. measure"})
    written = words("assistant", "So:\n<proposed_plan>\n1. measure\n</proposed_plan>")
    assert spoken(shown) == [("assistant", "1. measure")]
    assert [role for role, _ in spoken(written, shown)] == ["assistant"]


def test_thinking_and_counts_have_no_text():
    silent = [
        event("agent_reasoning", text="**Weighing**"), event("token_count", info=None),
        item("reasoning", summary=[{"type": "summary_text", "text": "x"}], content=None),
        event("task_complete", last_agent_message="done"), item("ghost_snapshot"),
    ]  # fmt: skip
    assert spoken(*silent) == []


# -- who said it --------------------------------------------------------------


@pytest.mark.parametrize(
    "text",
    [
        "# AGENTS.md instructions for /x\n\n<INSTRUCTIONS>\nbe brief\n</INSTRUCTIONS>",
        "<user_instructions>\nbe brief\n</user_instructions>",
        "<environment_context>\n  <cwd>/x</cwd>\n</environment_context>",
        "<skill>\n<name>x</name>\n</skill>",
        "<turn_aborted>\nstopped\n</turn_aborted>",
        "<subagent_notification>{}</subagent_notification>",
        '<hook_prompt hook_run_id="1">remember</hook_prompt>',
        "Warning: apply_patch was requested via exec_command.",
    ],
)
def test_what_codex_sends_in_the_users_name_is_injected(text):
    assert spoken(words("user", text)) == [("injected", text)]
    assert spoken(words("user", text, "go on")) == [("user", "go on")]


def test_a_person_may_speak_of_such_things():
    said = "<environment_context> is what I meant. Warning: it is long"
    assert spoken(words("user", said)) == [("user", said)]


def test_what_an_editor_puts_ahead_of_a_prompt_is_taken_off():
    sent = (
        "# Context from my IDE setup:\n\n## Active file: a.py\n\n## My request for Codex:\nwhy?\n"
    )
    both = [words("user", sent), event("user_message", message=sent)]
    assert spoken(*both) == [("user", "why?")]
    assert spoken(both[1]) == [("user", "why?")]


def test_a_command_that_the_user_ran_is_a_tools_output():
    text = (
        "<user_shell_command>\n<command>\nls -a\n</command>\n<result>\nExit code: 0\n"
        "Duration: 0.1 seconds\nOutput:\na.py\n</result>\n</user_shell_command>"
    )
    (record,) = read(words("user", text))
    assert (record.role, record.text) == ("tool", "a.py")
    assert [(c.name, c.argument) for c in record.calls] == [("shell", "ls -a")]


def test_developers_and_other_agents_are_injected():
    told = {"author": "root", "content": [{"type": "input_text", "text": "explore"}]}
    said = [
        words("developer", "rules"), item("agent_message", **told),
        rollout("inter_agent_communication", content="done"),
    ]  # fmt: skip
    assert [role for role, _ in spoken(*said)] == ["injected"] * 3


def test_a_compaction_is_a_summary_and_its_copy_of_the_history_is_not_given():
    summary = "Another language model started to solve this problem and produced a summary: x"
    history = [words("user", "go on")["payload"], words("user", summary)["payload"]]
    assert spoken(rollout("compacted", message="We did x.")) == [("summary", "We did x.")]
    packed = rollout("compacted", message="", replacement_history=[3, *history])
    assert spoken(packed) == [("summary", summary)]
    assert spoken(words("user", summary)) == [("summary", summary)]
    sealed = {"type": "compaction", "encrypted_content": "x"}
    assert spoken(rollout("compacted", message="", replacement_history=[sealed])) == []


# -- tools --------------------------------------------------------------------


def test_calls_of_every_kind_have_a_name_and_a_telling_argument():
    bash = json.dumps({"command": ["bash", "-lc", "rg -n x | head"], "workdir": "/x"})
    assert call(kind="function_call", name="shell", arguments=bash) == ("shell", "rg -n x | head")
    patch = "*** Begin Patch\n*** Update File: a.py"
    assert call(kind="custom_tool_call", name="apply_patch", input=patch) == ("apply_patch", patch)
    action = {"type": "exec", "command": ["ls", "-a"]}
    assert call(kind="local_shell_call", action=action) == ("shell", "ls -a")
    search = {"type": "search", "query": "sqlite wal"}
    assert call(kind="web_search_call", action=search) == ("web_search", "sqlite wal")
    tool = {"name": "ask", "namespace": "mcp__wiki", "arguments": '{"question": "how?"}'}
    assert call(kind="function_call", **tool) == ("mcp__wiki__ask", "how?")
    assert call(kind="function_call", name="x") == ("x", "")


def test_output_is_plain_in_every_wrapping():
    assert output("12 s") == "12 s"
    assert output('{"output": "12 s\\n", "metadata": {"exit_code": 0}}') == "12 s\n"
    assert output({"content": "12 s", "success": True}) == "12 s"
    image = {"type": "input_image", "image_url": "data:image/png;base64,AA"}
    assert output([{"type": "input_text", "text": "12 s"}, image]) == "12 s"
    assert output("Exit code: 0\nWall time: 0.1 seconds\nOutput:\n12 s") == "12 s"
    told = "Chunk ID: 1\nWall time: 1 seconds\nProcess exited with code 2\nOutput:\nno such file"
    assert output(told) == "Process exited with code 2\nno such file"
    broken = '{"output": "cut'
    assert output(broken) == broken


# -- whose session ------------------------------------------------------------


def turn(session: str, **fields) -> dict:
    return event("task_started", turn_id=session, **fields)


def test_what_a_fork_repeats_of_its_parent_is_injected():
    own = CHILD[:-1] + "f"  # a turn that began in the child
    fork = [
        head(CHILD, forked_from_id=PARENT, git={"branch": "fork"}),
        head(PARENT, git={"branch": "main"}),
        turn(PARENT[:-1] + "f"), words("user", "old question"),
        event("user_message", message="old question"), words("assistant", "old answer"),
        turn(own), words("user", "new question"),
        item("message", role="assistant", content=[{"type": "output_text", "text": "new"}],
             metadata={"turn_id": own}),
    ]  # fmt: skip
    searched = [pair for pair in spoken(*fork) if pair[0] != "injected"]
    assert searched == [("user", "new question"), ("assistant", "new")]
    assert ("injected", "old question") in spoken(*fork)
    found = facts(*fork)
    assert (found.first_user_line, found.branch) == ("new question", "fork")
    assert not found.sub_agent


def test_a_fork_of_which_nothing_tells_the_copies_apart_is_read_whole():
    fork = [head("s-2", forked_from_id="s-1"), head("s-1"), turn("1"), words("user", "a question")]
    assert spoken(*fork) == [("user", "a question")]


def test_a_sub_agent_names_where_its_own_history_starts():
    meta = head(CHILD, source=SPAWNED, subagent_history_start_ordinal=2)
    lines = [meta, words("user", "the parent's"), words("user", "explore the parser")]
    numbered = [{**line, "ordinal": n} for n, line in enumerate(lines)]
    assert [p for p in spoken(*numbered) if p[0] == "user"] == [("user", "explore the parser")]


def test_a_sub_agent_belongs_to_its_parent_and_a_fork_does_not():
    assert READER.parent_id(head(CHILD, source=SPAWNED)) == PARENT
    assert READER.parent_id(head(CHILD, forked_from_id=PARENT)) == ""
    assert READER.parent_id(head(CHILD, parent_thread_id=PARENT)) == ""
    review = head(CHILD, source={"subagent": "review"}, parent_thread_id=PARENT)
    assert READER.parent_id(review) == PARENT
    assert all(record.side for record in read(head(CHILD, source=SPAWNED), words("user", "x")))
    assert facts(head(CHILD, source={"subagent": "review"})).sub_agent


@pytest.mark.parametrize(
    ("source", "helper"),
    [
        ({"subagent": "compact"}, True),
        ({"subagent": {"other": "guardian"}}, True),
        ({"internal": "memory_consolidation"}, True),
        ({"subagent": "review"}, False),
        (SPAWNED, False),
        ("exec", False),
    ],
)
def test_housekeeping_is_told_from_work(source, helper):
    assert facts(head(source=source)).helper is helper


def test_a_session_is_called_by_its_file_else_by_the_first_id_inside():
    name = Path(f"rollout-2026-05-01T10-00-00-{SESSION}.jsonl")
    assert READER.identity(name, "a", "b", "") == (SESSION, "")
    assert READER.identity(Path(f"{name}.zst"), "a", "b", "") == (SESSION, "")
    assert READER.identity(Path("full.jsonl"), CHILD, PARENT, "") == (CHILD, "")
    assert READER.identity(Path(f"{SESSION}.jsonl"), "a", "b", PARENT) == (SESSION, PARENT)
    reverted = Path(f"rollout-2026-05-01T10-00-00-{SESSION}_{CHILD}.jsonl")
    assert READER.identity(reverted, SESSION, SESSION, "").id == f"{SESSION}_{CHILD}"
    assert READER.session_id(head(CHILD, session_id=PARENT)) == CHILD


def test_a_name_that_the_user_gave_is_the_title():
    assert facts(*CODEX, event("thread_name_updated", thread_name=" Slow ")).title == "Slow"


# -- older forms --------------------------------------------------------------

FLAT = [
    {
        "id": SESSION,
        "timestamp": "2025-06-01T10:00:00Z",
        "instructions": "be brief",
        "git": {"branch": "main"},
    },
    words("user", "<environment_context>\n<cwd>/home/dev/app</cwd>\n</environment_context>")[
        "payload"
    ],
    words("user", "why is it slow?")["payload"],
    {"record_type": "state"},
    item("function_call", name="shell", arguments='{"command": ["ls"]}', call_id="c")["payload"],
    item("function_call_output", call_id="c", output='{"output": "a.py"}')["payload"],
    words("assistant", "It reads twice.")["payload"],
]


def test_the_flat_lines_of_2025_are_read():
    assert READER.recognises(FLAT[:1])
    assert READER.recognises(FLAT[3:4])
    told = [pair for pair in spoken(*FLAT) if pair[0] != "injected"]
    assert told == [("user", "why is it slow?"), ("tool", "a.py"), ("assistant", "It reads twice.")]
    found = facts(*FLAT)
    assert (found.project, found.branch, found.date) == (
        "/home/dev/app", "main", "2025-06-01T10:00:00Z",
    )  # fmt: skip
    assert READER.session_id(FLAT[0]) == SESSION
    older = "<environment_context>\nCurrent working directory: /x\nApproval policy: never\n"
    assert READER.folder(words("user", older)["payload"]) == "/x"


def test_the_one_document_of_the_first_version_is_a_session(tmp_path):
    path = tmp_path / f"rollout-2025-05-01-{SESSION}.json"
    document = {"session": FLAT[0], "items": [*FLAT[1:], None]}
    path.write_text(json.dumps(document, indent=2))
    found = recognise(Source(path))
    assert found
    assert found.reader.agent == "codex"
    (session,) = found.sessions or ()
    assert session.id == SESSION
    said = [r.text for r in READER.read(list(as_lines(session.records))) if r.role == "user"]
    assert said == ["why is it slow?"]
