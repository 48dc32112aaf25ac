"""A proposal as a concept file: what was said, quoted, with the records that said it.

Owns the bytes of a draft, and the neutral form of recalled text in it. What a
session holds is anybody's text: in a draft it makes no heading, no link, no HTML
and no front matter. The same proposal gives the same bytes; only `generated.at`
is the clock's.
"""

from __future__ import annotations

import hashlib
import posixpath
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import NamedTuple
from urllib.parse import quote, unquote

from knowrepo.concepts.compose import Value, compose
from knowrepo.concepts.document import parse
from knowrepo.concepts.markdown import links, sections
from knowrepo.concepts.tags import concept_path
from knowrepo.distill.model import Kind, Proposal, Statement
from knowrepo.terminal import plain
from knowrepo.units import shorten

_SECTIONS: Mapping[Kind, str] = {
    "decision": "Decision",
    "preference": "Preference",
    "correction": "Correction",
    "failed": "What failed",
    "cause": "Why",
    "fix": "Fix",
    "worked": "What worked",
    "rejection": "Rejected",
}
"""The heading over the statements of each kind, in the order in which they read best."""

_LONGEST_QUOTE = 1000
_LONGEST_TITLE = 120
_DIGITS = 8  # of a source's id
_OFFSET = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?:Z|[+-]\d\d:\d\d)")
# What code hosts make a link of without being asked: shown as code, it stays text.
_LINKED = re.compile(
    r"(?i:[a-z][a-z0-9+.-]{1,20}://|mailto:|xmpp:|www\.)[^\s`<>]+"
    r"|[^\s`<>@]+@[^\s`<>@]+\.[^\s`<>@]+"
)
_JOINERS = "\u200c\u200d\u200e\u200f"  # which some scripts, and emoji, cannot do without
_MARKS = re.compile(r"[\\`*\[\]<>$~|]|&(?=#?\w+;)|(?<![^\W_])_|_(?![^\W_])")
_STARTS = re.compile(r"[#+=:-]|\d+(?=[.)])")


class Related(NamedTuple):
    """A concept that a draft links to."""

    concept: str
    title: str


@dataclass(frozen=True)
class Cited:
    """The session that a draft's sources lie in; ``path`` is relative to the repository."""

    name: str
    path: str
    title: str = ""


def draft(
    proposal: Proposal,
    cited: Cited,
    path: str,
    *,
    by: str,
    at: datetime,
    related: Iterable[Related] = (),
) -> bytes:
    """Return the bytes of the concept at ``path`` that a proposal makes.

    ``by`` is the actor that `generated` names, ``at`` when it was made.
    """
    ids = _ids(cited.name, proposal.statements)
    front: dict[str, Value] = {
        "type": proposal.type,
        "title": proposal.title,
        "description": proposal.description,
        "tags": list(proposal.tags),
        "status": "draft",
        "generated": {"by": by, "at": _instant(at)},
        "sources": [
            _source(statement, cited, path, ids[statement.record])
            for statement in _one_a_record(proposal.statements)
        ],
    }
    parts = [_note(proposal.note), *_quotes(proposal.statements, ids)]
    parts += _related(path, related)
    parts.append("\n".join(_footnotes(proposal.statements, cited, ids)))
    return compose(front, "\n\n".join(filter(None, parts)))


def cited_paths(path: str, data: bytes) -> set[str]:
    """Return the files, relative to the repository, that the sources of a concept name."""
    sources = parse(data).front.get("sources")
    found = set()
    for source in sources if isinstance(sources, list) else ():
        resource = source.get("resource") if isinstance(source, dict) else None
        if isinstance(resource, str):
            target = unquote(resource.partition("#")[0])
            found.add(posixpath.normpath(posixpath.join(posixpath.dirname(path), target)))
    return found


