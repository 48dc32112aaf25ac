from __future__ import annotations

import errno
import json
import os
import pwd
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import tomllib
from collections.abc import Callable
from importlib import import_module
from pathlib import Path

import platformdirs
import pytest
from platformdirs.macos import MacOS
from platformdirs.unix import Unix

from helpers import unprivileged
from knowrepo import hook

ROOT = Path(__file__).resolve().parents[1]
COMMAND = [sys.executable, "-m", "knowrepo.hook"]
STOP = {
    "session_id": "0f0e0d0c-0b0a-4908-8706-050403020100",
    "transcript_path": "/home/dev/.claude/projects/-app/0f0e0d0c-0b0a-4908-8706-050403020100.jsonl",
    "cwd": "/home/dev/app",
    "hook_event_name": "Stop",
}


@pytest.fixture
def state(own_environment) -> Path:
    return own_environment / "state"


def call(*arguments: str, said: object = b"") -> subprocess.CompletedProcess[bytes]:
    data = said if isinstance(said, bytes) else json.dumps(said).encode()
    return subprocess.run(
        [*COMMAND, *arguments], input=data, capture_output=True, check=False, timeout=60
    )


def is_silent(done: subprocess.CompletedProcess[bytes]) -> bool:
    return (done.returncode, done.stdout, done.stderr) == (0, b"", b"")


def entries(state: Path) -> list[dict[str, object]]:
    return [json.loads(path.read_bytes()) for path in sorted((state / "queue").glob("*.json"))]


def log(state: Path) -> str:
    path = state / "hook.log"
    return path.read_text() if path.exists() else ""


def forked(folder: Path, before: Callable[[], None], said: object = STOP) -> tuple[int, bytes]:
    """Run the hook in a child of this process, prepared by ``before``; its status and output."""
    out = folder / "out"
    given = folder / "in"
    given.write_text(json.dumps(said))
    child = os.fork()
    if child == 0:
        try:
            os.dup2(os.open(given, os.O_RDONLY), 0)
            os.dup2(os.open(out, os.O_WRONLY | os.O_CREAT), 1)
            os.dup2(1, 2)
            sys.argv = ["know-hook"]
            before()
            hook.main()
        finally:
            os._exit(99)
    _, status = os.waitpid(child, 0)
    return os.waitstatus_to_exitcode(status), out.read_bytes()


# -- what is enqueued


def test_an_event_becomes_an_entry(state):
    assert is_silent(call(said=STOP))
    (entry,) = entries(state)
    assert isinstance(entry.pop("time"), int)
    assert entry == {
        "agent": "claude",
        "path": STOP["transcript_path"],
        "session": STOP["session_id"],
        "cwd": "/home/dev/app",
        "event": "Stop",
        "closed": False,
    }
    assert log(state) == ""


def test_entries_are_the_users_alone(state):
    call(said=STOP)
    (file,) = (state / "queue").iterdir()
    assert file.stat().st_mode & 0o777 == 0o600
    assert file.parent.stat().st_mode & 0o777 == 0o700


@pytest.mark.parametrize(
    ("arguments", "said", "expected"),
    [
        pytest.param(
            [], STOP | {"hook_event_name": "SessionEnd", "reason": "clear"},
            {"event": "SessionEnd", "closed": True}, id="the end of a session",
        ),
        pytest.param(
            [], STOP | {"hook_event_name": "SubagentStop", "agent_transcript_path": "/t/a.jsonl"},
            {"path": "/t/a.jsonl", "closed": True}, id="a sub-agent with a transcript of its own",
        ),
        pytest.param(
            [], STOP | {"hook_event_name": "SubagentStop"},
            {"path": STOP["transcript_path"], "closed": False}, id="a sub-agent without",
        ),
        pytest.param(
            ["--agent", "codex"], STOP | {"transcript_path": None},
            {"agent": "codex", "path": "", "session": STOP["session_id"]}, id="no transcript yet",
        ),
        pytest.param(
            ["--agent", "gemini"],
            STOP | {"hook_event_name": "AfterAgent", "timestamp": "2026-05-01T10:00:00Z"},
            {"agent": "gemini", "event": "AfterAgent", "path": STOP["transcript_path"]},
            id="gemini",
        ),
        pytest.param(
            ["--agent", "copilot", "--event", "sessionEnd"],
            {"sessionId": "s-1", "timestamp": 1, "cwd": "/w", "reason": "complete"},
            {"session": "s-1", "cwd": "/w", "event": "sessionEnd", "closed": True}, id="copilot",
        ),
        pytest.param(
            ["--agent", "cursor"],
            {"conversation_id": "c-1", "workspace_roots": ["/w", "/v"], "transcript_path": None,
             "hook_event_name": "stop"},
            {"session": "c-1", "cwd": "/w", "event": "stop", "closed": False}, id="cursor",
        ),
        pytest.param(
            [], STOP | {"transcript_path": "/t/\udc80\u00fc \u2028 'x'.jsonl"},
            {"path": "/t/\udc80\u00fc \u2028 'x'.jsonl"}, id="a path of odd characters",
        ),
    ],
)  # fmt: skip
def test_what_agents_say_is_understood(arguments, said, expected, state):
    assert is_silent(call(*arguments, said=said))
    (entry,) = entries(state)
    assert {key: entry[key] for key in expected} == expected


