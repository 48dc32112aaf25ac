"""How much of what a query says stands in the front matter of each concept.

Owns the words of a query and what each is worth: much where few concepts hold it,
little where it asks for a document rather than for its subject. The concepts are
told apart as sets, word by word, so that the cost does not grow with how many
there are. Whether what is found is an answer, `structured` decides.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from knowrepo.index.catalog import Catalog, Filter, Holders
from knowrepo.index.text import STOP_WORDS, spelled, stem

SAID = 0.65
"""What a word counts that is in no title, alias or tag, but in the description, the type or
the path. What a concept is called says what it is about; its description names much else."""
ASKS = 0.25
"""What a word counts that asks for a document. Not nothing: some concept may be about pages."""
MOST_WORDS = 40
"""A query of more words is a text, and is not weighed."""
_MOST_SETS = 64  # that are kept apart; the worst are given up
_MOST_CONCEPTS = 24
_DIGITS = 6  # of a score, so that what is equal is so whatever the order of adding

# Words by which people ask for a document, or say how it is to be looked for.
_ASKING = frozenset(
    stem(word)
    for word in """
    page doc document documentation note article file entry record section
    describe explain cover discuss mention say tell talk show list define read find look see
    use work happen handle make made come go give get let take put need want know mean
    many several much every each all any another kind sort way thing something anything one new
    please info information detail question regarding concerning
    """.split()
)
# Characters of Chinese grammar: a pair with one of them is no word, or no content.
_GRAMMAR = frozenset("的了和与在是吗呢么什怎哪那这个们对把被为于及或就也都而之其有没会能可要请")


class Covering(NamedTuple):
    """A concept with the share of a query's weight that it covers, each word in its field.

    ``words`` are how many it holds.
    """

    document: int
    score: float
    words: int


@dataclass(frozen=True)
class Coverage:
    """The concepts that cover most, best first; equal ones are there together or not at all.

    ``following`` is the score of the next that are not there. ``words`` are the query's.
    """

    best: tuple[Covering, ...] = ()
    following: float = 0.0
    words: int = 0


def content(query: str) -> dict[str, bool]:
    """Return what between the spaces of a query says something, as it is typed, in order.

    And whether it asks for a document, rather than for its subject.
    """
    found: dict[str, bool] = {}
    for token in query.split():
        words = [word for word, _ in spelled(token) if _has_content(word)]
        if words:
            found[token] = all(stem(word) in _ASKING for word in words)
    return found


def covering(catalog: Catalog, query: str, only: Filter) -> Coverage:
    """Return which of the concepts that pass a filter cover most of a query."""
    words = [
        _Word(stem(whole), tuple(stem(part) for part in dict.fromkeys(parts)))
        for whole, parts in dict.fromkeys(spelled(query))
        if _has_content(whole)
    ]
    if not 1 <= len(words) <= MOST_WORDS:
        return Coverage()
    holders = catalog.holders([term for word in words for term in (word.whole, *word.parts)])
    among = holders.set_of(catalog.concepts(only)) if only else holders.every
    weighed = _weighed(catalog, words, holders)
    return _coverage(weighed, holders, among)


class _Word(NamedTuple):
    """The stem of a word of the query, and those of its parts where it is an identifier."""

    whole: str
    parts: tuple[str, ...]


class _Weighed(NamedTuple):
    """A word: its weight, the concepts that are called so, and those of which it is said."""

    word: _Word
    weight: float
    called: int
    said: int


class _Set(NamedTuple):
    """Concepts that hold the same words in the same way."""

    score: float
    words: int
    concepts: int


def _has_content(word: str) -> bool:
    return word not in STOP_WORDS and (word.isascii() or _GRAMMAR.isdisjoint(word))


def _weighed(catalog: Catalog, words: Sequence[_Word], holders: Holders) -> list[_Weighed]:
    """Return the words with their weights, the heaviest first, whatever their order."""
    found = {word: _holding(word, holders) for word in words}
    absent = [word for word, (called, said) in found.items() if not called | said]
    kin = {word: catalog.kin(word.whole) for word in absent}
    if any(kin.values()):
        near = catalog.holders([term for terms in kin.values() for term in terms])
        for word, terms in kin.items():
            for term in terms:  # spelled otherwise, so never as good as what was asked for
                either = near.called.get(term, 0) | near.said.get(term, 0)
                found[word] = (0, found[word][1] | either)
    total = holders.every.bit_count()
    weighed = [
        _Weighed(word, _rarity(total, (called | said).bit_count()), called, said)
        for word, (called, said) in found.items()
    ]
    if not all(one.word.whole in _ASKING for one in weighed):
        weighed = [
            _Weighed(one.word, one.weight * ASKS, one.called, one.said)
            if one.word.whole in _ASKING
            else one
            for one in weighed
        ]
    return sorted(weighed, key=lambda one: (-one.weight, one.word.whole))


def _holding(word: _Word, holders: Holders) -> tuple[int, int]:
    """Return who is called by a word, whole or in all its parts, and who otherwise holds it."""
    called, said = holders.called.get(word.whole, 0), holders.said.get(word.whole, 0)
    if word.parts:
        of_parts = anywhere = holders.every
        for part in word.parts:
            own = holders.called.get(part, 0)
            of_parts &= own
            anywhere &= own | holders.said.get(part, 0)
        called |= of_parts
        said |= anywhere
    return called, said & ~called


def _rarity(total: int, frequency: int) -> float:
    """Return the weight of a word that so many of all concepts hold."""
    return math.log(1 + (total - frequency + 0.5) / (frequency + 0.5))


def _coverage(weighed: Sequence[_Weighed], holders: Holders, among: int) -> Coverage:
    total = sum(one.weight for one in weighed)
    sets = [_Set(0.0, 0, among)]
    for one in weighed:
        split = [part for some in sets for part in _split(some, one)]
        sets = sorted(split, key=lambda some: -some.score)[:_MOST_SETS]
    best: list[Covering] = []
    following = 0.0
    for score, alike in _equal(sets, total):
        if len(best) + sum(some.concepts.bit_count() for some in alike) > _MOST_CONCEPTS:
            following = score
            break
        best += (
            Covering(number, score, some.words)
            for some in alike
            for number in holders.numbers(some.concepts)
        )
    return Coverage(tuple(best), following, len(weighed))


def _split(some: _Set, by: _Weighed) -> list[_Set]:
    """Return those of a set that are called by a word, those that hold it, and the others."""
    called = some.concepts & by.called
    said = some.concepts & by.said
    others = some.concepts ^ called ^ said
    words = some.words + (by.weight > 0)
    parts = (
        _Set(some.score + by.weight, words, called),
        _Set(some.score + by.weight * SAID, words, said),
        _Set(some.score, some.words, others),
    )
    return [part for part in parts if part.concepts]


def _equal(sets: Sequence[_Set], total: float) -> list[tuple[float, list[_Set]]]:
    """Return the sets by their share of the total, the greatest first, without those of none."""
    found: dict[float, list[_Set]] = {}
    for some in sets:
        share = round(some.score / total, _DIGITS) if total else 0.0
        if share > 0:
            found.setdefault(share, []).append(some)
    return sorted(found.items(), key=lambda item: -item[0])
