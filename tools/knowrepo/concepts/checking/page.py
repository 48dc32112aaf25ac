"""One file of a bundle as a check sees it: parsed once, with what can be said of it alone.

Owns which rules a file is held to. What needs other files (links, titles, what
superseded what) is not here. A page is small and can be sent between processes:
the text itself is left out of it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import PurePosixPath
from typing import Literal

from knowrepo.concepts.checking.findings import Finding
from knowrepo.concepts.checking.rules import encoding, names, provenance, reserved, values
from knowrepo.concepts.document import Document, ends_within, parse
from knowrepo.concepts.markdown import Outline, outline
from knowrepo.concepts.tags import is_generated

Role = Literal["concept", "index", "log", "meta"]

_MOST_BYTES = 1_000_000  # several times the largest real concept, and half a second's work


@dataclass(frozen=True)
class Page:
    """A file: its front matter, its outline, and the findings on it alone.

    ``document`` has no body any more. A page is ``generated`` where our own
    tools write it: its links say nothing about what belongs together. Where it is
    not ``whole``, nothing is known of what its body holds.
    """

    path: str
    role: Role
    document: Document
    outline: Outline
    findings: tuple[Finding, ...]
    generated: bool = False
    whole: bool = True

    @property
    def is_read(self) -> bool:
        """Whether the file could be read as what it is; else its links are not looked at."""
        return self.role in {"index", "log"} or self.document.has_front


@dataclass(frozen=True)
class Scope:
    """What a check is told: the bundle's folder, the time, and how to take rule 1.

    ``root`` is relative to the repository; empty where it is the bundle.
    """

    root: str
    now: datetime
    strict_spec: bool = False


def read_page(path: str, data: bytes, scope: Scope) -> Page:
    """Parse a file and hold it to the rules that need nothing else."""
    role = _role(path)
    if len(data) > _MOST_BYTES:
        return _read_head(path, role, data, scope)
    document = parse(data)
    shape = outline(document.body)
    found = [
        *names.check(_below(path, scope.root)),
        *encoding.check(path, data, document, shape),
        *_too_large(path, document, shape),
    ]
    found = [replace(one, path=path) for one in found]
    if role == "index":
        at_root = path == (f"{scope.root}/index.md" if scope.root else "index.md")
        found += reserved.check_index(path, document, shape, root=at_root)
    elif role == "log":
        found += reserved.check_log(path, document, shape)
    else:
        role, more = _check_concept(path, document, shape, scope)
        found += more
    generated = role == "index" and is_generated(data)
    return Page(path, role, replace(document, body=""), shape, tuple(found), generated)


def read_beside(path: str, data: bytes, scope: Scope) -> Page:
    """Read a file that others link to: what it is, its front matter, and its body as it is.

    Nothing is said of it, so its body is taken apart only when somebody asks for it.
    """
    if len(data) > _MOST_BYTES or names.is_meta(PurePosixPath(path).name):
        return read_page(path, data, scope)
    return Page(path, _role(path), parse(data), Outline(), ())


def _read_head(path: str, role: Role, data: bytes, scope: Scope) -> Page:
    """Hold a file that is too large to what its front matter and its bytes tell."""
    size = f"{len(data) / 1e6:.1f} MB"
    said = f"{size}, too large for a concept; what its body holds is not checked: divide it"
    found = [Finding(path, 1, 1, "OKF298", said), *names.check(_below(path, scope.root))]
    if ends_within(data, _MOST_BYTES):
        document = replace(parse(data), body="")
    else:
        document = Document({}, "", 1, has_front=False)
    found += encoding.check(path, data, document, Outline())
    if role == "concept":
        found += [Finding(path, p.line, p.column, p.code, p.message) for p in document.problems]
        found += values.check(path, document, scope.now) if document.front else ()
    found = [replace(one, path=path) for one in found]
    return Page(path, role, document, Outline(), tuple(found), whole=False)


def _role(path: str) -> Role:
    name = PurePosixPath(path).name
    return "index" if name == "index.md" else "log" if name == "log.md" else "concept"


def _below(path: str, root: str) -> str:
    return path.removeprefix(f"{root}/") if root else path


def _check_concept(
    path: str, document: Document, shape: Outline, scope: Scope
) -> tuple[Role, list[Finding]]:
    problems = [Finding(path, p.line, p.column, p.code, p.message) for p in document.problems]
    found = [*problems]
    if document.front:
        found += values.check(path, document, scope.now)
        found += provenance.check(path, document, shape, scope.now)
    if names.is_meta(PurePosixPath(path).name) and not scope.strict_spec:
        broken = [one for one in found if one.code.startswith("OKF10") and one.code != "OKF106"]
        if broken:
            said = "no concept, yet among them; move it out of the bundle, or give it a `type`"
            return "meta", [Finding(path, 1, 1, "OKF220", said)]
    return "concept", found


def _too_large(path: str, document: Document, shape: Outline) -> Iterator[Finding]:
    for line in shape.skipped:
        said = "a paragraph with too many brackets; its links are not checked: divide it"
        yield Finding(path, document.body_line + line, 1, "OKF299", said)
