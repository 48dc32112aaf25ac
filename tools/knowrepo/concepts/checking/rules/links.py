"""Rules on links and on fields that hold a path (S6).

Targets are decoded before they are resolved. A link to a folder, and to an
index.md that a reader would make up there, is as good as one to a file.
"""

from __future__ import annotations

import html
import posixpath
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import NamedTuple
from urllib.parse import unquote

from knowrepo.concepts.checking.findings import Finding, at_value
from knowrepo.concepts.checking.page import Page
from knowrepo.concepts.checking.tree import Spellings, Tree
from knowrepo.concepts.document import KeyPath
from knowrepo.concepts.markdown import Link, outline

_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:")
_LINK_TEXT = re.compile(r"!?\[([^\[\]]*)\]\([^()]*\)|<[^<>]*>")
_NO_HEADING = re.compile(r"L?\d+(?:-L?\d+)?|fn.*|:~:.*|top|user-content-.*", re.IGNORECASE)
_LINES = re.compile(r"(?::\d+(?:-\d+)?)+$|#.*$")
_HOST = re.compile(r"(?:[\w-]+\.)+[a-z]{2,}", re.IGNORECASE)
_ENDING = re.compile(r"\.[A-Za-z0-9]{1,8}$")
_NO_PATH = frozenset(" \t\n*{}<>$|?\"'`()[],;")


class Edge(NamedTuple):
    """A link that leads to a file; places are 1-based in the file that it stands in."""

    source: str
    target: str
    line: int
    column: int


@dataclass(frozen=True)
class Target:
    """Where a link leads: a path that is there, or nothing; and what is to be said of that."""

    path: str
    code: str = ""
    message: str = ""


@dataclass(frozen=True)
class Surroundings:
    """What links are resolved in: what is there, where the bundle is, and how to open a page."""

    tree: Tree
    root: str
    page: Callable[[str], Page | None]
    spellings: Spellings = field(init=False)
    _headings: dict[str, frozenset[str]] = field(init=False, default_factory=dict)

    def __post_init__(self) -> None:
        object.__setattr__(self, "spellings", Spellings(self.tree))

    def resolve(self, path: str, target: str) -> Target:
        """Resolve the target of a link that stands in the file ``path``."""
        raw = target.partition("#")[0].partition("?")[0]
        decoded = unquote(raw)
        base = self.root if decoded.startswith("/") else posixpath.dirname(path)
        full = _join(base, decoded)
        if full.startswith("../") or full == "..":
            where = "repository" if self.root else "bundle"
            return Target("", "OKF202", f"`{target}` leaves the {where}; link to what is in it")
        if self._is_there(full):
            return Target(full)
        tree = self.tree
        if tree.kind(f"{full}.md") == "file":
            return Target(f"{full}.md", "OKF233", f"`{target}` lacks `.md`; write it")
        if decoded.startswith("/") and self.root:
            other = _join("", decoded)
            if self._is_there(other) and other:
                near = _relative(path, other)
                said = f"`{target}` starts at the repository; did you mean `{near}`?"
                return Target(other, "OKF236", said)
        return self._misspelled(target, base, raw, full)

    def headings(self, page: Page) -> frozenset[str]:
        """Return what anchors into a page may be, by letters and digits alone."""
        if page.path not in self._headings:
            body = page.document.body  # of a file beside those that are checked
            shape = outline(body) if body else page.outline
            known = {_letters(anchor) for anchor in shape.anchors}
            for heading in shape.headings:
                text = html.unescape(heading.text)
                known |= {_letters(text), _letters(_LINK_TEXT.sub(r"\1", text))}
            self._headings[page.path] = frozenset(known)
        return self._headings[page.path]

    def _misspelled(self, target: str, base: str, raw: str, full: str) -> Target:
        for again in (raw, unquote(unquote(raw))):
            other = _join(base, again)
            if other != full and self._is_there(other):
                said = f"`{target}` is encoded in a wrong way; the file is `{other}`"
                return Target(other, "OKF237", said)
        others = self.spellings.find(full) or self.spellings.find(f"{full}.md")
        if others:
            said = f"`{target}`: the name is spelled `{posixpath.basename(others[0])}`"
            return Target(others[0], "OKF232", said)
        hint = "; use `/` between folders" if "\\" in full else ""
        return Target("", "OKF201", f"`{target}`: no such file{hint}")

    def _is_there(self, full: str) -> bool:
        if self.tree.kind(full):
            return True
        folder, _, name = full.rpartition("/")
        return name == "index.md" and bool(folder) and self.tree.kind(folder) == "folder"

    def find_path(self, path: str, value: str, *, endings: tuple[str, ...] = ("",)) -> str:
        """Return what a field's path names: from its file, the bundle, or the repository."""
        decoded = unquote(value)
        above = [self.root]  # and what it lies in: `lib/x.rb` of a bundle that documents a package
        while above[-1]:
            above.append(posixpath.dirname(above[-1]))
        bases = dict.fromkeys((posixpath.dirname(path), *above))
        for text in dict.fromkeys((decoded, value)):
            for base in bases if not text.startswith("/") else dict.fromkeys((self.root, "")):
                for ending in endings:
                    full = _join(base, f"{text.rstrip('/')}{ending}")
                    if not full.startswith("..") and self.tree.kind(full):
                        return full
        return ""


