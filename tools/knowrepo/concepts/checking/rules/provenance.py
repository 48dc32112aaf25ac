"""Rules on sources, footnotes and computations (S5.1, S10)."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from typing import Any

from knowrepo.concepts.checking.findings import Finding, at_key, at_value
from knowrepo.concepts.checking.rules import actors, instants
from knowrepo.concepts.document import Document
from knowrepo.concepts.markdown import Outline

_COMPUTATION = "Attested Computation"


def check(path: str, document: Document, outline: Outline, now: datetime) -> Iterator[Finding]:
    """Yield what is to be said of a concept's provenance."""
    sources = document.front.get("sources")
    entries = list(enumerate(sources)) if isinstance(sources, list) else []
    if sources is not None and not isinstance(sources, list):
        said = "`sources` is no list; write `sources: [{resource: …}]`"
        yield at_value(path, document, "OKF261", said, "sources")
    for number, entry in entries:
        yield from _source(path, document, entry, number, now)
    yield from _window(path, document, document.front.get("usage_window"), ("usage_window",))
    ids = [(n, str(e["id"])) for n, e in entries if isinstance(e, dict) and _is_word(e.get("id"))]
    yield from _footnotes(path, document, outline, ids)
    yield from _computation(path, document, outline)
    yield from _citations(path, document, outline)


def _source(
    path: str, document: Document, entry: Any, number: int, now: datetime
) -> Iterator[Finding]:
    key = ("sources", number)
    if not isinstance(entry, dict):
        said = "a source is no mapping; write `- resource: …`"
        yield at_value(path, document, "OKF261", said, *key)
        return
    if not _is_word(entry.get("resource")):
        yield at_value(path, document, "OKF255", "a source lacks `resource`; add it", *key)
    for name in ("resource", "id", "title", "author"):
        if isinstance(entry.get(name), list | dict):
            said = f"`{name}` of a source is no text; write one text"
            yield at_value(path, document, "OKF261", said, *key, name)
    count = entry.get("usage_count")
    if count is not None and not (isinstance(count, str) and count.replace("_", "").isdigit()):
        said = "`usage_count` is no whole number; write one, as 5000"
        yield at_value(path, document, "OKF261", said, *key, "usage_count")
    author, modified = entry.get("author"), entry.get("last_modified")
    if isinstance(author, str) and author.strip():
        yield from actors.check(path, document, author, (*key, "author"))
    if isinstance(modified, str) and modified.strip():
        yield from instants.check(path, document, modified, (*key, "last_modified"), now)
    yield from _window(path, document, entry.get("usage_window"), (*key, "usage_window"))


def _window(
    path: str, document: Document, window: Any, key: tuple[str | int, ...]
) -> Iterator[Finding]:
    if window is None:
        return
    if not isinstance(window, dict) or not {"from", "to"} <= set(window):
        said = "`usage_window` is no span; write `{from: …, to: …}`"
        yield at_value(path, document, "OKF261", said, *key)
        return
    for name in ("from", "to"):
        if isinstance(window[name], str) and window[name].strip():
            yield from instants.check(path, document, window[name], (*key, name), None)


def _footnotes(
    path: str, document: Document, outline: Outline, ids: list[tuple[int, str]]
) -> Iterator[Finding]:
    """Yield footnotes without a source, and the reverse: the label alone joins them."""
    known = {name.casefold() for _, name in ids}
    seen: set[str] = set()
    for number, name in ids:
        if name in seen:
            said = f"the source id `{name}` stands twice; give each its own"
            yield at_value(path, document, "OKF254", said, "sources", number, "id")
        seen.add(name)
    used: set[str] = set()
    for note in outline.footnotes:
        label = note.target.casefold()
        line = document.body_line + note.line
        if label not in outline.definitions | known | used:
            said = f"`[^{note.target}]` has neither a source of this id nor a definition; add one"
            yield Finding(path, line, note.column + 1, "OKF251", said)
        elif known and label not in known and label not in used:
            said = f"`[^{note.target}]` is no id in `sources`; use one of them, or add it"
            yield Finding(path, line, note.column + 1, "OKF252", said)
        used.add(label)
    for number, name in ids if used & known else ():
        if name.casefold() not in used | outline.definitions:
            said = f"the source `{name}` is never cited; add `[^{name}]` where it is used"
            yield at_value(path, document, "OKF253", said, "sources", number, "id")


def _computation(path: str, document: Document, outline: Outline) -> Iterator[Finding]:
    front = document.front
    if front.get("type") != _COMPUTATION:
        return
    if not _is_word(front.get("runtime")):
        said = "no `runtime`; say what runs it, as `runtime: bigquery`"
        yield at_key(path, document, "OKF278", said, "runtime")
    if not _is_word(front.get("computation")) and not _has_code(outline):
        said = "no computation; add code below `# Computation`, or `computation: path`"
        yield at_key(path, document, "OKF278", said, "computation")
    for key in ("executor", "attester"):
        value = front.get(key)
        if value is not None and not (isinstance(value, dict) and _is_word(value.get("resource"))):
            said = f"`{key}` has no `resource`; write `{key}: {{resource: path}}`"
            yield at_value(path, document, "OKF261", said, key)
    parameters = front.get("parameters")
    for number, entry in enumerate(parameters if isinstance(parameters, list) else ()):
        if not (isinstance(entry, dict) and _is_word(entry.get("name"))):
            said = "a parameter has no name; write `{name: …, type: …, required: …}`"
            yield at_value(path, document, "OKF261", said, "parameters", number)
    if parameters is not None and not isinstance(parameters, list):
        said = "`parameters` is no list; write `[{name: …, type: …, required: …}]`"
        yield at_value(path, document, "OKF261", said, "parameters")


def _has_code(outline: Outline) -> bool:
    """Say whether code stands below `# Computation`."""
    start = None
    for heading in outline.headings:
        if heading.text.strip().casefold() == "computation":
            start = heading
        elif start is not None and heading.level <= start.level:
            return any(start.line < first < heading.line for first, _ in outline.code)
    return start is not None and any(first > start.line for first, _ in outline.code)


def _citations(path: str, document: Document, outline: Outline) -> Iterator[Finding]:
    if document.front.get("sources"):
        return
    for heading in outline.headings:
        if heading.text.strip().casefold() == "citations":
            said = "`# Citations` is OKF v0.1; list the sources in `sources`"
            yield Finding(path, document.body_line + heading.line, 1, "OKF282", said)
            return


def _is_word(value: Any) -> bool:
    return isinstance(value, str) and bool(value.strip())
