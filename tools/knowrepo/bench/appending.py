"""Appending one exchange to a long session: what is embedded, and the time it takes."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING

from knowrepo.bench.corpus import Corpus, as_line
from knowrepo.bench.measured import Measured
from knowrepo.bench.place import Place, Spent, middle, spent
from knowrepo.bench.sizes import Sizes
from knowrepo.bench.standin import StandIn
from knowrepo.git.layout import Repository
from knowrepo.index import embed, fill
from knowrepo.index.build import refresh
from knowrepo.index.catalog import Catalog
from knowrepo.index.vectors import VectorStore

if TYPE_CHECKING:
    from knowrepo.index.embed import Embedder

MOST = 0.05
_EXCHANGE = 4  # records
_SESSION = "00000000-0000-4000-8000-000000000001"


@dataclass(frozen=True)
class _Run:
    took: Spent
    embedded: int
    chunks: int


def measure(place: Place, sizes: Sizes) -> Iterator[Measured]:
    """Index a session anew, then append to it, exchange by exchange."""
    here = place.repository("appending")
    path = here.sessions / "claude" / f"{_SESSION}.jsonl"
    corpus = Corpus()
    written = _grow(here, path, corpus, sizes.chunks_of_session)
    embedder: Embedder = embed.open_embedder(place.model) if place.model else StandIn()
    embedder.embed_passage(embed.Passage("the first costs more"))
    anew, grown, too_many = [], [], 0
    for _ in range(sizes.rounds):
        shutil.rmtree(here.vectors, ignore_errors=True)
        Catalog.discard(here.catalog)
        whole = _index(here, embedder)
        _append(path, corpus, written)
        written += _EXCHANGE
        more = _index(here, embedder)
        anew.append(whole.took)
        grown.append(more.took)
        too_many = max(too_many, more.embedded - (more.chunks - whole.chunks))
    place.drop("appending")
    details = {
        "chunks": whole.chunks, "chunks_of_the_exchange": more.chunks - whole.chunks,
        "embedded": more.embedded, "model": place.model.name if place.model else "",
    }  # fmt: skip
    yield Measured(
        "append: texts embedded beyond the new chunks", too_many, "texts",
        f"one exchange appended to a session of {whole.chunks} chunks", most=0, details=details,
    )  # fmt: skip
    yield Measured(
        "append: time against indexing anew",
        middle(grown, "wall") / middle(anew, "wall"),
        "of it",
        "catalog and vectors of the appended exchange, over those of the whole session"
        + ("" if place.model else ", without a model"),
        most=MOST if place.model else None,
        details={"append_seconds": middle(grown, "wall"), "anew_seconds": middle(anew, "wall")},
    )


def _grow(here: Repository, path: Path, corpus: Corpus, chunks: int) -> int:
    """Write a session of so many chunks or a few more; returns how many records it has."""
    path.parent.mkdir(parents=True, exist_ok=True)
    for written in count(0, _EXCHANGE):
        if written % (_EXCHANGE * 8) == 0 or _chunks(here) >= chunks - 16:
            refresh(here)
            if _chunks(here) >= chunks:
                return written
        _append(path, corpus, written)
    raise AssertionError


def _append(path: Path, corpus: Corpus, first: int) -> None:
    with path.open("a", encoding="utf-8") as stream:
        for record in corpus.records(_EXCHANGE, session=_SESSION, first=first):
            stream.write(as_line(record))


def _chunks(here: Repository) -> int:
    catalog = Catalog.open(here.catalog)
    if catalog is None:
        return 0
    with catalog:
        return catalog.counts()["chunks"]


def _index(here: Repository, embedder: Embedder) -> _Run:
    store = VectorStore(here.vectors, embedder.fingerprint)
    embedded = 0

    def work() -> None:
        nonlocal embedded
        refresh(here)
        catalog = Catalog.open(here.catalog)
        if catalog is not None:
            with catalog:
                waiting = fill.pending_texts(catalog, store)
            embedded = len(waiting)
            fill.embed(waiting, store, embedder)

    took = spent(work)
    return _Run(took, embedded, _chunks(here))
