"""``know gc``."""

from __future__ import annotations

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

if TYPE_CHECKING:
    from knowrepo.index.garbage import Table


def gc(
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Say what would go, and change nothing.")
    ] = False,
    all_models: Annotated[
        bool, typer.Option("--all-models", help="Drop all vectors of models that are not here.")
    ] = False,
    repo: RepoOption = None,
    as_json: JsonOption = False,
    quiet: QuietOption = False,
) -> None:
    """Drop vectors that no branch, tag, stash or work tree needs.

    What any of them holds stays, so a checkout embeds nothing. The vectors of an
    earlier model stay too, cut down alike; --all-models drops those that no
    model on this machine makes. What was set aside as damaged goes as well.

    \b
    Examples:
      know gc --dry-run
      know gc
      know gc --all-models
    """
    from dataclasses import asdict

    from knowrepo.index.garbage import collect

    here = repository(repo)
    with progress("looking through branches", quiet=quiet) as tell:
        tables = collect(here, dry_run=dry_run, all_models=all_models, progress=tell)
    for damaged in (told for table in tables for told in table.damaged):
        say(f"damaged, so it {'would go' if dry_run else 'is gone'}: {damaged}")
    if any(table.damaged for table in tables) and not dry_run:
        say("`know index` embeds anew what was in it")
    if as_json:
        found = [asdict(table) for table in tables]
        show_json({"version": 1, "dry_run": dry_run, "tables": found})
        return
    for table in tables:
        show(_line(table, dry_run=dry_run))
    if not tables:
        show("no vectors, so nothing to drop")


def _line(table: Table, *, dry_run: bool) -> str:
    from knowrepo import units

    name = table.model or f"{table.fingerprint} (no model here)"
    dropped = "would be dropped" if dry_run else "dropped"
    freed = f"{'about ' if dry_run else ''}{units.size(table.freed)} freed"
    return f"{name}: {units.count(table.dropped, 'vector')} {dropped}, {table.kept} kept; {freed}"
