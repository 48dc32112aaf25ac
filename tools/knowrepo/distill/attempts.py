"""Goals that failed and then worked, and what made the difference.

Owns what counts as a failure: a call that its agent, or its own output, says went
wrong, and that nobody meant to go wrong. What only looked and found nothing, what
a person refused or stopped, and a test that was to be red are none. It is fed one
record after the other, and holds a bounded number of whatever it holds.
"""

from __future__ import annotations

import re
from collections import OrderedDict, deque
from dataclasses import dataclass, field
from itertools import islice
from typing import NamedTuple

from knowrepo.distill.commands import Goal, goal_of, may_check
from knowrepo.distill.model import Kind, Proposal, Session, Statement
from knowrepo.distill.signs import (
    LONGEST_LINE,
    announces_failure,
    causes,
    expected_failure,
    has_failed,
    is_refused,
    looks_back,
    reason,
    telling_line,
)
from knowrepo.sessions.record import Record, Role, ToolCall
from knowrepo.terminal import plain
from knowrepo.units import shorten

_CALLS = 256  # that wait for their output
_LONGEST_ARGUMENT = 4096
_CAUSES = 4  # of one text
_GOALS = 64  # that failed and may still work
_STEPS = 96  # of what was done and said last
_FAILURES = 6  # of one goal that are kept
_REACH = 400  # records after which a goal is another matter
_NEAR = 40  # records after a failure in which it is explained
_AFTER = 2  # texts after a success that may explain it
_SHOWN_STEPS = 4
_SHOWN_COMMANDS = 2
_SHOWN_NAME = 40
_KEEPING = frozenset({"git", "gh"})  # what keeps a change makes none

_SHELLS = re.compile(r"(?i)bash|shell|exec|terminal|^run_command")
_EDITS = re.compile(r"(?i)edit|write|patch|replace|create_file|update_file")
_PATCHED = re.compile(r"^\*\*\* (?:Update|Add|Delete) File: (.+)$", re.MULTILINE)
_DIGITS = re.compile(r"\d+")
_SETTING = re.compile(
    r"(?i)\.(?:json|ya?ml|toml|cfg|ini|conf|lock|env\w*|properties|gradle|nix)$"
    r"|(?:^|/)(?:\.[\w.-]+rc|Makefile|Dockerfile[\w.-]*|go\.mod|\.git\w+)$"
)


class _Said(NamedTuple):
    """Something in the session, with the place that it has there."""

    number: int  # of the record, counted from the first
    text: str
    record: str
    line: int
    role: str
    time: str
    path: str = ""  # of what was edited; of a failure, its command


@dataclass
class _Open:
    """A goal that failed, and how often."""

    goal: Goal
    failures: list[_Said] = field(default_factory=list)
    count: int = 0


@dataclass
class _Closed:
    """A goal that worked in the end; what is said next may explain it."""

    goal: Goal
    failures: list[_Said]
    count: int
    steps: list[_Said]
    worked: _Said
    causes: list[_Said]
    left: int = _AFTER


