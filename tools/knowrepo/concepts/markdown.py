"""The body of a concept as CommonMark: its sections, links and footnotes.

Owns markdown-it-py. Patterns do not understand Markdown: a link in a code block
is no link, and `#` in a shell snippet is no heading. One parse of the blocks
serves for everything; text inside a block is parsed only where it can hold what
is looked for, and within a bound, for brackets can be nested without end.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from typing import Any

from markdown_it import MarkdownIt
from markdown_it.token import Token

from knowrepo.concepts import shortcuts

_MOST_BRACKETS = 3_000  # in one paragraph; beyond, the inline parser takes more than linear time
_MOST_CELLS = 20_000  # pipes in a body: a row of a table is filled up with empty cells
_FAR = 20_000  # characters of a line in which a place is looked for
_LINE_END = re.compile(r"\r\n?|\n")  # a lone CR ends a line too
_FOOTNOTE = re.compile(r"\[\^([^\s\[\]^]+)\](:?)")
_WIKILINK = re.compile(r"!?\[\[([^\[\]|\n]+)(?:\|[^\[\]\n]*)?\]\]")
_ANCHOR = re.compile(r"""<[a-zA-Z][^<>]{0,200}?\b(?:id|name)\s*=\s*["']?([^\s"'<>]+)""")
_CAN_HOLD = re.compile(r"\]\(|\[\^|\[\[")
_CELL_WITH_CODE = re.compile(r"^(?=[^\n]*\|)[^\n`]*`", re.MULTILINE)
_CELL_WITH_LINK = re.compile(r"^(?=[^\n]*\|)[^\n\[]*\[", re.MULTILINE)


@dataclass(frozen=True)
class Section:
    """The text under one heading, without that of the headings below it.

    ``headings`` is the path of headings, outermost first, empty before the
    first one; ``level`` is that of the last (1 for `#`, 0 before the first).
    ``line`` is the 0-based line in the body where ``text``, as it stands there, starts.
    """

    headings: tuple[str, ...]
    level: int
    text: str
    line: int


@dataclass(frozen=True)
class Link:
    """A link or image, its target as written; ``line`` and ``column`` are 0-based in the body."""

    target: str
    line: int
    column: int = 0


@dataclass(frozen=True)
class Heading:
    """A heading of the body itself, not of a quotation; ``line`` is 0-based."""

    level: int
    text: str
    line: int


@dataclass(frozen=True)
class Outline:
    """What a check wants to know of a body; lines and columns are 0-based in it.

    ``footnotes`` are references, ``definitions`` the labels that are defined.
    ``code`` are the lines that blocks of code take, ends excluded; ``entries``
    counts links that stand in a list. ``skipped`` are lines of blocks that
    were too large to be looked into.
    """

    headings: tuple[Heading, ...] = ()
    links: tuple[Link, ...] = ()
    footnotes: tuple[Link, ...] = ()
    definitions: frozenset[str] = frozenset()
    wikilinks: tuple[Link, ...] = ()
    anchors: frozenset[str] = frozenset()
    code: tuple[tuple[int, int], ...] = ()
    entries: int = 0
    skipped: tuple[int, ...] = ()


@cache
def _parser() -> MarkdownIt:
    return MarkdownIt("commonmark").enable("table")


@cache
def _block_parser(without: frozenset[str]) -> MarkdownIt:
    parser = MarkdownIt("commonmark").enable("table")
    parser.disable(sorted(without | {"inline", "text_join"}), ignoreInvalid=True)
    return parser


def _any_target(url: str) -> bool:  # noqa: ARG001
    return True


@cache
def _inline_parser() -> MarkdownIt:
    """A parser of text in blocks that keeps targets as written; emphasis hides no link."""
    parser = MarkdownIt("commonmark")
    parser.inline.ruler.disable(["emphasis"])
    parser.inline.ruler2.disable(["balance_pairs", "emphasis", "fragments_join"])
    parser.normalizeLink = lambda url: url  # type: ignore[method-assign]
    parser.validateLink = _any_target  # type: ignore[method-assign]
    return parser


def sections(body: str) -> list[Section]:
    """Cut a body at its headings."""
    tokens = _block_parser(frozenset()).parse(body)
    ends_of_lines = [match.span() for match in _LINE_END.finditer(body)]
    begins = [0, *(end for _, end in ends_of_lines)]
    stops = [*(start for start, _ in ends_of_lines), len(body)]
    starts: list[tuple[int, int]] = [(0, 0)]
    paths: list[list[tuple[int, str]]] = [[]]
    for index, token in enumerate(tokens):
        if token.type == "heading_open" and token.level == 0 and token.map:
            depth = int(token.tag[1:])
            above = [entry for entry in paths[-1] if entry[0] < depth]
            path = [*above, (depth, tokens[index + 1].content.strip())]
            starts.append((token.map[0], token.map[1]))
            paths.append(path)
    ends = [start for start, _ in starts[1:]] + [len(begins)]
    found = []
    for (_, first), path, end in zip(starts, paths, ends, strict=True):
        headings = tuple(title for _, title in path)
        level = path[-1][0] if path else 0
        text = body[begins[first] : stops[end - 1]] if first < end else ""
        found.append(Section(headings, level, text, first))
    return found


def links(body: str) -> Iterator[Link]:
    """Yield every link and image of a body."""
    yield from outline(body).links


def outline(body: str) -> Outline:
    """Take a body apart, once for all checks."""
    text = shortcuts.shortened(body)
    without = shortcuts.idle_rules(text)
    if not _cells_matter(body):
        without.add("table")
    env: dict[str, Any] = {}
    tokens = _block_parser(frozenset(without)).parse(text, env)
    reader = _Reader(body, env)
    for index, token in enumerate(tokens):
        reader.take(token, tokens[index + 1] if index + 1 < len(tokens) else token)
    return reader.outline()


def _cells_matter(body: str) -> bool:
    """Say whether a table must be read cell by cell.

    Links stand in its lines all the same. Only a code span ends with its cell,
    so it matters where a table has both. A row may be filled up with more empty
    cells than anybody has written, so very large tables are read as lines.
    """
    return (
        _CELL_WITH_CODE.search(body) is not None
        and _CELL_WITH_LINK.search(body) is not None
        and body.count("|") <= _MOST_CELLS
    )


class _Reader:
    """Gathers an outline, block by block."""

    def __init__(self, body: str, env: dict[str, Any]) -> None:
        self._lines = _LINE_END.split(body)
        references: dict[str, Any] = env.get("references", {})
        # `[^label]: target` is a footnote, though CommonMark takes it for a reference.
        notes = {key: references.pop(key) for key in list(references) if key.startswith("^")}
        self._env = env
        self._has_references = bool(references)
        self._headings: list[Heading] = []
        self._links = [Link(note["href"], note["map"][0]) for note in notes.values()]
        self._footnotes: list[Link] = []
        self._definitions = {key[1:].casefold() for key in notes}
        self._wikilinks: list[Link] = []
        self._anchors: set[str] = set()
        self._code: list[tuple[int, int]] = []
        self._skipped: list[int] = []
        self._lists = 0
        self._entries = 0

    def outline(self) -> Outline:
        return Outline(
            tuple(self._headings), tuple(self._links), tuple(self._footnotes),
            frozenset(self._definitions), tuple(self._wikilinks), frozenset(self._anchors),
            tuple(self._code), self._entries, tuple(self._skipped),
        )  # fmt: skip

    def take(self, token: Token, follows: Token) -> None:
        if token.type == "inline" and token.map:
            self._take_text(token.content, token.map[0], token.map[1])
        elif token.type in {"fence", "code_block"} and token.map:
            self._code.append((token.map[0], token.map[1]))
        elif token.type == "html_block":
            self._anchors.update(_ANCHOR.findall(token.content))
        elif token.type == "heading_open" and token.level == 0 and token.map:
            self._headings.append(Heading(int(token.tag[1:]), follows.content, token.map[0]))
        elif token.type == "list_item_open":
            self._lists += 1
        elif token.type == "list_item_close":
            self._lists -= 1

    def _take_text(self, text: str, first: int, end: int) -> None:
        if "<" in text:
            self._anchors.update(_ANCHOR.findall(text))
        if not (_CAN_HOLD.search(text) or (self._has_references and "[" in text)):
            return
        if text.count("[") + text.count("]") > _MOST_BRACKETS:
            self._skipped.append(first)
            return
        if pieces := shortcuts.pieces(text):
            self._take_pieces(pieces, first, end)
            return
        children: list[Token] = []
        parser = _inline_parser()
        parser.inline.parse(text, parser, self._env, children)
        cursor = _Cursor(self._lines, first, end)
        for child in children:
            if child.type in {"softbreak", "hardbreak"}:
                cursor.next_line()
                continue
            name = {"link_open": "href", "image": "src"}.get(child.type)
            target = child.attrGet(name) if name else None
            if isinstance(target, str):
                self._links.append(Link(target, *cursor.find_target(target)))
                self._entries += self._lists > 0
        self._take_footnotes(children, _Cursor(self._lines, first, end))

    def _take_pieces(self, pieces: Iterator[shortcuts.Piece], first: int, end: int) -> None:
        """Gather links and footnotes where no parser is needed to tell them."""
        at_link, at_note = _Cursor(self._lines, first, end), _Cursor(self._lines, first, end)
        for piece in pieces:
            if piece.target is not None:
                self._links.append(Link(piece.target, *at_link.find_target(piece.target)))
                self._entries += self._lists > 0
            elif piece.note is not None:
                self._footnotes.append(Link(piece.note, *at_note.find(f"[^{piece.note}]")))
            for cursor in (at_link, at_note):
                cursor.next_line(piece.lines)

    def _take_footnotes(self, children: list[Token], cursor: _Cursor) -> None:
        """Gather `[^label]` and `[[target]]`, plain text to CommonMark, outside of code."""
        run = ""
        for child in [*children, Token("end", "", 0)]:
            if child.type == "text":
                run += child.content
                continue
            for match in _FOOTNOTE.finditer(run) if "[^" in run else ():
                place = cursor.find(match.group(0))
                label = match.group(1)
                if match.group(2) and place[1] <= 3:
                    self._definitions.add(label.casefold())
                else:
                    self._footnotes.append(Link(label, *place))
            for match in _WIKILINK.finditer(run) if "[[" in run else ():
                place = cursor.find(match.group(0))
                self._wikilinks.append(Link(match.group(1).strip(), *place))
            run = ""
            if child.type in {"softbreak", "hardbreak"}:
                cursor.next_line()


class _Cursor:
    """Finds in the lines of a block what the parser gives without a place, in its order."""

    def __init__(self, lines: list[str], first: int, end: int) -> None:
        self._lines = lines
        self._line = first
        self._end = max(end, first + 1)
        self._column = 0

    def next_line(self, times: int = 1) -> None:
        for _ in range(times):
            if self._line + 1 < self._end:
                self._line += 1
                self._column = 0

    def find_target(self, target: str) -> tuple[int, int]:
        place = self._search(f"]({target}", 2) or self._search(f"](<{target}", 3)
        if place is None:  # an image in a link comes after it, though it stands before
            at = self._lines[self._line].find(f"]({target}", 0, _FAR) if target else -1
            place = (self._line, at + 2) if at >= 0 else self._search(target, 0)
        return place or (self._line, 0)

    def find(self, text: str) -> tuple[int, int]:
        return self._search(text, 0) or (self._line, 0)

    def _search(self, text: str, offset: int) -> tuple[int, int] | None:
        """Look in this line and, as code and labels may span lines, in the next two."""
        for line in range(self._line, min(self._line + 3, self._end)):
            start = self._column if line == self._line else 0
            text_of_line = self._lines[line] if line < len(self._lines) else ""
            at = text_of_line.find(text, start, start + _FAR)
            if at >= 0:
                self._line, self._column = line, at + len(text)
                return line, at + offset
        return None
