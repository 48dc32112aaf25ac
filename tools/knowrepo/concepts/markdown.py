"""The body of a concept as CommonMark: its sections and its links.

Owns markdown-it-py. Patterns do not understand Markdown: a link in a code block
is no link, and `#` in a shell snippet is no heading.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache

from markdown_it import MarkdownIt
from markdown_it.token import Token


@dataclass(frozen=True)
class Section:
    """The text under one heading, without that of the headings below it.

    ``headings`` is the path of headings, outermost first, empty before the
    first one; ``level`` is that of the last (1 for `#`, 0 before the first).
    ``line`` is the 0-based line in the body where ``text`` starts.
    ``blocks`` are the lines in ``text`` at which a block begins: text may be
    cut there, and nowhere else without harm.
    """

    headings: tuple[str, ...]
    level: int
    text: str
    line: int
    blocks: tuple[int, ...]


@dataclass(frozen=True)
class Link:
    """A link; ``line`` is 0-based in the body."""

    target: str
    line: int


@cache
def _parser() -> MarkdownIt:
    return MarkdownIt("commonmark").enable("table")


def sections(body: str) -> list[Section]:
    """Cut a body at its headings."""
    tokens = _parser().parse(body)
    lines = body.split("\n")
    starts: list[tuple[int, int]] = [(0, 0)]
    paths: list[list[tuple[int, str]]] = [[]]
    for index, token in enumerate(tokens):
        if token.type == "heading_open" and token.level == 0 and token.map:
            depth = int(token.tag[1:])
            above = [entry for entry in paths[-1] if entry[0] < depth]
            path = [*above, (depth, tokens[index + 1].content.strip())]
            starts.append((token.map[0], token.map[1]))
            paths.append(path)
    blocks = [t.map[0] for t in tokens if t.level == 0 and t.map and t.nesting >= 0]
    ends = [start for start, _ in starts[1:]] + [len(lines)]
    found = []
    for (_, first), path, end in zip(starts, paths, ends, strict=True):
        headings = tuple(title for _, title in path)
        level = path[-1][0] if path else 0
        inside = tuple(b - first for b in blocks if first <= b < end)
        found.append(Section(headings, level, "\n".join(lines[first:end]), first, inside))
    return found


def links(body: str) -> Iterator[Link]:
    """Yield every link and image of a body."""
    for token in _parser().parse(body):
        if token.type == "inline" and token.map:
            yield from _inline_links(token, token.map[0])


def _inline_links(token: Token, line: int) -> Iterator[Link]:
    for child in token.children or []:
        if child.type in {"softbreak", "hardbreak"}:
            line += 1
        target = child.attrGet("href") if child.type == "link_open" else None
        if child.type == "image":
            target = child.attrGet("src")
        if isinstance(target, str):
            yield Link(target, line)
