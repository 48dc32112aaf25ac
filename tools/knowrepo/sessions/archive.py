"""Bringing transcripts into `sessions/`: one file a session, append-only, redacted.

Owns which file a transcript becomes and how that file is published. A session
is only ever replaced, by rename, with the union of itself and what came in (see
`growth`), so a killed run or a full disk leaves the old file whole. Deciding
which projects may be archived at all is the caller's.
"""

from __future__ import annotations

import contextlib
import errno
import hashlib
import os
import re
import shutil
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import IO, Any, Literal

from filelock import FileLock, Timeout

from knowrepo.config import write_atomically
from knowrepo.errors import KnowError
from knowrepo.git.layout import Repository
from knowrepo.sessions import growth
from knowrepo.sessions.keep import Kept, archived_line
from knowrepo.sessions.lines import Line, parse_object, read_lines
from knowrepo.sessions.readers import recognise
from knowrepo.sessions.record import Reader
from knowrepo.sessions.redact import Redactor
from knowrepo.sessions.redact.settings import redactor_for

Action = Literal["new", "grown", "joined", "unchanged", "empty", "not a transcript", "failed"]

_UUID = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}", re.IGNORECASE)
_AGENT = re.compile(r"agent-[A-Za-z0-9_-]+")
# What may become a file name: an id comes out of a file that anybody wrote.
_SAFE_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,127}")
_SNIFFED_BYTES = 1 << 16
_SNIFFED_RECORDS = 100
# Folders beside transcripts whose files may quote them.
_NO_TRANSCRIPTS = {".git", "tool-results", "file-history", "memory"}


@dataclass(frozen=True)
class Outcome:
    """What became of one source."""

    source: Path
    action: Action
    session: str = ""  # `AGENT/ID` or `AGENT/PARENT/ID`, the path below `sessions/`
    lines: int = 0  # archived lines now
    added: int = 0  # of these, new in this run
    note: str = ""
    kept: Kept = field(default_factory=Kept)


@dataclass(frozen=True)
class _Name:
    """The place of a session below `sessions/`."""

    agent: str
    parent: str
    id: str

    def __str__(self) -> str:
        return "/".join(filter(None, (self.agent, self.parent, self.id)))

    def path(self, sessions: Path) -> Path:
        return sessions / self.agent / self.parent / f"{self.id}.jsonl"


def find_sources(paths: Iterable[Path]) -> Iterator[Path]:
    """Yield the files to look at: those named, and all in the folders named."""
    for path in paths:
        if path.is_dir():
            for folder, names, files in os.walk(path):
                names[:] = sorted(set(names) - _NO_TRANSCRIPTS)
                found = (Path(folder, name) for name in sorted(files))
                yield from (file for file in found if file.is_file())  # no pipe, no socket
        elif path.is_file():
            yield path
        elif path.exists():
            raise KnowError(f"{path}: neither a regular file nor a folder")
        else:
            raise KnowError(f"{path}: no such file or folder")


def archive(
    repository: Repository,
    sources: Iterable[Path],
    *,
    waiting: Callable[[], None] = lambda: None,
) -> Iterator[Outcome]:
    """Archive each source; yields what became of it.

    A second process waits its turn; ``waiting`` is called once where it has to.
    """
    repository.inside(repository.sessions)
    try:
        repository.locks.mkdir(parents=True, exist_ok=True)
        repository.sessions.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise KnowError(
            f"{error.filename}: cannot be written: {error.strerror}",
            hint="make it writable, or archive from a clone that is yours",
        ) from error
    with _turn(repository.locks / "archive.lock", waiting):
        scratch = repository.locks / "archive"
        shutil.rmtree(scratch, ignore_errors=True)  # of a run that was killed; we hold the lock
        scratch.mkdir()
        redactor = redactor_for(repository.root)
        for source in sources:
            try:
                yield _archive_one(repository, source, scratch / "session.jsonl", redactor)
            except OSError as error:
                # A write names no file: it is the archive's disk that is full.
                where = error.filename or repository.sessions
                note = error.strerror or str(error)
                if str(where) != str(source):
                    note = f"{where}: {note}"
                yield Outcome(source, "failed", note=note)
            except KnowError:
                raise
            except Exception as error:  # one source must not keep the others out
                note = f"a bug, please report it: {type(error).__name__}: {error}"
                yield Outcome(source, "failed", note=note)


@contextlib.contextmanager
def _turn(path: Path, waiting: Callable[[], None]) -> Iterator[None]:
    lock = FileLock(path)
    try:
        lock.acquire(timeout=0)
    except Timeout:
        waiting()
        lock.acquire()
    try:
        yield
    finally:
        lock.release()


def resolved(lines: Iterable[Line]) -> Iterator[Line]:
    """Yield the lines of an archived session as a reader should see them.

    Our own markers are left out, of a record's versions only the last is given,
    and a record that several branches repeat is given once.
    """
    waiting: Line | None = None
    replaces = False
    branched = False
    seen: set[bytes] = set()
    for line in lines:
        if growth.is_marker(line.raw):
            replaces = growth.is_version_marker(line.raw)
            branched = branched or not replaces
            continue
        if waiting is not None and not replaces:
            yield waiting
        replaces = False
        digest = hashlib.blake2b(line.raw, digest_size=16).digest()
        if branched and digest in seen and (line.record or {}).get("uuid"):
            waiting = None
            continue
        seen.add(digest)
        waiting = line
    if waiting is not None:
        yield waiting


