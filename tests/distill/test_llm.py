"""A finder that asks a real program, whose answers are good, bad and missing."""

from __future__ import annotations

import json
import sys
import textwrap
from collections.abc import Callable
from pathlib import Path

import pytest

from knowrepo import __version__
from knowrepo.cli.main import main
from knowrepo.config import cache_dir, config_path, load_user_config
from knowrepo.distill.asked import TooLongError
from knowrepo.distill.llm import LlmFinder, from_user_config
from knowrepo.errors import KnowError
from stand_in import StandIn, session

SAID = session(
    ("user", "Always use plain files"),
    ("assistant", "We use SQLite because it needs no server"),
)
GOOD = {
    "kind": "decision",
    "evidence": [{"record": "r2", "quote": "We use SQLite because it needs no server"}],
    "title": "SQLite holds the data",
    "description": "The data is kept in SQLite, which needs no server.",
    "mechanism": "",
}


@pytest.fixture
def finder(tmp_path, monkeypatch) -> Callable[..., LlmFinder]:
    """Configure a program as the model; what is remarked is in `said`."""
    monkeypatch.setenv("KNOW_CACHE", str(tmp_path / "cache"))

    def make(code: str, said: list[str] | None = None, settings: str = "") -> LlmFinder:
        script = tmp_path / "answer.py"
        script.write_text("import json, os, sys\n" + textwrap.dedent(code))
        config_path().write_text(
            f"[distill]\ncommand = {json.dumps([sys.executable, str(script)])}\n{settings}\n"
        )
        heard = [] if said is None else said
        return from_user_config(StandIn(), remark=heard.append)

    return make


def answering(*entries: object) -> str:
    return f"sys.stdin.read(); print({json.dumps({'entries': entries})!r})"


def test_what_a_command_answers_is_proposed_in_its_name(finder):
    said: list[str] = []
    made = finder(answering(GOOD, {**GOOD, "kind": "gossip"}), said)
    (found,) = made.propose(SAID)
    assert (found.title, found.found_by) == ("SQLite holds the data", "")
    assert made.name == f"knowrepo-llm-{Path(sys.executable).name}/{__version__}"
    assert (made.dropped, said) == ({"unknown kind": 1}, [])


def test_it_is_given_the_session_and_the_form_of_the_answer(finder, tmp_path):
    kept = tmp_path / "prompt"
    made = finder(f"open({str(kept)!r}, 'w').write(sys.stdin.read()); print('{{\"entries\": []}}')")
    assert made.propose(SAID) == []
    prompt = kept.read_text()
    assert "r1 user: Always use plain files\nr2 assistant: We use SQLite" in prompt
    assert '"required":["entries"]' in prompt


@pytest.mark.parametrize(
    ("code", "why"),
    [
        ("sys.exit('no key')", "exited with 1: no key"),
        ("print('I would rather not.')", "the answer is no JSON object with `entries`"),
        ("sys.stdout.buffer.write('{\"entries\": []}'.encode('utf-16'))", "the answer is not UTF"),
        ("print('{\"entries\": [{\"kind\": \"deci')",
         "the answer breaks off before its first entry"),
        ("os.abort()", "ended by signal 6"),
        ("print('x' * 2_000_000)", "its answer is longer than 1,048,576 bytes"),
        ("import time; time.sleep(600)", "no answer within 1 seconds"),
    ],
)  # fmt: skip
def test_without_an_answer_the_rules_find_and_one_remark_says_why(finder, code, why):
    said: list[str] = []
    made = finder(code, said, "timeout_seconds = 1" if "sleep" in code else "")
    (found,) = made.propose(SAID)
    assert (found.title, found.found_by) == ("Always use plain files", "stand-in")
    assert len(said) == 1
    assert said[0].startswith("claude/s1: ")
    assert said[0].endswith("; used the rules")
    assert why in said[0]


def test_after_three_questions_in_vain_nobody_is_asked_any_more(finder, tmp_path):
    calls = tmp_path / "calls"
    said: list[str] = []
    made = finder(f"open({str(calls)!r}, 'a').write('x'); sys.exit(1)", said)
    for _ in range(6):
        assert len(made.propose(SAID)) == 1
    assert calls.read_text() == "xxx"
    assert said[-1] == "no answer 3 times in a row; the rules do the rest"
    assert len(said) == 4


def test_a_long_session_in_vain_is_given_up_halfway(finder, tmp_path):
    calls = tmp_path / "calls"
    long = session(*[("user", f"Always do thing {n}: " + "and so on " * 300) for n in range(12)])
    made = finder(f"open({str(calls)!r}, 'a').write('x'); sys.exit(1)", [], "window = 4096")
    assert made.estimate([long]).questions == 4
    assert len(made.propose(long)) == 12
    assert (calls.read_text(), made.unanswered) == ("xxx", 4)


def test_an_answer_between_failures_starts_the_count_again(finder, tmp_path):
    calls = tmp_path / "calls"
    made = finder(f"""
        with open({str(calls)!r}, "a") as kept:
            kept.write("x")
        if os.path.getsize({str(calls)!r}) % 3:
            sys.exit(1)
        print('{{"entries": []}}')
    """)
    for _ in range(9):
        made.propose(SAID)
    assert calls.read_text() == "x" * 9


