"""The page of a run of `know bench recall`, in Markdown, and the run beside it as JSON.

Owns the wording and the tables. Every figure on the page comes out of the run; nothing is
measured here.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from knowrepo.bench.layers import BASELINE
from knowrepo.config import write_atomically
from knowrepo.errors import KnowError
from knowrepo.terminal import json_text

Facts = Mapping[str, Any]
_FIGURES = {
    "hit_1": "hit@1", "hit_5": "hit@5", "recall_1": "recall@1", "recall_5": "recall@5",
    "recall_10": "recall@10", "mrr": "MRR", "ndcg_10": "NDCG@10", "record_5": "record hit@5",
    "group_1": "group hit@1", "group_5": "group hit@5",
}  # fmt: skip
_OPTIONAL = frozenset({"record_5", "group_1", "group_5"})
_UNITS = {
    "session": "a session", "turns": "an exchange, which is what a user says and the answers to it",
    "row": "a row", "concept": "a concept",
}  # fmt: skip
_NAMES = {BASELINE: "FTS5 alone"}


def write(run: Facts, page: Path, plots: Sequence[Path] = ()) -> Path:
    """Write the page, and the run beside it; returns where the run is."""
    data = page.with_suffix(".json")
    text = "\n".join(lines(run, page, plots)) + "\n"
    try:
        page.parent.mkdir(parents=True, exist_ok=True)
        write_atomically(page, text.encode())
        write_atomically(data, (json_text(run, indent=2) + "\n").encode())
    except OSError as error:
        raise KnowError(f"{page}: cannot be written: {error.strerror}") from error
    return data


def lines(run: Facts, page: Path, plots: Sequence[Path]) -> Iterator[str]:
    """Yield the lines of the page."""
    drawn = {path.stem: os.path.relpath(path, page.parent) for path in plots}
    yield "# Benchmarks"
    yield ""
    yield "<!-- Generated: change nothing here. -->"
    yield f"Generated on {run['date']} by `{run['command']}`; all figures are in [{page.stem}.json]({page.stem}.json)."  # noqa: E501
    yield ""
    yield from _machine(run["machine"])
    if run["sets"]:
        yield from _sets(run["sets"], drawn)
    if len({one["dimension"] for one in run["dimensions"]}) > 1:
        yield from _dimensions(run["dimensions"], drawn)
    if run["costs"]:
        yield from _costs(run["costs"], drawn)
    for one in run["measured"]:
        yield from _measured(one)


def _machine(machine: Facts) -> Iterator[str]:
    yield "The machine: " + ", ".join(f"{name} {value}" for name, value in machine.items()) + "."
    yield "Other work may have run on it: seconds say little, ratios say more."


def _plot(drawn: Mapping[str, str], name: str, what: str) -> Iterator[str]:
    if name in drawn:
        yield ""
        yield f"![{what}]({drawn[name]})"


# -- answers ----------------------------------------------------------------------


def _sets(sets: Sequence[Facts], drawn: Mapping[str, str]) -> Iterator[str]:
    yield ""
    yield "## Answers"
    yield ""
    yield "The labelled sets are not part of this repository: they hold other people's texts."
    yield "FTS5 alone is SQLite's full-text search over the same chunks in the same run:"
    yield "`porter unicode61`, stop words dropped, the other words joined with OR, `bm25()` as it"
    yield "comes. Structured, lexical and semantic are the layers asked alone; hybrid is all that"
    yield "`know recall` does. Each figure is a mean over the questions that have an answer, of the"
    yield "first 100 units. Bounds are one-sided 95 % lower bounds of the difference between hybrid"
    yield "and FTS5, by paired bootstrap; lost and won count questions that one alone gets right."
    yield from _plot(drawn, "quality", "hit@1, hit@5 and MRR of each layer")
    for one in sets:
        yield from _set(one)


def _set(one: Facts) -> Iterator[str]:
    scope = "each group searched alone" if one["scope"] == "own" else "all of it searched together"
    without = (
        f", {one['without_answer']} of them without an answer" if one["without_answer"] else ""
    )
    left = (
        f"; {one['left_out']} more are left out, whose answer is not there"
        if one["left_out"]
        else ""
    )
    yield ""
    yield f"### {one['set']}"
    yield ""
    yield (
        f"{one['documents']:,} documents in {one['chunks']:,} chunks, {scope};"
        f" {one['questions']:,} questions{without}{left}. What counts is {_UNITS[one['unit']]}."
    )
    yield ""
    first = {layer: kinds[0] for layer, kinds in one["layers"].items() if kinds}
    if not any(row["answered"] for row in one.get("structured", ())):
        first.pop("structured", None)  # there is no front matter that it could know of
    shown = [
        name for name in _FIGURES
        if name not in _OPTIONAL or any(kind[name] is not None for kind in first.values())
    ]  # fmt: skip
    yield from table(
        ["layer", *(_FIGURES[name] for name in shown)],
        [[_NAMES.get(layer, layer), *(_share(kind[name]) for name in shown)]
         for layer, kind in first.items()],
    )  # fmt: skip
    if any(name.startswith("group") for name in shown):
        yield ""
        yield "The same text stands in several units here: a group hit is a hit on any of them."
    if "hybrid_against_fts5" in one:
        yield from _against(one)
    yield from _said(one)


def _against(one: Facts) -> Iterator[str]:
    plain = {kind["kind"]: kind for kind in one["layers"][BASELINE]}
    ours = {kind["kind"]: kind for kind in one["layers"]["hybrid"]}
    yield ""
    yield from table(
        ["kind", "questions", "FTS5 hit@1 / hit@5 / MRR", "hybrid hit@1 / hit@5 / MRR",
         "bounds", "lost @1 / @5", "won @1 / @5"],
        [
            [
                _told(each["kind"]), str(each["questions"]),
                _three(plain[each["kind"]]), _three(ours[each["kind"]]),
                " / ".join(f"{100 * value:+.1f}" for value in each["bounds"].values()),
                " / ".join(map(str, each["lost"].values())),
                " / ".join(map(str, each["won"].values())),
            ]
            for each in one["hybrid_against_fts5"]
        ],
    )  # fmt: skip


def _said(one: Facts) -> Iterator[str]:
    """Yield what is said of the structured layer, of confidence, and of tokens."""
    every = next(iter(one.get("structured", ())), None)
    if every and every["answered"]:
        yield ""
        yield f"The structured layer answers {every['answered']} of {every['questions']} questions;"
        yield "of those that have an answer, it puts a right one first in"
        yield f"{_percent(every['right_share'])}."
        yield ""
        yield from table(
            ["kind", "questions", "answered", "right first"],
            [[_told(row["kind"]), str(row["questions"]), _percent(row["answered_share"]),
              _percent(row["right_share"])] for row in one["structured"]],
        )  # fmt: skip
    sure = one.get("confidence")
    if sure:
        yield ""
        yield f"The confidence of an answer tells questions with an answer from those without with an AUROC of {sure['auroc']:.2f}."  # noqa: E501
        yield f"Confident are {_percent(sure['confident_where_answerable'])} of the former, {_percent(sure['confident_where_not'])} of the latter."  # noqa: E501
    tokens = one.get("tokens")
    if tokens and tokens["found"]:
        medians = tokens["median_tokens"]
        yield ""
        yield f"Tokens to the right answer, where the first {tokens['limit']} hits hold it (median, characters over four):"  # noqa: E501
        yield f"compact lines and one `--get` {medians['compact_then_get']:,.0f}, all bodies {medians['full_bodies']:,.0f}, grep for the rarest word {medians['grep']:,.0f}."  # noqa: E501
        if tokens["model_tokens_a_line"] is not None:
            yield f"A compact line is {tokens['model_tokens_a_line']:.1f} tokens of the model's vocabulary on average."  # noqa: E501


def _dimensions(runs: Sequence[Facts], drawn: Mapping[str, str]) -> Iterator[str]:
    yield ""
    yield "## Dimensions"
    yield ""
    yield "The vectors cut to those dimensions that the model was trained for."
    yield from _plot(drawn, "dimensions", "hit@5 and MRR over the dimensions")
    yield ""
    yield from table(
        ["set", "dimensions", "semantic hit@1 / hit@5 / MRR", "hybrid hit@1 / hit@5 / MRR"],
        [[one["set"], str(one["dimension"]), _three(one["layers"]["semantic"][0]),
          _three(one["layers"]["hybrid"][0])] for one in runs],
    )  # fmt: skip


# -- costs ------------------------------------------------------------------------


def _costs(costs: Sequence[Facts], drawn: Mapping[str, str]) -> Iterator[str]:
    warm, cold = costs[0]["warm_cpu_milliseconds"], costs[0]["cold_cpu_milliseconds"]
    yield ""
    yield "## What a recall costs"
    yield ""
    yield "Milliseconds of processor time, medians of layers that took turns, over generated"
    yield "sessions and as many concepts; the time of the clock is in the JSON. Warm is one process"
    yield "that opens the catalog for each query; scan reads and parses every file. Cold is a"
    yield "process of its own, from start to end; typer is the least program that the library of"
    yield "our command line makes."
    yield from _plot(drawn, "cost", "milliseconds over the number of sessions")
    yield ""
    yield from table(
        ["sessions", "chunks", *(f"warm {name}" for name in warm),
         *(f"cold {name}" for name in cold)],
        [[f"{one['sessions']:,}", f"{one['chunks']:,}",
          *(_milliseconds(one["warm_cpu_milliseconds"][name]) for name in warm),
          *(_milliseconds(one["cold_cpu_milliseconds"][name]) for name in cold)] for one in costs],
    )  # fmt: skip
    if not costs[0]["model"]:
        yield ""
        yield "There was no model: queries were embedded by hash, which costs nothing."


def _measured(one: Facts) -> Iterator[str]:
    details = one["details"]
    yield ""
    verdict = f"{one['target']}: {'met' if one['met'] else 'missed'}"
    yield f"A {one['name']}: {one['figure']:.2f} {one['unit']} ({verdict}): {one['how']},"
    yield f"{details['milliseconds']:.1f} ms against {details['bare_milliseconds']:.1f} ms bare."


def table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> Iterator[str]:
    """Yield a table in Markdown; all columns but the first are numbers."""
    yield f"| {' | '.join(head)} |"
    yield f"|---|{'---:|' * (len(head) - 1)}"
    for row in rows:
        yield f"| {' | '.join(row)} |"


def _told(kind: str) -> str:
    return kind.replace("_", " ").replace("|", " ")


def _three(kind: Facts) -> str:
    return " / ".join(_share(kind[name]) for name in ("hit_1", "hit_5", "mrr"))


def _share(value: float | None) -> str:
    return "" if value is None else f"{100 * value:.1f}"


def _percent(value: float | None) -> str:
    return "" if value is None else f"{100 * value:.1f} %"


def _milliseconds(value: float) -> str:
    return f"{value:,.0f}" if value >= 100 else f"{value:.2g}" if value < 10 else f"{value:.1f}"
