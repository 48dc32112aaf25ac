"""Bringing one session of a source into the archive's form, in a scratch file.

Owns the pass over a source's lines: what each becomes (see `keep`), which ids
were met, how far one may go on reading another time, and whether the person
opted out. Where the result goes is `archive`'s business.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any

from knowrepo.errors import KnowError
from knowrepo.sessions import growth
from knowrepo.sessions.keep import Kept, archived_line
from knowrepo.sessions.lines import Line, read_lines
from knowrepo.sessions.record import Reader
from knowrepo.sessions.redact import DEFAULT, Redactor
from knowrepo.sessions.seen import Resume
from knowrepo.sessions.source import is_compressed, opened
from knowrepo.sessions.store import chunks, header_of, parts

PRIVATE = "know:private"
"""What a person types to keep a session out of the archive."""
_BLOCK = 1 << 20
_HEAD = 50  # records in which a session says where it worked, and whose it is
_LATE = 1000  # the same of one that begins with what names no folder
_OURS = b'{"type":"know.'
_PRIVATE_BYTES = PRIVATE.encode()
_TYPED = re.compile(rf"(?<![^\s(\[\"']){re.escape(PRIVATE)}(?![^\s.,;!?)\]\"'])")


@dataclass
class Taken:
    """What was read of a session."""

    kept: Kept = field(default_factory=Kept)
    first_id: str = ""
    last_id: str = ""
    parent_id: str = ""
    folder: str = ""
    folder_hash: str = ""
    folders: set[str] = field(default_factory=set)  # all of them, where they are asked for
    resume: Resume | None = None
    mentions_private: bool = False
    has_markers: bool = False  # it is an archive itself, or pretends to be one


class _Counted:
    """An open source's lines, counted and digested block by block as they go by."""

    def __init__(self, stream: IO[bytes], offset: int, lines: int) -> None:
        self._stream = stream
        self._digest = hashlib.sha256()
        self.offset = offset
        self.lines = lines
        self.ended = True

    def digest_head(self) -> None:
        left = self.offset
        while left and (block := self._stream.read(min(left, _BLOCK))):
            self._digest.update(block)
            left -= len(block)

    def __iter__(self) -> Iterator[bytes]:
        begun: list[bytes] = []  # of a line that goes on in the next block
        while block := self._stream.read(_BLOCK):
            self._digest.update(block)
            self.offset += len(block)
            first, *lines = block.split(b"\n")
            begun.append(first)
            if lines:
                self.lines += len(lines)
                yield b"".join(begun) + b"\n"
                begun = [lines.pop()]
                for line in lines:
                    yield line + b"\n"
        last = b"".join(begun)
        self.ended = not last
        if last:
            self.lines += 1
            yield last

    def digest(self) -> str:
        return self._digest.hexdigest()


def take_file(
    source: Path,
    out: IO[bytes],
    reader: Reader,
    redactor: Redactor = DEFAULT,
    resume: Resume | None = None,
    *,
    every_folder: bool = False,
) -> Taken:
    """Write the lines of JSON lines to ``out`` in the archive's form.

    With ``resume`` only what came after it is read and written.
    """
    offset, before = (resume.offset, resume.lines) if resume else (0, 0)
    if header_of(source):
        raise KnowError(f"{source}: a part of an archived session; its first file stands for all")
    if len(parts(source)) > 1:  # an archive of another repository
        lines = read_lines(chunks(source))
        return take(lines, out, reader, redactor, every_folder=every_folder)
    with opened(source) as stream:
        counted = _Counted(stream, offset, before)
        counted.digest_head()
        lines = read_lines(counted, first=before + 1, start=offset)
        taken = take(lines, out, reader, redactor, every_folder=every_folder)
        if resume:
            taken.first_id = resume.first_id or taken.first_id
            taken.last_id = taken.last_id or resume.last_id
            taken.parent_id = resume.parent_id or taken.parent_id
            taken.folder = resume.folder or taken.folder
            taken.folder_hash = resume.folder_hash or taken.folder_hash
        # Where the last line is open, what comes next may belong to it.
        if counted.ended and not taken.has_markers and not is_compressed(source):
            taken.resume = Resume(
                counted.offset, counted.digest(), counted.lines,
                taken.first_id, taken.last_id, taken.parent_id,
                taken.folder, taken.folder_hash,
            )  # fmt: skip
    return taken


def take(
    lines: Iterable[Line],
    out: IO[bytes],
    reader: Reader,
    redactor: Redactor = DEFAULT,
    *,
    every_folder: bool = False,
) -> Taken:
    """Write ``lines`` to ``out`` in the archive's form."""
    taken = Taken()
    kept, write, session_id = taken.kept, out.write, reader.session_id
    for line in lines:
        archived = archived_line(line, kept, redactor)
        if archived is not None:
            write(archived + b"\n")
        if line.record is not None:
            taken.last_id = session_id(line.record) or taken.last_id
            if every_folder:
                taken.folders.add(reader.folder(line.record))
            if kept.records <= _HEAD or (kept.records <= _LATE and not taken.folder):
                _look_at_head(taken, line.record, reader)
            if _PRIVATE_BYTES in line.raw:
                taken.mentions_private = True
            if line.raw.startswith(_OURS) and growth.is_marker(line.raw):
                taken.has_markers = True
    return taken


def _look_at_head(taken: Taken, record: Mapping[str, Any], reader: Reader) -> None:
    """Note what the first records say of their session."""
    taken.first_id = taken.first_id or taken.last_id
    taken.parent_id = taken.parent_id or reader.parent_id(record)
    taken.folder = taken.folder or reader.folder(record)
    taken.folder_hash = taken.folder_hash or reader.folder_hash(record)


def opted_out(session: Iterable[Line], reader: Reader) -> bool:
    """Say whether a person typed the marker; that a tool printed it is nothing."""
    return any(
        record.role == "user" and not record.side and _TYPED.search(record.text)
        for record in reader.read(session)
    )


def opted_out_in(transcript: Path, reader: Reader) -> bool:
    """Say the same of a transcript that is not being archived now."""
    with opened(transcript) as stream:
        if not any(_PRIVATE_BYTES in line for line in stream):
            return False
    with opened(transcript) as stream:
        return opted_out(list(read_lines(stream)), reader)
