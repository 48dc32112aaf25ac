"""Turning text into vectors by an OpenAI-compatible endpoint on the user's own machine.

Owns the requests to it and the distrust of what comes back. Only the user's own
configuration names an endpoint. It is reached directly, never through a proxy, and
a redirect is an error: texts go nowhere but to the host that was named.
"""

from __future__ import annotations

import contextlib
import http.client
import json
import re
import time
import weakref
from collections.abc import Generator, Iterable, Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from knowrepo.config import write_atomically
from knowrepo.errors import ModelError
from knowrepo.index.embed import ENDPOINT_SECONDS, Passage, Query, fingerprint, halves, unit
from knowrepo.index.models import Model
from knowrepo.terminal import plain
from knowrepo.units import shorten

if TYPE_CHECKING:
    from knowrepo.index.embed import Vector

LARGEST_ANSWER = 64_000_000  # bytes; 64 vectors of 4,096 numbers are a tenth of it
MOST_TEXTS = 64
"""Texts of a request. It begins with a few: how quick the model is nobody knows."""
CANARY = "The quick brown fox jumps over the lazy dog. def main() -> int: return 0 # 42"
"""The text whose vector shows that an endpoint still serves the model that it served."""
SAME = 0.999
"""The cosine above which two vectors of the canary are one model's."""
_FEWEST_TEXTS = 4
_QUICK, _SLOW = 1.0, 4.0  # seconds of a request: more texts the next time, or fewer
_TOO_LONG = re.compile(r"too (?:long|large)|context|exceed|maximum|token", re.IGNORECASE)
_REFUSALS = {400, 413, 422, 500}  # with which servers say that a text is too long


class TooLongError(ModelError):
    """The model behind the endpoint does not take a text as long as one of those sent."""


