"""Bars on a real terminal: what they say, and that they leave it as it was."""

from __future__ import annotations

import contextlib
import os
import pty
import re
import signal
import subprocess
import sys
from collections.abc import Iterator

import pytest

from knowrepo.cli.common import _progress_text
from knowrepo.units import rate

WORK = """
import sys, time
from knowrepo.cli.common import progress, say
with progress("embedding", quiet=len(sys.argv) > 2, in_bytes=sys.argv[1] == "bytes") as tell:
    for done in range(1, 5_000):
        tell(done * 1000, 5_000_000)
        if done == 50:
            say("a remark")
        if done == 100:
            sys.stdout.write("half\\n"); sys.stdout.flush()
            if sys.argv[1] == "stop":
                sys.stdin.read()
            break
"""


def on_a_terminal(*arguments: str, interrupt: bool = False) -> tuple[str, int]:
    """Run the work with a terminal for standard error; returns what came there, and the code."""
    main, other = pty.openpty()
    command = [sys.executable, "-c", WORK, *arguments]
    env = {**os.environ, "TERM": "xterm", "COLUMNS": "80", "PYTHONUNBUFFERED": "1"}
    with subprocess.Popen(
        command, stderr=other, stdout=subprocess.PIPE, stdin=subprocess.PIPE, env=env
    ) as work:
        os.close(other)
        assert work.stdout.readline() == b"half\n"
        if interrupt:
            work.send_signal(signal.SIGINT)
        seen = b"".join(_all_of(main))
    os.close(main)
    return seen.decode(), work.returncode


def _all_of(terminal: int) -> Iterator[bytes]:
    """Yield what comes until the other end is closed, which Linux tells by an error."""
    with contextlib.suppress(OSError):
        while data := os.read(terminal, 4096):
            yield data


def test_a_bar_says_how_much_of_how_much_and_how_fast():
    seen, code = on_a_terminal("texts")
    assert code == 0
    assert "embedding" in seen
    assert re.search(r"[\d,]+/5,000,000", seen)


def test_a_bar_of_bytes_says_bytes():
    seen, _ = on_a_terminal("bytes")
    assert re.search(r"\d+(\.\d)? [kM]?B/5\.0 MB", seen)


@pytest.mark.parametrize("interrupt", [False, True])
def test_the_terminal_is_as_it_was_when_a_bar_ends(interrupt):
    seen, code = on_a_terminal("stop" if interrupt else "texts", interrupt=interrupt)
    assert "a remark\r\n" in seen
    assert seen.count("\x1b[?25l") >= 1
    assert seen.rfind("\x1b[?25h") > seen.rfind("\x1b[?25l")  # the cursor shows again
    assert seen.rfind("\x1b[2K") > seen.rfind("embedding")  # the bar's line is cleared
    assert (code != 0) == interrupt


def test_quiet_shows_no_bar():
    seen, _ = on_a_terminal("texts", "quiet")
    assert seen == "a remark\r\n"


def test_without_a_terminal_there_is_no_bar():
    done = subprocess.run(
        [sys.executable, "-c", WORK, "texts"], capture_output=True, text=True, check=True
    )
    assert done.stderr == "a remark\n"


@pytest.mark.parametrize(
    ("speed", "said"),
    [(1234.5, "1,234/s"), (12.34, "12.3/s"), (0.5, "30/min"), (1 / 120, "30/h")],
)
def test_a_rate_is_said_in_the_unit_in_which_it_is_a_number(speed, said):
    assert rate(speed) == said


def test_bytes_go_by_the_second():
    assert rate(1_500_000, in_bytes=True) == "1.5 MB/s"


def test_what_is_not_known_is_left_out():
    assert _progress_text(3, 0, None, in_bytes=False) == "3"
    assert _progress_text(3, 1200, None, in_bytes=False) == "3/1,200"
    assert _progress_text(3, 1200, 2.0, in_bytes=False) == "3/1,200, 2.0/s"
