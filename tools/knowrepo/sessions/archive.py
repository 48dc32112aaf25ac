"""Bringing transcripts into `sessions/`: one file a session, append-only, redacted.

Owns the run over sources: which session each becomes, whether it may be archived
at all, and what is published. A session is only ever replaced, by rename, with
the union of itself and what came in (see `growth` and `store`), so a killed run
or a full disk leaves the old file whole. Which projects may be archived is the
caller's to decide.
"""

from __future__ import annotations

import contextlib
import os
import shutil
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Literal

from filelock import FileLock, Timeout

from knowrepo.errors import KnowError
from knowrepo.git.layout import Repository
from knowrepo.sessions import growth, store
from knowrepo.sessions.forget import is_forgotten
from knowrepo.sessions.intake import Taken, opted_out, take, take_file
from knowrepo.sessions.keep import Kept, archived_line
from knowrepo.sessions.lines import parse_object, read_lines
from knowrepo.sessions.readers import reader_of, recognise
from knowrepo.sessions.readers.base import UUID
from knowrepo.sessions.record import Reader
from knowrepo.sessions.seen import Resume, Seen, SeenSources, stat_of
from knowrepo.sessions.source import Native, Source, as_lines
from knowrepo.sessions.store import SessionName

Action = Literal[
    "new", "grown", "joined", "unchanged", "empty", "private", "forgotten",
    "not a transcript", "failed",
]  # fmt: skip
ARCHIVE_RULE = 2
"""Raised where the same source would become other bytes; sources are then read anew."""
_NO_TRANSCRIPTS = {".git", "file-history", "memory"}  # folders beside transcripts
_BLOCK = 1 << 20


@dataclass(frozen=True)
class Outcome:
    """What became of one session of a source."""

    source: Path
    action: Action
    session: str = ""  # `AGENT/ID` or `AGENT/PARENT/ID`, the path below `sessions/`
    lines: int = 0  # archived lines now
    added: int = 0  # of these, new in this run
    size: int = 0  # archived bytes now
    grown: int = 0  # of these, new in this run
    note: str = ""
    kept: Kept = field(default_factory=Kept)


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
    dry_run: bool = False,
    part_bytes: int = store.PART_BYTES,
    waiting: Callable[[], None] = lambda: None,
) -> Iterator[Outcome]:
    """Archive each source; yields what became of it.

    A second process waits its turn; ``waiting`` is called once where it has to.
    With ``dry_run`` all is done but publishing.
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
        store.recover(scratch, repository.root)  # of a run that was killed; we hold the lock
        scratch.mkdir()
        run = _Run(repository, scratch, part_bytes, dry_run=dry_run)
        try:
            for source in sorted(sources, key=_belongs_to_another):
                yield from _guarded(run, source)
        finally:
            run.close()
            shutil.rmtree(scratch, ignore_errors=True)


def _belongs_to_another(source: Path) -> bool:
    """Say whether a source is a part of a session that is to be looked at before it."""
    folders = {folder.name for folder in source.parents}
    return source.name.startswith("agent-") or not folders.isdisjoint({"subagents", "tool-results"})


def _guarded(run: _Run, source: Path) -> Iterator[Outcome]:
    """Keep one source's failure from the others."""
    try:
        yield from run.one(source)
        return
    except OSError as error:
        # A write names no file: it is the archive's disk that is full.
        where = error.filename or run.repository.sessions
        note = error.strerror or str(error)
        if str(where) != str(source):
            note = f"{where}: {note}"
    except KnowError as error:
        note = error.message
    except Exception as error:
        note = f"a bug, please report it: {type(error).__name__}: {error}"
    run.seen.forget(source)
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


