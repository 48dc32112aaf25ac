from __future__ import annotations

import json
import multiprocessing
import os
import signal
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from knowrepo import hook
from knowrepo.sessions.capture import queue
from knowrepo.sessions.capture.queue import EXPIRED_AFTER, QUIET_AFTER, Entry, sweep

NOW = 2_000_000_000
DAY = 24 * 3600


@pytest.fixture
def state(tmp_path) -> Path:
    return tmp_path / "state"


@pytest.fixture
def transcripts(tmp_path) -> Callable[..., Path]:
    def make(name: str = "a", text: str = "one\n", *, changed: float = NOW) -> Path:
        path = tmp_path / f"{name}.jsonl"
        path.write_text(text)
        os.utime(path, (changed, changed))
        return path

    return make


def enqueue(state: Path, path: Path | str, **fields: object) -> str:
    entry = {"agent": "claude", "path": str(path), "session": "s", "cwd": "/w", "event": "Stop",
             "time": NOW, "closed": False} | fields  # fmt: skip
    name = hook.entry_name(str(entry["agent"]), str(path), str(entry["session"]))
    hook.write_entry(str(state / "queue"), name, entry)
    return name


def names(state: Path) -> list[str]:
    """Return all that lies in the queue, apart from its lock."""
    queue = state / "queue"
    files = (path for path in queue.rglob("*") if path.is_file() and path.name != ".lock")
    return sorted(path.relative_to(queue).as_posix() for path in files)


def run(state: Path, *, now: float = NOW, wanted=lambda _: True, act: str = "done") -> list[Entry]:
    with sweep(state, clock=lambda: now) as passing:
        taken = passing.take(wanted)
        for entry in taken:
            getattr(passing, act)(entry)
    return taken


# -- the life of an entry


def test_what_a_hook_writes_is_what_a_sweep_takes(state, transcripts):
    path = transcripts()
    enqueue(state, path, closed=True)
    (entry,) = run(state)
    assert (entry.agent, entry.path, entry.session, entry.cwd) == ("claude", path, "s", "/w")
    assert (entry.event, entry.time, entry.closed) == ("Stop", NOW, True)
    assert entry.mark == (4, NOW * 10**9)


def test_a_session_that_ended_is_forgotten_once_it_is_archived(state, transcripts):
    enqueue(state, transcripts(), closed=True)
    run(state, now=NOW + 60)
    assert names(state) == []


def test_an_end_is_believed_a_minute_later_for_transcripts_lag(state, transcripts):
    path = transcripts()
    enqueue(state, path, closed=True)
    assert len(run(state, now=NOW + 1)) == 1
    transcripts(text="one\ntwo\n", changed=NOW + 2)
    assert len(run(state, now=NOW + 3)) == 1
    assert run(state, now=NOW + 4) == []
    assert names(state) == []


def test_an_open_session_rests_until_its_transcript_changes(state, transcripts):
    name = enqueue(state, transcripts())
    assert len(run(state)) == 1
    assert run(state) == []
    assert names(state) == [name]
    transcripts(text="one\ntwo\n")
    (again,) = run(state)
    assert again.archived == (4, NOW * 10**9)
    assert run(state) == []


def test_what_grows_while_it_is_archived_is_looked_at_again(state, transcripts):
    enqueue(state, transcripts())
    with sweep(state, clock=lambda: NOW) as passing:
        (entry,) = passing.take()
        transcripts(text="one\ntwo\n")  # after it was read
        passing.done(entry)
    assert len(run(state)) == 1


def test_a_session_that_crashed_is_let_go_after_a_quiet_week(state, transcripts):
    enqueue(state, transcripts())
    run(state)
    assert run(state, now=NOW + QUIET_AFTER) == []
    assert len(names(state)) == 1
    assert run(state, now=NOW + QUIET_AFTER + 1) == []
    assert names(state) == []


def test_a_session_that_is_long_but_alive_is_kept(state, transcripts):
    enqueue(state, transcripts())
    run(state)
    later = NOW + 3 * QUIET_AFTER
    transcripts(text="one\ntwo\n", changed=later)
    assert len(run(state, now=later)) == 1
    assert len(names(state)) == 1


