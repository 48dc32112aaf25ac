"""One run over sources: which session each becomes, and what is published.

Owns the order (what belongs to a session comes after it), the choice between
reading a source anew, from where it was left, or not at all, and the publishing
of what may be archived. The lock, and what an earlier run left, are `archive`'s.
"""

from __future__ import annotations

import contextlib
import shutil
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain, islice
from pathlib import Path
from typing import Any

from knowrepo.errors import KnowError
from knowrepo.git.layout import Repository
from knowrepo.sessions import origin, store
from knowrepo.sessions.admission import Admission
from knowrepo.sessions.forget import is_forgotten
from knowrepo.sessions.intake import Taken, opted_out, opted_out_in, take, take_file
from knowrepo.sessions.origins import Origins
from knowrepo.sessions.outcome import Action, Outcome
from knowrepo.sessions.projects import Projects
from knowrepo.sessions.publish import PUBLISHING, publish
from knowrepo.sessions.readers import Found, reader_of, recognise
from knowrepo.sessions.record import Identity, Reader
from knowrepo.sessions.redact.settings import fingerprint, redactor_for
from knowrepo.sessions.seen import Resume, Seen, SeenSources, stat_of
from knowrepo.sessions.source import Native, Source, as_lines, is_damage, plain
from knowrepo.sessions.store import SessionName
from knowrepo.sessions.unite import canonical, count_lines, size_of, unite, whole

ARCHIVE_RULE = 3
"""Raised where the same source would become other files; sources are then read anew."""
_HEAD = 5  # native records in which a session says where it worked


@dataclass(frozen=True)
class _Done:
    """An outcome, and what is noted of it for the next run."""

    outcome: Outcome
    resume: Resume | None = None
    native_stamp: str = ""
    folder: tuple[str, str] = ("", "")


@dataclass(frozen=True)
class _Below:
    """A source of a session that belongs to another: it waits until that one was looked at."""

    source: Path
    id: str
    parent: str


