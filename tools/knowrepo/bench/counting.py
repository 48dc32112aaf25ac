"""How many tokens recalls cost a reader: compact lines, bodies, and what grep would print.

Owns what is counted, and that it is what `know recall` prints to standard output. Characters
over four are what people reckon with; the model's own tokens are counted by its vocabulary.
"""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path
from statistics import fmean, median
from typing import TYPE_CHECKING, Any

from knowrepo.bench.judging import Asked
from knowrepo.bench.layers import Open
from knowrepo.errors import KnowError
from knowrepo.git.layout import Repository
from knowrepo.index.catalog import Catalog, Filter
from knowrepo.index.text import content_words
from knowrepo.recall import present, route
from knowrepo.recall.ids import with_text
from knowrepo.recall.route import Answer

if TYPE_CHECKING:
    from knowrepo.index.embed import Embedder
    from knowrepo.index.models import Model

LIMIT = 10
QUERIES = 10
A_LINE = 50.0
"""Tokens of a compact line at most, on average."""
_WORDS = 8  # of a title that are asked for
_A_TOKEN = 4  # characters

Tokens = Callable[[str], int]
"""Counts the tokens of a text."""


@dataclass(frozen=True)
class Counted:
    """What an answer costs in one form: ``tokens`` are characters over four, rounded up.

    ``model_tokens`` are the model's own; None where there is no model here.
    """

    query: str
    mode: str  # compact or full
    chars: int
    tokens: int
    model_tokens: int | None
    hits: int


def tokens_of(model: Model | None) -> Tokens | None:
    """Return what counts a text by the vocabulary of a model, without its weights."""
    if model is None or model.endpoint:
        return None
    from knowrepo.index import embed, llama

    if embed.lacking(model):
        return None
    lib = llama.binding()
    vocabulary = lib.llama_model_get_vocab(llama.load(model.path, vocabulary_only=True))
    return lambda text: llama.token_buffer(vocabulary, text, begin=False)[1]


def own_queries(catalog: Catalog, most: int = QUERIES) -> list[str]:
    """Return queries that a repository answers: the titles of documents, from all of its time."""
    titles = (" ".join(one.title.split()[:_WORDS]) for one in catalog.newest(-1, Filter()))
    asked = [title for title in dict.fromkeys(titles) if content_words(title)]
    return evenly(asked, most)