def test_an_event_that_comes_meanwhile_is_not_lost(state, transcripts):
    path = transcripts()
    name = enqueue(state, path, event="Stop")
    for act in ("done", "give_back"):
        with sweep(state, clock=lambda: NOW) as passing:
            (entry,) = passing.take()
            enqueue(state, path, event="SessionEnd", closed=True)
            getattr(passing, act)(entry)
        assert names(state) == [name]
        assert json.loads((state / "queue" / name).read_bytes())["event"] == "SessionEnd"


def test_what_is_given_back_returns_as_it_was(state, transcripts):
    name = enqueue(state, transcripts())
    before = (state / "queue" / name).read_bytes()
    run(state, act="give_back")
    assert (state / "queue" / name).read_bytes() == before
    assert names(state) == [name]


def test_what_a_sweep_does_not_decide_on_returns(state, transcripts):
    name = enqueue(state, transcripts())

    def interrupted() -> None:
        with sweep(state) as passing:
            assert len(passing.take()) == 1
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        interrupted()
    assert names(state) == [name]


def test_another_repositorys_entries_are_left_alone(state, transcripts):
    enqueue(state, transcripts("a"), cwd="/ours")
    theirs = enqueue(state, transcripts("b"), cwd="/theirs")
    stat = (state / "queue" / theirs).stat()
    taken = run(state, now=NOW + 60, wanted=lambda entry: entry.cwd == "/ours", act="give_back")
    assert [entry.cwd for entry in taken] == ["/ours"]
    assert (state / "queue" / theirs).stat().st_ctime_ns == stat.st_ctime_ns


def test_an_entry_that_changed_hands_between_look_and_take_is_asked_about_again(
    state, transcripts, monkeypatch
):
    path = transcripts()
    name = enqueue(state, path, cwd="/ours")
    rename = Path.rename

    def slow(self: Path, target: Path) -> Path:
        enqueue(state, path, cwd="/theirs")
        return rename(self, target)

    monkeypatch.setattr(Path, "rename", slow)
    assert run(state, wanted=lambda entry: entry.cwd == "/ours") == []
    assert names(state) == [name]


def test_what_nobody_takes_expires_and_is_counted(state, transcripts):
    name = enqueue(state, transcripts())
    with sweep(state, clock=lambda: NOW + EXPIRED_AFTER) as passing:
        assert passing.take(lambda _: False) == []
        assert passing.expired == 0
    assert names(state) == [name]
    with sweep(state, clock=lambda: NOW + EXPIRED_AFTER + 1) as passing:
        assert passing.take(lambda _: False) == []
        assert passing.expired == 1
    assert names(state) == []


def test_a_transcript_that_is_gone_is_offered_for_a_week(state, tmp_path):
    name = enqueue(state, tmp_path / "moved.jsonl")
    (entry,) = run(state)
    assert entry.mark is None
    assert names(state) == [name]
    assert run(state, now=NOW + QUIET_AFTER + 1) == []
    assert names(state) == []


def test_a_moved_transcript_can_be_told(state, tmp_path, transcripts):
    enqueue(state, tmp_path / "moved.jsonl")
    found = transcripts("found")
    with sweep(state, clock=lambda: NOW) as passing:
        (entry,) = passing.take()
        passing.done(entry.at(found))
    assert run(state) == []
    transcripts("found", "one\ntwo\n")
    assert [entry.path for entry in run(state)] == [found]


def test_a_session_named_by_its_id_alone_is_looked_for_until_it_is_a_day_old(state):
    name = enqueue(state, "", session="s-1", agent="codex")
    (entry,) = run(state)
    assert (entry.path, entry.session, entry.agent) == (None, "s-1", "codex")
    assert names(state) == [name]
    (again,) = run(state, now=NOW + queue.SOUGHT_FOR - 1)
    assert again == entry
    assert names(state) == [name]
    run(state, now=NOW + queue.SOUGHT_FOR)
    assert names(state) == []


def test_a_session_that_was_found_by_its_id_is_followed_like_any_other(state, transcripts):
    path = transcripts()
    name = enqueue(state, "", session="s-1", agent="codex")
    with sweep(state, clock=lambda: NOW) as passing:
        (entry,) = passing.take()
        passing.done(entry.at(path))
    assert names(state) == [name]
    assert json.loads((state / "queue" / name).read_bytes())["path"] == str(path)
    assert run(state) == []


