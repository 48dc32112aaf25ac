"""The structured layer: tags, aliases, titles, types and paths, without a model.

Owns the decision whether the front matter of the concepts knows the answer. It
answers when the query is the name of something, or when nearly all that the
query says, weighed by how rare each word is, stands in one concept's front
matter; else it says nothing, and the hybrid layer is asked. Explicit forms
(`tag:x`, `#x`, `type:Decision`, a path) are exact. A bare word is never an id.
"""

from __future__ import annotations

import math
from collections import defaultdict
from dataclasses import dataclass

from knowrepo.index.catalog import Catalog, Field, Filter
from knowrepo.index.text import STOP_WORDS, normal_name, spelled, stem

ENOUGH = 0.72
"""The share of a query's weight that a concept must cover for a confident answer.
Chosen on labelled lookups over real bundles for few wrong answers; see `bench`."""
AS_GOOD = 0.85
"""Concepts below this share of the best score are not part of the answer."""
MOST = 12
"""A query that more concepts fit equally well names none of them."""
MOST_CANDIDATES = 500
"""A word that more concepts hold is too common to begin with."""
MOST_WORDS = 40
"""Words of a query that the layer weighs at most."""

_WEIGHTS: dict[Field, float] = {
    "title": 1.0,
    "alias": 1.0,
    "tag": 0.95,
    "path": 0.85,
    "description": 0.8,
    "type": 0.5,
}
# What an exact name is worth, where a query is one in several fields.
_RANK: dict[Field, int] = {"alias": 0, "title": 1, "path": 2, "tag": 3, "type": 4, "description": 5}


@dataclass(frozen=True)
class Match:
    """A concept that the layer gives; ``score`` is at most 1."""

    document: int
    score: float


@dataclass(frozen=True)
class StructuredAnswer:
    """What the layer knows; ``matches`` is empty where it does not know.

    ``exact``: an explicit form was asked for, so nothing else is an answer.
    """

    matches: list[Match]
    reason: str
    confidence: float
    exact: bool = False


UNKNOWN = StructuredAnswer([], "", 0.0)


def ask(catalog: Catalog, query: str, only: Filter) -> StructuredAnswer:
    """Ask the structured layer."""
    return (
        _explicit(catalog, query.strip())
        or _named(catalog, query)
        or _covered(catalog, query, only)
        or UNKNOWN
    )


def _explicit(catalog: Catalog, query: str) -> StructuredAnswer | None:
    forms: tuple[tuple[str, Field], ...] = (("tag:", "tag"), ("#", "tag"), ("type:", "type"))
    for prefix, field in forms:
        rest = query.removeprefix(prefix)
        is_form = rest != query and rest and not rest.startswith((" ", "#"))
        if is_form and not (prefix == "#" and _is_prose(catalog, rest)):
            matches = [Match(number, 1.0) for number, _ in catalog.named(normal_name(rest), field)]
            return StructuredAnswer(matches, f"{field} {rest.strip()}", 1.0, exact=True)
    if "/" in query or query.endswith(".md"):
        for path in (query, f"concepts/{query}"):
            document = catalog.document_at(path.removesuffix("/"))
            if document is not None:
                return StructuredAnswer([Match(document.id, 1.0)], "path", 1.0, exact=True)
    return None


def _is_prose(catalog: Catalog, rest: str) -> bool:
    """Tell `#include <x>` and `#42` from a tag: a tag is one word, and there is one."""
    return " " in rest or not catalog.named(normal_name(rest), "tag")


