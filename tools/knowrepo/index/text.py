"""The analysis of text for lexical search: one analyser for documents and queries.

Owns how a text becomes the words that SQLite's FTS5 keeps, and a query the
forms that are looked for. What a word is, `spelling` says; which language,
`languages`. A change in any of them changes what is found, so it comes with a
new `ANALYSER`, which rebuilds every catalog by itself. No SQL here.

The words of a text stand in its order, one position each, an identifier as its
parts; wholes and other names come after all of them. So a phrase of `parse http
header` finds `parseHTTPHeader`, and no extra form keeps two neighbours apart.
All are stems of English. Where a text is of another language, its stems in that
one come last, marked: a language that is not recognised costs inflections, not
words. A query in English does not look for them: `test` would be a rarity that
a French text has and an English one has not.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from functools import cache, lru_cache
from typing import TYPE_CHECKING

from knowrepo.index import languages
from knowrepo.index.folding import fold
from knowrepo.index.spelling import Word, is_character, name_parts, words_of

if TYPE_CHECKING:
    import Stemmer

__all__ = [
    "ANALYSER", "STOP_WORDS", "TOKENIZER", "Term", "analysed", "content_words", "fold", "forms",
    "normal_name", "spelled", "stem", "stems", "words",
]  # fmt: skip

ANALYSER = 2
TOKENIZER = "ascii"
"""What FTS5 adds: it splits at spaces, for a word holds no ASCII but letters and digits."""

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
    arent cant couldnt didnt doesnt dont hadnt hasnt havent isnt shouldnt wasnt werent wont wouldnt
    ive youre youve theyre
    """.split()
)

PREFIX = "*"
"""What a form ends with that is looked for at the start of words."""
_SHORT = 200  # characters of a text that is likely to come again at once
_LONGEST_KEPT = 64  # characters of a token whose analysis is remembered
_MOST_KEPT = 1 << 17  # of such tokens
# How a remembered analysis says what comes behind the text. No word holds these.
_NAMES, _BETWEEN, _FOREIGN = "\0", "\1", "\2"
_BEHIND = re.compile(f"{_NAMES}([^ ]*)")


def words(text: str) -> Iterator[str]:
    """Yield the words of ``text`` in lower case, diacritics folded.

    First all in order, an identifier as its parts, then the wholes of the
    identifiers and what else they are called. Of a run of Chinese, Japanese,
    Korean or Thai characters, the pairs and the last character.
    """
    names: list[str] = []
    for token in text.split():
        for word in words_of(token):
            yield from _in_order(word)
            names += _names(word)
    yield from names


