"""Rules on index.md and log.md (S8, S9, S12).

What the spec leaves open is not held against a bundle: a rule of `---` at the
top of a log, a nested heading, text before the entries, a date with words after it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import date

from knowrepo.concepts.checking.findings import Finding, at_key
from knowrepo.concepts.document import Document
from knowrepo.concepts.markdown import Outline

VERSIONS = frozenset({"0.1", "0.2"})
_DATE = re.compile(r"\d{4}-\d{2}-\d{2}")
_DATE_AND_MORE = re.compile(r"(\d{4}-\d{2}-\d{2})(?![\w-])(.+)")
_MARKUP = re.compile(r"^[*_`\[]+|[*_`\]]+$")


def check_index(
    path: str, document: Document, outline: Outline, *, root: bool
) -> Iterator[Finding]:
    """Yield what is wrong with an index.md; ``root`` is the one at the top of the bundle."""
    yield from _index_front(path, document, root=root)
    line = document.body_line
    if not outline.headings:
        if document.body.strip() or not root:
            said = "no section; put a heading before the entries: `# Concepts`"
            yield Finding(path, line, 1, "OKF112", said)
    elif not outline.entries and _has_text(document, outline):
        said = "no entries; list what is there: `* [Title](file.md) - description`"
        yield Finding(path, line + outline.headings[0].line, 1, "OKF227", said)


def _has_text(document: Document, outline: Outline) -> bool:
    headings = {heading.line for heading in outline.headings}
    lines = document.body.split("\n")
    return any(
        line.strip() and not line.lstrip().startswith("<!--")
        for number, line in enumerate(lines)
        if number not in headings
    )


def _index_front(path: str, document: Document, *, root: bool) -> Iterator[Finding]:
    if not document.has_front:
        return
    problems = {problem.code: problem for problem in document.problems}
    if "OKF102" in problems:  # a line at the top, and no block
        return
    broken = problems.get("OKF103") or problems.get("OKF104")
    if broken:
        if broken.code == "OKF103" or not (root and "empty" in broken.message):
            yield Finding(path, broken.line, broken.column, broken.code, broken.message)
        if not document.front:
            return
    extra = [key for key in document.front if not (root and key == "okf_version")]
    if extra:
        allowed = "only `okf_version` may stand" if root else "no front matter may stand"
        said = f"`{extra[0]}`: {allowed} in this index.md; remove it"
        yield at_key(path, document, "OKF111", said, str(extra[0]))
    yield from _version(path, document) if root else ()


def _version(path: str, document: Document) -> Iterator[Finding]:
    version = document.front.get("okf_version")
    if version is None:
        return
    place = document.places.get(("okf_version",))
    if isinstance(version, str) and place and place.plain and re.fullmatch(r"[\d.]+", version):
        said = f'`okf_version` is a number to YAML; write `okf_version: "{version}"`'
        yield at_key(path, document, "OKF279", said, "okf_version")
    if not isinstance(version, str) or version.strip() not in VERSIONS:
        said = f"okf_version {version} is not 0.1 or 0.2; it is checked as 0.2"
        yield at_key(path, document, "OKF206", said, "okf_version")


def check_log(path: str, document: Document, outline: Outline) -> Iterator[Finding]:
    """Yield what is wrong with a log.md."""
    if document.has_front and not any(p.code == "OKF102" for p in document.problems):
        said = "the spec foresees no front matter in a log.md; remove it"
        yield Finding(path, 1, 1, "OKF207", said)
    before = ""
    for heading in outline.headings:
        if heading.level != 2:
            continue
        line = document.body_line + heading.line
        text = _MARKUP.sub("", heading.text.strip())
        more = _DATE_AND_MORE.fullmatch(text)
        day = more.group(1) if more else text
        if not _is_date(day):
            said = f"`{heading.text[:40]}` is no date; write `## YYYY-MM-DD`"
            yield Finding(path, line, 1, "OKF121", said)
            continue
        if more:
            said = f"`{more.group(2).strip()[:40]}` after the date; say it in the entry"
            yield Finding(path, line, 1, "OKF224", said)
        if before and day > before:
            said = f"{day} stands below {before}; put the newest first"
            yield Finding(path, line, 1, "OKF223", said)
        before = day


def _is_date(text: str) -> bool:
    if not _DATE.fullmatch(text):
        return False
    try:
        date.fromisoformat(text)
    except ValueError:
        return False
    return True
