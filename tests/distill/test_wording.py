"""Titles and descriptions."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from distil_talk import proposed
from knowrepo.distill import wording

REDACTED = "[redacted" + ":aws-key]"


@pytest.mark.parametrize(
    ("said", "title"),
    [
        ("OK, so let's use the second parser", "Use the second parser"),
        ("I think we should drop the cache folder.", "Drop the cache folder"),
        ("We decided to keep one queue", "Keep one queue"),
        ("we went with a single writer", "Use a single writer"),
        ("I want the page to be called Notes", "The page should be called Notes"),
        ("I don't want to have tokens in the log", "Do not have tokens in the log"),
        ("The root cause is that the lock leaks.", "The lock leaks"),
        ("Root cause: the lock leaks", "The lock leaks"),
        ("The issue was that two workers wrote to it", "Two workers wrote to it"),
        ("The fix is to not skip the last line", "Do not skip the last line"),
        ("**Fix 2 — store.py**: Take the lock first".replace("*", ""), "Take the lock first"),
        ("that's not correct, the folder is only half ignored", "The folder is only half ignored"),
        ("I thought we removed the trace files", "We removed the trace files"),
        ("parseHeader no longer eats the last line", "parseHeader no longer eats the last line"),
        ("No batching: all parts go to one call", "No batching: all parts go to one call"),
        ("store.py - Took the lock first", "Took the lock first"),
        ("no, keep the order of the lines", "Keep the order of the lines"),
    ],
)
def test_a_title_says_the_thing_and_not_how_it_was_said(said: str, title: str):
    assert wording.title(said) == title


@pytest.mark.parametrize(
    ("said", "title"),
    [
        (
            "Keep the manifest sorted by session and by date, because readers of it stop early on",
            "Keep the manifest sorted by session and by date",
        ),
        (
            "Take the lock before the manifest is read (two writers met in the last release of it)",
            "Take the lock before the manifest is read",
        ),
        (
            "After a rebase of a branch that was pushed before by somebody else, the stamps of all "
            "files are newer than the archive is",
            "The stamps of all files are newer than the archive is",
        ),
        (
            "Use the addresses at https://example.org/a/very/long/path/that/nobody for them",
            "Use the addresses at",
        ),
    ],
)
def test_a_long_title_is_cut_where_a_clause_ends(said: str, title: str):
    assert wording.title(said).startswith(title.removesuffix(" at"))
    assert len(wording.title(said)) <= wording.LONGEST_TITLE


def test_the_title_of_a_cause_keeps_its_reason():
    said = (
        "The upload of the nightly archive to the second store failed because the token that it "
        "uses there has no write scope any more"
    )
    assert "because the token" in wording.title(said, why=True)
    assert "because" not in wording.title(said)


def test_a_title_is_never_made_of_a_placeholder():
    assert wording.title(f"Use {REDACTED} as the key") == ""
    cut = wording.title(f"Keep the key in the vault of the team, as {REDACTED} was leaked")
    assert cut.startswith("Keep the key in the vault")
    assert "redacted" not in cut


def test_a_word_like_a_placeholder_is_a_word():
    assert wording.title("Keep redacted lines as they are") == "Keep redacted lines as they are"


def test_what_has_only_a_placeholder_to_say_is_not_proposed():
    assert proposed(("u", f"let's use {REDACTED} instead of {REDACTED}")) == []


@given(st.text(max_size=300), st.booleans())
def test_a_title_is_one_short_line(said: str, why: bool):
    found = wording.title(" ".join(said.split()), why=why)
    assert len(found) <= wording.LONGEST_TITLE
    assert "\n" not in found


def test_a_description_is_one_sentence_with_an_end():
    assert wording.description("root cause: the lock leaks") == "The lock leaks."
    long = "word " * 100
    assert len(wording.description(long)) <= wording.LONGEST_DESCRIPTION
    assert wording.description(long).endswith("…")


def test_a_description_that_says_no_more_than_the_title_gives_the_reason():
    said, reason = "Keep one queue", "It is small because agents rarely end at once"
    assert wording.description(said, reason, named="Keep one queue") == f"{reason}."
    assert wording.description(said, "", named="Keep one queue") == "Keep one queue."
