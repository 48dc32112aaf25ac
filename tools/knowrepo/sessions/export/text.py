"""Text of a transcript, made safe and short enough to be shown.

Owns how long texts and lines are cut. What is taken out before any page is
written is owned by `knowrepo.terminal`; escaping for one format is that format's
business.
"""

from __future__ import annotations

from datetime import UTC, datetime
from typing import NamedTuple

from knowrepo.terminal import plain
from knowrepo.units import count


def shown(text: str) -> str:
    """Return ``text`` as it is shown: nothing in it that is obeyed, and all of it UTF-8."""
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    if text.replace("\n", "").replace("\t", "").isprintable():  # nearly all text, and quick
        return text
    return plain(text).encode("utf-8", "replace").decode()


def one_line(text: str, most: int) -> str:
    """Return the beginning of ``text``, one line of at most ``most`` characters, cut at a word."""
    line = " ".join(shown(text[: most * 4]).split())
    if len(line) <= most and len(text) <= most * 4:
        return line
    line = line[: most - 1]
    space = line.rfind(" ")
    return (line[:space] if space > most // 2 else line).rstrip(" ,;:.") + "…"


def first_line(text: str, most: int) -> str:
    """Return the first line of ``text`` that is not blank, at most ``most`` characters of it."""
    start = text[: most * 40].lstrip()
    return one_line(start.partition("\n")[0], most)


class Cut(NamedTuple):
    """A text with its middle left out: ``left_out`` characters between ``head`` and ``tail``."""

    head: str
    left_out: int = 0
    tail: str = ""

    @property
    def lines(self) -> int:
        """The number of lines that are shown."""
        return self.head.count("\n") + bool(self.head) + self.tail.count("\n") + bool(self.tail)


def cut(text: str, most: int) -> Cut:
    """Leave out the middle of a text of more than ``most`` characters, at line ends if near.

    Three quarters of what stays are its beginning.
    """
    if len(text) <= most:
        return Cut(text)
    first, last = most - most // 4, len(text) - most // 4
    if (at := text.rfind("\n", first // 2, first)) != -1:
        first = at
    if (at := text.find("\n", last, last + most // 8)) != -1:
        last = at + 1
    return Cut(text[:first], last - first, text[last:])


def shorter(text: Cut, most: int) -> Cut:
    """Leave out more of the middle, so that at most ``most`` characters stay."""
    if not text.left_out:
        return cut(text.head, most)
    head = text.head[: most - most // 4]
    tail = text.tail[max(0, len(text.tail) - most // 4) :]
    dropped = len(text.head) - len(head) + len(text.tail) - len(tail)
    return Cut(head, text.left_out + dropped, tail)


def note(left_out: int, thing: str) -> str:
    """Return the words that stand where something was left out."""
    return f"{count(left_out, thing)} left out; `know export --full` shows all"


def moment(time: str) -> datetime | None:
    """Return the moment that a record's time names, in UTC; None for what is no time."""
    try:
        found = datetime.fromisoformat(time)
        return found.astimezone(UTC) if found.tzinfo else found.replace(tzinfo=UTC)
    except (ValueError, OverflowError):
        return None
