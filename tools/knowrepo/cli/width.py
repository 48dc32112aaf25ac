"""How many columns of a terminal a text takes up: a wide character two, an accent none."""

from __future__ import annotations


def columns_of(text: str) -> int:
    """Return how many columns of a terminal ``text`` takes up."""
    if text.isascii():
        return len(text)
    from rich.cells import cell_len

    return cell_len(text)


def cut(text: str, room: int) -> str:
    """Return ``text`` in at most ``room`` columns, with an ellipsis where it is longer."""
    if columns_of(text) <= room:
        return text
    text = text[:room]
    while text and columns_of(text) > room - 1:
        text = text[:-1]
    return text.rstrip() + "…"
