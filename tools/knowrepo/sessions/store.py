"""Archived sessions as files: their names, their parts, reading them, publishing them.

Owns the form on disk below `sessions/`. A session is `<agent>/<id>.jsonl`, a
sub-agent's `<agent>/<parent>/<id>.jsonl`. One that is larger than a code host
takes goes on in `<id>.1.jsonl`, `<id>.2.jsonl`, …, cut at line ends: it is read
as one file. What a session's lines mean, and how two copies are joined, is
`growth`'s and the readers' business.
"""

from __future__ import annotations

import errno
import hashlib
import json
import os
import re
import shutil
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from knowrepo.sessions import growth
from knowrepo.sessions.lines import Line, read_lines

SUFFIX = ".jsonl"
PART_BYTES = 40_000_000
"""Bytes of one file: code hosts warn at 50 MB and refuse at 100."""
# What may become a file name: an id comes out of a file that anybody wrote. One
# that ends in a number would be taken for another session's part.
_SAFE_ID = re.compile(r"(?!.*\.\d+\Z)[A-Za-z0-9][A-Za-z0-9._-]{0,127}(?<!\.)")
_PART = re.compile(r"(?P<id>.+)\.(?P<number>[1-9]\d{0,5})\.jsonl")
_RESERVED = re.compile(r"(?i)(?:con|prn|aux|nul|com\d|lpt\d)(?:\..*)?")  # names that Windows lacks
_PLAN = "publish.json"
_BLOCK = 1 << 20


@dataclass(frozen=True)
class SessionName:
    """The place of a session below `sessions/`."""

    agent: str
    id: str
    parent: str = ""

    def __str__(self) -> str:
        return "/".join(filter(None, (self.agent, self.parent, self.id)))

    @property
    def is_safe(self) -> bool:
        """Whether the ids can be file names on every platform, and leave no folder."""
        return all(
            _SAFE_ID.fullmatch(part) and not _RESERVED.fullmatch(part)
            for part in filter(None, (self.id, self.parent))
        ) and bool(self.id)

    def path(self, sessions: Path) -> Path:
        """Return the session's first file."""
        return sessions / self.agent / self.parent / f"{self.id}{SUFFIX}"


def name_of(sessions: Path, first: Path) -> SessionName | None:
    """Return the name of the session whose first file is ``first``; None where it is none."""
    parts = first.relative_to(sessions).parts
    if not 2 <= len(parts) <= 3 or not parts[-1].endswith(SUFFIX):
        return None
    return SessionName(parts[0], parts[-1].removesuffix(SUFFIX), "".join(parts[1:-1]))


def is_part(path: Path) -> bool:
    """Say whether a file only continues the session whose first file lies beside it."""
    match = _PART.fullmatch(path.name)
    return match is not None and path.with_name(f"{match['id']}{SUFFIX}").is_file()


def parts(first: Path) -> list[Path]:
    """Return the files of the session, in order; empty where it is not archived."""
    found: list[Path] = []
    path = first
    while path.is_file() and not path.is_symlink():  # a clone may bring one that leads away
        found.append(path)
        path = _part(first, len(found))
    return found


def _part(first: Path, number: int) -> Path:
    return first if number == 0 else first.with_name(f"{first.stem}.{number}{SUFFIX}")


def stamp(first: Path) -> str:
    """Return what tells whether a session's files changed, without reading them."""
    marks = []
    for path in parts(first):
        with suppress(FileNotFoundError):
            found = path.lstat()
            marks.append(f"{found.st_size}.{found.st_mtime_ns}")
    return "+".join(marks)


def chunks(first: Path) -> Iterator[bytes]:
    """Yield the lines of all parts as one file, each whole.

    Every archived line is whole, even where an editor took the last newline.
    """
    for path in parts(first):
        with path.open("rb") as stream:
            for line in stream:
                yield line if line.endswith(b"\n") else line + b"\n"


class SessionLines(Iterable[Line]):
    """The lines of an archived session as readers see them; may be gone through again.

    Our own markers are left out, of a record's versions only the last is given,
    and a record that several branches repeat is given once.
    """

    _SMALL = 32_000_000  # bytes up to which a session is parsed once and held

    def __init__(self, first: Path) -> None:
        self._first = first
        self._held: list[Line] | None = None

    @property
    def size(self) -> int:
        """Bytes of all parts."""
        return sum(path.stat().st_size for path in parts(self._first))

    def __iter__(self) -> Iterator[Line]:
        if self._held is None and self.size <= self._SMALL:
            self._held = list(resolved(read_lines(chunks(self._first))))
        return iter(self._held or resolved(read_lines(chunks(self._first))))


def resolved(lines: Iterable[Line]) -> Iterator[Line]:
    """Yield archived lines as a reader should see them; see `SessionLines`."""
    waiting: Line | None = None
    replaces = False
    branched = False
    seen: set[bytes] = set()
    for line in lines:
        if growth.is_marker(line.raw):
            replaces = growth.is_version_marker(line.raw)
            branched = branched or not replaces
            continue
        if waiting is not None and not replaces:
            yield waiting
        replaces = False
        digest = hashlib.blake2b(line.raw, digest_size=16).digest()
        if branched and digest in seen and (line.record or {}).get("uuid"):
            waiting = None
            continue
        seen.add(digest)
        waiting = line
    if waiting is not None:
        yield waiting


def oid(first: Path) -> str:
    """Return git's name of the session's bytes (of its parts as one blob; SHA-1)."""
    files = parts(first)
    size = sum(path.stat().st_size for path in files)
    digest = hashlib.sha1(b"blob %d\0" % size, usedforsecurity=False)
    for path in files:
        with path.open("rb") as stream:
            while block := stream.read(_BLOCK):
                digest.update(block)
    return digest.hexdigest()


