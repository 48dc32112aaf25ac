"""Which models there are, how to get them, and which embeds and which reranks.

Rooms: `registry` (what is known of each), `files` (the model folder), `header` (what
a file says of itself), `pulling` with `carrier` and `hub` (getting them), `chosen`
and `choose` (the one that embeds), `rerankers` (the one that reranks). A model is
fetched when a person says `know model pull`, never by a query. Loading and
running a model is `embed`'s and `reranker`'s business, converting one `model_build`'s.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from knowrepo.index.models.carrier import Say
from knowrepo.index.models.chosen import current, of, previous, remember
from knowrepo.index.models.files import Model, check_magic, file_sha256, folder, installed
from knowrepo.index.models.pulling import pull, remove
from knowrepo.index.models.registry import ModelSpec, default, find, known

if TYPE_CHECKING:
    DEFAULT: ModelSpec
    MINILM: ModelSpec
    REGISTRY: tuple[ModelSpec, ...]

__all__ = [
    "DEFAULT", "MINILM", "REGISTRY", "Model", "ModelSpec", "Say", "check_magic", "current",
    "default", "file_sha256", "find", "folder", "installed", "known", "of", "previous", "pull",
    "remember", "remove",
]  # fmt: skip


def __getattr__(name: str) -> object:
    # Read when they are asked for: who only wants the type of a model waits for no file.
    if name in {"DEFAULT", "MINILM"}:
        return default()
    if name == "REGISTRY":
        return known()
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
