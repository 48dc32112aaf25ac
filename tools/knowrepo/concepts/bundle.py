"""The files of the bundle as git tracks them, and those that are generated.

Owns reading and writing under `concepts/` for the commands and hooks. It lists
files through git, never by a pattern: an untracked draft is nobody's knowledge
yet, and pre-commit leaves untracked files lying about.
"""

from __future__ import annotations

import contextlib
import functools
import stat
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from knowrepo.concepts import conflicts, tags
from knowrepo.concepts.facts import Facts, blob_id
from knowrepo.concepts.listed import Listed, as_kept, from_kept, listed
from knowrepo.concepts.model import FOLDER, Concept, is_concept_path, read_concept
from knowrepo.config import write_atomically
from knowrepo.errors import KnowError
from knowrepo.git import partial, plumbing
from knowrepo.git.layout import Repository


class Present(NamedTuple):
    """What stands where a generated file is, or may be.

    ``holds`` says whether it is a content, wherever git wrote CRLF or was given it.
    """

    is_ours: bool
    holds: Callable[[bytes], bool]


@dataclass(frozen=True)
class Generated:
    """One generated file: what it should hold, and how it stands.

    ``foreign`` marks an `index.md` that a person wrote: it is left alone, and its
    content is not here. ``gone`` marks one of ours that should not be there any more:
    it is stale while it is there, and git has to be told where it tracks it.
    """

    path: str
    content: bytes
    stale: bool
    untracked: bool
    foreign: bool = False
    gone: bool = False

    @property
    def is_wrong(self) -> bool:
        """Whether the next commit would not hold what it should."""
        if self.foreign or self.gone:
            return self.gone and not self.untracked
        return self.stale or self.untracked


def read_tracked(repository: Repository, *, staged: bool = False) -> dict[str, bytes]:
    """Return ``{path: bytes}`` of the tracked Markdown files of the bundle.

    The content is that of the work tree (pre-commit sets unstaged edits aside
    before its hooks run); a file deleted from there is left out. With ``staged``
    it is what git's index holds, as the next commit will have it.
    """
    tracked = plumbing.tracked(repository, FOLDER, for_commit=not staged)
    chosen = [path for path in tracked if path.endswith(".md")]
    return _read_some(repository, tracked, chosen, staged=staged, outside=False)


def _read_some(
    repository: Repository,
    tracked: Mapping[str, str],
    chosen: Iterable[str],
    *,
    staged: bool = False,
    outside: bool = True,
) -> dict[str, bytes]:
    """Return the contents of the chosen ones of the tracked files, by path.

    With ``outside`` those that a sparse checkout leaves out are among them, as git has them.
    """
    repository.inside(repository.concepts)
    oids = {path: tracked[path] for path in chosen}
    differ = (
        [path for path in plumbing.modified(repository, FOLDER) if path in oids] if staged else []
    )
    blobs = plumbing.blobs(repository, [oids[path] for path in differ])
    found = {path: data for path, data in zip(differ, blobs, strict=True) if data is not None}
    for path in oids.keys() - found.keys():
        full = repository.root / path
        if _is_there(full):
            found[path] = full.read_bytes()
    if outside and (absent := oids.keys() - found.keys()):
        left_out = [path for path in plumbing.left_out(repository, FOLDER) if path in absent]
        blobs = partial.blobs(repository, [oids[path] for path in left_out])
        for path, data in zip(left_out, blobs, strict=True):
            if data is None:
                hint = "`git sparse-checkout add` of its folder brings it"
                raise KnowError(f"{path}: this partial clone has not got it", hint=hint)
            found[path] = data
    return dict(sorted(found.items()))


def _is_there(full: Path) -> bool:
    """Say whether a file is there, and no symbolic link in its place."""
    try:
        return stat.S_ISREG(full.lstat().st_mode)
    except OSError:
        return False


def drafts(repository: Repository) -> list[str]:
    """Return the concepts that git does not track: nobody's knowledge yet."""
    return [path for path in plumbing.untracked(repository, FOLDER) if is_concept_path(path)]


