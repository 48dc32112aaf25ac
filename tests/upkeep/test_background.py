"""Runs in the background: one at a time, none lost, none that outlives its purpose."""

from __future__ import annotations

import multiprocessing
import os
import random
import shutil
import signal
import subprocess
import sys
from multiprocessing.connection import Connection
from pathlib import Path

import pytest
from filelock import FileLock

from helpers import git, make_repository, unprivileged
from knowrepo.errors import KnowError
from knowrepo.git.layout import Repository, repository_at
from knowrepo.upkeep import background, logs

FORK = multiprocessing.get_context("fork")
KILLS = int(os.environ.get("KILLS", "25"))
SECONDS = 60  # until a test gives up on another process


class Server:
    """A process that serves requests, each run of which lasts until the test ends it."""

    def __init__(self, repository: Repository) -> None:
        self._pipe, theirs = FORK.Pipe()
        self.process = FORK.Process(target=_serve, args=(repository, theirs))
        self.process.start()
        theirs.close()

    def begun(self) -> str:
        """Wait for a run; returns the root that it is for, '' where there is none any more."""
        assert self._pipe.poll(SECONDS)
        return self._pipe.recv()

    def end_run(self) -> None:
        self._pipe.send(None)

    def kill(self) -> None:
        self.process.kill()
        self.process.join()


def _serve(repository: Repository, pipe: Connection) -> None:
    def work(here: Repository, what: logs.Noted) -> None:
        pipe.send(str(here.root))
        pipe.recv()
        what["indexed"] = 1

    background.serve(repository, work)
    pipe.send("")


def runs(repository: Repository) -> list[str]:
    return [run.tree for run in logs.recent(repository, 99) if run.name == background.NAME]


def count(here: Repository, what: logs.Noted) -> None:
    what["indexed"] = 0


def test_however_much_is_asked_for_while_one_runs_makes_one_more_run(repository):
    assert background.request(repository)
    server = Server(repository)
    assert server.begun() == str(repository.root)
    assert [background.request(repository) for _ in range(5)] == [False] * 5
    assert background.state(repository) == background.State(running=True, asked=1, begun=1)
    server.end_run()
    assert server.begun() == str(repository.root)
    server.end_run()
    assert server.begun() == ""
    server.process.join()
    assert len(runs(repository)) == 2
    assert background.state(repository) == background.State(running=False, asked=0, begun=0)


def test_a_second_process_leaves_the_work_to_the_first(repository):
    background.request(repository)
    first = Server(repository)
    first.begun()
    background.request(repository)
    second = Server(repository)
    assert second.begun() == ""
    first.end_run()
    assert first.begun() == str(repository.root)
    first.end_run()
    assert first.begun() == ""


def test_who_waits_has_all_done_that_was_asked_for(repository):
    background.request(repository)
    first = Server(repository)
    first.begun()
    background.request(repository)
    first.kill()
    assert background.serve(repository, count, wait=True) == 0
    assert runs(repository) == [str(repository.root)]


def test_a_run_that_is_killed_blocks_nobody_and_is_done_by_the_next(repository):
    background.request(repository)
    server = Server(repository)
    server.begun()
    server.kill()
    assert background.state(repository) == background.State(running=False, asked=0, begun=1)
    background.serve(repository, count)
    assert runs(repository) == [str(repository.root)]
    assert background.state(repository) == background.State(running=False, asked=0, begun=0)


def test_work_trees_share_the_one_process_and_each_is_indexed(repository, tmp_path):
    git(repository.root, "add", "-A")
    git(repository.root, "commit", "-qm", "first")
    git(repository.root, "worktree", "add", "-q", "-b", "b", str(tmp_path / "other é"))
    other = repository_at(tmp_path / "other é")
    background.request(repository)
    server = Server(repository)
    server.begun()
    assert not background.request(other)
    server.end_run()
    assert server.begun() == str(other.root)
    server.end_run()
    assert server.begun() == ""
    assert runs(repository) == [str(repository.root), str(other.root)]


def test_a_work_tree_that_was_removed_costs_nothing(repository, tmp_path):
    git(repository.root, "add", "-A")
    git(repository.root, "commit", "-qm", "first")
    git(repository.root, "worktree", "add", "-q", str(tmp_path / "other"))
    background.request(repository_at(tmp_path / "other"))
    shutil.rmtree(tmp_path / "other")
    assert background.serve(repository, count) == 0
    assert runs(repository) == []


def test_a_request_that_names_another_repository_is_not_served(repository, tmp_path):
    elsewhere = make_repository(tmp_path / "elsewhere")
    background.request(repository)
    (asked,) = (repository.common_dir / "know/background").glob("*.request")
    asked.write_bytes(os.fsencode(elsewhere.root))
    background.serve(repository, count)
    assert runs(repository) == runs(elsewhere) == []


@pytest.mark.parametrize("error", [KnowError("no room"), ValueError("a secret word")])
def test_a_run_that_fails_is_in_the_log_and_the_next_one_is_done(repository, error):
    def fail(here: Repository, what: logs.Noted) -> None:
        raise error

    background.request(repository)
    assert background.serve(repository, fail) == 1
    background.request(repository)
    assert background.serve(repository, count) == 0
    last, bad = background.last(repository)
    assert last is not None
    assert last.outcome == "done"
    assert bad is not None
    assert "secret" not in (repository.logs / logs.FILE).read_text()
    assert bad.error == ("no room" if isinstance(error, KnowError) else "ValueError")


