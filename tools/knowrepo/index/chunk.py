"""Cutting documents into chunks, by a versioned rule that needs no model.

Owns boundaries, anchors, ids and text hashes: every machine must make the same
ones, so nothing here may depend on a model, a clock or the order of files, and
a change comes with a new `CHUNK_RULE` in the catalog's schema, which rebuilds it. A chunk is
packed from the front: what is appended to a session changes its last chunk or
adds new ones, and no other.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import pairwise
from pathlib import PurePath, PurePosixPath, PureWindowsPath

from knowrepo.concepts.markdown import Section, sections
from knowrepo.concepts.model import Concept
from knowrepo.sessions.record import Record, SessionFacts

LIMIT = 1200
"""Characters of a chunk's text; about 300 tokens of prose."""

_CALL = 200  # characters of a tool call
_HEAD, _TAIL = 300, 150  # characters of a tool's output
_LINE = 120  # characters of a heading taken from a user's line
_JOINT = "\0"  # between the parts of an anchor: it stands in no heading and no id
_SPEAKERS = {"user": "User", "assistant": "Assistant", "tool": "Output"}


@dataclass(frozen=True)
class Chunk:
    """A piece of a document that is found, shown and embedded as one.

    ``anchor`` names it in its document. ``context`` is what is embedded ahead
    of ``text``: only what cannot change while the document grows. ``time`` is
    ISO 8601 or empty, ``line`` the 1-based line of the document where it starts.
    """

    anchor: str
    heading: str
    text: str
    context: str
    time: str = ""
    line: int = 1

    @property
    def embedded_text(self) -> str:
        """The text that is embedded."""
        return f"{self.context}\n{self.text}" if self.context else self.text

    @property
    def text_hash(self) -> str:
        """32 hex digits that name the embedded text wherever it occurs."""
        return text_hash(self.embedded_text)


def text_hash(text: str) -> str:
    """Return the name of an embedded text: the first 128 bits of its sha256, in hex."""
    return hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()[:32]


def document_id(key: str) -> str:
    """Return the id of the document with ``key`` (40 hex digits)."""
    return hashlib.sha1(key.encode(), usedforsecurity=False).hexdigest()


def chunk_id(key: str, anchor: str) -> str:
    """Return the id of a chunk of the document with ``key`` (40 hex digits)."""
    return hashlib.sha1(f"{key}\0{anchor}".encode(), usedforsecurity=False).hexdigest()


def concept_chunks(concept: Concept, *, body_line: int = 1) -> list[Chunk]:
    """Cut a concept at its headings, and a long section between its blocks.

    A section's anchor is its path of headings, counted where it repeats, and a
    part number where it was cut.
    """
    chunks: list[Chunk] = []
    seen: dict[str, int] = {}
    for section in sections(concept.body):
        text = section.text.strip()
        if not section.headings:
            text = "\n\n".join(filter(None, (concept.description, text)))
        if not text:
            continue
        name = " > ".join(" ".join(heading.split()) for heading in section.headings)
        seen[name] = seen.get(name, 0) + 1
        anchor = name if seen[name] == 1 else f"{name}{_JOINT}{seen[name]}"
        context = " > ".join((concept.title, *section.headings))
        for part, piece in enumerate(_section_parts(section, text)):
            chunks.append(
                Chunk(
                    anchor=anchor if part == 0 else f"{anchor}{_JOINT}/{part}",
                    heading=name,
                    text=piece,
                    context=context,
                    line=body_line + section.line,
                )
            )
    if not chunks:
        chunks.append(Chunk(anchor="", heading="", text=concept.title, context=""))
    return chunks


