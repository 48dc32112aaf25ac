"""What is a struggle worth keeping: failures that somebody resolved, and no others."""

from __future__ import annotations

from collections.abc import Iterable

import pytest

from knowrepo.distill.attempts import Attempts
from knowrepo.distill.commands import goal_of
from knowrepo.distill.model import Proposal, Session
from knowrepo.distill.signs import causes, telling_line
from knowrepo.sessions.record import Record, SessionFacts, ToolCall, ToolResult

MISSING = "Exit code 1\nE   ModuleNotFoundError: No module named 'yaml'"
CAUSE = "The issue is that the yaml package is not among the dependencies."


class Talk:
    """A session in the making: calls with what came of them, and what the agent says."""

    def __init__(self) -> None:
        self.records: list[Record] = []

    def say(self, text: str, role: str = "assistant") -> Talk:
        number = len(self.records) + 1
        self.records.append(
            Record(f"u-{number}", role, text, number, time="2026-05-01T10:00:00Z")  # type: ignore[arg-type]
        )
        return self

    def run(
        self, command: str, output: str = "", *, failed: bool | None = None, tool: str = "Bash"
    ) -> Talk:
        number = len(self.records) + 1
        call = ToolCall(tool, command, f"c{number}")
        self.records.append(Record(f"u-{number}", "assistant", "", number, calls=(call,)))
        marked = failed if failed is not None else output.startswith("Exit code")
        result = ToolResult(f"c{number}", marked)
        self.records.append(
            Record(f"u-{number + 1}", "tool", output, number + 1, results=(result,))
        )
        return self

    def edit(self, path: str) -> Talk:
        return self.run(path, "The file has been updated.", tool="Edit")

    def found(self) -> list[Proposal]:
        return found(self.records)


def found(records: Iterable[Record], facts: SessionFacts | None = None) -> list[Proposal]:
    attempts = Attempts(Session("claude/s", "sessions/claude/s.jsonl", facts or SessionFacts(), ()))
    for record in records:
        attempts.take(record)
    return attempts.done()


def struggle(times: int = 2) -> Talk:
    talk = Talk()
    for _ in range(times):
        talk.run("uv run pytest -q", MISSING)
    return talk


def texts(proposal: Proposal) -> list[tuple[str, str]]:
    return [(one.kind, one.text) for one in proposal.statements]


# -- what is proposed -----------------------------------------------------------


def test_a_goal_that_failed_twice_and_then_worked_is_a_solution():
    (one,) = (
        struggle().say(CAUSE).edit("pyproject.toml").run("uv run pytest -q", "3 passed").found()
    )
    assert one.type == "Solution"
    assert one.title == "uv run pytest: the yaml package is not among the dependencies"
    assert (
        one.description
        == "uv run pytest failed 2 times and worked after an edit of pyproject.toml."
    )
    assert texts(one) == [
        ("worked", "uv run pytest -q"),
        ("cause", CAUSE),
        ("failed", "uv run pytest -q: E ModuleNotFoundError: No module named 'yaml'"),
        ("fix", "Edit pyproject.toml"),
    ]
    assert [one.line for one in one.statements] == [9, 5, 4, 6]
    assert {one.role for one in one.statements if one.kind in ("failed", "worked")} == {"tool"}


def test_one_failure_with_its_cause_and_its_fix_is_a_failure():
    (one,) = struggle(1).say(CAUSE).edit("pyproject.toml").run("uv run pytest -q", "ok").found()
    assert one.type == "Failure"
    assert [kind for kind, _ in texts(one)] == ["failed", "cause", "fix", "worked"]


def test_a_command_that_is_no_edit_may_be_the_fix():
    talk = (
        struggle().run("uv add pyyaml", "Resolved 2 packages").run("uv run pytest -q", "3 passed")
    )
    (one,) = talk.found()
    assert ("fix", "uv add pyyaml") in texts(one)
    assert one.description == "uv run pytest failed 2 times and worked after uv add pyyaml."


def test_another_way_that_worked_is_what_to_do():
    wrong = "Exit code 128\nfatal: repository 'https://x.example/..git/' not found"
    mend = "git remote set-url origin https://x.example/a.git && git fetch origin"
    (one,) = Talk().run("git fetch origin", wrong).run("git fetch origin", wrong).run(mend).found()
    assert one.title.startswith("git fetch origin: use git remote set-url origin")
    assert texts(one)[0] == ("worked", mend)


