"""Which concepts a proposal has to do with, and whether one says it already.

Owns an inverted index over the stems of titles, descriptions, tags and aliases.
A stem that many concepts share tells nothing and is skipped, so that the work for
a proposal is bounded, however many concepts there are.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable
from typing import NamedTuple

from knowrepo.distill.files import Related
from knowrepo.index.text import STOP_WORDS, fold, normal_name, stem, stems

_MOST_LINKS = 3
_COMMON = 32  # concepts that share a stem which is skipped
_SHARED = 2  # stems that a related concept has at least
_RELATED = 0.2  # of the weight of a proposal's stems
_SAME = 0.8  # of the words of two titles
_ENOUGH = 3  # words of a title that may be nearly another's
_TOLD = 6  # words beyond the first of a description that tells it from others
# Words that turn a sentence round; the analyser takes them for empty.
_TURNING = frozenset({"no", "not", "nor", "never", "without", "instead", "against", "dont"})


class _Entry(NamedTuple):
    title: str
    names: frozenset[str]  # the words of the title


class Relations:
    """The concepts that are there, those just proposed among them."""

    def __init__(self) -> None:
        self._entries: dict[str, _Entry] = {}
        self._having: dict[str, set[str]] = defaultdict(set)
        self._named: dict[str, set[str]] = defaultdict(set)  # by a word of the title
        self._exact: dict[str, str] = {}

    def add(
        self,
        concept: str,
        title: str,
        description: str = "",
        tags: Iterable[str] = (),
        aliases: Iterable[str] = (),
    ) -> None:
        """Add a concept, or bring it up to date."""
        names = frozenset(_telling(title))
        self._entries[concept] = _Entry(title, names)
        for one in stems(" ".join([title, description, *tags, *aliases])):
            self._having[one].add(concept)
        for name in names:
            self._named[name].add(concept)
        for text in _whole(title, description):
            self._exact.setdefault(text, concept)

    def link(self, concept: str) -> Related:
        """Return a link to a concept that is here."""
        entry = self._entries.get(concept)
        return Related(concept, entry.title if entry else concept)

    def related(
        self,
        title: str,
        description: str = "",
        tags: Iterable[str] = (),
        but: frozenset[str] = frozenset(),
    ) -> list[Related]:
        """Return the concepts that have most to do with a proposal, at most three."""
        scores: dict[str, float] = defaultdict(float)
        shared: Counter[str] = Counter()
        whole = 0.0
        for one in stems(" ".join([title, description, *tags])):
            having = self._having.get(one, set())
            if len(having) > _COMMON:
                continue
            weight = 1 / (1 + len(having))
            whole += weight
            for concept in having - but:
                scores[concept] += weight
                shared[concept] += 1
        best = sorted(scores, key=lambda concept: (-scores[concept], concept))
        return [
            Related(concept, self._entries[concept].title)
            for concept in best
            if shared[concept] >= _SHARED and scores[concept] >= _RELATED * whole
        ][:_MOST_LINKS]

    def said_by(self, title: str, description: str = "") -> str:
        """Return the concept that says the same already, or nothing."""
        for text in _whole(title, description):
            if text in self._exact:
                return self._exact[text]
        names = frozenset(_telling(title))
        if len(names) < _ENOUGH:
            return ""
        rare = sorted(names, key=lambda name: (len(self._named.get(name, ())), name))
        # Titles that share so much share one of the rarest words of either.
        looked = rare[: 2 + int(len(names) * (1 - _SAME))]
        for name in looked:
            having = self._named.get(name, set())
            for concept in sorted(having) if len(having) <= _COMMON else ():
                if _alike(names, self._entries[concept].names):
                    return concept
        return ""


def _whole(title: str, description: str) -> list[str]:
    """Return the texts by which a concept is another, in the form in which equals are equal.

    A short description may be a form that many have.
    """
    forms = [normal_name(title), normal_name(description)]
    return [form for form, least in zip(forms, (1, _TOLD), strict=True) if form.count(" ") >= least]


def _telling(title: str) -> Iterable[str]:
    """Yield the stems of a title that tell what it says, negations among them."""
    for word in filter(None, re.split(r"[\W_]+", fold(title))):
        if word in _TURNING or word not in STOP_WORDS:
            yield word if word in _TURNING else stem(word)


def _alike(one: frozenset[str], other: frozenset[str]) -> bool:
    if one & _TURNING != other & _TURNING:
        return False
    return len(one & other) >= _SAME * len(one | other)
