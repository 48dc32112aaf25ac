"""What a sentence is taken for, and what only looks like it."""

from __future__ import annotations

import time

import pytest

from knowrepo.distill.cues import Meaning, Turn, meaning
from knowrepo.distill.group import LEAD
from knowrepo.distill.sentences import sentences

TYPED = Turn(user=True, typed=True)
WORKING = Turn(user=False)
REPORT = Turn(user=False, report=True)
PLAN = Turn(user=False, document=True)


def meanings(text: str, turn: Turn) -> list[Meaning]:
    return [found for sentence in sentences(text) if (found := meaning(sentence, turn))]


def leads(text: str, turn: Turn) -> list[str]:
    """Return the kinds of what can be a concept's own statement."""
    return [found.kind for found in meanings(text, turn) if found.weight >= LEAD]


@pytest.mark.parametrize(
    ("kind", "turn", "text"),
    [
        ("decision", WORKING, "We decided to keep one queue for all agents."),
        ("decision", REPORT, "We went with a single writer for the manifest."),
        ("decision", REPORT, "I chose the plain format over the packed one for the index."),
        ("decision", REPORT, "Moved the lock into the store so that two writers cannot meet."),
        ("decision", REPORT, "`store.py`: Switched to one connection instead of a pool."),
        ("decision", REPORT, "The manifest is the single source of truth for all segments."),
        ("decision", REPORT, "Decision: sessions are keyed by their parent's id from here on."),
        ("decision", TYPED, "let's use the second parser for everything"),
        ("decision", TYPED, "I think we should drop the cache folder, nobody reads it"),
        ("decision", TYPED, "the exporter should never follow links out of the folder"),
        ("decision", TYPED, "we're going to adopt the new layout in both tools"),
        ("decision", TYPED, "I want the summary to be shown before the table"),
        ("decision", TYPED, "use the library's own retry, not a loop around it"),
        ("rejection", WORKING, "We rejected a second index because it doubles every write."),
        ("rejection", WORKING, "A shared lock was considered but it blocks the readers."),
        ("rejection", TYPED, "we don't need support for the old layout any more"),
        ("cause", WORKING, "The root cause is that the cache key leaves out the branch name."),
        ("cause", REPORT, "The failure was caused by a clock that went backwards."),
        ("cause", REPORT, "The bug was that both workers wrote to the same file."),
        ("cause", REPORT, "The issue is that the parser never reads the last line."),
        ("cause", REPORT, "The upload failed because the token had no write scope."),
        ("cause", REPORT, "**Root cause**: `read()` gives up at the first empty chunk."),
        ("cause", PLAN, "## Root cause\n\nThe index keeps rows whose document is gone already."),
        ("fix", REPORT, "Fixed by taking the lock before the manifest is read."),
        ("fix", WORKING, "The fix is to compare the stamps before the content."),
        ("fix", REPORT, "Fixed the exporter to skip links that leave the folder."),
        ("fix", REPORT, "This solves the issue where a forked session was read twice."),
        ("preference", TYPED, "always run the formatter before you commit"),
        ("preference", TYPED, "I prefer short functions over comments"),
        ("preference", TYPED, "please never push to main without asking me"),
        ("preference", TYPED, "from now on write the tests first"),
        ("preference", TYPED, "avoid inventing new names for things that have one"),
        ("preference", TYPED, "we don't mention customers here because the code is public"),
        ("correction", TYPED, "no, the offset counts bytes and not characters"),
        ("correction", TYPED, "that's not correct, the folder is only half ignored"),
        ("correction", TYPED, "I meant the second table, the one with the totals"),
        ("correction", TYPED, "you should have asked before you deleted the branch"),
        ("correction", TYPED, "I thought we removed the trace files and kept the log only"),
        ("correction", TYPED, "Hashes don't work because a rebase changes them"),
    ],
)  # fmt: skip
def test_what_is_worth_keeping_is_known_for_what_it_is(kind: str, turn: Turn, text: str):
    assert leads(text, turn) == [kind]


