"""``know ci``: what a workflow runs on a pull request, and what it tells there."""

from __future__ import annotations

import contextlib
import io
import os
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, NamedTuple

import typer

from knowrepo.cli.common import RepoOption, repository, say, show

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from knowrepo.evaluate.cases import Case
    from knowrepo.evaluate.run import Evaluated
    from knowrepo.git.layout import Repository

_STALE = ("notice", "error")


class _Told(NamedTuple):
    """What a part found: commands for the host, Markdown for the summary, the verdict."""

    annotations: Sequence[str]
    summary: Iterable[str]
    failed: bool = False


class _Asked(NamedTuple):
    """How the parts are to look."""

    base: str
    strict: bool
    stale: str
    lexical: bool


def ci(
    parts: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="PART", help="check, tags, scan, changes, eval; by default all, in this order."
        ),
    ] = None,
    base: Annotated[
        str,
        typer.Option(
            "--base", metavar="REV", help="What to compare with; else what the workflow says."
        ),
    ] = "",
    summary: Annotated[
        Path | None,
        typer.Option("--summary", metavar="FILE", help="Append the summary there, as Markdown."),
    ] = None,
    strict: Annotated[bool, typer.Option("--strict", help="Fail on warnings too.")] = False,
    stale: Annotated[
        str,
        typer.Option(
            "--stale", metavar="LEVEL", help="What a stale generated file is: notice or error."
        ),
    ] = "",
    lexical: Annotated[
        bool, typer.Option("--lexical", help="Ask the questions by words only.")
    ] = False,
    repo: RepoOption = None,
) -> None:
    """Check what a pull request must hold, for a workflow of a code host.

    Prints annotations for the lines at fault, and writes a summary to --summary,
    else to $GITHUB_STEP_SUMMARY, else to standard output. Changes nothing, runs
    all parts, and exits with 1 where one fails. On a pull request a stale
    generated file is a notice: the default branch's workflow rebuilds it.

    \b
    Examples:
      know ci
      know ci changes eval --base origin/main --summary changes.md
      know ci tags --stale error
    """
    from knowrepo.ci.base import base_of
    from knowrepo.errors import UsageError

    chosen = parts or list(_PARTS)
    for name in chosen:
        if name not in _PARTS:
            raise UsageError(f"{name}: no part of it", hint=f"parts are {', '.join(_PARTS)}")
    on_request = os.environ.get("GITHUB_EVENT_NAME", "").startswith("pull_request")
    stale = stale or ("notice" if on_request else "error")
    if stale not in _STALE:
        raise UsageError(f"--stale {stale}: not one of {', '.join(_STALE)}")
    here = repository(repo)
    asked = _Asked(base_of(here, base, os.environ), strict, stale, lexical)
    to = summary or Path(os.environ.get("GITHUB_STEP_SUMMARY", ""))
    failed = [name for name in chosen if _run(name, here, asked, to)]
    if failed:
        say(f"failed: {', '.join(failed)}")
        raise typer.Exit(1)


def _run(name: str, here: Repository, asked: _Asked, to: Path) -> bool:
    """Run a part and tell of it; says whether it failed. What it cannot do is told as well."""
    from knowrepo.ci.summary import as_text
    from knowrepo.concepts.checking.report import workflow_command
    from knowrepo.errors import KnowError

    try:
        told = _PARTS[name](here, asked)
    except KnowError as error:
        said = [f"### know ci {name}", "", f"**Failed**: {as_text(error.message)}"]
        told = _Told([workflow_command("error", error.message)], said, failed=True)
    for line in told.annotations:
        show(line)
    lines = "\n".join([*told.summary, ""])
    if to.name:
        with to.open("a", encoding="utf-8") as stream:
            stream.write(f"{lines}\n")
    else:
        show(lines)
    return told.failed


def _check(here: Repository, asked: _Asked) -> _Told:
    from knowrepo.ci import summary
    from knowrepo.cli.check import of_repository, prefix_of
    from knowrepo.concepts.checking import report
    from knowrepo.concepts.checking.validate import is_conformant

    found, _, files = of_repository(here, [], strict_spec=False, mending=False)
    grave = {"error", "warning"} if asked.strict else {"error"}
    return _Told(
        list(report.github(found, prefix=prefix_of(here))),
        summary.of_findings(found, files=files, conformant=is_conformant(found)),
        failed=any(finding.severity in grave for finding in found),
    )


