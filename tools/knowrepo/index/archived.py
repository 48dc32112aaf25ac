"""From an archived session to a document of the catalog and its chunks.

Owns what is read of a session's files, and needs nothing but these: no catalog is
open here, so this runs in helpers too. Which sessions are read is `build`'s business.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path, PurePosixPath
from typing import NamedTuple

from knowrepo.errors import KnowError
from knowrepo.index.catalog import Document, StoredChunk
from knowrepo.index.chunk import Chunk, chunk_id, document_id, session_chunks
from knowrepo.sessions import origin, store
from knowrepo.sessions.conflicts import OURS, THEIRS, marker_line
from knowrepo.sessions.readers import reader_of
from knowrepo.units import LONGEST_TITLE, shorten

_OWN_SESSION = 3  # parts of the path of a session that is nobody's sub-agent


class ReadSession(NamedTuple):
    """What is to be put into the catalog of a session; no document where it is known already.

    ``noted`` is its project, where the archive says which. ``analyses`` are what
    `text.analysed` returns of some of its texts.
    """

    document: Document | None
    chunks: Iterable[StoredChunk] = ()
    analyses: Mapping[str, str] = {}
    noted: origin.Origin | None = None


def read_session(root: Path, path: str, stamp: str, known: str | None = None) -> ReadSession:
    """Read the archived session at ``path``; ``known`` is the oid of what the catalog has.

    The chunks of a large one are read while they are gone through. Raises
    KnowError where it holds conflict markers: which lines are its own is not known.
    """
    key = path.removesuffix(".jsonl")
    agent, name = PurePosixPath(path).parts[1], PurePosixPath(path).stem
    reader = reader_of(agent)
    lines = store.SessionLines(root / path)
    oid = lines.oid()
    place = store.name_of(root / "sessions", root / path)
    noted = origin.noted(root / "sessions", place) if place else None
    if oid == known:
        return ReadSession(None, noted=noted)
    for part in lines.files if lines.may_hold(OURS, THEIRS) else ():
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
        return ReadSession(document)
    facts = reader.facts(lines, name)
    if len(PurePosixPath(path).parts) > _OWN_SESSION:  # below the session that called it
        facts = replace(facts, sub_agent=True)
    document = replace(
        document,
        title=shorten(facts.title, LONGEST_TITLE) or name,
        date=facts.date,
        project=noted.name if noted else origin.folder_name(facts.project),
        identity=noted.identity if noted else "",
        branch=facts.branch,
    )
    chunks = () if facts.helper else session_chunks(reader.read(lines), facts)
    return ReadSession(document, stored(key, chunks))


def stored(key: str, chunks: Iterable[Chunk]) -> Iterator[StoredChunk]:
    """Yield chunks of the document with ``key`` as the catalog keeps them."""
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
