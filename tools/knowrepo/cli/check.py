"""``know check``: the concepts against OKF, and the archive against what merges leave behind."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from knowrepo.cli import fixing
from knowrepo.cli.common import JsonOption, RepoOption, repository, say, show, show_json
from knowrepo.cli.tags import mention_drafts
from knowrepo.units import count

if TYPE_CHECKING:
    from collections.abc import Collection

    from knowrepo.concepts.checking.findings import Finding
    from knowrepo.git.layout import Repository

_FORMATS = ("text", "json", "sarif", "github")

StrictOption = Annotated[bool, typer.Option("--strict", help="Fail on warnings too.")]
StrictSpecOption = Annotated[
    bool, typer.Option("--strict-spec", help="Hold README.md and its like to rule 1 as well.")
]


def check(
    paths: Annotated[
        list[Path] | None,
        typer.Argument(
            metavar="PATH",
            help="Files and folders to check, tracked or not; by default all concepts in git.",
        ),
    ] = None,
    bundle: Annotated[
        Path | None,
        typer.Option("--bundle", metavar="FOLDER", help="Check this OKF bundle, in git or not."),
    ] = None,
    strict: StrictOption = False,
    strict_spec: StrictSpecOption = False,
    form: Annotated[
        str, typer.Option("--format", metavar="FORMAT", help="text, json, sarif or github.")
    ] = "text",
    as_json: JsonOption = False,
    everything: Annotated[
        bool, typer.Option("--all", help="Show all findings, however many are alike.")
    ] = False,
    explain: Annotated[
        str | None,
        typer.Option(
            "--explain", metavar="CODE", help="Say what a code means, and how to mend it."
        ),
    ] = None,
    fix: Annotated[bool, typer.Option("--fix", help="Mend what has one right answer.")] = False,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="With --fix: show the changes as a diff, write none.")
    ] = False,
    repo: RepoOption = None,
) -> None:
    """Check the concepts against OKF v0.2.

    There are two verdicts. A bundle conforms unless it breaks one of the three
    rules of the spec (OKF1xx); findings beyond that are errors, warnings or
    notices. Each has a place and a stable code. Exits with 1 where the bundle
    does not conform or there is an error, with --strict also on a warning.

    \b
    Examples:
      know check
      know check concepts/drafts
      know check --bundle ~/code/app/docs/okf
      know check --fix --dry-run
      know check --explain OKF103
      know check --strict --format github
    """
    from knowrepo.errors import UsageError

    if explain is not None:
        _explain(explain)
        return
    form = _format(form, as_json=as_json)
    if bundle is not None and (fix or dry_run):
        raise UsageError(
            "--bundle and --fix: choose one", hint="--fix mends concepts of a knowledge repository"
        )
    if fix or dry_run:
        fixing.before_check(repo, paths or [], fix=fix, dry_run=dry_run, quiet=form != "text")
    if bundle is not None:
        found, files, prefix = _of_bundle(bundle, paths or [], strict_spec=strict_spec)
        fixable: set[Finding] = set()
    else:
        here = repository(repo)
        found, fixable, files = of_repository(
            here, paths or [], strict_spec=strict_spec, mending=form == "json"
        )
        prefix = prefix_of(here)
    report(found, files, form=form, prefix=prefix, everything=everything, fixable=fixable)
    if bundle is None and not paths and form == "text":
        mention_drafts(here)
    fail_on(found, strict=strict)


def staged(
    strict: StrictOption = False, strict_spec: StrictSpecOption = False, repo: RepoOption = None
) -> None:
    """Check what the commit in the making changes, and what links to what it removes.

    Says nothing of notices, and nothing at all where there is nothing to mend.
    """
    from knowrepo.cli import own_files
    from knowrepo.concepts.checking.staged import check_staged

    here = repository(repo)
    found, files = check_staged(here, strict_spec=strict_spec)
    found = sorted([*found, *own_files.of_configuration(here), *own_files.of_staged_sessions(here)])
    found = [finding for finding in found if finding.severity != "notice"]
    if found:
        report(found, files, form="text", prefix="", everything=False)
    fail_on(found, strict=strict)


def report(
    found: list[Finding],
    files: int,
    *,
    form: str,
    prefix: str,
    everything: bool,
    fixable: Collection[Finding] = (),
) -> None:
    """Print the findings in a format, and the verdict in one line; JSON says what is fixable."""
    from knowrepo.concepts.checking import report as formats
    from knowrepo.concepts.checking.validate import is_conformant

    if form == "json":
        show_json(formats.as_json(found, files=files, fixable=fixable))
    elif form == "sarif":
        show_json(formats.sarif(found, prefix=prefix))
    elif form == "github":
        for line in formats.github(found, prefix=prefix):
            show(line)
    else:
        lines, left = formats.text(found, everything=everything)
        for line in lines:
            show(line)
        sys.stdout.flush()
        for line in left:
            say(line)
    numbers = ", ".join(
        count(sum(one.severity == name for one in found), name)
        for name in ("error", "warning", "notice")
    )
    verdict = "conformant" if is_conformant(found) else "not conformant"
    say(f"{verdict}: {numbers} in {count(files, 'file')}")


def fail_on(found: list[Finding], *, strict: bool) -> None:
    """Exit with 1 where the findings ask for it."""
    grave = {"error", "warning"} if strict else {"error"}
    if any(finding.severity in grave for finding in found):
        raise typer.Exit(1)


def _format(name: str, *, as_json: bool) -> str:
    from knowrepo.errors import UsageError

    if name not in _FORMATS:
        raise UsageError(f"--format {name}: not one of {', '.join(_FORMATS)}")
    if as_json and name not in {"text", "json"}:
        raise UsageError(f"--json and --format {name}: choose one")
    return "json" if as_json else name


def _explain(name: str) -> None:
    from knowrepo.concepts.checking.codes import CODES, explain, near
    from knowrepo.errors import UsageError

    code = CODES.get(name.strip().upper())
    if code is None:
        others = near(name)
        hint = f"did you mean {', '.join(others)}?" if others else "codes are like OKF103, KNOW301"
        raise UsageError(f"--explain {name}: no such code", hint=hint)
    show(explain(code))


def of_repository(
    repo: Repository, paths: list[Path], *, strict_spec: bool, mending: bool
) -> tuple[list[Finding], set[Finding], int]:
    """Return the findings, those that a fix mends if ``mending``, and how many files there are."""
    from knowrepo.cli import own_files
    from knowrepo.concepts.checking import gather, validate
    from knowrepo.concepts.facts import Facts

    selected = gather.of_paths(repo, paths) if paths else [gather.of_repository(repo)]
    found: list[Finding] = []
    fixable: set[Finding] = set()
    files = 0
    for one in selected:
        files += len(one.files)
        with Facts(repo, "pages") as facts:
            here = validate.check(
                one.files, one.tree, root=one.root, whole_bundle=one.whole,
                strict_spec=strict_spec, facts=facts if one.whole else None,
            )  # fmt: skip
        found += [*one.found, *here]
        if mending:
            from knowrepo.concepts.editing.mendable import mendable

            fixable |= mendable(here, one)
    found += own_files.of_configuration(repo)
    if not paths:
        found += own_files.of_merges(repo)
        found += own_files.of_sessions(repo)
    return sorted(set(found)), fixable, files


def _of_bundle(
    folder: Path, paths: list[Path], *, strict_spec: bool
) -> tuple[list[Finding], int, str]:
    from knowrepo.concepts.checking import gather, validate
    from knowrepo.errors import UsageError

    if paths:
        raise UsageError("--bundle and PATH: choose one", hint="--bundle checks the whole bundle")
    one = gather.of_bundle(folder)
    found = validate.check(one.files, one.tree, root=one.root, strict_spec=strict_spec)
    return sorted({*found, *one.found}), len(one.files), ""


def prefix_of(repo: Repository) -> str:
    """Return what a code host puts before our paths: it counts from the top of the work tree."""
    inside = repo.root.relative_to(repo.work_tree).as_posix()
    return "" if inside == "." else f"{inside}/"
