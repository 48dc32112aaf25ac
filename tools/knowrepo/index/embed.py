"""Turning text into vectors with a local GGUF model.

Owns the window and what a vector is made of; loading and running a model is
`llama`'s, one behind an endpoint is `endpoint`'s. Passages and queries are embedded
by two functions with two prompts and two types, since a mix-up is never seen, only
measured. What is embedded and where vectors go is `fill`'s and `vectors`' business.
"""

from __future__ import annotations

import hashlib
import os
from collections import deque
from collections.abc import Generator, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from queue import SimpleQueue
from typing import TYPE_CHECKING, Any, NewType, Protocol

from knowrepo.errors import ModelError
from knowrepo.index import llama
from knowrepo.index.models import Model, check_magic
from knowrepo.tables import POOLINGS

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
ENDPOINT_SECONDS = 120.0
"""How long an endpoint may take to answer; a server may load its model first."""


class Embedder(Protocol):
    """What turns text into vectors of unit length."""

    fingerprint: str
    """Names everything that decides the vectors: vectors of two never meet."""
    dimension: int
    language: str
    """The only language that the model was made for (ISO 639-1), or empty."""

    def embed_passage(self, passage: Passage) -> list[Vector]:
        """Return a vector for each part of a passage; most have one part."""

    def embed_passages(self, passages: Iterable[Passage]) -> Generator[list[Vector], None, None]:
        """Yield what `embed_passage` would return of each, in order.

        Some are taken in advance, as many as it takes to use the machine well.
        """

    def embed_query(self, query: Query) -> Vector:
        """Return the vector of a query."""


def fingerprint(model: Model) -> str:
    """Return the fingerprint of a model as it is used here (16 hex digits).

    Where ``model`` says nothing of them, pooling, dimension and trained window are
    the weights' own, which its identity names.
    """
    parts: tuple[Any, ...] = (
        model.identity, model.passage_prefix, model.query_prefix, SPLITTER, MOST_WINDOW, "l2",
    )  # fmt: skip
    if model.dimension or model.pooling:
        parts += (model.dimension, model.pooling)
    return hashlib.sha256(repr(parts).encode()).hexdigest()[:16]


def lacking(model: Model) -> str:
    """Return what this installation lacks to run a model, and what to do; empty where nothing.

    It imports nothing heavy.
    """
    from importlib.util import find_spec

    needed = ("numpy", "numpy") if model.endpoint else ("llama_cpp", "llama-cpp-python")
    if find_spec(needed[0]) is not None:
        return ""
    return f"{needed[1]} is not installed; `pip install 'knowrepo[semantic]'`"


def open_embedder(
    model: Model,
    *,
    threads: int = 0,
    vectors: Path | None = None,
    seconds: float | None = None,
) -> Embedder:
    """Load a model, or reach the one behind its endpoint. Raises ModelError.

    ``threads`` are those that embed, 0 for all. ``vectors`` is the folder of all
    vectors: there is kept what shows that an endpoint still serves the same model.
    ``seconds`` is how long an endpoint may take to answer, at most, where that is
    less than the user allows it.
    """
    if model.endpoint:
        from knowrepo.index.endpoint import EndpointEmbedder

        allowed = model.timeout or ENDPOINT_SECONDS
        limit = allowed if seconds is None else min(seconds, allowed)
        return EndpointEmbedder(model, vectors=vectors, seconds=limit)
    return LlamaEmbedder(model, threads=threads)


