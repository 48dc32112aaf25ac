from __future__ import annotations

import json
import sys

import pytest
import typer

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
    finder = language_model([SAID, SAID], StandIn(), yes=False)
    said = capsys.readouterr().err
    assert "2 questions about 2 sessions, some " in said
    assert "at your price" in said
    assert finder.propose(SAID) == []


def test_a_no_asks_nobody(model, monkeypatch):
    terminal(monkeypatch, "n")
    with pytest.raises(typer.Exit):
        language_model([SAID], StandIn(), yes=False)


def test_without_a_terminal_it_needs_a_yes_beforehand(model):
    with pytest.raises(KnowError, match="nobody to ask") as caught:
        language_model([SAID], StandIn(), yes=False)
    assert caught.value.hint == "pass --yes"
    assert language_model([SAID], StandIn(), yes=True).name.startswith("knowrepo-llm-python")


def test_nothing_to_ask_about_asks_no_person(model, capsys):
    language_model([], StandIn(), yes=False)
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
