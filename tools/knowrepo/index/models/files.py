"""The model folder: which file is what, told by its hash.

Owns the user's folder of models and the records beside its files. A file is used
only where it is what it was when it was put there: each has a record of its hash,
and is hashed again only where its size or time changed.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
from dataclasses import asdict, dataclass
from pathlib import Path

from knowrepo import config
from knowrepo.errors import ModelError
from knowrepo.index.models.registry import ModelSpec

GGUF_MAGIC = b"GGUF"


@dataclass(frozen=True)
class Model:
    """A model that can be used. ``identity`` names its weights on every machine.

    ``dimension`` is what its vectors are cut to (Matryoshka), 0 for all they
    have; ``pooling`` is empty for the weights' own, else `mean`, `cls` or
    `last`. Where ``endpoint`` is a URL, the model runs behind it under ``name``,
    ``path`` is the path of no file, and ``timeout`` is how many seconds an answer
    may take. ``language`` is the only one that it is known to be made for.
    """

    name: str
    path: Path
    identity: str
    passage_prefix: str = ""
    query_prefix: str = ""
    dimension: int = 0
    pooling: str = ""
    endpoint: str = ""
    timeout: int = 0
    language: str = ""

    @property
    def told(self) -> str:
        """How it is called where another may have its name: with what its vectors are cut to."""
        return f"{self.name} cut to {self.dimension}" if self.dimension else self.name


@dataclass(frozen=True)
class Record:
    """What is known of a file that was hashed before."""

    sha256: str
    size: int
    mtime_ns: int

    def describes(self, path: Path) -> bool:
        """Say whether a file still has the size and the time that it had."""
        try:
            stat = path.stat()
        except OSError:
            return False
        return (self.size, self.mtime_ns) == (stat.st_size, stat.st_mtime_ns)


def folder() -> Path:
    """Return the folder in which models are kept."""
    return config.cache_dir() / "models"


def installed(spec: ModelSpec) -> Path | None:
    """Return where a model of the registry lies, or None."""
    path = folder() / spec.file
    return path if path.is_file() else None


def check_magic(path: Path) -> None:
    """Raise ModelError where a file does not begin like a GGUF file."""
    try:
        with path.open("rb") as stream:
            magic = stream.read(len(GGUF_MAGIC))
    except OSError as error:
        raise ModelError(f"{path}: cannot be read: {error.strerror}") from error
    if magic != GGUF_MAGIC:
        raise ModelError(
            f"{path}: not a GGUF file",
            hint="`know model pull` gets a good one, `know model use` chooses another",
        )


def file_sha256(path: Path) -> str:
    """Return the sha256 of a file in hex."""
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def record_path(path: Path) -> Path:
    """Return where the record of a file of the model folder lies."""
    return path.with_name(f"{path.name}.json")


def own_record_path(path: Path) -> Path:
    """Return where the record of a user's own file lies: in our folder, not beside it."""
    name = hashlib.sha256(str(path.resolve()).encode()).hexdigest()[:16]
    return folder() / f"{name}.json"


def read_record(place: Path) -> Record | None:
    """Return a record, or None where there is none to be understood."""
    try:
        return Record(**json.loads(place.read_bytes()))
    except (OSError, ValueError, TypeError):
        return None


def write_record(place: Path, path: Path, sha256: str = "") -> Record:
    """Record what a file is now; its hash is counted where it is not known yet."""
    stat = path.stat()
    record = Record(sha256 or file_sha256(path), stat.st_size, stat.st_mtime_ns)
    config.write_atomically(place, json.dumps(asdict(record)).encode())
    return record


def place(spec: ModelSpec, made: Path, sha256: str = "") -> Path:
    """Publish a file as a model of the registry, by rename; returns its path."""
    target = folder() / spec.file
    write_record(record_path(target), made, sha256)
    made.replace(target)
    return target


def verified(spec: ModelSpec, path: Path) -> Model:
    """Return the model at ``path`` where it is the file that was put there."""
    hint = (
        "`know model pull` builds it anew"
        if spec.built
        else f"`know model pull {spec.name}` fetches it anew"
    )
    record = read_record(record_path(path))
    if record is None:
        raise ModelError(f"{path}: there is no record of its hash", hint=hint)
    if not record.describes(path):
        if file_sha256(path) != record.sha256:
            raise ModelError(f"{path}: damaged (it is not the file that was put here)", hint=hint)
        with contextlib.suppress(OSError):  # a cache that cannot be written is hashed again
            write_record(record_path(path), path, record.sha256)
    if spec.sha256 and record.sha256 != spec.sha256:
        raise ModelError(f"{path}: not the file that the registry names", hint=hint)
    return model_of(spec, path, record.sha256)


def model_of(spec: ModelSpec, path: Path, sha256: str) -> Model:
    """Return the model that a file of this hash is."""
    return Model(
        spec.name,
        path,
        spec.identity(sha256),
        spec.passage_prefix,
        spec.query_prefix,
        # What is built here says itself how it pools; an old conversion may not.
        pooling="" if spec.built else spec.pooling,
        language=spec.language,
    )


def own_sha256(path: Path) -> str:
    """Return the sha256 of a user's own model, hashed once for each size and time."""
    known = own_record_path(path)
    record = read_record(known)
    if record is not None and record.describes(path):
        return record.sha256
    sha256 = file_sha256(path)
    with contextlib.suppress(OSError):
        write_record(known, path, sha256)
    return sha256
