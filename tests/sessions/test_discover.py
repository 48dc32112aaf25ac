from __future__ import annotations

import hashlib
from pathlib import Path

import pytest

from helpers import git, jsonl, make_repository, transcript, user
from knowrepo.config import Project
from knowrepo.errors import UsageError
from knowrepo.git.repo import identify_project
from knowrepo.sessions import sweep
from knowrepo.sessions.discover import aider_histories, places
from knowrepo.sessions.projects import Projects, path_hash, same_name

HOME = Path("/home/me")


def folders(agent: str, platform: str = "linux", **environment: str) -> set[str]:
    found = places(environment, home=HOME, platform=platform)
    return {place.folder.as_posix() for place in found if place.agent == agent}


@pytest.mark.parametrize(
    ("agent", "variable", "below"),
    [
        ("claude", "CLAUDE_CONFIG_DIR", "projects"),
        ("codex", "CODEX_HOME", "sessions"),
        ("gemini", "GEMINI_CLI_HOME", ".gemini/tmp"),
        ("copilot", "COPILOT_HOME", "session-state"),
        ("pi", "PI_CODING_AGENT_DIR", "sessions"),
        ("opencode", "XDG_DATA_HOME", "opencode"),
    ],
)
def test_the_folder_that_an_agent_was_told_is_looked_in(agent, variable, below):
    assert f"/elsewhere/{below}" in folders(agent, **{variable: "/elsewhere"})
    assert f"/elsewhere/{below}" not in folders(agent)
    assert folders(agent, **{variable: ""}) == folders(agent)


def test_each_platform_has_its_folders():
    assert "/home/me/.local/share/kiro-cli" in folders("kiro")
    assert "/home/me/Library/Application Support/kiro-cli" in folders("kiro", "darwin")
    assert "/home/me/AppData/Local/kiro-cli" in folders("kiro", "win32")
    assert "C:/Data/kiro-cli" in folders("kiro", "win32", LOCALAPPDATA="C:/Data")


def test_every_layout_of_claude_code_is_found(tmp_path):
    project = tmp_path / "projects" / "-home-me-app"
    wanted = [
        "s.jsonl", "agent-1.jsonl", "s/subagents/agent-2.jsonl",
        "s/subagents/workflows/w/agent-3.jsonl", "s/subagents/workflows/w/journal.jsonl",
        "s/tool-results/t.txt",
    ]  # fmt: skip
    for name in [*wanted, "memory/notes.md", "sessions-index.json"]:
        (project / name).parent.mkdir(parents=True, exist_ok=True)
        (project / name).write_text("x")
    found = [
        path.relative_to(project).as_posix()
        for place in places({"CLAUDE_CONFIG_DIR": str(tmp_path)}, home=tmp_path / "no")
        for path in place.files()
    ]
    assert sorted(found) == sorted(wanted)


# -- which of them belong here ---------------------------------------------------


@pytest.mark.parametrize(
    "url",
    [
        "https://example.org/team/app.git",
        "https://example.org/team/app",
        "git@example.org:team/app.git",
        "ssh://git@example.org:22/team/app.git",
        "https://EXAMPLE.org/team/app/",
    ],
)
def test_one_remote_has_one_name(url):
    assert same_name(url) == "example.org/team/app"


def test_other_identities_are_as_they_are():
    assert same_name("commit:abc") == "commit:abc"
    assert same_name("path:/a/b.git") == "path:/a/b.git"
    assert same_name("https://example.org/other/app") != same_name("https://example.org/team/app")


def project(folder: Path, repository: Path) -> Project:
    identity = identify_project(folder)
    return Project(identity.identity, str(identity.path), str(repository))


@pytest.fixture
def app(tmp_path) -> Path:
    folder = tmp_path / "app"
    (folder / "src").mkdir(parents=True)
    git(folder, "init", "-q")
    git(folder, "commit", "-q", "--allow-empty", "-m", "first")
    return folder


