"""Joining snapshots of one session so that nothing is lost and order does not matter.

Owns the canonical form of an archived session. The snapshots of a session are
paths of a tree: most are prefixes of one another, some part ways (a session
that two copies continued). The archive is that tree, written depth first:
children in the order of the sha256 of their first line, and a branch that does
not continue the line above it is led in by a marker line that says after how
many records of the path it leaves. Joining two archives is the union of two
trees, so any order of snapshots, and a merge in either direction, ends in the
same bytes; a session that never parted has no markers and is its source, line
for line.

Where an agent rewrites a record in place, its versions share one node: the
longest is last, led in by a marker too, and readers take the last.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field

BRANCH = "know.branch"
VERSION = "know.version"
_VERSION_LINE = json.dumps({"type": VERSION}, separators=(",", ":")).encode()
_MARKER = re.compile(rb'\{"type":"know\.(?:branch","at":\d{1,9}|version")\}')

OwnId = Callable[[bytes], str]
"""Returns the own id of an archived line's record, or an empty string."""

_Key = tuple[str, int]


@dataclass
class _Node:
    versions: list[bytes] = field(default_factory=list)
    children: dict[_Key, _Node] = field(default_factory=dict)

    def first_hash(self) -> bytes:
        return hashlib.sha256(self.versions[0]).digest()


def is_marker(line: bytes) -> bool:
    """Say whether an archived line is ours, not the agent's."""
    return _MARKER.fullmatch(line) is not None


def is_version_marker(line: bytes) -> bool:
    """Say whether the next archived line is another version of the one above."""
    return line == _VERSION_LINE


def join(snapshots: Iterable[Iterable[bytes]], own_id: OwnId) -> list[bytes]:
    """Return the canonical lines of the union of ``snapshots``.

    Each is the lines of an archived session or of a source brought to the
    archive's form, without line ends.
    """
    root = _Node()
    for snapshot in snapshots:
        _add(root, snapshot, own_id)
    return list(_written(root))


def _add(root: _Node, lines: Iterable[bytes], own_id: OwnId) -> None:
    path: list[tuple[_Node, str]] = [(root, "")]
    seen: Counter[str] = Counter()
    another_version = False
    for line in lines:
        if is_marker(line):
            another_version = is_version_marker(line)
            if not another_version:
                while len(path) - 1 > json.loads(line)["at"]:
                    seen[path.pop()[1]] -= 1
            continue
        if another_version and len(path) > 1:
            _add_version(path[-1][0], line)
            another_version = False
            continue
        name = own_id(line) or hashlib.sha256(line).hexdigest()
        node = path[-1][0].children.setdefault((name, seen[name]), _Node())
        seen[name] += 1
        _add_version(node, line)
        path.append((node, name))


def _add_version(node: _Node, line: bytes) -> None:
    if line not in node.versions:
        node.versions.append(line)
        node.versions.sort(key=lambda v: (len(v), hashlib.sha256(v).digest()))


def _written(root: _Node) -> Iterator[bytes]:
    depth_written = 0
    waiting = _in_order(root, depth=0)
    while waiting:
        node, depth = waiting.pop()
        if depth != depth_written:
            yield json.dumps({"type": BRANCH, "at": depth}, separators=(",", ":")).encode()
        for index, version in enumerate(node.versions):
            if index:
                yield _VERSION_LINE
            yield version
        depth_written = depth + 1
        waiting += _in_order(node, depth=depth_written)


def _in_order(node: _Node, *, depth: int) -> list[tuple[_Node, int]]:
    """Return the children as a stack: the first to write is last."""
    ordered = sorted(node.children.values(), key=_Node.first_hash, reverse=True)
    return [(child, depth) for child in ordered]
