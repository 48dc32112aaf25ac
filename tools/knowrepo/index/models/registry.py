"""The registry of models: data beside this module, read when a model is asked for.

Owns what is known of each model. JSON, because it is read forty times as fast as
TOML, and a recall with vectors waits for it. The user's configuration may name one
of these; a repository's may not.
"""

from __future__ import annotations

import functools
import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from knowrepo.errors import UsageError

_FILE = Path(__file__).with_name("registry.json")


@dataclass(frozen=True)
class ModelSpec:
    """A model of the registry: an embedding model, or one that reranks (``kind``).

    ``file`` lies in the repository ``source`` of the model hub, at ``revision``;
    ``sha256`` is empty where no hash is known, and then the first download's is
    kept. ``megabytes`` is about what is fetched. ``dimensions`` are those that its
    vectors were trained to be cut to (Matryoshka), the whole ``dimension`` among
    them; a reranker has none, no prefixes and no pooling. ``language`` is the only one
    that it was made for (ISO 639-1), empty where there are many.

    A model with ``weights`` is built here in place of being fetched: ``weights``
    and ``vocabulary`` are the sha256 of the published files, ``carriers`` the
    packages that ship them, tried in order: the hash is pinned, not the carrier.
    ``recipe`` is the version of the conversion.
    """

    name: str
    source: str
    file: str
    window: int
    licence: str
    megabytes: int
    note: str
    language: str = ""
    kind: str = "embedding"
    dimension: int = 0
    dimensions: tuple[int, ...] = ()
    pooling: str = ""
    passage_prefix: str = ""
    query_prefix: str = ""
    revision: str = ""
    sha256: str = ""
    weights: str = ""
    vocabulary: str = ""
    carriers: tuple[str, ...] = ()
    recipe: str = ""

    @property
    def reranks(self) -> bool:
        """Say whether the model scores pairs of a query and a passage, and embeds nothing."""
        return self.kind == "reranker"

    @property
    def built(self) -> bool:
        """Say whether the model is built here, from weights that a package carries."""
        return bool(self.weights)

    def identity(self, sha256: str) -> str:
        """Return what names the weights on every machine, given the hash of the file here."""
        # Built files are named by what they were made of: machines may differ in a byte.
        return f"{self.weights}/{self.recipe}" if self.built else f"sha256:{sha256}"


@functools.cache
def known() -> tuple[ModelSpec, ...]:
    """Return all models; the first is the default."""
    return tuple(_spec(entry) for entry in json.loads(_FILE.read_bytes()))


def default() -> ModelSpec:
    """Return the model that is used where nobody chose one."""
    return known()[0]


def find(name: str) -> ModelSpec:
    """Return the model of the registry with this name."""
    for spec in known():
        if spec.name == name:
            return spec
    names = ", ".join(spec.name for spec in known())
    raise UsageError(f"no model is called {name}", hint=f"known are: {names}")


def _spec(entry: dict[str, Any]) -> ModelSpec:
    known: dict[str, Any] = {
        key: tuple(value) if isinstance(value, list) else value for key, value in entry.items()
    }
    return ModelSpec(**known)
