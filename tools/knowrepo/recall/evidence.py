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
from itertools import pairwise
from typing import NamedTuple

from knowrepo.index.catalog import Catalog, Filter, Occurrence, Often, Place
from knowrepo.index.text import Term
from knowrepo.recall.nearby import near
from knowrepo.recall.spread import CANDIDATES_A_DOCUMENT

FIRST = 300
"""Chunks that the words put forward, whatever documents they are of."""
FEWEST_DOCUMENTS = 20
"""Documents of which chunks are put forward, some of each: one long session hides none."""
MOST_OCCURRENCES = 3_000
"""Places of words that are read, the rarest words first; of the others those in the chunks put
forward and beside them. With 20,000 nothing of a set is found better, and a query takes longer."""
FIRST_LOOKED_UP, MOST_PUT_FORWARD = 1_000, 20_000
"""Chunks that hold a word and are looked up, best first: so many, and where these are of too few
documents so many more."""

_K1 = 0.9
_LONG = 0.4  # how much the length of a document counts
_BESIDE = 0.5  # of a neighbour's words
_TOGETHER = 8  # words between two that still stand together
_RESPELLED = 0.7  # of the weight of a word that is only found in another spelling


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
    total = catalog.extent()[0]
    often = catalog.often(list(dict.fromkeys(words)))
    telling = [word for word in words if not _is_everywhere(often[word], total)]
    if any(often[word].places for word in telling):
        words = telling
    often = {word: often[word] for word in words}
    respelled = near(catalog, words, [word for word in often if often[word].places])
    spelled = {word: respelled.get(word, (word,)) for word in often}
    own = _best(catalog, [term for terms in spelled.values() for term in terms], only)
    places = {**own, **catalog.places([chunk for chunk in others if chunk not in own], only)}
    around = _around(catalog, places)
    found = _read(catalog, [term for terms in spelled.values() for term in terms], around.beside)
    weighed = {
        word: _word(
            total, [found[term] for term in terms], says=word not in of_time,
            share=_RESPELLED if word in respelled else 1.0,
        )
        for word, terms in spelled.items()
    }  # fmt: skip
    in_order = [weighed[word] for word in words]
    if all(word in of_time for word in words):  # then they are what is asked for
        in_order = [word._replace(says=True) for word in in_order]
    return Lexical(places, _evidence(catalog, in_order, places, around), respelled)


def _is_everywhere(often: Often, total: int) -> bool:
    """Say whether a word is in most chunks, so that it tells none from another, and many.

    BM25 gives it no weight either; to read where it stands takes longer than all the rest.
    """
    return often.places > MOST_OCCURRENCES and 2 * often.chunks > total


class _Around(NamedTuple):
    """What stands around the chunks put forward.

    ``sequences`` are all chunks of their documents in order; ``beside`` tells of each chunk
    put forward, and of its neighbours, beside which ones put forward it stands.
    """

    sequences: Mapping[int, Sequence[int]]
    beside: Mapping[int, Sequence[int]]


def _around(catalog: Catalog, places: Mapping[int, Place]) -> _Around:
    sequences = catalog.sequences(list({place.document for place in places.values()}))
    beside: dict[int, list[int]] = {chunk: [] for chunk in places}
    for chunk, place in places.items():
        chunks = sequences[place.document]
        fits = place.seq < len(chunks) and chunks[place.seq] == chunk
        at = place.seq if fits else chunks.index(chunk)
        for other in (*chunks[max(0, at - 1) : at], *chunks[at + 1 : at + 2]):
            beside.setdefault(other, []).append(chunk)
    return _Around(sequences, beside)


class _Found(NamedTuple):
    """Where a word stands, as far as that was read, and how many chunks hold it."""

    places: Sequence[Occurrence]
    chunks: int


def _read(catalog: Catalog, words: Sequence[str], beside: Collection[int]) -> dict[str, _Found]:
    """Return where words stand: the rarest in all chunks, the others where evidence is looked for.

    Of these a document counts what stands in the chunks put forward and beside them.
    """
    often = catalog.often(words)
    rare: list[str] = []
    left = MOST_OCCURRENCES
    for word in sorted(words, key=lambda word: often[word].places):
        left -= often[word].places
        if left < 0:
            break
        rare.append(word)
    found = catalog.occurrences(rare)
    found |= catalog.occurrences([word for word in words if word not in found], beside)
    return {word: _Found(found[word], often[word].chunks) for word in words}


