"""Bringing transcripts into `sessions/`: one file a session, append-only, redacted.

Owns the archive as a whole: nobody else writes to it meanwhile, and what a run
that was killed, or failed, had begun to publish is finished before anything
else. A session is only ever replaced, by rename, with the union of itself and
what came in, so a killed run or a full disk leaves the old one whole.
"""

from __future__ import annotations

import contextlib
import shutil
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

from knowrepo.errors import KnowError
from knowrepo.git.layout import Repository
from knowrepo.git.lock import held
from knowrepo.sessions import store
from knowrepo.sessions.outcome import Outcome
from knowrepo.sessions.projects import Projects
from knowrepo.sessions.publish import PUBLISHING, LeftError, forget_left, publish, recover
from knowrepo.sessions.readers import reader_of
from knowrepo.sessions.redact.settings import redactor_for
from knowrepo.sessions.run import Run
from knowrepo.sessions.unite import unite, whole


def archive(
    repository: Repository,
    sources: Iterable[Path],
    *,
    projects: Projects | None = None,
    dry_run: bool = False,
    part_bytes: int = store.PART_BYTES,
    waiting: Callable[[], None] = lambda: None,
) -> Iterator[Outcome]:
    """Archive each source; yields what became of it.

    With ``projects`` only their sessions are archived; without, all are: a path
    that a person names is consent. A second process waits its turn; ``waiting`` is
    called once where it has to. With ``dry_run`` all is done but publishing.
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
        scratch = cleared(repository)
        if not dry_run:
            finish(repository, scratch, part_bytes)
        run = Run(repository, scratch, projects, part_bytes, dry_run=dry_run)
        try:
            yield from run.all(sources)
        finally:
            run.close()
            shutil.rmtree(scratch, ignore_errors=True)


def exclusively(
    repository: Repository, waiting: Callable[[], None] = lambda: None
) -> contextlib.AbstractContextManager[None]:
    """Hold the archive, so that nobody else writes to it; waits its turn."""
    return held(repository, "archive", waiting)


def cleared(repository: Repository) -> Path:
    """Return the folder for what is made on the way, empty of what a killed run left."""
    scratch = repository.locks / "archive"
    shutil.rmtree(scratch, ignore_errors=True)
    scratch.mkdir()
    return scratch


def finish(repository: Repository, scratch: Path, part_bytes: int) -> None:
    """Finish what an earlier run had begun to publish, in whatever state it was left."""
    folder = repository.locks / PUBLISHING
    try:
        recover(folder, repository.root)
    except LeftError as left:
        name = store.name_of(repository.sessions, left.first)
        reader = reader_of(name.agent) if name else None
        if reader is None:
            raise
        old = whole(left.first, scratch)
        redactor = redactor_for(repository.root)
        action, content = unite(old, left.content, reader, scratch, redactor)
        joined = scratch / "left.jsonl"
        shutil.copyfile(content, joined)
        forget_left(folder)
        if action != "unchanged":
            publish(joined, left.first, folder, most=part_bytes)
    except OSError as error:
        raise KnowError(
            f"{error.filename or repository.sessions}: {error.strerror};"
            " an earlier run left a session half published, which must be finished first",
            hint="make room, or make it writable, and run the command again",
        ) from error
