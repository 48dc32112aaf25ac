"""A concept's file cut into statements: front matter keys, headings, paragraphs, list items.

Owns where one statement ends and the next begins. It reads lines, not a tree: a line of a
table, an item of a list, a definition of a footnote is a statement, a fenced block is one.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from knowrepo.concepts.document import Document

_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})")
_HEADING = re.compile(r" {0,3}#{1,6}(?:[ \t]|$)")
_BEGINS = re.compile(r"[ \t]*(?:[-*+]|\d{1,9}[.)])[ \t]+\S|[ \t]*\||\[\^[^\]\s]+\]:")
_NOTES = re.compile(r"\[\^([^\]\s]{1,200})\]")


class Statement(NamedTuple):
    """Lines ``start`` to ``end`` of a file, 1-based and both included.

    ``key`` is that of the front matter, else empty. ``notes`` are the ids of footnotes.
    """

    start: int
    end: int
    key: str
    text: str
    notes: tuple[str, ...]


def statements(document: Document, lines: Sequence[str]) -> list[Statement]:
    """Cut a file into statements, in order; ``lines`` are those that ``document`` was read of."""
    found = list(_keys(document, lines)) if document.has_front else []
    for start, end in _blocks(lines, document.body_line):
        text = "\n".join(lines[start - 1 : end])
        found.append(Statement(start, end, "", text, tuple(dict.fromkeys(_NOTES.findall(text)))))
    return found


def _keys(document: Document, lines: Sequence[str]) -> Iterator[Statement]:
    closing = document.body_line - 1  # the line of `---`
    starts = sorted((line, key) for key, line in document.lines.items())
    for number, (start, key) in enumerate(starts):
        after = starts[number + 1][0] if number + 1 < len(starts) else closing
        end = max(start, after - 1)
        while end > start and not lines[end - 1].strip():
            end -= 1
        yield Statement(start, end, key, "\n".join(lines[start - 1 : end]), ())


def _blocks(lines: Sequence[str], first: int) -> Iterator[tuple[int, int]]:
    """Yield the first and the last line of each block of a body."""
    start, fence = 0, ""
    for number, line in enumerate(lines[first - 1 :], first):
        opening = _FENCE.match(line)
        if fence:
            if opening and opening[1].startswith(fence) and not line.strip(" \t`~"):
                yield start, number
                start, fence = 0, ""
            continue
        alone = bool(_HEADING.match(line))
        if start and (alone or opening or not line.strip() or _BEGINS.match(line)):
            yield start, number - 1
            start = 0
        if opening:
            start, fence = number, opening[1]
        elif alone:
            yield number, number
        elif line.strip() and not start:
            start = number
    if start:
        yield start, len(lines)