def _named(catalog: Catalog, query: str) -> StructuredAnswer | None:
    """Answer a query that as a whole is a tag, an alias, a title, a type or a file name."""
    content = " ".join(whole for whole, _ in spelled(query) if whole not in STOP_WORDS)
    for name in dict.fromkeys((normal_name(query), normal_name(content))):
        found = catalog.named(name) if name else []
        if not found:
            continue
        best = min((field for _, field in found), key=_RANK.__getitem__)
        matches: dict[int, Match] = {}
        for number, field in found:
            score = 1.0 - 0.03 * (_RANK[field] - _RANK[best])
            if number not in matches or matches[number].score < score:
                matches[number] = Match(number, score)
        fields = "/".join(field for field in _RANK if any(f == field for _, f in found))
        return StructuredAnswer(list(matches.values()), f"{fields} {query.strip()}", 1.0)
    return None


def _covered(catalog: Catalog, query: str, only: Filter) -> StructuredAnswer | None:
    """Answer a query nearly all of whose content stands in one concept's front matter."""
    words = [
        _Word(stem(whole), tuple(stem(part) for part in dict.fromkeys(parts)))
        for whole, parts in dict.fromkeys(spelled(query))
        if whole not in STOP_WORDS
    ]
    if not 2 <= len(words) <= MOST_WORDS:
        return None  # one word that is no name says too little, a page too much
    weights = {word: _rarity(catalog.frequency(""), _frequency(catalog, word)) for word in words}
    total = sum(weights.values())
    candidates = _candidates(catalog, weights, (1 - ENOUGH) * total)
    scores: dict[int, float] = defaultdict(float)
    covered: dict[int, float] = defaultdict(float)
    for word, weight in weights.items():
        for number, field_weight in _fields(catalog, word, candidates).items():
            scores[number] += weight * field_weight
            covered[number] += weight
    allowed = catalog.documents([n for n in covered if covered[n] >= ENOUGH * total], only)
    best = max((scores[number] for number in allowed), default=0.0)
    matches = [
        Match(number, scores[number] / total)
        for number in allowed
        if scores[number] >= AS_GOOD * best
    ]
    if not 1 <= len(matches) <= MOST:
        return None
    confidence = max(covered[match.document] for match in matches) / total
    return StructuredAnswer(matches, "titles and descriptions", confidence)


@dataclass(frozen=True)
class _Word:
    """The stem of a word of the query, and those of its parts where it is an identifier."""

    whole: str
    parts: tuple[str, ...]


def _frequency(catalog: Catalog, word: _Word) -> int:
    """Return in how many concepts a word may occur, whole or in parts."""
    in_parts = min((catalog.frequency(part) for part in word.parts), default=0)
    return max(catalog.frequency(word.whole), in_parts)


def _candidates(catalog: Catalog, weights: dict[_Word, float], spare: float) -> list[int]:
    """Return the concepts that may cover enough of a query.

    A concept may lack ``spare`` of the weight at most, so it holds one of the
    rarest words that weigh more than that together. The common words, which
    half the bundle may hold, are only looked up in these.
    """
    found: dict[int, None] = {}
    for word in sorted(weights, key=lambda word: -weights[word]):
        # A concept holds the word whole, or all its parts, so its rarest one.
        rarest = min(word.parts, key=catalog.frequency, default=word.whole)
        for term in {word.whole, rarest}:
            if catalog.frequency(term) > MOST_CANDIDATES:
                return []
            found.update((number, None) for number, _ in catalog.postings(term))
        spare -= weights[word]
        if spare < 0:
            break
    return list(found)


def _fields(catalog: Catalog, word: _Word, among: list[int]) -> dict[int, float]:
    """Return ``{document: weight of the best field}`` of those that hold a word."""
    found: dict[int, float] = {}
    for number, field in catalog.postings(word.whole, among):
        found[number] = max(found.get(number, 0.0), _WEIGHTS[field])
    if word.parts:
        each = [_fields(catalog, _Word(part, ()), among) for part in word.parts]
        for number in set(each[0]).intersection(*each[1:]):
            found[number] = max(found.get(number, 0.0), min(some[number] for some in each))
    return found


def _rarity(total: int, frequency: int) -> float:
    """Return the weight of a word that so many of all concepts hold."""
    return math.log(1 + (total - frequency + 0.5) / (frequency + 0.5))
