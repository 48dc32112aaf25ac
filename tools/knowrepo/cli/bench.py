"""``know bench``: what the tool costs on this machine."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from knowrepo.cli.bench_recall import recall
from knowrepo.cli.bench_tokens import tokens
from knowrepo.cli.common import JsonOption, QuietOption, say, show, show_json

if TYPE_CHECKING:
    from collections.abc import Iterable

    from knowrepo.bench.measured import Measured

app = typer.Typer(no_args_is_help=True, help="Measure what this costs on this machine.")


@app.callback()
def _group() -> None:
    """Measure what this costs on this machine."""


@app.command("index")
def index(
    only: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME", help="Only this measurement; may be repeated."),
    ] = None,
    quick: Annotated[bool, typer.Option("--quick", help="Less of everything: minutes.")] = False,
    large: Annotated[
        bool, typer.Option("--large", help="Search a million vectors too: 6 GB of memory.")
    ] = False,
    sessions: Annotated[
        int, typer.Option(metavar="N", min=0, help="Sessions of the corpus; 0 for 1,600.")
    ] = 0,
    model: Annotated[
        str, typer.Option(metavar="NAME", help="A model of the registry, or a file.")
    ] = "",
    as_json: JsonOption = False,
    quiet: QuietOption = False,
) -> None:
    """Measure the index: embedding, catalog, search, memory, readers.

    It works in a folder of its own, on generated sessions, and touches nothing of
    yours; only the model is read from where it lies. Figures are medians of runs
    that took turns with what they are compared with. It takes a while: minutes
    with --quick, many without.

    The measurements: embedding, appending, cataloging, idle, searching, reading,
    structured, memory.

    \b
    Examples:
      know bench index --quick
      know bench index --only searching --large
      know bench index --json > figures.json
    """
    from dataclasses import replace

    from knowrepo.bench import run
    from knowrepo.bench.sizes import FULL, QUICK

    sizes = QUICK if quick else FULL
    if sessions:
        sizes = replace(sizes, sessions=sessions)
    tell = (lambda _: None) if quiet else say
    _tell(run.measure(sizes, only=only or (), model=model, large=large, say=tell), as_json=as_json)


@app.command("hooks")
def hooks(
    quick: Annotated[bool, typer.Option("--quick", help="Less of everything: seconds.")] = False,
    concepts: Annotated[
        int, typer.Option(metavar="N", min=0, help="Concepts of the repository; 0 for 5,000.")
    ] = 0,
    sessions: Annotated[
        int, typer.Option(metavar="N", min=0, help="Sessions of the repository; 0 for 1,600.")
    ] = 0,
    as_json: JsonOption = False,
    quiet: QuietOption = False,
) -> None:
    """Measure what a commit waits for: the hook know-commit.

    It makes a repository in a folder of its own, and stages twenty concepts, one,
    code alone, and a session of 5 MB. Each time `know hook pre-commit` is run and,
    where pre-commit is installed, `pre-commit run` with it and with a hook that
    does nothing, in turns. A minute or two.

    \b
    Examples:
      know bench hooks --quick
      know bench hooks --concepts 20000
      know bench hooks --json > figures.json
    """
    from dataclasses import replace

    from knowrepo.bench.hooks import FULL, QUICK, measure

    amounts = QUICK if quick else FULL
    if concepts:
        amounts = replace(amounts, concepts=concepts)
    if sessions:
        amounts = replace(amounts, sessions=sessions)
    _tell(measure(amounts, (lambda _: None) if quiet else say), as_json=as_json)


app.command("recall")(recall)
app.command("tokens")(tokens)


def _tell(found: Iterable[Measured], *, as_json: bool) -> None:
    """Show figures, each as soon as it is there."""
    from knowrepo.bench.measured import JSON_VERSION, machine

    about = machine()
    if as_json:
        figures = [one.facts() for one in found]
        show_json({"version": JSON_VERSION, "machine": about, "measured": figures}, indent=2)
        return
    for number, one in enumerate(found):
        if not number:  # only now is it known that all that was asked for is there
            show(", ".join(f"{name} {value}" for name, value in about.items()))
        show("")
        for line in _lines(one):
            show(line)


def _lines(one: Measured) -> list[str]:
    """Return a figure in words: what, how much, against what, and how it came about."""
    verdict = {True: "met", False: "MISSED", None: ""}[one.met]
    target = f"  ({one.target}: {verdict})" if one.target else ""
    told = [f"{one.name}: {_number(one.figure)} {one.unit}{target}", f"  {one.how}"]
    for name, value in one.details.items():
        if isinstance(value, list):
            for row in value:
                cells = row.items() if isinstance(row, dict) else [(name, row)]
                told.append("  " + ", ".join(f"{n} {_number(v)}" for n, v in cells))
        elif value != "":
            told.append(f"  {name.replace('_', ' ')}: {_number(value)}")
    return told


def _number(value: object) -> str:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return str(value)
    if isinstance(value, int) or abs(value) >= 1000 or value == int(value):
        return f"{value:,.0f}"
    return f"{value:,.4g}"
