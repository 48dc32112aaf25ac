"""llama.cpp: its binding, loading a model file, tokens, pooled vectors, and silence.

Owns llama_cpp. Its C code writes past Python's own streams, so its talk is led
aside. What a model is used for is for others to say: `embed` makes vectors out of
what a `Context` pools, `reranker` scores, and distilling asks a chat model.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import sys
import weakref
from collections import deque
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

from knowrepo.errors import ModelError

SMALLEST_WINDOW = 32
LANES_BYTES = 256_000_000
"""What the tables of texts that are run side by side may take together."""
_USUAL_TOKENS = 512  # what the longest chunks come to; a table is as long as the longest text

SHORT = 64
"""Tokens that one thread embeds alone. Several wait for each other at every step: that gains
a millisecond or two on an idle machine, and where another process holds a processor a query
of 12 tokens took 800 ms by two threads and 16 by one."""

_log: deque[str] = deque(maxlen=8)
"""The last lines that llama.cpp wrote; nothing of it reaches our streams."""


@cache
def binding() -> Any:
    """Return the binding, with its talk led aside."""
    with silence():
        try:
            import llama_cpp
        except ImportError as error:
            raise ModelError(
                "llama-cpp-python is not installed",
                hint="install it: `pip install 'knowrepo[semantic]'`",
            ) from error

        listen = llama_cpp.llama_log_callback(_listen)
        llama_cpp.llama_log_set(listen, None)
        llama_cpp._know_log = listen  # C holds no reference of its own
        llama_cpp.llama_backend_init()
    return llama_cpp


def load(
    path: Path,
    *,
    hint: str = "`know model pull` gets a good one, `know model use` chooses another",
    vocabulary_only: bool = False,
) -> Any:
    """Return llama.cpp's handle of a model's weights; ``hint`` says what to do if it cannot.

    With ``vocabulary_only`` it can cut texts into tokens, and nothing else.
    """
    lib = binding()
    settings = lib.llama_model_default_params()
    settings.n_gpu_layers = 0
    # Weights repacked for AMX crash the process on virtual machines that show
    # the instructions and do not carry their state.
    settings.use_extra_bufts = False
    settings.vocab_only = vocabulary_only
    weights = lib.llama_model_load_from_file(os.fsencode(path), settings)
    if not weights:
        raise ModelError(f"{path}: llama.cpp cannot load it: {said()}", hint=hint)
    if not vocabulary_only and lib.llama_model_n_ctx_train(weights) < SMALLEST_WINDOW:
        raise ModelError(f"{path}: its window is too small to be of use")
    return weights


def tokens(vocabulary: Any, text: str, *, begin: bool, special: bool = False) -> list[int]:
    """Return the tokens of a text as a list; see `token_buffer`."""
    buffer, count = token_buffer(vocabulary, text, begin=begin, special=special)
    return list(buffer[:count])


def token_buffer(
    vocabulary: Any, text: str, *, begin: bool, special: bool = False
) -> tuple[Any, int]:
    """Return the tokens of a text where C wrote them, and how many; 0 where it cannot be cut.

    With ``begin`` the model's own beginning (and end) is added. Without
    ``special`` a text is text: `[SEP]` in it is no separator.
    """
    lib = binding()
    data = text.encode("utf-8", "replace")
    room = len(data) + 8  # most tokens are a byte at least, and some are added
    while True:
        buffer = (lib.llama_token * room)()
        count = lib.llama_tokenize(vocabulary, data, len(data), buffer, room, begin, special)
        if count >= -room:
            return buffer, max(count, 0)
        room = -count  # a small vocabulary spells a space with three


def shares(threads: int, vocabulary: int, window: int) -> list[int]:
    """Return how many threads each of the contexts has that are run side by side.

    One each, as far as there is memory for the tables of so many: threads that share
    a text wait for each other at every step of it.
    """
    table = 4 * vocabulary * min(window, _USUAL_TOKENS)
    number = max(1, min(threads, LANES_BYTES // table))
    share, over = divmod(threads, number)
    return [share + (lane < over) for lane in range(number)]


class Context:
    """A place where one text at a time becomes a vector; several share the weights.

    Owned by one thread at a time. It holds a table of window times vocabulary
    that llama.cpp makes for logits, and that embedding has no use for.
    """

    def __init__(self, weights: Any, window: int, threads: int, pooling: str = "") -> None:
        self._lib = lib = binding()
        self._threads = threads
        settings = lib.llama_context_default_params()
        # One text is one batch of one sequence: a longer one would abort the
        # process, and attention over several is slower than one at a time.
        settings.n_ctx = settings.n_batch = settings.n_ubatch = window
        settings.n_seq_max = 1
        settings.n_threads = settings.n_threads_batch = threads
        settings.embeddings = True
        settings.flash_attn_type = lib.LLAMA_FLASH_ATTN_TYPE_ENABLED
        if pooling:
            settings.pooling_type = getattr(lib, f"LLAMA_POOLING_TYPE_{pooling.upper()}")
        self._context = lib.llama_init_from_model(weights, settings)
        if not self._context:
            raise ModelError(f"llama.cpp cannot run it: {said()}")
        kind = lib.llama_pooling_type(self._context)
        self.pools = kind != lib.LLAMA_POOLING_TYPE_NONE
        self.ranks = kind == lib.LLAMA_POOLING_TYPE_RANK
        # What keeps nothing of earlier tokens is an encoder.
        self._memory = lib.llama_get_memory(self._context)
        self._batch = lib.llama_batch_init(window, 0, 1)
        ctypes.memmove(self._batch.pos, (ctypes.c_int32 * window)(*range(window)), 4 * window)
        ctypes.memmove(self._batch.n_seq_id, (ctypes.c_int32 * window)(*[1] * window), 4 * window)
        ctypes.memset(self._batch.logits, 1, window)  # every token counts for the vector
        for position in range(window):
            self._batch.seq_id[position][0] = 0
        self._free = weakref.finalize(self, _free, lib, self._context, self._batch)
        self._free.atexit = False  # the process takes all with it

    def pooled(self, buffer: Any, count: int) -> Any:
        """Return a pointer to the pooled vector of ``count`` tokens; None where it fails.

        What it points to is overwritten by the next text.
        """
        lib, batch = self._lib, self._batch
        if self._threads > 1:
            taken = 1 if count <= SHORT else self._threads
            lib.llama_set_n_threads(self._context, taken, taken)
        batch.n_tokens = count
        ctypes.memmove(batch.token, buffer, 4 * count)
        if self._memory:
            lib.llama_memory_clear(self._memory, True)
            failed = lib.llama_decode(self._context, batch)
        else:
            failed = lib.llama_encode(self._context, batch)
        return None if failed else lib.llama_get_embeddings_seq(self._context, 0) or None


def _free(lib: Any, context: Any, batch: Any) -> None:
    lib.llama_batch_free(batch)
    lib.llama_free(context)


def said() -> str:
    """Return the telling line of what llama.cpp wrote last."""
    telling = [line for line in _log if "error" in line.lower() or "fail" in line.lower()]
    return next(iter(telling), "no reason given")


def _listen(_level: int, text: bytes, _data: object) -> None:
    _log.append(text.decode("utf-8", "replace").strip())


@contextlib.contextmanager
def silence() -> Iterator[None]:
    """Keep what C code writes to the process's own streams out of ours."""
    sys.stdout.flush()
    sys.stderr.flush()
    saved = [(number, os.dup(number)) for number in (1, 2)]
    with Path(os.devnull).open("wb") as sink:
        for number, _ in saved:
            os.dup2(sink.fileno(), number)
        try:
            yield
        finally:
            for number, copy in saved:
                os.dup2(copy, number)
                os.close(copy)
