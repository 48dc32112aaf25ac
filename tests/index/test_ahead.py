"""Helpers that read sessions ahead: what is indexed is the same, and none stays behind."""

from __future__ import annotations

import multiprocessing
import os
import select
import signal
import subprocess
import sys
from multiprocessing.connection import Connection
from pathlib import Path

import pytest

from catalog_rows import rows_of
from helpers import assistant, concept, jsonl, tool_call, tool_result, user, write
from knowrepo.git.layout import Repository
from knowrepo.index import ahead, build
from knowrepo.index.archived import ReadSession
from knowrepo.index.build import Refreshed, refresh
from knowrepo.index.catalog import Catalog
from knowrepo.index.helper import Job
from knowrepo.index.sources import Source

FORK = multiprocessing.get_context("fork")
HELPER = ahead._Helper


@pytest.fixture
def helped(monkeypatch) -> None:
    """Let two helpers read whatever there is, a few sessions at once."""
    monkeypatch.setattr(ahead, "_WORTH", 1)
    monkeypatch.setattr(ahead, "_processors", lambda: 2)
    monkeypatch.setattr(ahead, "_BATCH", 3)


@pytest.fixture
def taken(monkeypatch) -> dict[str, bool]:
    """Say, of each session that was asked for, whether a helper had read it."""
    found = {}
    take = ahead.Ahead.take

    def noted(self: ahead.Ahead, source: Source) -> ReadSession | None:
        read = take(self, source)
        found[source.path] = read is not None
        return read

    monkeypatch.setattr(ahead.Ahead, "take", noted)
    return found


def put(repository: Repository, path: str, content: bytes) -> Path:
    file = repository.sessions / path
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(content)
    return file


def talk(number: int, turns: int = 6) -> bytes:
    records = []
    for n in range(1, 4 * turns, 4):
        records += [
            user(f"# Frage {n}\nwarum ist die Straße nicht frei und wer wird gehen {number}?", n),
            assistant(f"parseHTTPHeader({number}) in src/http_{n}.py\n\n" + "word " * 300, n + 1),
            tool_call("Bash", n + 2, command=f"pytest -q tests/test_{number}.py"),
            tool_result("line of output\n" * 80, n + 3, n + 2),
        ]  # fmt: skip
    return jsonl(records)


def many(repository: Repository) -> None:
    """Sessions of every kind that an index meets."""
    for number in range(12):
        put(repository, f"claude/s{number:02}.jsonl", talk(number))
    put(repository, "claude/s00/agent-a.jsonl", talk(20, 1))
    put(repository, "claude/warm.jsonl", jsonl([user("Warmup", 1)]))
    put(repository, "claude/empty.jsonl", b"")
    put(repository, "claude/broken.jsonl", talk(21, 1) + b'{"type": "user", "mess')
    put(repository, "claude/conflict.jsonl", b"<<<<<<< HEAD\n" + talk(22, 1))
    put(repository, "claude/zz-large.jsonl", talk(23, 60))
    put(repository, "later-agent/one.jsonl", b'{"a": 1}\n')
    write(repository, "concepts/a.md", concept("A concept", body="words"))


def alone(repository: Repository) -> Refreshed:
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(ahead, "_processors", lambda: 1)
        return refresh(repository)


def test_with_helpers_the_catalog_is_the_same_row_by_row(repository, helped, taken, monkeypatch):
    monkeypatch.setattr(ahead, "_LARGEST", 100_000)
    many(repository)
    expected = alone(repository)
    rows = rows_of(repository)
    assert not taken
    Catalog.discard(repository.catalog)
    assert refresh(repository) == expected
    assert rows_of(repository) == rows
    own = {path for path, was in taken.items() if not was}
    assert own == {
        "sessions/claude/zz-large.jsonl",  # too large to be sent about
        "sessions/claude/conflict.jsonl",  # whoever writes meets the error, and tells it
        "sessions/claude/empty.jsonl",
    }
    assert len(taken) == 19
    assert any("conflict marker" in note for note in expected.notes)


def test_with_helpers_sessions_that_grow_are_touched_or_go_come_out_the_same(
    repository, helped, taken
):
    many(repository)
    refresh(repository)
    put(repository, "claude/s01.jsonl", talk(1, 9))
    put(repository, "claude/s02.jsonl", talk(1))
    touched = repository.sessions / "claude" / "s03.jsonl"
    os.utime(touched, (1, 1))
    (repository.sessions / "claude" / "s04.jsonl").unlink()
    taken.clear()
    done = refresh(repository)
    assert (done.indexed, done.removed) == (3, 1)
    assert set(taken.values()) == {True}
    grown = rows_of(repository)
    Catalog.discard(repository.catalog)
    alone(repository)
    assert grown == rows_of(repository)


