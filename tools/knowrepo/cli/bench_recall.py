"""``know bench recall``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from knowrepo.cli.common import JsonOption, QuietOption, progress, say, show, show_json
from knowrepo.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from knowrepo.bench.place import Place
    from knowrepo.bench.recalling import Wanted
    from knowrepo.bench.sets import LabelledSet
    from knowrepo.index.embed import Embedder

JSON_VERSION = 1
_USUAL = {"scope": "all"}
_UNITS = ("session", "turns", "row", "concept")
_FIGURES = {"hit_1": "hit@1", "hit_5": "hit@5", "mrr": "MRR", "ndcg_10": "NDCG@10"}
CacheOption = Annotated[
    Path | None,
    typer.Option("--cache", metavar="FOLDER", help="Keep what is made of a set for the next run."),
]
ModelOption = Annotated[
    str, typer.Option("--model", metavar="NAME", help="A model of the registry, or a file.")
]


def recall(
    sets: Annotated[
        list[Path] | None,
        typer.Argument(metavar="SET", help="Folders of labelled sets; none for the costs."),
    ] = None,
    layers: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME", help="Only this layer; may be repeated."),
    ] = None,
    unit: Annotated[
        str, typer.Option(metavar="UNIT", help="What counts: session, turns, row or concept.")
    ] = "",
    scope: Annotated[
        str, typer.Option(metavar="SCOPE", help="all, or own: each group searched alone.")
    ] = "all",
    dimension: Annotated[
        int, typer.Option(metavar="N", min=0, help="Vectors cut to N numbers.")
    ] = 0,
    dimensions: Annotated[
        bool, typer.Option("--dimensions", help="At every dimension the model was trained for.")
    ] = False,
    words: Annotated[bool, typer.Option("--words", help="Without the model and vectors.")] = False,
    costs: Annotated[bool, typer.Option("--costs", help="The costs too, beside sets.")] = False,
    quick: Annotated[bool, typer.Option("--quick", help="Costs up to 400 sessions.")] = False,
    large: Annotated[bool, typer.Option("--large", help="Costs up to 25,600 sessions.")] = False,
    cache: CacheOption = None,
    report: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Write the run as a page, and as JSON.")
    ] = None,
    plots: Annotated[
        Path | None, typer.Option(metavar="FOLDER", help="Draw the run as SVG and PNG.")
    ] = None,
    model: ModelOption = "",
    as_json: JsonOption = False,
    quiet: QuietOption = False,
) -> None:
    """Measure recall: how right it is on labelled sets, and what it costs.

    A set is a folder of corpus.jsonl, queries.jsonl and qrels.jsonl (or .gz), of
    bundles/ and dev.jsonl, or of corpus/ and dev.jsonl. It becomes a repository
    in a folder of its own, and every layer (structured, lexical, semantic,
    hybrid) is asked every question, beside plain FTS5 over the same chunks.

    Without a set it measures what a recall costs, on generated sessions.

    \b
    Examples:
      know bench recall --quick
      know bench recall ~/sets/locomo --cache ~/sets/made
      know bench recall ~/sets/* --costs --report page.md --plots plots
    """
    from datetime import UTC, datetime

    from knowrepo.bench import layers as known
    from knowrepo.bench import plots as drawing
    from knowrepo.bench import report as page
    from knowrepo.bench.measured import machine
    from knowrepo.bench.place import prepared
    from knowrepo.bench.recalling import Wanted
    from knowrepo.bench.sets import read_set

    _check(unit, scope, sets, dimensions=dimensions, words=words)
    names = known.chosen(layers or ())
    labelled = [read_set(place) for place in sets or ()]
    if plots:
        drawing.check()
    tell = (lambda _: None) if quiet else say
    command = _command(sets or (), {
        "layers": layers or [], "unit": unit, "scope": scope, "dimension": dimension,
        "dimensions": dimensions, "words": words, "costs": costs, "quick": quick, "large": large,
        "cache": cache, "report": report, "plots": plots,
        "model": Path(model) if model else "",
    })  # fmt: skip
    run: dict[str, Any] = {
        "version": JSON_VERSION, "date": f"{datetime.now(UTC):%Y-%m-%d}", "command": command,
        "machine": machine(),
        "sets": [], "dimensions": [], "costs": [], "measured": [],
    }  # fmt: skip
    kept = cache.expanduser().resolve() if cache else None
    with prepared(model) as place:
        if place.model is None and not words:
            tell("there is no model (`know model pull`): answers are by words only")
        if labelled:
            embedder, tokens = (None, None) if words else _loaded(place)
            wanted = Wanted(
                layers=names, unit=unit, scope=scope, embedder=embedder,  # type: ignore[arg-type]
                dimension=dimension, cache=kept, count_tokens=report is not None, tokens=tokens,
                say=tell,
            )  # fmt: skip
            _measure_sets(run, labelled, place, wanted, every=dimensions, quiet=quiet)
        if costs or not labelled:
            _measure_costs(run, place, quick=quick, large=large, quiet=quiet)
    if report is not None:
        page.write(run, report, drawing.draw(run, plots) if plots else ())
    elif plots:
        drawing.draw(run, plots)
    if as_json:
        show_json(run, indent=2)
        return
    for line in _lines(run):
        show(line)


def _check(
    unit: str, scope: str, sets: list[Path] | None, *, dimensions: bool, words: bool
) -> None:
    if unit and unit not in _UNITS:
        raise UsageError(f"--unit {unit}: no unit", hint=f"there are {', '.join(_UNITS)}")
    if scope not in ("all", "own"):
        raise UsageError(f"--scope {scope}: no scope", hint="there are all, and own")
    if dimensions and (words or not sets):
        raise UsageError("--dimensions: needs sets, and a model")


def _command(sets: Sequence[Path], options: dict[str, object]) -> str:
    """Return the command in full, without the folders above those it names."""
    parts = ["know bench recall", *(place.name for place in sets)]
    for name, value in options.items():
        for one in value if isinstance(value, list) else [value]:
            if one and one != _USUAL.get(name):
                told = one.name if isinstance(one, Path) else one
                parts.append(f"--{name}" if one is True else f"--{name} {told}")
    return " ".join(parts)


def _loaded(place: Place) -> tuple[Embedder | None, Any]:
    if place.model is None:
        return None, None
    from knowrepo.bench.counting import tokens_of
    from knowrepo.index.embed import open_embedder

    return open_embedder(place.model), tokens_of(place.model)


def _measure_sets(
    run: dict[str, Any],
    labelled: Sequence[LabelledSet],
    place: Place,
    wanted: Wanted,
    *,
    every: bool,
    quiet: bool,
) -> None:
    from dataclasses import replace

    from knowrepo.bench.cut import trained
    from knowrepo.bench.recalling import measure

    dimensions: tuple[int, ...] = (wanted.dimension,)
    if every and place.model is not None:
        dimensions = trained(place.model)
    for one in labelled:
        for number, dimension in enumerate(dimensions):
            if not quiet:
                say(f"measuring: {one.name}" + (f", {dimension} dimensions" if dimension else ""))
            with progress(one.name, quiet=quiet) as told:
                found = measure(
                    one, place.folder, replace(wanted, dimension=dimension, progress=told)
                )
            if not number:
                run["sets"].append(found)
            if every:
                run["dimensions"].append(found)


def _measure_costs(
    run: dict[str, Any], place: Place, *, quick: bool, large: bool, quiet: bool
) -> None:
    from dataclasses import replace

    from knowrepo.bench import costs, warm
    from knowrepo.bench.sizes import FULL, LARGE_RECALL, QUICK

    sizes = QUICK if quick else FULL
    if large:
        sizes = replace(sizes, recall=(*FULL.recall, *LARGE_RECALL))
    for row in costs.measure(place, sizes):
        if not quiet:
            say(f"measured: {row['sessions']:,} sessions")
        run["costs"].append(row)
    run["measured"] += [one.facts() for one in warm.measure(place, sizes)]


def _lines(run: dict[str, Any]) -> Iterator[str]:
    yield ", ".join(f"{name} {value}" for name, value in run["machine"].items())
    for one in run["dimensions"] or run["sets"]:
        yield ""
        of = f", {one['dimension']} dimensions" if run["dimensions"] else ""
        yield f"{one['set']}: {one['questions']:,} questions, {one['chunks']:,} chunks{of}"
        yield from _of_layers(one)
        yield from _of_kinds(one)
        for name, value in one.get("confidence", {}).items():
            yield f"  {name.replace('_', ' ')}: {value:.3f}"
        for row in one.get("structured", ()):
            yield (
                f"  structured, {row['kind']}: answered {row['answered']} of {row['questions']},"
                f" right {row['right']}"
            )
    for row in run["costs"]:
        yield ""
        yield f"{row['sessions']:,} sessions, {row['chunks']:,} chunks, milliseconds:"
        for name in ("warm", "cold"):
            cells = row[f"{name}_milliseconds"].items()
            yield f"  {name}: " + ", ".join(f"{layer} {value:,.4g}" for layer, value in cells)
    for one in run["measured"]:
        met = {True: "met", False: "MISSED"}[one["met"]]
        yield ""
        yield f"{one['name']}: {one['figure']:.3g} {one['unit']}  ({one['target']}: {met})"


def _of_layers(one: dict[str, Any]) -> Iterator[str]:
    """Yield a line for each layer, and the hybrid's and the baseline's for each kind."""
    for layer, kinds in one["layers"].items():
        for kind in kinds:
            if kind["kind"] == "all" or layer in ("fts5", "hybrid"):
                cells = [f"{told} {100 * kind[name]:5.1f}" for name, told in _FIGURES.items()]
                if kind["record_5"] is not None:
                    cells.append(f"record@5 {100 * kind['record_5']:5.1f}")
                if kind["group_1"] is not None:
                    cells.append(f"group@1 {100 * kind['group_1']:5.1f}")
                    cells.append(f"group@5 {100 * kind['group_5']:5.1f}")
                yield f"  {layer:10} {kind['kind']:24} {'  '.join(cells)}"


def _of_kinds(one: dict[str, Any]) -> Iterator[str]:
    for kind in one.get("hybrid_against_fts5", ()):
        bounds = ", ".join(f"{name} {100 * value:+.1f}" for name, value in kind["bounds"].items())
        counted = ", ".join(
            f"{name} -{lost} +{kind['won'][name]}" for name, lost in kind["lost"].items()
        )
        yield f"  hybrid - fts5, {kind['kind']}: lower bounds {bounds}; lost and won {counted}"
