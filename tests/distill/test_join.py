"""A failure that was said and tried is one proposal."""

from __future__ import annotations

from collections.abc import Sequence

from distil_talk import session
from knowrepo.distill.attempts import Attempts
from knowrepo.distill.join import MOST_EVIDENCE, joined
from knowrepo.distill.model import Kind, Proposal, Statement
from knowrepo.distill.rules import RulesFinder
from knowrepo.sessions.record import Record, ToolCall, ToolResult

CAUSE = "The root cause is that the lock file names a version which the registry withdrew."
OTHER = "The root cause is that the clock of the runner is two hours late."


def cause(text: str, record: str = "r1") -> Statement:
    return Statement("cause", text, record, 1, "assistant")


def proposal(kind: str, *statements: Statement, tags: Sequence[str] = ()) -> Proposal:
    return Proposal(kind, kind, "", "claude/abc", tuple(statements), tuple(tags))


def said_as(kind: Kind, text: str, record: str) -> Statement:
    return Statement(kind, text, record, 1, "assistant")


def test_one_cause_in_one_record_is_one_matter_and_what_was_tried_leads():
    failed = said_as("failed", "pytest: no module", "r0")
    fix = said_as("fix", "Fixed by pinning the version before.", "r3")
    said = proposal("Failure", cause(CAUSE), fix, tags=("lock",))
    tried = proposal("Solution", failed, cause(CAUSE.removeprefix("The root cause is that ")))
    (one,) = joined([said], [tried])
    assert (one.type, one.statements[0]) == ("Solution", failed)
    assert [statement.text for statement in one.statements[2:]] == [fix.text]
    assert one.tags == ("lock",)


def test_a_record_that_gives_the_cause_of_one_matter_is_enough():
    said, tried = proposal("Failure", cause(CAUSE)), proposal("Solution", cause(OTHER))
    assert len(joined([said], [tried])) == 1
    several = [said, proposal("Failure", cause("The bug is that the cache is never emptied."))]
    assert len(joined(several, [tried])) == 3


def test_what_was_said_elsewhere_or_is_no_cause_stays_apart():
    tried = proposal("Solution", cause(CAUSE))
    elsewhere = proposal("Failure", cause(CAUSE, "r2"))
    decided = proposal("Decision", said_as("decision", "Pin the version.", "r1"))
    assert joined([elsewhere, decided], [tried]) == [elsewhere, decided, tried]


def test_evidence_stays_bounded():
    many = [cause(f"Cause {n} is a word{n} of its own{n}.", f"r{n}") for n in range(30)]
    (one,) = joined([proposal("Failure", *many)], [proposal("Solution", many[0])])
    assert len(one.statements) == MOST_EVIDENCE


def test_a_session_that_fails_explains_and_mends_gives_one_failure():
    def call(n: int, command: str) -> Record:
        return Record(f"r{n}", "assistant", "", n, calls=(ToolCall("Bash", command, f"t{n}"),))

    def came(n: int, text: str, *, failed: bool) -> Record:
        return Record(f"r{n}", "tool", text, n, results=(ToolResult(f"t{n - 1}", failed),))

    records = [
        call(1, "uv run pytest"),
        came(2, "Exit code 1\nModuleNotFoundError: No module named 'yaml'", failed=True),
        call(3, "uv run pytest"),
        came(4, "Exit code 1\nModuleNotFoundError: No module named 'yaml'", failed=True),
        Record("r5", "assistant", CAUSE, 5),
        call(6, "uv add pyyaml"),
        came(7, "Resolved 2 packages", failed=False),
        call(8, "uv run pytest"),
        came(9, "3 passed", failed=False),
    ]
    (one,) = RulesFinder(watch=Attempts).propose(session(records))
    assert one.type == "Solution"
    assert CAUSE in [statement.text for statement in one.statements]
    apart = RulesFinder().propose(session(records))
    assert [found.type for found in apart] == ["Failure"]
