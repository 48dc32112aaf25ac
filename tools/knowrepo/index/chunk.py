"""Cutting documents into chunks, by a versioned rule that needs no model.

Owns boundaries, anchors, ids and text hashes: every machine must make the same
ones, so nothing here may depend on a model, a clock or the order of files, and
a change comes with a new `CHUNK_RULE` in the catalog's schema, which rebuilds it. A chunk is
packed from the front: what is appended to a session changes its last chunk or
adds new ones, and no other.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Iterator
from dataclasses import replace
from itertools import zip_longest
from typing import TYPE_CHECKING, NamedTuple

from knowrepo.index.blocks import cut, spans
from knowrepo.sessions.origin import folder_name
from knowrepo.sessions.readers.base import telling_line
from knowrepo.sessions.record import Record, SessionFacts

if TYPE_CHECKING:
    from knowrepo.concepts.model import Concept

LIMIT = 1200
"""Characters of a chunk's text; about 300 tokens of prose."""

_CALL = 200  # characters of a tool call
_HEAD, _TAIL = 300, 150  # characters of a tool's output
_LINE = 120  # characters of a heading taken from a user's line
_PARAGRAPH = "\n\n"
_LINE_END = re.compile(r"\r\n?|\n")
_JOINT = "\0"  # between the parts of an anchor: it stands in no heading and no id
_SPEAKERS = {"user": "User", "assistant": "Assistant", "tool": "Output"}
_SPEAKER = len("Assistant: ")


class Chunk(NamedTuple):
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
    from knowrepo.concepts.markdown import sections  # who cuts sessions only needs no parser

    chunks: list[Chunk] = []
    seen: dict[str, int] = {}
    found = sections(concept.body)
    for section, below in zip_longest(found, found[1:]):
        lead = "" if section.headings else concept.description.strip()
        text = section.text
        if not (text.strip() or lead):
            if not section.headings or (below and below.level > section.level):
                continue
            text = section.headings[-1]  # a heading that nothing follows is all there is
        name = " > ".join(" ".join(heading.split()) for heading in section.headings)
        seen[name] = seen.get(name, 0) + 1
        anchor = name if seen[name] == 1 else f"{name}{_JOINT}{seen[name]}"
        context = " > ".join((concept.title, *section.headings))
        for part, (piece, line) in enumerate(_section_parts(lead, text)):
            chunks.append(
                Chunk(
                    anchor=anchor if part == 0 else f"{anchor}{_JOINT}/{part}",
                    heading=name,
                    text=piece,
                    context=context,
                    line=body_line + section.line + line,
                )
            )
    if not chunks:
        title = concept.title[:LIMIT]
        chunks.append(Chunk(anchor="", heading="", text=title, context=""))
    return chunks


def _section_parts(lead: str, text: str) -> Iterator[tuple[str, int]]:
    """Yield the pieces of a section, each with the line of ``text`` where it starts.

    ``lead`` goes ahead of the first piece where there is room.
    """
    parts = spans(text, LIMIT)
    if lead:
        room = LIMIT - len(lead) - len(_PARAGRAPH)
        first = parts[0] if parts else (0, 0)
        if first[1] - first[0] <= room:
            own = text[first[0] : first[1]]
            yield _PARAGRAPH.join(filter(None, (lead, own))), 0
            parts = parts[1:]
        else:
            yield from ((piece, 0) for piece in cut(lead, LIMIT))
    for start, end in parts:
        yield text[start:end], len(_LINE_END.findall(text, 0, start))


def session_chunks(records: Iterable[Record], facts: SessionFacts) -> Iterator[Chunk]:
    """Cut a session at its exchanges: a user's turn and what follows it.

    A tool call is one line, a tool's output its head and its tail. Text that a
    machine wrote in a user's name is left out. The anchor is the key of the
    first record, with a part number where a record was cut.
    """
    heading = ""
    known = _Known(facts)
    pieces: list[_Piece] = []
    size = 0
    continued = False

    def close() -> Chunk:
        first = pieces[0]
        lead = f"{first.context}\n{heading}" if continued and heading else first.context
        text = "\n".join(piece.text for piece in pieces)
        return Chunk(first.anchor, heading, text, lead, first.time, first.line)

    for record in records:
        known.learn(record)
        own = _pieces(record, known.context)
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


class _Known:
    """What of a session's facts was known at a record, whatever came after it.

    The facts are those of the whole file. A date, or a user's line, that came
    with a later record is no context of an earlier chunk, which would change
    as the session grows.
    """

    def __init__(self, facts: SessionFacts) -> None:
        self._facts = facts
        # Where a fact is empty there is nothing to wait for.
        self._dated, self._told = not facts.date, not facts.first_user_line
        self.context = self._context()

    def learn(self, record: Record) -> None:
        if self._dated and self._told:
            return
        facts = self._facts
        dated = self._dated or bool(record.time)
        own = not record.side or facts.sub_agent
        told = self._told or (own and telling_line(record) == facts.first_user_line)
        if (dated, told) != (self._dated, self._told):
            self._dated, self._told = dated, told
            self.context = self._context()

    def _context(self) -> str:
        date = self._facts.date if self._dated else ""
        line = self._facts.first_user_line if self._told else ""
        return session_context(replace(self._facts, date=date, first_user_line=line))


def session_context(facts: SessionFacts) -> str:
    """Return the line that is embedded ahead of every chunk of a session."""
    project = folder_name(facts.project)
    parts = [facts.date[:10], project, facts.first_user_line[:_LINE]]
    return " | ".join(part for part in parts if part)


class _Piece(NamedTuple):
    anchor: str
    text: str
    time: str
    line: int
    context: str


def _pieces(record: Record, context: str) -> list[_Piece]:
    speaker = _SPEAKERS.get(record.role)
    if speaker is None:
        return []
    text = record.text.strip()
    if record.role == "tool":
        text = _head_and_tail(text)
    # Cut before the speaker is named: a fence is one at the start of its line.
    parts = cut(text, LIMIT - _SPEAKER)
    if parts:
        parts[0] = f"{speaker}: {parts[0]}"
    for call in record.calls:
        for line in cut(f"{call.name}: {_one_line(call.argument, _CALL)}", LIMIT):
            if parts and len(parts[-1]) + len(line) < LIMIT:
                parts[-1] += f"\n{line}"
            else:
                parts.append(line)
    return [
        _Piece(
            f"{record.key}{_JOINT}/{part}" if part else record.key,
            piece,
            record.time,
            record.line,
            context,
        )
        for part, piece in enumerate(parts)
    ]


def _head_and_tail(text: str) -> str:
    """Return the ends of a tool's output, whole lines where one ends near."""
    if len(text) <= _HEAD + _TAIL:
        return text
    stop = text.rfind("\n", _HEAD // 2, _HEAD)
    start = text.find("\n", len(text) - _TAIL, len(text) - _TAIL // 2)
    between = " … " if stop == start == -1 else "\n…\n"
    head = text[: stop if stop != -1 else _HEAD].rstrip()
    return f"{head}{between}{text[start if start != -1 else len(text) - _TAIL :].lstrip()}"


def _one_line(text: str, limit: int) -> str:
    line = " ".join(text[: limit * 4].split())
    return line if len(line) <= limit else line[:limit].rstrip() + "…"


def _first_line(text: str) -> str:
    line = next((part.strip() for part in text.splitlines() if part.strip()), "")
    return _one_line(line, _LINE)