def read_drafts(repository: Repository) -> list[Concept]:
    """Read the concepts that git does not track; one that cannot be read is left out."""
    found: dict[str, bytes] = {}
    for path in drafts(repository):
        full = repository.root / path
        with contextlib.suppress(OSError):
            if not full.is_symlink():
                found[path] = full.read_bytes()
    return _concepts(found)


def read_concepts(repository: Repository) -> list[Concept]:
    """Read the tracked concepts."""
    return _concepts(read_tracked(repository))


def refuse_conflicts(repository: Repository) -> list[str]:
    """Raise KnowError while concepts are in conflict: what they say is not decided.

    Returns what else of the bundle is in conflict.
    """
    unmerged = plumbing.unmerged(repository, FOLDER)
    refuse_any_of(unmerged)
    return unmerged


def refuse_any_of(unmerged: Iterable[str]) -> None:
    """Raise KnowError where a concept is among the names that git has in conflict."""
    for path in filter(is_concept_path, unmerged):
        raise KnowError(
            f"{path}: in conflict", hint="resolve it and `git add` it, then run this again"
        )


def generated_files(repository: Repository, *, staged: bool = False) -> list[Generated]:
    """Say what each generated file should hold and whether it does.

    With ``staged`` that is asked of git's index, else of the work tree. Raises
    KnowError while concepts are in conflict; a generated file that is, follows from
    them like any other.
    """
    unsettled = conflicts.indexes(repository, refuse_conflicts(repository))
    tracked = plumbing.tracked(repository, FOLDER, for_commit=not staged)
    known = set(tracked)
    indexes = [path for path in tracked if tags.index_folder(path) is not None]
    files = _read_some(repository, tracked, indexes, staged=staged)
    if not staged:
        files |= _read_some(repository, dict.fromkeys(unsettled.ours, ""), unsettled.ours)
    concepts = _listed(repository, tracked, staged=staged)
    present = _present(repository, files, concepts, staged=staged)
    deleted = _deleted(repository, known, staged=staged)
    return compared(concepts, present, known, deleted, unsettled)


def compared(
    concepts: Collection[Listed],
    present: Mapping[str, Present],
    known: Collection[str],
    deleted: Collection[str] = (),
    unsettled: conflicts.Indexes = conflicts.NONE,
) -> list[Generated]:
    """Say how what is ``present`` differs from what the concepts ask for.

    ``present`` are the indexes and the tag index that are there; ``known`` are the
    paths that git tracks, ``deleted`` the generated ones that it does and that are gone,
    ``unsettled`` those that are in conflict.
    """
    known = set(known)
    ours = {path for path, there in present.items() if there.is_ours} - unsettled.foreign
    folders = {path: tags.index_folder(path) or "" for path in present if path != tags.TAG_INDEX}
    keeping = known | unsettled.kept
    wanted = tags.index_files(
        concepts,
        ours=[folder for path, folder in folders.items() if path in ours and path in keeping],
        theirs=[folder for path, folder in folders.items() if path not in ours],
    )
    wanted[tags.TAG_INDEX] = tags.tag_index(concepts)
    found = [
        Generated(
            path,
            content,
            stale=path not in present or not present[path].holds(content),
            untracked=path not in known,
        )
        for path, content in wanted.items()
    ]
    if tags.INDEX in present and tags.INDEX not in wanted:
        found.insert(0, Generated(tags.INDEX, b"", False, tags.INDEX not in known, foreign=True))
    superfluous = sorted((ours | set(deleted)) - set(wanted))
    known |= unsettled.ours
    return found + [
        Generated(path, b"", stale=path in present, untracked=path not in known, gone=True)
        for path in superfluous
    ]


def write_generated(repository: Repository) -> list[Generated]:
    """Bring the generated files of the work tree up to date; returns all of them as they stood."""
    files = generated_files(repository)
    for file in files:
        if file.stale:
            put(repository, file)
    return files


def put(repository: Repository, file: Generated) -> None:
    """Make the work tree hold a generated file as it should be."""
    full = repository.inside(repository.root / file.path)
    if file.gone:
        _remove(full)
    else:
        _write(repository, full, file.content)