def test_where_a_part_has_no_answer_the_rules_find_in_that_part_only(finder, tmp_path):
    turns = [("user", f"Always do thing {n}: " + "and so on " * 120) for n in range(12)]
    long = session(*turns)
    said: list[str] = []
    made = finder(
        """
        asked = sys.stdin.read()
        sys.exit(9) if "thing 0:" in asked else print('{"entries": []}')
        """,
        said,
        "window = 4096",
    )
    assert made.estimate([long]).questions > 1
    found = made.propose(long)
    assert 0 < len(found) < 12
    assert [one.statements[0].line for one in found] == list(range(1, len(found) + 1))
    assert made.unanswered == 1
    assert "used the rules for 1 of" in said[-1]


def test_a_question_that_does_not_fit_is_asked_in_halves():
    class Narrow:
        name, window, most = "narrow", 8192, 1000
        asked: list[int]

        def ask(self, piece):
            self.asked.append(len(piece.turns))
            if len(piece.turns) > 2:
                raise TooLongError("too long")
            raise_for = {**GOOD, "evidence": [
                {"record": next(iter(piece.turns)), "quote": "use SQLite because it needs"},
            ]}  # fmt: skip
            from knowrepo.distill.asked import Reply

            return Reply(json.dumps({"entries": [raise_for]}).encode())

    who = Narrow()
    who.asked = []
    said = session(
        *[("assistant", f"{n} We use SQLite because it needs no server") for n in range(6)]
    )
    found = LlmFinder(who, StandIn()).propose(said)
    assert who.asked == [6, 3, 1, 2, 3, 1, 2]
    assert [one.statements[0].line for one in found] == [1, 2, 4, 5]


def test_the_same_words_lead_one_proposal_only(finder):
    made = finder(answering(GOOD, {**GOOD, "title": "SQLite it is for all data"}))
    assert [one.title for one in made.propose(SAID)] == ["SQLite holds the data"]


def test_proposals_stand_in_the_order_in_which_they_were_said(finder):
    first = {**GOOD, "kind": "preference", "title": "Plain files are preferred",
             "evidence": [{"record": "r1", "quote": "Always use plain files"}]}  # fmt: skip
    found = finder(answering(GOOD, first)).propose(SAID)
    assert [one.type for one in found] == ["Preference", "Decision"]


def test_what_it_takes_is_said_beforehand_and_time_once_it_was_measured(finder):
    made = finder(answering(GOOD), settings="price_per_million_tokens = 2.5")
    before = made.estimate([SAID, SAID])
    assert (before.sessions, before.questions, before.seconds) == (2, 2, None)
    assert before.tokens_in > 1000
    assert before.money == pytest.approx((before.tokens_in + before.tokens_out) * 2.5e-6)
    made.propose(SAID)
    again = finder(answering(GOOD)).estimate([SAID])
    assert again.money is None
    assert again.seconds is not None


def test_a_damaged_record_of_times_says_no_time(finder):
    made = finder(answering(GOOD))
    cache_dir().mkdir(parents=True, exist_ok=True)
    for damage in (b"", b"[]", b'{"x": 1}', b"\xff", json.dumps({made.name: [0, 1]}).encode()):
        (cache_dir() / "distill-rates.json").write_bytes(damage)
        assert finder(answering(GOOD)).estimate([SAID]).seconds is None


def test_a_key_in_the_environment_changes_nothing(finder, monkeypatch):
    for name in ("OPENAI_API_KEY", "ANTHROPIC_API_KEY", "GEMINI_API_KEY"):
        monkeypatch.setenv(name, "x")
    with pytest.raises(KnowError, match="no language model is configured") as caught:
        from_user_config(StandIn())
    assert "[distill]" in caught.value.hint
    assert "command" in caught.value.hint


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ('command = "program"', "must be a list of strings"),
        ('command = ["./program"]', "must begin with a program's name or absolute path"),
        ('command = ["bin/program"]', "must begin with a program's name or absolute path"),
        ('command = [""]', "must begin with a program's name or absolute path"),
        ('command = ["no-such-program-at-all"]', "no-such-program-at-all: there is no"),
        ('model = "chat.gguf"', "must be an absolute path"),
        ('model = "/no/such/chat.gguf"', "/no/such/chat.gguf: the chat model is not there"),
        ('command = ["cat"]\nmodel = "/x.gguf"', "exclude each other"),
        ("timeout_seconds = 0", "must be from 1 to 86400"),
        ("timeout_seconds = true", "must be from 1 to 86400"),
        ("window = 100", "must be from 2048 to"),
        ("price_per_million_tokens = -1", "must be a number"),
        ('price_per_million_tokens = "2"', "must be a number"),
        ("price_per_million_tokens = nan", "must be a number"),
    ],
)  # fmt: skip
def test_a_configuration_that_cannot_work_says_what_is_wrong(line, message):
    config_path().write_text(f"[distill]\n{line}\n")
    with pytest.raises(KnowError, match=message):
        from_user_config(StandIn())


def test_an_unknown_key_of_the_users_is_told():
    config_path().write_text('[distill]\ncommand = ["cat"]\nprice = 3\n')
    assert load_user_config().unknown == ("distill.price",)


def test_a_repository_names_no_model(repository, capsys, monkeypatch):
    (repository.root / "know.toml").write_text(
        'format = 1\n[distill]\ncommand = ["touch", "/tmp/never"]\nmodel = "/x.gguf"\n'
    )
    monkeypatch.chdir(repository.root)
    assert main(["check"]) == 0
    assert "know.toml:1:1: warning KNOW301 `distill` means nothing here" in capsys.readouterr().out
    with pytest.raises(KnowError, match="no language model is configured"):
        from_user_config(StandIn())
