from __future__ import annotations

import errno
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from helpers import SESSION, assistant, git, jsonl, transcript, user
from knowrepo.cli.main import main
from knowrepo.config import Project, map_project
from knowrepo.sessions.capture import queue
from knowrepo.sessions.projects import path_hash
from knowrepo.sessions.stats import KINDS

OTHER = "11111111-2222-4333-8444-555555555555"


@pytest.fixture
def know(know, repository):
    git(repository.root, "add", "-A")
    git(repository.root, "commit", "-qm", "start")
    return know


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
    assert ["claude", "1", "1"] in [row[:3] for row in rows]
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


def test_the_folders_that_are_not_mapped_are_named(know, places):
    for number in range(7):
        folder = f"/home/dev/{number}"
        transcript(places, [user("x", 1, cwd=folder, sessionId="")], f"{OTHER[:-1]}{number}.jsonl")
    for _ in range(2):  # what was seen before is counted again
        told = know("archive", "--all").err
        assert "not mapped: /home/dev/0 (1 session), /home/dev/1 (1 session)" in told
        assert told.count(" session)") == 5
        assert "and 2 folders more" in told


def test_a_folder_that_cannot_be_read_has_failed(know, places, repository, own_environment):
    real = os.scandir

    def locked(path):
        if not isinstance(path, int) and Path(path).name == "locked":
            raise PermissionError(errno.EACCES, "Permission denied", str(path))
        return real(path)

    (places / "locked").mkdir()
    (own_environment / ".codex" / "sessions" / "locked").mkdir(parents=True)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(os, "scandir", locked)
        for arguments in ([str(places / "locked")], [str(places)], ["--all"], ["--agent", "codex"]):
            result = know("archive", *arguments)
            assert result.code == 1, arguments
            assert "locked: Permission denied\n" in result.err
    assert know("archive", "--all").code == 0


@pytest.mark.parametrize(
    ("setting", "told"),
    [
        ('exclude = ["*"]', "no setting `exclude`; `exclude` belongs below [archive]"),
        ('[archive]\nexcludes = ["*"]', "no setting `archive.excludes`"),
        ("[archive]\npart_megabytes = 4", "no setting `archive.part_megabytes`"),
        ("[redact]\nextras = []", "no setting `redact.extras`"),
        ("[[projects]]\nident = 'x'", "no setting `projects.ident`"),
    ],
)
def test_a_setting_that_does_nothing_is_told_once(know, tmp_path, own_environment, setting, told):
    (own_environment / "config.toml").write_text(setting)
    path = transcript(tmp_path / "in", [user("a", 1)])
    for arguments in ([str(path)], ["--all"], ["--queued", "--quiet"]):
        result = know("archive", *arguments)
        assert result.code == 0
        assert result.err.count(told) == 1, result.err


@pytest.mark.parametrize(
    "setting",
    [
        "exclude = 5", "part_megabytes = -5", "part_megabytes = true", "format = true",
        "[archive]\nexclude = 5", "[archive]\nexclude = 'x'", "[archive]\nexclude = ['']",
        "[archive]\npart_megabytes = -5", "[archive]\npart_megabytes = true",
        "[archive]\npart_megabytes = '4'", "archive = 5",
    ],
)  # fmt: skip
def test_a_setting_of_the_wrong_type_is_an_error(know, tmp_path, repository, setting):
    path = transcript(tmp_path / "in", [user("a", 1)])
    (repository.root / "know.toml").write_text(setting)
    result = know("archive", str(path))
    assert (result.code, "must be" in result.err or "holds an empty" in result.err) == (1, True)
    assert "know.toml" in result.err


def test_without_git_a_named_path_is_archived_and_the_rest_says_so(know, places, monkeypatch):
    monkeypatch.setenv("PATH", str(places))
    for arguments in (["archive", "--all"], ["init", "--no-archive"]):
        result = know(*arguments)
        assert (result.code, result.err) == (
            1, "know: git is not installed\n  install git 2.30 or newer\n",
        )  # fmt: skip
    assert "new" in know("archive", str(places / f"{SESSION}.jsonl")).out


def test_the_sessions_of_gemini_name_their_project_by_its_hash(know, places, own_environment):
    chats = own_environment / ".gemini" / "tmp" / "app" / "chats"
    own = {"startTime": "2026-02-03T10:00:00.000Z", "lastUpdated": "2026-02-03T10:00:00.000Z"}
    said = {"id": "m1", "timestamp": own["startTime"], "type": "user", "content": "why"}
    for folder, name in (("/home/dev/app", "mine"), ("/home/dev/other", "other")):
        head = {"sessionId": name, "projectHash": path_hash(folder), **own}
        transcript(chats, [head, said], f"session-{name}.jsonl")
        document = {**head, "sessionId": f"{name}-document", "messages": [said]}
        (chats / f"session-{name}-document.json").write_text(json.dumps(document))
    result = know("archive", "--agent", "gemini")
    found = sorted(line.partition(":")[0] for line in result.out.splitlines())
    assert found == ["gemini/mine", "gemini/mine-document"]


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


def test_what_is_excluded_is_no_more_taken_from_the_queue(know, places, repository):
    below = places / SESSION / "subagents"
    transcript(below, [user("task", 1, isSidechain=True)], "agent-1.jsonl")
    config = repository.root / "know.toml"
    for excluded, taken in (("*/-home-dev-app/*", 0), ("/home/dev", 0), ("subagents", 1)):
        note(places / f"{SESSION}.jsonl")
        config.write_text(f'format = 1\n[archive]\nexclude = ["{excluded}"]\n')
        assert know("archive", "--queued").out.count("new") == taken
        assert len(list(repository.sessions.rglob("*.jsonl"))) == taken


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
    assert know("forget", SESSION[:8]).code == 2  # nobody to ask
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
