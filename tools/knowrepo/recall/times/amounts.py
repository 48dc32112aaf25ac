"""The words of a query, and what counts days from today: `3 days ago`, `last week`.

Owns how a query is split for the reading of time, and the amounts of it.
"""

from __future__ import annotations

from datetime import date

from knowrepo.index.languages import language_of
from knowrepo.index.text import STOP_WORDS, fold
from knowrepo.recall.times import vocabulary
from knowrepo.recall.times.spans import Span, ago, around, back, moved
from knowrepo.recall.times.vocabulary import DAY, MONTH, QUARTER, WEEK, YEAR

MOST_WORDS = 64
"""Words of a query that are read; a pasted page says nothing of when."""
RECENT_DAYS = 30
"""What `recently` stands for."""

_AROUND = "\"'`“”‘’«»()[]{}<>,;:!?.…*_"  # what stands about a word
_HALVES = ("mid-", "early-", "late-", "l'", "d'")  # what is written in one with its noun
_CALENDAR = frozenset({WEEK, MONTH, QUARTER, YEAR})
_LONGEST_NUMBER = 4
END = ""
"""What stands behind the last word."""

Read = tuple[Span, int] | None
"""What was read, and the place of the first word behind it."""


def number(text: str) -> int | None:
    """Return a number of up to four digits."""
    if text.isascii() and text.isdigit() and len(text) <= _LONGEST_NUMBER:
        return int(text)
    return None


class Amounts:
    """A query whose words are read from some place on; None where they are something else."""

    def __init__(self, query: str, today: date) -> None:
        self.today = today
        self.query = query
        self.words: list[str] = []
        self.places: list[tuple[int, int]] = []
        at = 0
        for raw in self.query.split()[:MOST_WORDS]:
            start = self.query.index(raw, at)
            at = start + len(raw)
            core = raw.strip(_AROUND)
            if core:
                start += raw.find(core)
                self._add(core, start)
            else:
                self._keep(raw, start, at)
        self.length = len(self.words)
        self.words += [END] * 6  # so that nobody has to ask whether there are more

    def _add(self, core: str, start: int) -> None:
        end = start + len(core)
        word = fold(core)
        if not word.isalnum():
            word = word.removesuffix("'s")
            for half in _HALVES:
                if word.startswith(half) and len(word) > len(half):
                    self._keep(half[:-1], start, end)
                    word = word[len(half) :]
            first, dots, last = word.partition("..")
            if first and last:
                self._keep(first, start, end)
                self._keep(dots, start, end)
                word = last
        self._keep(word, start, end)

    def _keep(self, word: str, start: int, end: int) -> None:
        self.words.append(word)
        self.places.append((start, end))

    def said(self, start: int, end: int) -> str:
        """Return the phrase of the query from one word to before another."""
        return self.query[self.places[start][0] : self.places[end - 1][1]]

    def fixed(self, at: int) -> Read:
        """Read `yesterday`, `recently`, `the day before yesterday`, `the weekend`."""
        word, following = self.words[at], self.words[at + 1]
        if word in vocabulary.DAYS_AGO:
            days = vocabulary.DAYS_AGO[word]
            return ago(self.today, DAY, days, days), at + 1
        if word in vocabulary.VAGUE and following not in {"tag", "tags"}:
            return Span(moved(self.today, DAY, -RECENT_DAYS), self.today, vague=True), at + 1
        if word == "day" and self.words[at + 1 : at + 3] == ["before", "yesterday"]:
            return ago(self.today, DAY, 2, 2), at + 3
        if word == "other" and following == "day" and at and self.words[at - 1] == "the":
            return ago(self.today, DAY, 1, 7), at + 2
        if word == "weekend":
            return self.weekend(), at + 1
        if word == vocabulary.FRENCH_YESTERDAY and language_of(self.words, STOP_WORDS) == "french":
            return ago(self.today, DAY, 1, 1), at + 1
        return None

    def weekend(self) -> Span:
        """Return the last weekend that has begun."""
        saturday = self.last_weekday(5)
        return Span(saturday, moved(saturday, DAY, 1), WEEK)

    def last_weekday(self, weekday: int) -> date:
        """Return the last Monday (0) or other day of the week by today."""
        return moved(self.today, DAY, -((self.today.weekday() - weekday) % 7))

    def last_amount(self, at: int) -> Read:
        """Read `last week`, `past 3 days`, `last night`."""
        word, following = self.words[at], self.words[at + 1]
        if word not in vocabulary.LAST:
            return None
        if some := self.some(at + 1):
            _, most, unit, end = some
            return Span(back(self.today, unit, most), self.today), end
        if following == "night":
            return ago(self.today, DAY, 0, 1), at + 2
        unit = vocabulary.UNITS.get(following, "minute")
        if unit == "minute":  # `last minute` is a saying
            return None
        if word == "past" or unit not in _CALENDAR:
            return Span(back(self.today, unit, 1), self.today), at + 2
        return around(back(self.today, unit, 1), unit), at + 2

    def this_amount(self, at: int) -> Read:
        """Read `this week`, `this morning`."""
        if self.words[at] not in vocabulary.THIS:
            return None
        following = self.words[at + 1]
        if following in vocabulary.TIMES_OF_DAY:
            return Span(self.today, self.today), at + 2
        unit = vocabulary.UNITS.get(following)
        return (around(self.today, unit), at + 2) if unit in _CALENDAR else None

    def unit(self, at: int) -> Read:
        """Read `week before last` and `semaine dernière`."""
        unit = vocabulary.UNITS.get(self.words[at])
        if unit not in _CALENDAR:
            return None
        if self.words[at + 1] in vocabulary.LAST_BEHIND:
            return around(back(self.today, unit, 1), unit), at + 2
        if self.words[at + 1 : at + 3] == ["before", "last"]:
            return around(back(self.today, unit, 2), unit), at + 3
        return None

    def some_ago(self, at: int) -> Read:
        """Read `3 days ago`, and `vor 3 Tagen`, `il y a 3 jours`."""
        if self.words[at] == "vor":
            return self._ago(self.some(at + 1))
        if self.words[at : at + 3] == ["il", "y", "a"]:
            return self._ago(self.some(at + 3))
        some = self.some(at)
        if some and self.words[some[3]] in {"ago", "back"}:
            return self._ago((*some[:3], some[3] + 1))
        return None

    def _ago(self, some: tuple[int, int, str, int] | None) -> Read:
        if some is None:
            return None
        least, most, unit, end = some
        return ago(self.today, unit, least, most), end

    def some(self, at: int) -> tuple[int, int, str, int] | None:
        """Read an amount of time: at least, at most, the unit, and the place behind it."""
        if self.words[at] in {"a", "the"} and self.words[at + 1] in {"few", "couple"}:
            at += 1
        word = self.words[at]
        amount = vocabulary.NUMBERS.get(word)
        if amount is None:
            short = vocabulary.SHORT_UNITS.get(word[-1:], "")
            count = number(word[:-1] if short else word)
            if count is None:
                return None
            if short:
                return count, count, short, at + 1
            amount = (count, count)
        at += 2 if self.words[at + 1] == "of" else 1
        unit = vocabulary.UNITS.get(self.words[at])
        return (*amount, unit, at + 1) if unit else None