def test_the_oldest_comes_first(state, transcripts):
    for number in (3, 1, 2):
        enqueue(state, transcripts(f"t{number}"), time=NOW + number)
    assert [entry.time - NOW for entry in run(state)] == [1, 2, 3]


# -- sweeps beside each other, and killed


def test_two_sweeps_share_no_entry(state, transcripts):
    for number in range(6):
        enqueue(state, transcripts(f"t{number}"))
    with sweep(state) as one, sweep(state) as two:
        first = one.take(lambda entry: entry.path.stem in {"t0", "t1"})
        second = two.take()
        assert one.take() == []
    assert {entry.path.stem for entry in first} == {"t0", "t1"}
    assert {entry.path.stem for entry in second} == {"t2", "t3", "t4", "t5"}
    assert len(names(state)) == 6


def _sweep_all(state: Path, gate, results) -> None:
    gate.wait()
    with sweep(state) as passing:
        results.put([entry.name for entry in passing.take()])
        gate.wait()  # all hold what they have


def test_of_many_processes_each_entry_has_one(state, transcripts):
    for number in range(40):
        enqueue(state, transcripts(f"t{number}"))
    context = multiprocessing.get_context("fork")
    gate, results = context.Barrier(4), context.Queue()
    running = [context.Process(target=_sweep_all, args=(state, gate, results)) for _ in range(4)]
    for process in running:
        process.start()
    taken = [name for _ in running for name in results.get(timeout=60)]
    for process in running:
        process.join(60)
    assert len(taken) == len(set(taken)) == 40
    assert len(names(state)) == 40


def test_what_a_killed_sweep_had_is_taken_by_the_next(state, transcripts):
    name = enqueue(state, transcripts())
    child = os.fork()
    if child == 0:
        try:
            with sweep(state) as passing:
                passing.take()
                os.kill(os.getpid(), signal.SIGKILL)
        finally:
            os._exit(99)
    _, status = os.waitpid(child, 0)
    assert os.waitstatus_to_exitcode(status) == -signal.SIGKILL
    assert any(found.startswith("taken-") for found in names(state))
    assert [entry.name for entry in run(state, act="give_back")] == [name]
    assert names(state) == [name]


def _sweep_killed_at(step: int, state: Path, archived: int) -> int:
    """Sweep in a child that dies at its nth touch of a file; returns its exit code."""
    child = os.fork()
    if child == 0:
        left = step

        def watch(event: str, _: tuple[object, ...]) -> None:
            nonlocal left
            if event in {"open", "os.mkdir", "os.rename", "os.link", "os.remove", "os.rmdir"}:
                left -= 1
                if left == 0:
                    os.kill(os.getpid(), signal.SIGKILL)

        try:
            sys.addaudithook(watch)
            with sweep(state, clock=lambda: NOW + 60) as passing:
                for entry in passing.take():
                    os.write(archived, f"{entry.name}\n".encode())
                    passing.done(entry)
            os._exit(0)
        finally:
            os._exit(99)
    _, status = os.waitpid(child, 0)
    return os.waitstatus_to_exitcode(status)


def test_killed_at_any_step_a_sweep_loses_nothing(tmp_path, transcripts):
    paths = [transcripts("t0"), transcripts("t1")]
    for step in range(1, 1000):
        state = tmp_path / str(step)
        all_names = {enqueue(state, path, closed=path.stem == "t0") for path in paths}
        (state / "queue" / "bad.json").write_text("{")
        with (tmp_path / "archived").open("wb+") as archived:
            code = _sweep_killed_at(step, state, archived.fileno())
            archived.seek(0)
            done = {line.decode().strip() for line in archived}
        later = NOW + 60
        left = {entry.name for entry in run(state, now=later, act="give_back")}
        rest = {name for name in names(state) if not name.startswith("broken/")}
        assert done | left == all_names, step
        assert rest <= all_names, step  # nothing is left lying about
        if code == 0:
            break
        assert code == -signal.SIGKILL
    assert step > 15


def test_a_sweep_that_works_is_not_robbed(state, transcripts):
    enqueue(state, transcripts())
    with sweep(state) as one:
        (entry,) = one.take()
        assert run(state) == []
        one.done(entry)
    assert len(names(state)) == 1


