"""Time in Chinese and Japanese, which put no spaces between words.

Owns patterns, compiled when a query of such a script comes.
"""

from __future__ import annotations

import re
from datetime import date
from functools import cache

from knowrepo.recall.times.amounts import RECENT_DAYS
from knowrepo.recall.times.spans import (
    FIRST,
    YEARS,
    Span,
    ago,
    around,
    back,
    latest,
    months,
    moved,
    one_day,
)
from knowrepo.recall.times.vocabulary import DAY, MONTH, WEEK, YEAR

_DAYS = {
    "今天": 0, "今日": 0, "昨天": 1, "昨日": 1, "前天": 2, "一昨日": 2,
}  # fmt: skip
_UNITS_BACK = {
    "本周": (WEEK, 0), "这周": (WEEK, 0), "這週": (WEEK, 0), "本週": (WEEK, 0), "今週": (WEEK, 0),
    "上周": (WEEK, 1), "上週": (WEEK, 1), "上星期": (WEEK, 1), "上个星期": (WEEK, 1),
    "上個星期": (WEEK, 1), "上个礼拜": (WEEK, 1), "先週": (WEEK, 1), "先々週": (WEEK, 2),
    "本月": (MONTH, 0), "这个月": (MONTH, 0), "這個月": (MONTH, 0), "今月": (MONTH, 0),
    "上个月": (MONTH, 1), "上個月": (MONTH, 1), "上月": (MONTH, 1), "先月": (MONTH, 1),
    "今年": (YEAR, 0), "去年": (YEAR, 1), "昨年": (YEAR, 1), "前年": (YEAR, 2),
}  # fmt: skip
_VAGUE = ("最近", "近来", "近來")
_NUMBERS = {
    **{character: (at, at) for at, character in enumerate("一二三四五六七八九十", 1)},
    "两": (2, 2), "兩": (2, 2), "几": (2, 9), "幾": (2, 9), "数": (2, 9), "數": (2, 9),
}  # fmt: skip
_COUNTED = {
    DAY: "天|日", WEEK: "周|週間|週|[个個]?星期|[个個]?[礼禮]拜",
    MONTH: "[个個ヶか箇カケ]月", YEAR: "年",
}  # fmt: skip
_SINCE, _BEFORE = ("以来", "以來", "以降", "から"), ("以前", "之前", "より前")


def find(query: str, today: date) -> tuple[Span, str] | None:
    """Return the days that a query means, and the phrase; None where it says nothing of time."""
    vague = None
    for match in _pattern().finditer(query):
        span = _span(match, today)
        if span and not span.vague:
            return _related(span, match, today)
        vague = vague or (span and (span, match.group()))
    return vague


def _span(match: re.Match[str], today: date) -> Span | None:
    word = match["word"]
    if word in _DAYS:
        return ago(today, DAY, _DAYS[word], _DAYS[word])
    if word in _UNITS_BACK:
        unit, steps = _UNITS_BACK[word]
        return around(back(today, unit, steps), unit)
    if word:
        return Span(moved(today, DAY, -RECENT_DAYS), today, vague=True)
    if match["count"]:
        least, most = _NUMBERS.get(match["count"]) or (int(match["count"]),) * 2
        return ago(today, next(u for u in _COUNTED if match[f"of_{u}"]), least, most)
    month = int(match["month"] or match["month_"] or 0)
    day = int(match["day"] or match["day_"] or 0)
    if match["year"]:
        year = int(match["year"])
        if day:
            return one_day(year, month, day)
        return _months(year, month) if year in YEARS else None
    if day:
        return latest(today, lambda year: one_day(year, month, day))
    return latest(today, lambda year: _months(year, month))


def _months(year: int, month: int) -> Span | None:
    if month > 12:
        return None
    return months(year, month, 1) if month else months(year, 1, 12)


def _related(span: Span, match: re.Match[str], today: date) -> tuple[Span, str]:
    rest = match.string[match.end() :]
    for endings in (_SINCE, _BEFORE):
        ending = next((ending for ending in endings if rest.startswith(ending)), "")
        if ending:
            until = today if endings is _SINCE else moved(span.since, DAY, -1)
            since = span.since if endings is _SINCE else FIRST
            return Span(min(since, until), until), match.group() + ending
    return span, match.group()


@cache
def _pattern() -> re.Pattern[str]:
    words = sorted((*_DAYS, *_UNITS_BACK, *_VAGUE), key=len, reverse=True)
    units = "|".join(f"(?P<of_{unit}>{ways})" for unit, ways in _COUNTED.items())
    return re.compile(
        rf"(?P<word>{'|'.join(words)})"
        rf"|(?<!\d)(?P<count>\d{{1,3}}|[{''.join(_NUMBERS)}])\s?(?:{units})[之以]?前"
        r"|(?<!\d)(?P<year>\d{4})\s?年"
        r"(?:\s?(?P<month>\d{1,2})\s?月(?:\s?(?P<day>\d{1,2})\s?[日号號])?)?"
        r"|(?<!\d)(?P<month_>\d{1,2})\s?月(?:\s?(?P<day_>\d{1,2})\s?[日号號])?"
    )