def _archive_one(
    repository: Repository, source: Path, temporary: Path, redactor: Redactor
) -> Outcome:
    reader = _reader_of(source)
    if reader is None:
        empty = source.stat().st_size == 0
        return Outcome(source, "empty" if empty else "not a transcript")
    try:
        kept, last_id = _bring_in(source, temporary, reader, redactor)
        name = _name(source, reader.agent, last_id)
        if name is None:
            return Outcome(source, "not a transcript", note="it names no session")
        if not kept.records and not kept.bad:
            return Outcome(source, "empty", str(name), kept=kept)
        return _publish(repository, source, temporary, name, reader, kept, redactor)
    finally:
        temporary.unlink(missing_ok=True)


def _reader_of(source: Path) -> Reader | None:
    with source.open("rb") as stream:
        head = stream.read(_SNIFFED_BYTES)
        if b'"' not in head or b"{" not in head:
            return None
        stream.seek(0)
        first = list(islice(read_lines(stream), _SNIFFED_RECORDS))
    # A text that quotes a transcript further down is none: it would be joined
    # with the very session that it quotes.
    lead = next((line for line in first if not line.raw.startswith(b"//")), None)
    if lead is None or (lead.record is None and not _names_session(source)):
        return None
    return recognise(line.record for line in first if line.record is not None)


def _names_session(source: Path) -> bool:
    stem = source.name.removesuffix(".jsonl")
    return bool(_UUID.fullmatch(stem) or _AGENT.fullmatch(stem))


def _bring_in(
    source: Path, temporary: Path, reader: Reader, redactor: Redactor
) -> tuple[Kept, str]:
    """Write the source in the archive's form; returns counts and its last session id."""
    kept = Kept()
    last_id = ""
    with source.open("rb") as stream, temporary.open("wb") as out:
        for line in read_lines(stream):
            archived = archived_line(line, kept, redactor)
            if archived is not None:
                out.write(archived + b"\n")
            if line.record is not None:
                last_id = reader.session_id(line.record) or last_id
    return kept, last_id


def _name(source: Path, agent: str, last_id: str) -> _Name | None:
    stem = source.name.removesuffix(".jsonl")
    parents = [p.name for p in source.parents]
    if _AGENT.fullmatch(stem):
        above = parents[parents.index("subagents") + 1] if "subagents" in parents else ""
        parent = above if _UUID.fullmatch(above) else last_id
        name = _Name(agent, parent, stem)
    elif _UUID.fullmatch(stem):
        name = _Name(agent, "", stem)
    else:
        name = _Name(agent, "", last_id)
    if not _SAFE_ID.fullmatch(name.id) or (name.parent and not _SAFE_ID.fullmatch(name.parent)):
        return None
    return name


def _publish(
    repository: Repository,
    source: Path,
    incoming: Path,
    name: _Name,
    reader: Reader,
    kept: Kept,
    redactor: Redactor,
) -> Outcome:
    target = repository.inside(name.path(repository.sessions))
    new_lines = _count_lines(incoming)
    if not target.exists():
        _replace(incoming, target)
        return Outcome(source, "new", str(name), new_lines, new_lines, kept=kept)
    old_lines = _count_lines(target)
    if _is_prefix(incoming, target):
        return Outcome(source, "unchanged", str(name), old_lines, kept=kept)
    if _is_prefix(target, incoming):
        _replace(incoming, target)
        return Outcome(source, "grown", str(name), new_lines, new_lines - old_lines, kept=kept)
    with target.open("rb") as old, incoming.open("rb") as new:
        joined = growth.join(
            [_current(old, redactor), (line.rstrip(b"\n") for line in new)], _own_id(reader)
        )
    before = target.read_bytes()
    after = b"".join(line + b"\n" for line in joined)
    if after == before:
        return Outcome(source, "unchanged", str(name), old_lines, kept=kept)
    incoming.write_bytes(after)
    _replace(incoming, target)
    added = len(joined) - old_lines
    return Outcome(source, "joined", str(name), len(joined), added, kept=kept)


def _current(stream: IO[bytes], redactor: Redactor) -> Iterator[bytes]:
    """Yield archived lines brought to the rules of today."""
    ignored = Kept()
    # Every archived line is whole, even where an editor took the last newline.
    for line in read_lines(raw if raw.endswith(b"\n") else raw + b"\n" for raw in stream):
        if growth.is_marker(line.raw):
            yield line.raw
            continue
        current = archived_line(line, ignored, redactor)
        if current is not None:
            yield current


def _own_id(reader: Reader) -> growth.OwnId:
    def own_id(raw: bytes) -> str:
        record: dict[str, Any] | None = parse_object(raw)
        return reader.record_id(record) if record is not None else ""

    return own_id


def _count_lines(path: Path) -> int:
    with path.open("rb") as stream:
        return sum(1 for _ in stream)


def _is_prefix(short: Path, long: Path) -> bool:
    if short.stat().st_size > long.stat().st_size:
        return False
    with short.open("rb") as a, long.open("rb") as b:
        while block := a.read(1 << 20):
            if b.read(len(block)) != block:
                return False
    return True


def _replace(temporary: Path, target: Path) -> None:
    """Publish ``temporary`` as ``target``, on the disk before it can be seen."""
    target.parent.mkdir(parents=True, exist_ok=True)
    with temporary.open("rb+") as stream:
        os.fsync(stream.fileno())
    try:
        temporary.replace(target)
    except OSError as error:
        if error.errno != errno.EXDEV:
            raise
        with temporary.open("rb") as stream:  # the git directory lies on another disk
            write_atomically(target, stream.read(), durable=True)
