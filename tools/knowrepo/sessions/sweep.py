"""Finding all on this machine that may belong in a repository.

Owns the walk over the agents' places, and from an entry of the queue to its
files: which are worth a look. What of them belongs here is told by their content
(see `archive` and `projects`).
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from itertools import islice
from pathlib import Path
from typing import Any

from knowrepo.errors import KnowError, UsageError
from knowrepo.sessions.capture.queue import Entry
from knowrepo.sessions.discover import Failed, Place, aider_histories, find_sources, places
from knowrepo.sessions.projects import Projects
from knowrepo.sessions.readers import READERS, recognise
from knowrepo.sessions.source import Source, is_damage

_HEAD = 5


def sources(
    projects: Projects, failed: Failed, *, agents: Collection[str] = (), since: float = 0.0
) -> list[Path]:
    """Return the files in the places of ``agents``, by default of all of them.

    ``failed`` is told of what cannot be looked into. Those last written before
    ``since`` (a Unix time), and those that the configuration excludes, are left out.
    """
    unknown = set(agents) - {reader.agent for reader in READERS}
    if unknown:
        known = ", ".join(sorted(reader.agent for reader in READERS))
        raise UsageError(f"unknown agent {min(unknown)}; known are {known}")
    found: dict[Path, None] = {}
    for place in [*places(), *aider_histories(projects.folders)]:
        if not agents or place.agent in agents:
            found.update(dict.fromkeys(_files(place, projects, failed, since)))
    return list(found)


def _files(place: Place, projects: Projects, failed: Failed, since: float) -> Iterator[Path]:
    for path in place.files(failed):
        try:
            recent = not since or path.stat().st_mtime >= since
        except OSError:  # gone since we looked
            continue
        if recent and not projects.excludes(str(path)):
            yield path


def belonging(paths: Iterable[Path], projects: Projects) -> Iterator[Path]:
    """Yield those of ``paths`` whose first records say that they belong to the projects."""
    for path in paths:
        try:
            if _belongs(path, projects):
                yield path
        except Exception as error:
            # Why it cannot be read is told when it is archived.
            if not (isinstance(error, OSError | KnowError) or is_damage(error)):
                raise


def _belongs(path: Path, projects: Projects) -> bool:
    source = Source(path)
    found = recognise(source)
    if found is None:
        return False
    heads: list[list[Mapping[str, Any]]]
    if found.sessions is None:
        heads = [[line.record for line in source.first_lines if line.record is not None]]
    else:
        heads = [list(islice(session.records, _HEAD)) for session in found.sessions]
    for head in heads:
        folders = [found.reader.folder(record) for record in head]
        hashes = [found.reader.folder_hash(record) for record in head]
        if projects.admits(next(filter(None, folders), ""), next(filter(None, hashes), "")):
            return True
    return False


# -- the queue -------------------------------------------------------------------


def wants(entry: Entry, projects: Projects) -> bool:
    """Say whether an entry of the queue is of a project that belongs here.

    Where git cannot tell it is taken, so that archiving it fails and says why.
    """
    if entry.path is not None and projects.excludes(str(entry.path)):
        return False
    try:
        if entry.cwd and projects.admits(entry.cwd):
            return True
    except KnowError:
        return True
    return entry.path is not None and any(belonging([entry.path], projects))


def located(entry: Entry, failed: Failed) -> Entry:
    """Return the entry with its transcript, looked up where its agent named only the session."""
    if entry.path is not None or not entry.session:
        return entry
    for place in places():
        if place.agent == entry.agent:
            for path in place.files(failed):
                if entry.session in str(path):
                    return entry.at(path)
    return entry


def files_of(entry: Entry, projects: Projects, failed: Failed) -> list[Path]:
    """Return an entry's transcript and what lies below it: sub-agents, outputs of tools.

    What the configuration excludes is left out.
    """
    path = entry.path
    if path is None or not path.is_file():
        return []
    beside = path.with_suffix("")
    found = [path, *(find_sources([beside], failed) if beside.is_dir() else [])]
    return [file for file in found if not projects.excludes(str(file))]
