"""``know accept``, ``know supersede`` and ``know deprecate``: a concept's way through its life."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from knowrepo.cli.common import JsonOption, RepoOption, repository, say, show, show_json

if TYPE_CHECKING:
    from collections.abc import Mapping

    from knowrepo.git.layout import Repository

_NAMED = "By id, path, title, or the last part of its path."
ForceOption = Annotated[
    bool, typer.Option("--force", help="Also where another supersedes it already.")
]


def accept(
    names: Annotated[list[str], typer.Argument(metavar="CONCEPT", help=_NAMED)],
    as_json: JsonOption = False,
    repo: RepoOption = None,
) -> None:
    """Make drafts stable: `status: stable`, staged for the next commit.

    A concept that git does not track yet is tracked from then on. Nothing says
    that somebody verified it; that stays a person's own word.

    \b
    Examples:
      know accept decisions/two-stores
      know accept "Retry uploads three times" cold-start
    """
    from knowrepo.concepts.bundle import drafts
    from knowrepo.concepts.editing import edit, lifecycle
    from knowrepo.concepts.naming import resolve

    here = repository(repo)
    new = set(drafts(here))
    files: dict[str, bytes] = {}
    done: dict[str, str] = {}
    for path in dict.fromkeys(resolve(here, name) for name in names):
        data = (here.root / path).read_bytes()
        with edit.in_file(path):
            after = lifecycle.accepted(data)
        if after != data or path in new:
            files[path] = after
        done[path] = "accepted" if after != data else "stable already"
    finish(here, files, done, as_json=as_json)
    _mention_ledger(here, set(done))


def _mention_ledger(here: Repository, paths: set[str]) -> None:
    """Say where the next commit would lack what keeps these from being proposed again."""
    from knowrepo.concepts.model import concept_id
    from knowrepo.distill.ledger import LEDGER, read_ledger
    from knowrepo.git import plumbing

    waits = [*plumbing.untracked(here, LEDGER), *plumbing.modified(here, LEDGER)]
    if waits and any(map(read_ledger(here.root / LEDGER).knows, map(concept_id, paths))):
        say(f"note: commit the memory of distilling with it: git add {LEDGER}")


def supersede(
    old: Annotated[str, typer.Argument(metavar="OLD", help=_NAMED)],
    new: Annotated[str, typer.Argument(metavar="NEW", help="What holds instead.")],
    force: ForceOption = False,
    as_json: JsonOption = False,
    repo: RepoOption = None,
) -> None:
    """Deprecate a concept and name the one that holds instead.

    OLD gets `status: deprecated` and `superseded_by`, a path relative to it,
    and is staged for the next commit. NEW is not touched.

    \b
    Examples:
      know supersede decisions/one-store decisions/two-stores
      know supersede one-store two-stores --force
    """
    here = repository(repo)
    _supersede(here, old, new, force=force, as_json=as_json)


def deprecate(
    name: Annotated[str, typer.Argument(metavar="CONCEPT", help=_NAMED)],
    by: Annotated[str, typer.Option("--by", metavar="NEW", help="What holds instead.")] = "",
    force: ForceOption = False,
    as_json: JsonOption = False,
    repo: RepoOption = None,
) -> None:
    """Mark a concept as no longer current; it stays for links and history.

    Recall ranks it lower from then on, and says so.

    \b
    Examples:
      know deprecate solutions/restart-the-daemon
      know deprecate one-store --by two-stores
    """
    from knowrepo.concepts.editing import edit, lifecycle
    from knowrepo.concepts.naming import resolve

    here = repository(repo)
    if by:
        _supersede(here, name, by, force=force, as_json=as_json)
        return
    path = resolve(here, name)
    data = (here.root / path).read_bytes()
    with edit.in_file(path):
        after = lifecycle.deprecated(data)
    done = {path: "deprecated" if after != data else "deprecated already"}
    finish(here, {path: after} if after != data else {}, done, as_json=as_json)


def _supersede(here: Repository, old: str, new: str, *, force: bool, as_json: bool) -> None:
    from knowrepo.concepts import bundle
    from knowrepo.concepts.editing import lifecycle
    from knowrepo.concepts.model import concept_id, read_concept
    from knowrepo.concepts.naming import resolve

    def read(path: str) -> bytes | None:
        full = here.inside(here.root / path)
        return full.read_bytes() if full.is_file() else None

    path, other = resolve(here, old), resolve(here, new)
    before = read(path) or b""
    after = lifecycle.superseded(path, other, read, force=force)
    status = read_concept(other, read(other) or b"").status
    if status != "stable":
        hint = f"; when it holds: know accept {concept_id(other)}" if status == "draft" else ""
        say(f"note: {other} is {status} itself{hint}")
    if other in bundle.drafts(here):
        say(f"note: {other} is not tracked by git; add it: git add {other}")
    said = f"superseded by {concept_id(other)}"
    done = {path: said if after != before else f"{said} already"}
    finish(here, {path: after} if after != before else {}, done, as_json=as_json)


def finish(
    here: Repository, files: Mapping[str, bytes], done: Mapping[str, str], *, as_json: bool
) -> None:
    """Write and stage what changed; print what was ``done``, by path, and what is left to do."""
    from knowrepo.concepts import keeping

    kept = keeping.Kept((), ())
    if files:
        try:
            kept = keeping.keep(here, files)
        except BaseException:
            _say_written(here.root, files)
            raise
    if as_json:
        show_json({"version": 1, "concepts": dict(done), **kept.__dict__})
        return
    for path, what in done.items():
        show(f"{path}: {what}")
    if kept.staged:
        say(f"staged: {', '.join(kept.staged)}; now: git commit")
    if kept.unstaged:
        names = " ".join(kept.unstaged)
        say(f"not staged, you had changes there: {names}; look at them, then: git add {names}")


def _say_written(root: Path, files: Mapping[str, bytes]) -> None:
    """Say what stands when the work ended early: each file is whole, old or new."""
    there = [
        path
        for path, data in files.items()
        if (root / path).is_file() and (root / path).read_bytes() == data
    ]
    if there:
        say(f"written before that, perhaps not staged: {' '.join(there)}; see git status")
