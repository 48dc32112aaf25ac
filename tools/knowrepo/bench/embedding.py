"""Embedding as ``know index`` does it, against bare loops of llama-cpp-python."""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import sys
from collections.abc import Iterator, Sequence
from itertools import count

from knowrepo.bench import bare
from knowrepo.bench.corpus import Corpus
from knowrepo.bench.measured import Measured
from knowrepo.bench.place import Place, Spent, in_turn, middle, ratio, spent
from knowrepo.bench.sizes import Sizes
from knowrepo.index import embed, fill
from knowrepo.index.chunk import text_hash
from knowrepo.index.models import Model
from knowrepo.index.vectors import VectorStore

LEAST_OF_BEST = 0.9
LEAST_OF_DEFAULT = 1.6


class _Texts(list[tuple[str, str]]):
    """Texts by their hashes, as `fill.Waiting`."""

    def texts(self) -> Iterator[tuple[str, str]]:
        """See `fill.Waiting.texts`."""
        return iter(self)

    def still(self, names: Sequence[str]) -> Sequence[str]:
        """See `fill.Waiting.still`: nothing goes."""
        return names


class _Bare:
    """A bare loop in a process of its own, which waits between its turns."""

    def __init__(self, model: Model, settings: str) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-m", bare.__name__, str(model.path), settings,
             str(os.cpu_count() or 1)],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
        )  # fmt: skip

    def embed(self, texts: list[str]) -> Spent | None:
        """Return what the texts took; None where the process is gone."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        with contextlib.suppress(BrokenPipeError):
            self._process.stdin.write(json.dumps(texts) + "\n")
            self._process.stdin.flush()
        line = self._process.stdout.readline()
        return Spent(*json.loads(line)) if line else None

    def end(self) -> int:
        """Let it end; returns its exit code."""
        self._process.__exit__(None, None, None)  # closes its input, and waits
        return self._process.returncode


def measure(place: Place, sizes: Sizes) -> Iterator[Measured]:
    """Embed the same texts in all ways, in turn."""
    if place.model is None or embed.lacking(place.model):
        return
    with contextlib.ExitStack() as ending:
        loops = {settings: _Bare(place.model, settings) for settings in bare.SETTINGS[:2]}
        for one in loops.values():
            ending.callback(one.end)
        yield from _figures(place, place.model, sizes, loops)


def _figures(
    place: Place, model: Model, sizes: Sizes, loops: dict[str, _Bare]
) -> Iterator[Measured]:
    texts = Corpus().texts(sizes.texts)
    embedder = embed.open_embedder(model)
    embedder.embed_passage(embed.Passage("the first costs more"))
    named = _Texts((text_hash(text), text) for text in texts)
    fresh = count()

    def ours() -> Spent:
        store = VectorStore(place.folder / f"embedding-{next(fresh)}", embedder.fingerprint)
        return spent(lambda: fill.embed(named, store, embedder))

    def loop(settings: str) -> Spent:
        took = loops[settings].embed(texts)
        return took if took is not None else Spent(0.0, 0.0)

    own, best, default = in_turn(sizes.rounds, ours, lambda: loop("best"), lambda: loop("default"))
    codes = {settings: one.end() for settings, one in loops.items()}
    repacked = _repacked(model, texts[:8])
    for settings, took, least in (
        ("best", best, LEAST_OF_BEST), ("default", default, LEAST_OF_DEFAULT),
    ):  # fmt: skip
        crashed = codes[settings] != 0
        yield Measured(
            f"embedding throughput against llama-cpp-python, {settings} settings",
            0.0 if crashed else ratio(took, own, "wall"), "times",
            f"the bare loop crashed ({codes[settings]})" if crashed else
            f"texts a second of know index with its store, over a bare loop's; {len(texts)} texts",
            least=least,
            details={
                "texts_per_second": len(texts) / middle(own, "wall"),
                "bare_texts_per_second": 0.0 if crashed else len(texts) / middle(took, "wall"),
                "cpu_ratio": 0.0 if crashed else ratio(took, own), "model": model.name,
                "weights_repacked_by_llama": repacked,
            },
        )  # fmt: skip


def _repacked(model: Model, texts: list[str]) -> str:
    """Say what becomes of the class's defaults as they are, weights repacked and all."""
    loop = _Bare(model, bare.SETTINGS[2])
    took = loop.embed(texts)
    code = loop.end()
    if took is None or code:
        return f"crashes here (exit code {code}), so it was left out"
    return f"{len(texts) / took.wall:.1f} texts a second"
