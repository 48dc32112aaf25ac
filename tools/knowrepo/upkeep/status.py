"""What is indexed, what is pending, and with which model: the answer of `know status`.

Owns how these facts are found, as one frozen value; printing is `cli`'s. It loads
no model, reads no document, and imports DuckDB only where vectors are to be
compared with texts. Whether what it counts is whole is for `doctor` to say.
"""

from __future__ import annotations

import contextlib
import json
import os
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from knowrepo import config
from knowrepo.errors import KnowError
from knowrepo.git.layout import Repository
from knowrepo.index import embed, embedded, freshness, models
from knowrepo.index.catalog import SEEN, Catalog, DamagedError, told
from knowrepo.upkeep import logs
from knowrepo.upkeep.locks import Lock, locks

State = Literal["current", "behind", "not built", "damaged"]
VARIABLES = (
    "KNOW_REPO", "KNOW_MODEL", "KNOW_CONFIG", "KNOW_CACHE", "KNOW_STATE", "KNOW_RECALL_LOG",
)  # fmt: skip
_RUNS = ("index", "embedding", "background", "archive")
_LOOKED_AT = 500  # lines of the log


@dataclass(frozen=True)
class CatalogStatus:
    """The catalog: what it holds, and whether that is the present state.

    `damaged` is also what another version of know has made. ``texts`` are the
    distinct texts of the chunks; sizes are bytes.
    """

    path: Path
    state: State
    concepts: int = 0
    sessions: int = 0
    sub_agents: int = 0
    chunks: int = 0
    texts: int = 0
    behind: freshness.Difference = field(default=freshness.Difference())
    size: int = 0
    wal_size: int = 0


@dataclass(frozen=True)
class ModelStatus:
    """The model that is in use; ``problem`` says why none is, or why it cannot run here.

    ``dimension`` and ``window`` (tokens) are 0 where only the loaded model knows.
    """

    name: str = ""
    fingerprint: str = ""
    dimension: int = 0
    window: int = 0
    where: str = ""
    problem: str = ""


@dataclass(frozen=True)
class Table:
    """The vectors of one fingerprint, as their manifest says; ``size`` in bytes."""

    fingerprint: str
    current: bool
    segments: int
    rows: int
    size: int


@dataclass(frozen=True)
class VectorStatus:
    """The vectors of a repository: how many of the catalog's texts have one of the model's."""

    folder: Path
    tables: tuple[Table, ...] = ()
    embedded: int = 0
    pending: int = 0
    problem: str = ""


@dataclass(frozen=True)
class Setting:
    """A configuration file, and whether it is there; ``problem`` says why it does not count."""

    path: Path
    present: bool
    problem: str = ""


@dataclass(frozen=True)
class Status:
    """How things stand in a repository."""

    repository: Repository
    catalog: CatalogStatus
    archive_files: int
    archive_size: int
    model: ModelStatus
    vectors: VectorStatus
    runs: tuple[logs.Run, ...]
    locks: tuple[Lock, ...]
    settings: tuple[Setting, ...]
    variables: tuple[tuple[str, str], ...]


def status(repository: Repository) -> Status:
    """Look how things stand; changes nothing."""
    model = _model()
    catalog, pending, problem = _catalog(repository, model.fingerprint)
    files, size = _archive(repository)
    return Status(
        repository=repository,
        catalog=catalog,
        archive_files=files,
        archive_size=size,
        model=model,
        vectors=VectorStatus(
            folder=repository.vectors,
            tables=tuple(_tables(repository.vectors, model.fingerprint)),
            embedded=catalog.texts - pending,
            pending=pending,
            problem=problem,
        ),
        runs=_runs(repository),
        locks=tuple(lock for lock in locks(repository) if lock.held),
        settings=_settings(repository),
        variables=tuple((name, os.environ[name]) for name in VARIABLES if os.environ.get(name)),
    )


def _catalog(repository: Repository, fingerprint: str) -> tuple[CatalogStatus, int, str]:
    """Return the state of the catalog; see `_pending` for the others."""
    path = Catalog.file(repository.catalog) or repository.catalog
    size, wal = _size(path), _size(path.with_name(f"{path.name}-wal"))
    if not path.is_file():
        return CatalogStatus(path, "not built"), 0, ""
    damaged = CatalogStatus(path, "damaged", size=size, wal_size=wal), 0, ""
    catalog = Catalog.open(repository.catalog)
    if catalog is None:
        return damaged
    try:
        with told(path), catalog:
            seen = freshness.Signature.loads(catalog.meta(SEEN))
            behind = _behind(repository, catalog, seen)
            state: State = "behind" if behind else "current"
            counts = catalog.counts()
            below = sum(_is_sub_agent(key) for key in catalog.states())
            texts = embedded.number_of_texts(catalog)
            pending, problem = _pending(repository, catalog, fingerprint, texts)
    except DamagedError:
        return damaged
    return CatalogStatus(
        path, state, counts["concepts"], counts["sessions"] - below, below, counts["chunks"],
        texts, behind or freshness.Difference(), size, wal,
    ), pending, problem  # fmt: skip


