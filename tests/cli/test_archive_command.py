from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from helpers import SESSION, assistant, git, jsonl, transcript, user
from knowrepo.cli.main import main
from knowrepo.config import Project, map_project
from knowrepo.sessions import queue
from knowrepo.sessions.stats import KINDS

OTHER = "11111111-2222-4333-8444-555555555555"


class Result:
    def __init__(self, code: int, out: str, err: str) -> None:
        self.code, self.out, self.err = code, out, err


@pytest.fixture
def know(capsys, monkeypatch, repository):
    git(repository.root, "add", "-A")
    git(repository.root, "commit", "-qm", "start")
    monkeypatch.chdir(repository.root)

    def run(*arguments: str) -> Result:
        code = main(list(arguments))
        captured = capsys.readouterr()
        return Result(code, captured.out, captured.err)

    return run


@pytest.fixture
def places(own_environment, repository) -> Path:
    """Claude Code's folder with a session of a mapped project and one of another."""
    map_project(
        Project("path:/home/dev/app", "/home/dev/app", str(repository.root)), make_default=False
    )
    folder = own_environment / ".claude" / "projects" / "-home-dev-app"
    transcript(folder, [user("why", 1), assistant("because", 2)])
    transcript(folder, [user("x", 1, cwd="/home/dev/other")], f"{OTHER}.jsonl")
    return folder


def test_all_archives_what_is_mapped_and_counts_the_rest(know, places, repository):
    result = know("archive", "--all")
    assert result.code == 0
    assert result.out.startswith(f"claude/{SESSION}: new, 2 lines")
    assert OTHER not in result.out + result.err
    header, *rows = [line.split() for line in result.err.splitlines()[:3]]
    assert header[:3] == ["agent", "new", "not"]
    assert ["claude", "1", "0"] in [row[:3] for row in rows]
    assert ["-", "0", "1"] in [row[:3] for row in rows]
    assert "maps one" in result.err
    assert [p.stem for p in repository.sessions.rglob("*.jsonl")] == [SESSION]
    assert know("archive", "--agent", "claude").out == ""
    assert know("archive", "--agent", "codex").code == 0


def test_a_dry_run_writes_nothing(know, places, repository):
    result = know("archive", "--all", "--dry-run")
    assert result.out.startswith(f"would be claude/{SESSION}: new")
    assert "nothing was changed" in result.err
    assert list(repository.sessions.rglob("*.jsonl")) == []


def test_only_what_was_written_since_is_looked_at(know, places):
    assert know("archive", "--all", "--since", "2999-01-01").out == ""
    assert know("archive", "--all", "--since", "1h").out != ""
    wrong = know("archive", "--all", "--since", "yesterday")
    assert (wrong.code, "neither a date nor an age" in wrong.err) == (2, True)


def test_excluded_paths_are_left_out_unless_they_are_named(know, places, repository):
    (repository.root / "know.toml").write_text(
        f'format = 1\n[archive]\nexclude = ["*/{SESSION}.jsonl"]\n'
    )
    assert know("archive", "--all").out == ""
    assert know("archive", str(places)).out.startswith(f"claude/{OTHER}")
    assert know("archive", str(places / f"{SESSION}.jsonl")).out.startswith(f"claude/{SESSION}")


def test_the_size_of_parts_is_the_repositorys(know, places, repository):
    rows = [user("x" * 300_000, number) for number in range(1, 6)]
    (places / f"{SESSION}.jsonl").write_bytes(jsonl(rows))
    (repository.root / "know.toml").write_text("format = 1\n[archive]\npart_megabytes = 1\n")
    know("archive", "--all")
    names = sorted(p.name for p in repository.sessions.rglob("*.jsonl"))
    assert names == [f"{SESSION}.1.jsonl", f"{SESSION}.jsonl"]
    (repository.root / "know.toml").write_text("format = 1\n[archive]\npart_megabytes = 100\n")
    assert "must be from 1 to 95" in know("archive", "--all").err


def test_commit_commits_the_sessions_and_nothing_else(know, places, repository):
    (repository.root / "mine.txt").write_text("staged")
    git(repository.root, "add", "mine.txt")
    result = know("archive", "--all", "--commit")
    assert "committed 1 file" in result.err
    shown = git(repository.root, "show", "--name-only", "--format=%s", "HEAD").split("\n\n")
    assert shown == ["Archive 1 session file", f"sessions/claude/{SESSION}.jsonl\n"]
    assert git(repository.root, "status", "--porcelain").startswith("A  mine.txt\n")
    assert "nothing to commit" in know("archive", "--all", "--commit").err


