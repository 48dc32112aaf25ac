"""The history of one concept: its commits, what each did to it, and what took whose place.

Owns the walk through renames and what is told of each commit. Which concept a word
means is `concepts.naming`'s business, but for one that is gone: that is found here, by
its path.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import NamedTuple

from knowrepo.concepts import naming
from knowrepo.concepts.model import FOLDER, is_concept_path, read_concept, successor
from knowrepo.errors import KnowError
from knowrepo.git import history, partial, plumbing, revisions
from knowrepo.git.layout import Repository
from knowrepo.git.revisions import Commit, Step
from knowrepo.history.versions import Version, differences, version


@dataclass(frozen=True)
class Event:
    """What one commit did: ``kind`` is added, changed, renamed, removed, merged, or unknown.

    ``renamed_from`` is the path before; ``changes`` are a few words each. ``generated_by``
    and ``verified`` are what the front matter said from then on.
    """

    commit: Commit
    kind: str
    path: str
    renamed_from: str = ""
    changes: tuple[str, ...] = ()
    generated_by: str = ""
    verified: tuple[str, ...] = ()


@dataclass(frozen=True)
class Trace:
    """A concept's history, newest first. ``path`` is where it is, or was at last.

    ``uncommitted`` are the changes that no commit has yet.
    """

    path: str
    title: str
    events: tuple[Event, ...]
    superseded_by: str = ""
    supersedes: tuple[str, ...] = ()
    uncommitted: tuple[str, ...] = ()
    shallow: bool = False


def trace(repository: Repository, name: str, *, most: int = 0) -> Trace:
    """Return the history of the concept that ``name`` means; of at most so many commits.

    Raises KnowError where there is no such concept, nor ever was one at that path.
    """
    path = find(repository, name)
    steps = revisions.steps(repository, path, FOLDER)
    contents = _read(repository, steps[: most or None])
    events = tuple(_events(contents))
    full = repository.root / path
    data = full.read_bytes() if full.is_file() and not full.is_symlink() else None
    current = read_concept(path, data) if data is not None else None
    last = next((one.new or one.old for one in contents if one.new or one.old), None)
    concept = current or read_concept(path, last or b"")
    after = successor(concept)
    return Trace(
        path, concept.title, events, after if after != path else "",
        tuple(superseded_by(repository, path)),
        _uncommitted(path, _committed(repository, path), data),
        history.is_shallow(repository),
    )  # fmt: skip


def find(repository: Repository, name: str) -> str:
    """Return the path of a concept, also of one that was removed, by its path or id."""
    try:
        return naming.resolve(repository, name)
    except KnowError as error:
        if not error.message.endswith("no such concept") or not plumbing.has_commits(repository):
            raise
        for path in dict.fromkeys((name, f"{name}.md", f"{FOLDER}/{name}", f"{FOLDER}/{name}.md")):
            if _was_there(repository, path):
                return path
        raise


def _was_there(repository: Repository, path: str) -> bool:
    parts = PurePosixPath(path).parts
    if not is_concept_path(path) or ".." in parts or "\0" in path:
        return False
    return bool(revisions.steps(repository, path, FOLDER))


class _Read(NamedTuple):
    """A step with the contents before and after; None for none, or one that is not here."""

    step: Step
    old: bytes | None
    new: bytes | None


def _read(repository: Repository, steps: Sequence[Step]) -> list[_Read]:
    changes = [step.change for step in steps]
    oids = list(dict.fromkeys(oid for one in changes for oid in (one.old, one.new) if oid))
    contents = dict(zip(oids, partial.blobs(repository, oids), strict=True))
    return [
        _Read(step, contents.get(step.change.old), contents.get(step.change.new)) for step in steps
    ]


def _events(read: Iterable[_Read]) -> Iterator[Event]:
    parsed: dict[bytes, Version] = {}

    def at(path: str, data: bytes) -> Version:
        if data not in parsed:
            parsed[data] = version(path, data)
        return parsed[data]

    for step, old, new in read:
        kind = _kind(step)
        before, after = step.change.old_path, step.change.path
        if new is None:
            unknown = kind != "removed"  # a partial clone has the name, not the content
            yield Event(step.commit, kind, after or before, changes=("content not here",) * unknown)
            continue
        is_ = at(after, new)
        was = at(before, old) if old is not None else None
        yield Event(
            step.commit, kind, after, before if kind == "renamed" else "",
            tuple(differences(was, is_)) if was else (), is_.generated_by, is_.verified,
        )  # fmt: skip


def _kind(step: Step) -> str:
    before, after = step.change.old_path, step.change.path
    if not after:
        return "removed"
    if step.merged:
        return "merged"
    if not before:
        return "added"
    return "renamed" if before != after else "changed"


def _committed(repository: Repository, path: str) -> bytes | None:
    """Return what HEAD has at a path; a merge may have brought it though no commit of ours did."""
    if not plumbing.has_commits(repository):
        return None
    oids = list(revisions.files(repository, "HEAD", path).values())
    return next(partial.blobs(repository, oids), None)


def _uncommitted(path: str, committed: bytes | None, data: bytes | None) -> tuple[str, ...]:
    """Return what the file says that no commit does."""
    if data is None:
        return ("removed",) if committed is not None else ()
    if committed is None:
        return ("not committed",)
    return tuple(differences(version(path, committed), version(path, data)))


def superseded_by(repository: Repository, path: str) -> list[str]:
    """Return the concepts that name this one as what holds instead of them."""
    last = PurePosixPath(path).stem
    named = plumbing.with_lines(repository, FOLDER, ["^superseded_by:"])
    found = []
    for other in named:
        full = repository.root / other
        if is_concept_path(other) and other != path and not full.is_symlink():
            data = full.read_bytes()
            if last.encode() in data and successor(read_concept(other, data)) == path:
                found.append(other)
    return sorted(found)
