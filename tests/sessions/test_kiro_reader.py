from __future__ import annotations

import io
import json
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import knowrepo.sessions.database
from helpers import make_repository, transcript
from knowrepo.config import Project
from knowrepo.sessions.archive import archive
from knowrepo.sessions.lines import read_lines
from knowrepo.sessions.projects import Projects
from knowrepo.sessions.readers.kiro import KiroReader
from knowrepo.sessions.store import resolved
from unpacking import agent_of, dumped, grows_the_same, lines_of, only, told, unpacked

READER = KiroReader()
SESSION = "41000000-1111-4222-8333-444455556666"
FOLDER = "/home/dev/app"


def prompt(text: str, number: int = 1, **fields: Any) -> dict[str, Any]:
    return {
        "additional_context": "",
        "env_context": {"env_state": {"current_working_directory": FOLDER}},
        "content": {"Prompt": {"prompt": text}},
        "timestamp": f"2026-05-17T10:00:{number:02d}+02:00",
        **fields,
    }


def results(*blocks: Any, of: str = "t1") -> dict[str, Any]:
    result = {"tool_use_id": of, "content": list(blocks), "status": "Success"}
    return {"content": {"ToolUseResults": {"tool_use_results": [result]}}, "timestamp": None}


def answer(number: int, text: str) -> dict[str, Any]:
    return {"Response": {"message_id": f"a{number}", "content": text}}


def calls(number: int, text: str, *uses: tuple[str, str, dict[str, Any]]) -> dict[str, Any]:
    listed = [{"id": use, "name": name, "args": args} for use, name, args in uses]
    return {"ToolUse": {"message_id": f"a{number}", "content": text, "tool_uses": listed}}


def entry(user: dict[str, Any], assistant: dict[str, Any]) -> dict[str, Any]:
    ended = {"request_start_timestamp_ms": 1779012000000, "stream_end_timestamp_ms": 1779012010000}
    return {"user": user, "assistant": assistant, "request_metadata": ended}


def conversation(*history: Any, **fields: Any) -> dict[str, Any]:
    return {
        "conversation_id": SESSION,
        "next_message": None,
        "history": list(history),
        "valid_history_range": [0, len(history)],
        "transcript": [],
        "tools": {"native": [{"ToolSpecification": {"name": "execute_bash"}}]},
        "latest_summary": None,
        **fields,
    }


TALK = [
    entry(prompt("build it"), calls(1, "I look.", ("t1", "execute_bash", {"command": "ls"}))),
    entry(results({"Json": {"exit_status": "0", "stdout": "a.py", "stderr": ""}}),
          answer(2, "Done.")),
]  # fmt: skip
TOLD = [
    ("system", ""), ("user", "build it"), ("assistant", "I look."), ("tool", "a.py"),
    ("assistant", "Done."),
]  # fmt: skip


def database(path: Path, *rows: tuple[str, str, object], table: str = "conversations_v2") -> Path:
    with closing(sqlite3.connect(path)) as connection:
        connection.executescript(
            "CREATE TABLE IF NOT EXISTS conversations (key TEXT PRIMARY KEY, value TEXT);"
            "CREATE TABLE IF NOT EXISTS conversations_v2 (key TEXT NOT NULL,"
            " conversation_id TEXT NOT NULL, value TEXT NOT NULL, created_at INTEGER,"
            " updated_at INTEGER, PRIMARY KEY (key, conversation_id));"
        )
        for key, name, value in rows:
            text = value if isinstance(value, str) else json.dumps(value)
            if table == "conversations":
                connection.execute("REPLACE INTO conversations VALUES (?,?)", (key, text))
            else:
                connection.execute(
                    "REPLACE INTO conversations_v2 VALUES (?,?,?,?,?)",
                    (key, name, text, 1779011000000, 1779012000000),
                )
        connection.commit()
    return path


def test_a_conversation_is_its_own_fields_and_then_its_history(tmp_path):
    records, facts = only(dumped(tmp_path / "full.jsonl", conversation(*TALK)))
    assert [(r.role, r.text) for r in records] == TOLD
    assert len({r.key for r in records}) == len(records)
    assert [(c.name, c.argument) for c in records[2].calls] == [("execute_bash", "ls")]
    assert records[1].time == "2026-05-17T10:00:01+02:00"
    assert records[2].time == "2026-05-17T10:00:10.000Z"
    assert (facts.title, facts.project) == ("build it", FOLDER)
    assert facts.date == "2026-05-17T10:00:01+02:00"


