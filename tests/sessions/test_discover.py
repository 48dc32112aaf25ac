from __future__ import annotations

import gzip
import hashlib
import json
import os
import tempfile
from pathlib import Path

import pytest

from helpers import SESSION, git, jsonl, make_repository, transcript, unprivileged, user
from knowrepo.config import Project
from knowrepo.errors import KnowError, UsageError
from knowrepo.git.repo import identify_project
from knowrepo.sessions import sweep
from knowrepo.sessions.capture import queue
from knowrepo.sessions.discover import Place, aider_histories, find_sources, places, worked_in
from knowrepo.sessions.projects import Projects, path_hash, same_name

HOME = Path("/home/me")


def never(error: OSError) -> None:
    raise AssertionError(error)


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
        for path in place.files(never)
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
    found = sweep.sources(projects, never)
    assert sorted(found) == sorted([mine, other])
    assert list(sweep.belonging(found, projects)) == [mine]
    assert sweep.sources(projects, never, agents=["claude"], since=2e10) == []
    with pytest.raises(UsageError, match="unknown agent hal"):
        sweep.sources(projects, never, agents=["hal"])


def test_aider_keeps_its_history_in_the_project(app):
    (app / ".aider.chat.history.md").write_text("# aider chat started at 2026-01-01 10:00:00\n")
    (place,) = aider_histories([app])
    assert list(place.files(never)) == [app / ".aider.chat.history.md"]


def test_a_folder_that_leads_back_to_itself_ends_elsewhere():
    projects = mapped_at("/home/dev/app")
    assert projects.admits("/home/dev/app/./src//deep/../")
    assert not projects.admits("/home/dev/app/../secret")
    assert not projects.admits("/home/dev/app/src/../../secret")


def test_a_link_out_of_a_project_does_not_bring_in_what_it_leads_to(tmp_path):
    (tmp_path / "app").mkdir()
    (tmp_path / "secret").mkdir()
    (tmp_path / "app" / "link").symlink_to(tmp_path / "secret")
    projects = mapped_at(tmp_path / "app")
    assert projects.admits(str(tmp_path / "app"))
    assert not projects.admits(str(tmp_path / "app" / "link"))


def test_paths_of_windows_are_one_in_either_case_and_with_either_slash():
    projects = mapped_at("C:\\Users\\Me\\app", exclude=["C:/Users/Me/app/Secret\\"])
    for folder in ("C:\\Users\\Me\\app\\sub", "c:/users/me/APP", "\\\\?\\C:\\Users\\Me\\app"):
        assert projects.admits(folder), folder
    for folder in (
        "C:\\Users\\Me\\app\\SECRET",
        "C:\\Users\\Me\\application",
        "D:\\Users\\Me\\app",
    ):
        assert not projects.admits(folder), folder


@pytest.mark.parametrize(
    "pattern",
    [
        "~/app/secret", "~/app/secret/", "~/app/secret\\", "~/app/secret/**", "~/*/secret/*",
        "secret", "app/secret", "*/secret/",
    ],
)  # fmt: skip
def test_an_excluded_folder_is_left_out_however_it_is_written(pattern, own_environment):
    app = own_environment / "app"
    projects = mapped_at(app, exclude=[pattern])
    assert projects.admits(str(app / "secrets"))
    assert not projects.admits(str(app / "secret"))
    assert not projects.admits(str(app / "secret" / "deep"))
    assert not projects.admits(f"{app}/x/../secret")


def test_what_is_excluded_through_a_link_is_left_out_under_both_names(tmp_path):
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "real")
    for named, worked in (("link", "real"), ("real", "link"), ("link", "link")):
        projects = mapped_at(tmp_path, exclude=[str(tmp_path / named)])
        assert not projects.admits(str(tmp_path / worked)), (named, worked)


def mapped_at(path: Path | str, **options) -> Projects:
    here = Path("/memory")
    return Projects([Project(f"path:{path}", str(path), str(here))], here, **options)