class _Run:
    """One run under the lock: what it knows, and its scratch folder."""

    def __init__(
        self, repository: Repository, scratch: Path, part_bytes: int, *, dry_run: bool
    ) -> None:
        self.repository = repository
        self.seen = SeenSources(repository.locks / "seen.json", f"{ARCHIVE_RULE}.{part_bytes}")
        self._scratch = scratch
        self._part_bytes = part_bytes
        self._dry = dry_run

    def close(self) -> None:
        """Keep what was seen; without it the next run only takes longer."""
        if not self._dry:
            with contextlib.suppress(OSError):
                self.seen.save()

    def one(self, path: Path) -> Iterator[Outcome]:
        """Archive one source."""
        stat = stat_of(path)
        seen = self.seen.unchanged(path, self._stamp)
        if seen is not None:
            yield from self._as_before(path, seen)
            return
        resumed = self._resumed(path)
        outcomes = [resumed] if resumed else self._anew(path)
        sessions: dict[str, str] = {}
        last: tuple[Outcome, Resume | None] | None = None
        for outcome, resume in outcomes:
            if outcome.session:
                sessions[outcome.session] = self._stamp(outcome.session)
            last = (outcome, resume)
            yield outcome
        if last is not None:
            self.seen.note(path, Seen(*stat, last[0].action, sessions, last[1]))

    def _stamp(self, session: str) -> str:
        return store.stamp(self.repository.sessions / f"{session}{store.SUFFIX}")

    def _as_before(self, path: Path, seen: Seen) -> Iterator[Outcome]:
        told: tuple[Action, ...] = ("empty", "private", "forgotten", "not a transcript")
        action: Action = next((known for known in told if known == seen.action), "unchanged")
        for session in seen.sessions or [""]:
            files = store.parts(self.repository.sessions / f"{session}{store.SUFFIX}")
            size = sum(file.stat().st_size for file in files)
            yield Outcome(path, action, session, size=size)

    def _resumed(self, path: Path) -> tuple[Outcome, Resume | None] | None:
        """Archive what a source that only grew has gained; None where it is to be read anew."""
        found = self.seen.resume(path, self._stamp)
        if found is None:
            return None
        session, resume = found
        target = self.repository.sessions / f"{session}{store.SUFFIX}"
        name = store.name_of(self.repository.sessions, target)
        reader = reader_of(name.agent) if name else None
        if name is None or reader is None:
            return None
        incoming = self._scratch / "session.jsonl"
        with incoming.open("wb") as out:
            out.writelines(store.chunks(target))
            taken = take_file(path, out, reader, resume)
        if taken.mentions_private:  # what stands before it decides who wrote it
            return None
        return self._archived(path, name, reader, taken)

    def _anew(self, path: Path) -> Iterator[tuple[Outcome, Resume | None]]:
        source = Source(path)
        found = recognise(source, by_name=_names_session(path))
        if found is None:
            yield Outcome(path, "not a transcript" if source.head else "empty"), None
        elif found.sessions is None:
            with (self._scratch / "session.jsonl").open("wb") as out:
                taken = take_file(path, out, found.reader)
            ids = taken.first_id, taken.last_id, taken.parent_id
            identity = found.reader.identity(path, *ids)
            name = SessionName(found.reader.agent, identity.id, identity.parent)
            yield self._archived(path, name, found.reader, taken)
        else:
            for session in found.sessions:
                yield self._native(path, session, found.reader)

    def _native(self, path: Path, session: Native, reader: Reader) -> tuple[Outcome, None]:
        with (self._scratch / "session.jsonl").open("wb") as out:
            taken = take(as_lines(session.records), out, reader)
        name = SessionName(reader.agent, session.id, session.parent)
        return self._archived(path, name, reader, taken)[0], None

    def _archived(
        self, path: Path, name: SessionName, reader: Reader, taken: Taken
    ) -> tuple[Outcome, Resume | None]:
        """Publish what was taken, where the session may be archived."""
        incoming = self._scratch / "session.jsonl"
        if not name.is_safe:
            return Outcome(path, "not a transcript", note="it names no session"), None
        if not taken.kept.records and not taken.kept.bad:
            return Outcome(path, "empty", str(name), kept=taken.kept), None
        if is_forgotten(self.repository, name):
            return Outcome(path, "forgotten", str(name)), None
        if self._is_private(name, reader, taken, incoming):
            there = store.parts(name.path(self.repository.sessions))
            note = f"archived before; `know forget {name}` removes it" if there else ""
            return Outcome(path, "private", str(name), note=note), None
        outcome, is_source = self._published(path, name, reader, taken.kept)
        return outcome, taken.resume if is_source else None

    def _is_private(self, name: SessionName, reader: Reader, taken: Taken, incoming: Path) -> bool:
        if name.parent and self.seen.is_private(str(SessionName(name.agent, name.parent))):
            return True
        return taken.mentions_private and opted_out(store.SessionLines(incoming), reader)

    def _published(
        self, path: Path, name: SessionName, reader: Reader, kept: Kept
    ) -> tuple[Outcome, bool]:
        """Publish; says too whether the archive now is just what the source became."""
        incoming = self._scratch / "session.jsonl"
        target = self.repository.inside(name.path(self.repository.sessions))
        old = self._whole(target)
        action, content = self._united(old, incoming, reader)
        new_lines, new_size = _count_lines(content), content.stat().st_size
        is_source = content == incoming or new_size == incoming.stat().st_size
        outcome = Outcome(
            path, action, str(name), new_lines, new_lines - _count_lines(old), new_size,
            new_size - _size(old), kept=kept,
        )  # fmt: skip
        if action != "unchanged" and not self._dry:
            store.publish(content, target, self._scratch, most=self._part_bytes)
        return outcome, is_source

    def _whole(self, target: Path) -> Path | None:
        """Return one file with all of an archived session, or None where it is new."""
        files = store.parts(target)
        if len(files) <= 1:
            return files[0] if files else None
        whole = self._scratch / "archived.jsonl"
        with whole.open("wb") as out:
            for file in files:
                with file.open("rb") as part:
                    shutil.copyfileobj(part, out, _BLOCK)
        return whole

    def _united(self, old: Path | None, incoming: Path, reader: Reader) -> tuple[Action, Path]:
        """Return what the session becomes, and the file that holds it."""
        if old is None:
            return "new", incoming
        if _is_prefix(incoming, old):
            return "unchanged", old
        if _is_prefix(old, incoming):
            return "grown", incoming
        # Only now are the archived lines brought to the rules of today.
        current = self._scratch / "current.jsonl"
        with current.open("wb") as out:
            out.writelines(line + b"\n" for line in _current(old))
        if _is_prefix(current, incoming):
            joined = incoming
        elif _is_prefix(incoming, current):
            joined = current
        else:
            joined = self._scratch / "joined.jsonl"
            snapshots: list[growth.Snapshot] = [
                lambda: current.open("rb"), lambda: incoming.open("rb"),
            ]  # fmt: skip
            with joined.open("wb") as out:
                out.writelines(line + b"\n" for line in growth.join(snapshots, _identify(reader)))
        same = _size(joined) == _size(old) and _is_prefix(joined, old)
        return ("unchanged", old) if same else ("joined", joined)


