"""What the words of a query say of chunks: the evidence that the lexical side has.

Owns which chunks the words put forward, and how much of the query each holds: in
its own words and those beside it, in the whole of its document, in its title and
its heading, and with words that stand together in the query together in the text.
Each is a share of the weight of all words, so that a query of which little is
found says little, whatever the best of it is. How much each counts is `fuse`'s.

A word weighs by how few chunks hold it. It is counted as BM25 counts, k1 = 0.9,
without regard to the length of a chunk: all are short. A document is long by its
chunks. A chunk counts with half of its neighbours: an answer stands beside its
question. Measured on six sets; see the concept `weights-of-evidence`.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from heapq import nlargest
from itertools import pairwise
from typing import NamedTuple

from knowrepo.index.catalog import Catalog, Filter, Occurrence, Place
from knowrepo.index.text import PREFIX, Term, analysed, forms
from knowrepo.recall.nearby import near
from knowrepo.recall.spread import CANDIDATES_A_DOCUMENT

FIRST = 300
"""Chunks that the words put forward, whatever documents they are of."""
FEWEST_DOCUMENTS = 20
"""Documents of which chunks are put forward, some of each: one long session hides none."""
MOST_OCCURRENCES = 20_000
"""Places of a word that are looked at; of a commoner one those in the chunks put forward."""
MOST_PUT_FORWARD = 20_000
"""Chunks that hold a word and are looked up, best first, for a filter to leave enough."""

_K1 = 0.9
_LONG = 0.4  # how much the length of a document counts
_BESIDE = 0.5  # of a neighbour's words
_TOGETHER = 8  # words between two that still stand together
_RESPELLED = 0.7  # of the weight of a word that is only found in another spelling
_TITLE, _HEADING = 0.6, 0.3  # of a word's weight, where chunks are put forward


class Evidence(NamedTuple):
    """Shares of the weight of a query's words, each between 0 and 1.

    For the coverage weights count squared: where the rarest word is missing, the
    common ones around it are no sign of an answer.
    """

    words: float = 0.0  # in the chunk and beside it
    document: float = 0.0
    title: float = 0.0
    heading: float = 0.0
    together: float = 0.0
    coverage: float = 0.0  # that the chunk holds at all, words of time left out
    missing: float = 0.0  # the heaviest that it does not hold, of one that stands nowhere


class Lexical(NamedTuple):
    """What the words of a query found.

    ``evidence`` is of all chunks in ``places``, those of the words' own and others
    that were to be looked at. ``respelled`` are near spellings that were taken.
    """

    places: dict[int, Place]
    evidence: dict[int, Evidence]
    respelled: dict[str, tuple[Term, ...]]


class _Word(NamedTuple):
    """A word: its weight, and where it stands; ``body`` has its places in order.

    ``weight`` is less than what was ``asked`` for where only another spelling is found.
    """

    asked: float
    weight: float
    body: dict[int, list[int]]
    heading: set[int]
    title: set[int]
    says: bool = True  # what is asked for, so that a chunk without it covers less


def look_for(
    catalog: Catalog,
    words: Sequence[str],
    only: Filter,
    others: Iterable[int] = (),
    *,
    of_time: Collection[str] = (),
) -> Lexical:
    """Return what words say of the chunks that they put forward, and of ``others``.

    Those ``of_time`` say when, not what: a chunk covers a query without them.
    """
    found = catalog.occurrences(words, MOST_OCCURRENCES)
    respelled = near(catalog, words, [word for word in words if found.get(word, True)])
    for word, spellings in respelled.items():
        taken = catalog.occurrences(spellings, MOST_OCCURRENCES)
        found[word] = [place for spelling in spellings for place in taken.get(spelling, ())]
    everywhere = [word for word in words if word not in found]
    chunks = catalog.extent()[0]
    weighed = {
        word: _word(chunks, places, share=_RESPELLED if word in respelled else 1.0)
        for word, places in found.items()
    }
    own = _put_forward(catalog, list(weighed.values()), only)
    if everywhere:
        best = catalog.lexical(words, MOST_PUT_FORWARD, only)
        own.update(_first(catalog, [chunk for chunk, _ in best], only))
    places = {**own, **catalog.places([chunk for chunk in others if chunk not in own], only)}
    if everywhere:
        for word, read in _read(catalog, everywhere, list(places)).items():
            weighed[word] = _word(chunks, read, least=MOST_OCCURRENCES)
    in_order = [weighed[word] for word in words]
    if not all(word in of_time for word in words):
        in_order = [
            one._replace(says=word not in of_time)
            for word, one in zip(words, in_order, strict=True)
        ]
    return Lexical(places, _evidence(catalog, in_order, places), respelled)


def _word(total: int, places: Sequence[Occurrence], *, share: float = 1.0, least: int = 0) -> _Word:
    """Return a word that stands in some of ``total`` chunks, in ``least`` of them or more."""
    body: dict[int, list[int]] = {}
    sets: dict[str, set[int]] = {"heading": set(), "title": set()}
    for chunk, column, place in places:
        if column == "body":
            body.setdefault(chunk, []).append(place)
        else:
            sets[column].add(chunk)
    holding = min(total, max(least, len(body.keys() | sets["heading"] | sets["title"])))
    asked = _weight(total, holding)
    return _Word(asked, share * asked, body, sets["heading"], sets["title"])


def _weight(total: int, holding: int) -> float:
    """Return the weight of a word that ``holding`` of ``total`` chunks hold."""
    return math.log(1 + (total - holding + 0.5) / (holding + 0.5))


def _put_forward(catalog: Catalog, words: Sequence[_Word], only: Filter) -> dict[int, Place]:
    """Return the best chunks by a first, rough look, of those that pass the filter."""
    scores: dict[int, float] = defaultdict(float)
    for word in words:
        for chunk, places in word.body.items():
            scores[chunk] += word.weight * len(places) / (len(places) + _K1)
        for share, chunks in ((_TITLE, word.title), (_HEADING, word.heading)):
            for chunk in chunks:
                scores[chunk] += word.weight * share
    best = nlargest(MOST_PUT_FORWARD, scores, key=lambda chunk: (scores[chunk], -chunk))
    return _first(catalog, best, only)


def _first(catalog: Catalog, best: Sequence[int], only: Filter) -> dict[int, Place]:
    """Return the first chunks that pass the filter, and then few of each other document."""
    found: dict[int, Place] = {}
    taken: Counter[int] = Counter()
    for start in range(0, len(best), FIRST):
        some = best[start : start + FIRST]
        passing = catalog.places(some, only)
        for chunk in filter(passing.__contains__, some):
            place = passing[chunk]
            taken[place.document] += 1
            if len(found) < FIRST or taken[place.document] <= CANDIDATES_A_DOCUMENT:
                found[chunk] = place
        if len(found) >= FIRST and len(taken) >= FEWEST_DOCUMENTS:
            break
    return found


def _read(
    catalog: Catalog, words: Sequence[str], chunks: Sequence[int]
) -> dict[str, list[Occurrence]]:
    """Return where words stand in some chunks, by reading these."""
    whole: dict[str, list[str]] = {}
    starts: list[tuple[str, str]] = []
    for word in words:
        for form in forms(word):
            if form.endswith(PREFIX):
                starts.append((form.removesuffix(PREFIX), word))
            else:
                whole.setdefault(form, []).append(word)
    found: dict[str, list[Occurrence]] = {word: [] for word in words}
    for number, chunk in catalog.chunks(chunks).items():
        for column, text in (("heading", chunk.heading), ("body", chunk.text)):
            for place, term in enumerate(analysed(text).split()):
                for word in whole.get(term, ()):
                    found[word].append((number, column, place))
                for start, word in starts:
                    if term.startswith(start):
                        found[word].append((number, column, place))
    return found


def _evidence(
    catalog: Catalog, words: Sequence[_Word], places: Mapping[int, Place]
) -> dict[int, Evidence]:
    total = sum(word.asked for word in words)
    if not total:
        return {chunk: Evidence() for chunk in places}
    asked = sum(word.asked**2 for word in words if word.says)
    nowhere = _weight(catalog.extent()[0], 0)
    sequences = catalog.sequences(list({place.document for place in places.values()}))
    document_of = {chunk: number for number, chunks in sequences.items() for chunk in chunks}
    wholes = _documents(catalog, words, sequences, document_of)
    together = _together(words, places)
    found = {}
    for chunk, (document, seq, _) in places.items():
        chunks = sequences[document]
        at = seq if seq < len(chunks) and chunks[seq] == chunk else chunks.index(chunk)
        beside = [chunks[near] for near in (at - 1, at + 1) if 0 <= near < len(chunks)]
        own = covered = heading = missing = 0.0
        for word in words:
            times = len(word.body.get(chunk, ()))
            often = times + _BESIDE * sum(len(word.body.get(other, ())) for other in beside)
            own += word.weight * often / (often + _K1)
            if chunk in word.heading:
                heading += word.weight
            if not word.says:
                continue
            if times or chunk in word.heading or chunk in word.title:
                covered += word.weight * word.asked
            else:
                missing = max(missing, word.asked)
        body, title = wholes[document]
        found[chunk] = Evidence(
            own / total, body / total, title / total, heading / total,
            together.get(chunk, 0.0) / total, covered / asked, missing / nowhere,
        )  # fmt: skip
    return found


def _documents(
    catalog: Catalog,
    words: Sequence[_Word],
    sequences: Mapping[int, Sequence[int]],
    document_of: Mapping[int, int],
) -> dict[int, tuple[float, float]]:
    """Return how much of the words the body and the title of each document hold."""
    chunks, documents = catalog.extent()
    usual = max(1.0, chunks / max(1, documents))
    scores = {document: [0.0, 0.0] for document in sequences}
    for word in words:
        often: dict[int, int] = defaultdict(int)
        titled: set[int] = set()
        for chunk, places in word.body.items():
            if chunk in document_of:
                often[document_of[chunk]] += len(places)
        titled.update(document_of[chunk] for chunk in word.title if chunk in document_of)
        for document, times in often.items():
            long = 1 - _LONG + _LONG * len(sequences[document]) / usual
            scores[document][0] += word.weight * times / (times + _K1 * long)
        for document in titled:
            scores[document][1] += word.weight
    return {document: (body, title) for document, (body, title) in scores.items()}


def _together(words: Sequence[_Word], places: Iterable[int]) -> dict[int, float]:
    """Return for each chunk the weight of words that follow each other in the query and in it.

    Of two the lighter counts, divided by how far they stand apart.
    """
    found: dict[int, float] = defaultdict(float)
    wanted = set(places)
    for first, second in pairwise(words):
        for chunk in wanted.intersection(first.body, second.body):
            apart = min(
                abs(one - other)
                for one in first.body[chunk][:30]
                for other in second.body[chunk][:30]
            )
            if apart <= _TOGETHER:
                found[chunk] += min(first.weight, second.weight) / max(1, apart)
    return found
