"""Archived sessions as files: their names, their parts, and reading them.

Owns the form on disk below `sessions/`. A session is `<agent>/<id>.jsonl`, a
sub-agent's `<agent>/<parent>/<id>.jsonl`. One that is larger than a code host
takes goes on in `<id>.1.jsonl`, `<id>.2.jsonl`, …, cut at line ends: it is read
as one file. Each of these begins with a line that says what stands before it. A
part that does not fit, as a checkout may leave one behind, is none: it is not
read, and gives way to the next publication. What a session's lines mean, and how
two copies are joined, is `growth`'s and the readers' business.
"""

from __future__ import annotations

import hashlib
import io
import os
import re
import stat
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from knowrepo.sessions import growth
from knowrepo.sessions.lines import Line, read_lines

SUFFIX = ".jsonl"
PART_BYTES = 40_000_000
"""Bytes of one file: code hosts warn at 50 MB and refuse at 100."""
# What may become a file name: an id comes out of a file that anybody wrote. One
# that ends in a number would be taken for another session's part.
_SAFE_ID = re.compile(r"(?!.*\.\d+\Z)[A-Za-z0-9][A-Za-z0-9._-]{0,127}(?<!\.)")
_NUMBERED = re.compile(r"\.(\d+)\Z")
_PART = re.compile(r"(?P<id>.+)\.(?P<number>[1-9]\d{0,5})\.jsonl")
_RESERVED = re.compile(r"(?i)(?:con|prn|aux|nul|com\d|lpt\d)(?:\..*)?")  # names that Windows lacks
_HEADER = re.compile(
    rb'\{"type":"know\.part","number":(\d{1,6}),"start":(\d{1,18}),"after":"([0-9a-f]{32})"\}\n'
)
_LONGEST_HEADER = 128
# What makes a line one of its kind: others, as of a mode, are repeated for good.
_NAMED = frozenset({"uuid", "id", "timestamp"})
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


def named(agent: str, own: str, parent: str = "") -> SessionName:
    """Name a session by its agent's ids; one that ends as a part's does is spelled otherwise."""
    return SessionName(agent, _NUMBERED.sub(r"-\1", own), _NUMBERED.sub(r"-\1", parent))


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
    if not is_file(first):
        return []
    found = [first]
    if not _is_regular(f"{str(first).removesuffix(first.suffix)}.1{SUFFIX}"):  # most have none
        return found
    end = first.stat().st_size
    while is_file(path := part(first, len(found))):
        match = _HEADER.fullmatch(header_of(path))
        if match is None or (int(match[1]), int(match[2])) != (len(found), end):
            break
        if match[3].decode() != last_line_digest(found[-1]):
            break
        found.append(path)
        end += path.stat().st_size - len(match[0])
    return found


def every_part(first: Path) -> list[Path]:
    """Return all files that are named as this session's, those that do not fit included."""
    numbered: dict[int, Path] = {}
    for path in first.parent.iterdir() if first.parent.is_dir() else ():
        match = _PART.fullmatch(path.name)
        if match is not None and match["id"] == first.stem:
            numbered[int(match["number"])] = path
    return [*([first] if first.exists() else []), *(numbered[n] for n in sorted(numbered))]


def part(first: Path, number: int) -> Path:
    """Return the path of a session's part; 0 is its first file."""
    return first if number == 0 else first.with_name(f"{first.stem}.{number}{SUFFIX}")


def is_file(path: Path) -> bool:
    """Say whether a regular file is there; a clone may bring a link that leads away."""
    return _is_regular(path)


def _is_regular(path: Path | str) -> bool:
    try:
        return stat.S_ISREG(os.lstat(path).st_mode)
    except (OSError, ValueError):  # its name may be too long to be there, or hold a NUL
        return False


def header(number: int, start: int, after: str) -> bytes:
    """Return the line that a part begins with.

    ``start`` bytes of the session stand before it; ``after`` is the digest of the
    last line of these.
    """
    return b'{"type":"know.part","number":%d,"start":%d,"after":"%s"}\n' % (
        number, start, after.encode(),
    )  # fmt: skip


def header_of(path: Path) -> bytes:
    """Return the line that a part begins with, or nothing where it is no part."""
    try:
        with path.open("rb") as stream:
            line = stream.readline(_LONGEST_HEADER)
    except OSError:
        return b""
    return line if _HEADER.fullmatch(line) else b""


