"""Which vectors are shared: those of the model at hand, or of all models where none is.

Owns that choice, what is known of a fingerprint without its model, and that one
process at a time shares. No model is loaded.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from filelock import FileLock, Timeout

from knowrepo.errors import KnowError, ModelError
from knowrepo.git.layout import Repository
from knowrepo.index import embed, models
from knowrepo.index.embed import Embedder
from knowrepo.index.models import Model
from knowrepo.index.models.files import model_of
from knowrepo.index.models.registry import known
from knowrepo.sharing.known import folder
from knowrepo.sharing.pack import FINGERPRINT


def model_here() -> tuple[Model | None, str]:
    """Return the model that is in use, or None and why there is none."""
    try:
        model = models.current()
    except ModelError as error:
        return None, error.message
    return model, "" if model else "there is no model here"


def of(model: Model | None, found: Iterable[str]) -> list[str]:
    """Return the fingerprints that are meant: the model's, without one those that were found."""
    return [embed.fingerprint(model)] if model else sorted(found)


def here(repository: Repository) -> list[str]:
    """Return the fingerprints of which there are vectors in this clone."""
    top = repository.vectors
    found = top.iterdir() if top.is_dir() else ()
    return sorted(path.name for path in found if FINGERPRINT.fullmatch(path.name))


@dataclass(frozen=True)
class Table:
    """What vectors of one fingerprint are of; ``dimension`` is 0 where that is not known."""

    name: str
    dimension: int = 0


def described(model: Model | None) -> dict[str, Table]:
    """Return ``{fingerprint: table}`` of the models that are known without being here."""
    found: dict[str, Table] = {}
    for spec in known():
        if not spec.reranks and (spec.built or spec.sha256):
            whole = model_of(spec, Path(), spec.sha256)
            for dimension in {0, *spec.dimensions} - {spec.dimension}:
                cut = replace(whole, dimension=dimension)
                table = Table(cut.told, dimension or spec.dimension)
                found[embed.fingerprint(cut)] = table
    if model:
        found.setdefault(embed.fingerprint(model), Table(model.told, model.dimension))
    return found


def opener(repository: Repository, model: Model | None) -> Callable[[], Embedder | None]:
    """Return what loads the model, to compare vectors; it returns None where it cannot run."""

    def opened() -> Embedder | None:
        if model is None or embed.lacking(model):
            return None
        return embed.open_embedder(model, vectors=repository.vectors)

    return opened


@contextmanager
def alone(
    repository: Repository, waiting: Callable[[], None], *, writes: bool = True
) -> Iterator[None]:
    """Let one process of this clone share at a time; ``waiting`` is called where it waits.

    Who only looks, and ``writes`` nothing, may do so where no lock can be made.
    """
    lock = FileLock(folder(repository) / "lock")
    try:
        folder(repository).mkdir(parents=True, exist_ok=True)
        try:
            lock.acquire(timeout=0)
        except Timeout:
            waiting()
            lock.acquire()
    except OSError as error:
        if writes:
            raise KnowError(
                f"{folder(repository)}: cannot be written: {error.strerror}",
                hint="make the git directory writable, or work in a clone that is yours",
            ) from error
    try:
        yield
    finally:
        lock.release()
