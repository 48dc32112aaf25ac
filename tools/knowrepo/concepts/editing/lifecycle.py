"""A concept's way from draft to stable to deprecated.

Owns what may follow what, and the two keys that say it: `status`, and
`superseded_by`, a path relative to the file. Nothing here ever says that
somebody verified something.
"""

from __future__ import annotations

import posixpath
from collections.abc import Callable

from knowrepo.concepts.document import parse
from knowrepo.concepts.editing import edit
from knowrepo.concepts.model import concept_id, read_concept, successor
from knowrepo.errors import KnowError

Read = Callable[[str], bytes | None]
"""Gives the content of a path of the repository, where there is such a file."""


def superseded(old: str, new: str, read: Read, *, force: bool = False) -> bytes:
    """Return the bytes of the concept at ``old``, deprecated and superseded by that at ``new``.

    Raises KnowError where that makes a loop, or another supersedes it already
    (but for ``force``).
    """
    data = read(old)
    if data is None or read(new) is None:
        raise KnowError(f"{old if data is None else new}: no such file")
    if old == new:
        raise KnowError(f"{concept_id(old)} cannot supersede itself")
    way = _successors(new, read)
    if old in way:
        said = " -> ".join(concept_id(path) for path in [new, *way[: way.index(old) + 1]])
        raise KnowError(f"that makes a loop: {said}", hint="deprecate the other one, or neither")
    before = successor(read_concept(old, data))
    if before and before != new and not force:
        raise KnowError(
            f"{concept_id(old)} is superseded by {concept_id(before)} already",
            hint="--force names the new one instead",
        )
    with edit.in_file(old):
        data = deprecated(data)
        if before == new:
            return data
        return edit.set_value(data, ["superseded_by"], link(old, new))


def deprecated(data: bytes) -> bytes:
    """Return a concept's bytes with the status `deprecated`."""
    return edit.set_value(data, ["status"], "deprecated")


def accepted(data: bytes) -> bytes:
    """Return a draft's bytes with the status `stable`; what is stable stays as it is.

    Raises KnowError for a deprecated one, and for a file that is no concept.
    """
    front = parse(data).front
    status = front.get("status")
    word = status.strip().casefold() if isinstance(status, str) else ""
    if not front.get("type"):
        raise KnowError("no `type`, so no concept yet", hint="add `type: …` to its front matter")
    if word == "deprecated":
        raise KnowError("deprecated", hint="if it holds again, say `status: stable` in the file")
    return edit.set_value(data, ["status"], "stable") if word == "draft" else data


def link(old: str, new: str) -> str:
    """Return the path that leads from one file to another."""
    return posixpath.relpath(new, posixpath.dirname(old))


def _successors(path: str, read: Read) -> list[str]:
    """Return what supersedes a concept, what supersedes that, and so on, each once."""
    found: list[str] = []
    while (data := read(path)) is not None:
        path = successor(read_concept(path, data))
        if not path or path in found:
            break
        found.append(path)
    return found
