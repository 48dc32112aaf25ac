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
latest is last, led in by a marker too, and readers take the last.

The tree holds where each line stands in the snapshots' files and not the line:
a session may be larger than the memory.
"""

from __future__ import annotations

import hashlib
import json
import operator
import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from typing import IO

BRANCH = "know.branch"
VERSION = "know.version"
_VERSION_LINE = json.dumps({"type": VERSION}, separators=(",", ":")).encode()
MARKED = b'{"type":"know.'
"""How every marker line begins."""
_MARKER = re.compile(rb'\{"type":"know\.(?:branch","at":\d{1,9}|version")\}')

Identify = Callable[[bytes], tuple[str, str]]
"""Returns the own id of an archived line's record, or '', and what ranks its versions."""

Snapshot = Callable[[], IO[bytes]]
"""Opens the lines of an archived session, or of a source brought to the archive's form."""

Covers = Callable[[bytes, bytes], bool]
"""Says whether a line is another one with placeholders in place of secrets."""

_Key = tuple[bytes, int]  # a digest of what names the record, and its ordinal among equals


def is_marker(line: bytes) -> bool:
    """Say whether an archived line is ours, not the agent's."""
    return line.startswith(MARKED) and _MARKER.fullmatch(line) is not None


def is_version_marker(line: bytes) -> bool:
    """Say whether the next archived line is another version of the one above."""
    return line == _VERSION_LINE


def join(
    snapshots: Sequence[Snapshot], identify: Identify, covers: Covers = operator.eq
) -> Iterator[bytes]:
    """Yield the canonical lines, without line ends, of the union of ``snapshots``.

    Of two lines of which one ``covers`` the other, that one alone is kept: what
    was redacted once stays so.
    """
    with ExitStack() as stack:
        files = [stack.enter_context(snapshot()) for snapshot in snapshots]
        tree = _Tree(files, identify, covers)
        for number, snapshot in enumerate(snapshots):
            with snapshot() as stream:
                tree.add(stream, number)
        yield from tree.written()


class _Node:
    """A record of the tree: where its versions stand, and what comes after it."""

    __slots__ = ("child", "name", "ordinal", "others", "places")

    def __init__(self, name: bytes, ordinal: int) -> None:
        self.name = name
        self.ordinal = ordinal
        self.places: int | list[int] | None = None  # nearly always one
        self.child: _Node | None = None  # nearly always the only one
        self.others: dict[_Key, _Node] | None = None

    def follow(self, name: bytes, ordinal: int) -> _Node:
        """Return the child of that name, made where there is none."""
        first = self.child
        if first is None:
            self.child = _Node(name, ordinal)
            return self.child
        if first.ordinal == ordinal and first.name == name:
            return first
        if self.others is None:
            self.others = {}
        return self.others.setdefault((name, ordinal), _Node(name, ordinal))

    def has(self, name: bytes, ordinal: int) -> bool:
        """Say whether there is a child of that name."""
        first = self.child
        if first is None:
            return False
        if first.ordinal == ordinal and first.name == name:
            return True
        return self.others is not None and (name, ordinal) in self.others

    def children(self) -> list[_Node]:
        return [*filter(None, [self.child]), *(self.others or {}).values()]


class _Tree:
    def __init__(self, files: Sequence[IO[bytes]], identify: Identify, covers: Covers) -> None:
        self._files = files
        self._identify = identify
        self._covers = covers
        self._root = _Node(b"", 0)

    def add(self, stream: IO[bytes], number: int) -> None:
        """Add a snapshot's lines as a path, or several where it has markers."""
        path = [self._root]
        seen: Counter[bytes] = Counter()
        another_version = False
        place = 0
        for line_as_read in stream:
            here, place = place, place + len(line_as_read)
            line = line_as_read.rstrip(b"\n")
            if is_marker(line):
                another_version = is_version_marker(line)
                if not another_version:
                    while len(path) - 1 > json.loads(line)["at"]:
                        seen[path.pop().name] -= 1
                continue
            at = here * len(self._files) + number
            own_id, _ = self._identify(line)
            name = hashlib.blake2b(own_id.encode() if own_id else line, digest_size=16).digest()
            # Who is no version of the record above only pretends to be one.
            is_version, another_version = another_version, False
            if is_version and name == path[-1].name:
                self._add_version(path[-1], line, at)
                continue
            node = self._covered(path[-1], name, seen[name], line)
            name = node.name
            seen[name] += 1
            self._add_version(node, line, at)
            path.append(node)

    def _covered(self, above: _Node, name: bytes, ordinal: int, line: bytes) -> _Node:
        """Return the child that a line belongs to: of its name, or the same but for a secret."""
        for child in () if above.has(name, ordinal) else above.children():
            version = self._versions(child)[-1]
            if self._covers(line, version) or self._covers(version, line):
                return child
        return above.follow(name, ordinal)

    def _add_version(self, node: _Node, line: bytes, place: int) -> None:
        if node.places is None:
            node.places = place
            return
        places = [node.places] if isinstance(node.places, int) else node.places
        versions = list(zip(self._versions(node), places, strict=True))
        if any(self._covers(version, line) for version, _ in versions):
            return
        kept = [(version, at) for version, at in versions if not self._covers(line, version)]
        ranked = sorted([*kept, (line, place)], key=lambda pair: self._rank(pair[0]))
        node.places = [at for _, at in ranked]

    def _rank(self, line: bytes) -> tuple[str, int, bytes]:
        return self._identify(line)[1], len(line), hashlib.sha256(line).digest()

    def _versions(self, node: _Node) -> list[bytes]:
        places = node.places if isinstance(node.places, list) else [node.places or 0]
        return [self._read(place) for place in places]

    def _read(self, place: int) -> bytes:
        offset, number = divmod(place, len(self._files))
        stream = self._files[number]
        stream.seek(offset)
        return stream.readline().rstrip(b"\n")

    def written(self) -> Iterator[bytes]:
        """Yield the tree depth first."""
        depth_written = 0
        waiting = self._in_order(self._root, depth=0)
        while waiting:
            node, depth = waiting.pop()
            if depth != depth_written:
                yield json.dumps({"type": BRANCH, "at": depth}, separators=(",", ":")).encode()
            for index, version in enumerate(self._versions(node)):
                if index:
                    yield _VERSION_LINE
                yield version
            depth_written = depth + 1
            waiting += self._in_order(node, depth=depth_written)

    def _in_order(self, node: _Node, *, depth: int) -> list[tuple[_Node, int]]:
        """Return the children as a stack: the first to write is last."""
        children = node.children()
        if len(children) > 1:
            children.sort(key=self._first_hash, reverse=True)
        return [(child, depth) for child in children]

    def _first_hash(self, node: _Node) -> bytes:
        return hashlib.sha256(self._versions(node)[0]).digest()
