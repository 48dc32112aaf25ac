"""What is asked for by id: a document, a chunk, its body, what stands around it.

Owns how the digits of an id find what they name, and the errors where they do not.
"""

from __future__ import annotations

import re
from dataclasses import replace

from knowrepo.errors import KnowError, UsageError
from knowrepo.index.catalog import Catalog
from knowrepo.recall.hits import Hit, chunk_hit, chunk_hits, document_hit

_ID = re.compile(r"[0-9a-f]{4,40}")
_ID_FORM = re.compile(rf"id:({_ID.pattern})")


def named_id(query: str) -> str:
    """Return the id that a query of the form `id:a3f2` names, else an empty string."""
    found = _ID_FORM.fullmatch(query.strip())
    return found.group(1) if found else ""


def resolve(catalog: Catalog, given: str) -> Hit:
    """Return what has this id.

    Raises `MalformedError` for what cannot be an id, `NoMatchError` for one
    that names nothing or several things.
    """
    wanted = given.strip().lower()
    if not _ID.fullmatch(wanted):
        raise MalformedError(f"`{given.strip()}` is no id", hint="an id is 4 to 40 hex digits")
    found = catalog.with_prefix(wanted)
    if not found:
        raise NoMatchError(f"[no match for {wanted}]")
    if len(found) > 1:
        shown = ", ".join(catalog.shown_ids(uid for uid, _, _ in found[:8]).values())
        raise NoMatchError(f"[{wanted} is ambiguous: {shown}]")
    _, kind, number = found[0]
    if kind == "document":
        return document_hit(catalog, catalog.documents([number])[number], 1.0)
    chunk = catalog.chunks([number])[number]
    return chunk_hit(catalog, catalog.documents([chunk.document])[chunk.document], chunk, 1.0)


class MalformedError(UsageError):
    """What cannot be an id."""


class NoMatchError(KnowError):
    """An id that names nothing, or more than one thing."""


def timeline(catalog: Catalog, given: str, window: int) -> tuple[list[Hit], int]:
    """Return the chunks around an id in its document, in order, and the place of the id."""
    hit = resolve(catalog, given)
    document = catalog.document_at(hit.path)
    assert document is not None  # the hit came out of this catalog
    chunks = catalog.chunks_of(document.id)
    if not chunks:
        raise NoMatchError(f"[{hit.id} has no text that is searched]")
    at = next((chunk.seq for chunk in chunks if chunk.uid == hit.uid), 0)
    near = [chunk for chunk in chunks if abs(chunk.seq - at) <= window]
    return chunk_hits(catalog, [(document, chunk, 0.0) for chunk in near]), at - near[0].seq


def with_text(catalog: Catalog, hit: Hit) -> Hit:
    """Return a hit with its whole text: of a document, all its chunks."""
    if hit.text:
        return hit
    document = catalog.document_at(hit.path)
    chunks = catalog.chunks_of(document.id) if document else []
    text = "\n\n".join(
        f"## {chunk.heading}\n\n{chunk.text}" if chunk.heading and hit.kind == "concept"
        else chunk.text
        for chunk in chunks
    )  # fmt: skip
    return replace(hit, text=text)
