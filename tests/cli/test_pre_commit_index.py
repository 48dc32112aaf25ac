"""One commit adds rows to the vector table, through pre-commit's own post-commit stage."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

import pytest

import tiny_models
from helpers import concept, git, make_repository, write
from knowrepo.git import program
from knowrepo.git.layout import Repository
from knowrepo.index import embed, models
from knowrepo.index.vectors import VectorStore
from knowrepo.upkeep import background

ROOT = Path(__file__).resolve().parents[2]
WHEELHOUSE = ROOT / "build" / "wheelhouse"
SECONDS = 120  # until a test gives up on another process


@pytest.fixture
def repository(tmp_path, monkeypatch) -> Repository:
    """With a model of a few kilobytes, and git and Python on the path."""
    monkeypatch.setenv("KNOW_MODEL", str(tiny_models.build(tmp_path, "bert")))
    monkeypatch.setenv("PRE_COMMIT_HOME", str(tmp_path / "cache"))
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", WHEELHOUSE.as_uri())
    monkeypatch.setenv("PATH", f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}")
    return make_repository(tmp_path / "a memory é")


@pytest.fixture
def checkout(tmp_path) -> Path:
    """This checkout as a git repository that pre-commit can clone."""
    folder = tmp_path / "knowrepo"
    folder.mkdir()
    for name in ("pyproject.toml", "README.md", "LICENSE", ".pre-commit-hooks.yaml"):
        shutil.copy(ROOT / name, folder)
    shutil.copytree(ROOT / "tools", folder / "tools", ignore=shutil.ignore_patterns("__pycache__"))
    git(folder, "init", "-q")
    git(folder, "add", "-A")
    git(folder, "commit", "-qm", "hooks")
    return folder


def install(repository: Repository, repos: str, *types: str) -> None:
    (repository.root / ".pre-commit-config.yaml").write_text(
        f"default_install_hook_types: [{', '.join(types)}]\nrepos:\n{repos}"
    )
    subprocess.run(
        [sys.executable, "-m", "pre_commit", "install"],
        cwd=repository.root, check=True, capture_output=True,
    )  # fmt: skip
    git(repository.root, "add", "-A")


def of_checkout(checkout: Path, hook: str, language: str) -> str:
    revision = git(checkout, "rev-parse", "HEAD").strip()
    return (
        f"- repo: {checkout}\n  rev: {revision}\n  hooks:\n"
        f"  - id: {hook}\n    language: {language}\n"
    )


def commit(repository: Repository, word: str) -> str:
    write(repository, f"concepts/{word}.md", concept(word, body=f"all about {word}"))
    done = subprocess.run(
        ["git", "-C", str(repository.root), "commit", "-m", "x"],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return done.stdout + done.stderr


def rows(repository: Repository) -> int:
    model = models.current()
    assert model is not None
    return len(VectorStore(repository.vectors, embed.fingerprint(model)).hashes())


def wait_for_rows(repository: Repository, number: int) -> None:
    """Wait for another process; no time is measured."""
    end = time.monotonic() + SECONDS
    while rows(repository) < number or background.state(repository).running:
        assert time.monotonic() < end, background.said(repository)
        time.sleep(0.05)
    assert rows(repository) == number


LOCAL = """\
- repo: local
  hooks:
  - id: know-index
    name: index
    entry: know hook index
    language: system
    stages: [post-commit]
    always_run: true
    pass_filenames: false
"""


def test_a_commit_adds_its_text_to_the_vectors(repository, tmp_path, monkeypatch):
    know = tmp_path / "bin" / "know"
    know.parent.mkdir()
    know.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m knowrepo "$@"\n')
    know.chmod(0o755)
    monkeypatch.setenv("PATH", f"{know.parent}{os.pathsep}{os.environ['PATH']}")
    install(repository, LOCAL, "post-commit")
    assert "index" in commit(repository, "herons")
    wait_for_rows(repository, 1)
    commit(repository, "otters")
    wait_for_rows(repository, 2)


def test_the_light_environment_of_pre_commit_embeds_by_the_full_know_of_the_clone(
    repository, checkout, tmp_path
):
    install(repository, of_checkout(checkout, "know-index", "python"), "post-commit")
    assert program.is_full()
    program.record(repository)
    commit(repository, "herons")
    wait_for_rows(repository, 1)
    (site,) = (tmp_path / "cache").glob("repo*/py_env-*/lib/python3*/site-packages")
    assert not list(site.glob("llama_cpp*"))
    # Without the full one it indexes words, and says so.
    program.forget(repository)
    commit(repository, "otters")
    end = time.monotonic() + SECONDS
    while "llama-cpp-python is not installed" not in background.said(repository):
        assert time.monotonic() < end, background.said(repository)
        time.sleep(0.05)
    wait_for_rows(repository, 1)
    last, bad = background.last(repository)
    assert last is not None
    assert (last.what.get("indexed"), last.what.get("embedded"), bad) == (1, None, None)


def test_a_push_is_stopped_where_a_case_is_no_longer_answered(repository, checkout, tmp_path):
    git(tmp_path, "init", "-q", "--bare", "remote")
    git(repository.root, "remote", "add", "origin", str(tmp_path / "remote"))
    install(repository, of_checkout(checkout, "know-eval", "system"), "pre-push")
    bin_folder = tmp_path / "bin"
    bin_folder.mkdir()
    (bin_folder / "know").write_text(f'#!/bin/sh\nexec "{sys.executable}" -m knowrepo "$@"\n')
    (bin_folder / "know").chmod(0o755)
    env = {**os.environ, "PATH": f"{bin_folder}{os.pathsep}{os.environ['PATH']}"}

    def push() -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            ["git", "-C", str(repository.root), "push", "-q", "origin", "main"],
            capture_output=True, text=True, check=False, env=env,
        )  # fmt: skip

    commit(repository, "herons")
    assert push().returncode == 0  # no case, nothing to ask
    case = '[[case]]\nquery = "herons"\nexpect = "{}"\n'
    (repository.root / "eval.toml").write_text(case.format("herons"))
    commit(repository, "otters")
    assert push().returncode == 0
    (repository.root / "eval.toml").write_text(case.format("otters") + "k = 1\n")
    commit(repository, "lynxes")
    done = push()
    assert done.returncode == 1
    assert "`herons`" in done.stdout + done.stderr