def test_codex_says_it_in_the_last_argument(state):
    said = {"type": "agent-turn-complete", "thread-id": "t-1", "turn-id": "1", "cwd": "/w",
            "input-messages": ["please"], "last-assistant-message": "done"}  # fmt: skip
    done = subprocess.run(
        [*COMMAND, "--agent", "codex", json.dumps(said)], stdin=subprocess.DEVNULL,
        capture_output=True, check=False, timeout=60,
    )  # fmt: skip
    assert is_silent(done)
    (entry,) = entries(state)
    assert (entry["session"], entry["cwd"], entry["path"]) == ("t-1", "/w", "")
    assert "please" not in json.dumps(entry)


def test_a_path_in_the_home_folder_is_made_whole(state, own_environment):
    call(said=STOP | {"transcript_path": "~/x.jsonl"})
    assert entries(state)[0]["path"] == str(own_environment / "x.jsonl")


def test_events_of_one_session_are_one_entry_and_the_last_counts(state):
    for event in ("SessionStart", "Stop", "SessionEnd"):
        call(said=STOP | {"hook_event_name": event})
    (entry,) = entries(state)
    assert entry["closed"] is True
    call(said=STOP | {"hook_event_name": "SessionStart", "source": "resume"})
    (entry,) = entries(state)
    assert entry["closed"] is False


def test_sessions_without_a_transcript_do_not_share_an_entry(state):
    for number in range(3):
        call("--agent", "codex", said={"session_id": f"s-{number}"})
    assert {entry["session"] for entry in entries(state)} == {"s-0", "s-1", "s-2"}


# -- many at once, and killed


def test_twenty_at_once_lose_nothing(state):
    running = []
    for number in range(20):
        said = STOP | {"transcript_path": f"/t/{number % 10}.jsonl"}  # each session twice
        process = subprocess.Popen(
            COMMAND, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.STDOUT
        )
        running.append((process, json.dumps(said).encode()))
    for process, said in running:
        assert process.communicate(said, timeout=60) == (b"", None)
        assert process.returncode == 0
    assert {entry["path"] for entry in entries(state)} == {f"/t/{n}.jsonl" for n in range(10)}
    assert len(list((state / "queue").iterdir())) == 10


def test_a_reader_never_sees_half_an_entry(tmp_path):
    hook.write_entry(str(tmp_path), "a.json", {"n": 0})
    stop = threading.Event()

    def write(number: int) -> None:
        while not stop.is_set():
            hook.write_entry(str(tmp_path), "a.json", {"n": number, "long": "x" * 5000})

    writers = [threading.Thread(target=write, args=(number,)) for number in range(4)]
    for writer in writers:
        writer.start()
    try:
        for _ in range(300):
            json.loads((tmp_path / "a.json").read_bytes())
    finally:
        stop.set()
        for writer in writers:
            writer.join()
    assert [path.name for path in tmp_path.iterdir()] == ["a.json"]


@pytest.mark.parametrize("at", ["write", "close", "replace"])
def test_killed_at_any_point_the_entry_before_stays_whole(at, state, tmp_path):
    call(said=STOP)
    (before,) = entries(state)

    def die() -> None:
        real = os.write

        def killed(*arguments: object) -> int:
            if at == "write":
                real(arguments[0], arguments[1][:10])
            os.kill(os.getpid(), signal.SIGKILL)
            return 0

        setattr(os, at, killed)

    code, _ = forked(tmp_path, die, STOP | {"hook_event_name": "SessionEnd"})
    assert code == -signal.SIGKILL
    assert entries(state) == [before]


