"""Where a long text may be cut: at the boundaries of Markdown's blocks, told line by line.

Owns the boundaries that `chunk` cuts at, in concepts and in what people and
agents write; a change of them is a change of the chunk rule. It is no parser:
turns of a session are many, and what it takes for a block need only be right
about where a cut does harm.

A fence, a table, an item of a list stay whole where they fit into a piece; what
is longer is cut inside at the best boundary it has, at last at its line ends. A
piece is the text as it stands: a fence that had to be cut is not closed and
opened again, for what is shown and searched is what was written.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from enum import IntEnum
from itertools import pairwise

_LINE = re.compile(r"[^\r\n]*(?:\r\n?|\n|\Z)")
_FENCE = re.compile(r"[ \t]*(`{3,}(?=[^`\r\n]*[\r\n]*\Z)|~{3,})")
_ITEM = re.compile(r"[ \t]*(?:[-*+]|\d{1,9}[.)])[ \t]")
_HEADING = re.compile(r" {0,3}#{1,6}[ \t]")
_TABLE = re.compile(r"[ \t]*\|")
_INDENTED = re.compile(r" {2,}|\t")
_CODE = re.compile(r" {4,}|\t")
_BLANK_LINES = re.compile(r"(?:[^\S\r\n]*(?:\r\n?|\n))+")
_INSIDE_A_LINE = (". ", "。", " ")


class Boundary(IntEnum):
    """How good it is to cut before a line."""

    LINE = 1  # inside a block
    INNER = 2  # between the blocks of one item; after a heading or what ends with a colon
    BLOCK = 3


def cut(text: str, limit: int) -> list[str]:
    """Cut ``text`` into pieces of at most ``limit`` characters, at the best boundaries.

    All of it is in the pieces but blank lines at their ends.
    """
    if len(text) <= limit and text and text == text.strip():
        return [text]
    return [text[start:end] for start, end in spans(text, limit)]


def spans(text: str, limit: int) -> list[tuple[int, int]]:
    """Return where the pieces of `cut` start and end in ``text``."""
    if len(text) <= limit:
        start, end = _trimmed(text, 0, len(text))
        return [(start, end)] if end > start else []
    found: list[tuple[int, int]] = []
    first = last = 0  # of the piece that is being filled
    for start, end, begins_long in _atoms(text, limit):
        begin, full = _trimmed(text, first, end)
        # What is cut anyway fills a piece up, but only one that has room for much of it.
        if last > first and (full - begin > limit or (begins_long and 2 * (last - first) > limit)):
            found.append(_trimmed(text, first, last))
            first = start
        last = end
    found.append(_trimmed(text, first, last))
    return [(start, end) for start, end in found if end > start]


def _trimmed(text: str, start: int, end: int) -> tuple[int, int]:
    """Leave out blank lines at both ends; the first line keeps its indentation."""
    blank = _BLANK_LINES.match(text, start, end)
    start = blank.end() if blank else start
    return start, start + len(text[start:end].rstrip())


def _atoms(text: str, limit: int) -> Iterator[tuple[int, int, bool]]:
    """Yield what is not cut: (start, end, whether something too long for a piece begins here)."""
    starts = list(_line_starts(text))
    yield from _split(text, starts, len(text), Boundary.BLOCK, limit)


def _split(
    text: str, lines: list[tuple[int, Boundary]], stop: int, level: Boundary, limit: int
) -> Iterator[tuple[int, int, bool]]:
    """Split lines at the boundaries of a level, and what is too long at those below it."""
    bounds = [n for n, (_, rank) in enumerate(lines) if n == 0 or rank >= level]
    for n, following in pairwise([*bounds, len(lines)]):
        start = lines[n][0]
        end = lines[following][0] if following < len(lines) else stop
        begin, full = _trimmed(text, start, end)
        if full - begin <= limit:
            yield start, end, False
            continue
        if level > Boundary.LINE:
            parts = _split(text, lines[n:following], end, Boundary(level - 1), limit)
        else:
            parts = _split_line(text, start, end, limit)
        for part, (one, other, _) in enumerate(parts):
            yield one, other, part == 0


def _split_line(text: str, start: int, end: int, limit: int) -> Iterator[tuple[int, int, bool]]:
    """Cut one long line after a sentence or a word in the second half of a piece."""
    while end - start > limit:
        at = start + limit
        for sign in _INSIDE_A_LINE:
            found = text.rfind(sign, start + limit // 2, at)
            if found != -1:
                at = found + len(sign)
                break
        yield start, at, False
        start = at
    yield start, end, False


def _line_starts(text: str) -> Iterator[tuple[int, Boundary]]:
    """Yield where each line starts, and how good it is to cut before it."""
    scanner = _Scanner()
    for match in _LINE.finditer(text):
        if match.end() > match.start():
            yield match.start(), scanner.boundary(match.group())


class _Scanner:
    """Goes through the lines of a text and tells where blocks begin."""

    def __init__(self) -> None:
        self._fence = ""  # what closes the open one
        self._in_list = False
        self._after = ""  # the last line that is not blank
        self._blank = self._fence_closed = False

    def boundary(self, line: str) -> Boundary:
        if self._fence:
            self._close(line)
            return Boundary.LINE
        if not line.strip():
            self._blank = True
            return Boundary.LINE
        rank = self._rank(line)
        self._blank = self._fence_closed = False
        self._after = line
        fence = _FENCE.match(line)
        self._fence = fence.group(1) if fence else ""
        return rank

    def _close(self, line: str) -> None:
        bare = line.strip()
        if len(bare) >= len(self._fence) and not bare.strip(self._fence[0]):
            self._fence = ""
            self._fence_closed = True

    def _rank(self, line: str) -> Boundary:
        indented = _INDENTED.match(line) is not None
        starts = self._starts_block(line)
        if _ITEM.match(line):
            within = self._in_list and indented
            self._in_list = True
        else:
            within = self._in_list and (indented or not starts)
            self._in_list = within
        if not starts:
            return Boundary.LINE
        lead = self._after.rstrip()
        leads = lead.endswith(":") or _HEADING.match(lead) is not None
        return Boundary.INNER if within or leads else Boundary.BLOCK

    def _starts_block(self, line: str) -> bool:
        if _HEADING.match(line) or _ITEM.match(line) or _FENCE.match(line) or self._fence_closed:
            return True
        if self._blank:  # a blank line inside of indented code parts nothing
            code = _CODE.match(line) and _CODE.match(self._after) and not self._in_list
            return not code
        return (_TABLE.match(line) is None) != (_TABLE.match(self._after) is None)
