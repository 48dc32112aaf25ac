"""What became of the knowledge between two commits: added, changed, superseded, and so on.

Owns the sorting of changed files into what a person asks for. Only what changed is read.
Sessions are counted by project; what they say is not looked at.
"""

from __future__ import annotations

import io
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Literal

from knowrepo.concepts.model import FOLDER, is_concept_path, successor
from knowrepo.git import partial, revisions
from knowrepo.git.layout import Repository
from knowrepo.git.revisions import Changed, Range
from knowrepo.history.versions import Version, differences, version
from knowrepo.sessions import origin
from knowrepo.sessions.store import SessionName
from knowrepo.sessions.tracked import session_of

Kind = Literal["added", "changed", "superseded", "deprecated", "renamed", "removed"]
KINDS: tuple[Kind, ...] = ("added", "changed", "superseded", "deprecated", "renamed", "removed")
"""In the order in which they are told."""
UNKNOWN = ""
"""The project of a session that does not say where it ran, or is too large to look."""
_SESSIONS = "sessions"
_HEAD = 1 << 18  # bytes of a session in which its project stands
_LARGEST = 8_000_000
_BATCH = 20  # sessions whose content is held at once
_PATHS = 500  # of a command line


@dataclass(frozen=True)
class Entry:
    """What became of one concept. ``path`` is where it is, or was if it is gone."""

    kind: Kind
    path: str
    type: str
    title: str
    description: str
    status: str
    renamed_from: str = ""
    superseded_by: str = ""
    changes: tuple[str, ...] = ()


@dataclass(frozen=True)
class Sessions:
    """How many sessions of a project are new, grew, and are gone."""

    project: str
    added: int
    changed: int
    removed: int


@dataclass(frozen=True)
class Between:
    """All that differs. ``unread`` counts concepts whose content this clone lacks."""

    range: Range
    entries: tuple[Entry, ...]
    sessions: tuple[Sessions, ...]
    unread: int = 0

    def of(self, kind: Kind) -> list[Entry]:
        """Return the entries of a kind."""
        return [entry for entry in self.entries if entry.kind == kind]


def between(repository: Repository, span: Range) -> Between:
    """Return what became of the knowledge from one commit to another."""
    files = revisions.changed(repository, span.old, span.new, FOLDER, _SESSIONS)
    concepts = [change for change in map(_as_concept, files) if change.path or change.old_path]
    oids = list(dict.fromkeys(oid for one in concepts for oid in (one.old, one.new) if oid))
    contents = dict(zip(oids, partial.blobs(repository, oids), strict=True))
    entries = [_entry(change, contents) for change in concepts]
    entries.sort(key=lambda entry: (KINDS.index(entry.kind), entry.path))
    unread = sum(
        any(contents[oid] is None for oid in (one.old, one.new) if oid) for one in concepts
    )
    return Between(span, tuple(entries), tuple(_sessions(repository, span, files)), unread)


def _as_concept(change: Changed) -> Changed:
    """Return a change without a side that is no concept."""
    old_path, path, old, new = change
    if not is_concept_path(old_path):
        old_path, old = "", ""
    if not is_concept_path(path):
        path, new = "", ""
    return Changed(old_path, path, old, new)


def _entry(change: Changed, contents: Mapping[str, bytes | None]) -> Entry:
    old = version(change.old_path, contents[change.old] or b"") if change.old else None
    new = version(change.path, contents[change.new] or b"") if change.new else None
    shown = new or old
    assert shown is not None
    concept = shown.concept
    moved = change.old_path if old and new and change.old_path != change.path else ""
    return Entry(
        _kind(old, new, renamed=bool(moved)), concept.path, concept.type, concept.title,
        concept.description, concept.status, moved, successor(concept) if new else "",
        tuple(differences(old, new)) if old and new else (),
    )  # fmt: skip


def _kind(old: Version | None, new: Version | None, *, renamed: bool) -> Kind:
    if old is None:
        return "added"
    if new is None:
        return "removed"
    before, after = old.concept, new.concept
    if after.superseded_by and not before.superseded_by:
        return "superseded"
    if after.status == "deprecated" and before.status != "deprecated":
        return "deprecated"
    return "renamed" if renamed else "changed"


def _sessions(repository: Repository, span: Range, files: Iterable[Changed]) -> list[Sessions]:
    """Count the sessions by project; a further file of a long session is that session grown."""
    found: dict[SessionName, Changed] = {}
    for change in files:
        path = change.path or change.old_path
        if not (path.startswith(f"{_SESSIONS}/") and path.endswith(".jsonl")):
            continue
        name = session_of(repository, repository.root / path)
        if name is not None:
            first = path == name.path(repository.sessions).relative_to(repository.root).as_posix()
            if first or name not in found:
                found[name] = change if first else change._replace(old=change.old or change.new)
    noted = _noted(repository, span, found) if found else {}
    unnoted = [change for key, change in found.items() if key not in noted]
    projects = _projects(repository, unnoted)
    counts: dict[str, Counter[str]] = {}
    for key, change in found.items():
        kind = "changed" if change.old and change.new else "added" if change.new else "removed"
        project = noted.get(key) or projects[change.new or change.old]
        counts.setdefault(project, Counter())[kind] += 1
    return [
        Sessions(name, one["added"], one["changed"], one["removed"])
        for name, one in sorted(counts.items())
    ]


def _noted(
    repository: Repository, span: Range, names: Iterable[SessionName]
) -> dict[SessionName, str]:
    """Return the projects that either commit has noted beside sessions."""
    paths = {name: origin.path_of(Path(_SESSIONS), name).as_posix() for name in names}
    wanted = list(dict.fromkeys(paths.values()))
    oids: dict[str, str] = {}
    for start in range(0, len(wanted), _PATHS):
        some = wanted[start : start + _PATHS]
        for commit in (span.old, span.new):
            oids |= revisions.files(repository, commit, *some)
    blobs = list(dict.fromkeys(oids.values()))
    said = {
        oid: origin.read(data or b"")
        for oid, data in zip(blobs, partial.blobs(repository, blobs), strict=True)
    }
    found = {name: said.get(oids.get(path, "")) for name, path in paths.items()}
    return {name: one.name for name, one in found.items() if one is not None}


def _projects(repository: Repository, changes: list[Changed]) -> dict[str, str]:
    """Return ``{blob oid: project}`` of sessions, by the head of each."""
    agents = {c.new or c.old: PurePosixPath(c.path or c.old_path).parts[1] for c in changes}
    found = dict.fromkeys(agents, UNKNOWN)
    sizes = partial.sizes(repository, list(agents))
    oids = [oid for oid in agents if sizes.get(oid, _LARGEST + 1) <= _LARGEST]
    for start in range(0, len(oids), _BATCH):
        some = oids[start : start + _BATCH]
        for oid, content in zip(some, partial.blobs(repository, some), strict=True):
            found[oid] = _project(agents[oid], content or b"")
    return found


def _project(agent: str, content: bytes) -> str:
    # All readers take longer to import than a comparison without sessions takes.
    from knowrepo.sessions.lines import read_lines
    from knowrepo.sessions.readers import reader_of

    reader = reader_of(agent)
    if reader is None:
        return UNKNOWN
    head = content[:_HEAD]
    lines = list(read_lines(io.BytesIO(head[: head.rfind(b"\n") + 1])))
    for line in lines:
        folder = reader.folder(line.record) if line.record is not None else ""
        if folder:
            return origin.folder_name(folder)
    return UNKNOWN
