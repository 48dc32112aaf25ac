"""Dropping vectors that nothing in the repository needs any more.

Owns the order: nobody embeds meanwhile, then what is needed is asked, then it goes.
It is never done by itself, for nothing needs it to be right. Tables of models
that are not here are left alone unless asked for: they may have taken hours.
"""

from __future__ import annotations

import contextlib
import shutil
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

from filelock import FileLock, Timeout

from knowrepo.errors import KnowError
from knowrepo.git.layout import Repository
from knowrepo.index import Progress, embed, models
from knowrepo.index.needed import needed
from knowrepo.index.vectors import VectorStore, manifest


@dataclass(frozen=True)
class Table:
    """What became, or would become, of the vectors of one fingerprint.

    ``model`` is empty where no model that is here makes such vectors. ``freed``
    are bytes, which in a dry run are about right. ``damaged`` says which segments
    could not be read, and why: their vectors are lost.
    """

    fingerprint: str
    model: str
    kept: int
    dropped: int
    freed: int
    damaged: tuple[str, ...] = ()


def collect(
    repository: Repository,
    *,
    dry_run: bool = False,
    all_models: bool = False,
    progress: Progress = lambda _done, _total: None,
) -> list[Table]:
    """Drop the vectors of texts that no branch, tag, stash or work tree holds.

    With ``all_models`` whole tables go where no model that is here makes such
    vectors. Raises KnowError where a process is embedding or indexing.
    """
    top = repository.vectors
    folders = sorted(path for path in top.iterdir() if path.is_dir()) if top.is_dir() else []
    if not folders:
        return []
    names = _models_here()
    with ExitStack() as held:
        if not dry_run:
            for folder in folders:
                _hold(held, folder)
        texts = needed(repository, progress=progress)
        tables = []
        for folder in folders:
            model = names.get(folder.name, "")
            if all_models and not model:
                tables.append(_without(folder, dry_run=dry_run))
            else:
                tables.append(_cut_down(folder, model, texts, dry_run=dry_run))
    return tables


def _models_here() -> dict[str, str]:
    """Return ``{fingerprint: name}`` of the models that can be used."""
    current = models.current()
    here = [*([current] if current else []), *models.previous()]
    return {embed.fingerprint(model): model.told for model in here}


def _hold(held: ExitStack, folder: Path) -> None:
    try:
        held.enter_context(FileLock(folder / "embedding.lock", timeout=0))
    except Timeout as error:
        raise KnowError(
            f"{folder}: another process is embedding",
            hint="let it finish, and run the command again",
        ) from error
    except OSError as error:
        raise KnowError(
            f"{folder}: cannot be written: {error.strerror}",
            hint="make the git directory writable, or work in a clone that is yours",
        ) from error


def _cut_down(folder: Path, model: str, texts: set[bytes], *, dry_run: bool) -> Table:
    store = VectorStore(folder.parent, folder.name)
    before = _size(folder)
    damaged = [] if dry_run else store.check()
    kept = store.retain(texts, dry_run=dry_run)
    damaged += kept.damaged
    if dry_run:
        freed = kept.freed + sum(path.stat().st_size for path in manifest.waste(folder))
    else:
        for path in manifest.damaged(folder):
            path.unlink(missing_ok=True)
        freed = before - _size(folder)
    told = tuple(f"{folder / one.name}: {one.why}" for one in damaged)
    return Table(folder.name, model, kept.kept, kept.dropped, max(0, freed), told)


def _without(folder: Path, *, dry_run: bool) -> Table:
    dropped = VectorStore(folder.parent, folder.name).count()
    freed = _size(folder)
    if not dry_run:
        shutil.rmtree(folder)
    return Table(folder.name, "", 0, dropped, freed)


def _size(folder: Path) -> int:
    total = 0
    for path in folder.iterdir():
        with contextlib.suppress(FileNotFoundError):
            total += path.stat().st_size
    return total