class EndpointEmbedder:
    """An embedder that asks an endpoint; ``vectors`` is the folder of all vectors.

    Raises ModelError where the endpoint cannot be used, or serves another model
    than the one whose vectors there are. ``seconds`` is how long an answer may take.
    """

    def __init__(
        self, model: Model, *, vectors: Path | None = None, seconds: float = ENDPOINT_SECONDS
    ) -> None:
        self.fingerprint = fingerprint(model)
        self.language = model.language
        self._model = model
        self._post = _Posts(model.endpoint, seconds)
        self._size = _FEWEST_TEXTS
        self._full = 0  # learnt of the first answer
        canary = self._request([CANARY])[0]
        self.dimension = model.dimension or self._full
        if self.dimension > self._full:
            raise self._error(f"gives {self._full} dimensions, not {self.dimension}")
        if vectors is not None:
            self._compare(canary, vectors / self.fingerprint / "canary.json")

    def embed_passage(self, passage: Passage) -> list[Vector]:
        """See `Embedder.embed_passage`."""
        return self._parts([passage])[0]

    def embed_passages(self, passages: Iterable[Passage]) -> Generator[list[Vector], None, None]:
        """See `Embedder.embed_passages`; a request takes as many as it answers in a few seconds."""
        rest = iter(passages)
        while some := list(islice(rest, self._size)):
            began = time.monotonic()
            found = self._parts(some)
            taken = time.monotonic() - began
            if taken < _QUICK:
                self._size = min(2 * self._size, MOST_TEXTS)
            elif taken > _SLOW:
                self._size = max(1, self._size // 2)
            yield from found

    def embed_query(self, query: Query) -> Vector:
        """See `Embedder.embed_query`; a query longer than the model's window is cut."""
        text: str = query
        while True:
            try:
                return self._cut(self._request([self._model.query_prefix + text])[0])
            except TooLongError:
                if len(text) < 2:
                    raise
                text = halves(text)[0]

    def _parts(self, texts: Sequence[str]) -> list[list[Vector]]:
        """Return the vectors of each text; what is too long is cut in halves."""
        prefix = self._model.passage_prefix
        try:
            found = self._request([prefix + text for text in texts])
        except TooLongError:
            if len(texts) > 1:  # which of them it is, the endpoint does not say
                return [self._parts([text])[0] for text in texts]
            if len(texts[0]) < 2:
                raise
            return [[part for half in halves(texts[0]) for part in self._parts([half])[0]]]
        return [[self._cut(vector)] for vector in found]

    def _cut(self, vector: Vector) -> Vector:
        return unit(vector[: self.dimension], self._model.endpoint)

    def _request(self, texts: list[str]) -> list[Vector]:
        """Return the vectors that the endpoint gives of some texts, as they are."""
        import numpy as np

        # Some servers refuse a text of nothing, and half an emoji.
        sent = [text.encode("utf-8", "replace").decode() if text.strip() else "." for text in texts]
        answer = self._post({"model": self._model.name, "input": sent, "encoding_format": "float"})
        found: list[Vector] = []
        for numbers in _in_order(answer, len(texts), self._error):
            try:
                vector = np.array(numbers, dtype=np.float32)
            except (TypeError, ValueError, OverflowError) as error:
                raise self._error("answers with a vector that is no list of numbers") from error
            if vector.ndim != 1 or not vector.size:
                raise self._error("answers with a vector that is no list of numbers")
            self._full = self._full or vector.size
            if vector.size != self._full:
                raise self._error(f"gives {vector.size} dimensions, and gave {self._full} before")
            found.append(vector)
        return found

    def _compare(self, canary: Vector, path: Path) -> None:
        """Raise ModelError where the canary has another vector than it once had; keep it if new."""
        import numpy as np

        now = self._cut(canary)
        try:
            kept = json.loads(path.read_bytes())
            before = np.array(kept["vector"] if kept["text"] == CANARY else [], dtype=np.float32)
        except (OSError, ValueError, TypeError, KeyError):
            before = np.array([], dtype=np.float32)
        if before.shape == now.shape:
            if float(before @ now) > SAME:
                return
        elif not before.size:
            content = {"version": 1, "text": CANARY, "vector": [float(x) for x in now]}
            with contextlib.suppress(OSError):  # where it cannot be kept, vectors cannot either
                path.parent.mkdir(parents=True, exist_ok=True)
                write_atomically(path, json.dumps(content).encode())
            return
        raise ModelError(
            f"{self._model.endpoint}: serves another model as {self._model.name}"
            " than the one whose vectors there are",
            hint=f"serve the old one again, or remove {path.parent} and run `know index`",
        )

    def _error(self, what: str) -> ModelError:
        return ModelError(f"{self._model.endpoint}: {what}")


class _Posts:
    """Sends JSON to one URL and returns the JSON that comes back; the connection is kept."""

    def __init__(self, endpoint: str, seconds: float) -> None:
        self._endpoint, self._seconds = endpoint, seconds
        try:
            url = urlsplit(endpoint)
            port = url.port
        except ValueError:
            url, port = urlsplit(""), None
        if url.scheme not in {"http", "https"} or not url.hostname or url.username is not None:
            raise ModelError(
                f"{endpoint}: not the URL of an endpoint", hint="write http://127.0.0.1:8080/v1"
            )
        base = url.path.rstrip("/").removesuffix("/embeddings").removesuffix("/v1")
        self._path = f"{base}/v1/embeddings"
        secure = url.scheme == "https"
        kind = http.client.HTTPSConnection if secure else http.client.HTTPConnection
        self._connection = kind(url.hostname, port, timeout=seconds)
        weakref.finalize(self, self._connection.close)

    def __call__(self, body: object) -> Any:
        data = json.dumps(body).encode()
        kept = self._connection.sock is not None
        try:
            status, answer = self._exchange(data)
        except (http.client.HTTPException, OSError) as error:
            self._connection.close()
            closed = isinstance(error, ConnectionError)  # also what ends without an answer
            if not (kept and closed):
                raise self._failure(error) from error
            try:  # a server closes what was idle; that is no failure
                status, answer = self._exchange(data)
            except (http.client.HTTPException, OSError) as again:
                self._connection.close()
                raise self._failure(again) from again
        if status != http.client.OK:
            raise self._refusal(status, answer)
        try:
            return json.loads(answer)
        except (ValueError, RecursionError) as error:
            raise self._error("answers with something that is not JSON") from error

    def _exchange(self, data: bytes) -> tuple[int, bytes]:
        until = time.monotonic() + self._seconds
        headers = {"Content-Type": "application/json", "Accept": "application/json"}
        self._connection.request("POST", self._path, data, headers)
        answer = bytearray()
        with self._connection.getresponse() as response:
            while block := response.read1(1 << 20):
                answer += block
                if len(answer) > LARGEST_ANSWER:
                    raise http.client.HTTPException("it is too large")
                if time.monotonic() > until:
                    raise TimeoutError
        return response.status, bytes(answer)

    def _failure(self, error: Exception) -> ModelError:
        if isinstance(error, ConnectionRefusedError):
            return self._error("nothing answers there", hint="start the server, then try again")
        if isinstance(error, TimeoutError):
            return self._error(f"no answer within {self._seconds:.0f} seconds")
        reason = getattr(error, "strerror", None) or str(error) or type(error).__name__
        return self._error(f"no answer that can be used: {reason}")

    def _refusal(self, status: int, answer: bytes) -> ModelError:
        said = shorten(plain(_message(answer)), 200)
        what = f"answers with HTTP {status}" + (f": {said}" if said else "")
        if status in _REFUSALS and _TOO_LONG.search(said):
            return TooLongError(f"{self._endpoint}: {what}")
        if 300 <= status < 400:
            return self._error(f"{what}; redirects are not followed", hint="name the server itself")
        return self._error(what)

    def _error(self, what: str, hint: str = "") -> ModelError:
        return ModelError(f"{self._endpoint}: {what}", hint=hint)


def _message(answer: bytes) -> str:
    """Return what a server says of an error, in the forms that there are."""
    text = answer[:10_000].decode("utf-8", "replace")
    with contextlib.suppress(ValueError, RecursionError):
        content = json.loads(text)
        for key in ("error", "message", "detail"):
            if isinstance(content, dict) and key in content:
                content = content[key]
        return content if isinstance(content, str) else text
    return text


def _in_order(answer: Any, number: int, error: Any) -> Iterator[Any]:
    """Yield the vectors of an answer in the order of the texts that were sent."""
    data = answer.get("data") if isinstance(answer, dict) else None
    if not isinstance(data, list) or not all(isinstance(entry, dict) for entry in data):
        raise error("answers with JSON that holds no embeddings")
    if len(data) != number:
        raise error(f"gives {len(data)} vectors for {number} texts")
    places = [entry.get("index", at) for at, entry in enumerate(data)]
    by_index = {at: entry for at, entry in zip(places, data, strict=True) if isinstance(at, int)}
    if set(by_index) != set(range(number)):
        raise error("does not say which vector is of which text")
    for at in range(number):
        yield by_index[at].get("embedding")