def test_a_database_gives_the_same_and_is_left_as_it_is(tmp_path):
    path = database(tmp_path / "data.sqlite3", (FOLDER, SESSION, conversation(*TALK)))
    before = path.read_bytes(), path.stat().st_mtime_ns
    records, facts = only(path)
    assert [(r.role, r.text) for r in records] == TOLD
    assert facts.project == FOLDER
    assert (path.read_bytes(), path.stat().st_mtime_ns) == before
    assert [entry.name for entry in tmp_path.iterdir()] == ["data.sqlite3"]


def test_the_older_table_is_read_and_the_newer_wins(tmp_path):
    path = tmp_path / "data.sqlite3"
    old = {**conversation(*TALK), "conversation_id": "old"}
    stale = conversation(TALK[0])
    database(path, ("/a", "", old), ("/b", "", stale), ("/c", "", "{}"), table="conversations")
    database(path, (FOLDER, SESSION, conversation(*TALK)))
    sessions = unpacked(path)
    assert list(sessions) == [SESSION, "old"]
    assert [(r.role, r.text) for r in sessions[SESSION][0]] == TOLD
    assert sessions["old"][1].project == "/a"


def test_a_payload_that_is_no_json_costs_itself_only(tmp_path):
    broken = '{"conversation_id":"broken","history":['
    path = database(
        tmp_path / "data.sqlite3",
        ("/a", "broken", broken),
        ("/b", "number", 3),
        (FOLDER, SESSION, conversation(*TALK)),
    )
    sessions = unpacked(path)
    assert [(r.role, r.text) for r in sessions["broken"][0]] == [("system", broken)]
    assert sessions["broken"][1].project == "/a"
    assert [(r.role, r.text) for r in sessions["number"][0]] == [("system", "3")]
    assert [(r.role, r.text) for r in sessions[SESSION][0]] == TOLD


def test_a_foreign_database_is_not_claimed(tmp_path):
    path = tmp_path / "a.db"
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("CREATE TABLE conversations (key, value)")
        connection.execute("INSERT INTO conversations VALUES ('a', '{\"messages\": []}')")
        connection.commit()
    assert agent_of(path) == ""


def test_the_older_table_alone_is_read(tmp_path):
    path = tmp_path / "data.sqlite3"
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("CREATE TABLE conversations (key TEXT PRIMARY KEY, value TEXT)")
        rows = [("/a", "{}"), (FOLDER, json.dumps(conversation(*TALK))), ("/b", "broken")]
        connection.executemany("INSERT INTO conversations VALUES (?,?)", rows)
        connection.commit()
    healthy, broken = unpacked(path).values()
    assert [(r.role, r.text) for r in healthy[0]] == TOLD
    assert [(r.role, r.text) for r in broken[0]] == [("system", "broken")]


def test_results_in_every_form_are_the_tools():
    user = results({"Text": "one"}, {"Json": {"stdout": "two", "stderr": "three"}}, {"Json": [1]})
    assert told(READER, entry(user, answer(1, "")))[0] == ("tool", "one\ntwo\nthree\n[1]")
    cancelled = {"prompt": "not that file", "tool_use_results": [
        {"tool_use_id": "t", "content": [{"Text": "cancelled"}], "status": "Error"}]}  # fmt: skip
    user = {"content": {"CancelledToolUses": cancelled}}
    assert told(READER, entry(user, answer(1, ""))) == [
        ("user", "not that file"), ("tool", "cancelled"),
    ]  # fmt: skip


def test_the_output_of_our_own_recall_is_no_news():
    asked = entry(prompt("x"), calls(1, "", ("t1", "execute_bash", {"command": "know recall x"})))
    said = told(READER, asked, entry(results({"Text": "hits"}), answer(2, "Yes.")))
    assert said[2:] == [("injected", "hits"), ("assistant", "Yes.")]