def _word(total: int, found: Sequence[_Found], *, says: bool, share: float) -> _Word:
    """Return a word by where its spellings stand in ``total`` chunks."""
    body: defaultdict[int, list[int]] = defaultdict(list)
    sets: dict[str, set[int]] = {"heading": set(), "title": set()}
    for one in found:
        for chunk, column, place in one.places:
            if column == "body":
                body[chunk].append(place)
            else:
                sets[column].add(chunk)
    body.default_factory = None
    holding = min(total, sum(one.chunks for one in found))
    asked = _weight(total, holding)
    return _Word(asked, share * asked, body, sets["heading"], sets["title"], says)


def _weight(total: int, holding: int) -> float:
    """Return the weight of a word that ``holding`` of ``total`` chunks hold."""
    return math.log(1 + (total - holding + 0.5) / (holding + 0.5))


def _best(catalog: Catalog, words: Sequence[str], only: Filter) -> dict[int, Place]:
    """Return the best chunks by the words in their texts, where many hold them."""
    for most in (FIRST_LOOKED_UP, MOST_PUT_FORWARD):
        best = catalog.lexical(words, most, only)
        found = _first(catalog, [chunk for chunk, _ in best], only)
        if len(best) < most or _suffices(found):
            break
    return found


def _suffices(found: Mapping[int, Place]) -> bool:
    documents = {place.document for place in found.values()}
    return len(found) >= FIRST and len(documents) >= FEWEST_DOCUMENTS


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


def _evidence(
    catalog: Catalog, words: Sequence[_Word], places: Mapping[int, Place], around: _Around
) -> dict[int, Evidence]:
    total = sum(word.asked for word in words)
    if not total:
        return {chunk: Evidence() for chunk in places}
    nowhere = _weight(catalog.extent()[0], 0)
    sequences = around.sequences
    document_of = {chunk: number for number, chunks in sequences.items() for chunk in chunks}
    wholes = _documents(catalog, words, sequences, document_of)
    together = _together(words, places)
    own, heading = _of_chunks(words, around.beside, places)
    covered, missing = _held(words, places)
    return {
        chunk: Evidence(
            own.get(chunk, 0.0) / total,
            wholes[place.document][0] / total,
            wholes[place.document][1] / total,
            heading.get(chunk, 0.0) / total,
            together.get(chunk, 0.0) / total,
            covered.get(chunk, 0.0),
            missing.get(chunk, 0.0) / nowhere,
        )
        for chunk, place in places.items()
    }


def _of_chunks(
    words: Sequence[_Word], beside: Mapping[int, Sequence[int]], places: Mapping[int, Place]
) -> tuple[dict[int, float], dict[int, float]]:
    """Return the weight of the words in each chunk and beside it, and of those in its heading.

    What is counted are the chunks that hold a word: most hold few of a query's.
    """
    own: dict[int, float] = defaultdict(float)
    heading: dict[int, float] = defaultdict(float)
    for word in words:
        often: dict[int, float] = defaultdict(float)
        for chunk in word.body.keys() & beside.keys():
            times = len(word.body[chunk])
            if chunk in places:
                often[chunk] += times
            for other in beside[chunk]:
                often[other] += _BESIDE * times
        for chunk, counted in often.items():
            own[chunk] += word.weight * counted / (counted + _K1)
        for chunk in word.heading & places.keys():
            heading[chunk] += word.weight
    return own, heading


def _held(
    words: Sequence[_Word], places: Mapping[int, Place]
) -> tuple[dict[int, float], dict[int, float]]:
    """Return which share of what is asked for each chunk holds, and the heaviest word it lacks."""
    says = sorted((word for word in words if word.says), key=lambda word: -word.asked)
    asked = sum(word.asked**2 for word in says)
    covered: dict[int, float] = defaultdict(float)
    missing: dict[int, float] = {}
    whole = set(places)  # chunks that lack none of the words so far
    for word in says:
        holding = (word.body.keys() | word.heading | word.title) & places.keys()
        for chunk in holding:
            covered[chunk] += word.weight * word.asked / asked
        missing.update(dict.fromkeys(whole - holding, word.asked))
        whole &= holding
    return covered, missing


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