def neutral(text: str) -> str:
    """Return text as Markdown that shows it as it is, on one line.

    What would become a link by itself stands as code.
    """
    line = shorten(plain(text), _LONGEST_QUOTE)
    line = "".join(c if c.isprintable() or c in _JOINERS else "\ufffd" for c in line)
    parts = []
    at = 0
    for match in _LINKED.finditer(line):
        parts += [_escaped(line[at : match.start()]), f"`{match[0]}`"]
        at = match.end()
    shown = "".join([*parts, _escaped(line[at:])])
    begins = _STARTS.match(shown)
    if begins is None:
        return shown
    lead = begins[0]
    return f"\\{shown}" if not lead.isdigit() else f"{lead}\\{shown[len(lead) :]}"


def _escaped(text: str) -> str:
    return _MARKS.sub(lambda match: f"\\{match[0]}", text)


def _note(note: str) -> str:
    """Return a finder's own Markdown; where it would do more than say something, as text."""
    text = plain(note).strip()
    harmless = "<" not in text and not any(links(text)) and "[" not in text
    if harmless and not any(section.headings for section in sections(text)):
        return text
    paragraphs = re.split(r"\n\s*\n", text)
    return "\n\n".join(neutral(paragraph) for paragraph in paragraphs if paragraph.strip())


def _quotes(statements: Sequence[Statement], ids: Mapping[str, str]) -> list[str]:
    parts = []
    for kind, heading in _SECTIONS.items():
        said = [one for one in statements if one.kind == kind]
        if said:
            parts.append(f"# {heading}")
            parts += [f"> {neutral(one.text)} [^{ids[one.record]}]" for one in said]
    return parts


def _related(path: str, related: Iterable[Related]) -> list[str]:
    base = posixpath.dirname(path)
    lines = [
        f"* [{neutral(title)}]({quote(posixpath.relpath(concept_path(concept), base))})"
        for concept, title in related
    ]
    return ["# Related", "\n".join(lines)] if lines else []


def _footnotes(
    statements: Sequence[Statement], cited: Cited, ids: Mapping[str, str]
) -> Iterable[str]:
    for one in _one_a_record(statements):
        said = ", ".join(filter(None, (one.role, one.time)))
        place = f"session {cited.name}, record {shown_record(one.record)}, {said}"
        yield f"[^{ids[one.record]}]: {neutral(place)}"


def shown_record(key: str) -> str:
    """Return a record's key as it is shown; parts of a record have a NUL in theirs."""
    return key.replace("\0", "+")


def _one_a_record(statements: Sequence[Statement]) -> Iterable[Statement]:
    """Return the first statement of each record, by where they stand in the session."""
    first: dict[str, Statement] = {}
    for one in statements:
        first.setdefault(one.record, one)
    return sorted(first.values(), key=lambda one: one.line)


def _source(one: Statement, cited: Cited, path: str, name: str) -> dict[str, Value]:
    file = posixpath.relpath(cited.path, posixpath.dirname(path))
    source = {"id": name, "resource": f"{quote(file)}#{quote(one.record, safe='')}"}
    if cited.title:
        source["title"] = shorten(cited.title, _LONGEST_TITLE)
    if _OFFSET.fullmatch(one.time):
        source["last_modified"] = one.time
    return dict(source)


def _ids(session: str, statements: Sequence[Statement]) -> dict[str, str]:
    """Return a short id for each record: the same in every draft that cites it."""
    ids: dict[str, str] = {}
    taken: set[str] = set()
    for one in statements:
        if one.record not in ids:
            digest = hashlib.sha256(f"{session}\n{one.record}".encode()).hexdigest()
            digits = _DIGITS
            while f"r{digest[:digits]}" in taken:
                digits += 1
            ids[one.record] = f"r{digest[:digits]}"
            taken.add(ids[one.record])
    return ids


def _instant(at: datetime) -> str:
    return at.astimezone(UTC).isoformat(timespec="seconds").replace("+00:00", "Z")
