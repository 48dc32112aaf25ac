"""What was known at a revision: a catalog in memory, made of git's objects alone.

Owns how such a catalog comes about: a copy of the one that there is, in which what the
revision does not hold is hidden, and what it holds in other words is put from git's
blobs. So a revision that is near costs a copy and little more. No file of the work tree
is read or written, nothing is fetched, and nothing is kept.
"""

from __future__ import annotations

import hashlib
import re
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from knowrepo.concepts.model import FOLDER, is_concept_path
from knowrepo.errors import KnowError
from knowrepo.git import partial, revisions
from knowrepo.git.layout import Repository
from knowrepo.index import Progress
from knowrepo.index.catalog import Catalog, SQLiteError
from knowrepo.index.documents import put_concept, put_session
from knowrepo.sessions.forget import is_forgotten
from knowrepo.sessions.origin import ORIGIN
from knowrepo.sessions.tracked import session_of
from knowrepo.units import count, size

SESSION_BYTES = 16_000_000
"""Of sessions that stand otherwise today: so much is read, the small ones first."""
_SESSIONS = "sessions"
_SUFFIX = ".jsonl"
_PART = re.compile(r"(?P<first>.+)\.[1-9]\d{0,5}\.jsonl")
_OWN_SESSION = 3  # parts of the key of a session; what is below it is of its project
_BATCH = 200
_EMPTY = (b"", None)


@dataclass(frozen=True)
class Held:
    """What a revision holds, by key: the blob of a concept, the blobs of a session's files.

    A session that was forgotten since is not among them. ``notes`` are the blobs that say
    which project sessions are of, by path.
    """

    concepts: Mapping[str, str]
    sessions: Mapping[str, Sequence[str]]
    notes: Mapping[str, str]


@dataclass
class Past:
    """A catalog of what was known, and remarks on what it lacks. Close it after use."""

    catalog: Catalog
    notes: list[str] = field(default_factory=list)


def held(repository: Repository, commit: str) -> Held:
    """Return what a commit holds."""
    listed = revisions.files(repository, commit, FOLDER, _SESSIONS)
    concepts = {p.removesuffix(".md"): oid for p, oid in listed.items() if is_concept_path(p)}
    firsts = {path for path in listed if path.startswith(f"{_SESSIONS}/")}
    sessions: dict[str, list[tuple[int, str]]] = {}
    for path in firsts:
        part = _PART.fullmatch(path)
        first = f"{part['first']}{_SUFFIX}" if part else path
        if first not in firsts:  # its number is a part of its name
            part, first = None, path
        if _is_searched(repository, first):
            number = int(path.removesuffix(_SUFFIX).rpartition(".")[2]) if part else 0
            sessions.setdefault(first.removesuffix(_SUFFIX), []).append((number, listed[path]))
    in_order = {key: [oid for _, oid in sorted(some)] for key, some in sessions.items()}
    notes = {path: listed[path] for path in firsts if path.endswith(ORIGIN)}
    return Held(concepts, in_order, notes)


def _is_searched(repository: Repository, first: str) -> bool:
    name = session_of(repository, repository.root / first)
    return first.endswith(_SUFFIX) and name is not None and not is_forgotten(repository, name)


def changed_since(repository: Repository, catalog: Catalog, commit: str) -> frozenset[str]:
    """Return the keys of the documents of a catalog that a commit has not, or has otherwise."""
    then = held(repository, commit)
    states = catalog.states()
    marks = dict(then.concepts)
    for key, oids in then.sessions.items():
        marks[key] = oids[0] if len(oids) == 1 else _joined_oid(repository, oids)
    return frozenset(key for key, (oid, _, _) in states.items() if marks.get(key) != oid)


def _joined_oid(repository: Repository, oids: Sequence[str]) -> str:
    """Return the name that the catalog has for a session in several files."""
    contents = list(partial.blobs(repository, oids))
    if None in contents:
        return ""
    whole = b"".join(content for content in contents if content)
    head = b"blob %d\0" % len(whole)
    return hashlib.sha1(head + whole, usedforsecurity=False).hexdigest()


def known_at(
    repository: Repository,
    commit: str,
    *,
    with_sessions: bool = True,
    progress: Progress = lambda _done, _total: None,
) -> Past:
    """Return a catalog of what a commit holds.

    Concepts are all in it; of sessions those that stand so today, and of the others
    `SESSION_BYTES`. What is left out is said.
    """
    then = held(repository, commit)
    past = Past(Catalog.copied(repository.catalog))
    try:
        states = past.catalog.states()
        known = {key for key, oid in then.concepts.items() if states.get(key, ("",))[0] == oid}
        new = {key: oid for key, oid in then.concepts.items() if key not in known}
        known |= set(_put_concepts(repository, past, commit, new, progress))
        if with_sessions:
            oids = {key: oid for key, (oid, _, _) in states.items()}
            known |= set(_put_sessions(repository, past, then, oids))
        past.catalog.hide([key for key in past.catalog.states() if key not in known])
    except BaseException:
        past.catalog.close()
        raise
    return past


