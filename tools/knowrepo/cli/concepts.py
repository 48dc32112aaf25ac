"""``know check``, ``know tags`` and the hooks for pre-commit."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from knowrepo.cli.common import JsonOption, RepoOption, repository, say, show, show_json
from knowrepo.units import count

if TYPE_CHECKING:
    from knowrepo.concepts.bundle import Generated
    from knowrepo.concepts.validate import Finding
    from knowrepo.git.layout import Repository

tags = typer.Typer(no_args_is_help=True, help="The tag index and what is generated beside it.")
hook = typer.Typer(no_args_is_help=True, help="Entries for pre-commit.")


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
    repo: RepoOption = None,
) -> None:
    """Check the concepts against OKF v0.2.

    Errors make the bundle non-conformant; warnings and notices are advice. Each
    finding has a place and a stable code. Exits with 1 where there is an error.

    \b
    Examples:
      know check
      know check concepts/drafts/idea.md
      know check --strict --json
    """
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
            _mention_drafts(here)
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


def _mention_drafts(repo: Repository) -> None:
    """Say which concepts are looked at by nobody yet: the first trap for a newcomer."""
    from knowrepo.concepts import bundle

    found = bundle.drafts(repo)
    if found:
        more = f" and {len(found) - 1} more" if len(found) > 1 else ""
        say(f"note: not tracked by git, so left out: {found[0]}{more}; `git add` makes it count")


def _print_json(found: list[Finding], *, conformant: bool) -> None:
    shown = [{**vars(finding), "severity": finding.severity} for finding in found]
    show_json({"version": 1, "conformant": conformant, "findings": shown})


@tags.command("build")
def tags_build(repo: RepoOption = None) -> None:
    """Write concepts/index.md and concepts/tag_index.jsonl from the tracked concepts."""
    from knowrepo.concepts import bundle

    here = repository(repo)
    for file in bundle.write_generated(here):
        if file.foreign:
            say(f"{file.path}: written by hand, left alone")
        else:
            show(f"{file.path}: {'written' if file.stale else 'up to date'}")
            if file.stale or file.untracked:
                say(f"add it to the next commit: git add {file.path}")
    _mention_drafts(here)


@tags.command("check")
def tags_check(repo: RepoOption = None) -> None:
    """Say whether the generated files are up to date and tracked; writes nothing."""
    from knowrepo.concepts import bundle

    wrong = [file for file in bundle.generated_files(repository(repo)) if _is_wrong(file)]
    for file in wrong:
        show(f"{file.path}: {'stale' if file.stale else 'not tracked'}")
    if wrong:
        say(f"run: know tags build && git add {' '.join(file.path for file in wrong)}")
        raise typer.Exit(1)


@tags.command("list")
def tags_list(repo: RepoOption = None, as_json: JsonOption = False) -> None:
    """List the tags with how many concepts carry each."""
    from collections import Counter

    from knowrepo.concepts import bundle

    counts: Counter[str] = Counter(
        tag for concept in bundle.read_concepts(repository(repo)) for tag in concept.tags
    )
    if as_json:
        show_json(dict(sorted(counts.items())))
        return
    for tag, number in sorted(counts.items(), key=lambda item: (-item[1], item[0])):
        show(f"{number:5d}  {tag}")


@hook.command("tags")
def hook_tags(repo: RepoOption = None) -> None:
    """Rebuild the generated files; fail where the commit lacks them (for pre-commit)."""
    from knowrepo.concepts import bundle

    wrong = [file for file in bundle.write_generated(repository(repo)) if _is_wrong(file)]
    if wrong:
        names = " ".join(file.path for file in wrong)
        say(f"rebuilt, now add it to the commit: git add {names}")
        raise typer.Exit(1)


def _is_wrong(file: Generated) -> bool:
    return not file.foreign and (file.stale or file.untracked)
