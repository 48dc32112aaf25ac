"""`know recall` from any project of the user's: the repository that is meant, and `--project`."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from helpers import git, make_repository, transcript, user
from knowrepo.cli.main import main
from knowrepo.config import Project, map_project

REMOTE = "git@git.example.com:acme/walrus.git"


@pytest.fixture
def memory(tmp_path):
    return make_repository(tmp_path / "memory")


@pytest.fixture
def places(tmp_path, memory) -> dict[str, Path]:
    """A code project, a linked work tree of it, a second clone, and another project."""
    found = {"app": tmp_path / "code" / "app", "other": tmp_path / "code" / "other"}
    for name, remote in (("app", REMOTE), ("other", "https://git.example.com/acme/other.git")):
        found[name].mkdir(parents=True)
        git(found[name], "init", "-q")
        git(found[name], "commit", "-q", "--allow-empty", "-m", f"Begin {name}")
        git(found[name], "remote", "add", "origin", remote)
    found["tree"] = tmp_path / "trees" / "fix-42"
    git(found["app"], "worktree", "add", "-q", str(found["tree"]))
    found["clone"] = tmp_path / "elsewhere" / "copy"
    git(tmp_path, "clone", "-q", str(found["app"]), str(found["clone"]))
    git(found["clone"], "remote", "set-url", "origin", "https://git.example.com/acme/walrus")
    for name in ("app", "other"):
        identity = git(found[name], "remote", "get-url", "origin").strip()
        map_project(Project(identity, str(found[name]), str(memory.root)), make_default=True)
    return found


@pytest.fixture
def archived(own_environment, places, memory, capsys):
    """One session worked in each place; what the archive finds by itself is archived."""
    for number, (name, folder) in enumerate(places.items(), start=1):
        own = f"0f0e0d0c-0b0a-4908-8706-{number:012d}"
        transcript(
            own_environment / ".claude" / "projects" / name,
            [user(f"the tusk of {name} is broken", 1, cwd=str(folder), sessionId=own)],
            f"{own}.jsonl",
        )
    assert main(["archive", "--all", "--repo", str(memory.root)]) == 0
    git(memory.root, "add", "-A")
    git(memory.root, "commit", "-qm", "Archive")
    capsys.readouterr()


def asked(capsys, *arguments: str) -> set[str]:
    assert main(["recall", "broken tusk", "--all", "--full", "--json", *arguments]) == 0
    told = capsys.readouterr().out
    return {name for name in ("app", "tree", "clone", "other") if f"of {name} is" in told}


@pytest.mark.parametrize("place", ["app", "tree", "clone", "other"])
def test_a_project_means_the_same_from_every_clone_and_work_tree(
    archived, places, place, capsys, monkeypatch
):
    below = places[place] / "src"
    below.mkdir()
    monkeypatch.chdir(below)
    assert asked(capsys) == {"app", "tree", "clone", "other"}
    assert asked(capsys, "--project", "walrus") == {"app", "tree", "clone"}
    assert asked(capsys, "--project", REMOTE) == {"app", "tree", "clone"}
    assert asked(capsys, "--project", "https://git.example.com/acme/walrus") == {
        "app", "tree", "clone",
    }  # fmt: skip
    assert asked(capsys, "--project", "other") == {"other"}
    assert asked(capsys, "--project", "fix-42") == set()


def test_another_clone_of_the_archive_needs_no_configuration(
    archived, places, memory, tmp_path, capsys, monkeypatch
):
    git(tmp_path, "clone", "-q", str(memory.root), str(tmp_path / "second"))
    for folder in places.values():
        shutil.rmtree(folder)
    monkeypatch.setenv("KNOW_CONFIG", str(tmp_path / "none"))
    monkeypatch.chdir(tmp_path / "second")
    assert asked(capsys, "--project", "walrus") == {"app", "tree", "clone"}


def test_the_other_commands_mean_the_same_by_a_project(archived, memory, capsys, monkeypatch):
    monkeypatch.chdir(memory.root)
    for ahead in (False, True):  # from the files, then from the catalog
        if ahead:
            assert main(["index", "--no-vectors"]) == 0
            capsys.readouterr()
        for name, number in (("walrus", 3), ("git.example.com/acme/walrus", 3), ("other", 1)):
            assert main(["sessions", "--project", name]) == 0
            assert len(capsys.readouterr().out.splitlines()) == number
            assert main(["stats", "--project", name]) == 0
            assert capsys.readouterr().out.startswith(f"sessions   {number}, ")


def test_the_archive_commits_what_it_notes(own_environment, places, memory, capsys):
    git(memory.root, "commit", "-q", "--allow-empty", "-m", "Begin")
    transcript(
        own_environment / ".claude" / "projects" / "x",
        [user("a tusk", 1, cwd=str(places["app"]))],
    )
    assert main(["archive", "--all", "--commit", "--repo", str(memory.root)]) == 0
    assert git(memory.root, "status", "--porcelain", "sessions") == ""
    names = git(memory.root, "show", "--name-only", "--format=").split()
    assert sorted(Path(name).suffix for name in names) == [".jsonl", ".project"]


def test_the_repository_is_the_one_named_before_the_one_above_before_the_users_default(
    archived, places, memory, tmp_path, capsys, monkeypatch
):
    above = make_repository(tmp_path / "code" / "app" / "notes")
    named = make_repository(tmp_path / "named")
    monkeypatch.chdir(above.root)

    def used(*arguments: str) -> str:
        assert main(["status", "--json", *arguments]) == 0
        return str(json.loads(capsys.readouterr().out)["repository"])

    assert used() == str(above.root)
    monkeypatch.setenv("KNOW_REPO", str(memory.root))
    assert used() == str(memory.root)
    assert used("--repo", str(named.root)) == str(named.root)
    monkeypatch.delenv("KNOW_REPO")
    monkeypatch.chdir(places["tree"])
    assert used() == str(memory.root)