def test_what_killed_hooks_had_begun_is_swept_up(state):
    folder = state / "queue"
    folder.mkdir(parents=True)
    for name, changed in ((".1.aa.tmp", NOW - 10**9), (".2.bb.tmp", None)):
        (folder / name).write_text("{")
        if changed:
            os.utime(folder / name, (changed, changed))
    run(state)
    assert names(state) == [".2.bb.tmp"]


def test_without_hard_links_it_works_too(state, transcripts, monkeypatch):
    def refuse(*_: object) -> None:
        raise PermissionError(1, "Operation not permitted")

    monkeypatch.setattr(os, "link", refuse)
    path = transcripts()
    name = enqueue(state, path)
    run(state)
    assert names(state) == [name]
    assert run(state) == []
    transcripts(text="one\ntwo\n")
    with sweep(state, clock=lambda: NOW) as passing:
        (entry,) = passing.take()
        enqueue(state, path, event="SessionEnd")
        passing.give_back(entry)
    assert json.loads((state / "queue" / name).read_bytes())["event"] == "SessionEnd"


# -- what is no entry


GOOD = {
    "agent": "a",
    "path": "/p",
    "session": "",
    "cwd": "",
    "event": "",
    "time": 1,
    "closed": True,
}


@pytest.mark.parametrize(
    "content",
    [
        b"", b"{", b"[]", b"null", b"\xff", b'{"agent": "claude"}', b"[" * 100_000,
        *(json.dumps(GOOD | change).encode() for change in (
            {"path": 1}, {"path": "relative"}, {"path": "/a\0b"}, {"path": ""}, {"time": "now"},
            {"time": None}, {"closed": "yes"}, {"cwd": None}, {"event": "x" * 70_000},
        )),
        json.dumps(GOOD | {"time": float("nan")}).encode(),
    ],
)  # fmt: skip
def test_what_is_no_entry_is_moved_aside_and_counted(content, state, transcripts):
    name = enqueue(state, transcripts())
    (state / "queue" / "bad.json").write_bytes(content)
    assert queue.waiting(state).broken == 1
    with sweep(state, clock=lambda: NOW) as passing:
        assert [entry.name for entry in passing.take()] == [name]
        assert passing.broken == 1
    assert names(state) == sorted([name, "broken/bad.json"])


@pytest.mark.parametrize("make", [
    os.mkfifo, Path.mkdir, lambda path: path.symlink_to("/dev/zero"),
    lambda path: path.symlink_to(path.with_name("elsewhere")),
])  # fmt: skip
def test_only_regular_files_are_opened_and_what_else_has_the_name_is_moved_aside(
    make, state, transcripts
):
    name = enqueue(state, transcripts())
    make(state / "queue" / "bad.json")
    assert queue.waiting(state).broken == 1
    with sweep(state, clock=lambda: NOW) as passing:
        assert [entry.name for entry in passing.take()] == [name]
        assert passing.broken == 1
    assert [path.name for path in (state / "queue" / "broken").iterdir()] == ["bad.json"]


def test_of_broken_entries_a_few_are_kept(state):
    folder = state / "queue"
    folder.mkdir(parents=True)
    for number in range(50):
        (folder / f"{number}.json").write_text("{")
    run(state)
    assert len(names(state)) == 20


def test_an_odd_mark_of_the_last_sweep_counts_as_none(state, transcripts):
    for odd in ("x", [1], [1, "2"], {"size": 1}, None):
        enqueue(state, transcripts(), archived=odd)
        assert [entry.archived for entry in run(state, act="give_back")] == [None]


# -- counting


def test_what_waits_is_counted_without_touching_it(state, transcripts):
    assert queue.waiting(state) == queue.Waiting()
    assert not state.exists()
    enqueue(state, transcripts("rests"))
    run(state)
    enqueue(state, transcripts("a"), time=NOW - 5)
    enqueue(state, transcripts("b"), time=NOW - DAY)
    before = names(state)
    found = queue.waiting(state)
    assert found == queue.Waiting(waiting=2, resting=1, oldest=NOW - DAY)
    assert names(state) == before
    with sweep(state) as passing:
        passing.take()
        assert queue.waiting(state).taken == 2


def test_the_users_own_queue_is_the_default(transcripts):
    enqueue(Path(hook.state_dir()), transcripts())
    assert queue.waiting().waiting == 1
    with sweep() as passing:
        assert len(passing.take()) == 1
