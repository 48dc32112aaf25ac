"""Scoring how well a passage answers a query, with a local GGUF reranker.

Owns the pair: in which form a query and a passage are given to the model together,
and what is cut where both are too long. Which model it is, and whether it can do
this, is `models.rerankers`' business; loading and running one is `llama`'s. What
follows from the scores is for `recall` to say.
"""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Generator, Iterable
from concurrent.futures import Future, ThreadPoolExecutor
from queue import SimpleQueue
from typing import Any

from knowrepo.errors import ModelError
from knowrepo.index import llama
from knowrepo.index.embed import usable_cpus
from knowrepo.index.models import Model, rerankers
from knowrepo.index.models.header import Header

MOST_TOKENS = 256
"""Tokens of a pair at most: one of 512 takes three times as long, and others then lack it."""
LEAST_PASSAGE = 16
"""Tokens of a passage that must fit beside the query, for a score to say anything."""


class Reranker:
    """A cross-encoder on llama.cpp's C interface: it reads query and passage together."""

    def __init__(self, model: Model, *, threads: int = 0) -> None:
        header = rerankers.check(model.path)
        self._path = model.path
        lib = llama.binding()
        weights = llama.load(model.path, hint=rerankers.HINT)
        self._window = min(int(lib.llama_model_n_ctx_train(weights)), MOST_TOKENS)
        self._vocabulary = lib.llama_model_get_vocab(weights)
        self._marks = _marks(self._vocabulary, header)
        shares = llama.shares(
            threads or usable_cpus(), int(lib.llama_vocab_n_tokens(self._vocabulary)), self._window
        )
        try:
            self._lanes = [llama.Context(weights, self._window, own, "rank") for own in shares]
        except ModelError as error:
            raise ModelError(f"{model.path}: {error.message}", hint=rerankers.HINT) from error

    def scores(self, query: str, passages: Iterable[str]) -> Generator[float, None, None]:
        """Yield a score of each passage, in order; more is better, and nothing bounds it.

        As many are scored at once as there are threads, and no more are taken in
        advance: who stops listening waits for those alone. Raises ModelError, where the query
        leaves no room for a passage too.
        """
        asked = self._tokens(query)
        free: SimpleQueue[llama.Context] = SimpleQueue()
        for lane in self._lanes:
            free.put(lane)

        def one(passage: str) -> float:
            lane = free.get()
            try:
                return self._score(lane, self.pair(asked, self._tokens(passage)))
            finally:
                free.put(lane)

        pool = ThreadPoolExecutor(len(self._lanes), thread_name_prefix="reranking")
        waiting: deque[Future[float]] = deque()
        try:
            for passage in passages:
                waiting.append(pool.submit(one, passage))
                if len(waiting) == len(self._lanes):
                    yield waiting.popleft().result()
            while waiting:
                yield waiting.popleft().result()
        finally:
            pool.shutdown(wait=True, cancel_futures=True)

    def pair(self, query: list[int], passage: list[int]) -> list[int]:
        """Return the tokens of a pair; a passage is cut to what the query leaves of the window."""
        begin, between, end = self._marks
        room = self._window - len(query) - sum(map(len, self._marks))
        if room < LEAST_PASSAGE:
            raise ModelError(
                f"{self._path.name}: the query is too long for it",
                hint=f"it reads {self._window} tokens, the passage included",
            )
        return [*begin, *query, *between, *passage[:room], *end]

    def _tokens(self, text: str) -> list[int]:
        return llama.tokens(self._vocabulary, text, begin=False)

    def _score(self, lane: llama.Context, tokens: list[int]) -> float:
        pooled = lane.pooled((llama.binding().llama_token * len(tokens))(*tokens), len(tokens))
        score = math.nan if pooled is None else float(pooled[0])
        if not math.isfinite(score):
            raise ModelError(f"{self._path}: gives no usable score", hint=rerankers.HINT)
        return score


def _marks(vocabulary: Any, header: Header) -> tuple[list[int], list[int], list[int]]:
    """Return the tokens before, between and after a query and a passage.

    As llama-server has them: beginning, query, end, separator, passage, end, those
    of them that the model's file asks for. In two places it is as the models were
    trained, and not as there: a vocabulary that has a separator alone (`[CLS] query
    [SEP] passage [SEP]`) ends with it, and one of XLM-RoBERTa has the separator
    also where an older file does not speak of it (`<s> query </s></s> passage </s>`).
    """
    lib = llama.binding()
    stop = lib.llama_vocab_eos(vocabulary)
    separator = lib.llama_vocab_sep(vocabulary)
    stop = separator if stop < 0 else stop
    separator = stop if separator < 0 else separator
    adds_separator = lib.llama_vocab_get_add_sep(vocabulary) or (
        lib.llama_vocab_type(vocabulary) == lib.LLAMA_VOCAB_TYPE_UGM
        and "tokenizer.ggml.add_sep_token" not in header.settings
    )
    begin = [lib.llama_vocab_bos(vocabulary)] if lib.llama_vocab_get_add_bos(vocabulary) else []
    end = [stop] if lib.llama_vocab_get_add_eos(vocabulary) else []
    apart = [separator] if adds_separator else []
    found = begin, end + apart, end or apart
    return tuple([token for token in marks if token >= 0] for marks in found)  # type: ignore[return-value]
