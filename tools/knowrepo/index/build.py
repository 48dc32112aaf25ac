"""Bringing the catalog up to the present state.

Owns what is indexed and in which order: the concepts that git tracks, by the
blob that is tracked or staged, and the sessions in the work tree. The plan is
computed from names alone, so a run that finds nothing new reads nothing. No
model is loaded here: `fill` embeds what the catalog holds.
"""

from __future__ import annotations

import contextlib
import os
import stat
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from filelock import FileLock, Timeout

from knowrepo.concepts.model import FOLDER, is_concept_path
from knowrepo.errors import KnowError
from knowrepo.git import plumbing
from knowrepo.git.layout import Repository
from knowrepo.index import Progress, freshness
from knowrepo.index.catalog import BEHIND, SEEN, STAMPS, Catalog, DamagedError, SQLiteError, told
from knowrepo.index.documents import put_concept, put_session, put_unreadable
from knowrepo.sessions import conflicts, store
from knowrepo.sessions.forget import TOMBSTONE, is_forgotten
from knowrepo.sessions.tracked import session_of

_SECONDS_A_TRANSACTION = 1.0  # an interrupt loses no more
_SECONDS_OF_A_HURRY = 0.2  # of one within a budget, which it must not overrun by much
_BATCH = 64
_BY_COMMIT = "commit"  # the stamp of a concept whose date is that of its last commit
BYTES_A_SECOND = 4_000_000
"""What a session is indexed at, roughly: a larger one does not fit a recall's time."""
SLOWER_CONCEPTS = 8
"""As many times longer does a concept take, whose Markdown is parsed."""


@dataclass(frozen=True)
class Refreshed:
    """What a refresh did: documents indexed anew, removed, and left for later.

    ``busy``: another process is indexing, and nothing was done here. ``notes``
    name what could not be indexed.
    """

    indexed: int = 0
    removed: int = 0
    behind: int = 0
    busy: bool = False
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class _Source:
    key: str
    path: str
    mark: str  # a concept's blob oid, a session's stamp
    size: int = 0  # bytes of a session


def refresh(
    repository: Repository,
    *,
    budget: float | None = None,
    wait: float = 0.0,
    progress: Progress = lambda _done, _total: None,
) -> Refreshed:
    """Bring the catalog up to the present state, for ``budget`` seconds at most.

    ``wait`` is how many seconds to wait for another process that is at it.
    A damaged catalog is built anew. Raises KnowError where it cannot be written.
    """
    try:
        repository.locks.mkdir(parents=True, exist_ok=True)
        with FileLock(repository.locks / "catalog.lock", timeout=wait):
            try:
                return _refresh(repository, budget, progress)
            except DamagedError:
                Catalog.discard(repository.catalog)
                return _refresh(repository, budget, progress)
    except Timeout:
        return Refreshed(busy=True)
    except OSError as error:
        raise KnowError(
            f"{error.filename or repository.locks}: cannot be written: {error.strerror}",
            hint="make the git directory writable, or work in a clone that is yours",
        ) from error


def discard(repository: Repository) -> None:
    """Throw a damaged catalog away, unless another process is just building it anew."""
    with (
        contextlib.suppress(Timeout, OSError),
        FileLock(repository.locks / "catalog.lock", timeout=0),
    ):
        Catalog.discard(repository.catalog)


def _refresh(repository: Repository, budget: float | None, progress: Progress) -> Refreshed:
    with told(repository.catalog), Catalog.create(repository.catalog) as catalog:
        return _bring_up(repository, catalog, budget, progress)


def _bring_up(
    repository: Repository, catalog: Catalog, budget: float | None, progress: Progress
) -> Refreshed:
    started = time.monotonic()
    signature = freshness.take(repository)  # before the look, so that a later change shows
    stamps = freshness.stamps(repository) if budget is None else ""
    known = catalog.states()
    present = {source.key: source for source in _sources(repository)}
    # What a merge left in conflict stays as it was until a person has decided.
    undecided = _undecided(repository)
    gone = [key for key in known if key not in present and key not in undecided]
    changed = [
        source
        for source in present.values()
        if source.key not in undecided and not _is_known(source, known)
    ]
    changed.sort(key=lambda s: (not _is_concept(s), s.path))
    most = None if budget is None else int(budget * BYTES_A_SECOND)
    late = [source for source in changed if most is not None and source.size > most]
    changed = [source for source in changed if most is None or source.size <= most]
    too_large = len(late)
    with catalog.transaction():
        for key in gone:
            catalog.remove(key)
    done = 0
    notes: list[str] = []
    while done < len(changed):
        if budget is not None and time.monotonic() - started > budget:
            break
        with catalog.transaction():
            done = _index_some(repository, catalog, changed, done, notes, late, most)
        progress(done, len(changed))
    behind = len(changed) - done + len(late)
    with catalog.transaction():
        if not behind and budget is None:  # reading the history may take long
            _date_by_commit(repository, catalog)
        catalog.set_meta(BEHIND, str(behind))
        catalog.set_meta(SEEN, signature.dumps() if not behind else "")
        catalog.set_meta(STAMPS, stamps if not behind else "")
    indexed = done - (len(late) - too_large)
    return Refreshed(indexed, len(gone), behind, notes=tuple(notes))


