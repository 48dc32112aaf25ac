"""A local chat model, asked in a process of its own.

Owns generation: the model's chat template, a grammar that its answer cannot
leave, and always the likeliest token, so that the same question has the same
answer. It is a program because a damaged model file, or a fault in the C code,
ends a process; the one that asks goes on. It reads a request as JSON on standard
input and writes a reply as JSON on standard output.
"""

from __future__ import annotations

import json
import math
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from knowrepo.errors import KnowError, ModelError
from knowrepo.index import llama
from knowrepo.index.models import check_magic

MOST_WINDOW = 32_768
"""Tokens of a window at most: memory grows with it."""
_BATCH = 512
_TRIED = (16, 512, 16_384)  # of the likeliest tokens, before all are
_HINT = "name a chat model in `distill.model`"
_HOLE = "\x01know\x01"  # stands for the question while the template is applied
_PLAIN = (f"{_HOLE}\n\nThe JSON object:\n").partition(_HOLE)


class Chat:
    """A chat model on llama.cpp's C interface.

    The binding's own `Llama` class does not offer the setting that avoids a
    crash on some machines; see `llama`.
    """

    def __init__(self, path: Path) -> None:
        check_magic(path)
        self._path = path
        self._lib = llama.binding()
        self._weights = llama.load(path, hint=_HINT)
        self._vocabulary = self._lib.llama_model_get_vocab(self._weights)
        self._size = int(self._lib.llama_vocab_n_tokens(self._vocabulary))
        self.window = min(int(self._lib.llama_model_n_ctx_train(self._weights)), MOST_WINDOW)

    def question(self, prompt: str) -> list[int]:
        """Return a question as tokens, in the form that the model was trained on.

        A model without a template that llama.cpp knows is asked in plain text.
        Only the template's own marks are marks: those in the prompt are text.
        """
        before, _, after = self._template() or _PLAIN
        tokens = llama.tokens(self._vocabulary, before, begin=True, special=True)
        tokens += llama.tokens(self._vocabulary, prompt, begin=False)
        tokens += llama.tokens(self._vocabulary, after, begin=False, special=True)
        end = self._lib.llama_vocab_eos(self._vocabulary)
        return [token for token in tokens if token != end or before]

    def _template(self) -> tuple[str, str, str] | None:
        lib = self._lib
        template = lib.llama_model_chat_template(self._weights, None)
        if not template:
            return None
        message = lib.llama_chat_message(role=b"user", content=_HOLE.encode())
        messages = (lib.llama_chat_message * 1)(message)
        room = len(template) + 1024
        buffer = (lib.ctypes.c_char * room)()
        size = lib.llama_chat_apply_template(template, messages, 1, True, buffer, room)
        text = buffer.raw[:size].decode("utf-8", "replace") if 0 < size <= room else ""
        before, hole, after = text.partition(_HOLE)
        return (before, hole, after) if hole else None

    def answer(self, tokens: Sequence[int], grammar: str, most: int) -> tuple[str, int]:
        """Return the answer to a question, and its number of tokens, ``most`` at the most."""
        lib = self._lib
        context = self._context(len(tokens) + most)
        rules = self._rules(grammar)
        self._decode(context, tokens)
        answer, count = b"", 0
        while count < most:
            count += 1
            token = self._likeliest(context, rules)
            if lib.llama_vocab_is_eog(self._vocabulary, token):
                break
            answer += self._bytes_of(token)
            if answer.endswith(b"}") and _is_whole(answer):
                break
            self._decode(context, [token])
        return answer.decode("utf-8", "replace"), count

    def _context(self, size: int) -> Any:
        settings = self._lib.llama_context_default_params()
        settings.n_ctx = size
        settings.n_batch = settings.n_ubatch = _BATCH
        settings.n_seq_max = 1
        settings.n_threads = settings.n_threads_batch = os.cpu_count() or 1
        context = self._lib.llama_init_from_model(self._weights, settings)
        if not context:
            raise ModelError(f"{self._path}: llama.cpp cannot run it: {llama.said()}", hint=_HINT)
        return context

    def _rules(self, grammar: str) -> Any:
        rules = self._lib.llama_sampler_init_grammar(self._vocabulary, grammar.encode(), b"root")
        if not rules:
            raise ModelError(f"{self._path}: the grammar is refused: {llama.said()}")
        return rules

    def _likeliest(self, context: Any, rules: Any) -> int:
        """Return the likeliest token that the grammar allows.

        The likely ones are tried first: a look at a large vocabulary takes longer
        than the model's own work.
        """
        import numpy as np

        lib = self._lib
        pointer = lib.llama_get_logits_ith(context, -1)
        logits = np.ctypeslib.as_array(pointer, shape=(self._size,))
        if np.isnan(logits).any():
            raise ModelError(f"{self._path}: the model computes no numbers", hint=_HINT)
        for most in (*_TRIED, self._size):
            few = min(most, self._size)
            tokens = np.argpartition(logits, self._size - few)[self._size - few :]
            order = np.lexsort((tokens, -logits[tokens]))
            allowed = self._allowed(rules, tokens[order].tolist(), logits)
            if allowed is not None:
                lib.llama_sampler_accept(rules, allowed)
                return allowed
        raise ModelError(f"{self._path}: its vocabulary cannot spell an answer", hint=_HINT)

    def _allowed(self, rules: Any, tokens: list[int], logits: Any) -> int | None:
        """Return the first of ``tokens`` that the grammar allows."""
        lib = self._lib
        data = (lib.llama_token_data * len(tokens))(
            *((token, float(logits[token]), 0.0) for token in tokens)
        )
        candidates = lib.llama_token_data_array(data=data, size=len(tokens), selected=-1)
        lib.llama_sampler_apply(rules, lib.ctypes.byref(candidates))
        return next((one.id for one in data if one.logit > -math.inf), None)

    def _decode(self, context: Any, tokens: Sequence[int]) -> None:
        lib = self._lib
        for start in range(0, len(tokens), _BATCH):
            part = tokens[start : start + _BATCH]
            held = (lib.llama_token * len(part))(*part)  # the batch only points to it
            if lib.llama_decode(context, lib.llama_batch_get_one(held, len(part))):
                raise ModelError(f"{self._path}: llama.cpp could not read a text: {llama.said()}")

    def _bytes_of(self, token: int) -> bytes:
        buffer = (self._lib.ctypes.c_char * 256)()
        size = self._lib.llama_token_to_piece(self._vocabulary, token, buffer, 256, 0, False)
        return bytes(buffer.raw[: max(size, 0)])


def _is_whole(answer: bytes) -> bool:
    try:
        json.loads(answer)
    except ValueError:
        return False
    return True


def reply(request: dict[str, Any]) -> dict[str, Any]:
    """Return the reply to a request.

    `{"model"}` asks for its window. With `prompt`, `grammar`, `window` and `most`
    it is asked: the reply is its answer and the tokens of both, or that the question
    is too long.
    """
    chat = Chat(Path(request["model"]))
    if "prompt" not in request:
        return {"window": chat.window}
    tokens = chat.question(request["prompt"])
    room = min(request["window"], chat.window) - request["most"]
    if len(tokens) > room:
        return {"too_long": True}
    answer, count = chat.answer(tokens, request["grammar"], request["most"])
    return {"answer": answer, "tokens_in": len(tokens), "tokens_out": count}


def main() -> int:
    """Answer one request, and nothing else on standard output."""
    request = json.load(sys.stdin.buffer)
    with os.fdopen(os.dup(1), "wb") as out:
        try:
            with llama.silence():
                found = reply(request)
        except KnowError as error:
            found = {"error": error.message, "hint": error.hint}
        out.write(json.dumps(found).encode())
    return 0
