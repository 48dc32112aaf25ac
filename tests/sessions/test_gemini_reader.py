from __future__ import annotations

from pathlib import Path
from typing import Any

from helpers import transcript
from knowrepo.sessions.readers.gemini import GeminiReader, project_hash
from unpacking import agent_of, dumped, grows_the_same, lines_of, only, told, unpacked

READER = GeminiReader()
SESSION = "5e550000-1111-4222-8333-444455556666"
FOLDER = "/home/dev/app"


def own(**fields: Any) -> dict[str, Any]:
    return {
        "sessionId": SESSION,
        "projectHash": project_hash(FOLDER),
        "startTime": "2026-02-03T10:00:00.000Z",
        "lastUpdated": "2026-02-03T10:00:00.000Z",
        **fields,
    }


def message(number: int, kind: str, content: Any, **fields: Any) -> dict[str, Any]:
    time = f"2026-02-03T10:00:{number:02d}.000Z"
    return {"id": f"m{number}", "timestamp": time, "type": kind, "content": content, **fields}


def call(name: str, output: Any, **args: str) -> dict[str, Any]:
    answer = {"functionResponse": {"id": "c1", "name": name, "response": output}}
    return {"id": "c1", "name": name, "args": args, "result": [answer], "status": "success"}


def document(*messages: dict[str, Any], **fields: Any) -> dict[str, Any]:
    return {**own(**fields), "messages": list(messages)}


def test_a_document_is_its_own_fields_and_then_its_messages(tmp_path):
    path = dumped(
        tmp_path / "session.jsonl",
        document(
            message(1, "user", "why is it slow?"),
            message(2, "gemini", "Let me see.", thoughts=[{"subject": "x", "description": "y"}]),
            message(3, "info", "Update available"),
            summary="A slow start",
        ),
    )
    records, facts = only(path)
    assert [(r.role, r.text) for r in records] == [
        ("system", ""), ("user", "why is it slow?"), ("assistant", "Let me see."),
        ("system", "Update available"),
    ]  # fmt: skip
    assert [r.key for r in records] == [SESSION, "m1", "m2", "m3"]
    assert records[1].time == "2026-02-03T10:00:01.000Z"
    assert (facts.title, facts.date) == ("A slow start", "2026-02-03T10:00:00.000Z")
    assert (facts.first_user_line, facts.project) == ("why is it slow?", "")
    assert not facts.sub_agent


def test_calls_and_their_outputs_stand_in_the_message():
    said = message(
        1,
        "gemini",
        "",
        toolCalls=[
            call("run_shell_command", {"output": "ok"}, command="ls"),
            call("read_file", {"error": "no such file"}, file_path="/a"),
            {"name": "old", "args": {}, "result": "plain", "status": "success"},
            {"name": "shown", "args": {}, "result": None, "resultDisplay": "on screen"},
            {"name": "open", "args": {}, "result": [], "resultDisplay": {"fileDiff": "x"}},
        ],
    )
    records = list(READER.read(lines_of([own(), said])))
    assert [(c.name, c.argument) for c in records[1].calls] == [
        ("run_shell_command", "ls"), ("read_file", "/a"), ("old", ""), ("shown", ""), ("open", ""),
    ]  # fmt: skip
    assert [(r.role, r.text) for r in records[2:]] == [
        ("tool", "ok"), ("tool", "no such file"), ("tool", "plain"), ("tool", "on screen"),
    ]  # fmt: skip
    assert len({r.key for r in records}) == len(records)


def test_a_call_that_stands_in_the_content_as_well_is_told_once():
    part = {"functionCall": {"id": "c1", "name": "ls", "args": {"path": "/a"}}}
    both = message(1, "gemini", [part], toolCalls=[call("ls", {"output": "ok"}, path="/a")])
    (spoken, _) = READER.read(lines_of([both]))
    assert [c.name for c in spoken.calls] == ["ls"]
    alone = message(1, "gemini", [part])
    assert [c.argument for r in READER.read(lines_of([alone])) for c in r.calls] == ["/a"]


def test_the_output_of_our_own_recall_is_no_news():
    asked = call("run_shell_command", {"output": "hits"}, command="know recall slow")
    assert told(READER, message(1, "gemini", "", toolCalls=[asked]))[-1] == ("injected", "hits")


def test_files_that_a_prompt_names_are_not_the_users_words():
    parts = [
        {"text": "read @a.md"},
        {"text": "\n--- Content from referenced files ---"},
        {"text": "\nContent from @a.md:\n"},
        {"inlineData": {"mimeType": "image/png", "data": "x"}},
        {"text": "--- End of content ---"},
    ]
    user, injected = told(READER, message(1, "user", parts))
    assert user == ("user", "read @a.md")
    assert injected[0] == "injected"
    shown = message(1, "user", parts, displayContent=[{"text": "read @a.md"}])
    assert told(READER, shown)[0] == user
    joined = message(1, "user", "read it\n--- Content from referenced files ---\nsecret plans")
    assert told(READER, joined) == [
        ("user", "read it"),
        ("injected", "--- Content from referenced files ---\nsecret plans"),
    ]


