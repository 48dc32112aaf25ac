"""Finding by a language model, with another finder where it fails.

Owns the course of one session: condensed, asked about, judged, and found in by
the fallback where an answer is missing. What is asked is `prompt`'s, who is asked
`asked`'s, and what of an answer counts `answer`'s business.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace

from knowrepo.config import load_user_config
from knowrepo.distill.answer import judge
from knowrepo.distill.asked import Asked, TooLongError, whom
from knowrepo.distill.command import NoAnswerError
from knowrepo.distill.model import Finder, Proposal, Session
from knowrepo.distill.prompt import FRAME, Condensed, Piece, condense, tokens
from knowrepo.distill.rates import Rates
from knowrepo.units import count

_ENOUGH = 3
"""Questions in a row without an answer, after which nobody is asked any more."""
_USUAL_ANSWER = 600  # tokens; what is said beforehand counts on it

Remark = Callable[[str], None]
"""Told in a line what a person should know."""


@dataclass(frozen=True)
class Estimate:
    """What asking about some sessions takes, said beforehand.

    ``money`` is None where no price is configured, in whatever currency that is;
    ``seconds`` is None where this model was never measured.
    """

    sessions: int
    questions: int
    tokens_in: int
    tokens_out: int
    money: float | None
    seconds: float | None


class LlmFinder:
    """A finder that asks a language model one question a session, or a few about a long one.

    ``dropped`` counts the entries that did not hold, by reason; ``unanswered`` the
    questions to which there was no answer.
    """

    def __init__(
        self,
        who: Asked,
        fallback: Finder,
        *,
        price: float = 0.0,
        remark: Remark = lambda _: None,
    ) -> None:
        self.name = who.name
        self.dropped: Counter[str] = Counter()
        self.unanswered = 0
        self._who = who
        self._fallback = fallback
        self._price = price
        self._remark = remark
        self._rates = Rates(who.name)
        self._room = who.window - who.most - FRAME
        self._in_vain = 0

    @property
    def _has_given_up(self) -> bool:
        return self._in_vain >= _ENOUGH

    def estimate(self, sessions: Iterable[Session]) -> Estimate:
        """Return what asking about ``sessions`` takes; goes through them once."""
        number = questions = given = 0
        for session in sessions:
            number += 1
            for piece in condense(session, self._room).pieces:
                questions += 1
                given += tokens(piece.question())
        got = questions * min(_USUAL_ANSWER, self._who.most)
        money = (given + got) * self._price / 1e6 if self._price else None
        return Estimate(number, questions, given, got, money, self._rates.seconds(given + got))

    def propose(self, session: Session) -> list[Proposal]:
        """See `Finder.propose`. What is not answered is found by the fallback."""
        if self._has_given_up:
            self.unanswered += 1
            return self._by_fallback(session)
        condensed = condense(session, self._room)
        found: list[Proposal] = []
        missing: list[Piece] = []
        why = ""
        for piece in condensed.pieces:
            if self._has_given_up:
                missing.append(piece)
                continue
            try:
                found += self._answered(piece, session)
                self._in_vain = 0
            except NoAnswerError as error:
                self._in_vain += 1
                missing.append(piece)
                why = why or error.message
        self.unanswered += len(missing)
        self._say(session, condensed, missing, why)
        if missing:
            found += self._instead(session, condensed, missing)
        return _once(found)

    def _answered(self, piece: Piece, session: Session) -> list[Proposal]:
        """Return what a piece gives; a question that does not fit is asked in two."""
        start = time.monotonic()
        try:
            reply = self._who.ask(piece)
        except TooLongError:
            halves = piece.halves()
            if len(halves) < 2:
                raise
            shown = [half for half in halves if half.turns]
            return [one for half in shown for one in self._answered(half, session)]
        spent = reply.tokens_in or tokens(piece.question())
        self._rates.note(
            spent + (reply.tokens_out or len(reply.answer) // 3), time.monotonic() - start
        )
        judged = judge(reply.answer, piece.turns, session.name)
        self.dropped += judged.dropped
        return list(judged.proposals)

    def _say(self, session: Session, condensed: Condensed, missing: list[Piece], why: str) -> None:
        if condensed.left_out:
            turns = count(condensed.left_out, "turn")
            self._remark(f"{session.name}: too long to be asked about whole; {turns} left out")
        if not missing:
            return
        whole = len(missing) == len(condensed.pieces)
        part = "" if whole else f" for {len(missing)} of {len(condensed.pieces)} parts"
        self._remark(f"{session.name}: {why}; used the rules{part}")
        if self._has_given_up:
            self._remark(f"no answer {_ENOUGH} times in a row; the rules do the rest")

    def _instead(
        self, session: Session, condensed: Condensed, missing: list[Piece]
    ) -> list[Proposal]:
        """Return what the fallback finds where there was no answer."""
        found = self._by_fallback(session)
        if len(missing) == len(condensed.pieces):
            return found
        lines = {turn.record.line for piece in missing for turn in piece.turns.values()}
        return [one for one in found if one.statements[0].line in lines]

    def _by_fallback(self, session: Session) -> list[Proposal]:
        name = self._fallback.name
        return [
            one if one.found_by else replace(one, found_by=name)
            for one in self._fallback.propose(session)
        ]


def from_user_config(fallback: Finder, *, remark: Remark = lambda _: None) -> LlmFinder:
    """Return a finder that asks whom the user's own configuration names.

    Raises KnowError, with how to configure it, where that is nobody, or cannot be.
    """
    settings = load_user_config().distill
    return LlmFinder(whom(settings), fallback, price=settings.price, remark=remark)


def _once(found: list[Proposal]) -> list[Proposal]:
    """Return proposals in the order in which they were said, each evidence leading one."""
    ordered = sorted(found, key=lambda one: one.statements[0].line)
    kept: dict[str, Proposal] = {}
    for one in ordered:
        kept.setdefault(one.statements[0].key(one.session), one)
    return list(kept.values())
