"""``know migrate``: lifting a bundle from OKF v0.1 to v0.2."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from knowrepo.cli.common import JsonOption, RepoOption, repository, say, show, show_json
from knowrepo.cli.fixing import difference
from knowrepo.units import count

if TYPE_CHECKING:
    from knowrepo.concepts.editing.migrate import Lifted


def migrate(
    paths: Annotated[
        list[Path] | None,
        typer.Argument(
            metavar="PATH", help="Files to lift, tracked or not; by default all that git tracks."
        ),
    ] = None,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Show the changes as a diff, write none.")
    ] = False,
    as_json: JsonOption = False,
    repo: RepoOption = None,
) -> None:
    """Lift concepts from OKF v0.1 to v0.2, and keep every other byte.

    `timestamp` becomes `generated.at`, by process:unknown where nothing says by
    whom; the list under `# Citations` becomes `sources` with footnotes; days
    become instants; a root index.md of yours says `okf_version: "0.2"`. Nothing
    is staged. Exits with 1 where something could not be lifted.

    \b
    Examples:
      know migrate --dry-run
      know migrate concepts/tables
    """
    from knowrepo.concepts import keeping
    from knowrepo.concepts.editing.chosen import choose
    from knowrepo.concepts.editing.migrate import lift

    here = repository(repo)
    chosen = choose(here, paths or [])
    files: list[dict[str, object]] = []
    changed, left = 0, len(chosen.conflicts)
    for path, data in chosen.files.items():
        lifted = lift(path, data, chosen.root(path))
        if lifted.data != data and not dry_run:
            keeping.write(here, path, lifted.data)
        if not as_json:
            _tell(path, data, lifted, dry_run=dry_run)
        changed, left = changed + (lifted.data != data), left + len(lifted.left)
        if lifted.done or lifted.left:
            files.append({"path": path, "done": list(lifted.done), "left": list(lifted.left)})
    for path in chosen.conflicts:
        say(f"{path}: in conflict, left alone")
    if as_json:
        show_json({"version": 1, "files": files, "conflicts": list(chosen.conflicts)})
    ends = "not written" if dry_run else "not staged; look at them: git diff"
    told = f"{count(changed, 'file')} lifted, {ends}" if changed else "nothing to lift"
    say(f"{told}; {count(left, 'thing')} to lift by hand" if left else told)
    if left:
        raise typer.Exit(1)


def _tell(path: str, before: bytes, lifted: Lifted, *, dry_run: bool) -> None:
    """Print what was done to a file, or would be, and what could not be."""
    if dry_run and lifted.data != before:
        show(difference(path, before, lifted.data))
    for what in lifted.done if not dry_run else ():
        show(f"{path}: {what}")
    for reason in lifted.left:
        say(f"{path}: not lifted: {reason}")
