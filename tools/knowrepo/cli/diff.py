"""``know diff``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from knowrepo.cli.common import JsonOption, RepoOption, repository, say, show
from knowrepo.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from knowrepo.history.between import Between, Entry

_FORMATS = ("text", "json", "md")


def diff(
    revisions: Annotated[
        str,
        typer.Argument(metavar="A..B", help="Two revisions of git, or one.", show_default=False),
    ] = "",
    format_: Annotated[
        str, typer.Option("--format", metavar="FORMAT", help="`text`, `json` or `md`.")
    ] = "text",
    as_json: JsonOption = False,
    repo: RepoOption = None,
) -> None:
    """Say what became of the knowledge between two revisions.

    Concepts that were added, changed, superseded, deprecated, renamed or
    removed, and how many sessions of each project. `A..B` compares two commits,
    `A...B` what B has since it left A, `A` is A..HEAD. With none it is what this
    branch has since its upstream, or without one since the last tag. What is
    not committed does not count.

    \b
    Examples:
      know diff
      know diff v1.0..v1.1 --format md
      know diff origin/main...HEAD --json
    """
    if format_ not in _FORMATS or (as_json and format_ == "md"):
        raise UsageError(f"--format {format_}: one of {', '.join(_FORMATS)}, and --json is `json`")
    from knowrepo.cli.tracing import answer
    from knowrepo.git.revisions import range_of
    from knowrepo.history.between import between

    here = repository(repo)
    found = between(here, range_of(here, revisions))
    if found.unread:
        say(f"{found.unread} concepts: this partial clone lacks what they say; git fetch --refetch")
    if format_ == "md":
        from knowrepo.history.note import markdown

        show(markdown(found))
        return
    none = f"{found.range.said}: no concept and no session differs"
    remark = "" if found.entries or found.sessions else none
    answer(
        _lines(found), lambda: _object(found), as_json=as_json or format_ == "json", remark=remark
    )


def _lines(found: Between) -> Iterator[str]:
    from knowrepo.cli.tracing import fitted, heading
    from knowrepo.history.between import KINDS
    from knowrepo.history.note import sessions

    parts = 0
    for kind in KINDS:
        entries = found.of(kind)
        if entries:
            if parts:
                yield ""
            parts += 1
            yield heading(f"{kind} ({len(entries)})")
            for entry in entries:
                yield f"  {fitted(_entry(entry), 2)}"
                if entry.changes:
                    yield f"    {fitted(', '.join(entry.changes), 4)}"
    if found.sessions:
        if parts:
            yield ""
        yield heading("sessions")
        for one in found.sessions:
            yield f"  {fitted(sessions(one), 2)}"


def _entry(entry: Entry) -> str:
    from knowrepo.concepts.model import concept_id

    text = f"{concept_id(entry.path)} | {entry.title}"
    if entry.renamed_from:
        text += f" (was {concept_id(entry.renamed_from)})"
    if entry.kind == "superseded":
        return f"{text} -> {concept_id(entry.superseded_by)}"
    return f"{text}: {entry.description}" if entry.kind == "added" and entry.description else text


def _object(found: Between) -> dict[str, Any]:
    return {
        "version": 1,
        "range": {"old": found.range.old, "new": found.range.new, "said": found.range.said},
        "concepts": [{**vars(entry), "changes": list(entry.changes)} for entry in found.entries],
        "sessions": [vars(one) for one in found.sessions],
        "unread": found.unread,
    }