def test_a_cause_that_is_told_afterwards_counts():
    talk = struggle(1).edit("pyproject.toml").run("uv run pytest -q", "ok")
    talk.say("Fixed. The root cause was a package that the lock file did not name.")
    (one,) = talk.found()
    assert "a package that the lock file did not name" in one.title


def test_paths_are_told_as_they_stand_in_the_project():
    talk = struggle().say(CAUSE).edit("/home/dev/app/pyproject.toml").run("uv run pytest -q", "ok")
    (one,) = found(talk.records, SessionFacts(project="/home/dev/app"))
    assert ("fix", "Edit pyproject.toml") in texts(one)


def test_a_check_whose_exit_code_is_hidden_is_told_by_its_output():
    talk = Talk().run("pytest -q 2>&1 | tail -5", "E   KeyError: 'a'\n1 failed in 2s", failed=False)
    talk.say(CAUSE).edit("a.py").run("pytest -q 2>&1 | tail -5", "4 passed in 2s", failed=False)
    (one,) = talk.found()
    assert ("failed", "pytest -q: E KeyError: 'a'") in texts(one)
    assert ("worked", "pytest -q") in texts(one)


def test_a_wider_check_that_passes_settles_a_narrower_one():
    red = "Exit code 1\n--- FAIL: TestA\na_test.go:3: error: no such thing"
    talk = (
        Talk().run("go test -run TestA ./a", red).say(CAUSE).edit("a.go").run("go test ./...", "ok")
    )
    assert len(talk.found()) == 1
    talk = Talk().run("go test ./...", red).say(CAUSE).edit("a.go").run("go test ./a", "ok  a")
    assert talk.found() == []


def test_the_same_matter_is_proposed_once():
    talk = Talk()
    for _ in range(3):
        talk.run("uv run pytest -q", MISSING).say(CAUSE).edit("a.toml").run(
            "uv run pytest -q", "ok"
        )
    assert len(talk.found()) == 1


# -- what is none ---------------------------------------------------------------


def settled(talk: Talk, command: str = "uv run pytest -q") -> list[Proposal]:
    return talk.say(CAUSE).edit("pyproject.toml").run(command, "3 passed").found()


def test_what_works_at_once_and_what_never_works_are_no_news():
    assert settled(Talk()) == []
    assert struggle(5).say(CAUSE).edit("pyproject.toml").found() == []


def test_one_mistake_after_the_other_is_no_matter_of_its_own():
    talk = Talk().run("mise run lint", "Exit code 1\na.go:1: undefined: errors")
    talk.run("mise run lint", "Exit code 1\nb.go:7: missing return")
    assert talk.edit("b.go").run("mise run lint", "ok").found() == []


def test_a_retry_that_works_by_itself_teaches_nothing():
    assert struggle().run("uv run pytest -q", "3 passed").found() == []


@pytest.mark.parametrize(
    "output",
    [
        "The user doesn't want to proceed with this tool use. The tool use was rejected",
        "[Request interrupted by user for tool use]",
        "<tool_use_error>Sibling tool call errored</tool_use_error>",
        "Permission to use Bash has been auto-denied",
        "Exit code 130\nerror: interrupted",
        "Exit code 1",
    ],
)
def test_what_was_refused_stopped_or_says_nothing_has_not_failed(output):
    talk = Talk().run("uv run pytest -q", output, failed=True)
    talk.run("uv run pytest -q", output, failed=True)
    assert settled(talk) == []


@pytest.mark.parametrize(
    "said",
    [
        "Let me write the failing test first and run it.",
        "Now I'll verify the test fails.",
        "This should fail, since nothing is implemented (TDD).",
    ],
)
def test_a_test_that_is_to_be_red_has_not_failed(said):
    assert settled(Talk().say(said).run("uv run pytest -q", MISSING)) == []


def test_a_failure_that_was_expected_afterwards_is_none():
    talk = struggle(1).say("The test fails as expected. Now the code.")
    assert talk.edit("a.py").run("uv run pytest -q", "3 passed").found() == []


@pytest.mark.parametrize(
    "command",
    [
        "grep -rn needle src", "rg needle | head", "git status", "git log --oneline", "ls build",
        "pytest --help", "cat make.log", "python -c 'import yaml'", "node -e 'x()'",
        "python - <<'EOF'", "test -f a", "[ -f a ] && cat a", "gh pr view 3", "curl -s x.example",
        "git commit --no-verify -m x", "", "   ", "&& ||", "'", "for f in *; do make $f; done",
    ],
)  # fmt: skip
def test_a_look_has_no_goal(command):
    assert goal_of(command) is None
    talk = Talk().run(command, MISSING).run(command, MISSING)
    assert settled(talk, command) == []


