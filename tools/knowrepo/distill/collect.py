"""One pass over a session: the statements that it keeps, and what was taken back.

Owns what a turn is (typed, a report, a plan handed over) and the bounds: of a
session of any size no more than a fixed number of statements is held.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import replace
from typing import NamedTuple

from knowrepo.distill import answers
from knowrepo.distill.cues import Meaning, Turn, meaning
from knowrepo.distill.group import Said
from knowrepo.distill.model import Kind, Session, Statement
from knowrepo.distill.sentences import Sentence, sentences
from knowrepo.index.text import stem, stems
from knowrepo.sessions.record import Record

MOST_STATEMENTS = 1500
"""Statements of a session that are held; beyond it the weakest go."""
MOST_WITHDRAWALS = 100
_LONGEST_TURN = 200_000  # characters of a turn that are read
_TYPED = 1500  # characters up to which a user's turn was typed and not pasted
_TELLING = 4  # stems of an option that says what it is
_REPEATS = 2  # how often the same words are kept
_ADDRESS = re.compile(r"\b\w+://\S+")
_PLAN = re.compile(r"^(?:implement the following plan|# .{0,60}\bplan\b)", re.I)
_TAKEN_BACK = re.compile(
    r"\b(?:revert|undo|scrap|never ?mind|forget (?:it|that|about)|roll(?:ed)? (?:it |that |"
    r"this )?back|(?:i|we)(?:'ve| have)? (?:reverted|changed my mind|undone)|let's not)\b"
)
# One of which each of them has: looking for these costs less.
_GOING_BACK = ("revert", "undo", "scrap", "mind", "forget", "roll", "let's not", "backing")
_TAKES_BACK = re.compile(
    r"^(?:(?:ok|okay|actually|so|now)[,.]? )*(?:let me |i'll |i'm )?(?:revert|undo|"
    r"roll(?:ing)? back|backing out)(?:ing|ed)? "
)


# Words by which such things are said, whatever the matter is.
_COMMON = frozenset(
    stem(word)
    for word in """
    actual add added bug cause caused change changed decided decision fix fixed fixes fixing
    instead issue issues key let lets made make makes need needs now option problem rather real
    reason removed root solution update updated use used uses using want wants
    """.split()
)


class _Place(NamedTuple):
    """A record that somebody said, and the number of its turn."""

    record: Record
    turn: int


class Collector:
    """Takes a session's records one by one; `done` ends it."""

    def __init__(self, session: Session) -> None:
        self.statements: list[Said] = []
        self.withdrawals: list[Said] = []
        self._side = session.facts.sub_agent
        self._offers = answers.Offers()
        self._pending: _Place | None = None
        self._last: _Place | None = None
        self._turns = 0
        self._repeats: Counter[int] = Counter()

    def take(self, record: Record) -> None:
        """Hear one record."""
        if record.side and not self._side:
            return
        if record.role == "tool":
            self._asked(record)
        elif record.role == "assistant" and record.text.strip():
            self._settle(report=False)
            self._turns += 1
            self._pending = _Place(record, self._turns)
        elif record.role == "user" and record.text.strip():
            self._settle(report=True)
            self._turns += 1
            if not self._side:  # else it is a task that an agent wrote
                self._user(_Place(record, self._turns))

    def done(self) -> None:
        """Hear the end of the session."""
        self._settle(report=True)

    def _settle(self, *, report: bool) -> None:
        """Read the agent's last turn, now that it is known what came after it."""
        if self._pending is None:
            return
        place = self._pending
        self._last, self._pending = place, None
        text = place.record.text
        self._read(place, Turn(user=False, report=report, document=bool(_PLAN.match(text))))
        if report:
            self._offers.hear(text[:_LONGEST_TURN])

    def _user(self, place: _Place) -> None:
        text = place.record.text
        typed = len(text) <= _TYPED
        taken = self._offers.taken(text) if typed else ""
        if not taken or self._last is None:
            self._read(place, Turn(user=True, typed=typed, document=not typed))
            return
        if len(_stems(taken)) >= _TELLING:
            self._keep(_said(self._last, "decision", 0.85, taken))
        answer = text.strip().split("\n")[0]
        self._keep(_said(place, "decision", 0.4, answer, like=taken))

    def _asked(self, record: Record) -> None:
        """Keep what the user answered to the questions of an agent's tool."""
        for question, answer in answers.asked(record.text):
            place = _Place(record, self._turns)
            self._keep(_said(place, "decision", 0.9, f"{question} {answer}"))

    def _read(self, place: _Place, turn: Turn) -> None:
        said = list(sentences(place.record.text[:_LONGEST_TURN]))
        takes_back = _TAKEN_BACK if turn.user else _TAKES_BACK
        for sentence in said:
            found = meaning(sentence, turn)
            if found:
                breath = _block(said, sentence) if turn.typed else ""
                self._keep(_meant(place, sentence, found, breath))
            plain = sentence.plain
            if (
                any(word in plain for word in _GOING_BACK)
                and takes_back.search(plain)
                and not plain.endswith("?")
            ):
                self.withdrawals.append(_said(place, "correction", 0.5, sentence.text))
                del self.withdrawals[MOST_WITHDRAWALS:]

    def _keep(self, said: Said) -> None:
        words = hash((said.kind, said.stems))
        self._repeats[words] += 1
        if said.stems and self._repeats[words] <= _REPEATS:
            self.statements.append(said)
        if len(self.statements) > 2 * MOST_STATEMENTS:
            self._thin()

    def _thin(self) -> None:
        """Leave the weightiest statements, in their order."""
        order = sorted(self.statements, key=lambda said: -said.statement.weight)
        kept = {id(said) for said in order[:MOST_STATEMENTS]}
        self.statements = [said for said in self.statements if id(said) in kept]
        self._repeats.clear()


def _said(place: _Place, kind: Kind, weight: float, text: str, *, like: str = "") -> Said:
    """Return a statement; ``like`` is the text by which it is compared, where not its own."""
    record = place.record
    statement = Statement(kind, text, record.key, record.line, record.role, record.time, weight)
    return Said(statement, _stems(like or text), place.turn, -1)


def _meant(place: _Place, sentence: Sentence, found: Meaning, breath: str) -> Said:
    return replace(
        _said(place, found.kind, found.weight, sentence.text),
        block=sentence.block,
        heading=sentence.heading,
        own=found.own,
        one=found.one,
        around=_stems(breath),
    )


def _stems(text: str) -> frozenset[str]:
    return frozenset(stems(_ADDRESS.sub(" ", text))) - _COMMON if text else frozenset()


def _block(said: list[Sentence], sentence: Sentence) -> str:
    return " ".join(one.text for one in said if one.block == sentence.block)
