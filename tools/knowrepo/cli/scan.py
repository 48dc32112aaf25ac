"""``know scan``."""

from __future__ import annotations

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
from knowrepo.units import count

if TYPE_CHECKING:
    from knowrepo.git.layout import Repository
    from knowrepo.sessions.scan import Found


def scan(
    paths: Annotated[
        list[Path] | None,
        typer.Argument(
            metavar="PATH", help="Files or folders; by default all sessions and concepts."
        ),
    ] = None,
    fix: Annotated[bool, typer.Option("--fix", help="Redact archived sessions in place.")] = False,
    as_json: JsonOption = False,
    quiet: QuietOption = False,
    repo: RepoOption = None,
) -> None:
    """Find secrets in what is archived and written already, tracked by git or not.

    Prints `path:line: kind`, and never any part of a secret. Exits with 1 where
    there is a finding. With --fix archived sessions are redacted in place;
    concepts are only reported, and git history is never touched.

    \b
    Examples:
      know scan
      know scan sessions/claude --json
      know scan --fix
    """
    from knowrepo.sessions import scan as scanning

    here = repository(repo)
    files = scanning.files(here, paths or [])
    found: list[Found] = []
    with progress("scanning", quiet=quiet or as_json) as tell:
        for done, findings in enumerate(scanning.scan(here, files), start=1):
            tell(done, len(files))
            found += findings
    fixed = _fix(here, files, found, quiet=quiet or as_json) if fix else set()
    if as_json:
        _print_json(found, fixed)
    else:
        _print(found, fixed)
    if fixed:
        _say_what_remains(here, fixed)
    if any(finding.path not in fixed for finding in found):
        raise typer.Exit(1)


def staged(repo: RepoOption = None) -> None:
    """Fail where the commit in the making would bring a secret in."""
    from knowrepo.sessions.scan import scan_staged

    found = list(scan_staged(repository(repo)))
    if found:  # who commits wants to hear of nothing else
        _print(found, set())
        say("run: know scan --fix, then `git add` what it changed; concepts are yours to mend")
        raise typer.Exit(1)


def _fix(here: Repository, files: list[Path], found: list[Found], *, quiet: bool) -> set[str]:
    """Redact the sessions that have findings; returns their names."""
    from knowrepo.sessions import scan as scanning

    named = {finding.path for finding in found}
    sessions = [
        path
        for path in files
        if path.resolve().is_relative_to(here.sessions) and scanning.shown(here, path) in named
    ]
    fixed: set[str] = set()
    fixing = scanning.fix(here, sessions, waiting=lambda: say("an archive is running; waiting"))
    with progress("redacting", quiet=quiet) as tell:
        for done, (path, redacted) in enumerate(fixing, start=1):
            tell(done, len(sessions))
            if redacted:
                fixed.add(scanning.shown(here, path))
    return fixed


def _print(found: list[Found], fixed: set[str]) -> None:
    for finding in found:
        done = " (redacted)" if finding.path in fixed else ""
        show(f"{finding.path}:{finding.line}: {finding.kind}{done}")
    files = {finding.path for finding in found}
    say(f"{count(len(found), 'secret')} in {count(len(files), 'file')}" if found else "no secrets")


def _print_json(found: list[Found], fixed: set[str]) -> None:
    shown = [{**vars(finding), "redacted": finding.path in fixed} for finding in found]
    show_json({"version": 1, "findings": shown})


def _say_what_remains(here: Repository, fixed: set[str]) -> None:
    """Say what redacting a file does not undo, and what would; nothing of it is run."""
    import shlex

    from knowrepo.git import plumbing

    say("\nRotate every one of these secrets: whoever read or cloned this may have them.")
    held = plumbing.in_history(here, sorted(fixed))
    if not held:
        say("No commit here holds these files, so git history needs nothing.")
        return
    top = here.root.relative_to(here.work_tree)
    options = " ".join(f"--path {shlex.quote((top / path).as_posix())}" for path in held)
    folder = shlex.quote((top / "sessions").as_posix())
    say("Commits made before still hold them, here and in every clone. `git add` and commit the")
    say("redacted files; to take them out of history too, all clones must be made anew after:\n")
    for command in (
        f"cp -a {folder} ../sessions.redacted",
        f"git filter-repo --force --invert-paths {options}",
        f"cp -a ../sessions.redacted/. {folder}",
        f"git add {folder} && git commit -m 'Put the redacted sessions back'",
        "git push --force --all && git push --force --tags",
    ):
        say(f"    {command}")
