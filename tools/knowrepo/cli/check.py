"""``know check``: the concepts against OKF, and the archive against what merges leave behind."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from knowrepo.cli import fixing
from knowrepo.cli.common import JsonOption, RepoOption, repository, say, show, show_json
from knowrepo.cli.tags import mention_drafts
from knowrepo.units import count

if TYPE_CHECKING:
    from knowrepo.concepts.validate import Finding
    from knowrepo.git.layout import Repository


def check(
    paths: Annotated[
        list[Path] | None,
        typer.Argument(
            metavar="PATH",
            help="Concepts to check, tracked or not; by default all that git tracks.",
        ),
    ] = None,
    strict: Annotated[bool, typer.Option("--strict", help="Fail on warnings too.")] = False,
    as_json: JsonOption = False,
    fix: Annotated[bool, typer.Option("--fix", help="Mend what has one right answer.")] = False,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="With --fix: show the changes as a diff, write none.")
    ] = False,
    repo: RepoOption = None,
) -> None:
    """Check the concepts against OKF v0.2.

    Errors make the bundle non-conformant; warnings and notices are advice. Each
    finding has a place and a stable code. Exits with 1 where there is an error.

    \b
    Examples:
      know check
      know check concepts/drafts/idea.md
      know check --fix --dry-run
      know check --strict --json
    """
    if fix or dry_run:
        fixing.before_check(repo, paths or [], fix=fix, dry_run=dry_run, quiet=as_json)
    here = repository(repo)
    found = _findings(here, paths or [])
    errors = [finding for finding in found if finding.severity == "error"]
    warnings = [finding for finding in found if finding.severity == "warning"]
    if as_json:
        _print_json(found, conformant=not errors)
    else:
        for finding in found:
            show(
                f"{finding.path}:{finding.line}:{finding.column}:"
                f" {finding.severity} {finding.code} {finding.message}"
            )
        verdict = "conformant" if not errors else "not conformant"
        say(f"{verdict}: {count(len(errors), 'error')}, {count(len(warnings), 'warning')}")
        if not paths:
            mention_drafts(here)
    if errors or (strict and warnings):
        raise typer.Exit(1)


def _findings(repo: Repository, paths: list[Path]) -> list[Finding]:
    from knowrepo.concepts import bundle, validate
    from knowrepo.concepts.model import FOLDER
    from knowrepo.config import REPOSITORY_FILE, load_repository_config
    from knowrepo.errors import KnowError
    from knowrepo.git import plumbing

    files = bundle.read_tracked(repo)
    if paths:
        files = {}
        for path in paths:
            full = path.resolve()
            if not full.is_relative_to(repo.root):
                raise KnowError(f"{path}: not in the repository {repo.root}")
            if not full.is_file():
                raise KnowError(f"{path}: no such file")
            files[full.relative_to(repo.root).as_posix()] = full.read_bytes()
    found = validate.check(files, lambda path: (repo.root / path).exists())
    config = load_repository_config(repo.root)
    found += [
        validate.Finding(REPOSITORY_FILE, 1, 1, "KNOW301", f"`{key}` means nothing here")
        for key in config.unknown
    ]
    found += [
        validate.Finding(REPOSITORY_FILE, line, 1, "KNOW303", f"{entry[:15]}… is left as it is")
        for entry, line in _lines_of(repo.root / REPOSITORY_FILE, config.redact.allow)
    ]
    if not paths:
        found += [
            validate.Finding(path, 1, 1, code, message)
            for code, message, listed in (
                ("KNOW302", "in conflict; resolve it and `git add` it", plumbing.unmerged),
                ("OKF208", "the name is not UTF-8; rename the file", plumbing.undecodable),
            )
            for path in listed(repo, FOLDER)
        ]
        found += _of_sessions(repo)
    return sorted(found)


def _of_sessions(repo: Repository) -> Iterator[Finding]:
    """Yield what is wrong with the archive, and which command mends it."""
    from knowrepo.concepts.validate import Finding
    from knowrepo.sessions import conflicts
    from knowrepo.sessions.forget import is_forgotten
    from knowrepo.sessions.listing import find

    undecided = conflicts.unmerged(repo)
    for name, files in undecided.items():
        how = conflicts.mended_by(repo, name.path(repo.sessions))
        for path in files:
            yield Finding(path, 1, 1, "KNOW302", f"in conflict; {how}; then `git add` it")
    for name, files in conflicts.marked(repo).items():
        how = conflicts.mended_by(repo, name.path(repo.sessions))
        for path in files if name not in undecided else ():
            line = conflicts.marker_line(repo.root / path)
            yield Finding(path, line, 1, "KNOW305", f"a conflict marker; {how}")
    for session in find(repo, forgotten=True):
        whole = is_forgotten(repo, session.place)
        for one in [session] if whole else session.below:
            if whole or is_forgotten(repo, one.place):
                path = one.path.relative_to(repo.root).as_posix()
                again = f"it was forgotten; remove it again: `know forget {one.name} --yes`"
                yield Finding(path, 1, 1, "KNOW304", again)


def _lines_of(path: Path, entries: tuple[str, ...]) -> list[tuple[str, int]]:
    """Return each entry with the line of the file that it stands on."""
    if not entries:
        return []
    lines = path.read_text(encoding="utf-8").splitlines()
    return [
        (entry, next((n for n, line in enumerate(lines, start=1) if entry in line), 1))
        for entry in entries
    ]


def _print_json(found: list[Finding], *, conformant: bool) -> None:
    shown = [{**vars(finding), "severity": finding.severity} for finding in found]
    show_json({"version": 1, "conformant": conformant, "findings": shown})
