"""Choosing the model to use: what `know model use` writes.

Owns the user's decision, and what makes it a sound one: vectors are cut only where
the model was trained for it, and a file has the prefixes of its makers. Vectors of
the model before are left where they are.
"""

from __future__ import annotations

import contextlib
from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING

from knowrepo import config
from knowrepo.errors import KnowError, ModelError, UsageError
from knowrepo.index.models import chosen, files
from knowrepo.index.models.files import Model, installed
from knowrepo.index.models.registry import ModelSpec, default, find, known
from knowrepo.tables import MODEL_KEYS, EndpointConfig, ModelConfig, checked_endpoint

if TYPE_CHECKING:
    from tomlkit import TOMLDocument


def by_name(name: str, *, dimension: int = 0, force: bool = False) -> ModelConfig:
    """Return the choice of a model of the registry that is here. Raises KnowError."""
    spec = _embedding(find(name))
    if installed(spec) is None:
        pull = "know model pull" if spec == default() else f"know model pull {name}"
        raise ModelError(f"{name}: not here", hint=f"`{pull}` fetches it")
    return ModelConfig(name, _checked(dimension, name, spec, force=force))


def by_path(
    path: Path,
    *,
    passage_prefix: str | None = None,
    query_prefix: str | None = None,
    pooling: str = "",
    dimension: int = 0,
    force: bool = False,
) -> tuple[ModelConfig, ModelSpec | None]:
    """Return the choice of a local GGUF file, and the model of the registry that it is.

    A file that the registry knows by its hash has the prefixes and the pooling that
    are known, unless others are given.
    """
    path = path.expanduser().absolute()
    if not path.is_file():
        raise ModelError(f"{path}: no such file")
    files.check_magic(path)
    sha256 = files.own_sha256(path)
    spec = next((one for one in known() if one.sha256 == sha256), None)
    if spec is not None:
        _embedding(spec)
    choice = ModelConfig(
        str(path),
        _checked(dimension, str(path), spec, force=force),
        pooling or (spec.pooling if spec else ""),
        _given(passage_prefix, spec.passage_prefix if spec else ""),
        _given(query_prefix, spec.query_prefix if spec else ""),
    )
    return choice, spec


def by_endpoint(endpoint: EndpointConfig, *, force: bool = False) -> ModelConfig:
    """Return the choice of a server that embeds; nothing is sent there yet."""
    try:
        checked_endpoint(endpoint)
    except KnowError as error:
        raise UsageError(f"--endpoint: {error.message}", hint=error.hint) from error
    cut = _checked(endpoint.dimension, endpoint.model, None, force=force)
    return ModelConfig(endpoint=replace(endpoint, dimension=cut))


def choose(choice: ModelConfig) -> Model:
    """Write a choice to the user's configuration, keeping all else in it."""
    model = chosen.of(choice)
    if model is None:
        raise ModelError(f"{default().name}: not here", hint="`know model pull` fetches it")
    before = None
    with contextlib.suppress(ModelError):
        before = chosen.current()
    if before is not None and before != model:
        chosen.remember(before)
    config.edit_user_config(lambda document, _: _write(document, choice))
    return model


def _embedding(spec: ModelSpec) -> ModelSpec:
    if spec.reranks:
        raise UsageError(
            f"{spec.name}: a reranker, which embeds nothing",
            hint=f"`know model use --rerank {spec.name}` has it rerank",
        )
    return spec


def _given(said: str | None, known: str) -> str:
    return known if said is None else said


def _checked(dimension: int, name: str, spec: ModelSpec | None, *, force: bool) -> int:
    """Return the dimension to write; 0 where it is the model's own."""
    if dimension < 0 or (spec is not None and dimension > spec.dimension):
        most = f" from 1 to {spec.dimension}" if spec else " at least 1"
        raise UsageError(f"--dimension {dimension}: for {name} it must be{most}")
    if dimension == 0 or (spec is not None and dimension == spec.dimension):
        return 0
    if force or (spec is not None and dimension in spec.dimensions):
        return dimension
    if spec is None:
        why = "it is not known which dimensions it was trained for"
    elif len(spec.dimensions) == 1:
        why = f"it was not trained to be cut; it has {spec.dimension}"
    else:
        why = "it was trained for " + ", ".join(map(str, spec.dimensions))
    raise UsageError(
        f"--dimension {dimension}: {name}: {why}",
        hint="`--force` cuts it all the same, and costs accuracy",
    )


def _write(document: TOMLDocument, choice: ModelConfig) -> None:
    """Put a choice in place of the one before; what is said of an endpoint is edited in place."""
    import tomlkit

    wanted = {key: value for key, value in asdict(choice).items() if value and key != "endpoint"}
    for key in MODEL_KEYS:
        if key != "endpoint" and key not in wanted:
            document.pop(key, None)
    document.update(wanted)
    if not choice.endpoint.url:
        document.pop("endpoint", None)
        return
    fields = asdict(choice.endpoint)
    usual = asdict(EndpointConfig())
    if "endpoint" not in document:
        document["endpoint"] = tomlkit.table()
    table = document["endpoint"]
    for key, value in fields.items():
        if value != usual[key]:
            table[key] = value
        else:
            table.pop(key, None)
