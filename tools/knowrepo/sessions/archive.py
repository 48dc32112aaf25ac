"""Bringing transcripts into `sessions/`: one file a session, append-only, redacted.

Owns the run over sources: which session each becomes, whether it may be archived
at all, and what is published. A session is only ever replaced, by rename, with
the union of itself and what came in (see `growth` and `store`), so a killed run
or a full disk leaves the old file whole. Which projects may be archived is the
caller's to decide.
"""

from __future__ import annotations

import contextlib
import shutil
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from itertools import chain, islice
from pathlib import Path
from typing import Any, Literal, Protocol

from filelock import FileLock, Timeout

from knowrepo.errors import KnowError
from knowrepo.git.layout import Repository
from knowrepo.sessions import store
from knowrepo.sessions.forget import is_forgotten
from knowrepo.sessions.intake import Taken, opted_out, take, take_file
from knowrepo.sessions.keep import Kept
from knowrepo.sessions.readers import reader_of, recognise
from knowrepo.sessions.readers.base import UUID
from knowrepo.sessions.record import Reader
from knowrepo.sessions.redact.settings import fingerprint, redactor_for
from knowrepo.sessions.seen import Resume, Seen, SeenSources, stat_of
from knowrepo.sessions.source import Native, Source, as_lines
from knowrepo.sessions.store import SessionName
from knowrepo.sessions.unite import count_lines, size_of, unite

Action = Literal[
    "new", "grown", "joined", "unchanged", "empty", "private", "forgotten", "not mapped",
    "not a transcript", "failed",
]  # fmt: skip
ARCHIVE_RULE = 2
"""Raised where the same source would become other bytes; sources are then read anew."""
_HEAD = 5  # native records in which a session says where it worked
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


class ProjectMapping(Protocol):
    """Which projects' sessions belong here; see `projects.Projects`."""

    name: str

    def admits(self, folder: str, folder_hash: str = "") -> bool:
        """Say whether a session that worked in that folder belongs here."""


