"""Events that a query names to say when: `before the migration`.

Owns where such a phrase begins and ends. When the event was, only the
repository's documents tell.
"""

from __future__ import annotations

from typing import NamedTuple

from knowrepo.index.text import STOP_WORDS, spelled
from knowrepo.recall.times.vocabulary import DAYS_AGO, LAST, MONTHS, THIRDS, UNITS, WEEKDAYS

_RELATIONS = {
    "before": "before", "after": "after", "since": "since", "until": "until", "till": "until",
    "during": "during", "when": "during", "while": "during",
}  # fmt: skip
_BEFORE_A_NOUN = frozenset("the our my that this these those their".split())
_ENDS = frozenset("how what which who whose why where did do does should can could and but".split())
_TIME = frozenset().union(DAYS_AGO, MONTHS, THIRDS, UNITS, WEEKDAYS, ("weekend",))
_MOST_WORDS = 8
_MOST_CHARACTERS = 2_000
_CLOSES = ",;:?!."
_AROUND = "\"'`“”‘’«»()[]{}<>…*_" + _CLOSES


class Event(NamedTuple):
    """An event by which a query says when: before, after, since, until or during it."""

    relation: str
    phrase: str


def event(query: str) -> Event | None:
    """Return the first event that a query names; None where it names none.

    The phrase is the query's own words after the article. A time (`since the
    beginning of May`) is no event; see `period`.
    """
    tokens = query[:_MOST_CHARACTERS].split()
    for at, token in enumerate(tokens):
        relation = _RELATIONS.get(token.lower().strip(_AROUND))
        if relation and token[-1:] not in _CLOSES and _bare(tokens, at + 1) in _BEFORE_A_NOUN:
            phrase = _phrase(tokens, at + 2)
            if phrase:
                return Event(relation, phrase)
    return None


def _phrase(tokens: list[str], start: int) -> str:
    if tokens[start - 1][-1:] in _CLOSES or _is_time(tokens, start):
        return ""
    taken: list[str] = []
    for at in range(start, min(start + _MOST_WORDS, len(tokens))):
        word = _bare(tokens, at)
        if not word or word in _ENDS or word in _RELATIONS:
            break
        taken.append(tokens[at].strip(_AROUND))
        if tokens[at][-1:] in _CLOSES:
            break
    phrase = " ".join(taken)
    return phrase if any(word not in STOP_WORDS for word, _ in spelled(phrase)) else ""


def _is_time(tokens: list[str], at: int) -> bool:
    """Say whether a phrase is one of time: `the 5th of May`, `the last week`."""
    word = _bare(tokens, at)
    if word in LAST:
        at, word = at + 1, _bare(tokens, at + 1)
    return word in _TIME or (word[:1].isdigit() and _bare(tokens, at + 1) in {*_TIME, "of"})


def _bare(tokens: list[str], at: int) -> str:
    return tokens[at].lower().strip(_AROUND) if at < len(tokens) else ""