def session_chunks(records: Iterable[Record], facts: SessionFacts) -> Iterator[Chunk]:
    """Cut a session at its exchanges: a user's turn and what follows it.

    A tool call is one line, a tool's output its head and its tail. Text that a
    machine wrote in a user's name is left out. The anchor is the key of the
    first record, with a part number where a record was cut.
    """
    context = session_context(facts)
    heading = ""
    pieces: list[_Piece] = []
    size = 0
    continued = False

    def close() -> Chunk:
        lead = f"{context}\n{heading}" if continued and heading else context
        first = pieces[0]
        text = "\n".join(piece.text for piece in pieces)
        return Chunk(first.anchor, heading, text, lead, first.time, first.line)

    for record in records:
        own = list(_pieces(record))
        if not own:
            continue
        # In a sub-agent's own file its task is the user's turn.
        starts = record.role == "user" and (not record.side or facts.sub_agent)
        for index, piece in enumerate(own):
            opens = starts and index == 0
            if pieces and (opens or size + len(piece.text) > LIMIT):
                yield close()
                pieces, size, continued = [], 0, True
            if opens:
                heading, continued = _first_line(record.text), False
            pieces.append(piece)
            size += len(piece.text) + 1
    if pieces:
        yield close()


def session_context(facts: SessionFacts) -> str:
    """Return the line that is embedded ahead of every chunk of a session."""
    project = project_name(facts.project)
    parts = [facts.date[:10], project, facts.first_user_line[:_LINE]]
    return " | ".join(part for part in parts if part)


def project_name(folder: str) -> str:
    """Return the last part of a folder's path, which another machine wrote."""
    pure: PurePath = PureWindowsPath(folder) if "\\" in folder else PurePosixPath(folder)
    return pure.name


@dataclass(frozen=True)
class _Piece:
    anchor: str
    text: str
    time: str
    line: int


def _pieces(record: Record) -> Iterator[_Piece]:
    speaker = _SPEAKERS.get(record.role)
    if speaker is None:
        return
    text = record.text.strip()
    if record.role == "tool":
        text = _head_and_tail(text)
    lines = [f"{speaker}: {text}"] if text else []
    lines += [f"{call.name}: {_one_line(call.argument, _CALL)}" for call in record.calls]
    parts = cut("\n".join(lines), LIMIT)
    for part, piece in enumerate(parts):
        anchor = record.key if part == 0 else f"{record.key}{_JOINT}/{part}"
        yield _Piece(anchor, piece, record.time, record.line)


def cut(text: str, limit: int) -> list[str]:
    """Cut ``text`` into pieces of at most ``limit`` characters, at the best boundary near.

    Preferred are a blank line, a line end, a sentence end and a space, in this
    order, in the second half of a piece.
    """
    pieces: list[str] = []
    start = 0
    while len(text) - start > limit:
        end = start + limit
        for boundary in ("\n\n", "\n", ". ", " "):
            at = text.rfind(boundary, start + limit // 2, end)
            if at != -1:
                end = at + len(boundary)
                break
        pieces.append(text[start:end].strip("\n"))
        start = end
    rest = text[start:].strip("\n")
    return [*pieces, rest] if rest.strip() else pieces


def _section_parts(section: Section, text: str) -> list[str]:
    if len(text) <= LIMIT:
        return [text]
    lead = text[: len(text) - len(section.text.strip())] if section.text.strip() in text else ""
    lines = section.text.split("\n")
    bounds = [0, *[b for b in section.blocks if b > 0], len(lines)]
    blocks = ["\n".join(lines[a:b]).strip("\n") for a, b in pairwise(bounds)]
    parts: list[str] = []
    for block in filter(str.strip, [lead.strip(), *blocks]):
        if parts and len(parts[-1]) + len(block) + 2 <= LIMIT:
            parts[-1] += f"\n\n{block}"
        else:
            parts += cut(block, LIMIT)
    return parts


def _head_and_tail(text: str) -> str:
    if len(text) <= _HEAD + _TAIL:
        return text
    return f"{text[:_HEAD].rstrip()} … {text[-_TAIL:].lstrip()}"


def _one_line(text: str, limit: int) -> str:
    line = " ".join(text[: limit * 4].split())
    return line if len(line) <= limit else line[:limit].rstrip() + "…"


def _first_line(text: str) -> str:
    line = next((part.strip() for part in text.splitlines() if part.strip()), "")
    return _one_line(line, _LINE)
