"""``know stats`` as a user types it."""

from __future__ import annotations

import json
import sys

import pytest

from helpers import SESSION, jsonl, user
from knowrepo.cli.stats import _amount, _bar, _by_time
from knowrepo.upkeep.stats import Share


@pytest.fixture
def filled(repository):
    for number, (day, project) in enumerate(
        [("2026-01-05", "app"), ("2026-01-06", "app"), ("2026-03-01", "\x1b[31mred\u202e 漢字" * 9)]
    ):
        path = repository.sessions / "claude" / f"{SESSION[:-1]}{number}.jsonl"
        path.parent.mkdir(exist_ok=True)
        time = f"{day}T10:00:00Z"
        path.write_bytes(jsonl([user("why", 1, timestamp=time, cwd=f"/home/dev/{project}")]))
    return repository


def test_it_sums_up_and_draws_over_time(know, filled):
    lines = know("stats").out.splitlines()
    assert lines[0].startswith("sessions   3, ")
    assert lines[0].endswith(", 2026-01-05 to 2026-03-01")
    assert lines[1] == "records    3, of these 3 turns of a person"
    week = next(line for line in lines if line.startswith("  2026-01-05 "))
    assert "█" in week
    assert week.endswith("2 sessions")
    assert any(line.startswith("  2026-01-12 ") and "0 sessions" in line for line in lines)


def test_no_line_is_wider_than_a_terminal_in_a_pipe_either(know, filled):
    assert max(len(line) for line in know("stats").out.splitlines()) <= 80


def test_json_has_everything_and_nothing_else_on_standard_output(know, filled):
    given = json.loads(know("stats", "--json").out)
    assert given["version"] == 1
    assert given["sessions"] == 3
    assert given["agents"]["claude"]["sessions"] == 3
    assert set(given["days"]) == {"2026-01-05", "2026-01-06", "2026-03-01"}
    assert given["tokens"] == {"read": 0, "written": 0, "cache_read": 0, "cache_written": 0}


def test_no_name_in_a_transcript_reaches_the_terminal_as_a_command(know, filled, monkeypatch):
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True, raising=False)
    monkeypatch.setenv("COLUMNS", "80")
    told = know("stats").out
    assert "\x1b" not in told
    assert "\u202e" not in told
    assert all(len(line) <= 80 for line in told.splitlines())


def test_filters_are_those_of_the_list_of_sessions(know, filled):
    assert know("stats", "--since", "2026-02").out.startswith("sessions   1, ")
    assert know("stats", "--project", "app").out.startswith("sessions   2, ")
    assert know("stats", "--since", "soon").code == 2
    assert know("stats", "--agent", "nobody").code == 2


def test_an_empty_archive_is_said_to_be_empty(know, repository):
    result = know("stats")
    assert result.code == 0
    assert result.out.splitlines() == [
        "sessions   0, 0 B", "records    0, of these 0 turns of a person", "concepts   0",
    ]  # fmt: skip


def test_long_lists_are_cut_and_say_so(know, filled):
    assert "and 1 more; `-k 0` shows all" in know("stats", "-k", "1").out
    assert "more" not in know("stats", "-k", "0").out


@pytest.mark.parametrize(
    ("days", "starts"),
    [
        (["2026-05-01"], ["2026-05-01"]),
        (["2026-05-01", "2026-05-03"], ["2026-05-01", "2026-05-02", "2026-05-03"]),
        (["2026-05-01", "2026-05-24"], ["2026-04-27", "2026-05-04", "2026-05-11", "2026-05-18"]),
        (["2025-11-30", "2026-04-01"],
         ["2025-11", "2025-12", "2026-01", "2026-02", "2026-03", "2026-04"]),
        (["odd", "2026-05-01"], ["2026-05", "odd"]),
    ],
)  # fmt: skip
def test_time_is_cut_by_how_long_it_is_and_no_session_is_lost(days, starts):
    found = _by_time({day: Share(sessions=1) for day in days})
    assert list(found) == starts
    assert sum(share.sessions for share in found.values()) == len(days)


def test_a_bar_is_never_wider_than_its_place_nor_empty_for_something(monkeypatch):
    for share in (0, 1e-9, 0.3, 0.999, 1):
        assert len(_bar(share, 10)) == 10
        assert bool(_bar(share, 10).strip()) == (share > 0)
    monkeypatch.setattr("knowrepo.cli.stats._draws_blocks", lambda: False)
    assert _bar(0.5, 10) == "#####     "
    assert _bar(1e-9, 10).strip() == "#"


def test_amounts_are_short():
    assert [_amount(n) for n in (0, 999, 1000, 12_345, 999_999, 5_000_000_000)] == [
        "0", "999", "1k", "12.3k", "1M", "5G",
    ]  # fmt: skip
