"""From a concept or a session to a document of the catalog and its chunks.

Owns which names, terms and chunks each kind of document has. What is indexed,
and when, is `build`'s business.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path, PurePosixPath

from knowrepo.concepts.document import parse
from knowrepo.concepts.model import Concept, from_document
from knowrepo.concepts.tags import TAG_INDEX, concept_path, read_tag_index
from knowrepo.errors import KnowError
from knowrepo.git.layout import Repository
from knowrepo.index.catalog import Catalog, Document, Field, StoredChunk
from knowrepo.index.chunk import (
    Chunk,
    chunk_id,
    concept_chunks,
    document_id,
    project_name,
    session_chunks,
)
from knowrepo.index.text import normal_name, stem, words
from knowrepo.sessions import store
from knowrepo.sessions.conflicts import marker_line
from knowrepo.sessions.readers import reader_of
from knowrepo.units import LONGEST_TITLE, shorten

_OWN_SESSION = 3  # parts of the path of a session that is nobody's sub-agent


def put_concept(catalog: Catalog, path: str, oid: str, data: bytes) -> None:
    """Put the concept at ``path`` into the catalog; broken front matter leaves fields empty."""
    parsed = parse(data)
    concept = from_document(path, parsed)
    chunks = concept_chunks(concept, body_line=parsed.body_line)
    _put_concept(catalog, concept, oid=oid, chunks=chunks)


def _put_concept(catalog: Catalog, concept: Concept, *, oid: str, chunks: list[Chunk]) -> None:
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
        _stored(key, chunks),
        tags=concept.tags,
        names=list(_names(concept)),
        terms=list(_terms(concept)),
    )


def from_tag_index(repository: Repository) -> Catalog:
    """Return a catalog in memory of what the tag index says, for the structured layer alone.

    A concept whose file is absent is left out.
    """
    catalog = Catalog.in_memory()
    path = repository.root / TAG_INDEX
    entries = read_tag_index(path.read_bytes()) if path.is_file() else ()
    for entry in entries:
        file = concept_path(entry.concept)
        if (repository.root / file).is_file():
            concept = Concept(
                id=entry.concept,
                path=file,
                type=entry.type,
                title=entry.title,
                description=entry.description,
                tags=entry.tags,
                aliases=entry.aliases,
                status=entry.status,
                date=entry.date,
                superseded_by="",
                stale_after="",
                body="",
            )
            _put_concept(catalog, concept, oid="", chunks=[])
    return catalog


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


def put_session(catalog: Catalog, root: Path, path: str, stamp: str) -> None:
    """Put the archived session at ``path``, relative to ``root``, into the catalog.

    Where its content is what the catalog has, only the stamp is noted. Raises
    KnowError where it holds conflict markers: which lines are its own is not known.
    """
    key = path.removesuffix(".jsonl")
    agent, name = PurePosixPath(path).parts[1], PurePosixPath(path).stem
    reader = reader_of(agent)
    lines = store.SessionLines(root / path)
    oid = store.oid(lines.files)
    if catalog.oid_of(key) == oid:  # touched, not changed
        catalog.restamp(key, stamp=stamp)
        return
    for part in lines.files:
        line = marker_line(part)
        if line:
            raise KnowError(f"line {line} is a conflict marker; `know merge {path}` mends it")
    document = Document(
        key=key,
        uid=document_id(key),
        path=path,
        oid=oid,
        stamp=stamp,
        kind="session",
        agent=agent,
        title=name,
    )
    if reader is None:  # an archive made by a newer know: kept, and not searched
        catalog.put(document, [])
        return
    facts = reader.facts(lines, name)
    if len(PurePosixPath(path).parts) > _OWN_SESSION:  # below the session that called it
        facts = replace(facts, sub_agent=True)
    document = replace(
        document,
        title=shorten(facts.title, LONGEST_TITLE) or name,
        date=facts.date,
        project=project_name(facts.project),
        branch=facts.branch,
    )
    chunks = () if facts.helper else session_chunks(reader.read(lines), facts)
    catalog.put(document, _stored(key, chunks))


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


def _stored(key: str, chunks: Iterable[Chunk]) -> Iterator[StoredChunk]:
    for seq, chunk in enumerate(chunks):
        yield StoredChunk(
            uid=chunk_id(key, chunk.anchor),
            seq=seq,
            anchor=chunk.anchor,
            heading=chunk.heading,
            context=chunk.context,
            text=chunk.text,
            time=chunk.time,
            line=chunk.line,
            text_hash=chunk.text_hash,
        )
