from __future__ import annotations

import json

import pytest

from helpers import concept, jsonl, user, write
from knowrepo.cli.main import main

TOKEN = "gh" + "p_" + "aB3dE5fG7hJ9kL1mN3pQ5rS7tU9vW1xY3z5A"


@pytest.fixture
def leaky(repository, monkeypatch):
    monkeypatch.chdir(repository.root)
    write(repository, "sessions/claude/s.jsonl", jsonl([user("x"), user(TOKEN, 2)]).decode())
    return repository


def test_findings_are_places_and_kinds_and_no_part_of_the_secret(leaky, capsys):
    assert main(["scan"]) == 1
    out, err = capsys.readouterr()
    assert out == "sessions/claude/s.jsonl:2: github-token\n"
    assert err == "1 secret in 1 file\n"
    assert main(["scan", "--json"]) == 1
    assert json.loads(capsys.readouterr().out)["findings"] == [
        {"path": "sessions/claude/s.jsonl", "line": 2, "kind": "github-token", "redacted": False}
    ]


def test_a_clean_repository_exits_with_0(repository, monkeypatch, capsys):
    monkeypatch.chdir(repository.root)
    write(repository, "concepts/a.md", concept())
    assert main(["scan"]) == 0
    assert capsys.readouterr().err == "no secrets\n"


def test_a_path_that_is_not_there_is_told(leaky, capsys):
    assert main(["scan", "nowhere"]) == 1
    assert "nowhere: no such file" in capsys.readouterr().err


def test_fix_redacts_and_says_what_history_still_holds(leaky, commit, capsys):
    commit()
    assert main(["scan", "--fix"]) == 0
    out, err = capsys.readouterr()
    assert out == "sessions/claude/s.jsonl:2: github-token (redacted)\n"
    assert "Rotate every one" in err
    assert "git filter-repo --force --invert-paths --path sessions/claude/s.jsonl" in err
    assert TOKEN not in out + err
    assert main(["scan"]) == 0


def test_fix_of_what_was_never_committed_needs_no_new_history(leaky, capsys):
    assert main(["scan", "--fix"]) == 0
    assert "history needs nothing" in capsys.readouterr().err


def test_concepts_are_reported_and_never_edited(leaky, capsys):
    path = write(leaky, "concepts/a.md", concept(body=TOKEN))
    before = path.read_bytes()
    assert main(["scan", "--fix"]) == 1
    assert "concepts/a.md:7: github-token\n" in capsys.readouterr().out
    assert path.read_bytes() == before


def test_the_hook_fails_and_names_what_to_do(leaky, capsys):
    assert main(["hook", "scan"]) == 1
    out, err = capsys.readouterr()
    assert out == "sessions/claude/s.jsonl:2: github-token\n"
    assert "know scan --fix" in err


def test_secrets_that_the_repository_allows_are_reported_by_the_check(
    repository, monkeypatch, capsys
):
    monkeypatch.chdir(repository.root)
    (repository.root / "know.toml").write_text(
        f"format = 1\n[redact]\nallow = [\n  'sha256:{'0' * 64}',\n]\n"
    )
    assert main(["check"]) == 0
    assert "know.toml:4:1: warning KNOW303 sha256:00000000…" in capsys.readouterr().out