def test_context_and_answers_to_questions_are_no_words_of_the_user():
    hooked = prompt("go", additional_context="--- CONTEXT ENTRY BEGIN ---\nhook")
    assert told(READER, entry(hooked, answer(1, "")))[0][0] == "injected"
    assert told(READER, entry(prompt("y"), answer(1, "")))[0][0] == "system"
    made = prompt("--- CONTEXT ENTRY BEGIN ---\nfiles\n--- CONTEXT ENTRY END ---")
    assert told(READER, entry(made, answer(1, "")))[0][0] == "injected"
    wrapped = prompt(
        "--- CONTEXT ENTRY BEGIN ---\nx\n--- USER MESSAGE BEGIN ---\ngo--- USER MESSAGE END ---"
    )
    assert told(READER, entry(wrapped, answer(1, ""))) == [("user", "go")]


def test_early_pairs_and_what_was_not_answered_are_told(tmp_path):
    pair = [prompt("one"), answer(1, "yes")]
    document = conversation(pair, next_message=prompt("two", 2))
    records, _ = only(dumped(tmp_path / "a.json", document))
    assert [(r.role, r.text) for r in records[1:]] == [
        ("user", "one"), ("assistant", "yes"), ("user", "two"),
    ]  # fmt: skip


def test_of_a_compacted_conversation_summary_and_transcript_stay(tmp_path):
    document = conversation(
        TALK[1],
        latest_summary=["What we did", {"request_id": "r"}],
        transcript=["> build it", "I look.\n[Tool uses: execute_bash]", "Done.\n[Tool uses: none]"],
    )
    records, _ = only(dumped(tmp_path / "a.json", document))
    assert [(r.role, r.text) for r in records[1:]] == [
        ("summary", "What we did"), ("user", "build it"), ("assistant", "I look."),
        ("tool", "a.py"), ("assistant", "Done."),
    ]  # fmt: skip


def test_what_was_said_before_a_tangent_stays(tmp_path):
    before = {"main_history": [TALK[0]], "main_transcript": []}
    for history in ([TALK[1]], TALK):
        document = conversation(*history, tangent_state=before)
        records, _ = only(dumped(tmp_path / "a.json", document))
        assert [(r.role, r.text) for r in records] == TOLD


LINES = [
    {"version": "v1", "kind": "Prompt", "data": {
        "message_id": "p1", "content": [{"kind": "text", "data": "build it"}],
        "meta": {"timestamp": 1786837344}}},
    {"version": "v1", "kind": "AssistantMessage", "data": {"message_id": "a1", "content": [
        {"kind": "thinking", "data": {"text": "hm", "signature": None}},
        {"kind": "text", "data": "I look."},
        {"kind": "toolUse", "data": {
            "toolUseId": "t1", "name": "shell", "input": {"command": "know recall x"}}}]}},
    {"version": "v1", "kind": "ToolResults", "data": {"message_id": "r1", "content": [
        {"kind": "toolResult", "data": {"toolUseId": "t1", "status": "success", "content": [
            {"kind": "json", "data": {"stdout": "hits", "stderr": ""}}]}},
        {"kind": "toolResult", "data": {"toolUseId": "t2", "content": "plain"}}]}},
]  # fmt: skip
LINES_TOLD = [
    ("user", "build it"), ("assistant", "I look."), ("injected", "hits"), ("tool", "plain"),
]  # fmt: skip


def test_the_json_lines_of_newer_versions_are_read(tmp_path):
    path = transcript(tmp_path, LINES, f"{SESSION}.jsonl")
    assert agent_of(path) == "kiro"
    assert told(READER, *LINES) == LINES_TOLD
    assert READER.facts(lines_of(LINES), SESSION).date == "2026-08-15T23:42:24.000Z"
    assert READER.identity(path, "", "", "") == (SESSION, "")
    copy = transcript(tmp_path / "75", LINES, "full.jsonl")
    assert READER.identity(copy, "", "", "").id.startswith("kiro-")


def test_the_file_beside_json_lines_says_where_and_what(tmp_path):
    path = transcript(tmp_path, LINES, f"{SESSION}.jsonl")
    with path.open("ab") as stream:
        stream.write(b'{"kind": broken\n')
    dumped(tmp_path / f"{SESSION}.json", {
        "session_id": SESSION, "cwd": FOLDER, "title": "Building", "created_at": "2026-08-16",
        "updated_at": "2026-08-17", "session_state": {},
    })  # fmt: skip
    records, facts = only(path)
    broken = ("system", '{"kind": broken')
    assert [(r.role, r.text) for r in records] == [("system", ""), *LINES_TOLD, broken]
    assert (facts.title, facts.project, facts.date) == ("Building", FOLDER, "2026-08-16")
    assert agent_of(tmp_path / f"{SESSION}.json") == ""


