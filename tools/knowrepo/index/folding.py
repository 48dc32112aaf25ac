"""One form for all the ways in which the same characters are written.

Owns the compatibility forms (full and half width, ligatures), diacritics and
the letters that only look like one with a diacritic. Case is left to the caller
where it still tells something. What a mark means depends on the script: in
Latin and Greek it decorates a letter, in Devanagari or Thai it is a vowel, so
it stays.
"""

from __future__ import annotations

import re
import unicodedata

# Marks that a writer may leave out: accents, Hebrew points, Arabic vowels and the stretching of
# a letter; and characters without width. U+0306 on Cyrillic и makes another letter; see below.
_OPTIONAL = re.compile(
    "[\u0300-\u036f\u0591-\u05bd\u05bf\u05c1\u05c2\u05c4\u05c5\u05c7\u0610-\u061a\u0640"
    "\u064b-\u065f\u0670\u06d6-\u06dc\u06df-\u06e4\u06e7\u06e8\u06ea-\u06ed"
    "\u00ad\u200c\u200d\u2060\ufe00-\ufe0f\ufeff]"
)
# й and ї are letters of their own, as are their kin; ё is written е as often as not.
_CYRILLIC_LETTER = re.compile("[\u0418\u0438\u0423\u0443]\u0306|[\u0406\u0456]\u0308")
_LETTERS = str.maketrans(
    {
        "ß": "ss", "ẞ": "SS", "æ": "ae", "Æ": "AE", "œ": "oe", "Œ": "OE", "ø": "o", "Ø": "O",
        "ł": "l", "Ł": "L", "đ": "d", "Đ": "D", "ð": "d", "Ð": "D", "þ": "th", "Þ": "TH",
        "ħ": "h", "Ħ": "H", "ı": "i", "ŧ": "t", "Ŧ": "T",
        "’": "'", "‘": "'", "ʼ": "'", "ʹ": "'", "‐": "-", "\u200b": " ",
    }
)  # fmt: skip


def plain(text: str) -> str:
    """Return ``text`` without diacritics and compatibility forms, in the case that it has."""
    if text.isascii():
        return text
    decomposed = unicodedata.normalize("NFKD", text)
    letters = _CYRILLIC_LETTER.sub(lambda m: unicodedata.normalize("NFC", m.group()), decomposed)
    return unicodedata.normalize("NFC", _OPTIONAL.sub("", letters).translate(_LETTERS))


def fold(text: str) -> str:
    """Return ``text`` in lower case, without diacritics and compatibility forms."""
    if text.isascii():
        return text.lower()
    # Lower case has forms that are folded in turn, and some letters have theirs only then.
    return plain(plain(text).casefold())
