"""The `# Citations` list of OKF v0.1: what it names, and the text without it.

Owns the reading of such a list and the footnotes that take its place. It is
read whole or not at all: what is no plain entry is a person's to lift.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from urllib.parse import urlsplit

from knowrepo.concepts.compose import slug
from knowrepo.concepts.editing.said import MOST_BRACKETS, Said, all_said
from knowrepo.concepts.markdown import sections
from knowrepo.errors import KnowError

_ENTRY = re.compile(r"(?:[-*+]|(\d{1,3})[.)]|\[(\d{1,3})\]|\[\^(\d{1,3})\]:)[ \t]+(\S.*)")
_HEADING = re.compile(r" {0,3}#{1,6}(?:[ \t]|$)")
_LINK = re.compile(
    r"\[([^\[\]]+)\]\(\s*(<[^<>]+>|[^\s()]+(?:\([^\s()]*\)[^\s()]*)*)(?:\s+\"[^\"]*\")?\s*\)"
)
_URL = re.compile(r"<?(https?://[^\s<>]+[^\s<>.,;:!?)\]'\"])>?")
_PATH = re.compile(r"(?:\.{0,2}/)?[\w.%~-]+(?:/[\w.%~-]*)*/?|/")
_REFERENCE = re.compile(r"\[\^?(\d{1,3})\](?![(:])")
_BLANK_LINES = re.compile(r"(?:\r?\n[ \t]*)+\Z")
_AROUND = " \t:;,.-–—()<>"


@dataclass(frozen=True)
class Entry:
    """One entry of the list; ``number`` is what the text refers to it by, 0 where there is none."""

    number: int
    resource: str
    title: str
    id: str = ""


@dataclass(frozen=True)
class Citations:
    """The list of a body: its entries, and the lines ``start`` to ``end`` that it takes up."""

    entries: tuple[Entry, ...]
    start: int
    end: int


def read(body: str) -> Citations | None:
    """Return the list of citations; None where there is none.

    Raises KnowError where there is one that cannot be read as a list.
    """
    every = sections(body)
    named = [n for n, one in enumerate(every) if one.headings[-1:] and _is_named(one.headings[-1])]
    if not named:
        return None
    section = every[named[0]]
    below = every[named[0] + 1 : named[0] + 2]
    if len(named) > 1 or (below and below[0].level > section.level):
        raise KnowError("`# Citations` stands twice or has headings below it")
    lines = body.split("\n")
    start, end = section.line - 1, section.line + section.text.count("\n") + 1
    if not _HEADING.match(lines[start]):
        raise KnowError("the heading of `Citations` is underlined; write `# Citations`")
    entries = tuple(_entries(lines[section.line : end]))
    if not entries:
        raise KnowError("`# Citations` is empty")
    return Citations(entries, start, min(end, len(lines)))


def named(entries: Iterable[Entry], ids: Mapping[str, str]) -> list[Entry]:
    """Give each entry an id: that which its resource has in ``ids`` already, else a new one."""
    taken = set(ids.values())
    found = []
    for entry in entries:
        name = ids.get(entry.resource, "")
        if not name:
            base = slug(entry.title or _short(entry.resource))
            name = next(one for one in _numbered(base) if one not in taken)
        taken.add(name)
        found.append(replace(entry, id=name))
    return found


def footnoted(body: str, citations: Citations, entries: list[Entry]) -> tuple[str, int]:
    """Return the body with footnotes for the list, and how many times they are referred to."""
    lines = re.findall(r"[^\n]*\n|[^\n]+", body)
    before, after = "".join(lines[: citations.start]), "".join(lines[citations.end :])
    ids = {entry.number: entry.id for entry in entries if entry.number}
    if any(re.search(rf"(?m)^ {{0,3}}\[\^?{number}\]:", before + after) for number in ids):
        raise KnowError("a number of `# Citations` is defined elsewhere in the text too")
    (before, used), (after, more) = _referring(before, ids), _referring(after, ids)
    eol = "\r\n" if "\r\n" in body else "\n"
    notes = [f"[^{e.id}]: {e.title or e.resource}" for e in entries if e.id in {*used, *more}]
    return _joined(before, notes, after, eol), len(used) + len(more)


def _is_named(heading: str) -> bool:
    return heading.strip().rstrip(":").casefold() == "citations"


def _entries(lines: Iterable[str]) -> list[Entry]:
    texts: list[str] = []
    for line in lines:
        if line.strip() and line[:1].isspace() and texts and not _ENTRY.match(line.strip()):
            texts[-1] += " " + line.strip()
        elif line.strip():
            texts.append(line.strip())
    return [_entry(text) for text in texts]


def _entry(text: str) -> Entry:
    match = _ENTRY.fullmatch(text)
    if match is None:
        raise KnowError(f"`# Citations` holds more than a list: `{text[:50]}`")
    number = int(match[1] or match[2] or match[3] or 0)
    said = match[4].strip()
    links = [*_LINK.finditer(said)] or [*_URL.finditer(said)]
    if len(links) == 1:
        link = links[0]
        resource = link[link.re.groups].strip("<>")
        label = link[1] if link.re is _LINK else ""
        title = " ".join(f"{said[: link.start()]}{label}{said[link.end() :]}".split())
        title = title if label else title.strip(_AROUND)
        return Entry(number, resource, "" if title == resource else title)
    if not links and _PATH.fullmatch(said) and ("/" in said or said.endswith(".md")):
        return Entry(number, said, "")
    what = "more than one link" if links else "no link and no path"
    raise KnowError(f"`# Citations`: {what} in `{text[:50]}`")


def _short(resource: str) -> str:
    """Return what tells one URL or path from others: its last part, else the host."""
    parts = urlsplit(resource)
    last = [part for part in parts.path.split("/") if part][-1:]
    return last[0].rpartition(".")[0] or last[0] if last else parts.netloc.removeprefix("www.")


def _numbered(base: str) -> Iterable[str]:
    yield base
    number = 2
    while True:
        yield f"{base}-{number}"
        number += 1


def _referring(text: str, ids: Mapping[int, str]) -> tuple[str, list[str]]:
    """Turn `[1]` and `[^1]` into footnotes where they are no code; returns the ids referred to."""
    matches = [match for match in _REFERENCE.finditer(text) if int(match[1]) in ids]
    if not matches or text.count("[") > MOST_BRACKETS:
        return text, []
    before = all_said(text)
    if not _says_the_same(before, _with(text, matches, ids), ids):
        matches = [m for m in matches if _says_the_same(before, _with(text, [m], ids), ids)]
    return _with(text, matches, ids), [ids[int(match[1])] for match in matches]


def _with(text: str, matches: Iterable[re.Match[str]], ids: Mapping[int, str]) -> str:
    for match in reversed(list(matches)):
        text = f"{text[: match.start()]}[^{ids[int(match[1])]}]{text[match.end() :]}"
    return text


def _says_the_same(before: list[Said], text: str, ids: Mapping[int, str]) -> bool:
    """Say whether nothing but references in running text differs."""
    after = all_said(text)

    def meant(said: str) -> str:
        return _REFERENCE.sub(
            lambda match: f"[^{ids[int(match[1])]}]" if int(match[1]) in ids else match[0], said
        )

    return len(before) == len(after) and all(
        one == two or (one.kind == "text" and meant(one.text) == meant(two.text))
        for one, two in zip(before, after, strict=True)
        if one.kind != "inline"
    )


def _joined(before: str, notes: list[str], after: str, eol: str) -> str:
    """Put the text together again, with one blank line where the list stood."""
    head, tail = _BLANK_LINES.sub("", before), after.lstrip("\r\n")
    if not head.strip():
        return before + f"{eol}{eol}".join(part for part in (eol.join(notes), tail) if part)
    text = f"{eol}{eol}".join(part for part in (head, eol.join(notes), tail) if part)
    return text if tail else text + eol
