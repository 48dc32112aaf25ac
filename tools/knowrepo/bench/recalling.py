"""How well every layer of recall answers a labelled set, beside plain full-text search.

Owns the run over one set: its repository (kept, where a folder for that is given), the
vectors, the questions, and what is told of them. Figures are made by `judging`.
"""

from __future__ import annotations

import contextlib
import shutil
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from knowrepo.bench import layers
from knowrepo.bench.baseline import Baseline
from knowrepo.bench.counting import Tokens, to_the_answer
from knowrepo.bench.cut import Cut
from knowrepo.bench.judging import Asked, Ranked, compared, figures, ranked
from knowrepo.bench.layers import BASELINE, Open, Remembering, Told
from knowrepo.bench.making import Made, answers, made
from knowrepo.bench.sets import LabelledSet, Question, Unit
from knowrepo.bench.shown import Shown
from knowrepo.concepts.bundle import read_concepts
from knowrepo.errors import KnowError
from knowrepo.evaluate.metrics import auroc
from knowrepo.git.layout import Repository
from knowrepo.index import Progress, fill
from knowrepo.index.build import refresh
from knowrepo.index.catalog import Catalog
from knowrepo.index.vectors import VectorStore

if TYPE_CHECKING:
    from knowrepo.index.embed import Embedder

Scope = Literal["all", "own"]
Say = Callable[[str], None]
_WAIT = 600.0  # seconds for another process that indexes the same


@dataclass(frozen=True)
class Wanted:
    """What is to be measured of a set, and with what.

    ``cache`` keeps its repository between runs, named by the hash of what is searched.
    """

    layers: Sequence[str] = layers.LAYERS
    unit: Unit | Literal[""] = ""
    scope: Scope = "all"
    embedder: Embedder | None = None
    dimension: int = 0
    cache: Path | None = None
    count_tokens: bool = False
    tokens: Tokens | None = None  # counts those of the model
    say: Say = lambda _: None
    progress: Progress = lambda _done, _total: None


@dataclass
class Gathered:
    """The questions, and what each layer answered, in one order."""

    asked: list[Asked] = field(default_factory=list)
    told: dict[str, list[Told]] = field(default_factory=dict)
    ranked: dict[str, list[Ranked]] = field(default_factory=dict)
    documents: int = 0
    chunks: int = 0
    left_out: int = 0
    tokens: dict[str, Any] = field(default_factory=dict)

    def add(self, layer: str, told: Told, judged: Ranked) -> None:
        """Add what a layer answered to the next question."""
        self.told.setdefault(layer, []).append(told)
        self.ranked.setdefault(layer, []).append(judged)


def measure(labelled: LabelledSet, folder: Path, wanted: Wanted) -> dict[str, Any]:
    """Measure a set; ``folder`` is where its repository is made, if none is kept.

    Returns what JSON shows of it.
    """
    if wanted.scope == "own" and labelled.form == "sessions":
        raise KnowError(f"{labelled.name}: has no groups, so nothing to be searched alone")
    base = _base(labelled, folder, wanted)
    unit: Unit = wanted.unit or labelled.unit
    found = Gathered()
    groups = labelled.groups if wanted.scope == "own" else ("",)
    asked_layers = [BASELINE, *wanted.layers]
    if wanted.embedder is None:
        asked_layers = [layer for layer in asked_layers if layer != "semantic"]
    with _remembering(base, wanted) as embedder:
        for group in groups:
            place = base / "groups" / group if group else base / "all"
            done = made(labelled, place, group=group)
            if group and embedder is not None:
                _borrow(base / "all" / "repository", done.repository)
            with _opened(done, unit, embedder, wanted) as here:
                _ask_all(labelled, done, here, asked_layers, group, found, wanted)
                if wanted.count_tokens and not group:
                    found.tokens = to_the_answer(here, found.asked, tokens=wanted.tokens)
    return _facts(labelled, unit, wanted, found, embedder)


@contextlib.contextmanager
def opened(
    labelled: LabelledSet, folder: Path, wanted: Wanted
) -> Iterator[tuple[Open, list[Asked]]]:
    """Give the whole of a set, ready to be asked, and its questions."""
    base = _base(labelled, folder, wanted)
    done = made(labelled, base / "all")
    unit: Unit = wanted.unit or labelled.unit
    with (
        _remembering(base, wanted) as embedder,
        _opened(done, unit, embedder, wanted) as here,
    ):
        asked = (_asked(labelled, question, done, here) for question in labelled.questions)
        yield here, [one for one in asked if one is not None]


def _base(labelled: LabelledSet, folder: Path, wanted: Wanted) -> Path:
    return (wanted.cache or folder) / f"{labelled.name}-{labelled.fingerprint()}"


@contextlib.contextmanager
def _remembering(base: Path, wanted: Wanted) -> Iterator[Embedder | None]:
    """Give the embedder, cut where it is to be; the vectors of questions are kept beside a set."""
    if wanted.embedder is None:
        yield None
        return
    whole = Remembering(wanted.embedder, base / f"questions-{wanted.embedder.fingerprint}.npz")
    try:
        yield Cut(whole, wanted.dimension) if wanted.dimension else whole
    finally:
        whole.keep()


@contextlib.contextmanager
def _opened(done: Made, unit: Unit, embedder: Embedder | None, wanted: Wanted) -> Iterator[Open]:
    here = done.repository
    result = refresh(here, wait=_WAIT)
    if result.busy or result.behind:
        raise KnowError(f"{here.root}: cannot be indexed in full; {'; '.join(result.notes)}")
    if embedder is not None:
        embed_all(here, embedder, wanted)
    catalog = Catalog.open(here.catalog)
    if catalog is None:
        raise KnowError(f"{here.root}: no catalog")
    rows = {path: line for path, line in sorted(done.places.values()) if line}
    with catalog:
        shown = Shown(catalog, unit, done.exchanges, rows)
        tags = {one.path: " ".join(one.tags) for one in read_concepts(here)}
        baseline = Baseline(shown.pieces, tags)
        try:
            yield Open(here, catalog, shown, baseline, embedder)
        finally:
            baseline.close()


