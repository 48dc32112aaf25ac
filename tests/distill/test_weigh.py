"""What a sentence without a cue is worth, and what only sounds grave."""

from __future__ import annotations

import pytest

from distil_talk import proposed
from knowrepo.distill import weigh
from knowrepo.distill.cues import Turn, meaning
from knowrepo.distill.sentences import sentences

TYPED = Turn(user=True, typed=True)
REPORT = Turn(user=False, report=True)
# The first sentence of a turn leads in what follows, so that it counts less.
BEFORE = "Here is what I see. "


def weight(text: str, turn: Turn) -> float:
    *_, last = sentences(BEFORE + text)
    found = meaning(last, turn)
    return found.weight if found else 0.0


TELLING = weigh.weight(weigh.LEADS)


@pytest.mark.parametrize(
    ("turn", "text"),
    [
        (REPORT, "`open()` never waits for the lock, which leaves `index.db` half written when "
                 "two writers meet in one second."),
        (REPORT, "## Changes\n\n- Moved `read_all()` before the lock, so slow readers "
                 "never make a writer wait"),
        (REPORT, "Both writers were opening `index.db` and cannot see each other, causing one of "
                 "them to overwrite the rows of the other."),
        (TYPED, "the list must only show what is in the archive, and never what a reader has "
                "found in some other folder of mine"),
        (TYPED, "it's the reader that never sees the last line, not the store"),
    ],
)  # fmt: skip
def test_a_mechanism_or_a_rule_tells_without_any_cue(turn: Turn, text: str):
    assert weight(text, turn) >= TELLING


@pytest.mark.parametrize(
    ("turn", "text"),
    [
        (REPORT, "All is done and the branch is clean."),
        (REPORT, "I'll check that your tests never make `open()` wait for the lock of the store."),
        (REPORT, "It probably never waits for the lock, which leaves `index.db` half written."),
        (REPORT, "## Next steps\n\n- `open()` should wait for the lock, so no writer is lost"),
        (REPORT, "This never sets `open()` because:"),
        (REPORT, "Never so."),
        (TYPED, "please look at the reader of the store"),
        (TYPED, "at async run (node:internal/main:98:5) { errno: -2, code: never }"),
        (TYPED, "does it never see the last line, or must I wait for the store?"),
    ],
)
def test_what_is_unsure_or_says_little_is_no_concept(turn: Turn, text: str):
    assert weight(text, turn) < TELLING


def test_each_trait_counts_once():
    once, twice = (
        next(sentences(f"The store {words} writes to the index of the archive."))
        for words in ("never", "never never never")
    )
    told = [weigh.points(s, s.plain.split(), user=False, cue=0.0) for s in (once, twice)]
    assert told[0] == told[1]


def test_what_is_only_taken_for_something_is_one_matter_a_turn():
    turn = (
        "Two things.\n\n"
        "`open()` never waits for the lock, which leaves `index.db` half written whenever two "
        "writers meet there in one second.\n\n"
        "`fetch()` cannot see a proxy, which makes every call of a `worker.py` behind one stop "
        "after the timeout of its socket."
    )
    assert len(proposed(("u", "and?"), ("a", turn))) == 1
    cued = f"{turn}\n\nThe root cause is that the cache key leaves out the branch name."
    assert len(proposed(("u", "and?"), ("a", cued))) == 2


def test_how_a_thing_works_is_knowledge_and_what_went_wrong_a_failure():
    works = (
        "`publish.yml` reads its token from the caller, which makes the name of the outer "
        "workflow the one that every registry compares."
    )
    wrong = works.replace("reads its token", "cannot read a token")
    (found,) = proposed(("u", "and?"), ("a", BEFORE + works))
    assert found.type == "Project Knowledge"
    (found,) = proposed(("u", "and?"), ("a", BEFORE + wrong))
    assert found.type == "Failure"
