from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

from knowrepo.sessions.readers.opencode import OpenCodeReader
from unpacking import agent_of, archived, dumped, grows_the_same, lines_of, only, told, unpacked

READER = OpenCodeReader()
SESSION = "ses_4f0000000ffeAbCdEfGhIjKlMn"
FOLDER = "/home/dev/app"
CREATED = 1_778_834_704_000

Parts = list[dict[str, Any]]


def info(**fields: Any) -> dict[str, Any]:
    return {
        "id": SESSION,
        "slug": "clever-engine",
        "projectID": "global",
        "directory": FOLDER,
        "title": "Why it is slow",
        "version": "1.2.3",
        "time": {"created": CREATED, "updated": CREATED + 9},
        **fields,
    }


def message(number: int, role: str, *parts: dict[str, Any], **fields: Any) -> dict[str, Any]:
    id = f"msg_{number:04d}"  # noqa: A001
    own = {"sessionID": SESSION, "messageID": id}
    return {
        "info": {
            "id": id,
            "sessionID": SESSION,
            "role": role,
            "time": {"created": CREATED + number},
            **fields,
        },
        "parts": [
            {"id": f"prt_{number:04d}{index:02d}", **own, **part}
            for index, part in enumerate(parts)
        ],
    }


def text(said: str, **fields: Any) -> dict[str, Any]:
    return {"type": "text", "text": said, **fields}


def tool(name: str, status: str, **fields: Any) -> dict[str, Any]:
    given = fields.pop("given", {"command": "ls"})
    state = {"status": status, "input": given, **fields}
    return {"type": "tool", "tool": name, "callID": "c1", "state": state}


TALK = [
    message(1, "user", text("why is it slow?"), text("files", synthetic=True)),
    message(
        2,
        "assistant",
        {"type": "step-start"},
        {"type": "reasoning", "text": "hm"},
        text("Let me see."),
        tool("bash", "completed", output="a.py", time={"start": CREATED + 3, "end": CREATED + 4}),
        {"type": "step-finish", "reason": "tool-calls"},
        parentID="msg_0001",
        path={"cwd": FOLDER, "root": FOLDER},
    ),
]


def export(*messages: dict[str, Any], **fields: Any) -> dict[str, Any]:
    return {"info": info(**fields), "messages": list(messages)}


def database(path: Path, messages: list[dict[str, Any]], **fields: Any) -> Path:
    """Write the database that holds what ``export`` holds."""
    path.unlink(missing_ok=True)
    with closing(sqlite3.connect(path)) as connection:
        connection.executescript(
            "CREATE TABLE session (id TEXT PRIMARY KEY, project_id TEXT, parent_id TEXT, slug TEXT,"
            " directory TEXT, title TEXT, version TEXT, share_url TEXT, summary_files INTEGER,"
            " cost REAL, tokens_input INTEGER, permission TEXT, time_created INTEGER,"
            " time_updated INTEGER, time_archived INTEGER);"
            "CREATE TABLE message (id TEXT PRIMARY KEY, session_id TEXT, time_created INTEGER,"
            " time_updated INTEGER, data TEXT);"
            "CREATE TABLE part (id TEXT PRIMARY KEY, message_id TEXT, session_id TEXT, data TEXT);"
        )
        own = info(**fields)
        connection.execute(
            "INSERT INTO session VALUES (?,?,?,?,?,?,?,NULL,2,0.5,7,NULL,?,?,NULL)",
            (
                own["id"], own["projectID"], own.get("parentID"), own["slug"], own["directory"],
                own["title"], own["version"], own["time"]["created"], own["time"]["updated"],
            ),
        )  # fmt: skip
        for one in messages:
            row = {k: v for k, v in one["info"].items() if k not in ("id", "sessionID")}
            created = row["time"]["created"]
            named = (one["info"]["id"], own["id"], created, created, json.dumps(row))
            connection.execute("INSERT INTO message VALUES (?,?,?,?,?)", named)
            for part in one["parts"]:
                row = {k: v for k, v in part.items() if k not in ("id", "sessionID", "messageID")}
                named_part = (part["id"], one["info"]["id"], own["id"], json.dumps(row))
                connection.execute("INSERT INTO part VALUES (?,?,?,?)", named_part)
        connection.commit()
    return path


def stored(folder: Path, messages: list[dict[str, Any]]) -> Path:
    """Write the files that held a session before there was a database."""
    storage = folder / "storage"
    for one in messages:
        name = one["info"]["id"]
        dumped(storage / "message" / SESSION / f"{name}.json", one["info"])
        for part in one["parts"]:
            dumped(storage / "part" / name / f"{part['id']}.json", part)
    return dumped(storage / "session" / "global" / f"{SESSION}.json", info())


