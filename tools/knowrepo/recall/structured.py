"""The structured layer: tags, aliases, titles, types and paths, without a model.

Owns the decision whether the front matter of the concepts knows the answer. It
answers when the query is the name of something, or when one concept's front
matter covers so much of what the query says, and so much more than the next
one's, that it is most likely right; else it gives the nearest as evidence, and
the hybrid layer is asked. Explicit forms (`tag:x`, `#x`, `type:Decision`, a
path) are exact. A bare word is never an id.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import PurePosixPath
from typing import NamedTuple

from knowrepo.index.catalog import Catalog, Field, Filter, Standing
from knowrepo.index.text import normal_name
from knowrepo.recall import coverage
from knowrepo.recall.hits import is_stale, worth

ENOUGH = 0.7
"""The confidence from which on an answer is given."""
NAMED = 0.97
"""The confidence of an answer to a query that is a name, typed as people type it."""
AS_GOOD = 0.85
"""Concepts below this share of the best score are not part of the answer."""
MOST = 12
"""A query that more concepts fit about equally well names none of them."""
MOST_NAMED = 50
MOST_NEAR = 20
FEWEST_WORDS = 2
"""Of words that are no name: to share a single one says too little."""

_UNSURE = 0.5  # at most, where many fit, or where a single word is shared
_DAY = len("2026-05-01")  # of a date: what is of one day is equally new
# The log odds that the first concept is right: by what it covers of the query, and by how
# much more than the next. A logistic regression over the labelled lookups, rounded.
_BEFORE, _BY_COVERAGE, _BY_MARGIN = -4.0, 5.0, 11.0

# What an exact name is worth in each field, the best first; so they are told.
_NAMES: dict[Field, float] = {
    "alias": 1.0, "title": 0.98, "path": 0.95, "tag": 0.92, "type": 0.88,
}  # fmt: skip


class Match(NamedTuple):
    """A concept that the layer gives; ``score`` is at most 1."""

    document: int
    score: float


@dataclass(frozen=True)
class StructuredAnswer:
    """What the layer knows; ``matches``, best first, is empty where it does not know.

    ``exact``: an explicit form was asked for, so nothing else is an answer.
    ``confidence`` is that the first match answers; where there is none, that the first of
    ``near`` would have. ``near`` are the concepts that come closest, whether they answer or not.
    """

    matches: list[Match]
    reason: str
    confidence: float
    exact: bool = False
    near: list[Match] = field(default_factory=list)


UNKNOWN = StructuredAnswer([], "", 0.0)


def ask(catalog: Catalog, query: str, only: Filter, *, most: int = MOST_NAMED) -> StructuredAnswer:
    """Ask the structured layer for at most so many concepts that pass a filter. Never raises."""
    query = query.encode("utf-8", "replace").decode().strip()
    return (
        _explicit(catalog, query, only, most)
        or _named(catalog, query, only, most)
        or _covered(catalog, query, only)
    )


def _explicit(catalog: Catalog, query: str, only: Filter, most: int) -> StructuredAnswer | None:
    forms: tuple[tuple[str, Field], ...] = (("tag:", "tag"), ("#", "tag"), ("type:", "type"))
    for prefix, of_field in forms:
        rest = query.removeprefix(prefix)
        is_form = rest != query and rest and not rest.startswith((" ", "#"))
        if is_form and not (prefix == "#" and _is_prose(catalog, rest)):
            bearers = _bearers(catalog, normal_name(rest), of_field, most, only)
            numbers = [one.document for one in bearers]
            return _exactly(catalog, numbers, f"{of_field} {rest.strip()}", most)
    if "/" in query or query.endswith(".md"):
        return _at_path(catalog, query.strip("/"), only)
    return None


def _is_prose(catalog: Catalog, rest: str) -> bool:
    """Tell `#include <x>` and `#42` from a tag: a tag is one word, and there is one."""
    return " " in rest or not catalog.is_name(normal_name(rest), "tag")


def _at_path(catalog: Catalog, path: str, only: Filter) -> StructuredAnswer | None:
    """Answer a path from the repository, from its concepts, or from one of several bundles."""
    for whole in (path, f"concepts/{path}"):
        document = catalog.document_at(whole)
        if document is not None:
            return _exactly(catalog, list(catalog.documents([document.id], only)), "path")
    key = path.removesuffix(".md")
    name = normal_name(PurePosixPath(key).name)
    bearers = catalog.named(name, "path", MOST_NAMED, only) if name else []
    found = [one.document for one in bearers if one.path.endswith(f"/{key}.md")]
    return _exactly(catalog, found, "end of the path") if found else None


def _exactly(
    catalog: Catalog, numbers: list[int], reason: str, most: int = MOST_NAMED
) -> StructuredAnswer:
    matches = _in_order(catalog.standings(numbers), dict.fromkeys(numbers, 1.0))[:most]
    return StructuredAnswer(matches, reason, 1.0, exact=True, near=matches[:MOST_NEAR])


def _in_order(found: Mapping[int, Standing], relevance: Mapping[int, float]) -> list[Match]:
    """Return concepts in the order of an answer: by score, the newest first, then by path.

    The score is the relevance, as far as the standing leaves it.
    """
    scores = {n: relevance[n] * worth(one.trust, one.stale_after) for n, one in found.items()}
    numbers = sorted(scores, key=lambda number: found[number].path)
    numbers.sort(key=lambda number: (scores[number], found[number].date[:_DAY]), reverse=True)
    return [Match(number, scores[number]) for number in numbers]


def _named(catalog: Catalog, query: str, only: Filter, most: int) -> StructuredAnswer | None:
    """Answer a query that as a whole is a tag, an alias, a title, a type or a file name."""
    says = coverage.content(query)
    subject = [token for token, asks in says.items() if not asks]
    for name in dict.fromkeys(map(normal_name, (query, " ".join(says), " ".join(subject)))):
        if not name or not catalog.is_name(name):
            continue
        found = {of: _bearers(catalog, name, of, most, only) for of in _NAMES}
        fields = "/".join(of for of, bearers in found.items() if bearers)
        if fields:
            return _answer(found, f"{fields} {query}", NAMED, most)
    return None


def _bearers(
    catalog: Catalog, name: str, of_field: Field, most: int, only: Filter
) -> list[Standing]:
    """Return who bears a name, enough of them that the stale ones take nobody's place."""
    if not name:
        return []
    asked = most
    while True:
        found = catalog.named(name, of_field, asked, only)
        fresh = sum(not is_stale(one.stale_after) for one in found)
        if len(found) < asked or fresh >= most:
            return found
        asked *= 4


