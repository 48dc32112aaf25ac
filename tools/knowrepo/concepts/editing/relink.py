"""Links that name their target almost: what was meant, and the edit of the text.

Owns the search for the name that is there, and the place of a link's
destination in the text. Each edit is proven: the body, parsed again, says the
same as before but for the targets that were meant.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple
from urllib.parse import unquote

from knowrepo.concepts.checking.tree import Spellings, Tree
from knowrepo.concepts.editing.said import (
    MOST_BRACKETS,
    Said,
    all_said,
    plain_destination,
    target_of,
)
from knowrepo.concepts.model import FOLDER

_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:|//")
_DESTINATION = re.compile(
    r"(?:\]\(|\]:)\s*(<[^<>\n]*>|(?:\\.|[^\s()\\<]|\((?:\\.|[^\s()\\])*\))(?:\\.|[^\s()\\]"
    r"|\((?:\\.|[^\s()\\])*\))*)"
)
_UNSAFE = re.compile(r"[\x00-\x20\x7f%()<>#?\\\"]")


class Correction(NamedTuple):
    """What a target should be, and which of the codes of the check names the fault."""

    code: str
    target: str


class Names:
    """The files and folders that links may lead to, by name, letter by letter.

    They are those of the check. ``root`` is the folder of the bundle, from
    which links that begin with `/` lead.
    """

    def __init__(self, tree: Tree, root: str = FOLDER) -> None:
        self._tree = tree
        self._spellings = Spellings(tree)
        self.root = root

    def full(self, target: str, path: str) -> str:
        """Return the path in the repository that a target in the file at ``path`` means."""
        base = self.root if target.startswith("/") else posixpath.dirname(path)
        return posixpath.normpath(posixpath.join(base, target.lstrip("/")))

    def has(self, path: str) -> bool:
        """Say whether this very name is there."""
        return path == "." or bool(self._tree.kind(path))

    def spelled(self, path: str) -> list[str]:
        """Return the names that differ from this one in case or accents' encoding only."""
        return self._spellings.find(path)


def correction(target: str, path: str, names: Names) -> Correction | None:
    """Return what a link in the file at ``path`` should say; None where it is right, or unclear."""
    written, suffix = _parted(target)
    if not written or _SCHEME.match(target):
        return None
    if names.has(names.full(unquote(written), path)):
        return None
    for code, readings, folds in _ways(written, names):
        found = set()
        for reading in readings:
            full = names.full(reading, path)
            found |= set(names.spelled(full) if folds else [full] if names.has(full) else [])
        if len(found) > 1:
            return None
        if found:
            new = _respelled(written, found.pop(), path, names)
            return Correction(code, new + suffix) if new else None
    return None


def case_of(value: str, path: str, names: Names) -> str:
    """Return the path in a front matter as its file is named; nothing where that is unclear."""
    if not value or _SCHEME.match(value) or names.has(names.full(value, path)):
        return ""
    found = names.spelled(names.full(value, path))
    new = _respelled(value, found[0], path, names, encode=False) if len(found) == 1 else ""
    return "" if new == value else new


class _Change(NamedTuple):
    """A destination in a body, by its place, and what it becomes."""

    start: int
    end: int
    new: str
    right: Correction


def relink(body: str, path: str, names: Names) -> tuple[str, list[tuple[int, str, Correction]]]:
    """Correct the links of a body; returns it with (line, as it was, correction) for each.

    ``line`` is 0-based in the body.
    """
    changes = _changes(body, path, names)
    if not changes or body.count("[") > MOST_BRACKETS:
        return body, []
    before = all_said(body)
    meant = {target_of(body[one.start : one.end]): target_of(one.new) for one in changes}
    if not _is_proven(body, changes, before, meant):  # one of them is in code: which?
        changes = [one for one in changes if _is_proven(body, [one], before, meant)]
        if not _is_proven(body, changes, before, meant):
            changes = []
    told = [
        (body.count("\n", 0, one.start), body[one.start : one.end], one.right) for one in changes
    ]
    return _changed(body, changes), told


def _changes(body: str, path: str, names: Names) -> list[_Change]:
    """Return what looks like a destination that should be another, in order; code, too."""
    found = []
    for match in _DESTINATION.finditer(body):
        right = correction(plain_destination(match[1]), path, names)
        if right:
            new = f"<{right.target}>" if match[1].startswith("<") else right.target
            found.append(_Change(*match.span(1), new, right))
    return found


def _changed(body: str, changes: Iterable[_Change]) -> str:
    for one in sorted(changes, reverse=True):
        body = body[: one.start] + one.new + body[one.end :]
    return body


def _is_proven(
    body: str, changes: list[_Change], before: list[Said], meant: Mapping[str, str]
) -> bool:
    """Say whether a body says the same after the changes, but for targets that were meant."""
    after = all_said(_changed(body, changes)) if changes else before
    if len(before) != len(after):
        return False
    pairs = [(one, two) for one, two in zip(before, after, strict=True) if one != two]
    return bool(pairs or not changes) and all(
        two == one._replace(target=meant.get(one.target, "")) for one, two in pairs
    )


def _ways(written: str, names: Names) -> Iterator[tuple[str, list[str], bool]]:
    """Yield what may be wrong with a target: the code, its other readings, whether case counts."""
    decoded = unquote(written)
    readings = list(dict.fromkeys([written, unquote(decoded)]))
    longer = [] if decoded.endswith(".md") else [f"{decoded.rstrip('/')}.md"]
    yield "OKF233", longer, False
    if decoded.startswith("/") and names.has(decoded.strip("/")):
        return  # from the root of the repository it is right: what was meant is unclear
    yield "OKF237", [one for one in readings if one != decoded], False
    yield "OKF232", [decoded], True
    yield "OKF232", longer, True


def _parted(target: str) -> tuple[str, str]:
    """Return a target's path, and its query and anchor."""
    match = re.search(r"[?#]", target)
    return (target[: match.start()], target[match.start() :]) if match else (target, "")


def _respelled(written: str, full: str, path: str, names: Names, *, encode: bool = True) -> str:
    """Return a target that leads to ``full``, written as the old one wherever that is right."""
    body = written.rstrip("/")
    slash = "" if full.endswith(".md") else written[len(body) :]
    parts, right = body.split("/"), full.split("/")
    kept = 0
    while kept < len(parts) and parts[-1 - kept] not in {"", ".", ".."}:
        kept += 1
    if not kept or kept > len(right):
        return ""
    new = list(parts[:-kept])
    for old, name in zip(parts[-kept:], right[-kept:], strict=True):
        read = unquote(old) if encode else old
        new.append(old if read == name else _encoded(name) if encode else name)
    result = "/".join(new) + slash
    return result if names.full(unquote(result) if encode else result, path) == full else ""


def _encoded(name: str) -> str:
    return _UNSAFE.sub(lambda match: f"%{ord(match[0]):02X}", name)