# -- publishing ----------------------------------------------------------------


def publish(content: Path, first: Path, scratch: Path, *, most: int = PART_BYTES) -> None:
    """Make ``content`` the session at ``first``; it is moved, or cut into parts.

    A reader, and a run that is killed at any moment, sees no half-written file.
    Several files cannot be renamed at once: the new ones stand ready in
    ``scratch`` with a plan, which `recover` carries out after a crash.
    """
    first.parent.mkdir(parents=True, exist_ok=True)
    before = parts(first)
    bounds = _cut(content, most)
    if len(bounds) <= 1 and len(before) <= 1:
        _replace(content, first)
        return
    steps = _steps(content, first, before, bounds, scratch)
    plan = scratch / _PLAN
    _write(plan, json.dumps(steps).encode())
    _carry_out(steps)
    plan.unlink()


def recover(scratch: Path, root: Path) -> None:
    """Carry out what a run that was killed had planned; then clear its folder."""
    try:
        steps = [(str(made), str(target)) for made, target in json.loads(_plan_of(scratch))]
        if all(Path(target).resolve().is_relative_to(root.resolve()) for _, target in steps):
            _carry_out(steps)
    except (OSError, ValueError, TypeError):
        pass  # no plan, or none that was finished: nothing was moved yet
    shutil.rmtree(scratch, ignore_errors=True)


def _plan_of(scratch: Path) -> bytes:
    return (scratch / _PLAN).read_bytes()


def _steps(
    content: Path, first: Path, before: list[Path], bounds: list[tuple[int, int]], scratch: Path
) -> list[tuple[str, str]]:
    """Make the new parts ready; returns what is moved where, '' for what is removed.

    Where a session only grew, its parts go first to last, so that what can be
    seen is at any moment a beginning of it. Else all of it goes into the first
    file until the others are right, so that no line is out of sight on the way.
    """
    steps: list[tuple[str, str]] = []
    for number, (start, end) in enumerate(bounds):
        target = _part(first, number)
        if not _holds(target, content, start, end):
            made = scratch / f"part.{number}"
            _copy(content, made, start, end)
            steps.append((str(made), str(target)))
    if _appends(before, content, bounds):
        return steps
    if not steps or steps[0][1] != str(first):
        made = scratch / "part.0"
        _copy(content, made, *bounds[0])
        steps.insert(0, (str(made), str(first)))
    whole = scratch / "whole"
    _copy(content, whole, 0, bounds[-1][1])
    surplus = [("", str(path)) for path in before[len(bounds) :]]
    return [(str(whole), str(first)), *steps[1:], *surplus, steps[0]]


def _carry_out(steps: list[tuple[str, str]]) -> None:
    """Do what is still to be done of a plan, in its order."""
    for made, target in steps:
        if not made:
            Path(target).unlink(missing_ok=True)
        elif Path(made).exists():
            _replace(Path(made), Path(target))


def _cut(content: Path, most: int) -> list[tuple[int, int]]:
    """Return the byte ranges of the parts, cut at line ends; a line is never cut."""
    size = content.stat().st_size
    if size <= most:
        return [(0, size)]
    bounds: list[tuple[int, int]] = []
    start = position = 0
    with content.open("rb") as stream:
        for line in stream:
            if position > start and position + len(line) - start > most:
                bounds.append((start, position))
                start = position
            position += len(line)
    return [*bounds, (start, position)]


def _appends(before: list[Path], content: Path, bounds: list[tuple[int, int]]) -> bool:
    """Say whether the parts that are there are the beginning of ``content``."""
    whole = before[:-1]
    if len(before) > len(bounds):
        return False
    if not all(_holds(path, content, *bounds[number]) for number, path in enumerate(whole)):
        return False
    if not before:
        return True
    start, end = bounds[len(whole)]
    size = before[-1].stat().st_size
    return start + size <= end and _holds(before[-1], content, start, start + size)


def _holds(path: Path, content: Path, start: int, end: int) -> bool:
    """Say whether ``path`` holds just these bytes of ``content``."""
    if not path.is_file() or path.stat().st_size != end - start:
        return False
    with path.open("rb") as a, content.open("rb") as b:
        b.seek(start)
        while block := a.read(_BLOCK):
            if b.read(len(block)) != block:
                return False
    return True


def _copy(content: Path, to: Path, start: int, end: int) -> None:
    with content.open("rb") as source, to.open("wb") as target:
        source.seek(start)
        left = end - start
        while left and (block := source.read(min(left, _BLOCK))):
            target.write(block)
            left -= len(block)
        _sync(target)


def _write(path: Path, data: bytes) -> None:
    with path.open("wb") as stream:
        stream.write(data)
        _sync(stream)


def _sync(stream: IO[bytes]) -> None:
    stream.flush()
    os.fsync(stream.fileno())


def _replace(temporary: Path, target: Path) -> None:
    """Publish ``temporary`` as ``target``, on the disk before it can be seen."""
    with temporary.open("rb+") as stream:
        os.fsync(stream.fileno())
    try:
        temporary.replace(target)
    except OSError as error:
        if error.errno != errno.EXDEV:
            raise
        _replace_across_disks(temporary, target)


def _replace_across_disks(temporary: Path, target: Path) -> None:
    """Do the same where the git directory lies on another disk than the work tree."""
    beside = target.with_name(f".{target.name}.{os.urandom(8).hex()}.tmp")
    try:
        # Exclusive: a link that lies in wait under this name is not followed.
        with temporary.open("rb") as source, beside.open("xb") as copy:
            shutil.copyfileobj(source, copy, _BLOCK)
            _sync(copy)
        beside.replace(target)
    except BaseException:
        beside.unlink(missing_ok=True)
        raise
    temporary.unlink(missing_ok=True)