def _answer(
    bearers: Mapping[Field, list[Standing]], reason: str, confidence: float, most: int
) -> StructuredAnswer:
    found: dict[int, Standing] = {}
    relevance: dict[int, float] = {}
    for of_field, some in bearers.items():
        for one in some:
            found[one.document] = one
            relevance.setdefault(one.document, _NAMES[of_field])  # the best field comes first
    matches = _in_order(found, relevance)
    return StructuredAnswer(matches[:most], reason, confidence, near=matches[:MOST_NEAR])


def _covered(catalog: Catalog, query: str, only: Filter) -> StructuredAnswer:
    """Answer a query much of which stands in one concept's front matter."""
    found = coverage.covering(catalog, query, only)
    covering = {one.document: one for one in found.best}
    near = _in_order(
        catalog.standings(list(covering)), {n: one.score for n, one in covering.items()}
    )
    if not near:
        return UNKNOWN
    first, best = covering[near[0].document], near[0].score
    following = max([found.following, *(match.score for match in near[1:2])])
    confidence = _confidence(first.score, best - following)
    as_good = [match for match in near if match.score >= AS_GOOD * best]
    fits_many = len(as_good) > MOST or found.following >= AS_GOOD * best
    if fits_many or first.words < FEWEST_WORDS:
        confidence = min(confidence, _UNSURE)
    if confidence < ENOUGH:
        return StructuredAnswer([], "", confidence, near=near[:MOST_NEAR])
    return StructuredAnswer(as_good, "titles and descriptions", confidence, near=near[:MOST_NEAR])


def _confidence(covered: float, margin: float) -> float:
    """Return how likely a concept answers that covers so much, and so much more than the next."""
    odds = _BEFORE + _BY_COVERAGE * covered + _BY_MARGIN * margin
    return round(1 / (1 + math.exp(-odds)), 4)
