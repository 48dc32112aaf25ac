"""Real programs with real streams: they answer, fail, hang, flood and leave children."""

from __future__ import annotations

import os
import select
import signal
import subprocess
import sys
import textwrap
from collections.abc import Callable
from pathlib import Path

import pytest

from knowrepo.distill import command
from knowrepo.distill.command import NoAnswerError, run


@pytest.fixture
def program(tmp_path) -> Callable[[str], list[str]]:
    def write(code: str) -> list[str]:
        path = tmp_path / "answer.py"
        path.write_text("import os, sys, time\n" + textwrap.dedent(code))
        return [sys.executable, str(path)]

    return write


class Held:
    """A pipe that a program opens: it has an end when all that opened it are gone."""

    def __init__(self, path: Path) -> None:
        os.mkfifo(path)
        self._stream = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
        self.opening = f"open({str(path)!r}, 'w')"

    def is_let_go(self) -> bool:
        readable, _, _ = select.select([self._stream], [], [], 60)
        return bool(readable) and os.read(self._stream, 1) == b""


@pytest.fixture
def held(tmp_path) -> Held:
    return Held(tmp_path / "held")


def test_a_prompt_larger_than_any_pipe_comes_back_whole(program):
    prompt = ("line é\n" * 60_000).encode()
    echo = program("sys.stdout.buffer.write(sys.stdin.buffer.read())")
    assert run(echo, prompt, timeout=60) == prompt


def test_a_program_may_answer_before_it_has_read_its_prompt(program):
    assert run(program("print('done')"), b"x" * 1_000_000, timeout=60) == b"done\n"


def test_arguments_go_through_no_shell(program):
    shown = program("print(sys.argv[1:])")
    answer = run([*shown, "$(touch x)", "; ls", "{prompt}"], b"", timeout=60)
    assert answer.decode().strip() == str(["$(touch x)", "; ls", "{prompt}"])


def test_it_runs_in_an_empty_folder_with_the_users_environment_but_gits(program, monkeypatch):
    monkeypatch.setenv("GIT_DIR", "/elsewhere")
    monkeypatch.setenv("MY_SETTING", "mine")
    code = "print(os.listdir(), os.environ.get('GIT_DIR'), os.environ['MY_SETTING'], os.getcwd())"
    answer = run(program(code), b"", timeout=60).decode().split()
    assert answer[:3] == ["[]", "None", "mine"]
    assert not Path(answer[3]).exists()


def test_a_failure_says_the_last_line_of_its_talk(program):
    failing = program("sys.stderr.write('much\\n' * 50000 + 'no credit left\\n'); sys.exit(4)")
    with pytest.raises(NoAnswerError, match=r"exited with 4: no credit left$"):
        run(failing, b"", timeout=60)
    with pytest.raises(NoAnswerError, match=r"ended by signal 11$"):
        run(program("import signal; os.kill(os.getpid(), signal.SIGSEGV)"), b"", timeout=60)


@pytest.mark.parametrize("name", ["no-such-program-at-all", "/no/such/program", "/"])
def test_what_cannot_be_started_is_no_answer(name):
    with pytest.raises(NoAnswerError, match="cannot be started"):
        run([name], b"", timeout=60)


def test_a_program_that_hangs_is_ended_with_all_that_it_started(program, held):
    hanging = program(f"""
        import signal, subprocess
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        mine = {held.opening}
        subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"],
                         pass_fds=[mine.fileno()])
        time.sleep(600)
    """)
    with pytest.raises(NoAnswerError, match="no answer within 2 seconds"):
        run(hanging, b"x" * 1_000_000, timeout=2)
    assert held.is_let_go()


def test_a_program_that_closed_its_output_and_goes_on_is_ended(program):
    quiet = program("print('x', flush=True); os.close(1); os.close(2); time.sleep(600)")
    with pytest.raises(NoAnswerError, match="no answer within 2 seconds"):
        run(quiet, b"", timeout=2)


def test_a_child_that_holds_the_output_is_not_waited_for(program, held):
    leaving = program(f"""
        import subprocess
        mine = {held.opening}
        subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"],
                         pass_fds=[mine.fileno()])
        print("answer")
    """)
    assert run(leaving, b"", timeout=300) == b"answer\n"
    assert held.is_let_go()


def test_a_flood_is_cut_off(program):
    flood = program("while True: sys.stdout.write('x' * 65536)")
    with pytest.raises(NoAnswerError, match=r"longer than 1,048,576 bytes"):
        run(flood, b"", timeout=60)


def test_a_flood_of_talk_is_let_go_by(program):
    talking = program("sys.stderr.write('x' * 5_000_000); print('answer')")
    assert run(talking, b"", timeout=60) == b"answer\n"


def test_an_interrupt_ends_the_program(program, held, tmp_path):
    started = tmp_path / "started"
    os.mkfifo(started)
    hanging = program(
        f"mine = {held.opening}; open({str(started)!r}, 'w').close(); time.sleep(600)"
    )
    code = f"from knowrepo.distill.command import run; run({hanging!r}, b'', timeout=600)"
    with subprocess.Popen([sys.executable, "-c", code], stderr=subprocess.PIPE) as know:
        started.read_bytes()  # waits for it
        know.send_signal(signal.SIGINT)
        _, said = know.communicate(timeout=60)
    assert b"KeyboardInterrupt" in said
    assert held.is_let_go()


def test_only_the_end_of_what_it_says_is_kept(program, monkeypatch):
    monkeypatch.setattr(command, "_KEPT_TALK", 10)
    with pytest.raises(NoAnswerError, match=r"exited with 1: 123456789$"):
        run(program("sys.exit('0123456789')"), b"", timeout=60)
