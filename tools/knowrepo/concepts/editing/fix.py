"""Mending what is plainly wrong in a file of the bundle, and nothing else in it.

Owns the list of safe fixes: those with one right answer, which lose nothing
that a person wrote. The codes are those of the check. Every fix is an edit of
the text that keeps every other byte; a second run finds nothing more.
"""

from __future__ import annotations

import codecs
import posixpath
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from pathlib import PurePosixPath
from typing import Any

from knowrepo.concepts import tags
from knowrepo.concepts.compose import quoted
from knowrepo.concepts.document import Document, parse
from knowrepo.concepts.editing import edit, relink, spans
from knowrepo.concepts.editing.place import Keys, cut, name_of
from knowrepo.concepts.model import RESERVED
from knowrepo.errors import KnowError

STATUSES = frozenset({"draft", "stable", "deprecated"})
_WITH_COLON = re.compile(r"^(\s*(?:- )*[A-Za-z_][\w-]*:[ \t]+)([^\s\"'\[{|>&*!%@`#].*)$")
_COMMENT = re.compile(r"[ \t]+#.*$|[ \t]+$")
# In a text of several lines: a comment, a key or an item below, the head of a block of lines.
_MAY_END = re.compile(
    r"(?m)(?:^|[ \t])#|\A.*[ \t][|>][-+\d]*[ \t\r]*$|\n[ \t]*(?:-[ \t]|[\w-]+:(?:\s|\Z))"
)
_HUMAN = re.compile(r"human:\S.*")
_NEARLY_HUMAN = re.compile(r"(?i:humans?)\s*[:\-_/= ]\s*(\S.*)")


@dataclass(frozen=True)
class Fix:
    """One thing that was mended; ``line`` is 1-based in the file as it was."""

    line: int
    code: str
    message: str


@dataclass(frozen=True)
class Mended:
    """A file's bytes with the fixes in them, and why some could not be made."""

    data: bytes
    fixes: tuple[Fix, ...]
    left: tuple[str, ...]


Step = Callable[[bytes, str, relink.Names], tuple[bytes, list[Fix]]]


def mend(path: str, data: bytes, names: relink.Names) -> Mended:
    """Mend the file at ``path``, relative to the repository; a generated one is left alone."""
    name = PurePosixPath(path).name
    if name == "index.md" and tags.is_generated(data):
        return Mended(data, (), ())
    steps: list[Step] = [_mark, _links]
    if path == posixpath.join(names.root, "index.md"):
        steps = [_mark, _version, _links]
    elif name not in RESERVED:
        steps = [_mark, _colons, _repeats, _tags, _actors, _verified, _status, _successor, _links]
    fixes: list[Fix] = []
    left: list[str] = []
    for step in steps:
        try:
            data, made = step(data, path, names)
        except KnowError as error:
            left.append(error.message)
        else:
            fixes += made
    return Mended(data, tuple(fixes), tuple(dict.fromkeys(left)))


@lru_cache(maxsize=2)
def _read(data: bytes) -> Document:
    """Return a file taken apart; each step asks for the same bytes again."""
    return parse(data)


def _mark(data: bytes, _path: str, _names: relink.Names) -> tuple[bytes, list[Fix]]:
    if not data.startswith(codecs.BOM_UTF8):
        return data, []
    while data.startswith(codecs.BOM_UTF8):
        data = data[len(codecs.BOM_UTF8) :]
    return data, [Fix(1, "OKF211", "the byte order mark is removed")]


def _colons(data: bytes, _path: str, _names: relink.Names) -> tuple[bytes, list[Fix]]:
    """Quote the values at whose `: ` YAML gives up; none of them unless all is YAML then."""
    parts = cut(data)
    if parts is None:
        return data, []
    block = parts.block
    fixes: list[Fix] = []
    while (line := spans.trouble(block)) is not None:
        longer = _quoted_at(block, line)
        if longer is None or len(fixes) > block.count("\n"):
            return data, []
        key, block = longer
        fixes.append(Fix(line + 2, "OKF103", f"the value of `{key}` is in quotes"))
    mended = (parts.head + block + parts.tail).encode()
    return (mended, fixes) if fixes and parse(mended).front else (data, [])


def _quoted_at(block: str, line: int) -> tuple[str, str] | None:
    """Quote the value on a line, with the lines that go on with it; returns its key too."""
    lines = block.split("\n")
    match = _WITH_COLON.match(lines[line].rstrip("\r")) if line < len(lines) else None
    if match is None or not re.search(r":(?:[ \t]|$)", match[2]):
        return None
    end = line + 1
    depth = len(match[1]) - len(match[1].lstrip(" -"))  # the column of the key
    while end < len(lines) and lines[end].strip() and _indent(lines[end]) > depth:
        end += 1
    value = "\n".join([lines[line].rstrip("\r")[match.end(1) :], *lines[line + 1 : end]])
    comment = _COMMENT.search(value)
    if "\n" in value and _MAY_END.search(value):
        return None  # where the text ends is a guess
    rest = comment[0] if comment else ""
    text = value[: len(value) - len(rest)]
    inside = "\n".join(quoted(part)[1:-1] for part in text.replace("\r", "").split("\n"))
    if "\n" in inside and "\r\n" in block:
        inside = inside.replace("\n", "\r\n")
    eol = "\r" if lines[end - 1].endswith("\r") else ""
    new = f'{match[1]}"{inside}"{rest.rstrip(chr(13))}{eol}'
    key = match[1].strip().lstrip("- ").rstrip(":")
    return key, "\n".join([*lines[:line], new, *lines[end:]])


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip(" "))


