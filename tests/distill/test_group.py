"""What belongs together, and what was taken back."""

from __future__ import annotations

from distil_talk import proposed

CAUSE = "The root cause is that the cache key leaves out the branch name."
FIX = "Fixed by adding the branch name to the cache key."
CHOICE = "We decided to keep the manifest sorted by session, because readers stop early."


def titles(*turns: tuple[str, str]) -> list[str]:
    return [proposal.title for proposal in proposed(*turns)]


def test_a_cause_and_its_fix_are_one_failure():
    (found,) = proposed(("u", "why?"), ("a", CAUSE), ("u", "mend it"), ("a", FIX))
    assert found.type == "Failure"
    assert [one.kind for one in found.statements] == ["cause", "fix"]


def test_a_fix_whose_cause_nobody_said_is_knowledge():
    (found,) = proposed(("u", "mend it"), ("a", FIX))
    assert found.type == "Project Knowledge"


def test_what_is_summed_up_again_is_the_same_matter():
    again = "- We decided to keep the manifest sorted by session"
    (found,) = proposed(("a", CHOICE), ("u", "go on"), ("a", f"## Summary\n\n{again}"))
    assert [one.line for one in found.statements] == [3, 1]


def test_two_things_are_two_matters():
    other = "We decided to drop the retry loop around every upload."
    assert len(titles(("a", CHOICE), ("u", "and uploads?"), ("a", other))) == 2


def test_each_decision_of_a_plan_is_a_matter_of_its_own():
    plan = (
        "Implement the following plan:\n\n## Decisions\n\n"
        "- **Format**: plain text for the plan, not JSON\n"
        "- **Storage**: one text file for each plan\n"
    )
    assert titles(("a", plan)) == [
        "Format: plain text for the plan, not JSON", "Storage: one text file for each plan",
    ]  # fmt: skip


def test_the_parts_of_one_decision_are_one_matter():
    parts = (
        "The decision for the layout is:\n\n- The old folders are not read any more\n"
        "- Helpers for both spellings go away\n- Lists show the new place only\n"
    )
    (found,) = proposed(("u", "drop the old one"), ("a", parts))
    assert len(found.statements) == 3


def test_the_later_of_two_decisions_leads():
    first = "We decided to sort the manifest by session name."
    later = "We decided to sort the manifest by session date."
    assert titles(("a", first), ("u", "hm"), ("a", later)) == ["Sort the manifest by session date"]


def test_a_correction_withdraws_what_the_agent_had_said_before():
    wrong = "We decided to look for the commit by its hash in the log."
    right = "no, look for the commit by its trailer, the hash in the log changes"
    (found,) = proposed(("a", wrong), ("u", right))
    assert found.type == "Correction"
    assert [one.line for one in found.statements] == [2]


def test_what_the_user_takes_back_is_no_decision():
    assert titles(("a", CHOICE), ("u", "no wait, revert that")) == []
    assert titles(("a", CHOICE), ("u", "please undo the sorted manifest by session")) == []


def test_what_was_said_after_a_withdrawal_stays():
    (title,) = titles(("a", CHOICE), ("u", "undo that"), ("a", "Done."), ("u", "ok"), ("a", CAUSE))
    assert title == "The cache key leaves out the branch name"


def test_work_grows_with_the_number_of_statements_and_not_with_its_square():
    def compared(count: int) -> int:
        from knowrepo.distill import group

        calls = 0
        before = group._Rarity.likeness

        def counted(self, one, other):
            nonlocal calls
            calls += 1
            return before(self, one, other)

        group._Rarity.likeness = counted
        try:
            turns = [
                ("a", f"We decided to use part{n} of the archive instead of piece{n % 7}.")
                for n in range(count)
            ]
            proposed(*turns)
        finally:
            group._Rarity.likeness = before
        return calls

    small, large = compared(300), compared(1200)
    assert 0 < large < 8 * small