def test_an_export_is_its_own_fields_and_then_its_messages(tmp_path):
    records, facts = only(dumped(tmp_path / "full.jsonl", export(*TALK)))
    assert [(r.role, r.text) for r in records] == [
        ("system", ""), ("user", "why is it slow?"), ("injected", "files"),
        ("assistant", "Let me see."), ("tool", "a.py"),
    ]  # fmt: skip
    assert [r.key for r in records[:4:3]] == [SESSION, "msg_0002"]
    assert len({r.key for r in records}) == len(records)
    assert [(c.name, c.argument) for c in records[3].calls] == [("bash", "ls")]
    assert records[3].parent == "msg_0001"
    assert (facts.title, facts.project) == ("Why it is slow", FOLDER)
    assert (facts.date, facts.first_user_line) == ("2026-05-15T08:45:04.000Z", "why is it slow?")
    assert not facts.sub_agent


def test_all_places_of_a_session_give_the_same_records(tmp_path):
    from_export = archived(tmp_path / "1", lambda: dumped(tmp_path / "e.json", export(*TALK)))
    from_files = archived(tmp_path / "2", lambda: stored(tmp_path, TALK))
    from_database = archived(tmp_path / "3", lambda: database(tmp_path / "opencode.db", TALK))
    assert from_export == from_files == from_database


def test_a_database_is_left_as_it_is(tmp_path):
    path = database(tmp_path / "opencode.db", TALK)
    before = path.read_bytes(), path.stat().st_mtime_ns
    assert len(only(path)[0]) == 5
    assert (path.read_bytes(), path.stat().st_mtime_ns) == before
    assert [entry.name for entry in tmp_path.iterdir()] == ["opencode.db"]


def test_the_sessions_of_a_database_may_be_listed_before_they_are_read(tmp_path):
    path = database(tmp_path / "opencode.db", TALK)
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("INSERT INTO session (id, parent_id) VALUES ('ses_9', ?)", (SESSION,))
        connection.commit()
    sessions = unpacked(path)
    assert list(sessions) == [SESSION, f"{SESSION}/ses_9"]
    assert sessions[f"{SESSION}/ses_9"][1].sub_agent


def test_a_payload_that_is_no_json_costs_itself_only(tmp_path):
    path = database(tmp_path / "opencode.db", TALK)
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("UPDATE part SET data = '{\"type\": \"te' WHERE id = 'prt_000100'")
        connection.execute("UPDATE message SET data = 'broken' WHERE id = 'msg_0002'")
        connection.commit()
    records, facts = only(path)
    assert [(r.role, r.text) for r in records] == [
        ("system", ""),
        ("system", '{"type": "te'), ("injected", "files"),
        ("system", "Let me see."), ("assistant", ""), ("tool", "a.py"), ("system", "broken"),
    ]  # fmt: skip
    assert facts.project == FOLDER


def test_a_session_that_a_newer_version_keeps_as_events_is_read(tmp_path):
    path = database(tmp_path / "opencode.db", [])
    events = [
        ("user", {"text": "go"}),
        ("synthetic", {"text": "context"}),
        ("shell", {"command": "ls", "output": "a.py"}),
        ("assistant", {"content": [
            text("Done."),
            {"type": "tool", "id": "t", "name": "bash", "state": {
                "status": "completed", "input": {"command": "know recall x"},
                "content": [text("hits")]}},
        ]}),
        ("compaction", {"summary": "All of it"}),
        ("model-switched", {"model": {"id": "x"}}),
    ]  # fmt: skip
    with closing(sqlite3.connect(path)) as connection:
        connection.execute(
            "CREATE TABLE session_message (id TEXT, session_id TEXT, type TEXT,"
            " time_created INTEGER, data TEXT)"
        )
        for number, (kind, data) in enumerate(events):
            connection.execute(
                "INSERT INTO session_message VALUES (?,?,?,?,?)",
                (f"evt_{number}", SESSION, kind, CREATED + number, json.dumps(data)),
            )
        connection.commit()
    records, _ = only(path)
    assert [(r.role, r.text) for r in records[1:]] == [
        ("user", "go"), ("injected", "context"), ("assistant", ""), ("tool", "a.py"),
        ("assistant", "Done."), ("injected", "hits"), ("summary", "All of it"), ("system", ""),
    ]  # fmt: skip


def test_the_files_of_the_first_versions_are_read(tmp_path):
    root = tmp_path / "storage" / "session"
    for one in TALK:
        name = one["info"]["id"]
        dumped(root / "message" / SESSION / f"{name}.json", one["info"])
        for part in one["parts"]:
            dumped(root / "part" / SESSION / name / f"{part['id']}.json", part)
    records, _ = only(dumped(root / "info" / f"{SESSION}.json", info()))
    assert [r.role for r in records] == ["system", "user", "injected", "assistant", "tool"]