def test_where_a_helper_dies_the_rest_is_read_here(repository, helped, taken, monkeypatch):
    many(repository)
    alone(repository)
    rows = rows_of(repository)
    Catalog.discard(repository.catalog)
    answer = ahead._Helper.answer

    def once(self: ahead._Helper) -> list[ReadSession | None]:
        found = answer(self)
        self._process.kill()
        return found

    monkeypatch.setattr(ahead._Helper, "answer", once)
    refresh(repository)
    assert rows_of(repository) == rows
    assert set(taken.values()) == {True, False}


@pytest.mark.parametrize("program", ["", "/nowhere/python", "/bin/false"])
def test_where_no_helper_can_be_started_all_is_read_here(
    repository, helped, taken, monkeypatch, program
):
    many(repository)
    expected = alone(repository)
    rows = rows_of(repository)
    Catalog.discard(repository.catalog)
    monkeypatch.setattr(sys, "executable", program)
    assert refresh(repository) == expected
    assert rows_of(repository) == rows
    assert not any(taken.values())


def test_a_recall_starts_no_helper(repository, helped, taken):
    many(repository)
    assert refresh(repository, budget=60).behind == 0
    assert not taken


def test_little_to_read_starts_no_helper(repository, monkeypatch, taken):
    monkeypatch.setattr(ahead, "_processors", lambda: 2)
    many(repository)
    refresh(repository)
    assert not taken


def test_a_script_that_does_not_guard_its_main_module_is_run_once(repository):
    many(repository)
    script = repository.root / "script.py"
    script.write_text(
        "from pathlib import Path\n"
        "from knowrepo.git.layout import repository_at\n"
        "from knowrepo.index import ahead, build\n"
        "ahead._WORTH = 1\n"
        "ahead._processors = lambda: 2\n"
        f"print(build.refresh(repository_at(Path({str(repository.root)!r}))).indexed)\n"
    )
    tools = str(Path(ahead.__file__).parents[2])
    done = subprocess.run(
        [sys.executable, script], capture_output=True, text=True, check=True,
        env={**os.environ, "PYTHONPATH": tools},
    )  # fmt: skip
    assert (done.stdout, done.stderr) == ("20\n", "")


def test_a_helper_ends_when_its_input_does():
    helper = ahead._Helper()
    helper._stdin.close()
    assert helper._process.wait(60) == 0
    helper.end()


def test_the_interrupt_of_a_terminal_does_not_reach_a_helper(tmp_path):
    put_there = tmp_path / "sessions" / "claude" / "one.jsonl"
    put_there.parent.mkdir(parents=True)
    put_there.write_bytes(talk(1))
    job = Job(str(tmp_path), "sessions/claude/one.jsonl", "", None)
    helper = ahead._Helper()
    try:
        assert os.getpgid(helper._process.pid) != os.getpgid(0)
        helper.ask([job])
        (before,) = helper.answer()  # it is up
        helper._process.send_signal(signal.SIGINT)
        helper.ask([job])
        (after,) = helper.answer()
        assert before is not None
        assert before == after
    finally:
        helper.end()


def _read_on(repository: Repository, pipe: Connection) -> None:
    sources = [
        Source(path.stem, path.relative_to(repository.root).as_posix(), "", path.stat().st_size)
        for path in sorted(repository.sessions.rglob("s*.jsonl"))
    ]
    with ahead.reading(repository.root, sources, {}) as reader:
        assert reader is not None
        assert reader.take(sources[0]) is not None
        pipe.send([helper._process.pid for helper in reader._helpers])
        pipe.recv()


def test_an_interrupt_ends_the_helpers_and_keeps_what_is_done(repository, helped, monkeypatch):
    many(repository)
    monkeypatch.setattr(build, "_SECONDS_A_TRANSACTION", 0.0)
    started = []
    monkeypatch.setattr(ahead, "_Helper", lambda: started.append(HELPER()) or started[-1])

    def interrupt(done: int, _total: int) -> None:
        if done == 6:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        refresh(repository, progress=interrupt)
    assert len(started) == 2
    assert all(one._process.returncode is not None for one in started)
    assert len(rows_of(repository)["documents"]) == 6


@pytest.mark.skipif(not hasattr(os, "pidfd_open"), reason="waits for processes of others")
def test_no_helper_outlives_an_indexer_that_is_killed(repository, helped):
    many(repository)
    ours, theirs = FORK.Pipe()
    parent = FORK.Process(target=_read_on, args=(repository, theirs))
    parent.start()
    files = [os.pidfd_open(pid) for pid in ours.recv()]
    assert len(files) == 2
    parent.kill()
    parent.join()
    for file in files:
        assert select.select([file], [], [], 60)[0]
        os.close(file)
