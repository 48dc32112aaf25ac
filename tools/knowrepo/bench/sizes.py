"""How much is measured: in full, quickly, or so little that only the shape is seen."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Sizes:
    """Amounts for every measurement."""

    rounds: int = 3
    sessions: int = 1600
    records: int = 40  # a session
    texts: int = 256  # embedded a round
    chunks_of_session: int = 246
    growth: tuple[int, ...] = (100, 400, 1600, 6400, 25_600)  # documents
    processes: int = 7  # starts of each program
    vectors: tuple[int, ...] = (100_000,)
    dimension: int = 384
    searches: int = 9
    reader_sessions: int = 800
    concepts: tuple[int, ...] = (25, 100, 400, 1600, 6400, 25_600)
    lookups: int = 100
    memory_chunks: int = 50_000
    memory_texts: int = 256  # with the real model
    recall: tuple[int, ...] = (25, 100, 400, 800, 1600)  # sessions, and as many concepts
    recalls: int = 9  # of each layer, at each size
    recall_chunks: int = 10_000


FULL = Sizes()
QUICK = Sizes(
    rounds=2, sessions=400, texts=48, growth=(100, 400, 1600), processes=3, searches=5,
    reader_sessions=200, concepts=(25, 100, 400, 1600), lookups=50, memory_chunks=10_000,
    memory_texts=48, recall=(25, 100, 400), recalls=5,
)  # fmt: skip
LARGE = (100_000, 300_000, 1_000_000)
"""The growth of the vector search, where somebody has the time and 4 GB."""
LARGE_RECALL = (6400, 25_600)
"""Sessions more, for the table of what a recall costs; the last take 3 GB of disk."""
