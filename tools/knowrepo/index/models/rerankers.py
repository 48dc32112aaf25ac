"""Which model reranks, if any: none, unless the user chose one.

Owns that choice and which files can do it. A reranker and the model that embeds
never take each other's place: each would give numbers, and they would mean nothing.
Loading and running one is `index.reranker`'s business.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from knowrepo import config
from knowrepo.errors import ModelError, UsageError
from knowrepo.index.models import files
from knowrepo.index.models.files import Model, folder, installed
from knowrepo.index.models.header import Header, read_header
from knowrepo.index.models.registry import ModelSpec, find, known
from knowrepo.tables import RERANK_SECONDS, RerankConfig

if TYPE_CHECKING:
    from tomlkit import TOMLDocument

ENCODERS = ("bert", "jina-bert-v2")
"""The architectures whose scores were compared with a calculation of our own."""
HINT = "`know model use --rerank` chooses another, `--no-rerank` does without"
_HEAD = "cls.weight"
_OUTPUT = "cls.output.weight"


@dataclass(frozen=True)
class Choice:
    """What the user chose: the model as it is named, and how long it may take for a query."""

    named: str
    seconds: float
    by: str

    def model(self) -> Model:
        """Return the model that is meant. Raises ModelError where it is not there."""
        spec = _named(self.named)
        if spec is None:
            return _of_file(Path(self.named).expanduser(), self.by)
        path = installed(spec)
        if path is None:
            raise ModelError(
                f"{spec.name}: the reranker named in {self.by} is not here",
                hint=f"`know model pull {spec.name}` fetches it; {HINT}",
            )
        return files.verified(spec, path)


def chosen() -> Choice | None:
    """Return what the user chose, or None where nothing reranks."""
    found = config.rerank_choice()
    return Choice(found.model, found.seconds, str(config.config_path())) if found.model else None


def choose(named: str, seconds: float = RERANK_SECONDS) -> Model:
    """Have a model of the registry, or a GGUF file, rerank from now on. Raises KnowError."""
    spec = _named(named)
    if spec is None and not _is_path(named):
        spec = find(named)
    if spec is not None and not spec.reranks:
        raise UsageError(
            f"{spec.name}: an embedding model, which cannot rerank", hint=_known_names()
        )
    if spec is not None and installed(spec) is None:
        raise ModelError(f"{spec.name}: not here", hint=f"`know model pull {spec.name}` fetches it")
    whole = spec.name if spec else str(Path(named).expanduser().absolute())
    model = Choice(whole, seconds, "--rerank").model()
    check(model.path)
    _write(RerankConfig(whole, seconds))
    return model


def give_up() -> bool:
    """Have nothing rerank any more; returns False where nothing did."""
    return _write(RerankConfig())


def check(path: Path) -> Header:
    """Return the head of a file that can rerank. Raises ModelError where it cannot.

    llama.cpp runs what has no head for it as well, and gives what stands in the
    score's place.
    """
    header = read_header(path)
    if header.architecture not in ENCODERS or _HEAD not in header.shapes:
        raise ModelError(f"{path}: not a reranker ({_what(header)})", hint=_known_names())
    # BERT learns which text is the query by the type of each token, and llama.cpp
    # gives all of them the first type: the order comes out wrong, and says nothing.
    types = header.settings.get("tokenizer.ggml.token_type_count", 0)
    if header.architecture == "bert" and isinstance(types, int) and types > 1:
        raise ModelError(
            f"{path}: tells query and passage apart by token types, which llama.cpp does not know",
            hint=_known_names(),
        )
    outputs = header.shapes.get(_OUTPUT, header.shapes[_HEAD])[1:] or (1,)
    if outputs != (1,):
        raise ModelError(f"{path}: gives {outputs[0]} numbers, not one score", hint=_known_names())
    return header


def _what(header: Header) -> str:
    if header.architecture not in ENCODERS:
        return f"{header.architecture or 'no architecture'}; known are {', '.join(ENCODERS)}"
    return "it has no classification head; an embedding model cannot rerank"


def _known_names() -> str:
    names = ", ".join(spec.name for spec in known() if spec.reranks)
    return f"those that are known: {names or 'none'}"


def _is_path(named: str) -> bool:
    return "/" in named or named.lower().endswith(".gguf")


def _named(named: str) -> ModelSpec | None:
    """Return the model of the registry of this name, or whose file in our folder this is."""
    path = Path(named).expanduser()
    ours = path.name if path.parent == folder() else ""
    return next((spec for spec in known() if named == spec.name or ours == spec.file), None)


def _of_file(path: Path, by: str) -> Model:
    # What is looked for in the folder at hand could come out of a clone.
    if not path.is_absolute():
        raise ModelError(
            f"{path}: the reranker named in {by} is neither known nor an absolute path", hint=HINT
        )
    if not path.is_file():
        raise ModelError(f"{path}: the reranker named in {by} is not there", hint=HINT)
    files.check_magic(path)
    return Model(path.stem, path, f"sha256:{files.own_sha256(path)}")


def _write(choice: RerankConfig) -> bool:
    import tomlkit

    def change(document: TOMLDocument, _: config.UserConfig) -> None:
        if not choice.model:
            document.pop("rerank", None)
            return
        if "rerank" not in document:
            document["rerank"] = tomlkit.table()
        document["rerank"]["model"] = choice.model
        if choice.seconds != RERANK_SECONDS:
            document["rerank"]["seconds"] = choice.seconds
        else:
            document["rerank"].pop("seconds", None)

    return config.edit_user_config(change)
