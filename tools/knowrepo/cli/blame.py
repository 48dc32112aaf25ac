"""``know blame``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from knowrepo.cli.common import JsonOption, RepoOption, repository

if TYPE_CHECKING:
    from collections.abc import Iterator

    from knowrepo.history.origin import Blamed, Origin, Source


def blame(
    name: Annotated[
        str,
        typer.Argument(
            metavar="CONCEPT",
            help="By id, path, title, or the last part of its path.",
            show_default=False,
        ),
    ],
    as_json: JsonOption = False,
    repo: RepoOption = None,
) -> None:
    """Say who or what brought each statement of a concept, and in which commit.

    A statement is a key of the front matter, a paragraph, an item of a list, a
    line of a table. It is shown with the last commit that changed it and, where
    its footnotes name them in `sources`, with the session and the record that
    said it. The file is read as it is in the work tree.

    \b
    Examples:
      know blame decisions/two-stores
      know blame --json "Retry uploads three times"
    """
    from knowrepo.cli.tracing import answer
    from knowrepo.history.origin import origins

    found = origins(repository(repo), name)
    shallow = "this clone is shallow: the oldest commit here stands for all before it"
    remark = shallow if found.shallow else ""
    answer(_lines(found), lambda: _object(found), as_json=as_json, remark=remark)


def _lines(found: Blamed) -> Iterator[str]:
    from knowrepo.cli.tracing import fitted, heading, named, vouched

    yield heading(f"{found.path}  {found.version.concept.title}")
    if said := vouched(found.version):
        yield fitted(said)
    last: object = ""
    for origin in found.origins:
        if origin.commit != last:
            yield ""
            yield named(origin.commit, subject=True)
            last = origin.commit
        yield f"  {fitted(_statement(origin), 2)}"
        for source in () if origin.statement.key else origin.sources:
            yield f"       {fitted(_source(source), 7)}"
    if found.sources:
        yield ""
        yield "sources"
        for source in found.sources:
            yield f"  {fitted(_source(source), 2)}"


def _statement(origin: Origin) -> str:
    others = len(origin.shares) - 1
    more = f" (and {others} earlier commit{'s' * (others > 1)})" if others else ""
    return f"{origin.statement.start:>3}  {origin.statement.text.strip()}{more}"


def _source(source: Source) -> str:
    if source.session:
        what = f"session {source.session}" + (f", record {source.record}" if source.record else "")
    else:
        what = source.resource
    note = f"[^{source.id}] " if source.id else ""
    by = f", by {source.author}" if source.author else ""
    return f"{note}{what}{by}" + (f": {source.title}" if source.title else "")


def _object(found: Blamed) -> dict[str, Any]:
    from knowrepo.cli.tracing import commit_fields

    return {
        "version": 1,
        "path": found.path,
        "title": found.version.concept.title,
        "generated_by": found.version.generated_by,
        "verified": list(found.version.verified),
        "shallow": found.shallow,
        "statements": [
            {
                "line": origin.statement.start,
                "end": origin.statement.end,
                "key": origin.statement.key,
                "text": origin.statement.text,
                "commits": [
                    {**(commit_fields(share.commit) or {"commit": ""}), "lines": share.lines}
                    for share in origin.shares
                ],
                "sources": [source._asdict() for source in origin.sources],
            }
            for origin in found.origins
        ],
        "sources": [source._asdict() for source in found.sources],
    }
