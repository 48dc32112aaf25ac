"""The days that a query means.

Owns what is given of them, and the glance that spares most queries the rest:
its modules are imported for a query that may say something of time.
"""

from __future__ import annotations

from datetime import date
from typing import NamedTuple

from knowrepo.index.text import fold, spelled
from knowrepo.recall.times.vocabulary import NOUNS, SHORT_UNITS

MOST_CHARACTERS = 2_000
"""Characters of a query that are read; a pasted page says nothing of when."""
_SPACES = str.maketrans(dict.fromkeys("!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~“”«»…", " "))


class Period(NamedTuple):
    """The days that a query means: ISO dates, both inclusive.

    ``said`` is the phrase of the query, ``words`` are its words as
    `index.text.spelled` gives them, an identifier with its parts. ``vague``:
    the phrase names no days, as `recently`.
    """

    since: str
    until: str
    said: str
    words: frozenset[str]
    vague: bool = False


def period(query: str, today: date) -> Period | None:
    """Return the days that a query means; None where it says nothing of time.

    The first phrase that names days counts, else the first vague one. A month
    or weekday by itself is the last one that has begun by ``today``.
    """
    query = query[:MOST_CHARACTERS]
    found = None
    if _may_say(query):
        from knowrepo.recall.times.phrases import first

        found = first(query, today)
    if not query.isascii() and (found is None or found[0].vague):
        from knowrepo.recall.times.unspaced import find

        found = find(query, today) or found
    if found is None:
        return None
    span, said = found
    words = frozenset(name for whole, parts in spelled(said) for name in (whole, *parts))
    return Period(span.since.isoformat(), span.until.isoformat(), said, words, span.vague)


def _may_say(query: str) -> bool:
    words = fold(query).translate(_SPACES).split()
    return not NOUNS.isdisjoint(words) or any(map(_may_be_time, words))


def _may_be_time(word: str) -> bool:
    """Say whether a word may be a year, a quarter (`q3`) or an amount (`24h`)."""
    if word[0].isdigit():
        return word[:2] in {"19", "20"} or (word[-1] in SHORT_UNITS and word[:-1].isdigit())
    return word[0] in "qh" and word[1:].isdigit()
