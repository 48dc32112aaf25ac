from __future__ import annotations

import json
import sys

import pytest
import typer

from helpers import assistant, jsonl, user, write
from knowrepo.cli.asking import in_words, language_model
from knowrepo.config import config_path
from knowrepo.distill.llm import Estimate
from knowrepo.errors import KnowError
from stand_in import StandIn, session

SAID = session(("user", "Always use plain files"))


@pytest.fixture
def model(tmp_path, monkeypatch) -> None:
    monkeypatch.setenv("KNOW_CACHE", str(tmp_path / "cache"))
    answer = [sys.executable, "-c", "import sys; sys.stdin.read(); print('{\"entries\": []}')"]
    config_path().write_text(
        f"[distill]\ncommand = {json.dumps(answer)}\nprice_per_million_tokens = 3\n"
    )


def terminal(monkeypatch, answer: str) -> None:
    monkeypatch.setattr("sys.stdin.isatty", lambda: True)
    monkeypatch.setattr("typer.confirm", lambda *_, **__: answer == "y")


def test_what_it_takes_is_said_before_a_person_is_asked(model, monkeypatch, capsys):
    terminal(monkeypatch, "y")
    finder = language_model(lambda _: [SAID, SAID], StandIn(), yes=False)
    said = capsys.readouterr().err
    assert "2 questions about 2 sessions, some " in said
    assert "at your price" in said
    assert finder.propose(SAID) == []


def test_a_no_asks_nobody(model, monkeypatch):
    terminal(monkeypatch, "n")
    with pytest.raises(typer.Exit):
        language_model(lambda _: [SAID], StandIn(), yes=False)


def test_without_a_terminal_it_needs_a_yes_beforehand(model):
    with pytest.raises(KnowError, match="nobody to ask") as caught:
        language_model(lambda _: [SAID], StandIn(), yes=False)
    assert caught.value.hint == "pass --yes"
    assert language_model(lambda _: [SAID], StandIn(), yes=True).name.startswith(
        "knowrepo-llm-python"
    )


def test_nothing_to_ask_about_asks_no_person(model, capsys):
    language_model(lambda _: [], StandIn(), yes=False)
    assert capsys.readouterr().err == ""


@pytest.mark.parametrize(
    ("estimate", "words"),
    [
        (Estimate(1, 1, 1200, 600, None, None),
         "1 question about 1 session, some 1,200 tokens to read and 600 to write"),
        (Estimate(8, 9, 90_000, 5400, 0.2862, 754.0),
         "9 questions about 8 sessions, some 90,000 tokens to read and 5,400 to write,"
         " about 0.29 at your price, about 13 minutes"),
        (Estimate(1, 1, 1, 1, 0.0, 9.0),
         "1 question about 1 session, some 1 tokens to read and 1 to write,"
         " about 0.00 at your price, about a minute or less"),
    ],
)  # fmt: skip
def test_an_estimate_is_said_in_a_line(estimate, words):
    assert in_words(estimate) == words


def test_distilling_by_a_model_writes_drafts_and_asks_again_only_where_it_failed(
    know, repository, tmp_path, monkeypatch
):
    monkeypatch.setenv("KNOW_CACHE", str(tmp_path / "cache"))
    said = "We use SQLite because it needs no server"
    text = jsonl([user("Always use plain files", 1), assistant(said, 2)]).decode()
    write(repository, "sessions/claude/0f0e0d0c-0b0a-4908-8706-050403020100.jsonl", text)
    entry = {
        "kind": "decision", "title": "SQLite holds the data", "mechanism": "",
        "description": "The data is kept in SQLite, which needs no server.",
        "evidence": [{"record": "r2", "quote": said}],
    }  # fmt: skip
    script, calls = tmp_path / "answer.py", tmp_path / "calls"
    noted = f"open({str(calls)!r}, 'a').write('x')\n"
    config_path().write_text(f"[distill]\ncommand = {json.dumps([sys.executable, str(script)])}\n")
    script.write_text(f"{noted}raise SystemExit('busy')\n")
    failed = know("distill", "--llm", "--yes")
    assert "busy; used the rules" in failed.err
    script.write_text(f"{noted}print({json.dumps({'entries': [entry]})!r})\n")
    done = know("distill", "--llm", "--yes")
    assert "concepts/decisions/sqlite-holds-the-data.md" in done.out + done.err
    draft = (repository.root / "concepts/decisions/sqlite-holds-the-data.md").read_text()
    assert 'by: "knowrepo-llm-python' in draft
    assert said in draft
    assert know("check").code == 0
    know("distill")  # the rules remember for themselves
    again = know("distill", "--llm")
    assert (again.code, calls.read_text()) == (0, "xx")