def test_a_git_directory_that_cannot_be_written_is_an_error_of_the_system(repository):
    for folder in (repository.root, *repository.root.parents[:3]):
        folder.chmod(folder.stat().st_mode | 0o055)
    with unprivileged(), pytest.raises(OSError, match="Permission"):
        background.request(repository)


def _ask_and_serve(repository: Repository) -> None:
    if background.request(repository):
        background.serve(repository, count)


def test_processes_that_are_killed_at_any_moment_leave_nothing_that_blocks(repository):
    choose = random.Random(7)
    for _ in range(KILLS):
        process = FORK.Process(target=_ask_and_serve, args=(repository,))
        process.start()
        process.join(choose.random() * 0.03)
        process.kill()
        process.join()
    _ask_and_serve(repository)
    assert background.state(repository) == background.State(running=False, asked=0, begun=0)
    with FileLock(repository.common_dir / "know/background/background.lock", timeout=0):
        pass
    assert runs(repository)[-1] == str(repository.root)


# -- how long it lives: `live` is for a process of its own ---------------------

_LIVING = """\
import sys, time
from pathlib import Path
from knowrepo.git.layout import repository_at
from knowrepo.upkeep import background
background._LOOK = 0.01
background._GRACE = {grace}
background.live(repository_at(Path(sys.argv[1])), {limit})
print("ready", flush=True)
{then}
"""
_FOREVER = "while True: time.sleep(600)"
_DEAF = """\
import signal
signal.signal(signal.SIGTERM, lambda *_: None)
while True: time.sleep(600)
"""


def living(repository: Repository, limit: float, then: str, grace: float = 60) -> subprocess.Popen:
    code = _LIVING.format(limit=limit, then=then, grace=grace)
    return subprocess.Popen(
        [sys.executable, "-c", code, str(repository.root)],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip


def test_a_process_stops_after_its_time_as_by_a_signal(repository):
    process = living(repository, 0.05, _FOREVER)
    _, err = process.communicate(timeout=SECONDS)
    assert "KeyboardInterrupt" in err


def test_a_process_that_does_not_hear_the_signal_is_ended_all_the_same(repository):
    process = living(repository, 0.05, _DEAF, grace=0.5)
    _, err = process.communicate(timeout=SECONDS)
    assert process.returncode == 1
    assert "Timeout" in err


def test_a_process_ends_when_its_repository_is_gone(repository):
    process = living(repository, 600, _FOREVER)
    assert process.stdout is not None
    assert process.stdout.readline() == "ready\n"
    shutil.rmtree(repository.root)
    assert process.wait(timeout=SECONDS) == 0


def test_what_runs_in_the_background_makes_way_for_others(repository):
    process = living(repository, 600, "import os; print(os.nice(0), flush=True)")
    out, _ = process.communicate(timeout=SECONDS)
    assert int(out.split()[1]) >= min(19, os.nice(0) + 10)


def test_a_signal_to_end_is_noted_and_what_was_begun_is_done_later(repository):
    def stop(here: Repository, what: logs.Noted) -> None:
        raise KeyboardInterrupt

    background.request(repository)
    with pytest.raises(KeyboardInterrupt):
        background.serve(repository, stop)
    last, bad = background.last(repository)
    assert last is not None
    assert (last.outcome, bad) == ("interrupted", None)
    assert background.state(repository).begun == 1
    assert signal.getsignal(signal.SIGTERM) is signal.SIG_DFL


def test_what_is_started_has_a_session_of_its_own_and_nothing_of_gits(
    repository, tmp_path, monkeypatch
):
    told = tmp_path / "told"
    program = tmp_path / "know"
    os.mkfifo(told)
    err = str(repository.logs / background.LOG)
    script = tmp_path / "told.py"
    # A line `#!` takes no interpreter with a space in its path.
    program.write_text(f"#!/bin/sh\nexec '{sys.executable}' '{script}' \"$@\"\n")
    script.write_text(
        "import os, sys\n"
        f"open({str(told)!r}, 'w').write(repr((sys.argv[1:], os.getsid(0) == os.getpid(),"
        " os.getcwd(), [k for k in os.environ if k.startswith('GIT_')],"
        " [os.path.samestat(os.fstat(n), os.stat(p))"
        f" for n, p in enumerate(['/dev/null', '/dev/null', {err!r}])])))\n"
    )
    program.chmod(0o755)
    monkeypatch.setenv("GIT_DIR", "/nowhere")
    monkeypatch.setenv("GIT_INDEX_FILE", "/nowhere/index")
    background.start(repository, (str(program),))
    said = told.read_text()
    arguments = ["hook", "index", "--detached", "--repo", str(repository.root)]
    kept = [name for name in os.environ if name.startswith("GIT_CONFIG")]
    assert said == repr((arguments, True, "/", kept, [True] * 3))
    assert Path(err).stat().st_mode & 0o777 == 0o600
