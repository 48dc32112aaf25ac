"""What a user took of what an agent offered."""

from __future__ import annotations

import pytest

from distil_talk import proposed
from knowrepo.distill.answers import Offers, asked

OPTIONS = """There are two ways.

**Option 1**: Keep the folder scan and sort its result
**Option 2**: Read the manifest first and fall back to the scan

Which one do you want?"""
ADVICE = "I recommend to read the manifest first, since it is sorted. Shall I do it?"


def taken(offer: str, answer: str) -> str:
    offers = Offers()
    offers.hear(offer)
    return offers.taken(answer)


@pytest.mark.parametrize(
    "answer",
    ["2", "option 2", "Option 2 please", "let's go with option 2", "2, but keep the order"],
)
def test_an_option_is_taken_by_its_number(answer: str):
    assert taken(OPTIONS, answer) == "Read the manifest first and fall back to the scan"


@pytest.mark.parametrize("answer", ["yes", "Yes, do it", "ok, sounds good!", "go ahead"])
def test_a_yes_takes_what_was_recommended(answer: str):
    assert taken(ADVICE, answer) == "I recommend to read the manifest first, since it is sorted."
    assert taken(OPTIONS, answer) == ""


@pytest.mark.parametrize(
    "answer",
    ["2 files are missing", "a test fails", "what is option 2?", "3", "yes but why not the other"],
)
def test_what_takes_nothing_takes_nothing(answer: str):
    assert taken(OPTIONS, answer) == ""
    assert taken(ADVICE, answer) == ""


def test_a_number_that_two_lists_have_takes_nothing():
    assert taken("1. read the manifest\n2. sort the scan\n\n1. one file\n2. two files", "2") == ""


def test_chores_are_no_options():
    assert taken("1. commit the changes now\n2. run the tests again", "1") == ""


def test_only_the_last_turn_offers():
    offers = Offers()
    offers.hear(OPTIONS)
    offers.hear("Done.")
    assert offers.taken("2") == ""


def test_the_option_that_was_taken_is_the_decision():
    (found,) = proposed(("u", "how shall we list them?"), ("a", OPTIONS), ("u", "option 2"))
    assert found.type == "Decision"
    assert found.title == "Read the manifest first and fall back to the scan"
    assert [(one.role, one.line) for one in found.statements] == [("assistant", 2), ("user", 3)]


def test_an_answer_to_a_tools_question_is_a_decision():
    output = (
        'User has answered your questions: "Which format do you want to use for the archive?"='
        '"Plain text (Recommended)", "Can I remove the folder?"="Yes". You can now continue.'
    )
    assert list(asked(output)) == [
        ("Which format do you want to use for the archive?", "Plain text (Recommended)")
    ]
    (found,) = proposed(("u", "go on"), ("t", output))
    assert (found.type, found.title) == ("Decision", "Format for the archive: Plain text")
    assert list(asked("The page says: " + output)) == []
