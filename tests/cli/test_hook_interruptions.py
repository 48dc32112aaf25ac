"""Hooks that are killed, stopped, or have no room: git goes on, and nothing stays locked."""

from __future__ import annotations

import contextlib
import os
import random
import resource
import shlex
import signal
import subprocess
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from helpers import concept, git, unprivileged, write
from knowrepo.cli.main import main
from knowrepo.git import program
from knowrepo.git.layout import Repository
from knowrepo.index.catalog import Catalog
from knowrepo.upkeep import background
from knowrepo.upkeep.locks import locks

KILLS = int(os.environ.get("KILLS", "25"))
SECONDS = 60  # until a test gives up on another process


@pytest.fixture(autouse=True)
def no_model(monkeypatch, tmp_path) -> None:
    monkeypatch.setenv("KNOW_CACHE", str(tmp_path / "no models"))


@pytest.fixture
def hooked(repository) -> Repository:
    """A repository with hooks of ours, and something to index in each commit."""
    assert main(["hooks", "install", "--git", "--repo", str(repository.root)]) == 0
    return repository


def change(repository: Repository, number: int) -> None:
    write(repository, f"concepts/c{number}.md", concept(f"C{number}", body=f"heron {number} " * 50))
    assert main(["tags", "build", "--repo", str(repository.root)]) == 0
    git(repository.root, "add", "-A")


def until(met: Callable[[], bool]) -> None:
    """Wait for another process; no time is measured."""
    end = time.monotonic() + SECONDS
    while not met():
        assert time.monotonic() < end
        time.sleep(0.02)


def end_group(process: subprocess.Popen[bytes], sent: int, seconds: float) -> None:
    """Send a signal to a process and all that it started in its group."""
    with contextlib.suppress(subprocess.TimeoutExpired):
        process.wait(seconds)
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, sent)
    process.wait(SECONDS)


def nothing_is_locked(repository: Repository) -> bool:
    ours = {lock.path for lock in locks(repository)}
    left = set(repository.common_dir.rglob("*.lock")) - ours
    left -= {repository.common_dir / "know" / "hooks.lock"}
    return not left and not any(lock.held for lock in locks(repository))


def test_hooks_and_runs_that_are_killed_at_any_moment_block_neither_git_nor_us(hooked):
    choose = random.Random(11)
    hooks = hooked.common_dir / "hooks"
    detached = [*program.own(), "hook", "index", "--detached", "--repo", str(hooked.root)]
    for number in range(KILLS):
        change(hooked, number)
        what = choose.choice([[str(hooks / "pre-commit")], [str(hooks / "post-commit")], detached])
        if what is detached:
            background.request(hooked)
        process = subprocess.Popen(
            what, cwd=hooked.root, start_new_session=True,
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        )  # fmt: skip
        end_group(process, signal.SIGKILL, choose.random() * 0.8)
    git(hooked.root, "commit", "-qm", "all")
    wanted = {f"concepts/c{number}" for number in range(KILLS)}
    until(lambda: known(hooked) >= wanted)
    until(lambda: background.state(hooked) == background.State(False, 0, 0))
    until(lambda: nothing_is_locked(hooked))


def known(repository: Repository) -> set[str]:
    catalog = Catalog.open(repository.catalog)
    if catalog is None:
        return set()
    with catalog:
        return set(catalog.states())


def test_an_interrupt_during_a_commit_leaves_no_lock_and_the_next_commit_works(hooked):
    choose = random.Random(5)
    for number in range(6):
        change(hooked, number)
        process = subprocess.Popen(
            ["git", "commit", "-qm", "x"], cwd=hooked.root, start_new_session=True,
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        )  # fmt: skip
        end_group(process, signal.SIGINT, choose.random() * 0.8)
        assert not (hooked.git_dir / "index.lock").exists()
    change(hooked, 6)
    git(hooked.root, "commit", "-qm", "x")
    assert git(hooked.root, "status", "--porcelain") == ""
    until(lambda: background.state(hooked) == background.State(False, 0, 0))


