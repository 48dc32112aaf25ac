"""Days from and to: the calendar that the time words of a query are read with.

Owns the arithmetic of days, weeks, months, quarters, seasons and years, and
the dates that are written in digits. Which words mean what is `vocabulary`'s
business. Nothing here raises: what the calendar does not have is None.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import date, timedelta
from typing import NamedTuple

from knowrepo.recall.times.vocabulary import DAY, HOUR, MINUTE, MONTH, QUARTER, WEEK, YEAR

YEARS = range(1970, 2100)
"""Years that a full date may have; other numbers are something else."""
FIRST, LAST = date.min, date.max
_OF_A_DAY = {MINUTE: 1440, HOUR: 24}
_DAYS = {DAY: 1, WEEK: 7, MONTH: 30, QUARTER: 91, YEAR: 365}


class Span(NamedTuple):
    """Days, both inclusive. ``again`` is the unit after which it comes round, where it does.

    ``vague`` says that the words name no days, such as "recently".
    """

    since: date
    until: date
    again: str = ""
    vague: bool = False


def one_day(year: int, month: int, day: int) -> Span | None:
    """Return a day that the calendar has."""
    if year not in YEARS:
        return None
    try:
        found = date(year, month, day)
    except ValueError:
        return None
    return Span(found, found)


def moved(day: date, unit: str, steps: int) -> date:
    """Return the day so many units later, or earlier; at the ends of the calendar, the last one."""
    try:
        if unit in {DAY, WEEK}:
            return day + timedelta(days=steps * _DAYS[unit])
        months = day.year * 12 + day.month - 1 + steps * {MONTH: 1, QUARTER: 3, YEAR: 12}[unit]
        first = date(months // 12, months % 12 + 1, 1)
        length = ((first + timedelta(days=31)).replace(day=1) - first).days
        return first.replace(day=min(day.day, length))
    except (ValueError, OverflowError):
        return FIRST if steps < 0 else LAST


def around(day: date, unit: str) -> Span:
    """Return the week, month, quarter or year that a day lies in."""
    if unit == DAY:
        return Span(day, day)
    if unit == WEEK:
        first = moved(day, DAY, -day.weekday())
        return Span(first, moved(first, DAY, 6))
    if unit == MONTH:
        return months(day.year, day.month, 1)
    if unit == QUARTER:
        return months(day.year, (day.month - 1) // 3 * 3 + 1, 3)
    return months(day.year, 1, 12)


def months(year: int, first: int, count: int) -> Span:
    """Return so many whole months."""
    since = date(year, first, 1)
    return Span(since, moved(moved(since, MONTH, count), DAY, -1))


def ago(today: date, unit: str, least: int, most: int) -> Span:
    """Return the days that lie from ``least`` to ``most`` units back.

    Who says two weeks ago does not count the days: half a unit more and less.
    """
    if unit in _OF_A_DAY:
        return Span(back(today, unit, most), moved(today, DAY, -(least // _OF_A_DAY[unit])))
    if unit == DAY:
        return Span(moved(today, DAY, -most), moved(today, DAY, -least))
    half = _DAYS[unit] // 2
    since = moved(moved(today, unit, -most), DAY, -half)
    return Span(since, min(today, moved(moved(today, unit, -least), DAY, half)))


def back(today: date, unit: str, count: int) -> date:
    """Return the day so many units ago."""
    if unit in _OF_A_DAY:
        return moved(today, DAY, count // -_OF_A_DAY[unit])
    return moved(today, unit, -count)


def third(span: Span, which: int) -> Span:
    """Return the first, the middle or the last third: 0, 1 or 2."""
    length = (span.until - span.since).days + 1
    since = moved(span.since, DAY, which * length // 3)
    return span._replace(since=since, until=moved(span.since, DAY, (which + 1) * length // 3 - 1))


def latest(today: date, of_year: Callable[[int], Span | None]) -> Span | None:
    """Return the last one that has begun by today of what comes every year, or in some."""
    for year in range(today.year, max(today.year - 9, 1), -1):
        span = of_year(year)
        if span and span.since <= today:
            return span._replace(again=YEAR)
    return None


def earlier(span: Span, steps: int = 1) -> Span:
    """Return what comes round one time or more before."""
    since, until = (moved(day, span.again, -steps) for day in (span.since, span.until))
    return span._replace(since=since, until=until)


def written(word: str, today: date) -> Span | None:
    """Return what a date in digits says: `2026-05-01`, `2026/05`, `01.05.2026`, `2026-W18`.

    The year comes first, or last; with four digits, or it is a version. A date
    in a path or with a letter before it is a name.
    """
    if word[4:5] in {"-", "/"} and word[:4].isdigit():
        return _year_first(word, word[4])
    for joint in "./-":
        parts = word.split(joint)
        if len(parts) == 3 and len(parts[2]) == 4 and all(map(_is_number, parts)):
            first, second, year = map(int, parts)
            return _year_last(joint, first, second, year, today)
    return None


def _year_first(word: str, joint: str) -> Span | None:
    day, _, time = word.partition("t")  # `2026-05-01T10:30:00Z`
    parts = day.split(joint)
    if time and (len(parts) != 3 or not time[:2].isdigit()):
        return None
    year = int(parts[0]) if _is_number(parts[0]) else 0
    if len(parts) == 2 and len(parts[1]) == 3 and joint == "-":
        return _week_or_quarter(year, parts[1])
    if year not in YEARS or not all(len(p) == 2 and _is_number(p) for p in parts[1:]):
        return None
    if len(parts) == 3:
        return one_day(year, int(parts[1]), int(parts[2]))
    month = int(parts[1])
    return months(year, month, 1) if len(parts) == 2 and 1 <= month <= 12 else None


def _week_or_quarter(year: int, part: str) -> Span | None:
    if year not in YEARS or part[0] != "w" or not _is_number(part[1:]):
        return None
    try:
        return around(date.fromisocalendar(year, int(part[1:]), 1), WEEK)
    except ValueError:
        return None


def _year_last(joint: str, first: int, second: int, year: int, today: date) -> Span | None:
    """Return a day: `1.5.2026` is the first of May; `1/5/2026` is that only in some countries."""
    day_first, month_first = one_day(year, second, first), one_day(year, first, second)
    if joint != "/":
        return day_first
    if day_first and month_first and month_first.since > today:
        return day_first
    return month_first or day_first


def _is_number(text: str) -> bool:
    return text.isascii() and text.isdigit() and len(text) <= 4
