"""llama.cpp: its binding, loading a model file, tokens, and silence.

Owns llama_cpp. Its C code writes past Python's own streams, so its talk is led
aside. What a model is used for is for others to say: `embed` makes vectors, and
distilling asks a chat model.
"""

from __future__ import annotations

import contextlib
import os
import sys
from collections import deque
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

from knowrepo.errors import ModelError

SMALLEST_WINDOW = 32

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


def load(path: Path, *, hint: str = "`know model pull` gets a good one") -> Any:
    """Return llama.cpp's handle of a model's weights; ``hint`` says what to do if it cannot."""
    lib = binding()
    settings = lib.llama_model_default_params()
    settings.n_gpu_layers = 0
    # Weights repacked for AMX crash the process on virtual machines that show
    # the instructions and do not carry their state.
    settings.use_extra_bufts = False
    weights = lib.llama_model_load_from_file(os.fsencode(path), settings)
    if not weights:
        raise ModelError(f"{path}: llama.cpp cannot load it: {said()}", hint=hint)
    if lib.llama_model_n_ctx_train(weights) < SMALLEST_WINDOW:
        raise ModelError(f"{path}: its window is too small to be of use")
    return weights


def tokens(vocabulary: Any, text: str, *, begin: bool, special: bool = False) -> list[int]:
    """Return the tokens of a text; none where it cannot be cut.

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
            return list(buffer[: max(count, 0)])
        room = -count  # a small vocabulary spells a space with three


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
