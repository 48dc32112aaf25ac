"""The days that a query means: phrases of time, from one word to their last.

Owns what stands about the names and amounts: `since`, `between`, `early`, and
which of several phrases counts.
"""

from __future__ import annotations

from datetime import date

from knowrepo.recall.times import vocabulary
from knowrepo.recall.times.amounts import END, Read
from knowrepo.recall.times.names import Names
from knowrepo.recall.times.spans import FIRST, Span, around, back, earlier, moved, third, written
from knowrepo.recall.times.vocabulary import DAY, WEEK

_MOST_STEPS = 200  # back, until two ends of a period meet


def first(query: str, today: date) -> tuple[Span, str] | None:
    """Return the days that the first phrase means, else the first vague one, and the phrase."""
    phrases = Phrases(query, today)
    vague = None
    at = 0
    while at < phrases.length:
        read = phrases.phrase(at)
        if read is None:
            at += 1
            continue
        span, end = read
        found = (span, phrases.said(at, end))
        if not span.vague:
            return found
        vague, at = vague or found, end
    return vague


class Phrases(Names):
    """Reads phrases."""

    def phrase(self, at: int) -> Read:
        """Read a phrase of time that begins at a place."""
        word = self.words[at]
        if word in vocabulary.RELATIONS:
            read = self.some_ago(at) if word == "vor" else None
            return read or self._related(at, vocabulary.RELATIONS[word])
        read = self.span(at + 1, word) if word in vocabulary.WITHIN else self.span(at, END)
        if read and not read[0].vague and self.words[read[1]] in vocabulary.TO - vocabulary.AND:
            other = self.span(read[1] + 1, "until")
            if other:
                return _joined(read[0], other[0]), other[1]
        return read

    def _related(self, at: int, relation: str) -> Read:
        word = self.words[at]
        read = self.span(at + 1, word)
        if read is None:
            some = self.some(at + 1) if relation == "since" else None
            return (Span(back(self.today, some[2], some[1]), self.today), some[3]) if some else None
        span, end = read
        if span.vague:
            return None
        if relation in {"between", "from"}:
            other = self.span(end + 1, "until") if self.words[end] in vocabulary.TO else None
            if other:
                return _joined(span, other[0]), other[1]
            if relation == "between":
                return None
            if self.words[end] not in {"on", "onward", "onwards"}:
                return read
            relation, end = "since", end + 1
        bounded = self._bounded(span, relation)
        return (bounded, end) if bounded else None

    def _bounded(self, span: Span, relation: str) -> Span | None:
        if relation == "before":
            since, until = FIRST, moved(span.since, DAY, -1)
        elif relation == "until":
            since, until = FIRST, span.until
        else:
            since = span.since if relation == "since" else moved(span.until, DAY, 1)
            until = self.today
        return Span(since, until) if since <= until else None

    def span(self, at: int, before: str) -> Read:
        """Read what names days. ``before`` is the word that leads there."""
        while before and self.words[at] in vocabulary.FILLERS:
            at += 1
        word = self.words[at]
        if word[:1].isdigit():
            return self._digits(at, before)
        if word in vocabulary.NUMBERS:
            return self.some_ago(at)
        if word not in vocabulary.STARTS and word[:1] not in {"q", "h"}:
            return None
        if word in vocabulary.THIRDS:
            return self._third(at)
        if word == "week" and self.words[at + 1] == "of":
            read = self.span(at + 2, "since")
            if read and read[0].since == read[0].until:
                return around(read[0].since, WEEK), read[1]
            return read  # `the first week of May` is read as that month
        return (
            self.fixed(at)
            or self.last_amount(at)
            or self.this_amount(at)
            or self.some_ago(at)
            or self.unit(at)
            or self._last_or_this(at)
            or self.name(at, before)
        )

    def _digits(self, at: int, before: str) -> Read:
        found = written(self.words[at], self.today)
        if found:
            return found, at + 1
        return (
            self.some_ago(at)
            or self.day_and_month(at, before)
            or self.quarter(at, before)
            or self.year(at, before)
        )

    def _third(self, at: int) -> Read:
        """Read `early May`, `end of last year`."""
        if self.words[at] in vocabulary.THIRDS_OF and self.words[at + 1] != "of":
            return None
        read = self.span(at + 1, "late")
        if read is None or read[0].vague or read[0].since == read[0].until:
            return read
        return third(read[0], vocabulary.THIRDS[self.words[at]]), read[1]

    def _last_or_this(self, at: int) -> Read:
        """Read `last May`, `this Monday`, `last weekend`."""
        word, following = self.words[at], self.words[at + 1]
        if word in vocabulary.LAST:
            read = (self.weekend(), at + 2) if following == "weekend" else None
            read = read or self.name(at + 1, "last")
            return (self.over(read[0]), read[1]) if read else None
        if word not in vocabulary.THIS or following in vocabulary.AMBIGUOUS:
            return None
        return (self.weekend(), at + 2) if following == "weekend" else self.name(at + 1, "last")


def _joined(first: Span, last: Span) -> Span:
    """Return the days from one to the other; what comes round is taken where they meet."""
    for _ in range(_MOST_STEPS):
        if first.again and first.since > last.until:
            first = earlier(first)
        elif last.again and not first.again and earlier(last).since >= first.since:
            last = earlier(last)
        else:
            break
    return Span(min(first.since, last.since), max(first.until, last.until))