class Attempts:
    """Follows the calls of a session; `take` its records in order, then ask what is `done`."""

    def __init__(self, session: Session) -> None:
        self._session = session
        # Paths are told as they stand in the project: its place is one machine's.
        folder = session.facts.project.rstrip("/")
        self._folder = f"{folder}/" if folder else ""
        self._number = 0
        self._calls: OrderedDict[str, tuple[ToolCall, str]] = OrderedDict()
        self._open: OrderedDict[tuple[str, str], _Open] = OrderedDict()
        self._steps: deque[_Said] = deque(maxlen=_STEPS)
        self._causes: deque[_Said] = deque(maxlen=_STEPS)
        self._closed: list[_Closed] = []
        self._found: list[Proposal] = []
        self._last = ""  # what the agent said last
        self._told: set[tuple[str, str]] = set()  # goals with their last failure
        self._failed: list[_Open] = []  # by the results since anything was said

    def take(self, record: Record) -> None:
        """Take the next record."""
        self._number += 1
        if record.side and not self._session.facts.sub_agent:
            return
        if record.role == "assistant" and record.text.strip():
            self._listen(record)
        for call in record.calls:
            self._called(call, record)
        for result in record.results:
            given, said = self._calls.pop(result.call, (None, self._last))
            if given is None and record.calls:  # a command that the user ran
                given = record.calls[0]
            if given is not None and record.role != "injected":
                self._came(given, record, result.failed, said)

    def done(self) -> list[Proposal]:
        """Return what was found, in the order in which it worked."""
        for closed in self._closed:
            self._finish(closed)
        self._closed = []
        return self._found

    # -- what is said ---------------------------------------------------------

    def _listen(self, record: Record) -> None:
        self._last = record.text
        if self._failed and expected_failure(record.text):
            for goal in self._failed:
                goal.count -= 1
                goal.failures.pop()
        self._failed = []
        if not (self._open or self._closed):
            return
        found = islice(causes(record.text), _CAUSES)
        told = [self._said(text, record) for text in found]
        self._causes.extend(told)
        for closed in self._closed:
            closed.causes += told
            closed.left -= 1
            if closed.left <= 0:
                self._finish(closed)
        self._closed = [closed for closed in self._closed if closed.left > 0]

    # -- what is done ---------------------------------------------------------

    def _called(self, call: ToolCall, record: Record) -> None:
        if call.id:
            long = len(call.argument) > _LONGEST_ARGUMENT
            held = call._replace(argument=call.argument[:_LONGEST_ARGUMENT]) if long else call
            self._calls[call.id] = (held, self._last)
            if len(self._calls) > _CALLS:
                self._calls.popitem(last=False)
        if self._open and _EDITS.search(call.name):
            for path in _PATCHED.findall(call.argument) or [call.argument.partition("\n")[0]]:
                self._steps.append(self._said(f"{call.name} {path}", record, path))

    def _came(self, call: ToolCall, record: Record, failed: bool | None, said: str) -> None:
        """Take what came of a call; ``said`` is what the agent said before it."""
        shell = bool(_SHELLS.search(call.name))
        if failed is False and not self._open and not (shell and may_check(call.argument)):
            return  # most calls: nothing is wrong, and nothing was
        goal = _goal(call, shell=shell)
        if goal is None or is_refused(record.text):
            return
        wrong = has_failed(record.text, failed, checks=goal.checks, masked=goal.masked)
        if wrong and not announces_failure(said):
            self._failed_again(goal, record)
        elif wrong is False and self._open:
            self._worked(goal, record)
            if shell and not goal.checks and goal.program not in _KEEPING:
                self._steps.append(self._said(goal.command, record))

    def _failed_again(self, goal: Goal, record: Record) -> None:
        key = (goal.name, goal.target)
        known = self._open.get(key)
        if not known or not known.count or self._number - known.failures[-1].number > _REACH:
            known = self._open[key] = _Open(goal)
        self._open.move_to_end(key)
        known.count += 1
        line = telling_line(record.text)
        text = f"{goal.command}: {line}" if line else goal.command
        known.failures.append(self._said(text, record, goal.command))
        del known.failures[1 : -_FAILURES + 1]
        self._failed.append(known)
        if len(self._open) > _GOALS:
            self._open.popitem(last=False)

    def _worked(self, goal: Goal, record: Record) -> None:
        while self._open:  # those that failed longest ago stand first
            oldest = next(iter(self._open.values()))
            if oldest.count and self._number - oldest.failures[-1].number <= _REACH:
                break
            self._open.popitem(last=False)
        settled = [key for key, one in self._open.items() if goal.covers(one.goal)]
        for key in settled:
            one = self._open.pop(key)
            if one.count < 1:
                continue
            first, last = one.failures[0].number, one.failures[-1].number
            steps = [step for step in self._steps if step.number > last]
            causes = [said for said in self._causes if said.number > first]
            worked = self._said(goal.command, record)
            if len(self._closed) >= _GOALS:
                self._finish(self._closed.pop(0))
            self._closed.append(
                _Closed(one.goal, list(one.failures), one.count, steps, worked, causes)
            )  # fmt: skip

    def _said(self, text: str, record: Record, path: str = "") -> _Said:
        line = plain(text).replace(self._folder, "") if self._folder else plain(text)
        line = shorten(line, 2 * LONGEST_LINE)
        return _Said(self._number, line, record.key, record.line, record.role, record.time, path)

    # -- what comes of it -----------------------------------------------------

    def _finish(self, closed: _Closed) -> None:
        name = (closed.goal.name, closed.failures[-1].text)
        proposal = None if name in self._told else _proposal(closed, self._session.name)
        if proposal is not None:
            self._told.add(name)
            self._found.append(proposal)


