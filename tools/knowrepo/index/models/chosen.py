"""Which model is in use, and which were before.

Owns what the user's configuration and environment come to. A repository has no
say in it: nothing here reads one. Writing the choice is `choose`'s business.
"""

from __future__ import annotations

import contextlib
import json
import os
from collections.abc import Iterator
from dataclasses import asdict, replace
from pathlib import Path

from knowrepo import config
from knowrepo.errors import ModelError
from knowrepo.index.models import files
from knowrepo.index.models.files import Model, folder, installed
from knowrepo.index.models.registry import ModelSpec, default, known
from knowrepo.tables import EndpointConfig, ModelConfig

_REMEMBERED = 5  # more than anybody goes back by


def current() -> Model | None:
    """Return the model to use, or None where the default has not been pulled.

    ``KNOW_MODEL`` overrides what is configured. Raises ModelError where the file
    that is named is missing, or where a file is not what it was.
    """
    settings = config.load_user_config().model
    named = os.environ.get("KNOW_MODEL", "")
    if not named:
        return of(settings, by=str(config.config_path()))
    # Configured prefixes belong to a configured file: a model that is known has its own.
    other = settings.endpoint.url or _named(settings.model) or _named(named)
    return of(replace(ModelConfig() if other else settings, model=named), by="KNOW_MODEL")


def of(settings: ModelConfig, *, by: str = "") -> Model | None:
    """Return the model that settings mean; ``by`` names where they stand."""
    if settings.endpoint.url:
        return of_endpoint(settings.endpoint)
    spec = _named(settings.model) if settings.model else default()
    if spec is None:
        return _of_file(settings, by)
    if spec.reranks:
        raise ModelError(
            f"{spec.name}: the model named in {by or 'the configuration'} reranks, and embeds"
            " nothing",
            hint="`know model use` chooses another, `know model use --rerank` has it rerank",
        )
    path = installed(spec)
    if path is None:
        if spec == default():
            return None
        raise ModelError(
            f"{spec.name}: the model named in {by} is not here",
            hint=f"`know model pull {spec.name}` fetches it",
        )
    return replace(files.verified(spec, path), dimension=_cut(spec, settings.dimension))


def of_endpoint(endpoint: EndpointConfig) -> Model:
    """Return the model behind an endpoint.

    What it is made of cannot be seen, so it is known by its address and its name:
    vectors of two servers never meet.
    """
    url = endpoint.url.rstrip("/")
    return Model(
        endpoint.model,
        Path(),
        f"endpoint:{url}#{endpoint.model}",
        endpoint.passage_prefix,
        endpoint.query_prefix,
        endpoint.dimension,
        endpoint=url,
        timeout=endpoint.timeout_seconds,
    )


def previous() -> list[Model]:
    """Return the models used before on this machine that are still there, the last first.

    Nothing is hashed: a file that changed since it was used is left out. An
    endpoint is as well, for whoever turned away from a server sends it no more.
    """
    try:
        now = current()
    except ModelError:
        now = None
    return [model for model in _remembered() if model != now and _is_there(model)]


def remember(model: Model) -> None:
    """Note that a model is used on this machine, for `previous`."""
    if model.endpoint:
        return
    from filelock import FileLock

    place = _memory()
    # What is not noted is only not found by `previous`: no reason to fail.
    with contextlib.suppress(OSError):
        place.parent.mkdir(parents=True, exist_ok=True)
        with FileLock(place.with_name(f"{place.name}.lock")):
            kept = [model, *(other for other in _remembered() if other != model)][:_REMEMBERED]
            rows = [{**asdict(one), "path": str(one.path)} for one in kept]
            config.write_atomically(place, json.dumps({"version": 1, "models": rows}).encode())


def _memory() -> Path:
    return folder() / "used.json"


def _remembered() -> list[Model]:
    try:
        rows = json.loads(_memory().read_bytes())["models"]
        return [Model(**{**row, "path": Path(row["path"])}) for row in rows]
    except (OSError, ValueError, TypeError, KeyError):
        return []


def _is_there(model: Model) -> bool:
    for spec, record in _records(model.path):
        if record is not None and record.describes(model.path):
            identity = spec.identity(record.sha256) if spec else f"sha256:{record.sha256}"
            if identity == model.identity:
                return True
    return False


def _records(path: Path) -> Iterator[tuple[ModelSpec | None, files.Record | None]]:
    """Yield what is recorded of a file: as one of the registry, and as a user's own."""
    for spec in known():
        if folder() / spec.file == path:
            yield spec, files.read_record(files.record_path(path))
    yield None, files.read_record(files.own_record_path(path))


def _named(name: str) -> ModelSpec | None:
    """Return the model of the registry of this name, or whose file in our folder this is."""
    path = Path(name).expanduser()
    ours = path.name if path.parent == folder() else ""
    return next((spec for spec in known() if name == spec.name or ours == spec.file), None)


def _cut(spec: ModelSpec, dimension: int) -> int:
    """Return what to cut vectors to; 0 where that is all of them."""
    if dimension > spec.dimension:
        raise ModelError(
            f"{spec.name}: `dimension` is {dimension}, but it has only {spec.dimension}",
            hint=f"mend `dimension` in {config.config_path()}, or remove it",
        )
    return dimension if dimension != spec.dimension else 0


def _of_file(settings: ModelConfig, by: str) -> Model:
    path = Path(settings.model).expanduser()
    # What is looked for in the folder at hand could come out of a clone.
    if not path.is_absolute() and by != "KNOW_MODEL":
        raise ModelError(
            f"{settings.model}: the model named in {by} is neither known nor an absolute path",
            hint="`know model list` names those that are known; a path begins with `/` or `~/`",
        )
    if not path.is_file():
        raise ModelError(
            f"{path}: the model named in {by} is not there",
            hint="`know model use` chooses another, or all-MiniLM-L6-v2, the default",
        )
    files.check_magic(path)
    return Model(
        path.stem,
        path,
        f"sha256:{files.own_sha256(path)}",
        settings.passage_prefix,
        settings.query_prefix,
        settings.dimension,
        settings.pooling,
    )