@pytest.mark.parametrize("name", ["SIGINT", "SIGTERM", "SIGHUP"])
def test_a_signal_to_the_agents_group_does_not_fail_it(name, state, tmp_path):
    def interrupted() -> None:
        real = os.read

        def read(file: int, size: int) -> bytes:
            os.kill(os.getpid(), getattr(signal, name))
            return real(file, size)

        os.read = read

    assert forked(tmp_path, interrupted) == (0, b"")
    assert len(entries(state)) == 1


# -- what must never hurt


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        pytest.param([], b"", id="nothing"),
        pytest.param([], b"hello", id="no JSON"),
        pytest.param([], b'{"transcript_path": "/private/x.jsonl"', id="half an object"),
        pytest.param([], b'{"transcript_path": "/private/x.jsonl"}}', id="an object and a half"),
        pytest.param([], b'["/private/x.jsonl"]', id="a list"),
        pytest.param([], b"\xff\xfe\x00{}", id="no UTF-8"),
        pytest.param([], b'{"a":' * 100_000 + b"1" + b"}" * 100_000, id="nested too deeply"),
        pytest.param([], {}, id="an empty object"),
        pytest.param([], {"transcript_path": 7, "session_id": ["", "/private"]}, id="odd types"),
        pytest.param([], {"transcript_path": "private/x.jsonl"}, id="a relative path"),
        pytest.param([], {"transcript_path": "/private/x\0.jsonl"}, id="a NUL in the path"),
        pytest.param([], {"transcript_path": "/private/" + "x" * 5000}, id="an endless path"),
        pytest.param([], b'{"a": "' + b"x" * (3 << 20) + b'"}', id="too large"),
        pytest.param(["--agent", "../private"], STOP, id="an agent that is a path"),
        pytest.param(["--agent"], STOP, id="an option without its value"),
        pytest.param(["--private"], STOP, id="an unknown option"),
        pytest.param(["{private"], STOP, id="an argument that is no JSON"),
    ],
)
def test_what_is_no_event_is_noted_and_hurts_nobody(arguments, said, state):
    assert is_silent(call(*arguments, said=said))
    assert not (state / "queue").exists()
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ \w+: .+\n", log(state))
    assert "/private" not in log(state)


def test_the_log_stays_small(state):
    state.mkdir()
    (state / "hook.log").write_text("x" * 70_000)
    for _ in range(2):
        call(said=b"hello")
    assert sorted(path.name for path in state.iterdir()) == ["hook.log", "hook.log.old"]
    assert len(log(state)) < 200


@pytest.mark.parametrize("said", [json.dumps(STOP), json.dumps(STOP)[:40], ""])
def test_an_input_that_never_closes_does_not_hold_it(said, state):
    process = subprocess.Popen(
        COMMAND, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.STDOUT
    )
    assert process.stdin is not None
    assert process.stdout is not None
    process.stdin.write(said.encode())
    process.stdin.flush()
    assert process.wait(timeout=60) == 0
    assert process.stdout.read() == b""
    process.stdin.close()
    process.stdout.close()
    whole = said == json.dumps(STOP)
    assert (state / "queue").exists() == whole


def test_closed_files_do_not_hurt(state):
    line = '"$@" <&- >&- 2>&-'
    done = subprocess.run(["sh", "-c", line, "sh", *COMMAND], check=False, timeout=60)
    assert done.returncode == 0
    line = '"$@" >&- 2>&-'
    done = subprocess.run(
        ["sh", "-c", line, "sh", *COMMAND], input=json.dumps(STOP).encode(), check=False, timeout=60
    )
    assert done.returncode == 0
    assert len(entries(state)) == 1


def test_without_a_home_it_gives_up_in_silence(tmp_path):
    def homeless() -> None:
        for name in ("HOME", "KNOW_STATE", "XDG_STATE_HOME"):
            os.environ.pop(name, None)

        def nobody(_: int) -> None:
            raise KeyError

        pwd.getpwuid = nobody
        os.chdir(tmp_path)

    assert forked(tmp_path, homeless) == (0, b"")
    assert not (tmp_path / "~").exists()