def test_what_the_agent_says_for_the_user_is_not_the_users():
    texts = [
        "<session_context>\nThis is the Gemini CLI.\n</session_context>",
        "This is the Gemini CLI. We are setting up the context for our chat.",
        "Please continue.",
        "System: Please continue.",
    ]
    for text in texts:
        assert [role for role, _ in told(READER, message(1, "user", text))] == ["injected"]
    snapshot = message(1, "user", "<state_snapshot>all of it</state_snapshot>")
    assert [role for role, _ in told(READER, snapshot)] == ["summary"]


def test_of_a_message_that_is_written_again_the_last_is_told_once():
    records = [
        own(),
        message(1, "user", "go"),
        message(2, "gemini", "Half"),
        {"$set": {"lastUpdated": "2026-02-03T10:00:03.000Z"}},
        message(2, "gemini", "Half of it, and the rest", tokens={"total": 3}),
    ]
    assert told(READER, *records) == [
        ("system", ""), ("user", "go"), ("system", ""), ("assistant", "Half of it, and the rest"),
    ]  # fmt: skip


def test_what_was_rewound_stays():
    records = [own(), message(1, "user", "try a"), {"$rewindTo": "m1"}, message(2, "user", "try b")]
    assert [text for role, text in told(READER, *records) if role == "user"] == ["try a", "try b"]


def test_of_a_compressed_history_only_what_it_adds_is_told():
    answer = {"functionResponse": {"id": "c1", "name": "ls", "response": {"output": "masked"}}}
    history = [
        {"id": "s1", "type": "user", "content": [{"text": "<state_snapshot>x</state_snapshot>"}]},
        {"id": "s2", "type": "gemini", "content": [{"text": "Got it."}]},
        {"id": "s3", "type": "user", "content": [answer]},
        message(1, "user", "go, masked"),
    ]
    records = [
        own(),
        message(1, "user", "go"),
        message(2, "gemini", "", toolCalls=[call("ls", {"output": "files"})]),
        {"$set": {"messages": history}},
    ]
    assert told(READER, *records) == [
        ("system", ""), ("user", "go"), ("assistant", ""), ("tool", "files"), ("system", ""),
        ("summary", "<state_snapshot>x</state_snapshot>"), ("injected", "Got it."),
        ("system", ""),
    ]  # fmt: skip


def test_the_title_is_the_last_summary():
    lines = lines_of([own(), {"$set": {"summary": "One"}}, {"$set": {"summary": "Two"}}])
    assert READER.facts(lines, SESSION).title == "Two"


def test_the_project_is_known_where_a_folder_has_its_hash():
    lines = lines_of([own(directories=["/tmp/other", FOLDER])])
    assert READER.facts(lines, SESSION).project == FOLDER


def test_a_sub_agent_belongs_to_the_session_that_its_folder_names(tmp_path):
    folder = tmp_path / "chats" / SESSION
    path = transcript(folder, [own(sessionId="helper-1", kind="subagent")], "helper-1.jsonl")
    identity = READER.identity(path, "helper-1", "helper-1", "")
    assert identity == ("helper-1", SESSION)
    assert READER.facts(lines_of([own(kind="subagent")]), "helper-1").sub_agent
    main = transcript(tmp_path / "chats", [own()], "session-2026-02-03T10-00-5e550000.jsonl")
    assert READER.identity(main, SESSION, SESSION, "") == (SESSION, "")


def test_an_id_that_may_not_name_a_file_is_made_one(tmp_path):
    odd = {**document(), "sessionId": "../../a b.12"}
    (name,) = unpacked(dumped(tmp_path / "a.json", odd))
    assert "/" not in name
    assert not name.startswith(".")


def test_other_documents_are_not_claimed(tmp_path):
    for number, other in enumerate([
        {"messages": [{"type": "user"}]},
        {"sessionId": "x"},
        {"sessionId": "x", "messages": {}},
        {"sessionId": "x", "messages": [{"type": "user", "content": "hi"}]},
        [document()],
    ]):  # fmt: skip
        assert agent_of(dumped(tmp_path / f"{number}.json", other)) != "gemini"


def test_two_states_of_a_document_end_in_the_same_bytes(tmp_path):
    first = message(1, "user", "go")
    half = message(2, "gemini", "Working", toolCalls=[])
    whole = message(2, "gemini", "Working", toolCalls=[call("ls", {"output": "files"})])
    last = message(3, "user", "thanks")

    def early() -> Path:
        return dumped(tmp_path / "session.json", document(first, half))

    def late() -> Path:
        later = document(first, whole, last, summary="A title", lastUpdated="2026-02-04")
        return dumped(tmp_path / "session.json", later)

    files = grows_the_same(tmp_path, early, late)
    (content,) = files.values()
    assert b"files" in content
    assert b"thanks" in content


def test_two_states_of_json_lines_end_in_the_same_bytes(tmp_path):
    records = [
        own(), message(1, "user", "go"), message(2, "gemini", "Half"),
        message(2, "gemini", "Half and more"), {"$rewindTo": "m1"}, message(3, "user", "again"),
    ]  # fmt: skip

    def state(count: int) -> Path:
        return transcript(tmp_path, records[:count], "session-1.jsonl")

    files = grows_the_same(tmp_path, lambda: state(3), lambda: state(6))
    assert list(files) == [f"gemini/{SESSION}.jsonl"]
