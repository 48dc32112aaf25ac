"""Changing one value of a concept, and no other byte of it.

Owns what may be changed, and the proof that nothing else was: every function
takes a file's bytes and returns its new bytes, reads these again, and raises
KnowError rather than return a file that says something else than was meant. It
knows no files, and no path: who calls names it with `in_file`.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from typing import Any

from knowrepo.concepts.compose import Value, quoted
from knowrepo.concepts.document import parse
from knowrepo.concepts.editing import splice
from knowrepo.concepts.editing.place import (
    Cut,
    Front,
    Keys,
    cut,
    may_change_keys,
    may_drop,
    may_reach_into,
    may_replace,
    meaning,
    name_of,
    numbers,
    open_at,
    opening,
    there,
    value_at,
)
from knowrepo.concepts.editing.spans import Node
from knowrepo.concepts.editing.splice import Way
from knowrepo.errors import KnowError

_ORDER = (
    "okf_version", "type", "title", "description", "resource", "tags", "aliases", "scope",
    "runtime", "parameters", "computation", "executor", "attester", "sources", "usage_window",
    "timestamp", "generated", "verified", "status", "superseded_by", "stale_after",
)  # fmt: skip


@contextlib.contextmanager
def in_file(path: str) -> Iterator[None]:
    """Name the file in the message of what goes wrong inside."""
    try:
        yield
    except KnowError as error:
        raise KnowError(f"{path}: {error.message}", hint=error.hint) from error


def set_value(data: bytes, keys: Keys, value: Value) -> bytes:
    """Give a key a value; a key that is not there is added where it belongs."""
    front, place = open_at(data, keys)
    block, eol = front.cut.block, front.cut.eol
    expected = _updated(front.value, keys, lambda _: value)
    if place.node is None:
        may_change_keys(place.parent, keys)
        after = _predecessor(place.parent, str(keys[-1]), top=len(keys) == 1)
        ways = splice.adding_entry(block, place.parent, after, str(keys[-1]), value, eol)
    else:
        may_replace(front, place.node, keys)
        if value_at(front.value, keys) == value:
            return data
        ways = splice.replacing(block, place.node, place.opened, value, eol)
    return _settle(front, expected, ways, keys)


def quote(data: bytes, keys: Keys) -> bytes:
    """Put a text that stands without quotes into double quotes."""
    front, place = open_at(data, keys)
    node = there(place, keys)
    may_replace(front, node, keys)
    value = value_at(front.value, keys)
    if node.kind != "scalar" or not isinstance(value, str):
        raise KnowError(f"`{name_of(keys)}` is no text")
    if node.style:
        return data
    way = [splice.Splice(node.begin, node.end, quoted(value))]
    return _settle(front, front.value, [way], keys)


def remove(data: bytes, keys: Keys) -> bytes:
    """Take a key, every time that it stands there, or an item of a list out."""
    expected: Any = _updated(open_at(data, keys)[0].value, keys, None)
    while True:
        front, place = open_at(data, keys)
        node = there(place, keys)
        may_drop(front, node, keys)
        assert place.number is not None
        if place.parent.kind == "list":
            opened = opening(front, keys[:-1])
            ways = splice.cutting_item(front.cut.block, place.parent, place.number, opened)
            return _settle(front, expected, ways, keys)
        may_change_keys(place.parent, keys)
        ways = splice.cutting_entry(front.cut.block, place.parent, place.number)
        if not ways:
            raise KnowError(f"`{name_of(keys)}` is the only key there; it stays")
        if len(numbers(place.parent, keys[-1])) == 1:
            return _settle(front, expected, ways, keys)
        data = _settle(front, None, ways, keys)


def repeats(data: bytes) -> list[Keys]:
    """Return the keys that stand more than once in their map, each time with the same value."""
    front, _ = open_at(data, [])
    found: list[Keys] = []
    waiting: list[tuple[list[str | int], Node]] = [([], front.root)]
    while waiting:
        keys, node = waiting.pop()
        if node.kind == "list":
            waiting += [([*keys, number], item) for number, item in enumerate(node.children)]
        if node.kind == "map" and not node.tag:
            waiting += [([*keys, name.value], value) for name, value in node.entries]
            names = dict.fromkeys(name.value for name, _ in node.entries if name.kind == "scalar")
            found += [[*keys, name] for name in names if len(_same(front, node, name)) > 1]
    return found


def remove_repeats(data: bytes, keys: Keys) -> bytes:
    """Take the later ones of a key out that stands several times with one value."""
    while True:
        front, place = open_at(data, keys)
        there(place, keys)
        found = _same(front, place.parent, keys[-1])
        if len(found) == 1:
            return data
        if not found:
            raise KnowError(f"`{name_of(keys)}` stands there with different values; choose one")
        may_drop(front, place.parent.entries[found[-1]][1], keys)
        ways = splice.cutting_entry(front.cut.block, place.parent, found[-1])
        data = _settle(front, front.value, ways, keys)


def _same(front: Front, parent: Node, key: str | int) -> list[int]:
    """Return where a key stands in a map; nowhere, if it says different things."""
    found = numbers(parent, key)
    meanings = [meaning(front, parent.entries[number][1]) for number in found]
    return found if all(one == meanings[0] for one in meanings) else []


def rename(data: bytes, keys: Keys, new: str) -> bytes:
    """Give a key another name; its value stays as it is written."""
    front, place = open_at(data, keys)
    there(place, keys)
    may_change_keys(place.parent, keys)
    assert place.number is not None
    if len(numbers(place.parent, keys[-1])) > 1 or numbers(place.parent, new):
        raise KnowError(
            f"`{name_of(keys)}` cannot be named `{new}`: one of both stands there twice"
        )
    key = place.parent.entries[place.number][0]
    old = value_at(front.value, keys)
    expected = _updated(front.value, keys, None)
    expected = _updated(expected, [*keys[:-1], new], lambda _: old)
    ways = [[splice.Splice(key.begin, key.end, text)] for text in splice.styled(new, key)]
    return _settle(front, expected, ways, keys)


def append(data: bytes, keys: Keys, item: Value) -> bytes:
    """Add an item to a list; a key that is not there, or has no value, becomes a list."""
    front, place = open_at(data, keys)
    node = place.node
    if node is None or (node.kind == "scalar" and value_at(front.value, keys) is None):
        return set_value(data, keys, [item])
    may_reach_into(node, keys)
    if node.kind != "list":
        raise KnowError(f"`{name_of(keys)}` is no list")
    expected = _updated(front.value, keys, lambda old: [*old, item])
    ways = splice.adding_item(front.cut.block, node, item, front.cut.eol)
    return _settle(front, expected, ways, keys)


def wrap(data: bytes, keys: Keys) -> bytes:
    """Make a map that stands where a list is meant the one item of it."""
    front, place = open_at(data, keys)
    node = there(place, keys)
    may_replace(front, node, keys)
    if node.kind != "map":
        raise KnowError(f"`{name_of(keys)}` is no mapping")
    if not node.flow and node.anchor:
        raise KnowError(f"`{name_of(keys)}` has an anchor; wrap it by hand")
    expected = _updated(front.value, keys, lambda old: [old])
    return _settle(front, expected, splice.wrapping(front.cut.block, node), keys)


def _predecessor(parent: Node, key: str, *, top: bool) -> int | None:
    """Return the entry that a new key is written behind; None: at the head."""
    last = len(parent.entries) - 1
    if not top or key not in _ORDER:
        return last if last >= 0 else None
    earlier = _ORDER[: _ORDER.index(key)]
    found = [n for n, (name, _) in enumerate(parent.entries) if name.value in earlier]
    return max(found) if found else None


def _updated(value: Any, keys: Keys, change: Callable[[Any], Any] | None) -> Any:
    """Return a value with one inside changed, or taken out; what aliases share stays shared."""
    if not keys:
        return change(value) if change else value
    key, rest = keys[0], keys[1:]
    if isinstance(value, dict):
        if not rest and change is None:
            return {name: part for name, part in value.items() if name != key}
        return {**value, key: _updated(value.get(key), rest, change)}
    if isinstance(value, list) and isinstance(key, int):
        inside = [] if not rest and change is None else [_updated(value[key], rest, change)]
        return [*value[:key], *inside, *value[key + 1 :]]
    raise KnowError(f"there is no `{key}`")


def _settle(front: Front, expected: Any, ways: list[Way], keys: Keys) -> bytes:
    """Return the file changed in the first way that reads back as it was meant.

    ``expected`` is the whole front matter, None where only the body is compared.
    """
    for way in ways:
        block = splice.apply(front.cut.block, way)
        data = (front.cut.head + block + front.cut.tail).encode()
        document = parse(data)
        if any(problem.code not in front.codes for problem in document.problems):
            continue
        meant = expected is None or document.front == expected
        if meant and cut(data) == Cut(front.cut.head, block, front.cut.tail):
            return data
    raise KnowError(f"`{name_of(keys)}` cannot be changed without harm: edit it by hand")
