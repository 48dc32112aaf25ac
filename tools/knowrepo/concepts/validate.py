"""Checking a bundle against OKF v0.2: conformance, and findings beyond it.

Owns the rules and their codes. Checking is a pure function of the files; what
the spec tells consumers to tolerate is never an error here. Codes are stable:
1xx is what makes a bundle non-conformant (S11 of the spec), 2xx is advice, and 3xx
is about our own files.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Literal
from urllib.parse import unquote

from knowrepo.concepts.document import Document, parse
from knowrepo.concepts.markdown import links, sections
from knowrepo.concepts.model import FOLDER, RESERVED

Severity = Literal["error", "warning", "notice"]

CODES: Mapping[str, tuple[Severity, str, str]] = {
    "OKF101": ("error", "S11.1", "a concept has no front matter"),
    "OKF102": ("error", "S11.1", "the front matter is not closed"),
    "OKF103": ("error", "S11.1", "the front matter is not YAML"),
    "OKF104": ("error", "S11.1", "the front matter is not a mapping"),
    "OKF105": ("error", "S11.2", "`type` is missing or empty"),
    "OKF106": ("error", "S4", "the file is not UTF-8"),
    "OKF111": ("error", "S8", "an index.md has front matter that it may not have"),
    "OKF112": ("error", "S8", "an index.md has no section"),
    "OKF121": ("error", "S9", "a log.md has a date heading that is no date"),
    "OKF201": ("warning", "S6.1", "a link leads nowhere"),
    "OKF202": ("warning", "S6.1", "a link leaves the repository"),
    "OKF203": ("warning", "S4.1", "a key stands twice"),
    "OKF204": ("warning", "S4.1", "`tags` is not a list"),
    "OKF205": ("notice", "S13", "a key of OKF v0.1"),
    "OKF206": ("notice", "S12", "a version of OKF that this check does not know"),
    "OKF207": ("warning", "S9", "a log.md has front matter"),
    "OKF208": ("warning", "S3", "a file's name is not UTF-8"),
    "KNOW302": ("error", "", "a file is in conflict after a merge"),
    "KNOW301": ("warning", "", "know.toml has a key that means nothing"),
    "KNOW303": ("warning", "", "know.toml allows a secret to be archived"),
    "KNOW305": ("error", "", "an archived session holds conflict markers"),
    "KNOW304": ("error", "", "files of a forgotten session are there again"),
}
"""Code: severity, section of the spec, meaning."""

_DATE = re.compile(r"\d{4}-\d{2}-\d{2}")
_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:")


@dataclass(frozen=True, order=True)
class Finding:
    """One thing to look at; ``line`` and ``column`` are 1-based."""

    path: str
    line: int
    column: int
    code: str
    message: str

    @property
    def severity(self) -> Severity:
        """The severity that the code stands for."""
        return CODES[self.code][0]


def check(files: Mapping[str, bytes], exists: Callable[[str], bool]) -> list[Finding]:
    """Check the Markdown files of a bundle.

    ``files`` are its contents by path relative to the repository. ``exists``
    says whether a path relative to the repository is there, file or folder.
    """
    found: list[Finding] = []
    for path, data in files.items():
        document = parse(data)
        name = PurePosixPath(path).name
        if name == "index.md":
            found += _check_index(path, document)
        elif name == "log.md":
            found += _check_log(path, document)
        else:
            found += _check_concept(path, document)
        if name in RESERVED or document.has_front:
            found += _check_links(path, document, exists)
    return sorted(found)


def _check_concept(path: str, document: Document) -> Iterator[Finding]:
    for problem in document.problems:
        yield Finding(path, problem.line, problem.column, problem.code, problem.message)
    front, lines = document.front, document.lines
    if any(p.code < "OKF105" or p.code == "OKF106" for p in document.problems) and not front:
        return
    kind = front.get("type")
    if not isinstance(kind, str) or not kind.strip():
        what = "is empty" if "type" in front else "is missing"
        yield Finding(path, lines.get("type", 1), 1, "OKF105", f"`type` {what}; add `type: …`")
    if isinstance(front.get("tags"), str):
        line = lines.get("tags", 1)
        yield Finding(path, line, 1, "OKF204", "`tags` is a string; write a list: `tags: [a, b]`")
    if "timestamp" in front:
        line = lines.get("timestamp", 1)
        yield Finding(path, line, 1, "OKF205", "`timestamp` is OKF v0.1; write `generated.at`")


def _check_index(path: str, document: Document) -> Iterator[Finding]:
    if document.has_front:
        for problem in document.problems:
            yield Finding(path, problem.line, problem.column, problem.code, problem.message)
        root = path == f"{FOLDER}/index.md"
        extra = [key for key in document.front if not (root and key == "okf_version")]
        if extra:
            allowed = "only `okf_version` may stand" if root else "no front matter may stand"
            line = document.lines.get(extra[0], 1)
            yield Finding(path, line, 1, "OKF111", f"`{extra[0]}`: {allowed} in this index.md")
        version = document.front.get("okf_version")
        if version is not None and str(version) not in {"0.1", "0.2"}:
            line = document.lines.get("okf_version", 1)
            yield Finding(path, line, 1, "OKF206", f"okf_version {version} is not 0.1 or 0.2")
    if not any(section.headings for section in sections(document.body)):
        line = document.body_line
        yield Finding(path, line, 1, "OKF112", "no section; begin with a heading: `# Concepts`")


def _check_log(path: str, document: Document) -> Iterator[Finding]:
    if document.has_front:
        yield Finding(path, 1, 1, "OKF207", "the spec foresees no front matter in a log.md")
    for section in sections(document.body):
        if section.level == 2 and not _DATE.fullmatch(section.headings[-1]):
            line = document.body_line + section.line - 1  # the heading is the line before
            yield Finding(
                path, line, 1, "OKF121", f"`{section.headings[-1]}` is no date; write YYYY-MM-DD"
            )


def _check_links(path: str, document: Document, exists: Callable[[str], bool]) -> Iterator[Finding]:
    for link in links(document.body):
        target = unquote(link.target.partition("#")[0].partition("?")[0])
        if not target or target.startswith("//") or _SCHEME.match(target):
            continue
        base = FOLDER if target.startswith("/") else posixpath.dirname(path)
        full = posixpath.normpath(posixpath.join(base, target.lstrip("/")))
        line = document.body_line + link.line
        if full.startswith(".."):
            yield Finding(path, line, 1, "OKF202", f"`{link.target}` leaves the repository")
        elif not exists(full) and not exists(f"{full}.md"):
            yield Finding(path, line, 1, "OKF201", f"`{link.target}`: no such file")
