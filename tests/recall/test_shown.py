from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from knowrepo.recall import shown
from knowrepo.units import splits, whole


@pytest.mark.parametrize(
    ("text", "title", "summary"),
    [
        ("Releases are cut on Tuesdays.", "Releases are cut on Tuesdays", ""),
        ("Use WAL. It never waits.", "Use WAL", "It never waits."),
        ("User: Why\n does it lock?\nAssistant: the journal", "Why does it lock?", "the journal"),
        ("User: read all of it, then say", "read all of…", "it, then say"),
        ("Hooks never add", "Hooks", "never add"),
        ("Hooksets are", "Hooks", "Hooksets are"),
        ("`git reset` (hard) is told", "git reset", "(hard) is told"),
        ("Other words", "", "Other words"),
    ],
)
def test_a_summary_does_not_repeat_the_title(text, title, summary):
    assert shown.summary(text, title=title) == summary


@pytest.mark.parametrize(
    ("text", "summary"),
    [
        ("## Why\n\n- [ ] **it** fails\n========\n```sh\nmake\n```", "Why it fails make"),
        ("   12→def f():\n   13→    pass", "def f(): pass"),
        ("Read: /home/dev/code/app/docs/PLAN.md", "Read: …/docs/PLAN.md"),
        ("see [the plan](https://example.com/plan) now", "see the plan now"),
        ("https://www.example.com/a", "example.com/a"),
        ("0f0e0d0c-0b0a-4908-8706-050403020100 ran", "0f0e0d0c… ran"),
        ("diff --git a/x.py b/x.py\nindex 83db48f..bf269f4 100644\n--- a/x.py\n+++ b/x.py\n-a",
         "diff x.py -a"),
        ("a ** b, x - y, #3, 2 > 1, **kwargs", "a ** b, x - y, #3, 2 > 1, **kwargs"),
        ("2026-02-02T04:33:18.62Z started", "started"),
        ("C:/a/b in a/b/c", "C:/a/b in a/b/c"),
    ],
)  # fmt: skip
def test_a_summary_leaves_out_what_tells_nothing(text, summary):
    assert shown.summary(text) == summary


def test_a_summary_is_of_80_characters_at_most_to_a_word():
    found = shown.summary("word " * 50)
    assert len(found) <= 80
    assert found.endswith("word…")


def test_a_summary_of_a_form_shows_none_of_its_questions():
    form = "<!-- What was\nchosen? -->\n\nWAL.\n"
    assert shown.summary(form, concept=True) == "WAL."
    assert shown.summary("<!-- not closed", concept=True) == ""
    assert "<!--" in shown.summary("User: <!-- typed -->")


def test_comments_go_and_what_only_shows_one_stays():
    code = "Say `<!-- x -->`.\n\n```html\n<!-- y -->\n\n\n```"
    text = f"# A\n\n<!-- a\n\nb -->\n\n{code}\n\n<!-- z -->\n"
    assert shown.without_comments(text) == f"# A\n\n{code}"


def test_what_was_just_said_is_not_said_again():
    text = "Cut on Tuesdays.\n\n## Why\n\nWhy\n\nBecause.\n\nbecause\n\nNo."
    assert shown.said_once(text, "Cut on Tuesdays") == "## Why\n\nBecause.\n\nNo."


def test_code_is_never_left_out_for_being_said_before():
    text = "```\na\n\na\n\n```\n\na\n\n```\na\n```"
    assert shown.said_once(text, "a") == text


@pytest.mark.parametrize("seen", ["e\u0301", "👩‍👩‍👧", "👍🏽", "🇩🇪", "한", "ก็", "\r\n"])
def test_no_cut_parts_what_is_seen_as_one(seen):
    text = f"ab{seen}cd"
    for at in range(len(text) + 1):
        cut = whole(text, at)
        assert cut <= 2 or cut >= 2 + len(seen)
    assert [splits(text, at) for at in (0, 2, 2 + len(seen), len(text))] == [False] * 4


PARTS = ["a/", "b.c/", "~/", "C:", "/", " ", "x", "[t](", "](", "[t]", ")", "http://", "https://",
         "://", "www.", "deadbeef", "0123abcd", "0123", "-89ab", "\u0661", "é"]  # fmt: skip


@given(st.lists(st.sampled_from(PARTS), max_size=14).map("".join))
def test_no_link_hash_or_path_is_passed_over_for_a_look_at_its_characters(line):
    wanted = shown._LINK.sub(r"\1", line)
    wanted = shown._HASH.sub(lambda found: f"{found[1] or found[2]}…", wanted)
    assert shown._brief(line) == shown._SCHEME.sub("", shown._FAR_PATH.sub("…/", wanted))