def _undecided(repository: Repository) -> set[str]:
    """Return the keys of the concepts and sessions that a merge left in conflict."""
    found = {path.rpartition(".")[0] for path in plumbing.unmerged(repository, FOLDER)}
    return found | {f"sessions/{name}" for name in conflicts.unmerged(repository)}


def _sources(repository: Repository) -> Iterator[_Source]:
    for path, oid in plumbing.tracked(repository, FOLDER).items():
        if is_concept_path(path):
            yield _Source(path.removesuffix(".md"), path, oid)
    walk = list(os.walk(repository.inside(repository.sessions)))
    forgotten = any(name.endswith(TOMBSTONE) for _, _, names in walk for name in names)
    for folder, _, names in walk:
        below = Path(folder).relative_to(repository.root).as_posix()
        for name in names:
            path = f"{below}/{name}"
            if not name.endswith(".jsonl") or name.startswith(".") or not _is_text(path):
                continue
            full = Path(folder, name)
            with contextlib.suppress(FileNotFoundError):  # gone since we looked
                if not stat.S_ISREG(full.lstat().st_mode) or store.is_part(full):
                    continue
                if not (forgotten and _is_forgotten(repository, full)):
                    yield _Source(path.removesuffix(".jsonl"), path, *store.measure(full))


def _is_forgotten(repository: Repository, path: Path) -> bool:
    """Say whether a session's file is of a forgotten session."""
    name = session_of(repository, path)
    return name is not None and is_forgotten(repository, name)


def _is_text(path: str) -> bool:
    """Say whether a file's name can be written as text; ours always can."""
    return path.isascii() or not any("\ud800" <= character <= "\udfff" for character in path)


def _is_concept(source: _Source) -> bool:
    return source.path.startswith(f"{FOLDER}/")


def _is_known(source: _Source, known: dict[str, tuple[str, str, str]]) -> bool:
    oid, stamp, _ = known.get(source.key, ("", "", ""))
    return source.mark in {oid, stamp}


def _index_some(
    repository: Repository,
    catalog: Catalog,
    changed: list[_Source],
    start: int,
    notes: list[str],
    late: list[_Source],
    most: int | None,
) -> int:
    """Index from ``start`` on for a while; returns how far it came.

    What cannot be read is told to ``notes``; a concept of more than ``most``
    bytes is left for later.
    """
    until = time.monotonic() + (_SECONDS_A_TRANSACTION if most is None else _SECONDS_OF_A_HURRY)
    batch = changed[start : start + _BATCH]
    concepts = [source for source in batch if _is_concept(source)]
    contents = dict(
        zip(
            (source.key for source in concepts),
            plumbing.blobs(repository, [source.mark for source in concepts]),
            strict=True,
        )
    )
    for offset, source in enumerate(batch):
        content = contents.get(source.key) or b""
        if most is not None and len(content) > most // SLOWER_CONCEPTS:
            late.append(source)
            continue
        try:
            if source.key in contents:
                put_concept(catalog, source.path, source.mark, content)
            else:
                put_session(catalog, repository.root, source.path, source.mark)
        except FileNotFoundError:
            pass  # gone since we looked; the next run removes it
        except OSError as error:  # it may be readable tomorrow: what is known of it stays
            notes.append(f"{source.path}: cannot be read now: {error.strerror}")
            late.append(source)
        except SQLiteError:
            raise
        except KnowError as error:
            notes.append(f"{source.path}: not indexed: {error.message}")
            put_unreadable(catalog, source.path, source.mark)
        except Exception as error:
            # What no reader foresaw costs one document, not the catalog.
            notes.append(f"{source.path}: not indexed: {type(error).__name__}: {error}")
            put_unreadable(catalog, source.path, source.mark)
        if time.monotonic() > until:
            return start + offset + 1
    return start + len(batch)


def _date_by_commit(repository: Repository, catalog: Catalog) -> None:
    """Give concepts that name no date of their own that of their last commit."""
    undated = [
        key
        for key, (_, stamp, date) in catalog.states().items()
        if stamp == _BY_COMMIT or not (stamp or date)
    ]
    if not undated:
        return
    dates = plumbing.commit_dates(repository, FOLDER)
    for key in undated:
        if f"{key}.md" in dates:
            catalog.restamp(key, stamp=_BY_COMMIT, date=dates[f"{key}.md"])