@pytest.fixture
def hanging(repository, tmp_path) -> tuple[Path, Path]:
    """A `know` that reads from a pipe until somebody writes into it."""
    pipe, stub = tmp_path / "pipe", tmp_path / "a program" / "know"
    os.mkfifo(pipe)
    stub.parent.mkdir()
    stub.write_text(f'#!/bin/sh\nread line <"{pipe}"\necho "$line" >"{tmp_path}/released"\n')
    stub.chmod(0o755)
    return stub, pipe


def test_a_commit_waits_for_no_run(hooked, hanging, tmp_path):
    stub, pipe = hanging
    post = hooked.common_dir / "hooks" / "post-commit"
    post.write_text(post.read_text().replace(shlex.join(program.own()), shlex.quote(str(stub))))
    assert str(stub) in post.read_text()
    change(hooked, 1)
    git(hooked.root, "commit", "-qm", "x")
    assert not (tmp_path / "released").exists()
    pipe.write_text("go\n")
    until((tmp_path / "released").exists)


def test_the_hook_of_pre_commit_waits_for_no_run_either(repository, hanging, tmp_path):
    stub, pipe = hanging
    git(repository.root, "config", program.KEY, shlex.quote(str(stub)))
    done = subprocess.run(
        [*program.own(), "hook", "index"], cwd=repository.root, capture_output=True, check=False
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")
    assert not (tmp_path / "released").exists()
    pipe.write_text("go\n")
    until((tmp_path / "released").exists)


def test_a_full_disk_stops_no_commit(repository):
    def no_room() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))

    done = subprocess.run(
        [*program.own(), "hook", "index"],
        cwd=repository.root, capture_output=True, text=True, check=False, preexec_fn=no_room,
    )  # fmt: skip
    assert done.returncode == 0
    assert "not indexed: " in done.stderr
    assert "Traceback" not in done.stderr
    assert not list((repository.common_dir / "know/background").glob("*.request"))


def test_a_read_only_git_directory_stops_no_commit(know, repository):
    for folder in (repository.root, *repository.root.parents[:3]):
        folder.chmod(folder.stat().st_mode | 0o055)
    with unprivileged():
        done = know("hook", "index")
    assert done.code == 0
    assert "not indexed: " in done.err
    assert "Permission denied" in done.err


def test_a_run_in_the_foreground_waits_its_turn_and_says_when_it_fails(repository, know):
    write(repository, "concepts/a.md", concept("A"))
    assert know("hook", "index", "--wait").code == 0
    assert known(repository) == {"concepts/a"}
    repository.catalog.parent.joinpath("catalog.lock").unlink()
    repository.catalog.parent.joinpath("catalog.lock").mkdir()
    write(repository, "concepts/b.md", concept("B"))
    assert know("hook", "index", "--wait", "--here").code == 1
    last, bad = background.last(repository)
    assert last == bad
    assert bad is not None
    assert bad.outcome == "failed"


def test_a_recorded_know_that_is_too_old_is_done_without(repository, know, tmp_path):
    old = tmp_path / "know"
    old.write_text("#!/bin/sh\nexit 2\n")
    old.chmod(0o755)
    git(repository.root, "config", program.KEY, str(old))
    write(repository, "concepts/a.md", concept("A"))
    assert know("hook", "index", "--wait").code == 0
    assert known(repository) == {"concepts/a"}


@pytest.mark.parametrize(("code", "expected"), [(0, 0), (1, 1), (2, 0)])
def test_questions_are_asked_by_the_recorded_know_where_it_can(
    repository, know, tmp_path, code, expected
):
    other = tmp_path / "know"
    other.write_text(f'#!/bin/sh\necho "$*" >>"{tmp_path}/told"\nexit {code}\n')
    other.chmod(0o755)
    git(repository.root, "config", program.KEY, str(other))
    assert know("hook", "eval").code == 0  # there is no case
    assert not (tmp_path / "told").exists()
    write(repository, "concepts/a.md", concept("Herons"))
    write(repository, "eval.toml", '[[case]]\nquery = "herons"\nexpect = "a"\n')
    assert know("hook", "eval").code == expected
    assert (tmp_path / "told").read_text() == f"hook eval --here --repo {repository.root}\n"
