"""What a query says of time, as evidence about the dates of chunks.

Owns how near a chunk's date is to the days that a query means. Nothing is shut
out by it: a question about May is often answered by what was written after it.
What a query says of time is `times`' business.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from datetime import date
from typing import NamedTuple

from knowrepo.index.catalog import Catalog, Filter, Place
from knowrepo.index.text import content_words
from knowrepo.recall.times import Event, Period, event

_AFTERWARDS = 0.67  # on the day after; what happened is spoken of for some days
_WEEK = 7.0  # days in which this falls to a third
_SPOKEN_OF = 30  # days afterwards that count at all
_OTHER_YEAR = 0.5  # in the month that was named, of another year
_VAGUE = 0.2  # where no day was named
_EVENT = 0.15  # on the right side of an event, whose date is a guess itself
_EVENT_DAYS = 7  # around one that something happened during


class Dates(NamedTuple):
    """How near each chunk is to what a query says of time, 0 to 1, and what it says."""

    near: dict[int, float]
    said: str = ""


def near_dates(
    catalog: Catalog,
    query: str,
    meant: Period | None,
    places: Mapping[int, Place],
    only: Filter,
) -> Dates:
    """Return how near the dates of chunks are to those that a query means.

    ``meant`` is what `times.period` finds in it; without one, an event is looked for.
    """
    if meant is not None:
        told = f"{meant.since} to {meant.until}"
        return Dates(
            {chunk: _in_period(meant, place.date) for chunk, place in places.items()},
            f"{meant.said}: {told}",
        )
    named = event(query)
    day = _day_of(catalog, named, only) if named else None
    if named is None or day is None:
        return Dates({})
    return Dates(
        {chunk: _around(named, day, place.date) for chunk, place in places.items()},
        f"{named.relation} {named.phrase}: {day.isoformat()}",
    )


def _in_period(meant: Period, told: str) -> float:
    day = _day(told)
    if day is None:
        return 0.0
    worth = _VAGUE if meant.vague else 1.0
    if meant.since <= day.isoformat() <= meant.until:
        return worth
    after = (day - date.fromisoformat(meant.until)).days
    if 0 < after <= _SPOKEN_OF:
        return worth * _AFTERWARDS * math.exp(-after / _WEEK)
    return _OTHER_YEAR if _names_a_month(meant) and told[5:7] == meant.since[5:7] else 0.0


def _names_a_month(meant: Period) -> bool:
    """Say whether a month was named, or a day of it, and no year."""
    same = meant.since[:7] == meant.until[:7]
    name = date.fromisoformat(meant.since).strftime("%B").lower()
    dated = any(len(word) == 4 and word.isdigit() for word in meant.words)
    return same and not dated and (name in meant.words or name[:3] in meant.words)


def _day_of(catalog: Catalog, named: Event, only: Filter) -> date | None:
    """Return the day of the chunk that fits the name of an event best, if one holds all of it."""
    words = content_words(named.phrase)
    best = catalog.lexical(words, 1, only)
    if not best or any(not catalog.matches(word, [best[0][0]]) for word in words):
        return None
    place = catalog.places([best[0][0]], only).get(best[0][0])
    return _day(place.date) if place else None


def _around(named: Event, day: date, told: str) -> float:
    own = _day(told)
    if own is None:
        return 0.0
    fits = {
        "before": own < day,
        "until": own <= day,
        "after": own > day,
        "since": own >= day,
        "during": abs((own - day).days) <= _EVENT_DAYS,
    }
    return _EVENT if fits.get(named.relation, False) else 0.0


def _day(told: str) -> date | None:
    try:
        return date.fromisoformat(told[:10])
    except ValueError:
        return None
