"""From a session to proposals: whose words count, what each becomes, what it costs."""

from __future__ import annotations

import tracemalloc
from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from distil_talk import Lazy, proposed, records, session
from knowrepo.distill import collect
from knowrepo.distill.model import Proposal, Session
from knowrepo.distill.rules import MOST_EVIDENCE, RulesFinder
from knowrepo.sessions.record import Record, SessionFacts

WISH = "always run the formatter before you commit"
CAUSE = "The root cause is that the cache key leaves out the branch name."


def test_each_kind_becomes_a_concept_of_its_type():
    found = proposed(
        ("u", "let's use the second parser for everything"),
        ("u", WISH),
        ("u", "no, the offset of a line counts bytes and not characters"),
        ("a", CAUSE),
    )
    assert [(one.type, one.statements[0].line) for one in found] == [
        ("Decision", 1), ("Preference", 2), ("Correction", 3), ("Failure", 4),
    ]  # fmt: skip


def test_a_proposal_says_where_it_comes_from():
    (found,) = proposed(("u", "hello"), ("a", f"Looked into it. {CAUSE}"))
    (statement,) = found.statements
    assert (statement.record, statement.line, statement.role) == ("r2", 2, "assistant")
    assert statement.text == CAUSE
    assert found.session == "claude/abc"
    assert found.description == CAUSE


@pytest.mark.parametrize("who", ["t", "i"])
def test_what_a_tool_printed_or_a_machine_put_in_is_not_read(who: str):
    assert proposed((who, f"{CAUSE} {WISH}")) == []


def test_a_sub_agents_task_is_nobodys_wish_and_its_findings_count():
    facts = SessionFacts(sub_agent=True)
    found = proposed(("u", f"{WISH}. {CAUSE}"), ("a", CAUSE), facts=facts)
    assert [one.type for one in found] == ["Failure"]
    assert found[0].statements[0].line == 2


def test_a_sub_agents_turns_in_its_parents_session_are_not_read():
    side = [Record("r", "assistant", CAUSE, 1, side=True)]
    assert RulesFinder().propose(session(side)) == []
    (found,) = RulesFinder().propose(session(side, SessionFacts(sub_agent=True)))
    assert found.type == "Failure"


def test_a_helpers_session_gives_nothing():
    assert proposed(("a", CAUSE), facts=SessionFacts(helper=True)) == []


def test_work_is_told_from_reports_by_what_comes_after_it():
    told = "Moved the lock into the store so that two writers cannot meet."
    again = (
        "The lock is in the store now because two writers cannot meet there "
        "instead of the manifest."
    )
    assert proposed(("a", told), ("a", again), ("a", "Now I look at the rest.")) == []
    assert len(proposed(("a", told), ("u", "thanks"), ("a", again), ("u", "fine"))) == 1


def test_what_an_agent_said_once_and_nothing_bears_out_must_be_plain():
    assert (
        proposed(
            ("a", "Moved the lock into the store so that two writers cannot meet."), ("u", "thanks")
        )
        == []
    )
    assert len(proposed(("a", CAUSE), ("u", "thanks"))) == 1
    assert len(proposed(("a", "We went with one lock in the store."), ("u", "thanks"))) == 1


def test_evidence_is_bounded_and_begins_with_what_leads():
    turns = [("a", f"{CAUSE} It was seen in run {n} of the branch cache.") for n in range(30)]
    found = proposed(*turns)
    assert found[0].statements[0].text == CAUSE
    assert all(len(one.statements) <= MOST_EVIDENCE for one in found)


def test_who_watches_the_same_pass_is_asked_at_its_end():
    class Watcher:
        def __init__(self, watched: Session) -> None:
            self.name, self.seen = watched.name, 0

        def take(self, record: Record) -> None:
            self.seen += 1
            self.last = record

        def done(self) -> list[Proposal]:
            from knowrepo.distill.model import Statement

            said = Statement("worked", "it works", self.last.key, self.last.line, "tool")
            return [Proposal("Solution", f"{self.seen} records", "", self.name, (said,))]

    given_ = session(Lazy(iter(records(("u", "go"), ("t", "x"), ("a", CAUSE)))))
    found = RulesFinder(watch=Watcher).propose(given_)
    assert [(one.type, one.title) for one in found] == [
        ("Failure", "The cache key leaves out the branch name"), ("Solution", "3 records"),
    ]  # fmt: skip


def test_the_same_session_gives_the_same_proposals():
    turns = [("u", WISH), ("a", CAUSE), ("u", "ok"), ("a", "Fixed by adding the branch name.")]
    assert proposed(*turns) == proposed(*turns)


@given(st.lists(st.tuples(st.sampled_from("uati"), st.text(max_size=200)), max_size=6))
def test_no_text_stops_it(turns: list[tuple[str, str]]):
    for proposal in proposed(*turns):
        assert proposal.title
        assert proposal.statements


def test_a_session_of_any_size_is_held_in_bounded_memory():
    def made() -> Iterator[Record]:
        for n in range(4_000):
            yield Record(f"t{n}", "tool", "x" * 100_000, n)
            yield Record(f"a{n}", "assistant", f"We decided to use part{n} and not piece{n}x.", n)

    tracemalloc.start()
    try:
        found = RulesFinder().propose(session(Lazy(made())))
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert found
    assert len(found) <= 2 * collect.MOST_STATEMENTS
    assert peak < 40_000_000  # of 400 MB that went by
