"""`concepts/log.md`: bringing entries into a file in which people write too.

Owns the file. Every line that stands there stays where it is, but that an entry of
ours names a concept that is gone instead of linking to it; entries that it lacks
come to their day, which is made in its place. An entry is known by day,
kind and path, so what two branches wrote is not written twice, and where a merge
left it twice, one goes.
"""

from __future__ import annotations

import posixpath
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from urllib.parse import unquote

from knowrepo.concepts.markdown import links
from knowrepo.concepts.model import FOLDER
from knowrepo.concepts.writing import log
from knowrepo.errors import KnowError
from knowrepo.git import history
from knowrepo.git.layout import Repository

LOG = f"{FOLDER}/log.md"
MARK = "<!-- Entries are added by `know log --write`; what you write stays. -->"

_DAY = re.compile(r"##[ \t]+(\d{4}-\d{2}-\d{2})[ \t]*#*[ \t]*$")
_HEADING = re.compile(r"#{1,2}[ \t]")
_FENCE = re.compile(r" {0,3}(```+|~~~+)")
_ENTRY = re.compile(r"[-*+][ \t]+\*\*(\w+)\*\*")
_OURS = re.compile(rf"\* \*\*(?:{'|'.join(log.KINDS)})\*\* ")
_LINKED = re.compile(rf"({_OURS.pattern})\[((?:[^\]\\]|\\.)*)\]\(([^()\s]+)\)(.*)$")
_UNLINKED = re.compile(r"\(`([^`]+\.md)`\)")


@dataclass
class _Part:
    """Lines of the log: those of one day with its heading, or what belongs to none."""

    day: str = ""
    lines: list[str] = field(default_factory=list)


def updated(repository: Repository, now: bytes) -> bytes:
    """Return the bytes of the log with what history has and ``now`` has not.

    What is older than our newest entry is left as people left it, but for commits
    that came in since, by a merge. Raises KnowError where the log is not UTF-8,
    or history is cut.
    """
    if history.is_shallow(repository):
        raise KnowError(
            "this clone is shallow: it does not know when its concepts began",
            hint="run: git fetch --unshallow",
        )
    try:
        before = now.decode()
    except UnicodeDecodeError as error:
        raise KnowError(f"{LOG}: not UTF-8", hint="save the file as UTF-8") from error
    parts = _parts(before)
    lost = _unlink(parts, repository)
    changed = _unite(parts) or lost
    newest = _newest(parts) if MARK in before else ""
    written = history.last_commit(repository, LOG) if newest else ""
    arrived = history.commits_since(repository, written) if written else frozenset()
    known = set(_known(parts))
    by_day: dict[str, list[str]] = defaultdict(list)
    for entry in log.entries(repository, after=newest, arrived=arrived):
        if not _is_known(entry, known):
            by_day[entry.day].append(entry.text)
    if not by_day and not changed:
        return now
    if MARK not in before:
        _introduce(parts)
    for day, lines in by_day.items():
        _add(parts, day, lines)
    newline = "\r\n" if "\r\n" in before else "\n"
    return "".join(f"{line}{newline}" for part in parts for line in part.lines).encode()


def _parts(text: str) -> list[_Part]:
    """Cut a log at the headings of its days; `##` in a block of code is none."""
    parts = [_Part()]
    fence = ""
    for line in text.replace("\r\n", "\n").removesuffix("\n").split("\n") if text else []:
        marker = _FENCE.match(line)
        if marker:
            closes = fence and marker[1].startswith(fence)
            fence = "" if closes else fence or marker[1]
        day = None if fence else _DAY.match(line)
        if day or (parts[-1].day and not fence and _HEADING.match(line)):
            parts.append(_Part(day[1] if day else ""))
        parts[-1].lines.append(line)
    return parts


def _unlink(parts: list[_Part], repository: Repository) -> bool:
    """Name what our entries link to and is not there any more; says whether there was any."""
    changed = False
    for part in parts:
        for number, line in enumerate(part.lines if part.day else ()):
            found = _LINKED.match(line)
            if found and not (repository.concepts / unquote(found[3])).is_file():
                part.lines[number] = f"{found[1]}{found[2]} (`{unquote(found[3])}`){found[4]}"
                changed = True
    return changed


def _unite(parts: list[_Part]) -> bool:
    """Make one of a day that stands twice, and of our entry; says whether there was any."""
    first: dict[str, _Part] = {}
    changed = False
    for part in parts[:]:
        if not part.day:
            continue
        if part.day in first:
            _append(first[part.day], [line for line in part.lines[1:] if line.strip()])
            parts.remove(part)
            changed = True
        part = first.setdefault(part.day, part)
        kept = [
            line
            for number, line in enumerate(part.lines)
            if not (_OURS.match(line) and line in part.lines[:number])
        ]
        changed = changed or len(kept) < len(part.lines)
        part.lines[:] = kept
    return changed


def _known(parts: Iterable[_Part]) -> Iterator[tuple[str, str, str]]:
    """Yield day, kind and path of each entry, whoever wrote it."""
    for part in parts:
        for line in part.lines if part.day else ():
            entry = _ENTRY.match(line)
            if entry:
                yield from ((part.day, entry[1], path) for path in _paths(line))


def _paths(line: str) -> Iterator[str]:
    targets = [unquote(link.target.partition("#")[0]) for link in links(line)]
    for target in [*targets, *_UNLINKED.findall(line)]:
        yield posixpath.normpath(posixpath.join(FOLDER, target.lstrip("/")))


def _is_known(entry: log.Entry, known: set[tuple[str, str, str]]) -> bool:
    """Say whether the log has an entry; a day that has more to say needs no update."""
    says = log.KINDS[:3] if entry.kind == "Update" else (entry.kind,)
    return any((entry.day, kind, entry.path) in known for kind in says)


def _newest(parts: Iterable[_Part]) -> str:
    """Return the day of the newest entry that we wrote; '' where there is none."""
    ours = (p.day for p in parts if p.day and any(_OURS.match(line) for line in p.lines))
    return max(ours, default="")


def _introduce(parts: list[_Part]) -> None:
    """Put the mark below what precedes the days."""
    first = parts[0]
    _append(first, [*(["# Log"] if not any(map(str.strip, first.lines)) else []), "", MARK])
    if len(parts) > 1 and first.lines[-1]:
        first.lines.append("")


def _add(parts: list[_Part], day: str, lines: list[str]) -> None:
    """Add lines to a day, which is made before all that are older."""
    there = next((part for part in parts if part.day == day), None)
    if there is not None:
        _append(there, lines)
        return
    numbers = [number for number, part in enumerate(parts) if part.day]
    older = (number for number in numbers if parts[number].day < day)
    at = next(older, numbers[-1] + 1 if numbers else len(parts))
    before = parts[at - 1].lines
    if before and before[-1].strip():
        before.append("")
    behind = [""] if at < len(parts) else []
    parts.insert(at, _Part(day, [f"## {day}", "", *lines, *behind]))


def _append(part: _Part, lines: list[str]) -> None:
    """Put lines behind the last one that is not empty."""
    end = len(part.lines)
    while end and not part.lines[end - 1].strip():
        end -= 1
    part.lines[end:end] = lines