def _goal(call: ToolCall, *, shell: bool) -> Goal | None:
    if shell:
        return goal_of(call.argument)
    if not call.argument or len(call.argument) > LONGEST_LINE:
        return None
    return Goal(call.name, call.argument, f"{call.name} {call.argument}")


def _proposal(closed: _Closed, session: str) -> Proposal | None:
    """Return what a reviewer is shown; None where nothing says what made the difference."""
    edits = _distinct([step for step in closed.steps if step.path])[-_SHOWN_STEPS:]
    commands = _distinct([step for step in closed.steps if not step.path])[-_SHOWN_COMMANDS:]
    fix = sorted([*edits, *commands], key=lambda step: step.number)
    other = closed.worked.text != closed.failures[-1].path
    cause = _cause_of(closed)
    solved = closed.count > 1
    if not (fix or other) or not (cause or (solved and (other or _is_one_matter(closed, edits)))):
        return None
    told = [_statement("cause", cause)] if cause else []
    failed = [_statement("failed", one) for one in _distinct(closed.failures)]
    done = [_statement("fix", step) for step in fix]
    worked = [_statement("worked", closed.worked)]
    ordered = [*worked, *told, *failed, *done] if solved else [*failed, *told, *done, *worked]
    title, description = _named(closed, cause, edits, commands, other=other)
    kind = "Solution" if solved else "Failure"
    return Proposal(kind, title, description, session, tuple(ordered))


def _is_one_matter(closed: _Closed, edits: list[_Said]) -> bool:
    """Say whether one thing stood in the way, and not one mistake after the other.

    The same error came again, or what was changed in the end is a setting.
    """
    errors = [_DIGITS.sub("", one.text) for one in closed.failures]
    return len(set(errors)) < len(errors) or any(_SETTING.search(step.path) for step in edits)


def _named(
    closed: _Closed,
    cause: _Said | None,
    edits: list[_Said],
    commands: list[_Said],
    *,
    other: bool,
) -> tuple[str, str]:
    """Return the title, which says why, and the description, which says what was done."""
    name = closed.goal.name
    if len(name) > _SHOWN_NAME:  # of several commands: the last, which needs those before it
        name = name.rpartition(" && ")[2][:_SHOWN_NAME]
    error = closed.failures[-1].text.removeprefix(f"{closed.failures[-1].path}: ")
    why = reason(cause.text) if cause else f"use {closed.worked.text}" if other else error
    times = f"{closed.count} times" if closed.count > 1 else "once"
    if edits:
        how = f" and worked {_after_edits(edits)}"
    elif other:
        how = f"; what worked: {closed.worked.text}"
    else:
        how = f" and worked after {' and '.join(step.text for step in commands)}"
    title = why if why.startswith(name) else f"{name}: {why}"
    return shorten(title, 100), shorten(f"{name} failed {times}{how}.", 200)


def _cause_of(closed: _Closed) -> _Said | None:
    """Return the last sentence that explains a failure: said soon after it, or looking back."""
    numbers = [one.number for one in closed.failures]
    for said in reversed(closed.causes):
        if said.number < closed.worked.number:
            if any(0 < said.number - number <= _NEAR for number in numbers):
                return said
        elif looks_back(said.text):
            return said
    return None


def _after_edits(edits: list[_Said]) -> str:
    names = list(dict.fromkeys(step.path.rpartition("/")[2] for step in edits))
    more = f" and {len(names) - 3} more" if len(names) > 3 else ""
    return f"after an edit of {', '.join(names[:3])}{more}"


def _distinct(said: list[_Said]) -> list[_Said]:
    return list({one.text: one for one in said}.values())


def _statement(kind: Kind, said: _Said) -> Statement:
    role: Role = "assistant" if kind in ("fix", "cause") else "tool"
    return Statement(kind, said.text, said.record, said.line, role, said.time)
