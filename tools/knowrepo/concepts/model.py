"""A concept: what the keys of an OKF file mean, read as leniently as the spec asks.

Owns the mapping from a `Document` to a `Concept`. Reading tolerates what is
seen in the wild (tags as a comma string, `timestamp` for `generated.at`, a
missing title); writing is another matter, and not here.
"""

from __future__ import annotations

import posixpath
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from knowrepo.concepts.document import Document

RESERVED = frozenset({"index.md", "log.md"})
FOLDER = "concepts"
_NO_CONCEPTS = RESERVED | {".md"}


@dataclass(frozen=True)
class Concept:
    """One concept of the bundle.

    ``id`` is its path in the bundle without `.md`; ``path`` is relative to the
    repository. ``date`` is `generated.at` as written, or empty.
    """

    id: str
    path: str
    type: str
    title: str
    description: str
    tags: tuple[str, ...]
    aliases: tuple[str, ...]
    status: str
    date: str
    superseded_by: str
    stale_after: str
    body: str


def concept_id(path: str) -> str:
    """Return the id of the concept at ``path``, relative to the repository."""
    return path.removeprefix(f"{FOLDER}/").removesuffix(".md")


def is_concept_path(path: str) -> bool:
    """Say whether a path of the repository is that of a concept."""
    name = path.rpartition("/")[2]  # asked of every file of a bundle: no path object
    return path.startswith(f"{FOLDER}/") and name.endswith(".md") and name not in _NO_CONCEPTS


def read_concept(path: str, data: bytes) -> Concept:
    """Read the concept at ``path``; what is missing or broken is empty, never an error."""
    from knowrepo.concepts.document import parse  # YAML: many ask for names and titles alone

    return from_document(path, parse(data))


def from_document(path: str, document: Document) -> Concept:
    """Read a parsed document as the concept at ``path``."""
    front = document.front
    generated = front.get("generated")
    date = _text(generated.get("at")) if isinstance(generated, dict) else ""
    return Concept(
        id=concept_id(path),
        path=path,
        type=_text(front.get("type")),
        title=_text(front.get("title")) or title_of(path),
        description=_text(front.get("description")),
        tags=_strings(front.get("tags")),
        aliases=_strings(front.get("aliases")),
        status=_text(front.get("status")) or "stable",
        date=date or _text(front.get("timestamp")),
        superseded_by=_text(front.get("superseded_by")),
        stale_after=_text(front.get("stale_after")),
        body=document.body,
    )


def successor(concept: Concept) -> str:
    """Return the path of what supersedes a concept, as its file names it; or nothing."""
    named = concept.superseded_by.partition("#")[0]
    if not named:
        return ""
    base = FOLDER if named.startswith("/") else posixpath.dirname(concept.path)
    full = posixpath.normpath(posixpath.join(base, named.lstrip("/")))
    return full if full.endswith(".md") else f"{full}.md"


def _text(value: Any) -> str:
    """Return a scalar as one line of printable text that can be written as UTF-8."""
    if not isinstance(value, str):
        return ""
    line = " ".join(value.split()).encode("utf-8", "replace").decode()
    return line if line.isprintable() else "".join(filter(str.isprintable, line))


def _strings(value: Any) -> tuple[str, ...]:
    if isinstance(value, str):
        value = value.split(",")
    if not isinstance(value, list):
        return ()
    seen = dict.fromkeys(_text(item) for item in value)
    return tuple(item for item in seen if item)


def title_of(path: str) -> str:
    """Return the title that the name of a file gives."""
    stem = _text(PurePosixPath(path).stem.replace("-", " ").replace("_", " "))
    return stem[:1].upper() + stem[1:]
