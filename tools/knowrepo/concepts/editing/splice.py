"""Which characters of a front matter change when one value of it does.

Owns the layout: indentation, commas, dashes, the lines that an entry takes up.
Every function is pure and gives the ways to make a change, the best one first,
each as splices of the block; `edit` takes the first that reads back as meant.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from knowrepo.concepts import compose
from knowrepo.concepts.compose import Value
from knowrepo.concepts.editing.spans import Node, dash, other_kind

_COLON = re.compile(r"[ \t]*:")
_COMMA = re.compile(r"\s*,")
_REST_OF_LINE = re.compile(r"[ \t]*(?:#[^\n]*)?(?:\n|\Z)")


class Splice(NamedTuple):
    """The characters ``start`` to ``end`` become ``text``."""

    start: int
    end: int
    text: str


Way = list[Splice]


def apply(block: str, splices: Iterable[Splice]) -> str:
    """Return the block after all the splices, whose places are those before any of them."""
    for start, end, text in sorted(splices, reverse=True):
        block = block[:start] + text + block[end:]
    return block


def after_colon(block: str, key: Node) -> int | None:
    """Return where the `:` behind a key ends; None where the key is no plain `key:`."""
    match = _COLON.match(block, key.end)
    asked = block[_line_start(block, key.start) : key.start].rstrip().endswith("?")
    return match.end() if match and key.kind == "scalar" and not asked else None


def styled(text: str, old: Node) -> list[str]:
    """Return how a text may be written in the place of ``old``, or beside it."""
    ways = [compose.quoted(text)]
    if old.kind != "scalar" or old.style in {"|", ">"}:
        return [compose.scalar(text), *ways]
    if old.style == "'" and text.isprintable():
        return ["'" + text.replace("'", "''") + "'", *ways]
    plain = text.isprintable() and text == text.strip()
    if not old.style and plain and other_kind(text) in {"", other_kind(old.value)}:
        return [text, *ways]
    return ways


def replacing(block: str, node: Node, opened: int, value: Value, eol: str) -> list[Way]:
    """Give a value in the place of a node; ``opened`` is where its `:` or `-` ends."""
    if isinstance(value, str) and not node.is_block:
        texts = styled(value, node)
    else:
        texts = [compose.flow(value)]
    if not node.is_block:
        gap = "" if node.begin < node.end or block[node.begin - 1] in " \t" else " "
        return [[Splice(node.begin, node.end, gap + text)] for text in texts]
    first_line = _line_start(block, node.begin)
    indent = block[first_line : node.begin]
    if indent.strip():  # it begins behind the dash of an item
        return [[Splice(node.begin, node.end, text)] for text in texts]
    ways = []
    if value and not isinstance(value, str):
        lines = _lines(value, " " * len(indent))
        ways.append([Splice(node.begin, node.end, eol.join(lines).lstrip(" "))])
    last = next_line(block, node.outer)
    ways += [[Splice(opened, opened, f" {text}"), Splice(first_line, last, "")] for text in texts]
    return ways


def adding_entry(
    block: str, parent: Node, after: int | None, key: str, value: Value, eol: str
) -> list[Way]:
    """Add a key to a map, behind its entry number ``after``, at its head where that is None."""
    entries = parent.entries
    if parent.flow:
        text = f"{compose.scalar(key)}: {compose.flow(value)}"
        if not entries:
            return [[Splice(parent.begin + 1, parent.begin + 1, text)]]
        if after is None:
            return [[Splice(entries[0][0].start, entries[0][0].start, f"{text}, ")]]
        end = entries[after][1].end
        return [[Splice(end, end, f", {text}")]]
    start = entries[0][0].start
    before = block[_line_start(block, start) : start]
    text = eol.join([*compose.entry(key, value, " " * len(before)), ""])
    if after is None and not before.strip():
        place = start - len(before)
    else:
        place = next_line(block, entries[-1 if after is None else after][1].outer)
    return [[Splice(place, place, text)]]


def adding_item(block: str, parent: Node, value: Value, eol: str) -> list[Way]:
    """Add an item at the end of a list that has one, or of `[]`."""
    if not parent.children:
        return [[Splice(parent.begin + 1, parent.begin + 1, compose.flow(value))]]
    last = parent.children[-1]
    texts = styled(value, last) if isinstance(value, str) else [compose.flow(value)]
    if parent.flow:
        return [[Splice(last.end, last.end, f", {text}")] for text in texts]
    mark = dash(block, parent.children[0].start)
    column = mark - _line_start(block, mark)
    place = next_line(block, last.outer)
    if isinstance(value, str):
        gap = block[mark + 1 : parent.children[0].start]
        gap = gap if gap and not gap.strip(" ") else " "
        lines = [f"{' ' * column}-{gap}{text}" for text in texts]
    else:
        lines = [eol.join(_lines([value], " " * column))]
    return [[Splice(place, place, line + eol)] for line in lines]


def cutting_entry(block: str, parent: Node, number: int) -> list[Way]:
    """Take an entry out of a map that has others, or is written as `{…}`."""
    entries = parent.entries
    key, value = entries[number]
    if parent.flow:
        before = entries[number - 1][1].end if number else None
        return _cutting(block, key.start, value.end, before)
    if len(entries) == 1:
        return []
    if block[_line_start(block, key.start) : key.start].strip():  # behind a dash
        return [[Splice(key.start, entries[number + 1][0].start, "")]]
    return [[Splice(_line_start(block, key.start), next_line(block, value.outer), "")]]


def cutting_item(block: str, parent: Node, number: int, opened: int) -> list[Way]:
    """Take an item out of a list; the last one leaves `[]`."""
    items = parent.children
    item = items[number]
    if parent.flow:
        return _cutting(block, item.start, item.end, items[number - 1].end if number else None)
    if len(items) == 1:
        return replacing(block, parent, opened, [], "\n")
    mark = dash(block, item.start)
    if block[_line_start(block, mark) : mark].strip():  # behind a dash of the list around
        return [[Splice(mark, dash(block, items[number + 1].start), "")]] if not number else []
    return [[Splice(_line_start(block, mark), next_line(block, item.outer), "")]]


def wrapping(block: str, node: Node) -> list[Way]:
    """Make a map the one item of a list."""
    if node.flow:
        return [[Splice(node.start, node.start, "["), Splice(node.end, node.end, "]")]]
    splices = [Splice(node.begin, node.begin, "- ")]
    for match in re.finditer(r"\n(?=[^\r\n])", block[node.begin : node.end]):
        place = node.begin + match.end()
        splices.append(Splice(place, place, "  "))
    return [splices]


def next_line(block: str, end: int) -> int:
    """Return where the line behind the one that ends a value begins."""
    if end and block[end - 1] == "\n":  # a block scalar that keeps its last line ends
        return end
    place = block.find("\n", end)
    return len(block) if place < 0 else place + 1


def _line_start(block: str, place: int) -> int:
    return block.rfind("\n", 0, place) + 1


def _cutting(block: str, start: int, end: int, before: int | None) -> list[Way]:
    """Take what stands between commas out; ``before`` is where its predecessor ends."""
    comma = _COMMA.match(block, end)
    after = comma.end() if comma else end
    line = _line_start(block, start)
    rest = _REST_OF_LINE.match(block, after)
    if not block[line:start].strip() and rest:  # it has its lines for itself
        return [[Splice(line, rest.end(), "")]]
    if comma:
        spaces = re.compile(r"[ \t]*").match(block, after)
        return [[Splice(start, spaces.end() if spaces else after, "")]]
    if before is not None and not block[before:start].strip(" \t\r\n,"):
        return [[Splice(before, end, "")]]
    return [[Splice(start, end, "")]]


def _lines(value: Sequence[Value] | Mapping[str, Value], indent: str) -> list[str]:
    """Return a list or a map as lines, its dashes or keys at ``indent``."""
    if isinstance(value, Mapping):
        return [line for key, part in value.items() for line in compose.entry(key, part, indent)]
    lines: list[str] = []
    for item in value:
        if isinstance(item, Mapping) and item:
            inside = _lines(item, f"{indent}  ")
            lines += [f"{indent}- {inside[0].lstrip(' ')}", *inside[1:]]
        else:
            lines.append(f"{indent}- {compose.flow(item)}")
    return lines
