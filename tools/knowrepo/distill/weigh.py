"""How much a sentence tells that has no cue of its own, by what it is made of.

Owns the traits and their points, and nothing else: who says that a thing is
never so, why, and what follows, names a file and takes ten words for it, tells
more than who reports that all is well. The points are few and rough on purpose:
a logistic regression on the labelled sessions, each repository judged by the
others, gave the order of the traits and their signs; they were then rounded to
halves, which judged no worse than the fitted ones.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import lru_cache
from typing import NamedTuple

from knowrepo.distill import against
from knowrepo.distill.sentences import Sentence

LEADS = 3.0
"""Points from which on a sentence can be what a concept is made of."""
SUPPORTS = 2.5
"""Points from which on it is evidence for what another says."""
BACKS = 2.0
"""Points that a sentence with a weak cue needs beside it."""
_AT_LEADS, _A_POINT = 0.75, 0.1  # the weight at `LEADS`, and of each point beyond
_STRONG = 0.7  # the weight of a cue that may lead by itself
_USERS_HAVE = 1.5  # points: of what people type more is worth keeping

_MOST_OF_FORM = 1.0  # points of what a pattern is needed for
_MANY, _SOME, _FEW = 20, 10, 6  # words of a sentence

_NEGATES = """
    doesn't didn't cannot can't won't isn't aren't wasn't weren't don't never without not
    couldn't hasn't
"""
_EXACT = "only always must never every"
_OUGHT = "should must shouldn't"
_AGENT_TRAITS = (
    (0.5, _NEGATES),
    (0.5, f"{_EXACT} any all both single"),
    (0.5, f"{_OUGHT} needs"),
    # why
    (0.5, """because since due avoid avoids prevent ensure preserve preserves match matches align
     aligns aligned respect instead rather"""),
    # what follows
    (1.0, """means meaning causes cause caused causing prevents prevented preventing breaks
     breaking ensures ensuring avoiding makes making leaves leaving keeps keeping stops stopped
     sets lets allows"""),
    # what is said of the speaker, of the hearer, and of the work
    (-0.5, "i i'm i'll i've let's let"),
    (-0.5, "you your you're you'll you'd"),
    (-0.5, """test tests tested lint build pass passes passed passing verify verified verifies
     check checks checked checking"""),
)  # fmt: skip
_USER_TRAITS = (
    (0.5, f"{_NEGATES} shouldn't wouldn't"),
    (1.0, _EXACT),
    (0.5, _OUGHT),
    (-0.5, "you your you're you'll you'd"),
    (-0.5, "please pls check look"),
)  # fmt: skip

# What was there before is told of more often for a reason than what is new.
_CHANGED = frozenset(
    """
    replaced removed changed moved switched renamed dropped kept split deleted consolidated
    aligned wrapped swapped preserved limited stopped rewrote
    """.split()
)
_ADDED = frozenset(
    "added updated fixed extracted introduced extended refactored simplified".split()
)
_NAMED = re.compile(r"c0de|\w_\w|\b\w+\.(?:go|ts|tsx|py|md|json|ya?ml|toml|sh|rs|js)\b|--\w|\w\(\)")
_WAS = re.compile(r"\b(?:was|were) (?:\w+ly |never |only |still |not )?(?:\w+ing|missing|\w+ed)\b")
_PASTED = re.compile(r":\d+:\d+|[{}=|]")
_TELLING = re.compile(
    r"\b(?:(?:root )?causes?|problem|issues?|bugs?|fix(?:es|ed)?|solution|decisions?|principles?|"
    r"summary|changes|changed|implemented|how it works)\b"
)


class _Trait(NamedTuple):
    bit: int
    points: float


def _by_word(traits: tuple[tuple[float, str], ...]) -> dict[str, tuple[_Trait, ...]]:
    found: dict[str, tuple[_Trait, ...]] = {}
    for number, (points, words) in enumerate(traits):
        for word in words.split():
            found[word] = (*found.get(word, ()), _Trait(1 << number, points))
    return found


_AGENT, _USER = _by_word(_AGENT_TRAITS), _by_word(_USER_TRAITS)


def points(sentence: Sentence, words: list[str], *, user: bool, cue: float) -> float:
    """Return what speaks for a sentence, less what speaks against it.

    ``words`` are its words, ``cue`` is the weight of the cue that it has, or 0.
    """
    if len(words) < _FEW:
        return 0.0
    total = _of_words(words, _USER if user else _AGENT)
    total += _of_user(words, cue) if user else _of_agent(sentence, words, cue)
    if sentence.first and sentence.nth == 0:  # it leads what follows in
        total -= 0.5
    if not user and total >= BACKS - _MOST_OF_FORM:
        total += _of_form(sentence.plain)
    if total >= BACKS:  # else it is nothing in any case
        total -= _objections_to_user(sentence) if user else _objections(sentence)
    return total


def weight(of: float) -> float:
    """Return the weight that points amount to."""
    return round(min(0.95, _AT_LEADS + _A_POINT * (of - LEADS)), 2)


def _of_words(words: list[str], traits: Mapping[str, tuple[_Trait, ...]]) -> float:
    total, seen = 0.0, 0
    for word in words:
        if word in traits:
            for bit, given in traits[word]:
                if not seen & bit:
                    seen |= bit
                    total += given
    return total


def _of_user(words: list[str], cue: float) -> float:
    total = _USERS_HAVE
    if cue >= _STRONG:
        total += 1.5
    if len(words) >= _MANY:
        total += 1.0
    return total


def _of_agent(sentence: Sentence, words: list[str], cue: float) -> float:
    total = 0.5 * ((cue > 0) + (cue >= _STRONG))
    total += 0.5 * ((len(words) >= _SOME) + (len(words) >= _MANY))
    if words[0] in _CHANGED or words[1] in _CHANGED:
        total += 1.0
    elif words[0] in _ADDED or words[1] in _ADDED:
        total += 0.5
    if sentence.heading:
        total += 1.0 if _telling(sentence.heading) else 0.5
    return total


def _of_form(plain: str) -> float:
    named, was = _NAMED.search(plain) is not None, _WAS.search(plain) is not None
    return 0.5 * (named + was)


@lru_cache(maxsize=1024)
def _telling(heading: str) -> bool:
    return _TELLING.search(heading) is not None


def _objections(sentence: Sentence) -> float:
    return (
        1.0 * (against.guess(sentence) + against.no_news(sentence))
        + 1.5 * against.unsettled(sentence)
        + 1.0 * sentence.plain.endswith(":")
    )


def _objections_to_user(sentence: Sentence) -> float:
    pasted = _PASTED.search(sentence.plain) is not None
    return 1.0 * pasted + 0.5 * sentence.plain.endswith(":")