class Run:
    """One run under the lock: what it knows, and its scratch folder."""

    def __init__(
        self,
        repository: Repository,
        scratch: Path,
        projects: Projects | None,
        part_bytes: int,
        *,
        dry_run: bool,
    ) -> None:
        self._repository = repository
        rules = f"{ARCHIVE_RULE}.{part_bytes}.{fingerprint(repository.root)}"
        self._seen = SeenSources(repository.locks / "seen.json", rules)
        self._admission = Admission(repository, projects)
        self._origins = Origins(projects)
        self._redactor = redactor_for(repository.root)
        self._strict = projects is not None and projects.has_excludes
        self._scratch = scratch
        self._incoming = scratch / "session.jsonl"
        self._publishing = repository.locks / PUBLISHING
        self._part_bytes = part_bytes
        self._dry = dry_run
        self._looked_at: set[Path] = set()  # transcripts, for a person's opting out
        self._below: list[_Below] | None = []  # None when they are looked at themselves

    def close(self) -> None:
        """Keep what was seen; without it the next run only takes longer."""
        if not self._dry:
            with contextlib.suppress(OSError):
                self._seen.save()

    def all(self, sources: Iterable[Path]) -> Iterator[Outcome]:
        """Archive the sources; what is below a session comes after it."""
        for source in sources:
            yield from self._guarded(source)
        waiting, self._below = self._below or [], None
        while waiting:
            ids = {below.id for below in waiting}
            ready = [below for below in waiting if below.parent not in ids] or waiting
            for below in ready:
                yield from self._guarded(below.source)
            done = {below.source for below in ready}
            waiting = [below for below in waiting if below.source not in done]

    def _guarded(self, source: Path) -> Iterator[Outcome]:
        """Keep one source's failure from the others."""
        try:
            yield from self._one(source)
            return
        except KnowError as error:
            note = error.message
        except Exception as error:
            note = self._explained(source, error)
        self._seen.forget(source)
        yield Outcome(source, "failed", note=note)

    def _explained(self, source: Path, error: Exception) -> str:
        if is_damage(error):
            return f"compressed, and cut off or damaged: {error}"
        if isinstance(error, OSError):
            # A write names no file: it is the archive's disk that is full.
            where = error.filename or self._repository.sessions
            reason = error.strerror or str(error)
            return reason if str(where) == str(source) else f"{where}: {reason}"
        return f"a bug, please report it: {type(error).__name__}: {error}"

    def _one(self, path: Path) -> Iterator[Outcome]:
        stat = stat_of(path)
        seen = self._seen.unchanged(path, self._stamp, self._admission.maps)
        if seen is not None:
            yield from self._as_before(path, seen)
            return
        resumed = self._resumed(path)
        if resumed is None:
            source = Source(path)
            found = recognise(source)
            if found is not None and self._waits(source, found):
                return
            keeps = found is None or not found.elsewhere
            done = self._anew(source, found)
        else:
            keeps, done = True, iter([resumed])
        sessions: dict[str, str] = {}
        natives: dict[str, str] = {}
        denied: list[list[str]] = []
        action, resume = "empty", None
        for one in done:
            action, resume = one.outcome.action, one.resume
            if action == "not mapped":
                denied.append(list(one.folder))
            elif one.outcome.session:
                sessions[one.outcome.session] = self._stamp(one.outcome.session)
                natives[one.outcome.session] = one.native_stamp
            yield one.outcome
        if keeps:
            self._seen.note(path, Seen(stat, action, sessions, natives, denied, resume))

    def _waits(self, source: Source, found: Found) -> bool:
        """Put a source off where its session belongs to another one."""
        if self._below is None:
            return False
        if found.sessions is None:
            records = [line.record for line in source.first_lines if line.record is not None]
            identity = _identity(found.reader, source.path, records)
        elif isinstance(found.sessions, list) and found.sessions:
            identity = Identity(found.sessions[0].id, found.sessions[0].parent)
        else:
            return False
        if not identity.parent:
            return False
        self._below.append(_Below(source.path, identity.id, identity.parent))
        return True

    def _stamp(self, session: str) -> str:
        first = self._repository.sessions / f"{session}{store.SUFFIX}"
        name = store.name_of(self._repository.sessions, first)
        if name is None or is_forgotten(self._repository, name):
            return "forgotten"
        return store.stamp(first)

    def _as_before(self, path: Path, seen: Seen) -> Iterator[Outcome]:
        told: tuple[Action, ...] = (
            "empty", "private", "forgotten", "not mapped", "not a transcript",
        )  # fmt: skip
        action: Action = next((known for known in told if known == seen.action), "unchanged")
        if action == "forgotten":
            for session in seen.sessions:
                self._admission.gone(session)
        for session in seen.sessions or [""]:
            files = store.parts(self._repository.sessions / f"{session}{store.SUFFIX}")
            size = sum(file.stat().st_size for file in files)
            yield Outcome(path, action, session, size=size)

    def _resumed(self, path: Path) -> _Done | None:
        """Archive what a source that only grew has gained; None where it is to be read anew."""
        found = self._seen.resume(path, self._stamp)
        if found is None:
            return None
        session, resume = found
        target = self._repository.sessions / f"{session}{store.SUFFIX}"
        name = store.name_of(self._repository.sessions, target)
        reader = reader_of(name.agent) if name else None
        if name is None or reader is None or (name.parent and self._below is not None):
            return None
        with self._incoming.open("wb") as out:
            out.writelines(store.chunks(target))
            taken = take_file(path, out, reader, self._redactor, resume, every_folder=self._strict)
        # What stands before the marker decides who wrote it; another last id may
        # be another name.
        if taken.mentions_private or _named(reader, path, taken) != name:
            return None
        return self._archived(path, name, reader, taken)

    def _anew(self, source: Source, found: Found | None) -> Iterator[_Done]:
        if found is None:
            yield _Done(Outcome(source.path, "not a transcript" if source.head else "empty"))
        elif found.sessions is None:
            head = [line.record for line in source.first_lines if line.record is not None]
            denied = self._denied(source.path, found.reader, head)
            yield denied or self._file(source.path, found.reader)
        else:
            below: list[Native] = []  # after those that they belong to
            for session in found.sessions:
                if session.parent:
                    below.append(session)
                else:
                    yield self._native(source.path, session, found.reader)
            for session in below:
                yield self._native(source.path, session, found.reader)

    def _file(self, path: Path, reader: Reader) -> _Done:
        with self._incoming.open("wb") as out:
            taken = take_file(path, out, reader, self._redactor, every_folder=self._strict)
        return self._archived(path, _named(reader, path, taken), reader, taken)

    def _native(self, path: Path, session: Native, reader: Reader) -> _Done:
        name = store.named(reader.agent, session.id, session.parent)
        stamp = session.stamp
        if stamp and stamp == self._seen.native(path, str(name), self._stamp):
            return _Done(Outcome(path, "unchanged", str(name)), native_stamp=stamp)
        records = iter(session.records)
        head = list(islice(records, _HEAD))
        denied = None if session.parent else self._denied(path, reader, head)
        if denied is not None:
            return denied
        with self._incoming.open("wb") as out:
            lines = as_lines(chain(head, records))
            taken = take(lines, out, reader, self._redactor, every_folder=self._strict)
        return replace(self._archived(path, name, reader, taken), native_stamp=stamp)

    def _denied(
        self, path: Path, reader: Reader, head: Iterable[Mapping[str, Any]]
    ) -> _Done | None:
        """Return that a session does not belong here, where its first records tell so."""
        for record in head:
            folder = reader.folder(record)
            if folder:
                if self._admission.maps(folder):
                    return None
                outcome = Outcome(path, "not mapped", agent=reader.agent)
                return _Done(outcome, folder=(folder, ""))
        return None

    def _archived(self, path: Path, name: SessionName, reader: Reader, taken: Taken) -> _Done:
        """Publish what was taken, where the session may be archived."""
        if not name.is_safe:
            return _Done(Outcome(path, "not a transcript", note="it names no session"))
        if not taken.kept.records and not taken.kept.bad and not taken.resume:
            return _Done(Outcome(path, "empty", str(name), kept=taken.kept))
        self._look_for_opt_out(path, name, reader, taken)
        verdict = self._admission.of(name, taken.folder, taken.folder_hash)
        folder = (taken.folder, taken.folder_hash)
        excluded = next(filter(self._admission.excludes, sorted(taken.folders - {""})), "")
        if verdict == "admitted" and excluded:  # it went on where nothing is archived from
            verdict, folder = "not mapped", (excluded, "")
        if verdict == "not mapped":
            return _Done(Outcome(path, "not mapped", agent=name.agent), folder=folder)
        if verdict != "admitted":
            there = store.every_part(name.path(self._repository.sessions))
            note = f"it is in the archive; `know forget {name}` removes it" if there else ""
            return _Done(Outcome(path, verdict, str(name), note=note))
        outcome, is_source = self._published(path, name, reader, taken)
        if not self._dry:
            found = self._origins.of(taken.folder, taken.folder_hash)
            origin.note(self._repository, name, found, self._redactor)
        return _Done(outcome, taken.resume if is_source else None)

    def _look_for_opt_out(
        self, path: Path, name: SessionName, reader: Reader, taken: Taken
    ) -> None:
        """Note that a person opted out, in the session or in the one that it belongs to."""
        if taken.mentions_private and opted_out(store.SessionLines(self._incoming), reader):
            self._admission.keep_private(name)
        parent = SessionName(name.agent, name.parent)
        beside = reader.parent_source(path, name.parent) if name.parent else None
        if beside is None or beside in self._looked_at or self._admission.knows(parent):
            return
        self._looked_at.add(beside)
        if beside.is_file() and opted_out_in(beside, reader):
            self._admission.keep_private(parent)

    def _published(
        self, path: Path, name: SessionName, reader: Reader, taken: Taken
    ) -> tuple[Outcome, bool]:
        """Publish; says too whether the archive now is just what the source became."""
        target = self._repository.inside(name.path(self._repository.sessions))
        incoming = self._incoming
        if taken.has_markers:
            incoming = canonical(incoming, reader, self._scratch)
        while True:
            before = store.stamp(target)
            old = whole(target, self._scratch)
            action, content = unite(old, incoming, reader, self._scratch, self._redactor)
            new_lines, new_size = count_lines(content), content.stat().st_size
            outcome = Outcome(
                path, action, str(name), new_lines, new_lines - count_lines(old), new_size,
                new_size - size_of(old), kept=taken.kept,
            )  # fmt: skip
            is_source = new_size == incoming.stat().st_size
            if self._dry or (action == "unchanged" and not self._too_large(target)):
                return outcome, is_source
            if store.stamp(target) != before:  # git brought another one meanwhile
                continue
            if content == old:  # only its parts are cut anew
                content = self._scratch / "recut.jsonl"
                shutil.copyfile(old, content)
            publish(content, target, self._publishing, most=self._part_bytes)
            return outcome, is_source

    def _too_large(self, target: Path) -> bool:
        """Say whether a part is larger than it may be now, and can be cut."""
        large = [p for p in store.parts(target) if p.stat().st_size > self._part_bytes]
        return any(count_lines(path) > 1 for path in large)


def _named(reader: Reader, path: Path, taken: Taken) -> SessionName:
    identity = reader.identity(plain(path), taken.first_id, taken.last_id, taken.parent_id)
    return store.named(reader.agent, identity.id, identity.parent)


def _identity(reader: Reader, path: Path, records: Sequence[Mapping[str, Any]]) -> Identity:
    """Name a session as far as its first records tell."""
    ids = [reader.session_id(record) for record in records]
    parents = (reader.parent_id(record) for record in records)
    named = [one for one in ids if one] or [""]
    return reader.identity(plain(path), named[0], named[-1], next(filter(None, parents), ""))
