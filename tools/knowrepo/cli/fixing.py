"""``know check --fix``: mending what is plainly wrong, or showing how it would be."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import typer

from knowrepo.cli.common import repository, say, show, show_json
from knowrepo.errors import UsageError
from knowrepo.units import count

if TYPE_CHECKING:
    from knowrepo.git.layout import Repository


def before_check(
    repo: Path | None, paths: list[Path], *, fix: bool, dry_run: bool, quiet: bool
) -> None:
    """Do what `--fix` and `--dry-run` ask for; a dry run ends here, with 1 where it would change.

    With ``quiet`` a dry run prints JSON, and else nothing is printed to standard output.
    """
    if not fix:
        raise UsageError(
            "--dry-run shows what --fix would change", hint="know check --fix --dry-run"
        )
    changes = _fix(repository(repo), paths, dry_run=dry_run, quiet=quiet)
    if dry_run:
        raise typer.Exit(1 if changes else 0)


def _fix(here: Repository, paths: list[Path], *, dry_run: bool, quiet: bool) -> int:
    """Mend the concepts; returns how many changes there are. Nothing is staged."""
    from knowrepo.concepts import keeping
    from knowrepo.concepts.checking.tree import DiskTree
    from knowrepo.concepts.editing.chosen import choose
    from knowrepo.concepts.editing.fix import mend
    from knowrepo.concepts.editing.relink import Names

    chosen, tree = choose(here, paths), DiskTree(here.root)
    files = 0
    changes: list[dict[str, object]] = []
    for path, data in chosen.files.items():
        mended = mend(path, data, Names(tree, chosen.root(path)))
        for reason in mended.left:
            say(f"{path}: {reason}")
        if mended.data == data:
            continue
        if not dry_run:
            keeping.write(here, path, mended.data)
        elif not quiet:
            show(difference(path, data, mended.data))
        files += 1
        changes += [{"path": path, **vars(one)} for one in mended.fixes]
        for one in mended.fixes if not dry_run and not quiet else ():
            show(f"{path}:{one.line}: {one.code} {one.message}")
    for path in chosen.conflicts:
        say(f"{path}: in conflict, left alone")
    if dry_run and quiet:
        show_json({"version": 1, "changes": changes})
    told = f"{count(len(changes), 'change')} in {count(files, 'file')}"
    if files:
        say(f"{told}, not written" if dry_run else f"{told}, not staged; look at them: git diff")
    else:
        say("nothing to fix")
    return len(changes)


def difference(path: str, before: bytes, after: bytes) -> str:
    """Return a unified diff of one file."""
    import difflib
    import re

    old, new = (
        [
            line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n"
            for line in re.findall(r"[^\n]*\n|[^\n]+", data.decode("utf-8", "replace"))
        ]
        for data in (before, after)
    )
    return "".join(difflib.unified_diff(old, new, f"a/{path}", f"b/{path}")).rstrip("\n")
