"""Bringing the catalog up to the present state.

Owns what is indexed and in which order: the concepts that git tracks, by the
blob that is tracked or staged, and the sessions in the work tree. The plan is
computed from names alone, so a run that finds nothing new reads nothing. No
model is loaded here: `fill` embeds what the catalog holds.
"""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from filelock import FileLock, Timeout

from knowrepo.concepts.model import FOLDER, is_concept_path
from knowrepo.errors import KnowError
from knowrepo.git import plumbing
from knowrepo.git.layout import Repository
from knowrepo.index import freshness
from knowrepo.index.catalog import BEHIND, SEEN, Catalog
from knowrepo.index.documents import put_concept, put_session

Progress = Callable[[int, int], None]
"""Told (done, total) now and then."""

_SECONDS_A_TRANSACTION = 0.5


@dataclass(frozen=True)
class Refreshed:
    """What a refresh did: documents indexed anew, removed, and left for later."""

    indexed: int = 0
    removed: int = 0
    behind: int = 0
    busy: bool = False  # another process is indexing


@dataclass(frozen=True)
class _Source:
    key: str
    path: str
    mark: str  # a concept's blob oid, a session's stamp


def refresh(
    repository: Repository,
    *,
    budget: float | None = None,
    progress: Progress = lambda _done, _total: None,
) -> Refreshed:
    """Bring the catalog up to the present state, for ``budget`` seconds at most.

    Raises KnowError where the catalog cannot be written. Where another process
    is at it, nothing is done and ``busy`` is set.
    """
    try:
        repository.locks.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise KnowError(
            f"{repository.locks}: cannot be written: {error.strerror}",
            hint="make the git directory writable, or work in a clone that is yours",
        ) from error
    lock = FileLock(repository.locks / "catalog.lock", timeout=0)
    try:
        with lock, Catalog.create(repository.catalog) as catalog:
            return _refresh(repository, catalog, budget, progress)
    except Timeout:
        return Refreshed(busy=True)
    except PermissionError as error:
        raise KnowError(
            f"{error.filename}: cannot be written: {error.strerror}",
            hint="make the git directory writable, or work in a clone that is yours",
        ) from error


def _refresh(
    repository: Repository, catalog: Catalog, budget: float | None, progress: Progress
) -> Refreshed:
    started = time.monotonic()
    signature = freshness.take(repository)  # before the look, so that a later change shows
    known = catalog.states()
    present = {source.key: source for source in _sources(repository)}
    gone = [key for key in known if key not in present]
    changed = [source for source in present.values() if not _is_known(source, known)]
    changed.sort(key=lambda s: (not s.path.startswith(f"{FOLDER}/"), s.path))
    with catalog.transaction():
        for key in gone:
            catalog.remove(key)
    done = 0
    while done < len(changed):
        if budget is not None and time.monotonic() - started > budget:
            break
        with catalog.transaction():
            done = _index_some(repository, catalog, changed, done, budget)
        progress(done, len(changed))
    behind = len(changed) - done
    with catalog.transaction():
        if not behind and budget is None:  # reading the history may take long
            _date_by_commit(repository, catalog)
        catalog.set_meta(BEHIND, str(behind))
        catalog.set_meta(SEEN, signature.dumps() if not behind else "")
    return Refreshed(indexed=done, removed=len(gone), behind=behind)


def _sources(repository: Repository) -> Iterator[_Source]:
    for path, oid in plumbing.tracked(repository, FOLDER).items():
        if is_concept_path(path):
            yield _Source(path.removesuffix(".md"), path, oid)
    for folder, _, names in os.walk(repository.inside(repository.sessions)):
        for name in names:
            full = Path(folder, name)
            if name.endswith(".jsonl") and not name.startswith(".") and not full.is_symlink():
                path = full.relative_to(repository.root).as_posix()
                stat = full.stat()
                yield _Source(
                    path.removesuffix(".jsonl"), path, f"{stat.st_size}.{stat.st_mtime_ns}"
                )


def _is_known(source: _Source, known: dict[str, tuple[str, str, str]]) -> bool:
    oid, stamp, _ = known.get(source.key, ("", "", ""))
    return source.mark in {oid, stamp}


def _index_some(
    repository: Repository,
    catalog: Catalog,
    changed: list[_Source],
    start: int,
    budget: float | None,
) -> int:
    """Index from ``start`` on for a while; returns how far it came."""
    until = time.monotonic() + min(_SECONDS_A_TRANSACTION, budget or _SECONDS_A_TRANSACTION)
    batch = changed[start : start + 64]
    concepts = [source for source in batch if source.path.startswith(f"{FOLDER}/")]
    contents = dict(
        zip(
            (source.key for source in concepts),
            plumbing.blobs(repository, [source.mark for source in concepts]),
            strict=True,
        )
    )
    for offset, source in enumerate(batch):
        if source.key in contents:
            put_concept(catalog, source.path, source.mark, contents[source.key] or b"")
        else:
            with contextlib.suppress(FileNotFoundError):  # gone since we looked; seen next time
                put_session(catalog, repository.root, source.path, source.mark)
        if time.monotonic() > until:
            return start + offset + 1
    return start + len(batch)


def _date_by_commit(repository: Repository, catalog: Catalog) -> None:
    """Give concepts that name no date of their own that of their last commit."""
    undated = [key for key, (_, stamp, date) in catalog.states().items() if not stamp and not date]
    if not undated:
        return
    dates = plumbing.commit_dates(repository, FOLDER)
    for key in undated:
        if f"{key}.md" in dates:
            catalog.restamp(key, date=dates[f"{key}.md"])
