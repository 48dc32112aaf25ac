"""Real commits through real pre-commit, with the hooks of this checkout."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

import pytest

from helpers import SESSION, concept, git, jsonl, make_repository, transcript, user, write
from knowrepo.config import Project, map_project
from knowrepo.git.layout import Repository

ROOT = Path(__file__).resolve().parents[2]
HOOKS = ("know-check", "know-tags", "know-scan")
WHEELHOUSE = ROOT / "build" / "wheelhouse"


@pytest.fixture(scope="session")
def hooks(tmp_path_factory) -> Path:
    """This checkout as a git repository that pre-commit can clone."""
    folder = tmp_path_factory.mktemp("hooks") / "knowrepo"
    folder.mkdir()
    for name in ("pyproject.toml", "README.md", "LICENSE", ".pre-commit-hooks.yaml"):
        shutil.copy(ROOT / name, folder)
    shutil.copytree(ROOT / "tools", folder / "tools", ignore=shutil.ignore_patterns("__pycache__"))
    environment = {**os.environ, "GIT_CONFIG_GLOBAL": os.devnull}
    author = ["-c", "user.name=Tester", "-c", "user.email=tester@example.org"]
    for arguments in (["init", "-q"], ["add", "-A"], [*author, "commit", "-qm", "hooks"]):
        subprocess.run(["git", "-C", str(folder), *arguments], check=True, env=environment)
    return folder


@pytest.fixture
def guarded(tmp_path, monkeypatch, hooks) -> Repository:
    """A knowledge repository whose commits pass through the hooks."""
    repository = make_repository(tmp_path / "a memory é")
    install(repository, hooks, language="system", cache=tmp_path / "cache", monkeypatch=monkeypatch)
    # The hooks' `know` is the one of this environment.
    monkeypatch.setenv("PATH", f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}")
    return repository


def install(
    repository: Repository, hooks: Path, *, language: str, cache: Path, monkeypatch
) -> None:
    revision = git(hooks, "rev-parse", "HEAD").strip()
    lines = [f"repos:\n- repo: {hooks}\n  rev: {revision}\n  hooks:\n"]
    lines += [f"  - id: {name}\n    language: {language}\n" for name in HOOKS]
    (repository.root / ".pre-commit-config.yaml").write_text("".join(lines))
    monkeypatch.setenv("PRE_COMMIT_HOME", str(cache))
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", WHEELHOUSE.as_uri())  # split at spaces
    subprocess.run(
        [sys.executable, "-m", "pre_commit", "install"],
        cwd=repository.root, check=True, capture_output=True,
    )  # fmt: skip
    git(repository.root, "add", "-A")


def commit(repository: Repository, *arguments: str) -> tuple[int, str]:
    done = subprocess.run(
        ["git", "-C", str(repository.root), "commit", "-m", "x", *arguments],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    return done.returncode, done.stdout + done.stderr


def commit_with_tags(repository: Repository) -> None:
    """Commit as a person does: the hook rebuilds, one adds what it names, and commits again."""
    code, said = commit(repository)
    assert code == 1
    assert "git add concepts/index.md concepts/tag_index.jsonl" in said
    git(repository.root, "add", "concepts/index.md", "concepts/tag_index.jsonl")
    code, said = commit(repository)
    assert code == 0, said


def tag_index(repository: Repository) -> str:
    return git(repository.root, "show", "HEAD:concepts/tag_index.jsonl")


def test_a_good_concept_passes_once_the_commit_has_the_generated_files(guarded):
    write(guarded, "concepts/a.md", concept(tags=["git"]))
    commit_with_tags(guarded)
    assert '{"tag": "git", "concept": "a"}' in tag_index(guarded)
    assert commit(guarded, "--allow-empty")[0] == 0


def test_a_bad_concept_stops_the_commit_and_says_where(guarded):
    write(guarded, "concepts/a.md", concept())
    commit_with_tags(guarded)
    write(guarded, "concepts/bad.md", "---\ntitle: One: two\n---\n")
    code, said = commit(guarded)
    assert code == 1
    assert "concepts/bad.md:2:11: error OKF103" in said
    assert git(guarded.root, "rev-list", "--count", "HEAD").strip() == "1"


def test_a_secret_stops_the_commit_and_is_not_shown(guarded):
    write(guarded, "concepts/a.md", concept(tags=["git"]))
    commit_with_tags(guarded)
    token = "gh" + "p_" + "aB3dE5fG7hJ9kL1mN3pQ5rS7tU9vW1xY3z5A"
    write(guarded, "concepts/a.md", concept(tags=["git"], body=f"The token is {token}."))
    code, said = commit(guarded)
    assert code == 1
    assert "concepts/a.md:7: github-token" in said
    assert token not in said


def test_a_deletion_alone_is_seen(guarded):
    write(guarded, "concepts/a.md", concept(tags=["git"]))
    write(guarded, "concepts/b.md", concept("B", tags=["gone"]))
    commit_with_tags(guarded)
    git(guarded.root, "rm", "-q", "concepts/b.md")
    commit_with_tags(guarded)
    assert "gone" not in tag_index(guarded)


def test_a_rename_is_seen(guarded):
    write(guarded, "concepts/a.md", concept(tags=["git"]))
    commit_with_tags(guarded)
    git(guarded.root, "mv", "concepts/a.md", "concepts/ä b.md")
    commit_with_tags(guarded)
    assert '{"tag": "git", "concept": "ä b"}' in tag_index(guarded)


def test_an_untracked_draft_is_no_part_of_anything(guarded):
    write(guarded, "concepts/a.md", concept(tags=["git"]))
    write(guarded, "concepts/draft.md", "no front matter yet\n", stage=False)
    commit_with_tags(guarded)
    assert "draft" not in tag_index(guarded)


def test_unstaged_edits_are_no_part_of_the_commit(guarded):
    write(guarded, "concepts/a.md", concept(tags=["git"]))
    commit_with_tags(guarded)
    write(guarded, "concepts/b.md", concept("B", tags=["new"]))
    write(guarded, "concepts/a.md", concept(tags=["later"]), stage=False)
    commit_with_tags(guarded)
    assert "later" not in tag_index(guarded)
    assert "later" in (guarded.concepts / "a.md").read_text()


def test_a_commit_of_one_path_sees_that_commits_files(guarded):
    write(guarded, "concepts/a.md", concept(tags=["git"]))
    commit_with_tags(guarded)
    write(guarded, "concepts/b.md", concept("B", tags=["other"]))  # staged, and not asked for
    (guarded.root / "note.txt").write_text("x")
    git(guarded.root, "add", "note.txt")
    code, said = commit(guarded, "note.txt")
    assert code == 0, said
    assert "other" not in tag_index(guarded)


def test_the_hooks_install_the_light_core_by_themselves(tmp_path, monkeypatch, hooks):
    repository = make_repository(tmp_path / "memory")
    cache = tmp_path / "cache"
    install(repository, hooks, language="python", cache=cache, monkeypatch=monkeypatch)
    write(repository, "concepts/a.md", concept(tags=["git"]))
    commit_with_tags(repository)
    (site,) = cache.glob("repo*/py_env-*/lib/python3*/site-packages")
    installed = {path.name.split("-")[0].lower() for path in site.glob("*.dist-info")}
    assert "knowrepo" in installed
    assert installed.isdisjoint({"llama_cpp_python", "numpy", "gguf", "pre_commit"})


def test_after_a_commit_what_agents_hooks_noted_is_archived_in_the_background(
    guarded, tmp_path, hooks
):
    configuration = guarded.root / ".pre-commit-config.yaml"
    configuration.write_text(
        configuration.read_text() + "  - id: know-sweep\n    language: system\n"
    )
    git(guarded.root, "add", "-A")
    subprocess.run(
        [sys.executable, "-m", "pre_commit", "install", "--hook-type", "post-commit"],
        cwd=guarded.root, check=True, capture_output=True,
    )  # fmt: skip
    map_project(
        Project("path:/home/dev/app", "/home/dev/app", str(guarded.root)), make_default=False
    )
    source = transcript(tmp_path / "in", [user("hello", 1)])
    said = {"transcript_path": str(source), "cwd": "/home/dev/app", "hook_event_name": "Stop"}
    subprocess.run([sys.executable, "-m", "knowrepo.hook", json.dumps(said)], check=True)
    commit_with_tags(guarded)
    archived = guarded.sessions / "claude" / f"{SESSION}.jsonl"
    until = time.monotonic() + 60
    while not archived.exists() and time.monotonic() < until:
        time.sleep(0.05)  # another process is at it; its end is waited for, no time is measured
    assert archived.read_bytes() == jsonl([user("hello", 1)])


def run(repository: Repository, *arguments: str) -> str:
    done = subprocess.run(
        [sys.executable, "-m", "knowrepo", *arguments],
        cwd=repository.root, capture_output=True, text=True, check=True,
    )  # fmt: skip
    return done.stdout


def test_what_is_remembered_is_committed_at_the_first_try(guarded, monkeypatch):
    for name in ("AI_AGENT", "CLAUDECODE", "CODEX_SANDBOX", "CODEX_THREAD_ID", "CURSOR_AGENT",
                 "GEMINI_CLI"):  # fmt: skip
        monkeypatch.delenv(name, raising=False)
    path = run(guarded, "remember", "Releases are cut on Tuesdays.").strip()
    assert "releases-are-cut-on-tuesdays" in run(guarded, "recall", "releases tuesdays")
    code, said = commit(guarded)
    assert code == 0, said
    run(guarded, "new", "Decision", "A form that nobody filled in")
    write(guarded, path, concept("Begun to edit", tags=["later"]), stage=False)
    run(guarded, "remember", "Deploys go out at noon.")
    code, said = commit(guarded)
    assert code == 0, said
    assert "deploys-go-out-at-noon" in tag_index(guarded)
    assert "later" not in tag_index(guarded)
    assert "Begun to edit" in (guarded.root / path).read_text()