def _put_concepts(
    repository: Repository, past: Past, commit: str, new: Mapping[str, str], progress: Progress
) -> Iterator[str]:
    """Put concepts into the catalog; yields the keys of those that are in it."""
    keys = list(new)
    lacking: list[str] = []
    undated: list[str] = []
    for start in range(0, len(keys), _BATCH):
        some = keys[start : start + _BATCH]
        contents = partial.blobs(repository, [new[key] for key in some])
        with past.catalog.transaction():
            for key, content in zip(some, contents, strict=True):
                if content in _EMPTY:
                    lacking += [key] if content is None else []
                elif _is_put(past, key, new[key], content or b""):
                    yield key
                    undated.append(key)
        progress(start + len(some), len(keys))
    if lacking:
        past.notes.append(
            f"{count(len(lacking), 'concept')} of then: this partial clone lacks the content;"
            f" the first is {lacking[0]}.md; git fetch --refetch brings all"
        )
    _date(repository, past.catalog, commit, undated)


def _is_put(past: Past, key: str, oid: str, content: bytes) -> bool:
    """Put a concept; says whether it could be. What no reader foresaw costs one document."""
    try:
        with past.catalog.part():
            put_concept(past.catalog, f"{key}.md", oid, content)
    except SQLiteError:
        raise
    except Exception as error:
        past.notes.append(f"{key}.md: not looked at: {type(error).__name__}: {error}")
        return False
    return True


def _date(repository: Repository, catalog: Catalog, commit: str, keys: list[str]) -> None:
    """Give concepts that name no date that of the last commit which touched them then."""
    states = catalog.states() if keys else {}
    undated = [key for key in keys if not states[key][2]]
    if not undated:
        return
    try:
        dates = revisions.dates(repository, commit, FOLDER)
    except KnowError:  # a clone without its older trees
        return
    with catalog.transaction():
        for key in undated:
            catalog.restamp(key, stamp="", date=dates.get(f"{key}.md", ""))


def _put_sessions(
    repository: Repository,
    past: Past,
    then: Held,
    states: Mapping[str, str],
) -> Iterator[str]:
    """Put sessions as they stood, as many as there is room for; yields those in the catalog."""
    other = {}
    for key, oids in then.sessions.items():
        mark = oids[0] if len(oids) == 1 else ""
        if key in states and len(oids) > 1:
            mark = _joined_oid(repository, oids)
        if mark and states.get(key) == mark:
            yield key
        else:
            other[key] = oids
    sizes = partial.sizes(repository, [oid for oids in other.values() for oid in oids])
    totals = {
        key: sum(sizes[oid] for oid in oids)
        for key, oids in other.items()
        if all(oid in sizes for oid in oids)
    }
    left = SESSION_BYTES
    late: list[str] = []
    for key in sorted(totals, key=lambda key: (totals[key], key)):
        left -= totals[key]
        if left < 0:
            late.append(key)
        elif _is_read(repository, past, then, key):
            yield key
    if late:
        past.notes.append(
            f"{count(len(late), 'session')} not looked at, {size(sum(totals[k] for k in late))}:"
            f" of those that stand otherwise today, {size(SESSION_BYTES)} are read"
        )
    if len(totals) < len(other):
        lacking = len(other) - len(totals)
        past.notes.append(f"{count(lacking, 'session')} of then: this clone lacks the content")


def _is_read(repository: Repository, past: Past, then: Held, key: str) -> bool:
    """Put a session as it stood, by files outside of the repository; says whether it could be."""
    files = {
        f"{key}.{number}{_SUFFIX}" if number else f"{key}{_SUFFIX}": oid
        for number, oid in enumerate(then.sessions[key])
    }
    note = f"{'/'.join(key.split('/')[:_OWN_SESSION])}{ORIGIN}"
    files |= {note: then.notes[note]} if note in then.notes else {}
    contents = list(partial.blobs(repository, list(files.values())))
    with tempfile.TemporaryDirectory(prefix="know-") as folder:
        for name, content in zip(files, contents, strict=True):
            file = Path(folder, name)
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_bytes(content or b"")
        try:
            with past.catalog.transaction():
                put_session(past.catalog, Path(folder), f"{key}{_SUFFIX}", "")
        except SQLiteError:
            raise
        except Exception as error:
            past.notes.append(f"{key}{_SUFFIX}: not looked at: {error}")
            return False
    return True
