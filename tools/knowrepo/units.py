"""How amounts are said to people, and long lines cut: one way for every command and page."""

from __future__ import annotations

import re

LONGEST_TITLE = 200
"""Characters of a session's title that are given at all."""
_MOST_MARKS = 32  # of one character; more of them are a prank
_JOINER = "\u200d"
_IS_TONE = re.compile("[\U0001f3fb-\U0001f3ff\U000e0020-\U000e007f]").match  # and what flags spell
_IS_FLAG = re.compile("[\U0001f1e6-\U0001f1ff]").match


def size(number: int) -> str:
    """Return a number of bytes as people say it: `812 B`, `1.4 MB`, `230 MB`."""
    value = float(number)
    for unit in ("B", "kB", "MB"):
        if abs(value) < 999.5:
            whole = unit == "B" or abs(value) >= 99.5
            return f"{value:.0f} {unit}" if whole else f"{value:.1f} {unit}"
        value /= 1000
    return f"{value:.1f} GB"


def rate(a_second: float, *, in_bytes: bool = False) -> str:
    """Return how fast something goes, in the unit in which that is a number: `12.3/s`, `20/min`."""
    if in_bytes:
        return f"{size(int(a_second))}/s"
    if a_second >= 99.5:
        return f"{a_second:,.0f}/s"
    if a_second >= 1:
        return f"{a_second:.1f}/s"
    return f"{a_second * 60:.0f}/min" if a_second * 60 >= 1 else f"{a_second * 3600:.0f}/h"


def count(number: int, thing: str) -> str:
    """Return a number with the thing that it counts."""
    return f"{number:,} {thing}" if number == 1 else f"{number:,} {thing}s"


def shorten(text: str, limit: int) -> str:
    """Return ``text`` as one line of at most ``limit`` characters, cut at a word, with `…`."""
    line = " ".join(text.split())
    if len(line) <= limit:
        return line
    cut = line[: whole(line, limit - 1)]
    space = cut.rfind(" ")
    return (cut[:space] if space > limit // 2 else cut).rstrip(" ,;:.") + "…"


def whole(text: str, at: int) -> int:
    """Return ``at``, or the nearest place before it where a cut takes no character apart."""
    place = at
    while place > max(0, at - _MOST_MARKS) and splits(text, place):
        place -= 1
    return place if place and not splits(text, place) else at


def splits(text: str, at: int) -> bool:
    """Say whether a cut at ``at`` parts what is seen as one character: a letter and its accent,
    an emoji of several, a flag, a syllable of Korean.

    The rules of Unicode's grapheme clusters, as far as they need no table of their own.
    """
    if not 0 < at < len(text) or (text[at - 1].isascii() and text[at].isascii()):
        return text[max(at - 1, 0) : at + 1] == "\r\n"
    from unicodedata import category

    before, after = text[at - 1], text[at]
    if category(after)[0] == "M" or before == _JOINER or after == _JOINER or _IS_TONE(after):
        return True
    if _IS_FLAG(after) and _IS_FLAG(before):
        run = at
        while run and _IS_FLAG(text[run - 1]):
            run -= 1
        return (at - run) % 2 == 1
    return "\u1160" <= after <= "\u11ff" and "\u1100" <= before <= "\ud7a3"


def duration(seconds: float) -> str:
    """Return a time as people say it: `40 s`, `12 min`, `3.5 h`."""
    if seconds < 99.5:
        return f"{seconds:.0f} s"
    if seconds < 99.5 * 60:
        return f"{seconds / 60:.0f} min"
    return f"{seconds / 3600:.1f} h"
