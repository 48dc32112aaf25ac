"""From a concept or a session to a document of the catalog and its chunks.

Owns which names, terms and chunks each kind of document has. What is indexed,
and when, is `build`'s business.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path, PurePosixPath

from knowrepo.concepts.document import parse
from knowrepo.concepts.model import Concept, from_document
from knowrepo.index.archived import ReadSession, read_session, stored
from knowrepo.index.catalog import Catalog, Document, Field
from knowrepo.index.chunk import (
    Chunk,
    concept_chunks,
    document_id,
)
from knowrepo.index.text import normal_name, stem, words


def put_concept(catalog: Catalog, path: str, oid: str, data: bytes) -> None:
    """Put the concept at ``path`` into the catalog; broken front matter leaves fields empty."""
    parsed = parse(data)
    concept = from_document(path, parsed)
    chunks = concept_chunks(concept, body_line=parsed.body_line)
    _put_concept(catalog, concept, oid=oid, chunks=chunks)


def _put_concept(
    catalog: Catalog,
    concept: Concept,
    *,
    oid: str,
    chunks: list[Chunk],
    beginnings: tuple[str, ...] = ("",),
) -> None:
    key = concept.path.removesuffix(".md")
    document = Document(
        key=key,
        uid=document_id(key),
        path=concept.path,
        oid=oid,
        kind="concept",
        type=concept.type,
        title=concept.title,
        description=concept.description,
        date=concept.date,
        status=concept.status,
        superseded_by=concept.superseded_by,
        stale_after=concept.stale_after,
    )
    catalog.put(
        document,
        stored(key, chunks),
        tags=concept.tags,
        names=list(_names(concept)),
        terms=[
            (term, field)  # what is in the path stays: who holds no term is no concept
            for term, field in _terms(concept)
            if field == "path" or term.startswith(beginnings)
        ],
    )


def put_named(catalog: Catalog, concept: Concept, beginnings: tuple[str, ...]) -> None:
    """Put a concept into the catalog by its front matter, without its text.

    Of its words only those that begin so, and those of its path.
    """
    _put_concept(catalog, concept, oid="", chunks=[], beginnings=beginnings)


def _names(concept: Concept) -> Iterator[tuple[str, Field]]:
    """Yield the normalised names that a query may call a concept by."""
    stem_of_path = PurePosixPath(concept.id).name
    for text, field in [*_front_matter(concept), (stem_of_path, "path")]:
        name = normal_name(text)
        if name and field != "description":
            yield name, field


def _terms(concept: Concept) -> Iterator[tuple[str, Field]]:
    """Yield the stems of a concept's front matter, each with its field."""
    for text, field in [*_front_matter(concept), (concept.id.replace("/", " "), "path")]:
        for word in words(text):
            yield stem(word), field


def _front_matter(concept: Concept) -> list[tuple[str, Field]]:
    return [
        *((tag, "tag") for tag in concept.tags),
        *((alias, "alias") for alias in concept.aliases),
        (concept.title, "title"),
        (concept.type, "type"),
        (concept.description, "description"),
    ]


def put_session(
    catalog: Catalog, root: Path, path: str, stamp: str, read: ReadSession | None = None
) -> None:
    """Put the archived session at ``path``, relative to ``root``, into the catalog.

    ``read`` is what `read_session` returned, where that was done before. Where the
    content is what the catalog has, only the stamp is noted.
    """
    key = path.removesuffix(".jsonl")
    if read is None:
        read = read_session(root, path, stamp, catalog.oid_of(key))
    if read.document is None and not read.noted and catalog.identity_of(key):
        read = read_session(root, path, stamp)  # nobody says any more which project it is of
    if read.document is None:  # touched, not changed
        catalog.restamp(key, stamp=stamp)
        if read.noted:
            catalog.attribute(key, project=read.noted.name, identity=read.noted.identity)
    else:
        catalog.put(read.document, read.chunks, analyses=read.analyses)


def put_unreadable(catalog: Catalog, path: str, mark: str) -> None:
    """Put a document that could not be read, so that it is not tried at every recall."""
    key, _, extension = path.rpartition(".")
    catalog.put(
        Document(
            key=key,
            uid=document_id(key),
            path=path,
            oid=mark,
            kind="concept" if extension == "md" else "session",
            title=PurePosixPath(key).name,
        ),
        [],
    )
