"""Joining both sides of an archived session that git merges, or could not merge.

Owns what git's own merge cannot know: that no line of a session is to be chosen
over another. Both sides are in git's index, or in the two commits, or between the
markers in the file; a session in several parts is joined as a whole. Only the work
tree is written; to add it to git's index is left to the person who merges.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path, PurePosixPath
from tempfile import TemporaryDirectory
from typing import IO

from knowrepo.config import load_repository_config, write_atomically
from knowrepo.errors import KnowError
from knowrepo.git import plumbing
from knowrepo.git.layout import Repository
from knowrepo.sessions import origin, store
from knowrepo.sessions.conflicts import BASE, MIDDLE, OURS, THEIRS, marker_line
from knowrepo.sessions.forget import forget, is_forgotten, tombstone
from knowrepo.sessions.lines import parse_object, read_lines
from knowrepo.sessions.publish import PUBLISHING, publish
from knowrepo.sessions.readers import reader_of
from knowrepo.sessions.record import Reader
from knowrepo.sessions.redact.settings import redactor_for
from knowrepo.sessions.store import SessionName
from knowrepo.sessions.tracked import session_of
from knowrepo.sessions.unite import merge

_OTHER = ("MERGE_HEAD", "CHERRY_PICK_HEAD", "REBASE_HEAD")
_PART_HEADER = b'{"type":"know.part",'


def resolve(repository: Repository, name: SessionName, scratch: Path, part_bytes: int) -> list[str]:
    """Write what both sides of a session come to; returns its files, relative to the root.

    These are what is then to be added to git's index, those that are gone included.
    Call it with the archive's lock held. One that a side forgot stays forgotten. Raises
    KnowError where the sides cannot be told apart.
    """
    if is_forgotten(repository, name):
        return _forget(repository, name)
    first = repository.inside(name.path(repository.sessions))
    reader = _reader(name.agent, str(name))
    folder = first.parent.relative_to(repository.root).as_posix()
    entries = [
        entry
        for entry in plumbing.entries(repository, folder)
        if session_of(repository, repository.root / entry.path) == name
    ]
    notes = _settle_note(repository, origin.path_of(repository.sessions, name), entries)
    entries = [entry for entry in entries if entry.path.endswith(store.SUFFIX)]
    sides = list(_sides(repository, first, entries, scratch))
    if notes and not sides:
        return notes
    if len(sides) == 2:
        redactor = redactor_for(repository.root)
        content = merge(sides[0], sides[1], reader, scratch, redactor)
    elif sides:  # deleted on one side: the archive forgets nothing but by `know forget`
        content = scratch / "whole.jsonl"
        with content.open("wb") as out:
            out.writelines(store.chunks(sides[0]))
    else:
        raise KnowError(f"{name}: not in conflict")
    publish(content, first, repository.locks / PUBLISHING, most=part_bytes)
    files = [path.relative_to(repository.root).as_posix() for path in store.every_part(first)]
    return sorted({*files, *notes, *(entry.path for entry in entries)})


def _settle_note(repository: Repository, path: Path, entries: list[plumbing.Entry]) -> list[str]:
    """Write what both sides noted of a session's project, where that is in conflict."""
    inside = path.relative_to(repository.root).as_posix()
    oids = [entry.oid for entry in entries if entry.path == inside and entry.stage in (2, 3)]
    versions = [data or b"" for data in plumbing.blobs(repository, oids)]
    if not versions and store.is_file(path) and marker_line(path):
        versions = [path.read_bytes()]
    if not versions:
        return []
    keeping = origin.merged(*versions) or versions[0]
    write_atomically(repository.inside(path), keeping, aside=repository.locks)
    return [inside]


def _forget(repository: Repository, name: SessionName) -> list[str]:
    """Remove what the other side had of a forgotten session, and of all that belongs to it."""
    above = SessionName(name.agent, name.parent) if name.parent else name
    if not tombstone(repository, above).is_file():
        above = name
    folder = (repository.sessions / name.agent).relative_to(repository.root).as_posix()
    known = {entry.path for entry in plumbing.entries(repository, folder)}
    removed = {path.relative_to(repository.root).as_posix() for path in forget(repository, above)}
    for path in known:
        one = session_of(repository, repository.root / path)
        if one is not None and (one == above or (one.agent, one.parent) == (above.agent, above.id)):
            removed.add(path)
    left = tombstone(repository, above).relative_to(repository.root).as_posix()
    return sorted({*(removed & known), left})