def _listed(repository: Repository, tracked: Mapping[str, str], *, staged: bool) -> list[Listed]:
    """Return what is listed of the concepts.

    Those that git calls unchanged, and whose blob was read before, are not read again.
    """
    paths = [path for path in tracked if is_concept_path(path)]
    changed = set(plumbing.modified(repository, FOLDER, for_commit=not staged))
    found: dict[str, Listed] = {}
    with Facts(repository, "concepts") as facts:
        for path in paths:
            if staged or (path not in changed and _is_there(repository.root / path)):
                entry = remembered(facts, tracked[path], path)
                if entry is not None:
                    found[path] = entry
        unknown = [path for path in paths if path not in found]
        for path, data in _read_some(repository, tracked, unknown, staged=staged).items():
            oid = blob_id(data, like=tracked[path])
            found[path] = remembered(facts, oid, path) or read_listed(facts, oid, path, data)
    return [found[path] for path in paths if path in found]


def remembered(facts: Facts, oid: str, path: str) -> Listed | None:
    """Return what is listed of the concept at ``path``, where its blob was read before."""
    kept = facts.get(oid)
    try:
        return None if kept is None else from_kept(kept, path)
    except ValueError:  # not of our making
        return None


def read_listed(facts: Facts, oid: str, path: str, data: bytes) -> Listed:
    """Return what is listed of the concept at ``path``, and remember it by its blob."""
    kept = as_kept(listed(read_concept("", data)))
    facts.put(oid, kept)
    return from_kept(kept, path)


def _concepts(files: Mapping[str, bytes]) -> list[Concept]:
    return [_read(path, data) for path, data in files.items() if is_concept_path(path)]


@functools.lru_cache(maxsize=20_000)
def _read(path: str, data: bytes) -> Concept:
    """Read a concept; a command that looks twice, before and after it writes, parses once."""
    return read_concept(path, data)


def _present(
    repository: Repository, files: Mapping[str, bytes], concepts: list[Listed], *, staged: bool
) -> dict[str, Present]:
    """Return what stands where a generated file is, or may be: each index, and the tag index."""
    found = {path: data for path, data in files.items() if tags.index_folder(path) is not None}
    if staged:
        oid = plumbing.tracked(repository, tags.TAG_INDEX).get(tags.TAG_INDEX)
        blobs = plumbing.blobs(repository, [oid]) if oid else ()
        found.update((tags.TAG_INDEX, blob) for blob in blobs if blob is not None)
    else:
        beside = {path for concept in concepts for path in tags.indexes_above(concept)}
        for path in {tags.INDEX, tags.TAG_INDEX, *beside} - set(found):
            full = repository.root / path
            if full.is_file():
                found[path] = full.read_bytes()
    return {path: present(data) for path, data in found.items()}


def present(data: bytes) -> Present:
    """Return what is to be known of a file that is there; CRLF is as good as LF."""
    data = data.replace(b"\r\n", b"\n")
    return Present(tags.is_generated(data), data.__eq__)


def _deleted(repository: Repository, known: Iterable[str], *, staged: bool) -> set[str]:
    """Return the generated indexes that are removed, where git does not know it yet."""
    if staged:
        return set()
    indexes = [path for path in known if tags.index_folder(path) is not None]
    lost = [path for path in indexes if not (repository.root / path).exists()]
    if lost:
        left_out = set(plumbing.left_out(repository, FOLDER))
        lost = [path for path in lost if path not in left_out]
    oids = plumbing.tracked(repository, *lost, for_commit=True) if lost else {}
    blobs = plumbing.blobs(repository, list(oids.values()))
    return {p for p, data in zip(oids, blobs, strict=True) if data and tags.is_generated(data)}


def _write(repository: Repository, path: Path, content: bytes) -> None:
    try:
        write_atomically(path, content, aside=repository.locks)
    except OSError as error:
        raise KnowError(f"{path}: cannot be written: {error.strerror}") from error


def _remove(path: Path) -> None:
    """Remove a file, and the folder that it leaves empty, as git itself does."""
    try:
        path.unlink(missing_ok=True)
    except OSError as error:
        raise KnowError(f"{path}: cannot be removed: {error.strerror}") from error
    with contextlib.suppress(OSError):  # something else lies there
        path.parent.rmdir()