def test_a_folder_that_cannot_be_written_is_no_failure():
    with tempfile.TemporaryDirectory() as name:  # pytest's own is closed to others
        folder = Path(name)
        folder.chmod(0o755)
        (folder / "state").mkdir(mode=0o555)

        def closed() -> None:
            os.environ["KNOW_STATE"] = str(folder / "state")
            with unprivileged():
                hook.main()

        assert forked(folder, closed) == (0, b"")
        assert list((folder / "state").iterdir()) == []


def test_a_file_in_the_place_of_the_folder_is_no_failure(state):
    state.write_text("mine")
    assert is_silent(call(said=STOP))
    assert state.read_text() == "mine"


def test_a_full_disk_leaves_the_entry_before_and_no_remains(state, tmp_path):
    call(said=STOP)
    (before,) = entries(state)

    def full() -> None:
        def write(_file: int, _data: bytes) -> int:
            raise OSError(errno.ENOSPC, "No space left on device")

        os.write = write

    assert forked(tmp_path, full, STOP | {"hook_event_name": "SessionEnd"}) == (0, b"")
    assert entries(state) == [before]
    assert len(list((state / "queue").iterdir())) == 1


# -- the status line


def test_a_status_line_tells_the_person_and_enqueues_once_a_minute(state):
    done = call("--status", said=STOP)
    assert (done.returncode, done.stdout, done.stderr) == (0, b"know: session queued\n", b"")
    (file,) = (state / "queue").iterdir()
    file.write_text("{}")
    assert call("--status", said=STOP).stdout == b"know: session queued\n"
    assert file.read_text() == "{}"
    passed = file.stat().st_mtime - 61
    os.utime(file, (passed, passed))
    call("--status", said=STOP)
    assert entries(state)[0]["path"] == STOP["transcript_path"]


def test_a_status_line_says_where_it_cannot_enqueue(state):
    done = call("--status", said=b"hello")
    assert done.stdout == b"know: not queued, see `know hooks status`\n"
    assert done.returncode == 0


# -- where, and how light


@pytest.mark.parametrize("base", ["", "relative/folder", "/elsewhere/state"])
def test_the_state_folder_is_the_platforms(base, monkeypatch):
    monkeypatch.delenv("KNOW_STATE")
    monkeypatch.setenv("XDG_STATE_HOME", base)
    monkeypatch.setattr(sys, "platform", "linux")
    assert hook.state_dir() == Unix("knowrepo", appauthor=False).user_state_dir
    monkeypatch.delenv("XDG_STATE_HOME")
    monkeypatch.setattr(sys, "platform", "darwin")
    assert hook.state_dir() == MacOS("knowrepo", appauthor=False).user_state_dir
    monkeypatch.undo()
    monkeypatch.delenv("KNOW_STATE", raising=False)
    expected = platformdirs.user_state_dir("knowrepo", appauthor=False)
    assert hook.state_dir() == expected


def test_a_relative_override_is_ignored(monkeypatch):
    monkeypatch.setenv("KNOW_STATE", "here")
    assert Path(hook.state_dir()).is_absolute()


def test_it_imports_the_light_part_of_the_standard_library_alone():
    script = "import sys, knowrepo.hook; print(*sys.modules)"
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    )
    bare = subprocess.run(
        [sys.executable, "-c", "import sys; print(*sys.modules)"],
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    added = set(done.stdout.split()) - set(bare.stdout.split())
    assert {name for name in added if name.startswith("knowrepo")} == {"knowrepo", "knowrepo.hook"}
    outside = {name.partition(".")[0] for name in added} - sys.stdlib_module_names - {"knowrepo"}
    assert outside == set()
    assert not added & {"typing", "pathlib", "argparse", "threading", "tempfile", "subprocess"}


def test_the_console_script_is_this_function():
    scripts = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["scripts"]
    module, _, function = scripts["know-hook"].partition(":")
    assert getattr(import_module(module), function) is hook.main


def test_the_module_file_alone_works_too(tmp_path, state):
    """It needs nothing beside it: not even the package."""
    alone = tmp_path / "hook.py"
    shutil.copy(hook.__file__, alone)
    done = subprocess.run(
        [sys.executable, "-I", str(alone)], input=json.dumps(STOP).encode(),
        capture_output=True, check=False, timeout=60,
    )  # fmt: skip
    assert is_silent(done)
    assert len(entries(state)) == 1