class LlamaEmbedder:
    """An embedder on llama.cpp's C interface.

    The binding's own `Llama` class hides the two settings that matter here
    (which buffers hold the weights, and one sequence a batch). Many passages are
    embedded side by side, one thread each: threads that share one text wait for
    each other at every step of it.
    """

    def __init__(self, model: Model, *, threads: int = 0) -> None:
        check_magic(model.path)
        if model.pooling and model.pooling not in POOLINGS:
            raise ModelError(
                f"{model.name}: unknown pooling {model.pooling}",
                hint=f"known are: {', '.join(POOLINGS)}",
            )
        self.fingerprint = fingerprint(model)
        self.language = model.language
        self._model = model
        lib = llama.binding()
        self._weights = llama.load(model.path)
        self._full = int(lib.llama_model_n_embd(self._weights))
        if model.dimension > self._full:
            raise ModelError(
                f"{model.name}: has {self._full} dimensions, not {model.dimension}",
                hint="ask for no more than it has",
            )
        self.dimension = model.dimension or self._full
        self._window = min(int(lib.llama_model_n_ctx_train(self._weights)), MOST_WINDOW)
        self._vocabulary = lib.llama_model_get_vocab(self._weights)
        self._threads = threads or usable_cpus()
        self._whole = self._new_context(self._threads)
        self._lanes: list[llama.Context] = []
        if not self._whole.pools:
            raise ModelError(
                f"{model.path}: not an embedding model (it does not pool)",
                hint="`know model use` chooses another",
            )
        if self._whole.ranks:  # one number, where as many would be read as a vector has
            raise ModelError(
                f"{model.path}: a reranker, which embeds nothing",
                hint="`know model use` chooses another, `know model use --rerank` has it rerank",
            )

    def embed_passage(self, passage: Passage) -> list[Vector]:
        """See `Embedder.embed_passage`."""
        return self._passage(self._whole, passage)

    def embed_passages(self, passages: Iterable[Passage]) -> Generator[list[Vector], None, None]:
        """See `Embedder.embed_passages`."""
        if not self._lanes:
            self._lanes = self._new_lanes()
        free: SimpleQueue[llama.Context] = SimpleQueue()
        for lane in self._lanes:
            free.put(lane)

        def one(passage: Passage) -> list[Vector]:
            lane = free.get()
            try:
                return self._passage(lane, passage)
            finally:
                free.put(lane)

        pool = ThreadPoolExecutor(len(self._lanes), thread_name_prefix="embedding")
        waiting: deque[Future[list[Vector]]] = deque()
        try:
            for passage in passages:
                waiting.append(pool.submit(one, passage))
                while len(waiting) > 4 * len(self._lanes) or (waiting and waiting[0].done()):
                    yield waiting.popleft().result()
            while waiting:
                yield waiting.popleft().result()
        finally:  # whoever stops listening waits for the texts that are being embedded
            pool.shutdown(wait=True, cancel_futures=True)

    def embed_query(self, query: Query) -> Vector:
        """See `Embedder.embed_query`; a query longer than the window is cut."""
        tokens, count = next(self._parts(query, self._model.query_prefix))
        return self._vector(self._whole, tokens, count)

    def _new_lanes(self) -> list[llama.Context]:
        """Return as many contexts as there are threads and memory for."""
        vocabulary = int(llama.binding().llama_vocab_n_tokens(self._vocabulary))
        shares = llama.shares(self._threads, vocabulary, self._window)
        return [self._whole] if len(shares) == 1 else [self._new_context(own) for own in shares]

    def _new_context(self, threads: int) -> llama.Context:
        try:
            return llama.Context(self._weights, self._window, threads, self._model.pooling)
        except ModelError as error:
            raise ModelError(f"{self._model.path}: {error.message}") from error

    def _passage(self, lane: llama.Context, passage: Passage) -> list[Vector]:
        parts = self._parts(passage, self._model.passage_prefix)
        return [self._vector(lane, tokens, count) for tokens, count in parts]

    def _vector(self, lane: llama.Context, tokens: Any, count: int) -> Vector:
        import numpy as np

        pooled = lane.pooled(tokens, count)
        if pooled is None:
            raise ModelError(f"{self._model.path}: llama.cpp could not embed a text")
        whole = np.ctypeslib.as_array(pooled, shape=(self._full,))
        return unit(whole[: self.dimension], str(self._model.path))

    def _parts(self, text: str, prefix: str) -> Iterator[tuple[Any, int]]:
        """Yield the tokens of a text in parts that fit the window, cut in halves at a space."""
        tokens, count = llama.token_buffer(self._vocabulary, prefix + text, begin=True)
        if not count:
            raise ModelError(f"{self._model.path}: cannot cut a text into tokens")
        if count <= self._window or len(text) < 2:
            yield tokens, min(count, self._window)
            return
        for half in halves(text):
            yield from self._parts(half, prefix)


def usable_cpus() -> int:
    """Return how many processors this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def unit(vector: Vector, source: str) -> Vector:
    """Return a vector at unit length; raises ModelError where ``source`` gave none of use."""
    import numpy as np

    length = float(np.linalg.norm(vector))
    if not np.isfinite(length) or length == 0:
        raise ModelError(f"{source}: gives no usable vector")
    return vector / np.float32(length)


def halves(text: str) -> tuple[str, str]:
    """Return the halves of a text of two characters or more, cut at a space if one is near."""
    middle = len(text) // 2
    space = text.rfind(" ", len(text) // 4, middle)
    at = space if space != -1 else middle
    return text[:at], text[at:]


def quantise_to_q8(source: Path, target: Path) -> None:
    """Write the Q8_0 form of a GGUF file."""
    lib = llama.binding()
    settings = lib.llama_model_quantize_default_params()
    settings.ftype = lib.LLAMA_FTYPE_MOSTLY_Q8_0
    if lib.llama_model_quantize(os.fsencode(source), os.fsencode(target), settings):
        raise ModelError(f"{source}: could not be quantised: {llama.said()}")