def evenly(some: Sequence[str], most: int) -> list[str]:
    """Return at most so many, from the first on, as far apart as can be."""
    number = min(most, len(some))
    return [some[index * len(some) // number] for index in range(number)]


def count(
    here: Repository,
    queries: Iterable[str],
    *,
    tokens: Tokens | None,
    embedder: Embedder | None = None,
    limit: int = LIMIT,
) -> Iterator[Counted]:
    """Ask each query in both forms."""
    for query in queries:
        for mode, full in (("compact", False), ("full", True)):
            answer = route.recall(
                here, query, limit=limit, full=full, embedder=embedder,
                words_only=embedder is None,
            )  # fmt: skip
            told = printed(answer, full=full)
            own = tokens(told) if tokens else None
            yield Counted(query, mode, len(told), reckoned(told), own, len(answer.hits))


def printed(answer: Answer, *, full: bool) -> str:
    """Return what a pipe gets of an answer."""
    told = []
    seen: set[str] = set()
    for hit in present.ordered(answer):
        scored = answer.route != "newest"
        again = hit.path in seen
        told.append(present.body(hit) if full else present.line(hit, scored=scored, again=again))
        seen.add(hit.path)
    return "".join(f"{part}\n" for part in told)


def reckoned(text: str) -> int:
    """Return the characters of a text over four, rounded up."""
    return -(-len(text) // _A_TOKEN)


def saving(counted: Sequence[Counted]) -> dict[str, Any]:
    """Return the sums of both forms, and what share of the full one the compact one saves."""
    sums: dict[str, Any] = {"queries": len({one.query for one in counted})}
    for mode in ("compact", "full"):
        own = [one for one in counted if one.mode == mode]
        counts = [one.model_tokens for one in own if one.model_tokens is not None]
        sums[mode] = {
            "chars": sum(one.chars for one in own),
            "tokens": sum(one.tokens for one in own),
            "model_tokens": sum(counts) if len(counts) == len(own) else None,
            "hits": sum(one.hits for one in own),
        }
    full = sums["full"]["tokens"]
    sums["saved"] = round(1 - sums["compact"]["tokens"] / full, 4) if full else None
    lines = sums["compact"]["hits"]
    model = sums["compact"]["model_tokens"]
    sums["model_tokens_a_line"] = round(model / lines, 2) if lines and model is not None else None
    return sums


def keep(folder: Path, counted: Iterable[Counted]) -> Path:
    """Append what was counted to the file of the day; returns it."""
    path = folder / f"tokens-{datetime.now(UTC):%Y-%m-%d}.jsonl"
    lines = "".join(json.dumps(asdict(one), ensure_ascii=False) + "\n" for one in counted)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with path.open("a", encoding="utf-8", errors="replace") as stream:
            stream.write(lines)
        path.chmod(0o600)  # what was asked may be private
    except OSError as error:
        raise KnowError(f"{path}: cannot be written: {error.strerror}") from error
    return path


# -- to the right answer ----------------------------------------------------------


def to_the_answer(
    here: Open, asked: Sequence[Asked], *, tokens: Tokens | None, limit: int = LIMIT
) -> dict[str, Any]:
    """Return how many tokens lead to the right answer, where the first hits hold it.

    Compact lines and then the body of the right hit; the bodies of all hits; and all lines
    in which grep finds the rarest word that it can. Tokens are characters over four,
    but for those of a compact line.
    """
    ways: dict[str, list[int]] = {"compact_then_get": [], "full_bodies": [], "grep": []}
    lines: list[float] = []
    in_grep = questions = 0
    for one in (one for one in asked if one.right):
        questions += 1
        answer = route.recall(
            here.repository, one.question.text, limit=limit, embedder=here.embedder,
            words_only=here.embedder is None,
        )  # fmt: skip
        compact = printed(answer, full=False)
        if tokens and answer.hits:
            lines.append(tokens(compact) / len(answer.hits))
        spots = here.shown.spots(answer.hits)
        right = (
            number for number, spot in enumerate(spots) if one.right & {*here.shown.units(spot)}
        )
        at = next(right, None)
        if at is None:
            continue
        hits = [with_text(here.catalog, hit) for hit in answer.hits]
        bodies = "".join(f"{present.body(hit)}\n" for hit in hits)
        found = grep(here, one.question.text)
        ways["compact_then_get"].append(reckoned(compact) + reckoned(present.body(hits[at])))
        ways["full_bodies"].append(reckoned(bodies))
        ways["grep"].append(reckoned(found))
        in_grep += any(f"{path}:" in found for path in one.answers)
    return {
        "questions": questions,
        "found": len(ways["full_bodies"]),
        "limit": limit,
        "median_tokens": {name: median(some) if some else None for name, some in ways.items()},
        "mean_tokens": {
            name: round(fmean(some), 1) if some else None for name, some in ways.items()
        },
        "grep_holds_the_answer": in_grep,
        "model_tokens_a_line": round(fmean(lines), 2) if lines else None,
    }


def grep(here: Open, question: str) -> str:
    """Return what `grep -rniF` prints of the rarest word of a question that it finds.

    Words that no chunk holds are left out. Empty where it finds none of the others, as
    where they stand in another form.
    """
    root = here.repository.root
    folders = [name for name in ("concepts", "sessions") if (root / name).is_dir()]
    for word in _rare_first(here.catalog, question):
        done = subprocess.run(
            ["grep", "-rniF", "--", word, *folders],
            cwd=root, capture_output=True, check=False, env={**os.environ, "LC_ALL": "C"},
        )  # fmt: skip
        if done.stdout:
            return done.stdout.decode("utf-8", "replace")
    return ""


def _rare_first(catalog: Catalog, question: str) -> list[str]:
    frequencies: dict[str, int] = {
        word: catalog.chunk_frequency(word) for word in content_words(question)
    }
    there = [word for word, number in frequencies.items() if number]
    return sorted(there, key=lambda word: frequencies[word])