def test_a_remote_that_is_a_relative_path_is_of_one_repository_only(tmp_path):
    here = tmp_path / "memory"
    for name in ("w/a", "w/b", "x/a"):
        (tmp_path / name).mkdir(parents=True)
        git(tmp_path / name, "init", "-q")
        git(tmp_path / name, "remote", "add", "origin", "../up.git")
    git(tmp_path / "w/a", "commit", "-q", "--allow-empty", "-m", "first")
    git(tmp_path / "w/a", "worktree", "add", "-q", str(tmp_path / "y" / "tree"))
    projects = Projects([project(tmp_path / "w/a", here)], here)
    assert projects.admits(str(tmp_path / "w/b"))
    assert projects.admits(str(tmp_path / "y/tree"))
    assert not projects.admits(str(tmp_path / "x/a"))
    assert same_name(f"file://{tmp_path}/w/up.git") == same_name(f"{tmp_path}/w/up")


def test_servers_on_different_ports_are_different():
    names = {
        same_name(url)
        for url in (
            "https://example.org/a/b", "https://example.org:8443/a/b",
            "https://example.org:9443/a/b", "ssh://git@example.org:2222/a/b",
        )
    }  # fmt: skip
    assert len(names) == 4
    assert same_name("https://example.org:443/a/b") == same_name("git@example.org:a/b.git")
    assert same_name("git@example.org:22/b") == "example.org/22/b"


def test_a_remote_without_a_url_says_nothing(app):
    before = identify_project(app)
    git(app, "config", "remote.origin.prune", "true")
    assert identify_project(app) == before
    git(app, "remote", "add", "second", "https://example.org/a/b")
    assert identify_project(app).identity == "https://example.org/a/b"


@pytest.mark.parametrize(
    ("url", "identity"),
    [
        ("https://me:{}@example.org/a/b", "https://example.org/a/b"),
        ("https://{}@example.org:8443/a/b", "https://example.org:8443/a/b"),
        ("https://me:{}/x@example.org/a/b", "https://example.org/a/b"),
        ("https://me:{}?x@example.org/a/b", "https://example.org/a/b"),
        ("https://example.org/a/b?private_token={}", "https://example.org/a/b"),
        ("me:{}@example.org:a/b", "example.org:a/b"),
    ],
)
def test_credentials_are_no_part_of_an_identity(app, url, identity):
    git(app, "remote", "add", "origin", url.format("pass" + "word"))
    assert identify_project(app).identity == identity


def test_without_git_it_is_said_that_git_is_missing(app, monkeypatch):
    monkeypatch.setenv("PATH", str(app))
    with pytest.raises(KnowError, match="git is not installed"):
        identify_project(app)


def test_what_gemini_notes_tells_which_folder_a_hash_stands_for(app, tmp_path, own_environment):
    here = tmp_path / "memory"
    gemini = own_environment / ".gemini"
    (gemini / "tmp" / "src").mkdir(parents=True)
    (gemini / "tmp" / "src" / ".project_root").write_text(f"{app}/src\n")
    git(app, "worktree", "add", "-q", str(tmp_path / "tree"))
    noted = {"projects": {str(tmp_path / "tree"): "tree", "/elsewhere": "elsewhere"}}
    (gemini / "projects.json").write_text(json.dumps(noted))
    projects = Projects(
        [project(app, here)],
        here,
        exclude=["*/src"],
        known=lambda: worked_in({}, home=own_environment),
    )
    assert projects.admits("", path_hash(str(tmp_path / "tree")))
    assert not projects.admits("", path_hash(f"{app}/src"))  # it is excluded
    assert not projects.admits("", path_hash("/elsewhere"))
    (gemini / "projects.json").write_text("[")
    assert list(worked_in({}, home=own_environment)) == [f"{app}/src"]