def check(page: Page, around: Surroundings) -> tuple[list[Finding], list[Edge]]:
    """Return what is to be said of a page's links, and where those lead that lead somewhere."""
    found: list[Finding] = []
    edges: list[Edge] = []
    if not page.is_read or page.role == "meta":
        return found, edges
    first = page.document.body_line
    for link in page.outline.links:
        place = (page.path, first + link.line, link.column + 1)
        target = link.target.strip()
        if not target or target.startswith("//") or _SCHEME.match(target):
            continue
        if target.startswith(("#", "?")):
            found += _heading(page, target, page.path, place, around)
            continue
        led = around.resolve(page.path, target)
        if led.code and not (page.role == "log" and not led.path):
            # A log is history: what it names may be gone since.
            found.append(Finding(*place, led.code, led.message))
        if led.path:
            edges.append(Edge(page.path, led.path, place[1], place[2]))
            found += _at_target(page, target, led.path, place, around)
    found += [_wikilink(page, link) for link in page.outline.wikilinks]
    fields, more = _fields(page, around)
    return [*found, *fields], [*edges, *more]


def _at_target(
    page: Page, target: str, path: str, place: tuple[str, int, int], around: Surroundings
) -> Iterator[Finding]:
    if "#" in target:
        yield from _heading(page, target, path, place, around)
    elif path == page.path:
        yield Finding(*place, "OKF231", f"`{target}` is this file; link to another, or a heading")


def _heading(
    page: Page, target: str, path: str, place: tuple[str, int, int], around: Surroundings
) -> Iterator[Finding]:
    """Yield a heading that the target lacks; renderers differ, so only letters are compared."""
    anchor = unquote(target.partition("#")[2])
    if not anchor or _NO_HEADING.fullmatch(anchor) or not path.endswith(".md"):
        return
    other = page if path == page.path else around.page(path)
    if other is None or not other.whole:
        return
    known = around.headings(other)
    wanted = _letters(anchor)
    if wanted not in known and wanted.rstrip("0123456789") not in known:
        yield Finding(*place, "OKF234", f"`{target}`: no such heading; look at its headings")


def _letters(text: str) -> str:
    return "".join(filter(str.isalnum, text.casefold()))


def _wikilink(page: Page, link: Link) -> Finding:
    line = page.document.body_line + link.line
    said = f"`[[{link.target}]]` is no Markdown link; write `[text](file.md)`"
    return Finding(page.path, line, link.column + 1, "OKF235", said)


def _fields(page: Page, around: Surroundings) -> tuple[list[Finding], list[Edge]]:
    """Return what the fields that hold paths lead to."""
    found: list[Finding] = []
    edges: list[Edge] = []
    for key, value in _values(page):
        place = page.document.places.get(key, (1, 1, False))
        path = around.find_path(page.path, _LINES.sub("", value)) if _may_be_path(value) else ""
        if path:
            edges.append(Edge(page.path, path, place[0], place[1]))
        elif _is_path(value) and _speaks_of_here(page.path, key, value, around):
            said = f"`{key[-1]}: {value}`: no such file; correct the path"
            found.append(at_value(page.path, page.document, "OKF239", said, *key))
    return found, edges


def _values(page: Page) -> Iterator[tuple[KeyPath, str]]:
    front = page.document.front
    keys: list[KeyPath] = [("resource",)]
    if front.get("type") == "Attested Computation":
        keys += [("computation",), ("executor", "resource"), ("attester", "resource")]
    sources = front.get("sources")
    keys += [
        ("sources", n, "resource") for n in range(len(sources) if isinstance(sources, list) else 0)
    ]
    for key in keys:
        value: object = front
        for part in key:
            if isinstance(value, dict):
                value = value.get(part)
            elif isinstance(value, list) and isinstance(part, int):
                value = value[part]
            else:
                value = None
        if isinstance(value, str) and value.strip():
            yield key, value.strip()


def _may_be_path(value: str) -> bool:
    return not _SCHEME.match(value) and not _NO_PATH & set(value) and not value.startswith("//")


def _is_path(value: str) -> bool:
    """Say whether a text can be nothing but a path: it ends like a file, and has a folder."""
    text = _LINES.sub("", value)
    if not _may_be_path(value) or not _ENDING.search(text):
        return False
    first = text.partition("/")[0]
    return text.endswith(".md") or ("/" in text and not _HOST.fullmatch(first))


def _speaks_of_here(path: str, key: KeyPath, value: str, around: Surroundings) -> bool:
    """Say whether a path must be one of this repository; a source may be a file of another."""
    if key[0] in {"computation", "executor", "attester"} or value.startswith("/"):
        return True
    full = _join(posixpath.dirname(path), value)
    if full.startswith(".."):
        return False
    first = value.partition("/")[0]
    return first in {".", "..", value} or bool(around.find_path(path, first))


def _join(base: str, target: str) -> str:
    """Return the normal form of a path, empty for the top itself."""
    full = posixpath.normpath(posixpath.join(base, target.lstrip("/")) or ".")
    return "" if full == "." else full


def _relative(path: str, target: str) -> str:
    return posixpath.relpath(target, posixpath.dirname(path) or ".")
