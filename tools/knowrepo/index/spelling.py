"""From what stands between two spaces to its words.

Owns what is one word, what is an identifier and of which parts. An identifier
is found by its parts in order, and by its whole in every spelling:
`parse_http_header`, `parseHTTPHeader` and `parse-http-header` are the parts
`parse http header` and the whole `parsehttpheader`. A script without spaces
(Chinese, Japanese, Thai and others, and Korean, whose words carry particles)
is found by pairs of characters.

Words hold letters and digits, and three signs that no text can bring in: `·`
stands for the dot of a number (`1·2·3`), `⁺` and `♯` for what `C++` and `C#`
end with. So whoever splits words at ASCII punctuation gets them back.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import cache, lru_cache
from typing import NamedTuple
from unicodedata import category

from knowrepo.index.folding import fold, plain

LONGEST_WORD = 256
"""A longer word is none: nobody looks for half a megabyte of base64."""
DOT = "·"

_JOINTS = r"(?:[-./']|_+|\\{1,2}|::)"
_SIGN = r"(?:(?:\+\+|#)(?![^\W_]))?"
_ASCII_RUN = re.compile(rf"(?:\.(?=[a-zA-Z]))?[a-zA-Z0-9]+(?:{_JOINTS}[a-zA-Z0-9]+)*{_SIGN}")
_ASCII_NAME = re.compile(rf"[a-z0-9]+{_SIGN}")
_POSSESSIVE = re.compile(r"'s(?![^\W_])", re.IGNORECASE)
_CONTRACTION = re.compile(r"'(?=(?:t|re|ve|ll|d|m)(?![^\W_]))", re.IGNORECASE)
_HARD = re.compile(r"/|\\+|::|(?<![0-9])\.|\.(?![0-9])")  # between the segments of a path
_SOFT = re.compile(r"[-_']+")  # between the words of a name
_JOINTS_INSIDE = re.compile(r"[-_'/\\:]+|(?<![0-9])\.|\.(?![0-9])")
_PART = re.compile(r"[0-9]+(?:\.[0-9]+)*|[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-z]+|[A-Z]+")
_HEXADECIMAL = re.compile(r"0[xX][0-9a-fA-F]+|(?=.*[0-9])(?=.*[a-fA-F])[0-9a-fA-F]{7,64}")
_SHORT_HASH = 7  # digits by which git shows a hash
_SIGNS = str.maketrans({".": DOT, "+": "⁺", "#": "♯"})


class Word(NamedTuple):
    """A word: ``whole`` in lower case, and its ``parts`` in order where it has several.

    ``others`` are further names by which it is looked for: the segments of a
    path, the shorter form of a version or a hash. ``closing`` is the last
    character of a run without spaces: it stands in documents, so that a
    character is found wherever it stands, and is nothing that a query asks for.
    """

    whole: str
    parts: tuple[str, ...] = ()
    others: tuple[str, ...] = ()
    closing: bool = False


def words_of(token: str) -> list[Word]:
    """Return the words of what stands between two spaces."""
    if token.isascii():
        return [word for run in _ASCII_RUN.findall(token) if (word := _word(run))]
    found: list[Word] = []
    for piece in _unspaced().split(plain(token)):
        if _unspaced().fullmatch(piece):
            found += _pairs(piece)
        elif piece.isascii():
            found += words_of(piece)
        else:
            found += (word for run in _any_run().findall(piece) if (word := _word(run)))
    return found


def placed(token: str) -> Iterator[tuple[int, int, tuple[str, ...]]]:
    """Yield the words of ``token``, each by all its names with where it starts and ends in it.

    After an identifier come its parts. They are the words of `words_of`, for whoever
    shows what was found.
    """
    text, origins = (token, range(len(token) + 1)) if token.isascii() else _origins(token)
    for start, end, word in _placed(text):
        names = tuple(filter(None, (word.whole, *word.others)))
        yield origins[start], origins[end], names
        part_start = start
        for part in word.parts:
            at = text.lower().find(part, part_start, end)
            if at >= 0:
                part_start = at + len(part)
                yield origins[at], origins[part_start], (part,)


def _placed(text: str) -> Iterator[tuple[int, int, Word]]:
    """Yield the words of what is plain already, each with its place."""
    start = 0
    for piece in (text,) if text.isascii() else _unspaced().split(text):
        if not piece.isascii() and _unspaced().fullmatch(piece):
            for at, word in enumerate(_pairs(piece), start):
                yield at, at + len(word.whole), word
        else:
            pattern = _ASCII_RUN if piece.isascii() else _any_run()
            for run in pattern.finditer(piece):
                word_or_none = _word(run[0])
                if word_or_none:
                    yield start + run.start(), start + run.end(), word_or_none
        start += len(piece)


def _origins(token: str) -> tuple[str, Sequence[int]]:
    """Return ``token`` plain, and for each character, and its end, where it comes from."""
    text = plain(token)
    origins = [at for at, character in enumerate(token) for _ in plain(character)]
    if len(origins) != len(text):  # characters that only together are one
        return text, [0] * len(text) + [len(token)]
    return text, [*origins, len(token)]


def name_parts(text: str) -> list[str]:
    """Return what stands between spaces and punctuation of a name, folded."""
    pattern = _ASCII_NAME if text.isascii() else _any_name()
    return [part.translate(_SIGNS) for part in pattern.findall(fold(text))]


def is_character(word: str) -> bool:
    """Say whether a word is one character of a script without spaces."""
    return len(word) == 1 and not word.isascii() and _unspaced().fullmatch(word) is not None


def _pairs(run: str) -> Iterator[Word]:
    for start in range(len(run) - 1):
        yield Word(run[start : start + 2])
    yield Word(run[-1], closing=len(run) > 1)


@lru_cache(maxsize=1 << 15)
def _word(run: str) -> Word | None:
    """Take one run of letters, digits and joints apart."""
    if run.isalpha() and (run.islower() or run.istitle() or run.isupper()):
        return Word(fold(run)) if len(run) <= LONGEST_WORD else None
    if run[-1] in "+#":
        return _with_sign(run)
    if run[0] == ".":  # `.NET`, `.env`: the dot is part of the name
        word = _word(run[1:])
        return word and word._replace(others=(*word.others, DOT + _written(run)))
    if "'" in run:
        run = _CONTRACTION.sub("", _POSSESSIVE.sub("", run))
    parts: list[str] = []
    others: list[str] = []
    segments = [segment for segment in _HARD.split(run) if segment]
    for segment in segments:
        own, more = _segment(segment)
        parts += own
        others += more
        if len(own) > 1 and len(segments) > 1:
            others.append(_written(segment))
    name = re.split(r"[/\\]", run)[-1]
    if "." in name and name != run:  # of a path the file's name counts by itself
        others.append(_written(name))
    return _within_bounds(_written(run), parts, others)


def _within_bounds(whole: str, parts: list[str], others: list[str]) -> Word | None:
    """Return a word of what is not too long of it."""
    if len(whole) > LONGEST_WORD:
        parts, others = ([n for n in names if len(n) <= LONGEST_WORD] for names in (parts, others))
        whole = parts[0] if len(parts) == 1 else ""
    if parts == [whole]:
        parts = []
    return Word(whole, tuple(parts), tuple(dict.fromkeys(others))) if whole or parts else None


def _with_sign(run: str) -> Word | None:
    """Take `C++`, `C#` and `libstdc++` as one word; a longer name counts without its sign too."""
    bare = run.rstrip("+#")
    word = _word(bare)
    if word is None or word.parts:
        return word
    whole = fold(bare) + run[len(bare) :].translate(_SIGNS)
    return Word(whole, (), (word.whole,) if len(bare) > 1 else ())


def _segment(text: str) -> tuple[list[str], list[str]]:
    """Take a name apart at its hyphens, at a change of case, and between letters and digits.

    Returns its parts and what else it is called.
    """
    if text.isalnum():
        return _parts(text)
    parts: list[str] = []
    others: list[str] = []
    for piece in filter(None, _SOFT.split(text)):
        own, more = _parts(piece)
        parts += own
        others += more
    return parts, others


def _parts(piece: str) -> tuple[list[str], list[str]]:
    """Return the parts of a piece without joints, and what else it is called."""
    whole = _written(piece)
    if piece.isalpha() and piece.islower():
        return [whole], []
    if _HEXADECIMAL.fullmatch(piece):
        return [whole], [whole[:_SHORT_HASH]] if len(whole) > _SHORT_HASH else []
    parts = [_written(part) for part in _PART.findall(piece)] if piece.isascii() else [whole]
    if len(parts) == 1 and DOT not in whole:
        return parts, []
    versions = [version for part in parts if DOT in part for version in _shorter(part)]
    if len(parts) == 2 and len(parts[0]) == 1 and parts[0].isalpha():  # `v1.2.3`, `E0432`
        return [whole], [*versions, parts[1]]
    if len(parts) > 2 and len(piece) < 2 * len(parts):  # letters and digits by chance
        return [whole], versions
    return parts, versions


def _shorter(version: str) -> list[str]:
    """Return `1·2` for `1·2·3`: who looks for a version may name fewer of its numbers."""
    if len(version) > LONGEST_WORD:  # no version, and its forms would fill the memory
        return []
    numbers = version.split(DOT)
    return [DOT.join(numbers[:length]) for length in range(2, len(numbers))]


def _written(text: str) -> str:
    """Return a name in the one form that all its spellings share."""
    if text.isascii() and text.isalnum():
        return text.lower()
    return fold(_JOINTS_INSIDE.sub("", text)).translate(_SIGNS)


@cache
def _unspaced() -> re.Pattern[str]:
    """Match a run of a script that puts no spaces between words, and Korean.

    Compiled when first needed: these wide classes take 20 ms.
    """
    return re.compile(
        "([\u3005-\u3007\u3040-\u30fa\u30fc-\u30ff\u3105-\u312f\u31a0-\u31bf\u31f0-\u31ff"
        "\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\uac00-\ud7a3\u1100-\u11ff"
        "\u0e00-\u0e4e\u0e81-\u0ece\u1000-\u1049\u1780-\u17d3"
        "\U00020000-\U0003ffff]+)"
    )


@cache
def _any_run() -> re.Pattern[str]:
    """Match a run as `_ASCII_RUN` does, of letters, digits and marks of any script."""
    character = _any_character()
    start = rf"(?:\.(?=[^\W\d_]))?{character}+"
    return re.compile(rf"{start}(?:{_JOINTS}{character}+)*{_SIGN}")


@cache
def _any_name() -> re.Pattern[str]:
    return re.compile(rf"{_any_character()}+{_SIGN}")


@cache
def _any_character() -> str:
    """Return a pattern of a letter, a digit or a mark: Python's `\\w` knows no marks."""
    marks: list[list[int]] = []
    for code in range(0x300, 0x20000):
        if category(chr(code)) in {"Mn", "Mc"}:
            if marks and marks[-1][1] == code - 1:
                marks[-1][1] = code
            else:
                marks.append([code, code])
    ranges = "".join(f"{chr(first)}-{chr(last)}" for first, last in marks)
    return rf"(?:[^\W_]|[{ranges}])"