def embed_all(here: Repository, embedder: Embedder, wanted: Wanted) -> None:
    """Make the vectors that are lacking; those of a cut model out of the whole ones."""
    if isinstance(embedder, Cut) and wanted.embedder is not None:
        embed_all(here, wanted.embedder, wanted)
        whole = VectorStore(here.vectors, wanted.embedder.fingerprint)
        store = VectorStore(here.vectors, embedder.fingerprint)
        have = store.hashes()
        store.add([
            (text, part, embedder.short(vector))
            for text, part, vector in whole.rows() if text not in have
        ])  # fmt: skip
        return
    store = VectorStore(here.vectors, embedder.fingerprint)
    catalog = Catalog.open(here.catalog)
    if catalog is None:
        raise KnowError(f"{here.root}: no catalog")
    with catalog:
        waiting = fill.pending_texts(catalog, store)
    if len(waiting):
        wanted.say(f"{len(waiting):,} texts are to be embedded")
        fill.embed(waiting, store, embedder, progress=wanted.progress)


def _borrow(whole: Path, here: Repository) -> None:
    """Copy the vectors of the whole set, where there are any: a text is named by its hash."""
    source = whole / ".git" / "know" / "vectors"
    if source.is_dir() and not here.vectors.exists():
        shutil.copytree(source, here.vectors)


def _ask_all(
    labelled: LabelledSet,
    done: Made,
    here: Open,
    names: Sequence[str],
    group: str,
    found: Gathered,
    wanted: Wanted,
) -> None:
    counts = here.catalog.counts()
    found.documents += counts["concepts"] + counts["sessions"]
    found.chunks += counts["chunks"]
    questions = [one for one in labelled.questions if not group or one.group == group]
    for number, question in enumerate(questions, start=1):
        asked = _asked(labelled, question, done, here)
        if asked is None:
            found.left_out += 1
            continue
        found.asked.append(asked)
        for name in names:
            told = layers.ask(name, here, question.text)
            found.add(name, told, ranked(asked, told.spots, here.shown))
        wanted.progress(number, len(questions))


def _asked(labelled: LabelledSet, question: Question, done: Made, here: Open) -> Asked | None:
    """Return a question with what answers it; None where that lies elsewhere, or nowhere."""
    answered = answers(labelled, question, done)
    right = here.shown.right(answered)
    if question.answerable and not right:
        return None
    return Asked(question, answered, right, right | here.shown.twins(answered))


# -- what is told -----------------------------------------------------------------


def _facts(
    labelled: LabelledSet,
    unit: Unit,
    wanted: Wanted,
    found: Gathered,
    embedder: Embedder | None,
) -> dict[str, Any]:
    facts: dict[str, Any] = {
        "set": labelled.name,
        "searched": labelled.fingerprint(),
        "unit": unit,
        "scope": wanted.scope,
        "dimension": embedder.dimension if embedder else 0,
        "documents": found.documents,
        "chunks": found.chunks,
        "questions": len(found.asked),
        "without_answer": sum(not one.right for one in found.asked),
        "left_out": found.left_out,
        "layers": {
            name: [one.facts() for one in figures(found.asked, judged)]
            for name, judged in found.ranked.items()
        },
    }
    if "hybrid" in found.ranked:
        ours, theirs = found.ranked["hybrid"], found.ranked[BASELINE]
        facts["hybrid_against_fts5"] = [one.facts() for one in compared(found.asked, ours, theirs)]
        facts["confidence"] = _confidence(found)
    if found.tokens:
        facts["tokens"] = found.tokens
    if "structured" in found.ranked:
        facts["structured"] = _structured(found)
    return facts


def _confidence(found: Gathered) -> dict[str, Any]:
    """Return how well the confidence tells what is answered from what nothing answers."""
    pairs = list(zip(found.asked, found.told["hybrid"], strict=True))
    some = [(told.confidence if told.spots else 0.0, told) for one, told in pairs if one.right]
    none = [(told.confidence if told.spots else 0.0, told) for one, told in pairs if not one.right]
    if not none or not some:
        return {}

    def sure(of: Sequence[tuple[float, Told]]) -> float:
        return round(sum(told.confident and bool(told.spots) for _, told in of) / len(of), 4)

    return {
        "auroc": round(auroc([value for value, _ in some], [value for value, _ in none]), 4),
        "confident_where_answerable": sure(some),
        "confident_where_not": sure(none),
    }


def _structured(found: Gathered) -> list[dict[str, Any]]:
    """Return, by kind, how much the structured layer answers, and how often it is right."""
    rows = list(zip(found.asked, found.told["structured"], found.ranked["structured"], strict=True))
    kinds = dict.fromkeys(one.kind for one in found.asked)
    told = []
    for kind in ("all", *(kinds if len(kinds) > 1 else ())):
        own = [row for row in rows if kind == "all" or row[0].kind == kind]
        some = [row for row in own if row[1].answered]
        able = [row for row in some if row[0].right]
        right = sum(row[2].rank == 1 for row in able)
        told.append({
            "kind": kind,
            "questions": len(own),
            "answered": len(some),
            "answered_share": round(len(some) / len(own), 4) if own else None,
            "right": right,
            "right_share": round(right / len(able), 4) if able else None,
        })  # fmt: skip
    return told
