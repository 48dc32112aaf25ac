from __future__ import annotations

import json
from pathlib import Path

import pytest

from helpers import concept, git, jsonl, user, write
from knowrepo.errors import KnowError
from knowrepo.git.making import NextCommit
from knowrepo.sessions import store
from knowrepo.sessions.archive import archive
from knowrepo.sessions.publish import publish
from knowrepo.sessions.scan import files, fix, scan
from knowrepo.sessions.secrets import Found, of_commit

TOKEN = "gh" + "p_" + "aB3dE5fG7hJ9kL1mN3pQ5rS7tU9vW1xY3z5A"
PASSWORD = "h7Gk2" + "mQ9zX4v"
SESSION = "sessions/claude/s.jsonl"


def put(repository, *records, path: str = SESSION, stage: bool = True) -> Path:
    return write(repository, path, jsonl(records).decode(), stage=stage)


def found(repository, *paths: Path) -> list[Found]:
    return [f for each in scan(repository, files(repository, paths)) for f in each]


def test_sessions_and_concepts_are_looked_at_tracked_or_not(repository):
    put(repository, user("ok"), user("x", input={"db_password": PASSWORD}))
    put(repository, user(TOKEN), path="sessions/codex/a/b.jsonl", stage=False)
    write(repository, "concepts/a.md", concept(body=f"one\n\n{TOKEN} two"), stage=False)
    (repository.root / "notes.md").write_text(TOKEN)
    assert found(repository) == [
        Found("concepts/a.md", 9, "github-token"),
        Found(SESSION, 2, "assigned-secret"),
        Found("sessions/codex/a/b.jsonl", 1, "github-token"),
    ]
    assert found(repository, repository.concepts) == [Found("concepts/a.md", 9, "github-token")]


def test_what_is_redacted_is_no_finding(repository):
    put(repository, user("a [redacted:github-token] b"))
    write(repository, "concepts/a.md", concept(body="[redacted:jwt]"))
    assert found(repository) == []


def test_fix_brings_a_session_to_todays_rules_and_touches_nothing_else(repository):
    path = put(repository, user("first"), {"type": "know.branch", "at": 1}, user(TOKEN, 2))
    clean = put(repository, user("clean"), path="sessions/claude/t.jsonl")
    before = clean.stat().st_mtime_ns
    lines = path.read_bytes().splitlines()
    done = dict(fix(repository, [path, clean]))
    assert done == {path: [Found(SESSION, 3, "github-token")], clean: []}
    after = path.read_bytes().splitlines()
    assert after[:2] == lines[:2]
    assert json.loads(after[2])["message"]["content"] == "[redacted:github-token]"
    assert clean.stat().st_mtime_ns == before
    assert found(repository) == []
    assert dict(fix(repository, [path]))[path] == []


def test_a_fixed_session_takes_the_same_source_again_without_a_change(repository, tmp_path):
    source = tmp_path / "0f0e0d0c-0b0a-4908-8706-050403020100.jsonl"
    source.write_bytes(jsonl([user("first"), user(f"use {TOKEN}", 2)]))
    (outcome,) = archive(repository, [source])
    path = repository.sessions / f"{outcome.session}.jsonl"
    path.write_bytes(path.read_bytes().replace(b"[redacted:github-token]", TOKEN.encode()))
    list(fix(repository, [path]))
    (outcome,) = archive(repository, [source])
    assert outcome.action == "unchanged"


def test_a_session_that_leads_out_of_the_repository_is_not_followed(repository, tmp_path):
    outside = tmp_path / "outside.jsonl"
    outside.write_bytes(jsonl([user(TOKEN)]))
    (repository.sessions / "link.jsonl").symlink_to(outside)
    assert files(repository, []) == []


def scan_staged(repository):
    with NextCommit(repository) as commit:
        return list(of_commit(commit))


@pytest.fixture
def committed(repository, commit):
    put(repository, user(f"old {TOKEN}"), user("second", 2))
    write(repository, "concepts/a.md", concept())
    commit()
    return repository


def test_a_commit_is_asked_for_what_it_changes_alone(committed):
    assert scan_staged(committed) == []
    path = committed.root / SESSION
    path.write_bytes(path.read_bytes() + jsonl([user("third", 3), user(f"new {TOKEN}", 4)]))
    assert scan_staged(committed) == []  # not staged yet
    git(committed.root, "add", "-A")
    assert scan_staged(committed) == [Found(SESSION, 4, "github-token")]


def test_a_first_commit_is_looked_at_whole(repository):
    put(repository, user(TOKEN))
    write(repository, "concepts/é a.md", concept(body=f"password: {PASSWORD}\n"))
    assert sorted(scan_staged(repository)) == [
        Found("concepts/é a.md", 7, "assigned-secret"),
        Found(SESSION, 1, "github-token"),
    ]


def test_a_deletion_and_a_link_are_no_findings(committed, tmp_path):
    git(committed.root, "rm", "-q", "concepts/a.md")
    (committed.sessions / "link.jsonl").symlink_to(tmp_path)
    git(committed.root, "add", "-A")
    assert scan_staged(committed) == []


def test_fix_keeps_a_session_in_parts_whole(repository, tmp_path):
    rows = [user(f"text {number} " + "x" * 200, number) for number in range(40)]
    rows[3], rows[25] = user(TOKEN, 3), user(TOKEN, 25)
    first = repository.root / SESSION
    whole = tmp_path / "whole"
    whole.write_bytes(jsonl(rows))
    publish(whole, first, tmp_path / "publish", most=3000)
    before = store.parts(first)
    holding = [path for path in before if TOKEN.encode() in path.read_bytes()]
    assert len(before) > len(holding) == 2
    done = dict(fix(repository, holding))
    assert [len(done[path]) for path in holding] == [1, 1]
    assert found(repository) == []
    clean = b"".join(store.chunks(first))
    assert clean == jsonl(rows).replace(TOKEN.encode(), b"[redacted:github-token]")


def test_fix_leaves_a_session_in_conflict_to_a_person(repository):
    path = write(repository, SESSION, f"<<<<<<< a\n{TOKEN}\n=======\n{{}}\n>>>>>>> b\n")
    before = path.read_bytes()
    with pytest.raises(KnowError, match=r"`know merge sessions/claude/s\.jsonl`"):
        list(fix(repository, [path]))
    assert path.read_bytes() == before
