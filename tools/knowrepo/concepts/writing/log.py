"""The log of the bundle: what became of its concepts day by day, by git's history.

Owns the entries that history gives, in the form of S9 of OKF. A day is that of the
commit's author, in UTC, so that every clone, and history after a rebase, tells the
same. How entries come into a file in which people write too is `log_file`'s.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Literal

from knowrepo.concepts.listed import shown_as_it_is
from knowrepo.concepts.model import FOLDER, Concept, is_concept_path, read_concept
from knowrepo.concepts.tags import link
from knowrepo.git import history, plumbing
from knowrepo.git.layout import Repository

Kind = Literal["Creation", "Update", "Deprecation", "Removal"]
KINDS: tuple[Kind, ...] = ("Creation", "Update", "Deprecation", "Removal")
"""In the order in which they stand on a day."""
_BATCH = 500  # blobs that are held at once


@dataclass(frozen=True)
class Entry:
    """What became of one concept on one day; ``text`` is its line in the log."""

    day: str
    kind: Kind
    path: str
    text: str


def entries(
    repository: Repository, *, after: str = "", arrived: frozenset[str] = frozenset()
) -> list[Entry]:
    """Return what history says, newest first.

    With ``after``, a day, only of that day and later ones; of the commits in
    ``arrived`` all.
    """
    days: dict[tuple[str, str], list[history.Change]] = defaultdict(list)
    begun: dict[str, str] = {}
    for change in history.changes(repository, FOLDER):
        if not is_concept_path(change.path):
            continue
        day = change.day
        if change.status == "A":
            begun[change.path] = min(day, begun.get(change.path, day))
        if day >= after or change.commit in arrived:
            days[day, change.path].append(change)
    there = plumbing.tracked(repository, FOLDER) if days else {}
    read = _read(repository, [change for changes in days.values() for change in changes])
    found: list[Entry] = []
    for (day, path), changes in days.items():
        of_day = _Day(day, path, changes, begun.get(path, day) < day, path in there)
        found += of_day.entries(read)
    found.sort(key=lambda entry: (KINDS.index(entry.kind), entry.path))
    found.sort(key=lambda entry: entry.day, reverse=True)
    return found


def _read(repository: Repository, changes: list[history.Change]) -> dict[str, Concept]:
    """Return the concepts that changes found and made, by blob oid, without their bodies."""
    wanted = {oid: change.path for change in changes for oid in (change.old, change.new) if oid}
    oids = list(wanted)
    found: dict[str, Concept] = {}
    for start in range(0, len(oids), _BATCH):
        some = oids[start : start + _BATCH]
        for oid, data in zip(some, plumbing.blobs(repository, some), strict=True):
            found[oid] = replace(read_concept(wanted[oid], data or b""), body="")
    return found


def text(found: Iterable[Entry]) -> str:
    """Return entries as the log has them, a heading a day."""
    lines: list[str] = []
    day = ""
    for entry in found:
        if entry.day != day:
            day = entry.day
            lines += ["", f"## {day}", ""]
        lines.append(entry.text)
    return "\n".join(lines).strip("\n")


@dataclass(frozen=True)
class _Day:
    """What happened to one concept on one day; the changes are the oldest first.

    ``is_old``: it was there on an earlier day. ``is_there``: it is now.
    """

    day: str
    path: str
    changes: list[history.Change]
    is_old: bool
    is_there: bool

    def entries(self, read: Mapping[str, Concept]) -> Iterator[Entry]:
        """Yield what the log says of it."""
        kinds = {change.status for change in self.changes}
        if "D" in kinds and not ("A" in kinds and self.is_there):
            if self.is_old or "A" not in kinds:  # else it came and went
                yield self._entry("Removal", read)
            return
        deprecated = any(
            _is_deprecated(read.get(change.new)) and not _is_deprecated(read.get(change.old))
            for change in self.changes
            if change.status == "M"
        )
        if "A" in kinds and not self.is_old:
            yield self._entry("Creation", read)
        elif not deprecated:
            yield self._entry("Update", read)
        if deprecated:
            yield self._entry("Deprecation", read)

    def _entry(self, kind: Kind, read: Mapping[str, Concept]) -> Entry:
        """Return an entry; a concept that is not there any more is named, not linked."""
        concept = read[next(c.new or c.old for c in reversed(self.changes))]
        title, told = concept.title, concept.description
        name = self.path.removeprefix(f"{FOLDER}/")
        is_there = self.is_there and kind != "Removal"
        named = link(title, self.path) if is_there else f"{shown_as_it_is(title)} (`{name}`)"
        more = f": {shown_as_it_is(told)}" if told else ""
        return Entry(self.day, kind, self.path, f"* **{kind}** {named}{more}")


def _is_deprecated(concept: Concept | None) -> bool:
    return concept is not None and concept.status == "deprecated"
