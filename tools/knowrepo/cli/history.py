"""``know history``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from knowrepo.cli.common import JsonOption, RepoOption, repository

if TYPE_CHECKING:
    from collections.abc import Iterator

    from knowrepo.history.trace import Event, Trace


def history(
    name: Annotated[
        str,
        typer.Argument(
            metavar="CONCEPT",
            help="By id, path or title; one that was removed by id or path.",
            show_default=False,
        ),
    ],
    most: Annotated[
        int, typer.Option("-n", "--max-count", metavar="N", min=0, help="At most; 0 for all.")
    ] = 0,
    as_json: JsonOption = False,
    repo: RepoOption = None,
) -> None:
    """Say what commits did to a concept, the newest first, through renames.

    Each with its date, its author, and what changed; `by` is who wrote that
    version as its front matter says, `verified` who confirmed it. Lines of the
    body that only moved are not counted. What superseded the concept, and what
    it superseded, comes first. Nothing is fetched into a partial clone.

    \b
    Examples:
      know history decisions/two-stores
      know history "Retry uploads three times" -n 5
      know history --json two-stores
    """
    from knowrepo.cli.tracing import answer
    from knowrepo.history.trace import trace

    found = trace(repository(repo), name, most=most)
    shallow = "this clone is shallow: what came before is not told; git fetch --unshallow"
    remark = shallow if found.shallow else ""
    answer(_lines(found), lambda: _object(found), as_json=as_json, remark=remark)


def _lines(found: Trace) -> Iterator[str]:
    from knowrepo.cli.tracing import fitted, heading, joined, named
    from knowrepo.concepts.model import concept_id

    yield heading(f"{found.path}  {found.title}")
    if found.superseded_by:
        yield fitted(f"superseded by {concept_id(found.superseded_by)}")
    if found.supersedes:
        yield fitted(f"supersedes {', '.join(map(concept_id, found.supersedes))}")
    if found.uncommitted:
        yield ""
        yield named(None)
        yield f"  {fitted(joined(found.uncommitted), 2)}"
    for event in found.events:
        yield ""
        yield named(event.commit)
        yield f"  {fitted(event.commit.subject, 2)}"
        yield f"  {fitted(_did(event), 2)}"


def _did(event: Event) -> str:
    from knowrepo.cli.tracing import joined, vouched

    moved = f"renamed from {event.renamed_from}" if event.kind == "renamed" else event.kind
    changes = joined(event.changes)
    if event.kind == "changed" and changes:
        did = changes
    else:
        did = f"{moved}: {changes}" if changes else moved
    return "; ".join(filter(None, (did, vouched(event))))


def _object(found: Trace) -> dict[str, Any]:
    from knowrepo.cli.tracing import commit_fields

    return {
        "version": 1,
        "path": found.path,
        "title": found.title,
        "superseded_by": found.superseded_by,
        "supersedes": list(found.supersedes),
        "uncommitted": list(found.uncommitted),
        "shallow": found.shallow,
        "events": [
            {
                **(commit_fields(event.commit) or {}),
                "kind": event.kind,
                "path": event.path,
                "renamed_from": event.renamed_from,
                "changes": list(event.changes),
                "generated_by": event.generated_by,
                "verified": list(event.verified),
            }
            for event in found.events
        ],
    }
