"""Bringing the catalog up to the present state.

Owns what is indexed and in which order: the concepts that git tracks, by the
blob that is tracked or staged, and the sessions in the work tree. The plan is
computed from names alone, so a run that finds nothing new reads nothing. No
model is loaded here: `fill` embeds what the catalog holds.
"""

from __future__ import annotations

import contextlib
import hashlib
import math
import time
from collections.abc import Callable
from dataclasses import dataclass

from filelock import FileLock, Timeout

from knowrepo.concepts.model import FOLDER
from knowrepo.errors import KnowError
from knowrepo.git import partial, plumbing
from knowrepo.git.layout import Repository
from knowrepo.index import Progress, ahead, freshness, undecided
from knowrepo.index.catalog import BEHIND, SEEN, STAMPS, Catalog, DamagedError, SQLiteError, told
from knowrepo.index.documents import put_concept, put_session, put_unreadable
from knowrepo.index.sources import Source, sources
from knowrepo.sessions import store
from knowrepo.sessions.forget import is_forgotten
from knowrepo.sessions.tracked import session_of

_SECONDS_A_TRANSACTION = 1.0  # an interrupt loses no more
_SECONDS_OF_A_HURRY = 0.2  # of one within a budget, which it must not overrun by much
_BATCH = 64
_FORGOTTEN = "forgotten"  # the meta key that says that the file holds what was forgotten
_TOMBSTONES = "tombstones"  # the meta key of a digest of their paths
_BY_COMMIT = "commit"  # the stamp of a concept whose date is that of its last commit
BYTES_A_SECOND = 4_000_000
"""What a session is indexed at, roughly: a larger one does not fit a recall's time."""
SLOWER_CONCEPTS = 8
"""As many times longer does a concept take, whose Markdown is parsed."""


@dataclass(frozen=True)
class Refreshed:
    """What a refresh did: documents indexed anew, removed, and left for later.

    ``busy``: another process is indexing, and nothing was done here. ``notes``
    name what could not be indexed. ``lacks_concepts``: some of those left are concepts.
    """

    indexed: int = 0
    removed: int = 0
    behind: int = 0
    busy: bool = False
    notes: tuple[str, ...] = ()
    lacks_concepts: bool = False


def refresh(
    repository: Repository,
    *,
    budget: float | None = None,
    wait: float = 0.0,
    progress: Progress = lambda _done, _total: None,
    first: Callable[[str], bool] = lambda _key: False,
) -> Refreshed:
    """Bring the catalog up to the present state, for ``budget`` seconds at most.

    ``wait`` is how many seconds to wait for another process that is at it. ``first``
    tells of a document's key whether it comes before the others.
    A damaged catalog is built anew. Raises KnowError where it cannot be written.
    """
    try:
        repository.locks.mkdir(parents=True, exist_ok=True)
        with FileLock(repository.locks / "catalog.lock", timeout=wait):
            try:
                return _refresh(repository, budget, progress, first)
            except DamagedError:
                Catalog.discard(repository.catalog)
                return _refresh(repository, budget, progress, first)
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


def difference(repository: Repository, catalog: Catalog) -> freshness.Difference:
    """Say how far a catalog is from the present state, by names and marks; reads no content."""
    known = catalog.states()
    present = {source.key: source for source in sources(repository, [])}
    new = [source for source in present.values() if not _is_known(source, known)]
    return freshness.Difference(
        added=sum(source.key not in known for source in new),
        changed=sum(source.key in known for source in new),
        removed=sum(key not in present for key in known),
    )


def _refresh(
    repository: Repository,
    budget: float | None,
    progress: Progress,
    first: Callable[[str], bool],
) -> Refreshed:
    with told(repository.catalog), Catalog.create(repository.catalog) as catalog:
        return _bring_up(repository, catalog, budget, progress, first)


def _bring_up(
    repository: Repository,
    catalog: Catalog,
    budget: float | None,
    progress: Progress,
    first: Callable[[str], bool],
) -> Refreshed:
    until = math.inf if budget is None else time.monotonic() + budget
    undecided.clear(repository)
    signature = freshness.take(repository)  # before the look, so that a later change shows
    stamps = freshness.stamps(repository) if budget is None else ""
    known = catalog.states()
    tombstones: list[str] = []
    present = {source.key: source for source in sources(repository, tombstones)}
    gone = [key for key in known if key not in present]
    changed = [source for source in present.values() if not _is_known(source, known)]
    changed.sort(key=lambda s: (not first(s.key), not _is_concept(s), s.path))
    most = None if budget is None else int(budget * BYTES_A_SECOND)
    late = [source for source in changed if most is not None and source.size > most]
    changed = [source for source in changed if most is None or source.size <= most]
    too_large = len(late)
    with catalog.transaction():  # at once, however many: removing them may take long
        catalog.leave(gone)
        if any(_was_forgotten(repository, key) for key in gone):
            catalog.set_meta(_FORGOTTEN, "1")
        _heed(catalog, tombstones)
    done = 0
    notes: list[str] = []
    oids = {key: oid for key, (oid, _, _) in known.items()}
    # A recall, which has a budget, is over before another process has started.
    with ahead.reading(repository.root, changed if budget is None else [], oids) as reader:
        while done < len(changed) and time.monotonic() < until:
            with catalog.transaction():
                done = _index_some(repository, catalog, changed, done, notes, late, most, reader)
            progress(done, len(changed))
    behind = len(changed) - done + len(late)
    settled = _remove(catalog, gone, until) and not behind
    if settled and budget is None:  # reading the history, and all of the file, may take long
        _date_by_commit(repository, catalog, notes)
        _purge_forgotten(catalog, notes)
    settled = settled and not catalog.meta(_FORGOTTEN)
    if notes and any(not oid for oid, _, _ in catalog.states().values()):
        stamps = ""  # what a clone lacks may come without any file that shows it
    with catalog.transaction():
        catalog.set_meta(BEHIND, str(behind))
        catalog.set_meta(SEEN, signature.dumps() if settled else "")
        catalog.set_meta(STAMPS, stamps if settled else "")
    indexed = done - (len(late) - too_large)
    lacks = any(map(_is_concept, (*changed[done:], *late)))
    return Refreshed(indexed, len(gone), behind, notes=tuple(notes), lacks_concepts=lacks)


