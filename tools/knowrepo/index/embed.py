"""Turning text into vectors with a local GGUF model.

Owns the window and what a vector is made of; loading a model is `llama`'s.
Passages and queries are embedded by two functions with two prompts and two types,
since a mix-up is never seen, only measured. What is embedded and where vectors go
is `build`'s and `vectors`' business.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NewType, Protocol

from knowrepo.errors import ModelError
from knowrepo.index import llama
from knowrepo.index.models import Model, check_magic

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    Vector = npt.NDArray[np.float32]

Passage = NewType("Passage", str)
"""A text that is kept and found."""
Query = NewType("Query", str)
"""A text by which passages are found."""

SPLITTER = 1
"""The version of the rule by which a passage longer than the window is cut."""
MOST_WINDOW = 8192  # tokens; attention over more costs more memory than it gains


class Embedder(Protocol):
    """What turns text into vectors of unit length."""

    fingerprint: str
    """Names everything that decides the vectors: vectors of two never meet."""
    dimension: int

    def embed_passage(self, passage: Passage) -> list[Vector]:
        """Return a vector for each part of a passage; most have one part."""

    def embed_query(self, query: Query) -> Vector:
        """Return the vector of a query."""


def fingerprint(model: Model) -> str:
    """Return the fingerprint of a model as it is used here (16 hex digits).

    Pooling, dimension and window are the weights' own; the rest is ours.
    """
    parts = (model.identity, model.passage_prefix, model.query_prefix, SPLITTER, MOST_WINDOW, "l2")
    return hashlib.sha256(repr(parts).encode()).hexdigest()[:16]


def lacking(model: Model) -> str:
    """Return what this installation lacks to run a model, and what to do; empty where nothing.

    It imports nothing heavy.
    """
    from importlib.util import find_spec

    if model.endpoint or find_spec("llama_cpp") is not None:
        return ""
    return "llama-cpp-python is not installed; `pip install 'knowrepo[semantic]'`"


def open_embedder(model: Model, *, threads: int = 0) -> Embedder:
    """Load a model; ``threads`` are those that embed, 0 for all. Raises ModelError."""
    return LlamaEmbedder(model, threads=threads)


class LlamaEmbedder:
    """An embedder on llama.cpp's C interface.

    The binding's own `Llama` class hides the two settings that matter here
    (which buffers hold the weights, and one sequence a batch), and sizes a
    table of logits that embedding has no use for.
    """

    def __init__(self, model: Model, *, threads: int = 0) -> None:
        check_magic(model.path)
        self.fingerprint = fingerprint(model)
        self._model = model
        self._lib = llama.binding()
        self._weights = llama.load(model.path)
        self.dimension = int(self._lib.llama_model_n_embd(self._weights))
        trained = int(self._lib.llama_model_n_ctx_train(self._weights))
        self._window = min(trained, MOST_WINDOW)
        self._context = self._new_context(threads or os.cpu_count() or 1)
        self._vocabulary = self._lib.llama_model_get_vocab(self._weights)
        self._batch = self._lib.llama_batch_init(self._window, 0, 1)
        if self._lib.llama_pooling_type(self._context) == self._lib.LLAMA_POOLING_TYPE_NONE:
            raise ModelError(
                f"{model.path}: not an embedding model (it does not pool)",
                hint="name an embedding model in `model`, or remove the line",
            )

    def embed_passage(self, passage: Passage) -> list[Vector]:
        """See `Embedder.embed_passage`."""
        prefix = self._model.passage_prefix
        return [self._embed(tokens) for tokens in self._parts(passage, prefix)]

    def embed_query(self, query: Query) -> Vector:
        """See `Embedder.embed_query`; a query longer than the window is cut."""
        return self._embed(next(self._parts(query, self._model.query_prefix)))

    def _new_context(self, threads: int) -> Any:
        settings = self._lib.llama_context_default_params()
        # One passage is one batch of one sequence: a longer one would abort the
        # process, and attention over several is slower than one at a time.
        settings.n_ctx = settings.n_batch = settings.n_ubatch = self._window
        settings.n_seq_max = 1
        settings.n_threads = settings.n_threads_batch = threads
        settings.embeddings = True
        settings.flash_attn_type = self._lib.LLAMA_FLASH_ATTN_TYPE_ENABLED
        context = self._lib.llama_init_from_model(self._weights, settings)
        if not context:
            raise ModelError(f"{self._model.path}: llama.cpp cannot run it")
        return context

    def _embed(self, tokens: Sequence[int]) -> Vector:
        import numpy as np

        batch = self._batch
        batch.n_tokens = len(tokens)
        for position, token in enumerate(tokens):
            batch.token[position] = token
            batch.pos[position] = position
            batch.n_seq_id[position] = 1
            batch.seq_id[position][0] = 0
            batch.logits[position] = 1
        self._lib.llama_memory_clear(self._lib.llama_get_memory(self._context), True)
        failed = self._lib.llama_decode(self._context, batch)
        pooled = None if failed else self._lib.llama_get_embeddings_seq(self._context, 0)
        if not pooled:
            raise ModelError(f"{self._model.path}: llama.cpp could not embed a text")
        vector = np.array(pooled[: self.dimension], dtype=np.float32)
        length = float(np.linalg.norm(vector))
        if not np.isfinite(length) or length == 0:
            raise ModelError(f"{self._model.path}: gives no usable vector")
        return vector / np.float32(length)

    def _parts(self, text: str, prefix: str) -> Iterator[list[int]]:
        """Yield the tokens of a text in parts that fit the window, cut in halves at a space."""
        tokens = self._tokens(prefix + text)
        if len(tokens) <= self._window or len(text) < 2:
            yield tokens[: self._window]
            return
        middle = len(text) // 2
        space = text.rfind(" ", len(text) // 4, middle)
        at = space if space != -1 else middle
        yield from self._parts(text[:at], prefix)
        yield from self._parts(text[at:], prefix)

    def _tokens(self, text: str) -> list[int]:
        found = llama.tokens(self._vocabulary, text, begin=True)
        if not found:
            raise ModelError(f"{self._model.path}: cannot cut a text into tokens")
        return found


def quantise_to_q8(source: Path, target: Path) -> None:
    """Write the Q8_0 form of a GGUF file."""
    lib = llama.binding()
    settings = lib.llama_model_quantize_default_params()
    settings.ftype = lib.LLAMA_FTYPE_MOSTLY_Q8_0
    if lib.llama_model_quantize(os.fsencode(source), os.fsencode(target), settings):
        raise ModelError(f"{source}: could not be quantised: {llama.said()}")
