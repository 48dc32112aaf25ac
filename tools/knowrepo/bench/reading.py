"""A reader in a loop while another process indexes everything."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from statistics import median
from typing import Any

from knowrepo.bench.corpus import Corpus
from knowrepo.bench.measured import Measured
from knowrepo.bench.place import Place, in_process
from knowrepo.bench.sizes import Sizes
from knowrepo.errors import KnowError
from knowrepo.git.layout import Repository
from knowrepo.index.build import refresh


def measure(place: Place, sizes: Sizes) -> Iterator[Measured]:
    """Index a tenth, start the reader, index the rest with vectors, and ask how it went."""
    here = place.repository("reading")
    known = max(1, sizes.reader_sessions // 10)
    corpus = Corpus()
    folder = here.sessions / "claude"
    corpus.write_sessions(folder, known, sizes.records, marked=True)
    refresh(here)
    with _reader(here, known) as reader:
        corpus.write_sessions(
            folder, sizes.reader_sessions - known, sizes.records, start=known, marked=True
        )
        indexing = in_process(["-m", "knowrepo.bench.indexing", str(here.root)], here.root)
        told, _ = reader.communicate()
    if reader.returncode:
        raise KnowError("the reader ended with an error; see above")
    facts = json.loads(told.splitlines()[-1])
    place.drop("reading")
    yield from _figures(facts, indexing.wall, sizes.reader_sessions)


def _figures(facts: dict[str, Any], wall: float, sessions: int) -> Iterator[Measured]:
    seconds = facts["seconds"]
    for kind, what in (
        ("errors", "recalls that failed"),
        ("wrong", "recalls that did not give the session that was indexed before and asked for"),
    ):
        yield Measured(
            f"reader during a full index: {kind}", float(len(facts[kind])), "answers",
            f"{what}, of {len(seconds):,}, while {sessions:,} sessions were indexed and embedded",
            most=0, details={"first": facts[kind][:3]},
        )  # fmt: skip
    yield Measured(
        "reader during a full index: worst latency", max(seconds, default=0.0), "s",
        "of all recalls in the reader's loop, with the catalog brought up for 0.2 s where it can",
        details={
            "median_seconds": median(seconds) if seconds else 0.0, "recalls": len(seconds),
            "indexing_seconds": wall,
        },
    )  # fmt: skip


def _reader(here: Repository, words: int) -> subprocess.Popen[str]:
    """Start the reader, and wait until it has begun."""
    reader = subprocess.Popen(
        [sys.executable, "-m", "knowrepo.bench.reader", str(here.root), str(words)],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, cwd=here.root,
    )  # fmt: skip
    assert reader.stdout is not None
    reader.stdout.readline()
    return reader