def archive(
    repository: Repository,
    sources: Iterable[Path],
    *,
    mapping: ProjectMapping | None = None,
    dry_run: bool = False,
    part_bytes: int = store.PART_BYTES,
    waiting: Callable[[], None] = lambda: None,
) -> Iterator[Outcome]:
    """Archive each source; yields what became of it.

    With ``mapping`` only sessions of the projects that it admits are archived;
    without it all are: a path that a person names is consent. A second process
    waits its turn; ``waiting`` is called once where it has to. With ``dry_run``
    all is done but publishing.
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
    with exclusively(repository, waiting):
        scratch = repository.locks / "archive"
        store.recover(scratch, repository.root)  # of a run that was killed; we hold the lock
        scratch.mkdir()
        run = _Run(repository, scratch, mapping, part_bytes, dry_run=dry_run)
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
def exclusively(
    repository: Repository, waiting: Callable[[], None] = lambda: None
) -> Iterator[None]:
    """Hold the archive, so that nobody else writes to it; waits its turn."""
    repository.locks.mkdir(parents=True, exist_ok=True)
    lock = FileLock(repository.locks / "archive.lock")
    try:
        lock.acquire(timeout=0)
    except Timeout:
        waiting()
        lock.acquire()
    try:
        yield
    finally:
        lock.release()


@dataclass(frozen=True)
class _Done:
    """An outcome, and what is noted of it for the next run."""

    outcome: Outcome
    resume: Resume | None = None
    native_stamp: str = ""


class _Run:
    """One run under the lock: what it knows, and its scratch folder."""

    def __init__(
        self,
        repository: Repository,
        scratch: Path,
        mapping: ProjectMapping | None,
        part_bytes: int,
        *,
        dry_run: bool,
    ) -> None:
        self.repository = repository
        rules = f"{ARCHIVE_RULE}.{part_bytes}.{fingerprint(repository.root)}"
        self.seen = SeenSources(repository.locks / "seen.json", rules)
        self._scratch = scratch
        self._incoming = scratch / "session.jsonl"
        self._mapping = mapping
        self._redactor = redactor_for(repository.root)
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
        mapping = self._mapping.name if self._mapping else ""
        seen = self.seen.unchanged(path, self._stamp, mapping)
        if seen is not None:
            yield from self._as_before(path, seen)
            return
        resumed = self._resumed(path)
        sessions: dict[str, str] = {}
        natives: dict[str, str] = {}
        action, denied, resume = "empty", "", None
        for done in [resumed] if resumed else self._anew(path):
            action, resume = done.outcome.action, done.resume
            if action == "not mapped":
                denied = mapping
            elif done.outcome.session:
                sessions[done.outcome.session] = self._stamp(done.outcome.session)
                natives[done.outcome.session] = done.native_stamp
            yield done.outcome
        self.seen.note(path, Seen(*stat, action, sessions, natives, denied, resume))

    def _stamp(self, session: str) -> str:
        first = self.repository.sessions / f"{session}{store.SUFFIX}"
        name = store.name_of(self.repository.sessions, first)
        if name is not None and is_forgotten(self.repository, name):
            return "forgotten"
        return store.stamp(first)

    def _as_before(self, path: Path, seen: Seen) -> Iterator[Outcome]:
        told: tuple[Action, ...] = (
            "empty", "private", "forgotten", "not mapped", "not a transcript",
        )  # fmt: skip
        action: Action = next((known for known in told if known == seen.action), "unchanged")
        for session in seen.sessions or [""]:
            files = store.parts(self.repository.sessions / f"{session}{store.SUFFIX}")
            size = sum(file.stat().st_size for file in files)
            yield Outcome(path, action, session, size=size)

    def _resumed(self, path: Path) -> _Done | None:
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
        with self._incoming.open("wb") as out:
            out.writelines(store.chunks(target))
            taken = take_file(path, out, reader, self._redactor, resume)
        if taken.mentions_private:  # what stands before it decides who wrote it
            return None
        return self._archived(path, name, reader, taken)

    def _anew(self, path: Path) -> Iterator[_Done]:
        source = Source(path)
        found = recognise(source, by_name=_names_session(path))
        if found is None:
            yield _Done(Outcome(path, "not a transcript" if source.head else "empty"))
        elif found.sessions is None:
            head = [line.record for line in source.first_lines if line.record is not None]
            yield self._unmapped(path, found.reader, head) or self._file(path, found.reader)
        else:
            for session in found.sessions:
                yield self._native(path, session, found.reader)

    def _file(self, path: Path, reader: Reader) -> _Done:
        with self._incoming.open("wb") as out:
            taken = take_file(path, out, reader, self._redactor)
        ids = taken.first_id, taken.last_id, taken.parent_id
        identity = reader.identity(path, *ids)
        name = SessionName(reader.agent, identity.id, identity.parent)
        return self._archived(path, name, reader, taken)

    def _native(self, path: Path, session: Native, reader: Reader) -> _Done:
        name = SessionName(reader.agent, session.id, session.parent)
        stamp = session.stamp
        if stamp and stamp == self.seen.native(path, str(name), self._stamp):
            return _Done(Outcome(path, "unchanged", str(name)), native_stamp=stamp)
        records = iter(session.records)
        head = list(islice(records, _HEAD))
        unmapped = self._unmapped(path, reader, head)
        if unmapped is not None:
            return unmapped
        with self._incoming.open("wb") as out:
            taken = take(as_lines(chain(head, records)), out, reader, self._redactor)
        return replace(self._archived(path, name, reader, taken), native_stamp=stamp)

    def _unmapped(
        self, path: Path, reader: Reader, head: Iterable[Mapping[str, Any]]
    ) -> _Done | None:
        """Return that a session does not belong here, where its first records tell."""
        for record in head if self._mapping else ():
            folder = reader.folder(record)
            if folder:
                return None if self._admits(folder, "") else _Done(Outcome(path, "not mapped"))
        return None

    def _admits(self, folder: str, folder_hash: str) -> bool:
        return self._mapping is None or self._mapping.admits(folder, folder_hash)

    def _archived(self, path: Path, name: SessionName, reader: Reader, taken: Taken) -> _Done:
        """Publish what was taken, where the session may be archived."""
        if not name.is_safe:
            return _Done(Outcome(path, "not a transcript", note="it names no session"))
        if not taken.kept.records and not taken.kept.bad and not taken.resume:
            return _Done(Outcome(path, "empty", str(name), kept=taken.kept))
        if not self._admits(taken.folder, taken.folder_hash):
            return _Done(Outcome(path, "not mapped"))
        if is_forgotten(self.repository, name):
            return _Done(Outcome(path, "forgotten", str(name)))
        if self._is_private(name, reader, taken):
            there = store.parts(name.path(self.repository.sessions))
            note = f"archived before; `know forget {name}` removes it" if there else ""
            return _Done(Outcome(path, "private", str(name), note=note))
        outcome, is_source = self._published(path, name, reader, taken.kept)
        return _Done(outcome, taken.resume if is_source else None)

    def _is_private(self, name: SessionName, reader: Reader, taken: Taken) -> bool:
        if name.parent and self.seen.is_private(str(SessionName(name.agent, name.parent))):
            return True
        return taken.mentions_private and opted_out(store.SessionLines(self._incoming), reader)

    def _published(
        self, path: Path, name: SessionName, reader: Reader, kept: Kept
    ) -> tuple[Outcome, bool]:
        """Publish; says too whether the archive now is just what the source became."""
        incoming = self._incoming
        target = self.repository.inside(name.path(self.repository.sessions))
        old = self._whole(target)
        action, content = unite(old, incoming, reader, self._scratch, self._redactor)
        new_lines, new_size = count_lines(content), content.stat().st_size
        is_source = content == incoming or new_size == incoming.stat().st_size
        outcome = Outcome(
            path, action, str(name), new_lines, new_lines - count_lines(old), new_size,
            new_size - size_of(old), kept=kept,
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


def _names_session(source: Path) -> bool:
    stem = source.name.removesuffix(store.SUFFIX)
    return bool(UUID.fullmatch(stem)) or stem.startswith("agent-")