def _remove(catalog: Catalog, gone: list[str], until: float) -> bool:
    """Remove documents that are hidden already; says whether all are removed."""
    waiting = gone[::-1]
    while waiting and time.monotonic() < until:
        soon = min(until, time.monotonic() + _SECONDS_A_TRANSACTION)
        with catalog.transaction():
            while waiting and time.monotonic() < soon:
                if catalog.remove(waiting[-1], most=_BATCH):
                    waiting.pop()
    return not waiting


def _was_forgotten(repository: Repository, key: str) -> bool:
    if key.startswith(f"{FOLDER}/"):
        return False
    name = session_of(repository, repository.root / f"{key}{store.SUFFIX}")
    return name is not None and is_forgotten(repository, name)


def _heed(catalog: Catalog, tombstones: list[str]) -> None:
    """Throw other versions' catalogs away that have not heeded the tombstones there are.

    They may hold what was forgotten, and perhaps none of their runs comes to take it out.
    """
    joined = "\n".join(sorted(tombstones))
    digest = hashlib.sha1(joined.encode(), usedforsecurity=False).hexdigest()
    if catalog.meta(_TOMBSTONES) == digest:
        return
    catalog.set_meta(_TOMBSTONES, digest)
    if tombstones:
        catalog.discard_others(but={_TOMBSTONES: digest, _FORGOTTEN: ""})


def _purge_forgotten(catalog: Catalog, notes: list[str]) -> None:
    """Take what a tombstone from another clone removed out of the catalog's file as well."""
    if not catalog.meta(_FORGOTTEN):
        return
    try:
        catalog.purge()
    except (SQLiteError, OSError) as error:
        notes.append(f"what was forgotten still lies in free pages of the catalog: {error}")
        return
    with catalog.transaction():
        catalog.set_meta(_FORGOTTEN, "")


def _is_concept(source: Source) -> bool:
    return source.path.startswith(f"{FOLDER}/")


def _is_known(source: Source, known: dict[str, tuple[str, str, str]]) -> bool:
    oid, stamp, _ = known.get(source.key, ("", "", ""))
    return source.mark in {oid, stamp}


def _index_some(
    repository: Repository,
    catalog: Catalog,
    changed: list[Source],
    start: int,
    notes: list[str],
    late: list[Source],
    most: int | None,
    reader: ahead.Ahead | None,
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
            partial.blobs(repository, [source.mark for source in concepts]),
            strict=True,
        )
    )
    for offset, source in enumerate(batch):
        content = contents.get(source.key) or b""
        if most is not None and len(content) > most // SLOWER_CONCEPTS:
            late.append(source)
            continue
        try:
            if source.key not in contents:
                _put_session(repository, catalog, source, reader)
            elif contents[source.key] is None:
                notes.append(
                    f"{source.path}: not indexed: this clone lacks its content; check it out"
                )
                put_unreadable(catalog, source.path, "")  # it may be here the next time
            else:
                put_concept(catalog, source.path, source.mark, content)
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


def _put_session(
    repository: Repository, catalog: Catalog, source: Source, reader: ahead.Ahead | None
) -> None:
    if source.ours is None:
        read = reader.take(source) if reader else None
        put_session(catalog, repository.root, source.path, source.mark, read)
        return
    with undecided.written(repository, source.ours) as folder:
        put_session(catalog, folder, source.path, source.mark)


def _date_by_commit(repository: Repository, catalog: Catalog, notes: list[str]) -> None:
    """Give concepts that name no date of their own that of their last commit."""
    undated = {
        key: date
        for key, (_, stamp, date) in catalog.states().items()
        if stamp == _BY_COMMIT or not (stamp or date)
    }
    if not undated:
        return
    try:
        dates = plumbing.commit_dates(repository, FOLDER)
    except KnowError as error:  # a clone without its older trees
        notes.append(f"concepts have no date of a commit: {error.message}")
        return
    with catalog.transaction():
        for key, before in undated.items():
            date = dates.get(f"{key}.md", "")
            if date != before:  # also one that was committed once, and is only staged now
                catalog.restamp(key, stamp=_BY_COMMIT if date else "", date=date)
