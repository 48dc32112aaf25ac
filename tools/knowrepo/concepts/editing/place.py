"""Finding a value in a concept's bytes, and saying whether it may be changed there.

Owns the cut of a file into head, front matter and tail, and what stands in the
way of a safe change: aliases and what they share, tags, merge keys, keys that
are no plain text. It changes nothing; `edit` does.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from knowrepo.concepts.document import parse
from knowrepo.concepts.editing import spans, splice
from knowrepo.concepts.editing.spans import Node
from knowrepo.errors import KnowError

Keys = Sequence[str | int]
"""The way to a value: keys of maps, numbers of items."""

_OPENING = re.compile(r"\ufeff?---[ \t]*(?=\r?\n)")
_CLOSING = re.compile(r"^---[ \t]*(?=\r?$)", re.MULTILINE)


@dataclass(frozen=True)
class Cut:
    """A file cut at its front matter; the three parts together are its text.

    ``head`` ends with the line of the opening delimiter, ``tail`` begins with
    the closing one.
    """

    head: str
    block: str
    tail: str

    @property
    def eol(self) -> str:
        """The line end of the file, as its first line has it."""
        return "\r\n" if self.head.endswith("\r\n") else "\n"


@dataclass(frozen=True)
class Front:
    """A file's front matter: its text, its places, and what it says."""

    cut: Cut
    root: Node
    value: dict[str, Any]
    codes: tuple[str, ...]
    aliased: frozenset[str]


@dataclass(frozen=True)
class Place:
    """A value, the map or list that holds it, and its number there; no ``node``: no such key."""

    parent: Node
    number: int | None
    node: Node | None
    opened: int = 0


def cut(data: bytes) -> Cut | None:
    """Cut a file at its front matter; None where it has none, or is not UTF-8."""
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError:
        return None
    first = text.find("\n") + 1
    closing = _CLOSING.search(text, first) if _OPENING.match(text) else None
    if closing is None:
        return None
    return Cut(text[:first], text[first : closing.start()], text[closing.start() :])


def open_at(data: bytes, keys: Keys) -> tuple[Front, Place]:
    """Read a file and find the place; raises where it cannot be changed safely."""
    parts, document = cut(data), parse(data)
    if any(problem.code == "OKF103" for problem in document.problems):
        hint = "mend it first: `know check --fix` does where the cause is plain"
        raise KnowError("the front matter is not YAML", hint=hint)
    if parts is None or not document.front:
        raise KnowError("has no front matter", hint="begin the file with a `---` block")
    try:
        root = spans.grow(parts.block)
    except ValueError as error:
        raise KnowError(f"the front matter cannot be edited: {error}") from error
    assert root is not None
    aliased = frozenset(node.value for node in root.walk() if node.kind == "alias")
    codes = tuple(problem.code for problem in document.problems)
    front = Front(parts, root, document.front, codes, aliased)
    return front, find(front, keys)


def find(front: Front, keys: Keys) -> Place:
    """Return where a value stands; raises where the way to it is not there."""
    place = Place(front.root, None, front.root)
    for depth, key in enumerate(keys, start=1):
        node = there(place, keys[: depth - 1])
        may_reach_into(node, keys[: depth - 1])
        if isinstance(key, int):
            place = _item(front.cut.block, node, keys[:depth])
        else:
            place = _entry(front, node, keys[:depth])
    return place


def _item(block: str, node: Node, keys: Keys) -> Place:
    number = int(keys[-1])
    if node.kind != "list" or not 0 <= number < len(node.children):
        raise KnowError(f"`{name_of(keys[:-1])}` has no item {number + 1}")
    item = node.children[number]
    return Place(node, number, item, spans.dash(block, item.start) + 1)


def _entry(front: Front, node: Node, keys: Keys) -> Place:
    if node.kind != "map":
        raise KnowError(f"`{name_of(keys[:-1])}` is no mapping")
    found = numbers(node, keys[-1])
    if not found:
        return Place(node, None, None)
    name, value = node.entries[found[-1]]
    opened = splice.after_colon(front.cut.block, name)
    if opened is None or name.tag or name.anchor in front.aliased:
        raise KnowError(f"`{name_of(keys)}` is no plain `key: value`; edit it by hand")
    return Place(node, found[-1], value, opened)


def opening(front: Front, keys: Keys) -> int:
    """Return where the `:` or `-` of a value ends."""
    return find(front, keys).opened if keys else 0


def numbers(parent: Node, key: str | int) -> list[int]:
    """Return which entries of a map have this key."""
    names = enumerate(name for name, _ in parent.entries)
    return [number for number, name in names if name.kind == "scalar" and name.value == key]


def there(place: Place, keys: Keys) -> Node:
    """Return what stands at a place; raises where nothing does."""
    if place.node is None:
        raise KnowError(f"there is no `{name_of(keys)}`")
    return place.node


def may_reach_into(node: Node, keys: Keys) -> None:
    """Raise where what is inside a value is not its own."""
    if node.kind == "alias":
        raise KnowError(f"`{name_of(keys)}` is an alias, `*{node.value}`: edit it by hand")
    if node.tag:
        raise KnowError(f"`{name_of(keys)}` has a tag, `{node.tag}`: edit it by hand")


def may_drop(front: Front, node: Node, keys: Keys) -> None:
    """Raise where a value is used again elsewhere."""
    shared = [below.anchor for below in node.walk() if below.anchor in front.aliased]
    if shared:
        raise KnowError(f"`{name_of(keys)}` is used again, as `*{shared[0]}`: edit it by hand")


def may_replace(front: Front, node: Node, keys: Keys) -> None:
    """Raise where a value cannot be written anew."""
    may_reach_into(node, keys)
    may_drop(front, node, keys)


def may_change_keys(parent: Node, keys: Keys) -> None:
    """Raise where a map has keys that do not stand in it."""
    if numbers(parent, "<<"):
        where = name_of(keys[:-1]) if len(keys) > 1 else "the front matter"
        raise KnowError(f"`{where}` takes keys from elsewhere (`<<`): edit it by hand")


def meaning(front: Front, node: Node) -> Any:
    """Return what a node says, aliases followed, so that two can be compared."""
    if node.kind == "alias":
        found = [other for other in front.root.walk() if other.anchor == node.value]
        before = [other for other in found if other.start < node.start]
        return meaning(front, max(before, key=lambda other: other.start))
    if node.kind == "scalar":
        return (node.tag, "" if node.style else spans.other_kind(node.value), node.value)
    return (node.kind, node.tag, [meaning(front, child) for child in node.children])


def value_at(value: Any, keys: Keys) -> Any:
    """Return what a front matter says at a place; None where nothing stands there."""
    for key in keys:
        if isinstance(key, int):
            value = value[key] if isinstance(value, list) and key < len(value) else None
        else:
            value = value.get(key) if isinstance(value, dict) else None
    return value


def name_of(keys: Keys) -> str:
    """Return the way to a value as a person would say it."""
    return ".".join(str(key + 1) if isinstance(key, int) else key for key in keys) or "front matter"
