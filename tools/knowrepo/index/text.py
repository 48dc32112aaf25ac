"""The analysis of text for lexical search: one analyser for documents and queries.

Owns what counts as a word. A change here changes what is found, so it comes
with a new `ANALYSER`, which rebuilds every catalog by itself. No SQL here.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from functools import cache, lru_cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import Stemmer

ANALYSER = 1

# Words that carry no content of their own in a question or a sentence.
STOP_WORDS = frozenset(
    """
    a about after again all also am an and any are as at be because been before being between
    both but by can could did do does doing done down during each few for from further get got
    had has have having he her here hers him his how i if in into is it its itself just let me
    more most my no nor not now of off on once only or other our ours out over own same she
    should so some such than that the their theirs them then there these they this those through
    to too under until up us very was we were what when where which while who whom whose why will
    with would you your yours
    """.split()
)

LONGEST_WORD = 4096
"""A longer run is no word: nobody looks for half a megabyte of base64."""
_WORD = re.compile(r"\w+(?:[-'’.]\w+)*")
_APOSTROPHE = re.compile(r"['’]")
_JOINT = re.compile(r"[-._]")
_PART = re.compile(r"[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-z]+|[A-Z]+|\d+|[^\W\d_a-zA-Z]+")


def words(text: str) -> Iterator[str]:
    """Yield the words of ``text`` in lower case, diacritics folded, identifiers whole and in parts.

    `parseHTTPHeader` gives `parsehttpheader parse http header`; `snake_case`
    gives `snakecase snake case`. A run of Chinese, Japanese, Korean or Thai
    characters gives its bigrams.
    """
    for whole, parts in spelled(text):
        yield whole
        yield from parts


def spelled(text: str) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Yield each word of ``text`` whole, with its parts where it is an identifier."""
    for match in _WORD.finditer(text):
        yield from _spelled_run(match.group())


@lru_cache(maxsize=1 << 15)
def _spelled_run(run: str) -> tuple[tuple[str, tuple[str, ...]], ...]:
    if run.isascii():
        return tuple(_spelling(run)) if len(run) <= LONGEST_WORD else ()
    found: list[tuple[str, tuple[str, ...]]] = []
    for piece in _unspaced().split(run):
        if _unspaced().fullmatch(piece):
            found += ((pair, ()) for pair in _bigrams(piece))
        else:
            found += _spelling(piece)
    return tuple(found)


def analysed(text: str) -> str:
    """Return ``text`` as the words that the FTS5 table stores, separated by spaces."""
    return " ".join(words(text))


def content_words(query: str) -> list[str]:
    """Return the distinct words of a query that carry content, in order."""
    return [word for word in dict.fromkeys(words(query)) if word not in STOP_WORDS]


@lru_cache(maxsize=1 << 14)
def stem(word: str) -> str:
    """Return the stem by which the structured layer compares words."""
    return _stemmer().stemWord(word) if word.isascii() else word


def stems(text: str) -> list[str]:
    """Return the distinct stems of the content words of ``text``."""
    return list(dict.fromkeys(stem(word) for word in content_words(text)))


def normal_name(text: str) -> str:
    """Return a tag, title or type in the form in which names are compared exactly.

    Case, punctuation and inflection do not count: `C-API`, `c api` and
    `Architecture Decisions`, `architecture-decision` are equal in pairs.
    """
    return " ".join(stem(part) for part in re.split(r"[\W_]+", fold(text)) if part)


def fold(text: str) -> str:
    """Return ``text`` in lower case and without diacritics."""
    return _without_diacritics(text).lower()


def _without_diacritics(text: str) -> str:
    if text.isascii():
        return text
    decomposed = unicodedata.normalize("NFKD", text)
    return "".join(c for c in decomposed if not unicodedata.combining(c))


@cache
def _stemmer() -> Stemmer.Stemmer:
    import Stemmer

    return Stemmer.Stemmer("english", 0)


@cache
def _unspaced() -> re.Pattern[str]:
    """Match a run of a script that puts no spaces between words: CJK, Korean, Thai.

    Compiled when first needed: these wide classes take 20 ms.
    """
    return re.compile("([぀-ヿ㐀-䶿一-鿿豈-﫿가-힯฀-๿]+)")


def _spelling(run: str) -> Iterator[tuple[str, tuple[str, ...]]]:
    plain = _APOSTROPHE.sub("", _without_diacritics(run))
    pieces = [piece for piece in _JOINT.split(plain) if piece]
    parts = [part.lower() for piece in pieces for part in _PART.findall(piece)]
    if pieces:  # a run of underscores is no word
        yield "".join(pieces).lower(), tuple(parts) if len(parts) > 1 else ()


def _bigrams(run: str) -> Iterator[str]:
    folded = unicodedata.normalize("NFKC", run)
    if len(folded) < 2:
        yield folded
    for start in range(len(folded) - 1):
        yield folded[start : start + 2]
