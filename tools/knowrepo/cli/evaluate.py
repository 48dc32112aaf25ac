"""``know eval``."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from knowrepo.cli.common import (
    JsonOption,
    QuietOption,
    RepoOption,
    progress,
    repository,
    say,
    show,
    show_json,
)
from knowrepo.errors import KnowError, UsageError
from knowrepo.units import shorten

if TYPE_CHECKING:
    from collections.abc import Sequence

    from knowrepo.evaluate.run import Evaluated, Figures, Outcome
    from knowrepo.git.layout import Repository

JSON_VERSION = 1


def evaluate(
    cases: Annotated[
        Path | None,
        typer.Argument(metavar="CASES", help="A file of cases; by default `eval.toml`."),
    ] = None,
    lexical: Annotated[
        bool, typer.Option("--lexical", help="By words only, as where there is no model.")
    ] = False,
    add: Annotated[
        str | None, typer.Option("--add", metavar="QUERY", help="Record a case for this query.")
    ] = None,
    expect: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME", help="With --add: what must be found; may be repeated."),
    ] = None,
    none: Annotated[
        bool, typer.Option("--none", help="With --add: nothing answers this query.")
    ] = False,
    kind: Annotated[
        str, typer.Option(metavar="KIND", help="With --add: a word to sum figures up by.")
    ] = "",
    limit: Annotated[
        int,
        typer.Option(
            "-k",
            "--limit",
            metavar="N",
            show_default=False,
            help="With --add: among how many hits; by default 5.",
        ),
    ] = 0,
    as_json: JsonOption = False,
    quiet: QuietOption = False,
    repo: RepoOption = None,
) -> None:
    """Ask the questions that this repository must be able to answer.

    A case is a query, and the concept or session that must be among its first
    hits. Prints a line for each case that fails, and figures by kind. Exits with
    1 where a case fails, and with 2 where the file cannot be understood.

    --add records a case; without --expect you choose from what is found.

    \b
    Examples:
      know eval
      know eval --lexical cases/questions.toml
      know eval --add "why two stores" --expect decisions/two-stores
      know eval --add "who waters the plants" --none
    """
    here = repository(repo)
    path = _file(here, cases)
    if add is not None:
        from knowrepo.cli.recording import record

        outcome = record(
            here, path, _shown(path), add, expect or [],
            none=none, kind=kind, k=limit, words_only=lexical,
        )  # fmt: skip
        _tell_recorded(outcome, _shown(path), as_json=as_json)
        return
    if expect or none or kind or limit:
        raise UsageError("--expect, --none, --kind and -k say what --add records")
    found = _evaluated(here, path, words_only=lexical, quiet=quiet or as_json)
    if as_json:
        _print_json(found, _shown(path), words_only=lexical)
    else:
        _print(found, _shown(path))
    if not quiet:
        _remark(found, words_only=lexical)
    if not all(outcome.passed for outcome in found.outcomes):
        raise typer.Exit(1)


def _file(here: Repository, given: Path | None) -> Path:
    """Return the file of cases; one that nobody named must be the repository's own."""
    from knowrepo.evaluate.cases import FILE

    return here.inside(here.root / FILE) if given is None else given.absolute()


def _shown(path: Path) -> str:
    """Return the path as it is said: from here, where it lies below."""
    folder = Path.cwd()
    return os.path.relpath(path, folder) if path.is_relative_to(folder) else str(path)


def _evaluated(here: Repository, path: Path, *, words_only: bool, quiet: bool) -> Evaluated:
    from knowrepo.evaluate.cases import parse, read_bytes
    from knowrepo.evaluate.run import evaluate as ask_all

    hint = 'record one: know eval --add "a question" --expect decisions/its-answer'
    try:
        cases = parse(read_bytes(path, _shown(path)), _shown(path))
    except FileNotFoundError as error:
        raise KnowError(f"{_shown(path)}: no such file of cases", hint=hint) from error
    if not cases:
        raise KnowError(f"{_shown(path)}: holds no case", hint=hint)
    with progress("asking", quiet=quiet) as tell:
        return ask_all(here, cases, words_only=words_only, progress=tell)


# -- printing ---------------------------------------------------------------------


def _print(found: Evaluated, shown: str) -> None:
    from knowrepo.cli.rows import as_table
    from knowrepo.evaluate.run import figures

    failing = [outcome for outcome in found.outcomes if not outcome.passed]
    for outcome in failing:
        show(_line(outcome, shown))
    if failing:
        show("")
    rows = [_row(sums) for sums in figures(found.outcomes)]
    for line in as_table(("kind", "cases", "passed", "hit@1", "hit@k", "MRR"), rows):
        show(line)


def _line(outcome: Outcome, shown: str) -> str:
    """Return what failed, where, and why, as compilers say it."""
    return f"{shown}:{outcome.case.line}: `{shorten(outcome.case.query, 60)}`: {outcome.problem}"


def _row(sums: Figures) -> Sequence[object]:
    shares = (sums.hit_at_1, sums.hit_at_k, sums.mrr)
    told = ("-" if share is None else f"{share:.3f}" for share in shares)
    return [sums.kind or "-", sums.cases, sums.passed, *told]


def _remark(found: Evaluated, *, words_only: bool) -> None:
    if words_only:
        say("note: by words only, as --lexical says")
    for note in found.notes:
        say(f"note: {note}")
    passed = sum(outcome.passed for outcome in found.outcomes)
    say(f"{passed:,} of {len(found.outcomes):,} cases pass")


def _print_json(found: Evaluated, shown: str, *, words_only: bool) -> None:
    from knowrepo.evaluate.run import figures

    *kinds, total = map(_fields, figures(found.outcomes))
    show_json(
        {
            "version": JSON_VERSION,
            "file": shown,
            "lexical": words_only,
            "notes": found.notes,
            "cases": [_case_fields(outcome) for outcome in found.outcomes],
            "kinds": kinds,
            "all": {key: value for key, value in total.items() if key != "kind"},
        },
        indent=2,
    )


def _fields(sums: Figures) -> dict[str, object]:
    return {key: round(v, 4) if isinstance(v, float) else v for key, v in vars(sums).items()}


def _case_fields(outcome: Outcome) -> dict[str, object]:
    case, first = outcome.case, outcome.first
    return {
        "line": case.line,
        "query": case.query,
        "kind": case.kind,
        "expect": list(case.expect),
        "k": case.k,
        "passed": outcome.passed,
        "rank": outcome.rank,
        "route": outcome.route,
        "first": first.path if first else None,
        "problem": outcome.problem,
    }


def _tell_recorded(outcome: Outcome, shown: str, *, as_json: bool) -> None:
    if as_json:
        show_json({"version": JSON_VERSION, "file": shown, **_case_fields(outcome)})
        return
    show(f"{shown}:{outcome.case.line}")
    at = f", at {outcome.rank}" if outcome.rank else ""
    say(f"it passes now{at}" if outcome.passed else f"note: it fails now: {outcome.problem}")