def _names_session(source: Path) -> bool:
    stem = source.name.removesuffix(store.SUFFIX)
    return bool(UUID.fullmatch(stem)) or stem.startswith("agent-")


def _current(archived: Path) -> Iterator[bytes]:
    """Yield archived lines brought to the rules of today."""
    ignored = Kept()
    for line in read_lines(store.chunks(archived)):
        if growth.is_marker(line.raw):
            yield line.raw
            continue
        current = archived_line(line, ignored)
        if current is not None:
            yield current


def _identify(reader: Reader) -> growth.Identify:
    def identify(raw: bytes) -> tuple[str, str]:
        record = parse_object(raw)
        return (reader.record_id(record), reader.rank(record)) if record else ("", "")

    return identify


def _count_lines(path: Path | None) -> int:
    if path is None:
        return 0
    with path.open("rb") as stream:
        return sum(block.count(b"\n") for block in iter(partial(stream.read, _BLOCK), b""))


def _size(path: Path | None) -> int:
    return path.stat().st_size if path is not None else 0


def _is_prefix(short: Path, long: Path) -> bool:
    if short.stat().st_size > long.stat().st_size:
        return False
    with short.open("rb") as a, long.open("rb") as b:
        while block := a.read(_BLOCK):
            if b.read(len(block)) != block:
                return False
    return True