def test_a_sub_agents_records_in_its_parents_file_are_not_the_sessions():
    talk = struggle().say(CAUSE).edit("a.toml").run("uv run pytest -q", "3 passed")
    side = [record._replace(side=True) for record in talk.records]
    assert found(side) == []
    assert len(found(side, SessionFacts(sub_agent=True))) == 1


# -- reading commands and outputs -----------------------------------------------


@pytest.mark.parametrize(
    ("command", "name", "target", "shown"),
    [
        ("cd app && uv run pytest -q tests 2>&1 | tail -3", "uv run pytest", "tests",
         "cd app && uv run pytest -q tests"),
        ("CI=1 timeout 60 npm run build", "npm run build", "", "CI=1 timeout 60 npm run build"),
        ("python -m pytest tests/a.py -k one", "python pytest", "tests/a.py one", None),
        ("go test -run TestA ./a", "go test", "TestA ./a", None),
        ("npm ci; npm test", "npm ci && npm test", "", None),
        ("/usr/bin/make -j4 all", "make", "all", None),
        ("git commit -m \"fix: a; b && c\"", "git commit", "fix: a; b && c", None),
        ("git commit -m \"$(cat <<'EOF'\nlong\nEOF\n)\"", "git commit", None, None),
    ],
)  # fmt: skip
def test_a_command_is_told_by_what_it_runs(command, name, target, shown):
    goal = goal_of(command)
    assert goal is not None
    assert goal.name == name
    assert target is None or goal.target == target
    assert shown is None or goal.command == shown


@pytest.mark.parametrize(
    ("output", "line"),
    [
        ("Exit code 1\n> app@1 build\na.ts(1,2): error TS2322: no", "a.ts(1,2): error TS2322: no"),
        ("[lint] $ lint\na.go:3: undefined: x\n[lint] ERROR task failed", "a.go:3: undefined: x"),
        ("fatal: not a git repository", "fatal: not a git repository"),
        ("Exit code 2\nsomething odd\n----", "something odd"),
        ("\x1b[31merror\x1b[0m: red", "error: red"),
        ("", ""),
        ("1234\n----", ""),
    ],
)  # fmt: skip
def test_the_telling_line_is_the_error_and_not_what_wraps_it(output, line):
    assert telling_line(output) == line


@pytest.mark.parametrize(
    "said",
    [
        "Maybe the issue is that the cache is stale on this machine.",
        "Is the problem caused by the lock file that was changed?",
        "Let me see whether it fails because of the missing package.",
        "I chose SQLite because it needs no server and no set-up.",
        "The issue is:",
        "The tests are failing because they expect the old behaviour of it.",
    ],
)
def test_a_guess_a_question_and_a_plan_are_no_cause(said):
    assert list(causes(said)) == []


def test_a_cause_is_told_without_markdowns_marks():
    said = "Done.\n\n- **Root cause**: `setup.py` is missing because the wheel leaves it out.\n"
    assert list(causes(said)) == ["setup.py is missing because the wheel leaves it out."]


# -- any size -------------------------------------------------------------------


@pytest.mark.parametrize("piece", ["error ", "\n", " 1 failed", "a: ", "'", "because not ", "x"])
def test_a_long_text_takes_time_in_its_length_only(piece):
    text = piece * 400_000  # what is quadratic would not end
    talk = Talk().say(text).run(text, f"Exit code 1\n{text}").run("make", text, failed=True)
    talk.say(text).run("make | tail", text, failed=False).run("make", "ok")
    assert all(len(one.title) <= 100 for one in talk.found())


def test_however_long_a_session_is_a_bounded_number_of_things_is_held():
    attempts = Attempts(Session("claude/s", "s.jsonl", SessionFacts(), ()))
    for number in range(3000):
        talk = (
            Talk()
            .say(CAUSE)
            .run(f"make part{number}", "Exit code 1\nerror: no")
            .edit(f"{number}.c")
        )
        for record in talk.records:
            attempts.take(record)
    held = [getattr(attempts, name) for name in ("_calls", "_open", "_steps", "_causes", "_closed")]
    assert max(map(len, held)) <= 256
    assert attempts.done() == []
