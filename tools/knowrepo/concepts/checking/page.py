"""One file of a bundle as a check sees it: parsed once, with what can be said of it alone.

Owns which rules a file is held to. What needs other files (links, titles, what
superseded what) is not here. A page is small and can be sent between processes:
the text itself is left out of it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import PurePosixPath
from typing import Any, Literal

from knowrepo.concepts.checking.findings import Finding
from knowrepo.concepts.checking.rules import encoding, names, provenance, reserved, values
from knowrepo.concepts.document import Document, ends_within, parse
from knowrepo.concepts.markdown import Outline, outline
from knowrepo.concepts.tags import is_generated

Role = Literal["concept", "index", "log", "meta"]

# What rules that look beyond one file read of a front matter; the rest ends here.
_TEXTS = (
    "type", "title", "status", "superseded_by", "stale_after", "resource", "computation",
)  # fmt: skip
_WITH_RESOURCE = ("executor", "attester")
# In a front matter; YAML can spell a word otherwise with a backslash only.
_IS_OVER = re.compile(r"deprecated|superseded_by|\\", re.IGNORECASE).search
_MOST_BYTES = 1_000_000  # several times the largest real concept, and half a second's work


@dataclass(frozen=True)
class Page:
    """A file: its front matter, its outline, and the findings on it alone.

    ``document`` and ``outline`` hold no more than what is asked of them later, and
    that goes through JSON unchanged. A page is ``generated`` where our own
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
    return Page(path, role, _lean(document), _links_of(shape), tuple(found), generated)


def read_beside(path: str, data: bytes, scope: Scope) -> Page:
    """Read a file that others link to: what it is, what replaced it, and its body as it is.

    Nothing is said of it, so its body is taken apart only when somebody asks for it,
    and its front matter only where it can say that the concept is no longer current.
    """
    if len(data) > _MOST_BYTES:
        return read_page(path, data, scope)
    if names.is_meta(PurePosixPath(path).name):
        document = parse(data)
        role, _ = _check_concept(path, document, None, scope)
        return Page(path, role, document, Outline(), ())
    return Page(path, _role(path), parse(data, _IS_OVER), Outline(), ())


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
        role, more = _check_concept(path, document, None, scope)
        found += more
    found = [replace(one, path=path) for one in found]
    return Page(path, role, _lean(document), Outline(), tuple(found), whole=False)


def _lean(document: Document) -> Document:
    """Return a document with what rules that look beyond one file need."""
    front = document.front
    kept: dict[str, Any] = {key: front[key] for key in _TEXTS if isinstance(front.get(key), str)}
    kept |= {key: _resource(front[key]) for key in _WITH_RESOURCE if key in front}
    sources = front.get("sources")
    if isinstance(sources, list):
        kept["sources"] = [_resource(entry) for entry in sources]
    return Document(
        kept, "", document.body_line, document.has_front,
        lines={key: line for key, line in document.lines.items() if key in kept},
        places={
            key: place for key, place in document.places.items()
            if key[0] in kept and (len(key) < 3 or key[-1] == "resource")
        },
    )  # fmt: skip


def _resource(value: Any) -> dict[str, str]:
    text = value.get("resource") if isinstance(value, dict) else None
    return {"resource": text} if isinstance(text, str) else {}


def _links_of(shape: Outline) -> Outline:
    return Outline(
        headings=shape.headings, links=shape.links, wikilinks=shape.wikilinks,
        anchors=shape.anchors,
    )  # fmt: skip


def _role(path: str) -> Role:
    name = PurePosixPath(path).name
    return "index" if name == "index.md" else "log" if name == "log.md" else "concept"


def _below(path: str, root: str) -> str:
    return path.removeprefix(f"{root}/") if root else path


def _check_concept(
    path: str, document: Document, shape: Outline | None, scope: Scope
) -> tuple[Role, list[Finding]]:
    """Return what a file is, and what its front matter says; ``shape`` is that of its body."""
    problems = [Finding(path, p.line, p.column, p.code, p.message) for p in document.problems]
    found = [*problems]
    if document.front:
        found += values.check(path, document, scope.now)
        if shape is not None:
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