def test_what_the_file_beside_json_lines_says_later_is_not_missed(repository, tmp_path):
    path = transcript(tmp_path, LINES, f"{SESSION}.jsonl")
    here = Project(f"path:{FOLDER}", FOLDER, str(repository.root))

    def run() -> list[str]:
        projects = Projects([here], repository.root)
        return [outcome.action for outcome in archive(repository, [path], projects=projects)]

    assert run() == ["not mapped"]
    own = {"session_id": SESSION, "cwd": FOLDER}
    dumped(tmp_path / f"{SESSION}.json", own)
    assert run() == ["new"]
    dumped(tmp_path / f"{SESSION}.json", {**own, "title": "Building"})
    assert run() == ["joined"]
    assert run() == ["unchanged"]
    stored = repository.sessions / "kiro" / f"{SESSION}.jsonl"
    assert b"Building" in stored.read_bytes()


def test_other_documents_are_not_claimed(tmp_path):
    for number, other in enumerate([
        {"conversation_id": "x"},
        {"conversation_id": "x", "messages": []},
        {"history": []},
        {"conversation_id": 3, "history": []},
    ]):  # fmt: skip
        assert agent_of(dumped(tmp_path / f"{number}.json", other)) == ""
    chat = [{"conversation_id": "x", "role": "user"}, {"conversation_id": "x", "role": "bot"}]
    assert agent_of(transcript(tmp_path, chat)) == ""


def test_two_states_of_a_conversation_end_in_the_same_bytes(tmp_path):
    path = tmp_path / "a.json"
    more = entry(prompt("thanks", 3), answer(3, "Welcome."))
    states = [
        conversation(TALK[0], model_info={"model_id": "one"}),
        conversation(*TALK, more, model_info={"model_id": "two"}, transcript=["> build it"]),
        conversation(more, latest_summary=["What we did", {}], transcript=["> build it"]),
    ]
    for number in (1, 2):
        files = grows_the_same(
            tmp_path / str(number),
            lambda: dumped(path, states[0]),
            lambda number=number: dumped(path, states[number]),
        )
        assert b"thanks" in files[f"kiro/{SESSION}.jsonl"]


def test_a_payload_that_is_whole_again_is_told_and_what_was_kept_stays(tmp_path):
    path = tmp_path / "data.sqlite3"
    files = grows_the_same(
        tmp_path,
        lambda: database(path, (FOLDER, SESSION, '{"conversation_id": "x", "history": [')),
        lambda: database(path, (FOLDER, SESSION, conversation(*TALK))),
    )
    content = files[f"kiro/{SESSION}.jsonl"]
    lines = resolved(read_lines(io.BytesIO(content)))
    said = [(r.role, r.text) for r in READER.read(list(lines))]
    assert set(TOLD) < set(said)


def test_two_states_of_a_database_end_in_the_same_bytes(tmp_path):
    path = tmp_path / "data.sqlite3"
    more = entry(prompt("thanks", 3), answer(3, "Welcome."))
    files = grows_the_same(
        tmp_path,
        lambda: database(path, (FOLDER, SESSION, conversation(TALK[0]))),
        lambda: database(path, (FOLDER, SESSION, conversation(*TALK, more))),
    )
    assert list(files) == [f"kiro/{SESSION}.jsonl"]


def test_a_locked_database_fails_alone_and_is_archived_when_it_is_free(tmp_path, monkeypatch):
    monkeypatch.setattr(knowrepo.sessions.database, "BUSY_SECONDS", 0)
    path = database(tmp_path / "data.sqlite3", (FOLDER, SESSION, conversation(*TALK)))
    other = dumped(tmp_path / "a.json", {**conversation(*TALK), "conversation_id": "other"})
    repository = make_repository(tmp_path / "memory")
    with closing(sqlite3.connect(path, isolation_level=None)) as program:
        program.execute("BEGIN EXCLUSIVE")
        failed, new = archive(repository, [path, other])
    assert (failed.action, failed.source) == ("failed", path)
    assert "locked by its program" in failed.note
    assert (new.action, new.session) == ("new", "kiro/other")
    (now,) = archive(repository, [path])
    assert (now.action, now.session) == ("new", f"kiro/{SESSION}")