def _repeats(data: bytes, _path: str, _names: relink.Names) -> tuple[bytes, list[Fix]]:
    fixes: list[Fix] = []
    if not any(problem.code == "OKF203" for problem in _read(data).problems):
        return data, fixes
    for keys in edit.repeats(data):
        message = f"`{name_of(keys)}` stood twice and said the same; it stands once"
        fixes.append(Fix(_line(data, keys), "OKF203", message))
        data = edit.remove_repeats(data, keys)
    return data, fixes


def _tags(data: bytes, _path: str, _names: relink.Names) -> tuple[bytes, list[Fix]]:
    value = _read(data).front.get("tags")
    if not isinstance(value, str) or not value.strip():
        return data, []
    listed = [" ".join(tag.split()) for tag in value.split(",") if tag.strip()]
    new = edit.set_value(data, ["tags"], listed)
    return new, [Fix(_line(data, ["tags"]), "OKF204", "`tags` is a list")]


def _actors(data: bytes, _path: str, _names: relink.Names) -> tuple[bytes, list[Fix]]:
    fixes = []
    for keys, actor in list(_actors_of(_read(data).front)):
        text = actor.strip()
        near = _NEARLY_HUMAN.fullmatch(text)
        if near and not _HUMAN.fullmatch(text):
            right = f"human:{near[1]}"
            fixes.append(Fix(_line(data, keys), "OKF269", f"`{text}` is `{right}`"))
            data = edit.set_value(data, keys, right)
    return data, fixes


def _actors_of(front: dict[str, Any]) -> Iterator[tuple[Keys, str]]:
    for key in ("generated", "verified"):
        value = front.get(key)
        entries = enumerate(value) if isinstance(value, list) else [(None, value)]
        for number, entry in entries:
            if isinstance(entry, dict) and isinstance(entry.get("by"), str):
                yield [key, "by"] if number is None else [key, number, "by"], entry["by"]
    sources = front.get("sources")
    for number, entry in enumerate(sources if isinstance(sources, list) else ()):
        if isinstance(entry, dict) and isinstance(entry.get("author"), str):
            yield ["sources", number, "author"], entry["author"]


def _verified(data: bytes, _path: str, _names: relink.Names) -> tuple[bytes, list[Fix]]:
    if not isinstance(_read(data).front.get("verified"), dict):
        return data, []
    fix = Fix(_line(data, ["verified"]), "OKF263", "`verified` is a list")
    return edit.wrap(data, ["verified"]), [fix]


def _status(data: bytes, _path: str, _names: relink.Names) -> tuple[bytes, list[Fix]]:
    value = _read(data).front.get("status")
    word = value.strip().lower() if isinstance(value, str) else ""
    if word == value or word not in STATUSES:
        return data, []
    fix = Fix(_line(data, ["status"]), "OKF272", f"`status` is `{word}`")
    return edit.set_value(data, ["status"], word), [fix]


def _version(data: bytes, _path: str, _names: relink.Names) -> tuple[bytes, list[Fix]]:
    if not isinstance(_read(data).front.get("okf_version"), str):
        return data, []
    new = edit.quote(data, ["okf_version"])
    fix = Fix(_line(data, ["okf_version"]), "OKF279", "`okf_version` is in quotes")
    return new, [fix] if new != data else []


def _successor(data: bytes, path: str, names: relink.Names) -> tuple[bytes, list[Fix]]:
    """Mend our own link in a front matter; the spec's fields may be relative to other places."""
    value = _read(data).front.get("superseded_by")
    right = relink.case_of(value, path, names) if isinstance(value, str) else ""
    if not right:
        return data, []
    fix = Fix(_line(data, ["superseded_by"]), "OKF232", f"`{value}` is `{right}`")
    return edit.set_value(data, ["superseded_by"], right), [fix]


def _links(data: bytes, path: str, names: relink.Names) -> tuple[bytes, list[Fix]]:
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError:
        return data, []
    parts = cut(data)
    front = parts.head + parts.block if parts else ""
    line_end = parts.tail.find("\n") + 1 if parts else 0
    front += parts.tail[:line_end] if parts else ""
    if parts and not line_end:
        return data, []
    body, done = relink.relink(text[len(front) :], path, names)
    first = front.count("\n") + 1
    fixes = [
        Fix(first + line, right.code, f"`{written}` is `{right.target}`")
        for line, written, right in done
    ]
    return (front + body).encode(), fixes


def _line(data: bytes, keys: Keys) -> int:
    return _read(data).lines.get(str(keys[0]), 1)