def test_the_folders_that_do_not_belong_are_counted(app, tmp_path):
    here = tmp_path / "memory"
    projects = Projects([project(app, here)], here)
    for folder in ("/a", "/b", "/a", str(app), ""):
        projects.admits(folder)
    assert projects.denied == {"/a": 2, "/b": 1, "": 1}
    for number in range(2000):
        projects.admits(f"/{number}")
    assert len(projects.denied) == 1000


# -- what cannot be read ----------------------------------------------------------


def test_a_folder_that_cannot_be_read_is_told_and_the_others_are_found():
    told: list[str] = []
    place_patterns = ("*/**/*.jsonl", "**/*.txt")
    with tempfile.TemporaryDirectory() as name:  # pytest's own is closed to others
        folder, locked = Path(name), Path(name) / "locked"
        transcript(locked, [user("a", 1)])
        mine = transcript(folder / "open", [user("a", 1)])
        folder.chmod(0o755)
        locked.chmod(0)
        with unprivileged():
            named = list(find_sources([folder, locked / "x"], lambda e: told.append(e.filename)))
            place = Place("any", folder, place_patterns)
            looked = list(place.files(lambda e: told.append(e.filename)))
        locked.chmod(0o755)
        assert named == looked == [mine]
        assert list(map(str, told)) == [str(locked), str(locked / "x"), str(locked)]


def test_places_are_found_through_links_and_hold_files_only(tmp_path):
    transcript(tmp_path / "kept" / "projects" / "-home-me-app", [user("a", 1)])
    transcript(tmp_path / "elsewhere", [user("b", 1)])
    (tmp_path / "claude").symlink_to(tmp_path / "kept")
    folder = tmp_path / "claude" / "projects"
    (folder / "-home-me-linked").symlink_to(tmp_path / "elsewhere")
    (folder / "-home-me-app" / "around").symlink_to(folder)
    (folder / "-home-me-app" / "gone.jsonl").symlink_to(tmp_path / "nowhere")
    os.mkfifo(folder / "-home-me-app" / "pipe.jsonl")
    found = [
        path.relative_to(folder).as_posix()
        for place in places({"CLAUDE_CONFIG_DIR": str(tmp_path / "claude")}, home=tmp_path / "no")
        for path in place.files(never)
    ]
    assert found == [f"-home-me-app/{SESSION}.jsonl", f"-home-me-linked/{SESSION}.jsonl"]


def test_a_folder_that_may_not_be_looked_at_is_told_by_its_path():
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name) / "app"
        (folder / "src").mkdir(parents=True)
        folder.chmod(0)
        Path(name).chmod(0o755)
        with unprivileged():
            assert mapped_at(folder).admits(str(folder / "src"))
            assert not mapped_at(folder / "other").admits(str(folder / "src"))
        folder.chmod(0o755)
    assert not mapped_at("/home/dev/app").admits("/" + "x" * 5000)


def test_a_project_whose_git_settings_are_broken_fails_and_says_so(app, tmp_path):
    projects = mapped_at(tmp_path / "other")
    (app / ".git" / "config").write_text("[remote\n")
    entry = queue.Entry(
        "e", "claude", app / "t.jsonl", "", str(app), "Stop", 0.0, False, None, None
    )
    with pytest.raises(KnowError, match="cannot be read"):
        projects.admits(str(app))
    assert sweep.wants(entry, projects)


def test_a_damaged_source_is_no_concern_of_those_that_look(app, tmp_path):
    packed = gzip.compress(jsonl([{"text": os.urandom(200_000).hex()}]))
    damaged = tmp_path / "rollout-1.jsonl.gz"
    damaged.write_bytes(packed[: len(packed) // 2])
    mine = transcript(tmp_path / "in", [user("a", 1, cwd=str(app))])
    projects = Projects([project(app, tmp_path)], tmp_path)
    assert list(sweep.belonging([damaged, mine], projects)) == [mine]