def test_a_folder_of_the_project_its_clone_and_its_work_trees_belong(app, tmp_path):
    here = tmp_path / "memory"
    projects = Projects([project(app, here)], here)
    git(app, "worktree", "add", "-q", str(tmp_path / "tree"))
    git(tmp_path, "clone", "-q", str(app), "clone")
    git(tmp_path / "clone", "remote", "remove", "origin")
    (tmp_path / "application").mkdir()
    for name in ("app", "app/src", "tree", "clone"):
        assert projects.admits(str(tmp_path / name)), name
    assert not projects.admits(str(tmp_path / "application"))
    assert not projects.admits(str(tmp_path))
    assert not projects.admits("")


def test_a_project_that_is_gone_is_told_by_its_path(app, tmp_path):
    here = tmp_path / "memory"
    projects = Projects([project(app, here)], here)
    app.rename(tmp_path / "moved")
    assert projects.admits(str(app))
    assert projects.admits(str(app / "src"))
    assert not projects.admits(f"{app}-2")
    assert projects.admits(str(tmp_path / "moved"))


def test_another_project_that_took_its_place_does_not_belong(app, tmp_path):
    here = tmp_path / "memory"
    projects = Projects([project(app, here)], here)
    app.rename(tmp_path / "moved")
    app.mkdir()
    git(app, "init", "-q")
    (app / "other").write_text("x")
    git(app, "add", "-A")
    git(app, "commit", "-qm", "another first")
    assert not projects.admits(str(app))


def test_a_project_mapped_before_its_first_commit_still_belongs(tmp_path):
    folder, here = tmp_path / "app", tmp_path / "memory"
    folder.mkdir()
    git(folder, "init", "-q")
    projects = Projects([project(folder, here)], here)
    assert projects.admits(str(folder))
    git(folder, "commit", "-q", "--allow-empty", "-m", "first")
    assert Projects([*[Project(f"path:{folder}", str(folder), str(here))]], here).admits(
        str(folder)
    )
    del projects


def test_a_project_of_another_memory_does_not_belong(app, tmp_path):
    projects = Projects([project(app, tmp_path / "other")], tmp_path / "memory")
    assert not projects.admits(str(app))


def test_a_folder_of_which_only_the_hash_is_known_belongs(app, tmp_path):
    here = tmp_path / "memory"
    projects = Projects([project(app, here)], here)
    assert projects.admits("", hashlib.sha256(str(app).encode()).hexdigest())
    assert not projects.admits("", path_hash("/elsewhere"))


def test_excluded_folders_do_not_belong(app, tmp_path):
    here = tmp_path / "memory"
    projects = Projects([project(app, here)], here, exclude=["*/app/src"])
    assert projects.admits(str(app))
    assert not projects.admits(str(app / "src"))
    assert not projects.admits(str(app / "src" / "deep"))
    assert projects.excludes("C:\\work\\app\\src")


def test_the_places_are_searched_and_what_belongs_is_told_by_content(
    app, tmp_path, own_environment
):
    here = make_repository(tmp_path / "memory")
    folder = own_environment / ".claude" / "projects" / "-any"
    mine = transcript(folder, [user("a", 1, cwd=str(app))])
    other = transcript(folder, [user("b", 1, cwd="/elsewhere")], "other.jsonl")
    (folder / "excluded.jsonl").write_bytes(jsonl([user("c", 1, cwd=str(app))]))
    projects = Projects([project(app, here.root)], here.root, exclude=["*/excluded.jsonl"])
    found = sweep.sources(projects)
    assert sorted(found) == sorted([mine, other])
    assert list(sweep.belonging(found, projects)) == [mine]
    assert sweep.sources(projects, agents=["claude"], since=2e10) == []
    with pytest.raises(UsageError, match="unknown agent hal"):
        sweep.sources(projects, agents=["hal"])


def test_aider_keeps_its_history_in_the_project(app):
    (app / ".aider.chat.history.md").write_text("# aider chat started at 2026-01-01 10:00:00\n")
    (place,) = aider_histories([app])
    assert list(place.files()) == [app / ".aider.chat.history.md"]