def test_commit_refuses_before_it_archives(know, places, repository):
    git(repository.root, "checkout", "-q", "--detach")
    result = know("archive", "--all", "--commit")
    assert (result.code, "HEAD is detached" in result.err) == (1, True)
    assert list(repository.sessions.rglob("*.jsonl")) == []


@pytest.mark.parametrize(
    "arguments",
    [[], ["--all", "x"], ["--queued", "--all"], ["--queued", "x"], ["--agent", "hal"]],
)
def test_contradictions_are_wrong_usage(know, arguments):
    result = know("archive", *arguments)
    assert result.code == 2
    assert result.err.startswith("know: ")


def test_stats_say_what_each_kind_of_content_costs(know, places, repository):
    know("archive", "--all", "--quiet")
    result = know("archive", "--stats")
    assert result.code == 0
    assert "user text" in result.out
    assert result.out.splitlines()[-1].split()[0] == "all"
    size = sum(p.stat().st_size for p in repository.sessions.rglob("*.jsonl"))
    assert f"{size} B" in result.out.splitlines()[-1]
    assert "1 session and 0 files below them" in result.err
    assert know("archive", str(places), "--stats", "--quiet").out.startswith("user text")
    assert len(result.out.splitlines()) == len(KINDS) + 1


# -- the queue --------------------------------------------------------------------


def note(path: Path, cwd: str = "/home/dev/app", event: str = "Stop") -> None:
    given = {"transcript_path": str(path), "cwd": cwd, "session_id": path.stem}
    said = json.dumps({**given, "hook_event_name": event})
    subprocess.run([sys.executable, "-m", "knowrepo.hook", said], check=True)


def test_what_the_hooks_noted_is_archived_with_what_lies_below_it(know, places, repository):
    below = places / SESSION / "subagents"
    transcript(below, [user("task", 1, isSidechain=True)], "agent-1.jsonl")
    note(places / f"{SESSION}.jsonl")
    note(places / f"{OTHER}.jsonl", cwd="/home/dev/other")
    result = know("archive", "--queued")
    assert result.out.count("new") == 2
    assert sorted(p.stem for p in repository.sessions.rglob("*.jsonl")) == [SESSION, "agent-1"]
    assert queue.waiting().waiting == 1  # another repository's
    assert know("archive", "--queued").out == ""
    with (places / f"{SESSION}.jsonl").open("ab") as stream:  # no hook said so: it crashed
        stream.write(jsonl([user("more", 3)]))
    assert f"claude/{SESSION}: grown" in know("archive", "--queued").out


def test_what_could_not_be_archived_stays_in_the_queue(know, places, repository):
    note(places / f"{SESSION}.jsonl")
    (repository.sessions / "claude").write_text("in the way")
    assert know("archive", "--queued").code == 1
    (repository.sessions / "claude").unlink()
    assert "new" in know("archive", "--queued").out


def test_a_sweep_without_a_repository_is_silent(places, tmp_path, monkeypatch, capsys):
    note(places / f"{SESSION}.jsonl")
    monkeypatch.chdir(tmp_path)
    capsys.readouterr()
    assert main(["archive", "--queued", "--quiet"]) == 0
    captured = capsys.readouterr()
    assert (captured.out, captured.err) == ("", "")
    assert queue.waiting().waiting == 1
    assert main(["archive", "--queued"]) == 1


def test_a_sweep_prints_nothing_that_an_agent_would_take_for_context(know, places):
    note(places / f"{SESSION}.jsonl")
    result = know("archive", "--queued", "--quiet")
    assert (result.code, result.out, result.err) == (0, "", "")


# -- forgetting -------------------------------------------------------------------


def test_forgetting_takes_all_that_belongs_to_a_session(know, places, repository):
    transcript(places / SESSION / "subagents", [user("t", 1, isSidechain=True)], "agent-1.jsonl")
    know("archive", "--all", "--commit")
    know("index")
    assert "why" in know("recall", "why").out
    assert know("forget", SESSION[:8]).code == 1  # nobody to ask
    result = know("forget", SESSION[:8], "--yes")
    assert result.out.startswith(f"claude/{SESSION}: forgotten; 2 files")
    assert f"--path 'sessions/claude/{SESSION}.jsonl'" in result.err
    assert "why" not in know("recall", "why").out
    assert know("archive", "--all").out == ""
    assert know("forget", SESSION, "--yes").code == 1
    git(repository.root, "add", "-A")
    git(repository.root, "commit", "-qm", "forget")
    clone = repository.root.parent / "clone"
    git(repository.root, "clone", "-q", str(repository.root), str(clone))
    main(["archive", str(places), "--repo", str(clone)])
    assert [p.stem for p in (clone / "sessions").rglob("*.jsonl")] == [OTHER]