def digest_of(line: bytes) -> str:
    """Return the digest by which a part names the line before it."""
    return hashlib.blake2b(line.rstrip(b"\n"), digest_size=16).hexdigest()


def last_line_digest(path: Path) -> str:
    """Return the digest of a file's last line."""
    with path.open("rb") as stream:
        end = stream.seek(0, 2)
        tail = b""
        while end and b"\n" not in tail[:-1]:
            start = max(0, end - max(_BLOCK // 16, len(tail)))
            stream.seek(start)
            tail = stream.read(end - start) + tail
            end = start
    return digest_of(tail.rstrip(b"\n").rpartition(b"\n")[2])


def stamp(first: Path) -> str:
    """Return what tells whether a session's files changed, without reading them."""
    return measure(first)[0]


def measure(first: Path) -> tuple[str, int]:
    """Return a session's stamp, and the bytes of its files."""
    stamps, size = [], 0
    for path in parts(first):
        with suppress(FileNotFoundError):
            found = path.lstat()
            stamps.append(_stamp(found))
            size += found.st_size
    return "+".join(stamps), size


def file_stamp(path: Path) -> str:
    """Return the same of one file; empty where it is not there."""
    with suppress(FileNotFoundError):
        return _stamp(path.lstat())
    return ""


def _stamp(found: os.stat_result) -> str:
    return f"{found.st_size}.{found.st_mtime_ns}"


def chunks(first: Path) -> Iterator[bytes]:
    """Yield the lines of all parts as one file, each whole.

    Every archived line is whole, even where an editor took the last newline.
    """
    return _lines(parts(first))


def _lines(files: Iterable[Path]) -> Iterator[bytes]:
    return _lines_of(path.open("rb") for path in files)


def _lines_of(parts: Iterable[BinaryIO]) -> Iterator[bytes]:
    for number, part in enumerate(parts):
        with part as stream:
            if number:
                stream.readline()
            for line in stream:
                yield line if line.endswith(b"\n") else line + b"\n"


class SessionLines(Iterable[Line]):
    """The lines of an archived session as readers see them; may be gone through again.

    Our own markers are left out, of a record's versions only the last is given,
    and a record that several branches repeat is given once.
    """

    _SMALL = 32_000_000  # bytes up to which a session is parsed once and held

    def __init__(self, first: Path) -> None:
        self.files = parts(first)
        """The session's files, as they were found first; none where it is not archived."""
        self._held: list[Line] | None = None
        self._contents: list[bytes] | None = None  # of the files, until they are parsed

    @property
    def size(self) -> int:
        """Bytes of all parts."""
        return sum(path.stat().st_size for path in self.files)

    def oid(self) -> str:
        """Return git's name of the bytes, see `oid`; the files are not read again to be parsed."""
        contents = self._read()
        return oid(self.files) if contents is None else _oid(contents)

    def may_hold(self, *signs: bytes) -> bool:
        """Say whether the files hold one of these; they may where they are too large to look."""
        contents = self._read()
        return contents is None or any(sign in content for content in contents for sign in signs)

    def _read(self) -> list[bytes] | None:
        if self._contents is None and self.size <= self._SMALL:
            self._contents = [path.read_bytes() for path in self.files]
        return self._contents

    def __iter__(self) -> Iterator[Line]:
        if self._held is None and (contents := self._read()) is not None:
            lines = read_lines(_lines_of(map(io.BytesIO, contents)))
            marked = any(growth.MARKED in content for content in contents)
            self._held = list(resolved(lines) if marked else lines)
            self._contents = None
        if self._held is not None:
            return iter(self._held)
        return resolved(read_lines(_lines(self.files)))


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
        if branched and digest in seen and not _NAMED.isdisjoint(line.record or {}):
            waiting = None
            continue
        seen.add(digest)
        waiting = line
    if waiting is not None:
        yield waiting


def oid(files: Sequence[Path]) -> str:
    """Return git's name of the bytes of a session's files (as one blob; SHA-1)."""
    size = sum(path.stat().st_size for path in files)
    digest = hashlib.sha1(b"blob %d\0" % size, usedforsecurity=False)
    for path in files:
        with path.open("rb") as stream:
            while block := stream.read(_BLOCK):
                digest.update(block)
    return digest.hexdigest()


def _oid(contents: Sequence[bytes]) -> str:
    size = sum(map(len, contents))
    digest = hashlib.sha1(b"blob %d\0" % size, usedforsecurity=False)
    for content in contents:
        digest.update(content)
    return digest.hexdigest()
