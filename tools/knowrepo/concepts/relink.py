"""Links that name their target almost: what was meant, and the edit of the text.

Owns the search for the name that is there, and the place of a link's
destination in the text. Each edit is proven: the body, parsed again, says the
same as before but for the targets that were meant.
"""

from __future__ import annotations

import posixpath
import re
import unicodedata
from collections.abc import Callable, Iterable, Iterator
from typing import NamedTuple
from urllib.parse import unquote

from knowrepo.concepts.markdown import outline, plain_destination, target_of
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

    ``paths`` are relative to the repository; ``exists`` is asked for what is
    not among them, as a file that git ignores.
    """

    def __init__(self, paths: Iterable[str], exists: Callable[[str], bool]) -> None:
        self._exists = exists
        self._names: set[str] = set()
        for path in paths:
            while path and path not in self._names:
                self._names.add(path)
                path = posixpath.dirname(path)
        self._folded: dict[str, list[str]] = {}
        for name in self._names:
            self._folded.setdefault(_folded(name), []).append(name)

    def has(self, path: str) -> bool:
        """Say whether this very name is there."""
        if path in self._names or path == ".":
            return True
        # A file system that knows no case says yes to any spelling.
        return not self.spelled(path) and self._exists(path)

    def spelled(self, path: str) -> list[str]:
        """Return the names that differ from this one in case or accents' encoding only."""
        return self._folded.get(_folded(path), [])


def correction(target: str, path: str, names: Names) -> Correction | None:
    """Return what a link in the file at ``path`` should say; None where it is right, or unclear."""
    written, suffix = _parted(target)
    if not written or _SCHEME.match(target):
        return None
    if names.has(_full(unquote(written), path)):
        return None
    for code, readings, folds in _ways(written):
        found = set()
        for reading in readings:
            full = _full(reading, path)
            found |= set(names.spelled(full)) if folds else {full} & set(names.spelled(full))
        if len(found) > 1:
            return None
        if found:
            new = _respelled(written, found.pop(), path)
            return Correction(code, new + suffix) if new else None
    return None


def case_of(value: str, path: str, names: Names) -> str:
    """Return the path in a front matter as its file is named; nothing where that is unclear."""
    if not value or _SCHEME.match(value) or names.has(_full(value, path)):
        return ""
    found = names.spelled(_full(value, path))
    new = _respelled(value, found[0], path, encode=False) if len(found) == 1 else ""
    return "" if new == value else new


def relink(body: str, path: str, names: Names) -> tuple[str, list[tuple[int, str, Correction]]]:
    """Correct the links of a body; returns it with (line, as it was, correction) for each.

    ``line`` is 0-based in the body.
    """
    done: list[tuple[int, str, Correction]] = []
    found = outline(body)
    wanted = {
        said.target: right
        for said in found
        if said.target and (right := correction(said.target, path, names))
    }
    for match in _destinations(body, wanted):
        written = match[1]
        right = correction(plain_destination(written), path, names)
        if right is None:
            continue
        new = f"<{right.target}>" if written.startswith("<") else right.target
        longer = body[: match.start(1)] + new + body[match.end(1) :]
        after = outline(longer)
        if _differ_in(found, after, target_of(written), target_of(new)):
            done.append((body.count("\n", 0, match.start(1)), written, right))
            body, found = longer, after
    return body, done[::-1]


def _destinations(body: str, wanted: Iterable[str]) -> Iterator[re.Match[str]]:
    """Yield what looks like one of these destinations, the last first: places stay right."""
    if wanted:
        matches = [match for match in _DESTINATION.finditer(body) if target_of(match[1]) in wanted]
        yield from reversed(matches)


def _differ_in(before: list, after: list, old: str, new: str) -> bool:  # type: ignore[type-arg]
    """Say whether two bodies say the same but for some targets that were ``old``."""
    if len(before) != len(after):
        return False
    changed = [(one, two) for one, two in zip(before, after, strict=True) if one != two]
    return bool(changed) and all(
        one.target == old and two == one._replace(target=new) for one, two in changed
    )


def _ways(written: str) -> Iterator[tuple[str, list[str], bool]]:
    """Yield what may be wrong with a target: the code, its other readings, whether case counts."""
    decoded = unquote(written)
    readings = list(dict.fromkeys([written, unquote(decoded)]))
    longer = [] if decoded.endswith(("/", ".md")) else [f"{decoded}.md"]
    yield "OKF233", longer, False
    yield "OKF237", [one for one in readings if one != decoded], False
    yield "OKF232", [decoded], True
    yield "OKF232", longer, True


def _parted(target: str) -> tuple[str, str]:
    """Return a target's path, and its query and anchor."""
    match = re.search(r"[?#]", target)
    return (target[: match.start()], target[match.start() :]) if match else (target, "")


def _full(target: str, path: str) -> str:
    """Return the path in the repository that a target in the file at ``path`` means."""
    base = FOLDER if target.startswith("/") else posixpath.dirname(path)
    return posixpath.normpath(posixpath.join(base, target.lstrip("/")))


def _respelled(written: str, full: str, path: str, *, encode: bool = True) -> str:
    """Return a target that leads to ``full``, written as the old one wherever that is right."""
    body, slash = (written[:-1], "/") if written.endswith("/") else (written, "")
    parts, names = body.split("/"), full.split("/")
    kept = 0
    while kept < len(parts) and parts[-1 - kept] not in {"", ".", ".."}:
        kept += 1
    if not kept or kept > len(names):
        return ""
    new = list(parts[:-kept])
    for old, name in zip(parts[-kept:], names[-kept:], strict=True):
        read = unquote(old) if encode else old
        new.append(old if read == name else _encoded(name) if encode else name)
    result = "/".join(new) + slash
    return result if _full(unquote(result) if encode else result, path) == full else ""


def _encoded(name: str) -> str:
    return _UNSAFE.sub(lambda match: f"%{ord(match[0]):02X}", name)


def _folded(name: str) -> str:
    return unicodedata.normalize("NFC", unicodedata.normalize("NFD", name).casefold())
