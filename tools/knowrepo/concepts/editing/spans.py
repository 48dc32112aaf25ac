"""Where every value of a front matter stands: a tree of places, from YAML's own events.

Owns the finding of places and nothing else: what a key means is `model`'s
business, what may be changed is `edit`'s. Events are used, not composed nodes:
an alias has a place of its own there, and a node says its anchor and its tag.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, Literal

import yaml

Kind = Literal["scalar", "list", "map", "alias"]

_Loader: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
# More values than this come from aliases of aliases, which only an attack holds.
_MOST_VALUES = 100_000
_TRAILING_LINES = re.compile(r"(?:\r?\n[ \t]*)+\Z")


@dataclass
class Node:
    """A value and its place: characters ``start`` to ``end`` of the block.

    ``start`` is that of the anchor or tag, if there is one; ``begin`` that of
    the value itself. What follows a value (a comment, blank lines) is not in
    it, but for ``outer``: blank lines that a `|+` keeps. ``style`` is that of a
    scalar: nothing for a plain one, else `'`, `"`, `|` or `>`. A map has keys
    and values in turn among its ``children``.
    """

    kind: Kind
    start: int
    end: int
    begin: int = 0
    outer: int = 0
    value: str = ""
    style: str = ""
    flow: bool = False
    anchor: str = ""
    tag: str = ""
    size: int = 1
    children: list[Node] = field(default_factory=list)

    @property
    def entries(self) -> list[tuple[Node, Node]]:
        """The keys of a map with their values, as they stand."""
        return list(zip(self.children[::2], self.children[1::2], strict=True))

    @property
    def is_block(self) -> bool:
        """Whether this is a list or a map that is laid out by lines."""
        return self.kind in {"list", "map"} and not self.flow

    def walk(self) -> Iterator[Node]:
        """Yield this node and all below it."""
        waiting = [self]
        while waiting:
            node = waiting.pop()
            yield node
            waiting += node.children


def grow(block: str) -> Node | None:
    """Return the tree of a block, None where it holds nothing.

    Raises ValueError where it is no YAML, or holds more than a person writes.
    """
    root: Node | None = None
    open_nodes: list[Node] = []
    sizes: dict[str, int] = {}
    try:
        for event in _events(block):
            if isinstance(event, yaml.CollectionEndEvent):
                node = open_nodes.pop()
                mark: Any = event.end_mark
                _close(node, mark.index, block)
            elif isinstance(event, yaml.NodeEvent):
                node = _node(event, block)
                if open_nodes:
                    open_nodes[-1].children.append(node)
                else:
                    root = root or node
                if isinstance(event, yaml.CollectionStartEvent):
                    open_nodes.append(node)
                    continue
            else:
                continue
            _count(node, sizes)
    except yaml.YAMLError as error:
        raise ValueError(str(error)) from error
    return root


def trouble(block: str) -> int | None:
    """Return the 0-based line on which a block stops being YAML; None where it is."""
    try:
        for _ in _events(block):
            pass
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        return mark.line if mark is not None else 0
    return None


def other_kind(text: str) -> str:
    """Return what YAML 1.1 takes an unquoted text for: a tag; nothing where it is text."""
    resolvers = yaml.SafeLoader.yaml_implicit_resolvers
    for tag, pattern in resolvers.get(text[:1], []):
        if pattern.match(text):
            return str(tag)
    return ""


def dash(block: str, start: int) -> int:
    """Return where the `-` of the item stands whose value starts at ``start``."""
    return block.rfind("-", 0, start)


def _events(block: str) -> Iterator[Any]:
    """Yield the events of a block. The stubs know no marks of the C loader."""
    yield from yaml.parse(block, Loader=_Loader)


def _node(event: Any, block: str) -> Node:
    start, end = event.start_mark.index, event.end_mark.index
    if isinstance(event, yaml.AliasEvent):
        return Node("alias", start, end, start, end, str(event.anchor))
    anchor, tag = event.anchor or "", event.tag or ""
    begin = _after_properties(block, start, end, anchor=anchor, tag=tag)
    if isinstance(event, yaml.ScalarEvent):
        style = event.style or ""
        outer = end
        if style in {"|", ">"}:
            end = begin + len(_TRAILING_LINES.sub("", block[begin:end]))
            outer = outer if "+" in block[begin:end].partition("\n")[0] else end
        return Node("scalar", start, end, begin, outer, event.value, style, anchor=anchor, tag=tag)
    kind: Kind = "map" if isinstance(event, yaml.MappingStartEvent) else "list"
    flow = bool(event.flow_style)
    return Node(kind, start, end, begin, end, flow=flow, anchor=anchor, tag=tag)


def _after_properties(block: str, start: int, end: int, *, anchor: str, tag: str) -> int:
    """Return where a value begins behind its anchor and its tag."""
    begin = start
    while (anchor or tag) and begin < len(block) and block[begin] in "&!":
        match = re.compile(r"\S+[ \t]*").match(block, begin)
        begin = match.end() if match else begin
    return min(begin, end) if end > start else begin


def _close(node: Node, end: int, block: str) -> None:
    """Give a list or map its end; YAML ends one that is laid out by lines too late."""
    if node.flow:
        node.end = node.outer = end
    elif node.children:
        first = node.children[0].start
        node.begin = first if node.kind == "map" else dash(block, first)
        node.end, node.outer = node.children[-1].end, node.children[-1].outer


def _count(node: Node, sizes: dict[str, int]) -> None:
    if node.kind == "alias" and node.value not in sizes:
        raise ValueError(f"`*{node.value}` is a part of itself")
    inside = sum(child.size for child in node.children)
    node.size = 1 + (sizes[node.value] if node.kind == "alias" else inside)
    if node.size > _MOST_VALUES:
        raise ValueError("aliases make more values of it than a person writes")
    if node.anchor:
        sizes[node.anchor] = node.size
