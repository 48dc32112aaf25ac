"""What of a turn is prose, and its sentences."""

from __future__ import annotations

import re
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from knowrepo.distill.sentences import LONGEST, sentences


def said(text: str) -> list[str]:
    return [sentence.text for sentence in sentences(text)]


def test_a_paragraph_is_cut_at_its_sentences():
    assert said("We keep the queue. It is small! Is that enough? Nobody knows") == [
        "We keep the queue.", "It is small!", "Is that enough?", "Nobody knows",
    ]  # fmt: skip


@pytest.mark.parametrize("short", ["e.g.", "i.e.", "etc.", "vs.", "approx."])
def test_an_abbreviation_ends_no_sentence(short: str):
    assert said(f"Some formats, {short} the old ones, stay as they are.") == [
        f"Some formats, {short} the old ones, stay as they are."
    ]


def test_a_line_that_was_wrapped_goes_on():
    text = "The writer takes a lock before it reads the manifest, so that\nnobody else changes it."
    assert said(text) == [text.replace("\n", " ")]


def test_lines_that_ended_are_sentences_of_their_own():
    assert said("use the new parser\nAnd drop the old one") == [
        "use the new parser", "And drop the old one",
    ]  # fmt: skip


@pytest.mark.parametrize(
    "left_out",
    [
        "```\nwe decided to use this\n```",
        "~~~python\nwe decided to use this\n~~~",
        "````\n```\nwe decided to use this\n```\n````",
        "> we decided to use this\nand a line that follows it",
        "| we | decided | to use this |",
        "<context>\nwe decided to use this\n</context>",
        "2026-01-02T10:11:12Z we decided to use this",
        "$ decide --to use this",
        "Error: we decided to use this",
        "  at decide (/srv/app/decide.js:12:3)",
        '  File "decide.py", line 3, in decide',
        "@@ we decided @@ to use this",
        "remote: we decided to use this",
        "│ we decided to use this │",
        "        we_decided_to_use(this)",
        "{{{[[[(((;;;===---___###$$$%%%^^^&&&***",
    ],
)
def test_what_nobody_said_is_left_out(left_out: str):
    assert said(f"First of all.\n\n{left_out}\n\nLast of all.") == ["First of all.", "Last of all."]


def test_a_fence_that_nobody_closed_runs_to_the_end():
    assert said("Look here:\n```\nwe decided it\n\nand more") == ["Look here:"]


def test_a_tag_that_nobody_closed_hides_one_line():
    assert said("<summary>\nWe keep the queue.") == ["We keep the queue."]


def test_marks_are_taken_off_and_words_stay():
    (found,) = sentences(
        "✅ **Use** `old_name()`, see [the notes](https://example.org/a_b), *now*."
    )
    assert found.text == "Use old_name(), see the notes, now."
    assert found.plain == "use c0de, see the notes, now."


def test_what_is_quoted_is_no_word_of_the_sentence():
    (found,) = sentences('The page says "we decided to drop it" at https://example.org/x today.')
    assert found.plain == "the page says qu0te at l1nk today."


def test_a_heading_holds_until_the_next_one():
    text = "# Decisions\n\nFirst thing here.\n\n## Tests\n\nSecond thing here."
    assert [s.heading for s in sentences(text)] == ["decisions", "tests"]


def test_a_line_that_leads_a_list_in_holds_for_the_list():
    text = (
        "## Notes\n\nWhat we decided:\n- keep the queue\n- drop the cache\n\nThat is all there is."
    )
    assert [s.heading for s in sentences(text)] == [
        "what we decided", "what we decided", "what we decided", "notes",
    ]  # fmt: skip


def test_a_label_is_known_with_and_without_marks():
    text = "- **Root cause**: the lock was never released\n- Fix — release it in every branch"
    assert [s.label for s in sentences(text)] == ["root cause", "fix"]


def test_what_is_too_long_for_a_sentence_is_none():
    assert said("word " * LONGEST) == []


@given(st.text(max_size=400))
def test_nothing_is_added_and_nothing_fails(text: str):
    words = re.findall(r"\w+", text)
    for sentence in sentences(text):
        assert "\n" not in sentence.text
        assert set(re.findall(r"\w+", sentence.text)) <= set(words) | set(
            re.findall(r"\w+", re.sub(r"[*_`~\[\]]", "", text))
        )


HOSTILE = [
    "a", "a ", '"', "`", "*", "_ ", "> ", "[", "](", ".", ". ", "((", "<a", "\n<a>", "a: ", "“a ",
    "http://", "e.g. ", "- ", "\n# ", " ", "\t", "**a** ", "#", "~~~", "\n```", "…", "A.", "\n\n",
    "|", "—", "\n1. ", '"a" ', "[a](b) ", "\u2028", "\0",
]  # fmt: skip


@pytest.mark.parametrize("unit", HOSTILE)
def test_a_megabyte_of_anything_is_cut_in_linear_work(unit: str):
    """Ten times the text may cost ten times the process's own time, with room for noise."""
    small, large = (_cpu_seconds(unit * (size // len(unit))) for size in (60_000, 600_000))
    assert large < 1 or large < 40 * max(small, 0.005)


def _cpu_seconds(text: str) -> float:
    start = time.process_time()
    for _ in sentences(text):
        pass
    return time.process_time() - start
