"""Which `know` hooks run: what this clone's own configuration names, and only if it is safe."""

from __future__ import annotations

import shlex
import subprocess
import sys

import pytest

from helpers import git
from knowrepo.git import program


@pytest.fixture
def there(tmp_path) -> str:
    path = tmp_path / "some programs é" / "know"
    path.parent.mkdir()
    path.write_text("#!/bin/sh\n")
    path.chmod(0o755)
    return str(path)


def configure(repository, value: str, *options: str) -> None:
    git(repository.root, "config", *options, program.KEY, value)


def test_this_know_is_recorded_and_found_again(repository, monkeypatch):
    monkeypatch.setattr(program, "is_full", lambda: True)
    assert program.recorded(repository) is None
    assert program.record(repository) == program.own()
    assert program.record(repository) is None
    assert program.recorded(repository) == program.own()
    assert program.forget(repository)
    assert not program.forget(repository)
    assert program.recorded(repository) is None


def test_one_that_cannot_embed_is_not_recorded(repository, monkeypatch, there):
    configure(repository, shlex.quote(there))
    monkeypatch.setattr(program, "is_full", lambda: False)
    assert program.record(repository) is None
    program.record_if_missing(repository)
    assert program.recorded(repository) == (there,)


def test_in_passing_only_what_is_missing_or_gone_is_recorded(repository, monkeypatch, there):
    monkeypatch.setattr(program, "is_full", lambda: True)
    configure(repository, shlex.quote(there))
    program.record_if_missing(repository)
    assert program.recorded(repository) == (there,)
    configure(repository, "/gone/know")
    program.record_if_missing(repository)
    assert program.recorded(repository) == program.own()


@pytest.mark.parametrize(
    "value",
    [
        "know",
        "./bin/know",
        "/gone/know",
        "/bin",
        "/etc/passwd",
        "/bin/sh -c 'touch run'",
        f"{sys.executable} -m knowrepo",
        f"{sys.executable} -c pass",
        "!touch run",
        "",
        "'",
    ],
)
def test_what_is_no_absolute_know_is_not_run(repository, value):
    configure(repository, value)
    assert program.recorded(repository) is None


def test_only_the_clones_own_file_is_asked(repository, there, own_environment):
    configure(repository, shlex.quote(there), "--global")
    assert program.recorded(repository) is None
    (repository.root / "team.gitconfig").write_text(f"[know]\n\tprogram = \"'{there}'\"\n")
    git(repository.root, "config", "include.path", "../team.gitconfig")
    assert git(repository.root, "config", "--get", program.KEY) == f"'{there}'\n"
    assert program.recorded(repository) is None
    git(repository.root, "config", "extensions.worktreeConfig", "true")
    git(repository.root, "config", "--worktree", program.KEY, shlex.quote(there))
    (repository.root / ".gitconfig").write_text(f"[know]\n\tprogram = {there}\n")
    assert program.recorded(repository) is None
    configure(repository, shlex.quote(there), "--local")
    assert program.recorded(repository) == (there,)


def test_it_runs_nothing_from_the_folder_that_it_is_started_in(tmp_path):
    (tmp_path / "typer.py").write_text("raise SystemExit(7)\n")
    done = subprocess.run([*program.own(), "--version"], cwd=tmp_path, check=False)
    assert done.returncode == 0
    assert program.package().is_file()