def _pending(
    repository: Repository, catalog: Catalog, fingerprint: str, texts: int
) -> tuple[int, str]:
    """Return how many texts have no vector of the model, and what is wrong with the vectors."""
    if not texts or not fingerprint or not (repository.vectors / fingerprint).is_dir():
        return texts, ""
    if embedded.is_noted(repository, catalog, fingerprint):
        return 0, ""
    try:
        from knowrepo.index.vectors import VectorStore

        store = VectorStore(repository.vectors, fingerprint, only_look=True)
        pending = embedded.pending(repository, catalog, store)
    except KnowError as error:
        return texts, f"{error.message}; {error.hint}"
    except ImportError as error:
        return texts, f"vectors cannot be read: {error}"
    damaged = ", ".join(f"{one.name} ({one.why})" for one in store.damaged)
    return pending, f"damaged: {damaged}; `know index` embeds its texts anew" if damaged else ""


def _behind(
    repository: Repository, catalog: Catalog, seen: freshness.Signature
) -> freshness.Difference | None:
    """Return what a catalog lacks; None where it lacks nothing."""
    if freshness.is_current(repository, seen):
        return None
    from knowrepo.index.build import difference  # which cuts Markdown, and takes its time

    found = difference(repository, catalog)
    # git and folders change their times without a change of any document.
    return None if found == freshness.Difference() else found


def _is_sub_agent(key: str) -> bool:
    """Say whether a key names a sub-agent's session: `sessions/<agent>/<parent>/<id>`."""
    return key.startswith("sessions/") and key.count("/") > 2


def _model() -> ModelStatus:
    try:
        model = models.current()
    except KnowError as error:
        return ModelStatus(problem=f"unusable: {error.message}")
    except OSError as error:
        return ModelStatus(problem=f"unusable: {error.filename}: {error.strerror}")
    if model is None:
        return ModelStatus(problem="none; `know model pull` brings one")
    spec = next((spec for spec in models.REGISTRY if spec.name == model.name), None)
    return ModelStatus(
        name=model.name,
        fingerprint=embed.fingerprint(model),
        dimension=model.dimension or (spec.dimension if spec else 0),
        window=spec.window if spec else 0,
        where=model.endpoint or str(model.path),
        problem=embed.lacking(model),
    )


def _tables(folder: Path, fingerprint: str) -> list[Table]:
    found: list[Table] = []
    for table in sorted(folder.glob("*/manifest.json")):
        rows: list[int] = []
        with contextlib.suppress(OSError, ValueError, TypeError, KeyError):
            rows = [int(entry["rows"]) for entry in json.loads(table.read_bytes())["segments"]]
        name = table.parent.name
        size = sum(_size(path) for path in table.parent.iterdir())
        found.append(Table(name, name == fingerprint, len(rows), sum(rows), size))
    return sorted(found, key=lambda table: (not table.current, -table.rows))


def _archive(repository: Repository) -> tuple[int, int]:
    """Return how many files the archive has, and their bytes."""
    sizes = [
        _size(Path(folder, name))
        for folder, _, names in os.walk(repository.sessions)
        for name in names
        if name.endswith(".jsonl") and not name.startswith(".")
    ]
    return len(sizes), sum(sizes)


def _runs(repository: Repository) -> tuple[logs.Run, ...]:
    """Return the last run of each kind; embedding is for all work trees, the others for this."""
    here = str(repository.root)
    runs = logs.recent(repository, _LOOKED_AT)
    ours = [run for run in runs if run.tree == here or run.name == "embedding"]
    last = {run.name: run for run in ours}
    return tuple(last[name] for name in _RUNS if name in last)


def _settings(repository: Repository) -> tuple[Setting, ...]:
    root = repository.root
    return (
        _setting(root / config.REPOSITORY_FILE, lambda: config.load_repository_config(root)),
        _setting(config.config_path(), config.load_user_config),
    )


def _setting(
    path: Path, load: Callable[[], config.RepositoryConfig | config.UserConfig]
) -> Setting:
    try:
        unknown = load().unknown
    except KnowError as error:
        problem = error.message.removeprefix(f"{path}: ")
    else:
        problem = ", ".join(f"`{key}`" for key in unknown)
        problem = f"without meaning: {problem}" if problem else ""
    return Setting(path, path.is_file(), problem)


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except OSError:
        return 0
