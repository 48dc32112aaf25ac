"""What the calendar gives names to: months, weekdays, seasons, quarters and years.

Owns the evidence that such a name needs where it is a word of its own.
"""

from __future__ import annotations

from knowrepo.index.text import STOP_WORDS
from knowrepo.recall.times.amounts import END, Amounts, Read, number
from knowrepo.recall.times.spans import YEARS, Span, earlier, latest, months, moved, one_day
from knowrepo.recall.times.vocabulary import (
    AMBIGUOUS,
    DAY,
    EVIDENCE,
    FILLERS,
    LAST,
    LAST_BEHIND,
    MONTHS,
    ORDINALS,
    SEASONS,
    TO,
    UNITS,
    WEEK,
    WEEKDAYS,
    YEAR,
)

_SINCE_GIT = 2005  # an earlier number alone is more often an amount than a year
_AMOUNTS = frozenset("ms mb gb kb px".split())
_SURE = EVIDENCE | {"last", "late"}
_ENDINGS = ("st", "nd", "rd", "th")


class Names(Amounts):
    """Reads names. ``before`` is the word that leads to the place: it is evidence."""

    def name(self, at: int, before: str) -> Read:
        """Read any of them."""
        return (
            self.month(at, before)
            or self.weekday(at, before)
            or self._season(at, before)
            or self.quarter(at, before)
        )

    def month(self, at: int, before: str) -> Read:
        """Read `May`, `May 5`, `May 5th, 2023`, `May 2023`, `May of last year`."""
        month = MONTHS.get(self.words[at])
        if month is None:
            return None
        day = _day(self.words[at + 1])
        if day:
            return self._dated(at, day, at + 1, at + 2, before)
        end = at + (2 if self.words[at + 1] == "of" else 1)
        year = self._year_at(end)
        if year:
            return months(year, month + 1, 1), end + 1
        if self.words[end] in LAST and UNITS.get(self.words[end + 1]) == YEAR:
            return months(max(1, self.today.year - 1), month + 1, 1), end + 2
        of_a_person = at > 0 and self.words[at - 1] == "by"  # `by April`
        if of_a_person or (self.words[at] in AMBIGUOUS and before not in _SURE):
            return None
        return self._latest(latest(self.today, lambda year: months(year, month + 1, 1)), at + 1)

    def day_and_month(self, at: int, before: str) -> Read:
        """Read `5 May`, `5th of May 2023`."""
        day = _day(self.words[at])
        month = at + 1
        while day and self.words[month] in FILLERS:
            month += 1
        if not day or self.words[month] not in MONTHS:
            return None
        return self._dated(month, day, at, month + 1, before)

    def _dated(self, at: int, day: int, day_at: int, end: int, before: str) -> Read:
        """Return a day of the month at a place; `may 5` may be five of something, too."""
        month = MONTHS[self.words[at]] + 1
        year = self._year_at(end)
        if year:
            span = one_day(year, month, day)
            return (span, end + 1) if span else None
        evident = (
            self.words[at] not in AMBIGUOUS
            or before != END
            or not self.words[day_at].isdigit()
            or end >= self.length
            or self.query[self.places[at][0]].isupper()
        )
        span = latest(self.today, lambda year: one_day(year, month, day)) if evident else None
        return (span, end) if span else None

    def weekday(self, at: int, before: str) -> Read:
        """Read `Monday`, `Tuesday last week`; in `Monday, May 5` the date counts."""
        weekday = WEEKDAYS.get(self.words[at])
        if weekday is None:
            return None
        end = at + 1
        while self.words[end] in FILLERS or self.words[end] == "on":
            end += 1
        dated = self.month(end, "on") or self.day_and_month(end, "on")
        if dated and dated[0].since == dated[0].until:
            return dated
        if self.words[at] in AMBIGUOUS and not self._is_weekday(at, before):
            return None
        if self.words[end] in LAST and UNITS.get(self.words[end + 1]) == WEEK:
            day = moved(self.today, DAY, weekday - self.today.weekday() - 7)
            return Span(day, day, WEEK), end + 2
        day = self.last_weekday(weekday)
        return self._latest(Span(day, day, WEEK), at + 1)

    def _is_weekday(self, at: int, before: str) -> bool:
        if before == "on":
            return at + 1 >= self.length or self.query[self.places[at][0]].isupper()
        return before in {"last", "since", "until", "till", "before", "after", "between"}

    def _season(self, at: int, before: str) -> Read:
        word = self.words[at]
        start = SEASONS.get(word)
        if start is None:
            return None
        end = at + (2 if self.words[at + 1] == "of" else 1)
        year = self._year_at(end)
        if year:
            span = months(year, start, 3)
            # Who says winter 2024 in its January means the one that is on.
            over = span.since > self.today and word == "winter"
            return (months(year - 1, start, 3) if over else span), end + 1
        following = self.words[at + 1]
        alone = following == END or following in TO or following in LAST_BEHIND
        if before in {"last", "late"} or (before in EVIDENCE and (alone or word not in AMBIGUOUS)):
            return self._latest(latest(self.today, lambda year: months(year, start, 3)), at + 1)
        return None

    def quarter(self, at: int, before: str) -> Read:
        """Read `Q3 2025`, `2025-Q3`, `first half of 2025`, and `in Q3`."""
        word = self.words[at].replace("-", "").replace("/", "")
        if len(word) == 6 and word[4] in "qh" and _part(word[4:]):
            word = word[4:] + word[:4]
        part, end = _part(word[:2]), at + 1
        if part and len(word) == 6:
            year = number(word[2:])
            return (months(year, *part), end) if year in YEARS and year else None
        if not part and self.words[at] in ORDINALS:
            unit = {"quarter": "q", "half": "h"}.get(self.words[at + 1], "")
            part, end = _part(f"{unit}{ORDINALS[self.words[at]]}"), at + 2
        elif len(word) != 2:
            return None
        if not part:
            return None
        year_at = end + (self.words[end] == "of")
        year = self._year_at(year_at)
        if year:
            return months(year, *part), year_at + 1
        if before not in _SURE:
            return None
        return self._latest(latest(self.today, lambda year: months(year, *part)), end)

    def year(self, at: int, before: str) -> Read:
        """Read `in 2024`; a number of things is none."""
        year, following = self._year_at(at), self.words[at + 1]
        if not year or not _SINCE_GIT <= year <= self.today.year + 1 or before not in _SURE:
            return None
        counts = following.endswith("s") and following not in STOP_WORDS
        if counts or following in _AMOUNTS:
            return None
        return months(year, 1, 12), at + 1

    def _latest(self, span: Span | None, end: int) -> Read:
        """Return what was read, or what was before it where `dernier` follows."""
        if span is None:
            return None
        if self.words[end] in LAST_BEHIND:
            return self.over(span), end + 1
        return span, end

    def over(self, span: Span) -> Span:
        """Return the last one that was over before today."""
        return earlier(span) if span.again and span.until >= self.today else span

    def _year_at(self, at: int) -> int | None:
        year = number(self.words[at])
        return year if year in YEARS else None


def _day(word: str) -> int:
    """Return the day of a month: `5`, `5th`; 0 where it is none."""
    digits = word[:-2] if word.endswith(_ENDINGS) else word
    day = number(digits) or 0
    return day if day <= 31 and len(digits) <= 2 else 0


def _part(word: str) -> tuple[int, int] | None:
    """Return the first month of a quarter or half of a year, and how many it has."""
    if len(word) != 2 or not (word[1].isascii() and word[1].isdigit()):
        return None
    which, length = int(word[1]), {"q": 3, "h": 6}.get(word[0])
    if length and 1 <= which <= 12 // length:
        return (which - 1) * length + 1, length
    return None