def test_a_message_and_a_part_on_their_own_are_no_sessions(tmp_path):
    stored(tmp_path, TALK)
    found = {p.parent.name: agent_of(p) for p in sorted(tmp_path.rglob("*.json"))}
    assert found == {"global": "opencode", SESSION: "", "msg_0001": "", "msg_0002": ""}


def test_what_a_tool_wrote_is_told_in_every_state():
    parts = [
        tool("bash", "completed", output="out"),
        tool("bash", "error", error="failed"),
        tool("bash", "error", metadata={"interrupted": True, "output": "half"}),
        tool("bash", "running"),
        tool("bash", "completed", output="hits", given={"command": "know recall x"}),
    ]
    spoken, *results = told(READER, message(1, "assistant", *parts))
    assert spoken == ("assistant", "")
    assert results == [("tool", "out"), ("tool", "failed"), ("tool", "half"), ("injected", "hits")]


def test_a_compaction_is_a_summary_and_machine_text_is_injected():
    records = [
        message(1, "user", {"type": "compaction", "auto": True}),
        message(2, "assistant", text("What we did."), summary=True),
        message(3, "user", text("Continue.", synthetic=True), text("note", ignored=True)),
        message(4, "user", {"type": "subtask", "prompt": "look", "agent": "explore"}),
    ]
    assert told(READER, *records) == [
        ("system", ""), ("summary", "What we did."), ("injected", "Continue.\nnote"),
        ("injected", "look"),
    ]  # fmt: skip


def test_a_title_that_nobody_gave_is_none(tmp_path):
    title = "New session - 2026-05-15T10:25:04.515Z"
    _, facts = only(dumped(tmp_path / "a.json", export(*TALK, title=title)))
    assert facts.title == "why is it slow?"


def test_a_later_version_of_a_message_ranks_higher():
    running = message(2, "assistant", tool("bash", "running", time={"start": CREATED}))
    ended = {"start": CREATED, "end": CREATED + 50}
    done = message(2, "assistant", tool("bash", "completed", output="", time=ended))
    ranks = [READER.rank(r) for r in (running, done)]
    assert ranks == sorted(ranks)
    assert len(set(ranks)) == 2
    odd = {"info": {"time": {"created": 10**400}}, "parts": [{"time": {"end": True}}, 3, None]}
    assert READER.rank(odd) <= ranks[0]


def test_other_sources_are_not_claimed(tmp_path):
    others = [
        {"info": {"id": "x"}, "messages": []},
        {"info": {"title": "an API"}, "messages": [{"info": {}, "parts": []}]},
        {"info": {"id": "x"}, "messages": [{"role": "user"}]},
        {"id": "x", "time": {}},
    ]
    for number, other in enumerate(others):
        assert agent_of(dumped(tmp_path / f"{number}.json", other)) == ""
    path = tmp_path / "foreign.db"
    with closing(sqlite3.connect(path)) as connection:
        connection.executescript(
            "CREATE TABLE session (id); CREATE TABLE message (id, body); CREATE TABLE part (id)"
        )
    assert agent_of(path) == ""


RUNNING = message(2, "assistant", text("Let me see."), tool("bash", "running"))
LATER = message(3, "user", text("thanks"))


def test_two_states_of_an_export_end_in_the_same_bytes(tmp_path):
    path = tmp_path / "export.json"
    files = grows_the_same(
        tmp_path,
        lambda: dumped(path, export(TALK[0], RUNNING, title="New session - 2026-05-15T10:25:04Z")),
        lambda: dumped(path, export(*TALK, LATER)),
    )
    (content,) = files.values()
    assert content.count(b"thanks") == 1
    assert b"a.py" in content


def test_two_states_of_a_database_end_in_the_same_bytes(tmp_path):
    path = tmp_path / "opencode.db"
    files = grows_the_same(
        tmp_path,
        lambda: database(path, [TALK[0], RUNNING]),
        lambda: database(path, [*TALK, LATER], time={"created": CREATED, "updated": CREATED + 99}),
    )
    assert list(files) == [f"opencode/{SESSION}.jsonl"]


def test_a_later_state_that_only_adds_begins_with_the_bytes_of_the_earlier(tmp_path):
    path = tmp_path / "export.json"
    early = archived(tmp_path / "1", lambda: dumped(path, export(*TALK, cost=1, todos=[])))
    late = archived(tmp_path / "2", lambda: dumped(path, export(*TALK, LATER, cost=2)))
    (first,), (second,) = early.values(), late.values()
    assert second.startswith(first)
    assert lines_of([{"a": 1}])  # the archive holds JSON lines
