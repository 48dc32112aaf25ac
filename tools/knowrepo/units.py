"""How amounts are said to people, and long lines cut: one way for every command and page."""

from __future__ import annotations

LONGEST_TITLE = 200
"""Characters of a session's title that are given at all."""


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
    cut = line[: limit - 1]
    space = cut.rfind(" ")
    return (cut[:space] if space > limit // 2 else cut).rstrip(" ,;:.") + "…"


def duration(seconds: float) -> str:
    """Return a time as people say it: `40 s`, `12 min`, `3.5 h`."""
    if seconds < 99.5:
        return f"{seconds:.0f} s"
    if seconds < 99.5 * 60:
        return f"{seconds / 60:.0f} min"
    return f"{seconds / 3600:.1f} h"
