"""``know graph``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from knowrepo.cli.common import QuietOption, RepoOption, progress, repository, say, show, show_json
from knowrepo.errors import UsageError
from knowrepo.units import count

if TYPE_CHECKING:
    from knowrepo.concepts.graph import Graph

_FORMATS = ("mermaid", "dot", "json")


def graph(
    format_: Annotated[
        str, typer.Option("--format", metavar="FORMAT", help="One of `mermaid`, `dot`, `json`.")
    ] = "mermaid",
    type_: Annotated[
        str, typer.Option("--type", metavar="TYPE", help="Only concepts of this type.")
    ] = "",
    tag: Annotated[str, typer.Option(metavar="TAG", help="Only concepts with this tag.")] = "",
    origin: Annotated[
        str, typer.Option("--from", metavar="CONCEPT", help="Only what is near this concept.")
    ] = "",
    depth: Annotated[
        int | None,
        typer.Option(metavar="N", min=0, help="How many links away, with --from; 1 by default."),
    ] = None,
    linked: Annotated[
        bool, typer.Option("--linked", help="Without concepts that no link touches.")
    ] = False,
    repo: RepoOption = None,
    quiet: QuietOption = False,
) -> None:
    """Show which concepts link to which, as text that other programs draw.

    A link is one in the text of a concept, `superseded_by`, or a source that is
    a concept. Links that lead to no concept are left out.

    \b
    Examples:
      know graph --linked
      know graph --from concepts/decisions/two-stores.md --depth 2
      know graph --type Decision --format dot | dot -Tsvg -o graph.svg
    """
    if format_ not in _FORMATS:
        raise UsageError(f"--format {format_}: not one of {', '.join(_FORMATS)}")
    if depth is not None and not origin:
        raise UsageError("--depth counts from a concept", hint="name it: --from CONCEPT")
    from knowrepo.concepts import bundle, drawing
    from knowrepo.concepts.graph import build

    files = bundle.read_tracked(repository(repo))
    with progress("reading", quiet=quiet) as tell:
        found = build(files, tell)
    if origin:
        found = found.around(found.find(origin), 1 if depth is None else depth)
    found = _chosen(found, type_, tag)
    found = found.linked() if linked else found
    if format_ == "json":
        show_json(drawing.as_json(found))
    elif format_ == "dot":
        show(drawing.dot(found))
    else:
        show(drawing.mermaid(found))
    if format_ != "json" and not quiet:
        _say_size(found, len(drawing.mermaid(found)) if format_ == "mermaid" else 0)


def _chosen(found: Graph, type_: str, tag: str) -> Graph:
    from knowrepo.concepts.writing.create import same_words

    if type_:
        found = found.only(lambda node: same_words(node.type) == same_words(type_))
    if tag:
        wanted = tag.removeprefix("#").casefold()
        found = found.only(lambda node: wanted in {one.casefold() for one in node.tags})
    return found


def _say_size(found: Graph, characters: int) -> None:
    """Say where a drawing is larger than can be read, or drawn at all."""
    from knowrepo.concepts import drawing

    size = f"{count(len(found.nodes), 'concept')}, {count(len(found.edges), 'link')}"
    if characters > drawing.MOST_CHARACTERS or (
        characters and len(found.edges) > drawing.MOST_EDGES
    ):
        say(f"{size}: more than Mermaid draws by default; choose some: --from, --type, --tag")
    elif len(found.nodes) > drawing.MOST_NODES:
        say(f"{size}: more than a page can show; choose some: --from, --type, --tag, --linked")
    elif not found.nodes:
        say("no such concept")
