"""``know forget``, and what must not bring a forgotten session back."""

from __future__ import annotations

import pytest

from helpers import SESSION, assistant, git, transcript, user
from knowrepo.cli.main import main

WORD = "zebrafinch"


class Result:
    def __init__(self, code: int, out: str, err: str) -> None:
        self.code, self.out, self.err = code, out, err


@pytest.fixture
def know(capsys, monkeypatch, repository):
    git(repository.root, "add", "-A")
    git(repository.root, "commit", "-qm", "start", "--allow-empty")
    monkeypatch.chdir(repository.root)

    def run(*arguments: str) -> Result:
        code = main(list(arguments))
        captured = capsys.readouterr()
        return Result(code, captured.out, captured.err)

    return run


@pytest.fixture
def source(tmp_path):
    return transcript(tmp_path / "in", [user(f"tell me of the {WORD}", 1), assistant("ok", 2)])


# -- committing -------------------------------------------------------------------


def test_a_commit_after_forgetting_holds_the_deletion_and_the_tombstone(know, repository, source):
    know("archive", str(source), "--commit")
    know("forget", SESSION, "--yes")
    result = know("archive", str(source), "--commit")
    assert (result.code, "committed 2 files" in result.err) == (0, True)
    assert git(repository.root, "status", "--porcelain") == ""
    shown = git(repository.root, "show", "--name-status", "--format=%s", "HEAD").split("\n\n")
    assert shown[0] == "Forget 1 session"
    assert sorted(shown[1].split()) == [
        "A", "D", f"sessions/claude/{SESSION}.forgotten", f"sessions/claude/{SESSION}.jsonl"
    ]  # fmt: skip


def test_a_commit_takes_no_file_that_the_archive_did_not_make(know, repository, source):
    folder = repository.sessions / "claude"
    folder.mkdir(exist_ok=True)
    for name in ("notes.txt", ".x.jsonl.ab.tmp", ".hidden.jsonl"):
        (folder / name).write_text("mine\n")
    assert know("archive", str(source), "--commit").code == 0
    shown = git(repository.root, "show", "--name-only", "--format=", "HEAD")
    assert shown == f"sessions/claude/{SESSION}.jsonl\n"


def test_a_commit_of_sessions_that_git_ignores_fails_and_says_so(know, repository, source):
    (repository.git_dir / "info" / "exclude").write_text("*.jsonl\n")
    result = know("archive", str(source), "--commit")
    assert result.code == 1
    assert f"git ignores sessions/claude/{SESSION}.jsonl" in result.err
    assert "git has all sessions" not in result.err
