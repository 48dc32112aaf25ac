"""`know recall --log`: what is asked, opened and spared, through the command line."""

from __future__ import annotations

import json

import pytest

from helpers import concept, git, user, write
from knowrepo.cli.main import main
from knowrepo.config import config_path
from knowrepo.recall import journal


@pytest.fixture
def asked(know, repository, monkeypatch):
    """Run recalls in a repository that has something to find."""
    for name in ("AI_AGENT", "CLAUDECODE", "CODEX_SANDBOX", "CODEX_THREAD_ID", "GEMINI_CLI"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.delenv("CURSOR_AGENT", raising=False)
    for name, title in (("a", "Retry uploads"), ("b", "Two stores"), ("c", "Quiet hooks")):
        body = "\n\n".join([f"# Why\n\n{title} because of what was measured. " * 40])
        write(repository, f"concepts/{name}.md", concept(title, tags=["ops"], body=body))
    return know


def ids(result) -> list[str]:
    return [line[1:].partition("]")[0] for line in result.out.splitlines() if line.startswith("[")]


def told(know, *arguments: str) -> dict:
    result = know("recall", "--log", "--json", *arguments)
    assert result.code == 0
    return json.loads(result.out)


def test_an_empty_log_is_one_clear_line(know):
    result = know("recall", "--log")
    assert (result.code, result.out, result.err) == (0, "no recall was noted yet\n", "")
    assert know("recall", "--log", "--since", "7d").out == "no recall was noted in that time\n"


def test_the_page_says_what_was_asked_opened_and_spared(asked):
    found = ids(asked("recall", "tag:ops"))
    asked("recall", "--get", found[1])
    asked("recall", "tag:nothing-of-the-kind")
    asked("recall", "tag:nothing-of-the-kind")
    page = asked("recall", "--log").out
    assert page.startswith("recalls    3, ")
    assert "\nroutes     structured 3\n" in page
    assert "\nasked by" not in page
    assert "\nconfident  1 of 3 (33%)\n" in page
    assert "\nopened     1 of 1 (100%): the second 1\n" in page
    assert "an estimate at 4 characters a token" in page
    assert "no hit" in page.partition("\nunanswered")[2]
    assert "tag:nothing-of-the-kind" in page.partition("\nunanswered")[2]
    assert f"[{found[1]}] " in page.partition("\nopened most")[2]
    assert all(len(line) <= 80 for line in page.partition("\nopened most")[0].splitlines())


def test_the_json_has_these_keys_and_no_others(asked):
    hit = ids(asked("recall", "tag:ops"))[0]
    asked("recall", "tag:none")
    asked("recall", "--timeline", hit)
    found = told(asked)
    assert found["version"] == 1
    assert set(found) == {
        "version", "file", "off", "recalls", "first", "last", "routes", "askers",
        "median_milliseconds", "confident", "openable", "opened_at_rank", "unanswered",
        "unanswered_queries", "most_opened", "characters", "tokens_spared", "characters_a_token",
    }  # fmt: skip
    assert set(found["unanswered"][0]) == {"query", "count", "last", "why"}
    assert set(found["most_opened"][0]) == {"id", "count", "last"}
    assert set(found["characters"]) == {"printed", "whole", "opened"}
    assert found["opened_at_rank"] == {"1": 1}
    assert found["characters"]["whole"] > found["characters"]["printed"]


def test_what_was_printed_is_counted_as_it_was_printed(asked):
    lines = asked("recall", "tag:ops", "-k", "2").out
    assert told(asked)["characters"]["printed"] == len(lines.replace("\n", ""))
    asked("recall", "--clear-log")
    text = asked("recall", "tag:ops", "--json").out
    assert told(asked)["characters"]["printed"] == len(text.rstrip("\n"))


def test_bodies_that_are_opened_are_taken_from_what_was_spared(asked):
    hit = ids(asked("recall", "tag:ops"))[0]
    before = told(asked)["tokens_spared"]
    asked("recall", "--timeline", hit)  # lines only: nothing of its body
    assert told(asked)["tokens_spared"] == before
    asked("recall", "--get", hit)
    assert 0 < told(asked)["tokens_spared"] < before


def test_rows_are_limited_and_a_period_counts(asked):
    for number in range(5):
        asked("recall", f"tag:none-{number}")
    found = told(asked, "-k", "2")
    assert [one["query"] for one in found["unanswered"]] == ["tag:none-4", "tag:none-3"]
    assert found["unanswered_queries"] == 5
    assert told(asked, "--since", "1h")["recalls"] == 5
    assert told(asked, "--until", "2020")["recalls"] == 0
    assert asked("recall", "--log", "--since", "soon").code == 2


def test_an_agent_that_asks_is_named(asked, monkeypatch):
    asked("recall", "tag:ops")
    monkeypatch.setenv("CLAUDECODE", "1")
    asked("recall", "tag:ops")
    assert "asked by   people 1, claude-code/unknown 1" in asked("recall", "--log").out


def test_one_recall_can_be_left_out(asked):
    hit = ids(asked("recall", "tag:ops", "--no-log"))[0]
    asked("recall", "--get", hit, "--no-log")
    assert asked("recall", "--log").out == "no recall was noted yet\n"
    assert told(asked)["most_opened"] == []


def test_where_it_is_switched_off_nothing_is_noted_and_that_is_said(asked, monkeypatch):
    config_path().write_text("[recall]\nlog = false\n")
    asked("recall", "tag:ops")
    result = asked("recall", "--log")
    assert result.out == "no recall was noted yet\n"
    assert result.err == f"recalls are not noted now: {config_path()} says so\n"
    assert told(asked)["off"] == str(config_path())
    assert "recalls     not noted: " in asked("status").out
    config_path().unlink()
    monkeypatch.setenv(journal.VARIABLE, "0")
    assert f"recalls     not noted: {journal.VARIABLE} says so" in asked("status").out


def test_status_and_init_say_where_recalls_are_noted(asked, capsys):
    assert "recalls     noted in .git/know/logs/recall.jsonl; `know rec" in asked("status").out
    assert main(["init", "--no-archive"]) == 0
    assert "recalls are noted on this machine only" in capsys.readouterr().out


def test_a_repository_that_switches_it_off_passes_the_check(asked, repository):
    write(repository, "know.toml", "format = 1\n[recall]\nlog = false\n")
    assert "recall" not in asked("check").out
    write(repository, "know.toml", "format = 1\n[recall]\nlogs = false\n")
    assert "recall.logs" in asked("check").out


def test_the_log_can_be_removed(asked):
    asked("recall", "tag:ops")
    assert asked("recall", "--clear-log").out == "the log is removed\n"
    assert asked("recall", "--clear-log").out == "there is no log\n"
    assert told(asked)["recalls"] == 0


@pytest.mark.parametrize("option", ["--log", "--clear-log"])
@pytest.mark.parametrize(
    "more", [["word"], ["--get", "a3f2"], ["--tag", "x"], ["--kind", "concept"]]
)
def test_the_log_is_not_asked_with_a_query(know, option, more):
    result = know("recall", option, *more)
    assert result.code == 2
    assert "no query" in result.err


def test_a_secret_in_a_query_is_nowhere_in_the_git_directory(asked, repository):
    token = "ghp_" + "a8Kd03mZq7" * 3 + "b1Xy9w"
    asked("recall", f"tag:{token}")
    asked("recall", "why", "does", token, "not", "work")
    assert told(asked)["recalls"] == 2
    files = [path for path in repository.git_dir.rglob("*") if path.is_file()]
    assert [path for path in files if token.encode() in path.read_bytes()] == []
    assert "[redacted:github-token]" in asked("recall", "--log").out


def test_forgetting_a_session_removes_the_log(asked, repository):
    path = repository.sessions / "claude" / "abc.jsonl"
    path.parent.mkdir()
    path.write_text(json.dumps(user("tell me of the quokka")) + "\n")
    assert asked("recall", "quokka").code == 0
    assert told(asked)["recalls"] == 1
    assert asked("forget", "claude/abc", "--yes").code == 0
    assert told(asked)["recalls"] == 0


def test_an_id_that_is_gone_is_said_to_be(asked, repository):
    hit = ids(asked("recall", "tag:ops"))[0]
    asked("recall", "--get", hit)
    for name in "abc":
        (repository.concepts / f"{name}.md").unlink()
        write(repository, f"concepts/{name}{name}.md", concept("Other"))
    git(repository.root, "add", "-A")
    assert "not there any more" in asked("recall", "--log").out


def test_a_look_up_that_finds_nothing_is_no_opening(asked):
    assert asked("recall", "--get", "0000").code == 1
    assert told(asked)["most_opened"] == []
