"""The part of a text that answers a query best, with what matched told apart.

Owns the choice of the part, and which pieces of it matched: how these are marked
is the command line's business. What matches is decided by the analyser that made
the catalog, so that what was found is what is marked: stems, the parts of an
identifier, pairs of Chinese characters. It reads no catalog and changes no word
of the text.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from itertools import pairwise
from typing import NamedTuple

from knowrepo.index import languages
from knowrepo.index.spelling import is_character, placed
from knowrepo.index.text import PREFIX, STOP_WORDS, forms, stem
from knowrepo.recall.shown import settled
from knowrepo.terminal import plain
from knowrepo.units import shorten, splits

LIMIT = 240
"""Characters of a snippet, where nobody says otherwise."""
_ENOUGH = 100_000  # characters of a text that are looked through
_TOO_SHORT = 60  # characters of a part to which the next sentence is added
_SENTENCE = re.compile(r"\n|(?<=[.!?…])[ \t]+|(?<=[。！？])")
_JOINT = re.compile(r"(?:[^\w\s]|_){1,2}")
_MARKED_CODE = "`~"


class _Match(NamedTuple):
    """Where a word of the query stands in a text, and which one."""

    start: int
    end: int
    word: int


def pieces(text: str, words: Sequence[str], limit: int = LIMIT) -> list[tuple[str, bool]]:
    """Return the sentences of ``text`` that hold most of ``words``, in one line.

    They come in pieces, each with whether it matched, of at most ``limit``
    characters together. ``words`` are words of the analyser. Where nothing matches
    it is how the text begins.
    """
    line = "\n".join(settled(plain(text[:_ENOUGH])))
    matches = _matches(line, words)
    if not matches:
        begins = shorten(line, limit)
        return [(begins, False)] if begins else []
    start, end = _best(line, matches, limit)
    spans = _joined(line, [m for m in matches if m.start < end and m.end > start])
    found = [("…", False)] if not _begins(line, start) else []
    at = start
    for first, last in spans:
        first, last = max(first, start), min(last, end)
        found += [(line[at:first], False), (line[first:last], True)]
        at = last
    found.append((line[at:end], False))
    if not _ends(line, end):
        found.append(("…", False))
    return [(piece.replace("\n", " "), matched) for piece, matched in found if piece]


def _matches(line: str, words: Sequence[str]) -> list[_Match]:
    """Return where any of some words stands, in order."""
    asked: dict[str, int] = {}
    characters: dict[str, int] = {}
    for place, word in enumerate(words):
        for form in forms(word):
            (characters if is_character(word) else asked).setdefault(
                form.removesuffix(PREFIX), place
            )
    found: list[_Match] = []
    seen = _Stems(line, asked)
    for token in re.finditer(r"\S+", line):
        for start, end, names in placed(token[0]):
            number = next((n for n in map(seen.asked, names) if n is not None), None)
            if number is None and names and characters:
                number = characters.get(names[0][:1]) if not names[0].isascii() else None
                end = start + 1 if number is not None else end
            if number is not None:
                found.append(
                    _Match(*_whole(line, token.start() + start, token.start() + end), number)
                )
    return found


class _Stems:
    """Which word of the query a word of a text is, by its stem in English or its language."""

    def __init__(self, text: str, asked: dict[str, int]) -> None:
        self._asked = asked
        self._language: Callable[[], str] = cache(lambda: _language(text))
        self._foreign = any(form.endswith(languages.MARK) for form in asked)

    def asked(self, name: str) -> int | None:
        found = self._asked.get(stem(name))
        if found is None and self._foreign and name.isalpha() and self._language():
            own = languages.stem_in(self._language(), name) + languages.MARK
            found = self._asked.get(own)
        return found


def _language(text: str) -> str:
    if not languages.may_be_foreign(text):
        return ""
    names = (names[0] for token in text.split() for _, _, names in placed(token) if names)
    return languages.language_of(names, STOP_WORDS)


def _whole(line: str, start: int, end: int) -> tuple[int, int]:
    """Return a span widened to whole characters as a reader sees them."""
    while splits(line, start):
        start -= 1
    while splits(line, end):
        end += 1
    return start, end


def _best(line: str, matches: list[_Match], limit: int) -> tuple[int, int]:
    """Return where the part starts and ends that holds most of the words in the least text."""
    ends = [m.end() for m in _SENTENCE.finditer(line)]
    sentences = [(a, b) for a, b in pairwise([0, *ends, len(line)]) if line[a:b].strip()]
    best: tuple[int, int, int, int] | None = None  # words, less its length, start, end
    first = 0
    for number, (start, end) in enumerate(sentences):
        while first < len(matches) and matches[first].end <= start:
            first += 1
        if first == len(matches) or matches[first].start >= end:
            continue  # one that holds no match opens no part
        # A part of ``limit`` characters has no more sentences, and matches, than that.
        last = bisect_left(matches, max(end, start + limit), lo=first, key=lambda m: m.start)
        near = sentences[number : number + limit]
        for candidate in _candidates(line, matches[first:last], near, limit):
            if best is None or candidate[:2] > best[:2]:
                best = candidate
    assert best is not None  # some sentence holds the first match
    start, end = best[2:]
    for begin, stop in sentences:  # a word or two by themselves tell little
        if begin >= end and end - start < _TOO_SHORT and stop - start <= limit:
            end = begin + len(line[begin:stop].rstrip())
    return start, end


def _candidates(
    line: str, matches: list[_Match], sentences: list[tuple[int, int]], limit: int
) -> Iterator[tuple[int, int, int, int]]:
    """Yield the parts that begin with the first of some sentences, each with what it is worth."""
    start = sentences[0][0]
    held: set[int] = set()
    at = 0
    for begin, end in sentences:
        stop = begin + len(line[begin:end].rstrip())
        if stop - start > limit:
            break
        before = len(held)
        while at < len(matches) and matches[at].start < stop:
            held.add(matches[at].word)
            at += 1
        if len(held) > before:
            yield len(held), start - stop, start, stop
    else:
        return
    if not held:  # a sentence that is too long by itself
        yield from _inside(line, matches, sentences[0], limit)


def _inside(
    line: str, matches: list[_Match], sentence: tuple[int, int], limit: int
) -> Iterator[tuple[int, int, int, int]]:
    """Yield the best part of a sentence that is longer than the limit."""
    room = max(1, limit - 2)  # an ellipsis at either side
    inside = [match for match in matches if match.start < sentence[1]]
    best: tuple[int, int, int] = (0, 0, 0)  # words, first match, last match
    last = 0
    for first in range(len(inside)):
        last = max(last, first)
        while last + 1 < len(inside) and inside[last + 1].end - inside[first].start <= room:
            last += 1
        held = len({match.word for match in inside[first : last + 1]})
        if held > best[0]:
            best = (held, first, last)
    held, first, last = best
    start, end = _around(line, inside[first].start, inside[last].end, sentence, room)
    yield held, start - end, start, end


def _around(
    line: str, start: int, end: int, sentence: tuple[int, int], room: int
) -> tuple[int, int]:
    """Return a span with as many whole words around it as there is room for."""
    spare = max(0, room - (end - start)) // 2
    left = max(sentence[0], start - spare)
    right = min(sentence[1], left + room)
    left = max(sentence[0], min(left, right - room))
    if left > sentence[0] and (space := line.find(" ", left, start)) >= 0:
        left = space + 1
    if right < sentence[1] and (space := line.rfind(" ", min(end, right), right)) >= 0:
        right = space
    while left < start and _parts(line, left):
        left += 1
    while right > left + 1 and _parts(line, right):
        right -= 1
    return left, left + len(line[left:right].rstrip())


def _parts(line: str, at: int) -> bool:
    """Say whether a cut takes a character apart, or the marks that code stands between."""
    return splits(line, at) or (
        0 < at < len(line) and line[at - 1] == line[at] and line[at] in _MARKED_CODE
    )


def _begins(line: str, start: int) -> bool:
    """Say whether a sentence begins at ``start``."""
    return start == 0 or any(m.end() == start for m in _SENTENCE.finditer(line, 0, start))


def _ends(line: str, end: int) -> bool:
    """Say whether a sentence ends at ``end``."""
    rest = line[end : end + 2]
    return (
        not rest.strip() or _SENTENCE.match(line, end) is not None or line[end - 1] in ".!?…。！？"
    )


def _joined(line: str, matches: list[_Match]) -> list[tuple[int, int]]:
    """Return the spans to mark: what overlaps, or stands a hyphen apart, is one."""
    spans: list[tuple[int, int]] = []
    for start, end, _ in sorted(matches):
        if spans and (start <= spans[-1][1] or _JOINT.fullmatch(line, spans[-1][1], start)):
            spans[-1] = (spans[-1][0], max(end, spans[-1][1]))
        else:
            spans.append((start, end))
    return spans