def _sides(
    repository: Repository, first: Path, entries: list[plumbing.Entry], scratch: Path
) -> Iterator[Path]:
    """Yield the first file of each side that has the session."""
    path = first.relative_to(repository.root).as_posix()
    if not any(entry.stage for entry in entries):
        if any(marker_line(file) for file in store.every_part(first)):
            yield from _between_markers(first, scratch)
        return
    if {entry.path for entry in entries} == {path}:
        sides = [{e.path: e.oid for e in entries if e.stage == stage} for stage in (2, 3)]
    else:  # parts that merged cleanly one by one need not fit
        folder = first.parent.relative_to(repository.root).as_posix()
        other = next((head for head in _OTHER if plumbing.is_commit(repository, head)), "")
        if not other:
            raise KnowError(
                f"{path}: in several parts, and no merge, rebase or cherry-pick is going on",
                hint="take one side with `git checkout --ours` or `--theirs`, and archive"
                " the transcript again",
            )
        sides = [plumbing.tree(repository, commit, folder) for commit in ("HEAD", other)]
    for number, files in enumerate(sides):
        made = scratch / f"side.{number}"
        made.mkdir()
        for file, oid in files.items():
            if file == path or PurePosixPath(file).name.startswith(f"{first.stem}."):
                (content,) = plumbing.blobs(repository, [oid])
                (made / PurePosixPath(file).name).write_bytes(content or b"")
        if (made / first.name).is_file():
            yield made / first.name


def _between_markers(first: Path, scratch: Path) -> Iterator[Path]:
    """Yield a file of each side, made of one with conflict markers."""
    sides = [scratch / "ours.side.jsonl", scratch / "theirs.side.jsonl"]
    with sides[0].open("wb") as ours, sides[1].open("wb") as theirs:
        both: list[IO[bytes]] = [ours, theirs]
        to = both
        for file in store.every_part(first):
            for line in file.read_bytes().splitlines(keepends=True):
                if line.startswith(OURS):
                    to = both[:1]
                elif line.startswith(BASE):
                    to = []
                elif line.rstrip() == MIDDLE:
                    to = both[1:]
                elif line.startswith(THEIRS):
                    to = both
                elif not line.startswith(_PART_HEADER):
                    for out in to:
                        out.write(line)
    yield from sides


# -- git's driver ----------------------------------------------------------------


def merge_files(top: Path, path: str, base: Path, ours: Path, theirs: Path) -> None:
    """Make ``ours`` the join of two copies of the file at ``path`` of the work tree ``top``.

    Either direction ends in the same bytes. Raises KnowError where it is to be left
    in conflict: where no reader knows the agent, and where a session in several
    parts parted, for git shows one part at a time. Where a session was forgotten and
    one much like it came, as a fork, git takes the one for the other, renamed, and
    brings both here: the copy that names another session is left out, where the other
    has not all lines of ``base``, as a session that grew would.
    """
    above, _, below = path.rpartition("sessions/")
    root = top / above
    agent = PurePosixPath(below).parts[0] if "/" in below else ""
    reader = _reader(agent, path)
    stem = PurePosixPath(below).stem
    foreign = [_is_of_another(side, stem, reader) for side in (ours, theirs)]
    if foreign[0] != foreign[1] and not _has_all(theirs if foreign[0] else ours, base):
        if foreign[0]:
            shutil.copyfile(theirs, ours)
        return
    if _may_be_a_part(root, top / path, ours, theirs):
        one, other = ours.read_bytes(), theirs.read_bytes()
        if other.startswith(one):
            ours.write_bytes(other)
        elif not one.startswith(other):
            raise KnowError(
                f"{path}: a session in several parts, which are joined together",
                hint=f"run `know merge {path.removeprefix(above)}`",
            )
        return
    with TemporaryDirectory(prefix="know-merge-") as scratch:
        merged = merge(ours, theirs, reader, Path(scratch), redactor_for(root))
        shutil.copyfile(merged, ours)


def _is_of_another(side: Path, stem: str, reader: Reader) -> bool:
    """Say whether the records of a file name sessions, and none is the one of its path."""
    with side.open("rb") as stream:
        records = (parse_object(line.raw) for line in read_lines(stream))
        ids = {reader.session_id(record) for record in records if record}
    return bool(ids - {""}) and stem not in ids


def _has_all(side: Path, base: Path) -> bool:
    """Say whether a file has every line of an older one."""
    with side.open("rb") as stream:
        lines = set(stream)
    with base.open("rb") as stream:
        return all(line in lines for line in stream)


def _may_be_a_part(root: Path, path: Path, *sides: Path) -> bool:
    """Say whether a file may be one of several of a session.

    What the other side has beside it cannot be seen from here, so size tells: a
    file that goes on in another is nearly as large as a part may be.
    """
    if store.is_part(path) or len(store.every_part(path)) > 1:
        return True
    if any(store.header_of(side) for side in sides):
        return True
    most = load_repository_config(root).part_megabytes * 1_000_000
    return any(side.stat().st_size * 2 > most for side in sides)


def _reader(agent: str, where: str) -> Reader:
    reader = reader_of(agent)
    if reader is None:
        raise KnowError(f"{where}: no reader for sessions of {agent or '?'}; left in conflict")
    return reader
