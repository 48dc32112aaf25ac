"""``know doctor``."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Annotated

import typer

from knowrepo.cli.common import JsonOption, RepoOption, show, show_json

if TYPE_CHECKING:
    from knowrepo.upkeep.doctor.run import Result

_WIDTH = 80
_INDENT = 21  # columns of the verdict and the name


def doctor(
    fix: Annotated[
        bool, typer.Option("--fix", help="Mend what is safe to mend, and say what was done.")
    ] = False,
    repo: RepoOption = None,
    as_json: JsonOption = False,
) -> None:
    """Check that all that know needs is there and whole, and say what to do.

    Each check has a name, a verdict (ok, warn, fail), what was seen, and a fix.
    It looks at the machine, the repository, hooks, catalog, vectors and model,
    and tries the model in a process of its own. With --fix a damaged catalog is
    built anew, damaged segments are set aside, a missing merge driver is named
    to git, and what killed runs left is removed; nothing that git tracks is
    touched. Exits with 1 where a check fails.

    \b
    Examples:
      know doctor
      know doctor --fix
      know doctor --json
    """
    from knowrepo.upkeep.doctor.run import examine

    results: list[Result] = []
    for result in examine(repo, mend=fix):
        results.append(result)
        if not as_json:
            show(_lines(result))
    counts = Counter(result.verdict for result in results)
    if as_json:
        checks = [vars(result) for result in results]
        told = {verdict: counts[verdict] for verdict in ("ok", "warn", "fail")}
        show_json({"version": 1, "counts": told, "checks": checks})
    else:
        show(f"{len(results)} checks: {counts['fail']} failed, {counts['warn']} to look at")
    if counts["fail"]:
        raise typer.Exit(1)


def _lines(result: Result) -> str:
    lines = _wrapped(result.seen, f"{result.verdict:5} {result.name:14} ")
    if result.fixed:
        lines += _wrapped(f"fixed: {result.fixed}", " " * _INDENT)
    if result.verdict != "ok" and result.fix:
        lines += _wrapped(f"fix: {result.fix}", " " * _INDENT)
    return "\n".join(lines)


def _wrapped(text: str, first: str) -> list[str]:
    """Return a text in lines; a path is not broken, for it is to be copied."""
    import textwrap

    return textwrap.wrap(
        text, _WIDTH, initial_indent=first, subsequent_indent=" " * _INDENT,
        break_long_words=False, break_on_hyphens=False,
    ) or [first.rstrip()]  # fmt: skip
