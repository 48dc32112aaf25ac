"""Plots of a run, each as SVG and as PNG.

matplotlib draws them: it is the one library that is well kept and gives both from one
drawing without a browser or a system library. It is imported here alone, and only when plots
are asked for. A run gives the same SVG each time.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from importlib import util
from pathlib import Path
from typing import TYPE_CHECKING, Any

from knowrepo.errors import KnowError

if TYPE_CHECKING:
    from matplotlib.figure import Figure

FIGURES = {"hit_1": "hit@1", "hit_5": "hit@5", "mrr": "MRR"}
_COLOURS = {
    "fts5": "#8c8c8c", "structured": "#e69f00", "lexical": "#56b4e9", "semantic": "#009e73",
    "hybrid": "#0072b2", "scan": "#8c8c8c", "typer": "#8c8c8c",
}  # fmt: skip
_INCHES = 8.0
_WIDE = 0.8  # of the room of a group of bars


def check() -> None:
    """Raise KnowError where there is nothing to draw with."""
    if util.find_spec("matplotlib") is None:
        raise KnowError(
            "matplotlib is not installed, so there are no plots",
            hint="install it: `pip install 'knowrepo[bench]'`",
        )


def draw(run: Mapping[str, Any], folder: Path) -> list[Path]:
    """Draw what a run has; returns the SVG files, each of which has a PNG beside it."""
    check()
    import matplotlib

    matplotlib.rcParams["svg.hashsalt"] = "knowrepo"
    matplotlib.rcParams["font.size"] = 9
    drawn: dict[str, Figure] = {}
    if run["sets"]:
        drawn["quality"] = _quality(run["sets"])
    if run["costs"]:
        drawn["cost"] = _costs(run["costs"])
    if len({one["dimension"] for one in run["dimensions"]}) > 1:
        drawn["dimensions"] = _dimensions(run["dimensions"])
    paths = []
    for name, figure in drawn.items():
        paths.append(_save(figure, folder, name))
    return paths


def _save(figure: Figure, folder: Path, name: str) -> Path:
    path = folder / f"{name}.svg"
    try:
        folder.mkdir(parents=True, exist_ok=True)
        figure.savefig(path, metadata={"Date": None})
        figure.savefig(path.with_suffix(".png"), dpi=150, metadata={"Software": None})
    except OSError as error:
        raise KnowError(f"{path}: cannot be written: {error.strerror}") from error
    return path


def _new(
    height: float, columns: int, rows: int = 1, *, share_y: bool = False
) -> tuple[Figure, Any]:
    from matplotlib.figure import Figure

    figure = Figure(figsize=(_INCHES, height), layout="constrained")
    return figure, figure.subplots(rows, columns, squeeze=False, sharey=share_y)


def _quality(sets: Sequence[Mapping[str, Any]]) -> Figure:
    """Draw a panel a set: bars of each layer for each figure."""
    columns = min(2, len(sets))
    rows = -(-len(sets) // columns)
    figure, grid = _new(2.3 * rows, columns, rows, share_y=True)
    panels = list(grid.flat)
    for panel in panels[len(sets) :]:
        panel.set_axis_off()
    for panel, one in zip(panels, sets, strict=False):
        layers = [name for name, kinds in one["layers"].items() if kinds]
        width = _WIDE / max(1, len(layers))
        for place, layer in enumerate(layers):
            values = [one["layers"][layer][0][figure_name] for figure_name in FIGURES]
            at = [group + place * width - (_WIDE - width) / 2 for group in range(len(FIGURES))]
            panel.bar(at, values, width, label=layer, color=_COLOURS[layer])
        panel.set_xticks(range(len(FIGURES)), list(FIGURES.values()))
        panel.set_ylim(0, 1)
        panel.set_title(f"{one['set']}, by {one['unit']}", fontsize=9)
    _legend(figure, panels[0])
    return figure


def _costs(costs: Sequence[Mapping[str, Any]]) -> Figure:
    """Draw milliseconds over sessions, warm and cold, both axes logarithmic."""
    figure, grid = _new(3.4, 2, share_y=True)
    sessions = [one["sessions"] for one in costs]
    titles = {
        "warm_cpu_milliseconds": "warm", "cold_cpu_milliseconds": "a process of its own",
    }  # fmt: skip
    for panel, (key, title) in zip(grid.flat, titles.items(), strict=True):
        for layer in costs[0][key]:
            values = [one[key][layer] for one in costs]
            style = "--" if layer in ("scan", "typer") else "-"
            panel.plot(sessions, values, style, marker="o", label=layer, color=_COLOURS[layer])
        panel.set_xscale("log")
        panel.set_yscale("log")
        panel.set_xticks(sessions, [f"{number:,}" for number in sessions])
        panel.minorticks_off()
        panel.set_xlabel("sessions, and as many concepts")
        panel.set_title(title, fontsize=9)
        panel.legend(fontsize=8)
    grid.flat[0].set_ylabel("milliseconds of processor time")
    return figure


def _dimensions(runs: Sequence[Mapping[str, Any]]) -> Figure:
    """Draw the hybrid's hit@5 and MRR of each set over the dimensions of the vectors."""
    names = list(dict.fromkeys(one["set"] for one in runs))
    figure, grid = _new(3.0, 2, share_y=True)
    for panel, key in zip(grid.flat, ("hit_5", "mrr"), strict=True):
        for name in names:
            own = sorted((one for one in runs if one["set"] == name), key=_dimension)
            panel.plot(
                [_dimension(one) for one in own],
                [one["layers"]["hybrid"][0][key] for one in own], marker="o", label=name,
            )  # fmt: skip
        panel.set_xscale("log", base=2)
        panel.set_xlabel("dimensions")
        panel.set_title(FIGURES[key], fontsize=9)
    grid.flat[0].legend(fontsize=8)
    return figure


def _dimension(one: Mapping[str, Any]) -> int:
    return int(one["dimension"])


def _legend(figure: Figure, panel: Any) -> None:
    handles, labels = panel.get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=len(labels), fontsize=8)
