"""``know index`` with nothing to do, as a process, against the smallest typer program."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise

from knowrepo.bench.corpus import Corpus
from knowrepo.bench.measured import Measured
from knowrepo.bench.place import Place, Spent, in_process, in_turn, middle, ratio
from knowrepo.bench.sizes import Sizes
from knowrepo.bench.standin import StandIn
from knowrepo.git.layout import Repository
from knowrepo.index import embed, fill
from knowrepo.index.build import refresh
from knowrepo.index.catalog import Catalog
from knowrepo.index.vectors import VectorStore

MOST = 3.0
SLOWER = 1.0  # as the corpus grows, and no faster
_SHORT = 4  # records of a session, where only the number of documents matters
_PROGRAM = """
import typer
app = typer.Typer()
@app.command()
def main(name: str = "") -> None: typer.echo(name)
app()
"""


def measure(place: Place, sizes: Sizes) -> Iterator[Measured]:
    """Start both programs in turn, on one corpus and on growing ones."""
    here = place.repository("idle")
    corpus = Corpus()
    corpus.write_sessions(here.sessions / "claude", sizes.sessions, sizes.records)
    chunks = _all_indexed(here, place)
    (program,), (ours,) = ([spents] for spents in _started(here, place, sizes.processes))
    place.drop("idle")
    yield Measured(
        "no-op know index against a typer program",
        ratio(ours, program),
        "times",
        f"processor time of the whole process with {sizes.sessions:,} sessions indexed",
        most=MOST,
        details={
            "sessions": sizes.sessions, "chunks": chunks, "index_seconds": middle(ours),
            "program_seconds": middle(program), "wall_ratio": ratio(ours, program, "wall"),
            "peak_bytes": max(one.peak for one in ours),
        },
    )  # fmt: skip
    yield _growth(place, sizes)


def _growth(place: Place, sizes: Sizes) -> Measured:
    here = place.repository("growing")
    corpus = Corpus()
    rows = []
    before = 0
    for documents in sizes.growth:
        corpus.write_sessions(here.sessions / "claude", documents - before, _SHORT, start=before)
        before = documents
        _all_indexed(here, place)
        program, ours = _started(here, place, sizes.processes)
        rows.append({
            "documents": documents, "index_seconds": middle(ours),
            "program_seconds": middle(program), "ratio": ratio(ours, program),
        })  # fmt: skip
    place.drop("growing")
    worst = max(
        (b["index_seconds"] / a["index_seconds"]) / (b["documents"] / a["documents"])
        for a, b in pairwise(rows)
    )
    return Measured(
        "no-op know index: growth over the corpus's", worst, "times",
        f"the worst step of {rows[0]['documents']:,} to {rows[-1]['documents']:,} documents",
        most=SLOWER, details={"steps": rows},
    )  # fmt: skip


def _all_indexed(here: Repository, place: Place) -> int:
    """Bring the catalog up, and give every text a vector under the model's name."""
    refresh(here)
    catalog = Catalog.open(here.catalog)
    if catalog is None:
        return 0
    with catalog:
        chunks = catalog.counts()["chunks"]
        if place.model is not None:
            name = embed.fingerprint(place.model)
            store = VectorStore(here.vectors, name)
            fill.embed(fill.pending_texts(catalog, store), store, StandIn(name))
    return chunks


def _started(here: Repository, place: Place, rounds: int) -> Sequence[list[Spent]]:
    index = ["-m", "knowrepo", "index", "--quiet"]
    if place.model is None:
        index.append("--no-vectors")
    in_process(index, here.root)  # what is compiled and cached, is from then on
    return in_turn(
        rounds,
        lambda: in_process(["-c", _PROGRAM], here.root),
        lambda: in_process(index, here.root),
    )