def spelled(text: str) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Yield each word of ``text`` whole, with its parts where it is an identifier."""
    for word in _words(text):
        yield word.whole or "".join(word.parts), word.parts


def _words(text: str) -> Iterator[Word]:
    """Yield the words that a query asks for."""
    for token in text.split():
        yield from (word for word in words_of(token) if not word.closing)


def _in_order(word: Word) -> tuple[str, ...]:
    return word.parts or (word.whole,)


def _names(word: Word) -> tuple[str, ...]:
    return (word.whole, *word.others) if word.parts and word.whole else word.others


def analysed(text: str) -> str:
    """Return ``text`` as the words that the FTS5 table stores, separated by spaces.

    They are the stems of `words`, and the stems in the language of the text
    where that is one of `languages`.
    """
    return _short(text) if len(text) <= _SHORT else _analysed(text)


@lru_cache(maxsize=1 << 10)
def _short(text: str) -> str:
    """Remember titles and headings: every chunk of a document has them."""
    return _analysed(text)


def _analysed(text: str) -> str:
    tokens = text.split()
    found = " ".join(map(_ANALYSES.__getitem__, tokens))  # C does the work, so keep it one line
    if _NAMES not in found:
        return found
    pieces = _BEHIND.split(found)  # what stands in order and what behind, in turn
    behind = _BETWEEN.join(pieces[1::2]).split(_BETWEEN)
    names = [name for name in behind if name and name != _FOREIGN]
    if _FOREIGN in behind:
        names += _foreign_stems(tokens)
    return " ".join(("".join(pieces[::2]), *names))


def _foreign_stems(tokens: list[str]) -> list[str]:
    """Return the stems of words in their own language, if it is recognised."""
    own = " ".join(map(_SPELLINGS.__getitem__, tokens)).split()
    language = languages.language_of(own, STOP_WORDS)
    if not language:
        return []
    return [languages.stem_in(language, word) + languages.MARK for word in own if word.isalpha()]


class _Remembered(dict[str, str]):
    """What becomes of what stands between two spaces; most of a text stands in it often."""

    def __init__(self, analyse: Callable[[str], str]) -> None:
        super().__init__()
        self._analyse = analyse

    def __missing__(self, token: str) -> str:
        found = self._analyse(token)
        if len(token) <= _LONGEST_KEPT:
            if len(self) >= _MOST_KEPT:
                self.clear()
            self[token] = found
        return found


def _analysis(token: str) -> str:
    """Return the stems of a token in order, and behind a mark what is to stand after the text."""
    in_order: list[str] = []
    behind: list[str] = []
    for word in words_of(token):
        in_order += word.parts or (word.whole,)
        if word.parts or word.others:
            behind += _names(word)
    if languages.may_be_foreign(token):
        behind.append(_FOREIGN)
    found = " ".join(map(stem, in_order))
    return found + _NAMES + _BETWEEN.join(map(stem, behind)) if behind else found


_ANALYSES = _Remembered(_analysis)
_SPELLINGS = _Remembered(
    lambda token: " ".join(part for word in words_of(token) for part in _in_order(word))
)


def content_words(query: str) -> list[Asked]:
    """Return the distinct words of a query that carry content, in order."""
    asked = [name for word in _words(query) for name in (*_in_order(word), *_names(word))]
    language: str | None = languages.language_of(asked, STOP_WORDS)
    without = STOP_WORDS | languages.function_words(language or "")
    if not language and STOP_WORDS.isdisjoint(asked):
        language = None
    return [Asked(word, language) for word in dict.fromkeys(asked) if word not in without]


class Asked(str):
    """A word of a query. ``language`` is empty for English, None where nothing tells."""

    __slots__ = ("language",)

    def __new__(cls, word: str, language: str | None = None) -> Asked:
        made = super().__new__(cls, word)
        made.language = language
        return made

    language: str | None


class Term(str):
    """A word as it stands in the index already: stemmed once, it may not bear it twice."""

    __slots__ = ()


def forms(word: str) -> tuple[str, ...]:
    """Return the forms, any of which is this word in a document.

    One that ends with `PREFIX` is the beginning of a word: a single character
    of a script that is kept in pairs.
    """
    if isinstance(word, Term):
        return (word,)
    if is_character(word):
        return (word + PREFIX,)
    language = word.language if isinstance(word, Asked) else None
    if language == "" or not word.isalpha():
        return (stem(word),)
    if language:
        return (stem(word), languages.stem_in(language, word) + languages.MARK)
    own = dict.fromkeys(languages.stem_in(language, word) for language in languages.LANGUAGES)
    return (stem(word), *(found + languages.MARK for found in own if found != stem(word)))


@lru_cache(maxsize=1 << 14)
def stem(word: str) -> str:
    """Return the English stem of a word, by which it is compared."""
    return _stemmer().stemWord(word) if word.isascii() else word


def stems(text: str) -> list[str]:
    """Return the distinct stems of the content words of ``text``."""
    return list(dict.fromkeys(stem(word) for word in content_words(text)))


def normal_name(text: str) -> str:
    """Return a tag, title or type in the form in which names are compared exactly.

    Case, punctuation and inflection do not count: `C-API`, `c api` and
    `Architecture Decisions`, `architecture-decision` are equal in pairs.
    """
    return " ".join(map(stem, name_parts(text)))


@cache
def _stemmer() -> Stemmer.Stemmer:
    import Stemmer

    return Stemmer.Stemmer("english", 0)