def _tags(here: Repository, asked: _Asked) -> _Told:
    from knowrepo.ci import summary
    from knowrepo.cli.check import prefix_of
    from knowrepo.concepts import bundle
    from knowrepo.concepts.checking.report import workflow_command

    wrong = [
        (file.path, "superfluous" if file.gone else "stale" if file.stale else "not tracked")
        for file in bundle.generated_files(here)
        if file.is_wrong
    ]
    prefix = prefix_of(here)
    annotations = [
        workflow_command(
            asked.stale, f"{how}; rebuilt by: know tags build", file=prefix + path, line="1"
        )
        for path, how in wrong
    ]
    return _Told(annotations, summary.of_generated(wrong), bool(wrong) and asked.stale == "error")


def _scan(here: Repository, _: _Asked) -> _Told:
    from knowrepo.ci import summary
    from knowrepo.cli.check import prefix_of
    from knowrepo.concepts.checking.report import workflow_command
    from knowrepo.sessions import scan

    prefix = prefix_of(here)
    found = [one for some in scan.scan(here, scan.files(here, [])) for one in some]
    annotations = [
        workflow_command(
            "error", f"a secret: {one.kind}; revoke it, then take it out: `know scan --fix`",
            file=prefix + one.path, line=str(one.line),
        )
        for one in found
    ]  # fmt: skip
    places = [(one.path, one.line, one.kind) for one in found]
    return _Told(annotations, summary.of_secrets(places), failed=bool(found))


def _changes(here: Repository, asked: _Asked) -> _Told:
    from knowrepo.ci import changes, summary

    found = changes.changes(here, asked.base) if asked.base else None
    return _Told([], summary.of_changes(found))


def _eval(here: Repository, asked: _Asked) -> _Told:
    from knowrepo.ci import recalls, summary
    from knowrepo.cli.check import prefix_of
    from knowrepo.concepts.checking.report import workflow_command
    from knowrepo.evaluate.cases import FILE
    from knowrepo.evaluate.run import evaluate

    cases = _cases(here)
    now = evaluate(here, cases, words_only=asked.lexical)
    notes = list(now.notes)
    before, dropped = _before(here, asked, cases, notes)
    turned = None if before is None else recalls.compare(before.outcomes, now.outcomes)
    lost = {one.case.line for one in turned or () if one.turn == "no longer found"}
    place = prefix_of(here) + FILE
    annotations = [
        workflow_command(
            "error", f"{one.case.query}: {one.problem}", file=place, line=str(one.case.line),
            title="no longer found" if one.case.line in lost else "not found",
        )
        for one in now.outcomes
        if not one.passed
    ]  # fmt: skip
    annotations += [
        workflow_command("warning", case.query, file=place, title="no longer asked")
        for case in dropped
    ]
    return _Told(
        annotations,
        summary.of_recalls(now.outcomes, turned, dropped, notes),
        failed=not all(outcome.passed for outcome in now.outcomes),
    )


def _cases(here: Repository) -> list[Case]:
    """Return the repository's own cases; none where it asks nothing."""
    from knowrepo.evaluate.cases import FILE, parse, read_bytes

    path = here.inside(here.root / FILE)
    return parse(read_bytes(path, FILE), FILE) if path.is_file() else []


def _before(
    here: Repository, asked: _Asked, cases: list[Case], notes: list[str]
) -> tuple[Evaluated | None, list[Case]]:
    """Ask the same of the base; returns too what was asked there and is no more."""
    from knowrepo.ci import recalls
    from knowrepo.ci.base import checked_out
    from knowrepo.cli.embedding import embed
    from knowrepo.errors import KnowError
    from knowrepo.evaluate.run import bring_up, evaluate

    if not asked.base:
        notes.append("there is no base to compare with")
        return None, []
    try:
        with checked_out(here, asked.base) as base:
            if not asked.lexical:
                bring_up(base)
                with contextlib.redirect_stdout(
                    io.StringIO()
                ):  # it says how many; here nobody asks
                    embed(base, 0, quiet=True)
            dropped = recalls.no_longer_asked(_cases(base), cases)
            return evaluate(base, cases, words_only=asked.lexical), dropped
    except KnowError as error:
        notes.append(f"not compared with the base: {error.message}")
        return None, []


_PARTS: dict[str, Callable[[Repository, _Asked], _Told]] = {
    "check": _check,
    "tags": _tags,
    "scan": _scan,
    "changes": _changes,
    "eval": _eval,
}
