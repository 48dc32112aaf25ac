"""How amounts are said to people: one spelling for every command and every page."""

from __future__ import annotations


def size(number: int) -> str:
    """Return a number of bytes as people say it: `812 B`, `1.4 MB`, `230 MB`."""
    value = float(number)
    for unit in ("B", "kB", "MB"):
        if abs(value) < 999.5:
            whole = unit == "B" or abs(value) >= 99.5
            return f"{value:.0f} {unit}" if whole else f"{value:.1f} {unit}"
        value /= 1000
    return f"{value:.1f} GB"


def count(number: int, thing: str) -> str:
    """Return a number with the thing that it counts."""
    return f"{number:,} {thing}" if number == 1 else f"{number:,} {thing}s"
