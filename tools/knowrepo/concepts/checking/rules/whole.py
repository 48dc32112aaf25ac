"""Rules that need more than one concept: what is current, and how concepts hang together."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime
from typing import Any

from knowrepo.concepts.checking.findings import Finding, at_key
from knowrepo.concepts.checking.page import Page
from knowrepo.concepts.checking.rules.instants import moment
from knowrepo.concepts.checking.rules.links import Edge, Surroundings


def check(
    pages: Mapping[str, Page], edges: list[Edge], around: Surroundings, now: datetime
) -> Iterator[Finding]:
    """Yield what is to be said of concepts that are superseded, deprecated or stale."""
    leads = defaultdict(set)
    for edge in edges:
        leads[edge.source].add(edge.target)
    linked = Counter(target for targets in leads.values() for target in targets)
    circular = _circular(pages, around)
    for page in pages.values():
        if page.role == "concept":
            yield from _superseded(page, leads[page.path], around, circular)
            yield from _stale(page, linked[page.path], now)
    yield from _links_to_deprecated(pages, edges, around)


def _superseded(
    page: Page, leads: set[str], around: Surroundings, circular: set[str]
) -> Iterator[Finding]:
    document, path = page.document, page.path
    named = _text(document.front.get("superseded_by"))
    deprecated = is_deprecated(page)
    if not named:
        if deprecated and not any(_is_current(around.page(target)) for target in leads):
            said = "deprecated, and it names nothing instead; add `superseded_by: path.md`"
            yield at_key(path, document, "OKF285", said, "status")
        return
    if not deprecated:
        said = "superseded, but not deprecated; add `status: deprecated`"
        yield at_key(path, document, "OKF288", said, "superseded_by")
    follows = _follows(page, around)
    if not follows and "://" not in named:
        said = f"`superseded_by: {named}`: no such concept; correct the path"
        yield at_key(path, document, "OKF286", said, "superseded_by")
    elif path in circular:
        said = "what supersedes it leads back to it; one of them must be current"
        yield at_key(path, document, "OKF287", said, "superseded_by")


def _circular(pages: Mapping[str, Page], around: Surroundings) -> set[str]:
    """Return the concepts that supersede each other in a circle; each is followed once."""
    done: set[str] = set()
    found: set[str] = set()
    for start in pages:
        chain: dict[str, int] = {}
        path = start
        while path and path not in done and path not in chain:
            chain[path] = len(chain)
            page = around.page(path)
            path = _follows(page, around) if page else ""
        if path in chain:
            found.update(list(chain)[chain[path] :])
        done.update(chain)
    return found


def _follows(page: Page, around: Surroundings) -> str:
    """Return the path of what supersedes a concept, where that is there."""
    named = _text(page.document.front.get("superseded_by"))
    return around.find_path(page.path, named, endings=("", ".md")) if named else ""


def _stale(page: Page, linked: int, now: datetime) -> Iterator[Finding]:
    when = moment(_text(page.document.front.get("stale_after")))
    if when is not None and now >= when and not is_deprecated(page):
        others = f" ({linked} link to it)" if linked else ""
        day = when.date().isoformat()
        said = f"stale since {day}{others}; look whether it still holds, and set a later date"
        yield at_key(page.path, page.document, "OKF283", said, "stale_after")


def _links_to_deprecated(
    pages: Mapping[str, Page], edges: Iterable[Edge], around: Surroundings
) -> Iterator[Finding]:
    """Yield links to what is deprecated, but for those in lists, in history, and among such."""
    seen: set[tuple[str, str]] = set()
    for edge in edges:
        source = pages[edge.source]
        if edge[:2] in seen:
            continue
        seen.add(edge[:2])
        if source.role != "concept" or is_deprecated(source) or not edge.target.endswith(".md"):
            continue
        target = around.page(edge.target)
        if target is None or not is_deprecated(target):
            continue
        named = _text(target.document.front.get("superseded_by"))
        instead = f"; `{named}` replaces it" if named else "; link to what replaced it"
        said = f"`{edge.target}` is deprecated{instead}"
        yield Finding(edge.source, edge.line, edge.column, "OKF284", said)


def orphans(pages: Mapping[str, Page], edges: Iterable[Edge], root: str) -> Iterator[Finding]:
    """Yield the concepts that nothing links to, where that is the exception.

    A bundle of notes that hardly link to each other is not to be told so once a
    note. Links in an index that we generate do not count.
    """
    reached = {
        edge.target
        for edge in edges
        if edge.source != edge.target and not pages[edge.source].generated
    }
    concepts = [page for page in pages.values() if page.role == "concept"]
    alone = [
        page for page in concepts if page.path not in reached and not _is_above(page, reached, root)
    ]
    if len(alone) * 2 > len(concepts):
        return
    for page in alone:
        said = "nothing links to it; link to it from what it belongs to"
        yield Finding(page.path, 1, 1, "OKF291", said)


def _is_above(page: Page, reached: set[str], root: str) -> bool:
    """Say whether a link leads to a folder that a concept lies in."""
    folder = page.path.rpartition("/")[0]
    while folder and folder != root:
        if folder in reached:
            return True
        folder = folder.rpartition("/")[0]
    return False


def titles(pages: Mapping[str, Page], others: Mapping[str, str]) -> Iterator[Finding]:
    """Yield titles that another concept of the same folder and type has.

    ``others`` are titles of concepts that are not among ``pages``, by path.
    """
    first: dict[tuple[str, str], str] = {}
    for path, title in sorted(others.items()):
        first.setdefault((path.rpartition("/")[0], _word(title)), path)
    for path, page in sorted(pages.items()):
        title = _text(page.document.front.get("title"))
        if page.role != "concept" or not title:
            continue
        other = first.setdefault((path.rpartition("/")[0], _word(title)), path)
        if other != path:
            said = f"`{title[:60]}` is also the title of {other}; say what sets it apart"
            yield at_key(path, page.document, "OKF277", said, "title")


def is_deprecated(page: Page) -> bool:
    """Say whether a page is a concept that is no longer current."""
    return _text(page.document.front.get("status")).lower() == "deprecated"


def _is_current(page: Page | None) -> bool:
    return page is not None and page.role == "concept" and not is_deprecated(page)


def _word(title: str) -> str:
    return " ".join(title.casefold().split())


def _text(value: Any) -> str:
    return value.strip() if isinstance(value, str) else ""