@pytest.mark.parametrize(
    ("turn", "text"),
    [
        # plans
        (WORKING, "Let me use the second parser instead of the first."),
        (WORKING, "I'll keep the lock rather than drop it, because the readers wait."),
        (WORKING, "Now I need to fix the exporter so that it skips the links."),
        (REPORT, "Next, we should move the lock into the store to avoid a race."),
        # offers
        (REPORT, "If you want, the fix is to compare the stamps before the content."),
        (REPORT, "You could use one connection instead of a pool."),
        (REPORT, "I'd suggest that the manifest is kept instead of the folder scan."),
        (REPORT, "Option 2: the manifest is read first instead of the folder."),
        (REPORT, "## Options\n\n- Switched to one connection instead of a pool"),
        # orders for the moment
        (TYPED, "use the Read tool for all of these, do not use cat instead"),
        (REPORT, "The upload failed because the token is not in the settings yet."),
        # questions
        (TYPED, "should we use the second parser instead of the first?"),
        (TYPED, "can we use the second parser instead of the first"),
        (REPORT, "Is the root cause that the cache key leaves out the branch name?"),
        # guesses
        (WORKING, "The root cause is probably that the cache key leaves out the branch."),
        (WORKING, "The issue might be that the parser never reads the last line."),
        (REPORT, "It seems the upload failed because the token had no write scope."),
        (TYPED, "maybe we should drop the cache folder, not sure"),
        # status
        (REPORT, "All tests pass because the fixture is complete now."),
        (REPORT, "The fix is complete."),
        (REPORT, "The root cause is clear now."),
        (REPORT, "The issue is confirmed and the fix is in place."),
        # narration
        (WORKING, "I'm reading the store instead of the index, because it is shorter."),
        (WORKING, "I found the issue! Looking at the code, there are two ways."),
        (REPORT, "I did not push because the branch is protected and review failed."),
        (WORKING, "The build failed so I'll run it again because it is flaky."),
        # quoted
        (REPORT, 'The page says "we decided to keep one queue for all agents".'),
        (REPORT, "> We decided to keep one queue for all agents."),
        (REPORT, "`git log` prints `we decided to keep one queue`."),
        (TYPED, "To suppress this warning in future sessions, run:"),
        # once only
        (TYPED, "let's merge it and clean up the workers"),
        (TYPED, "let's check the second parser instead"),
        (TYPED, "I want you to restart the server"),
        (TYPED, "let's only add the first one for now"),
        # cut off
        (REPORT, "The root cause is that the following two things happen:"),
    ],
)
def test_what_only_looks_like_it_leads_nothing(turn: Turn, text: str):
    assert leads(text, turn) == []


@pytest.mark.parametrize(
    "text",
    [
        "Wir haben beschlossen, die Warteschlange zu behalten, weil sie klein ist.",
        "キャッシュキーにブランチ名が含まれていないことが根本原因です。",
        "La cause est que le cache ignore la branche.",
        "Всегда запускай тесты перед коммитом.",
    ],
)
def test_other_languages_give_nothing(text: str):
    for turn in (TYPED, WORKING, REPORT, PLAN):
        assert meanings(text, turn) == []


def test_a_change_under_a_heading_of_what_was_mended_is_a_fix():
    told = "## {}\n\n- Moved the lock into the store so that two writers cannot meet"
    assert leads(told.format("Fixed bug 2: two writers met"), REPORT) == ["fix"]
    assert leads(told.format("Store"), REPORT) == ["decision"]
    (found,) = meanings("## Bug 2 fixed\n\n- Moved the lock of the writers into the store", REPORT)
    assert (found.kind, found.weight < LEAD) == ("fix", True)


def test_only_what_a_person_typed_is_a_wish():
    for turn in (WORKING, REPORT, PLAN, Turn(user=True)):
        assert leads("always run the formatter before you commit", turn) == []


def test_each_of_several_decisions_of_a_plan_is_one():
    text = "## Design decisions\n\n- **Format**: plain text, not JSON\n- **Storage**: one file each"
    assert meanings(text, PLAN) == [Meaning("decision", 0.9, own=True)] * 2


def test_a_plan_that_a_user_pasted_has_decisions_under_its_headings_only():
    pasted = Turn(user=True, document=True)
    text = "# Plan\n\nWe decided to wait for it.\n\n## Decisions\n\n- One file for each session"
    assert meanings(text, pasted) == [Meaning("decision", 0.9, own=True)]


@pytest.mark.parametrize(
    "unit",
    ["is ", "since a ", "so, ", "now is instead ", "the issue is that not ", "we decided to ",
     "fails because ", "let's use it ", "a should be ", "i want a to ", "no ", "removed a (",
     "added a to avoid because ", "the fix is to ", "always always ", "ok, ", "all the my ", "a: ",
     "(", "i thought we ", "the root cause "],
)  # fmt: skip
def test_a_megabyte_of_cues_is_judged_in_linear_work(unit: str):
    """A sentence is bounded, so its worst case must be small enough to be met everywhere."""
    sentence = (unit * (400 // len(unit))).strip() + ". "
    small, large = (_cpu_seconds(sentence * (size // len(sentence))) for size in (6_000, 60_000))
    assert large < 1 or large < 40 * max(small, 0.005)


def _cpu_seconds(text: str) -> float:
    start = time.process_time()
    for turn in (TYPED, WORKING, REPORT):
        meanings(text, turn)
    return time.process_time() - start
