"""A transcript's file as the readers see it before anybody knows whose it is.

Owns how little is read to find that out: the head of the file, its first
records as JSON lines, and, only for a reader that asks, the whole file as one
JSON document. It knows no agent, and it opens nothing but the one file.
"""

from __future__ import annotations

import gzip
import io
import json
import sys
import zlib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import islice
from pathlib import Path
from typing import IO, Any, cast

from knowrepo.errors import KnowError
from knowrepo.sessions.lines import BOM, Line, decode, read_lines

HEAD_BYTES = 1 << 16
HEAD_RECORDS = 100
"""Records that are looked at, at most, to tell whose a file is."""
_ENOUGH, _ENOUGH_BYTES = 5, 1 << 14  # so many tell it, where they are not very short
LARGEST_DOCUMENT = 1 << 30
"""Bytes of a JSON document beyond which it is not read: it must be held whole."""
_SQLITE = b"SQLite format 3\0"
_GZIP, _ZSTD = b"\x1f\x8b", b"\x28\xb5\x2f\xfd"


def is_compressed(path: Path) -> bool:
    """Say whether a file is compressed, as agents do with old transcripts."""
    with path.open("rb") as stream:
        return stream.read(4).startswith((_GZIP, _ZSTD))


def plain(path: Path) -> Path:
    """Return a source's path without what tells that it is compressed."""
    return path.with_suffix("") if path.suffix in {".gz", ".zst"} else path


def opened(path: Path) -> IO[bytes]:
    """Open a source for reading, decompressed where it is compressed.

    Raises KnowError where this Python has nothing to decompress it with.
    """
    with path.open("rb") as stream:
        magic = stream.read(4)
    if magic.startswith(_GZIP):
        return cast("IO[bytes]", gzip.open(path))
    if magic == _ZSTD:
        return io.BufferedReader(_zstd(path))
    return path.open("rb")


def is_damage(error: Exception) -> bool:
    """Say whether an error is of a compressed file that is cut off or damaged."""
    return isinstance(error, EOFError | zlib.error | gzip.BadGzipFile) or (
        type(error).__name__ == "ZstdError"  # of whichever library there is
    )


def _zstd(path: Path) -> io.RawIOBase:
    if sys.version_info >= (3, 14):
        from compression import zstd
    else:
        try:
            from backports import zstd
        except ImportError as error:
            raise KnowError(
                f"{path}: compressed with zstd, which this Python cannot read",
                hint="pip install 'knowrepo[zstd]'",
            ) from error
    return cast("io.RawIOBase", zstd.ZstdFile(path))


@dataclass(frozen=True)
class Native:
    """One session found in a source whose records are not JSON lines.

    Each of ``records`` is a JSON object, one message as its agent wrote it; they
    may be made while they are read. ``id`` and ``parent`` name the session as
    they do in the archive; an id must be the same for every later copy. While
    ``stamp`` is what it was, the session did not change and is not read again.
    ``elsewhere``: its messages lie in other files than the source.
    """

    id: str
    records: Iterable[Mapping[str, Any]]
    parent: str = ""
    stamp: str = ""
    elsewhere: bool = False


class Source:
    """A regular file that may hold transcripts. Raises OSError where it cannot be read."""

    def __init__(self, path: Path) -> None:
        self.path = path
        with opened(path) as stream:
            self.head = stream.read(HEAD_BYTES)

    @property
    def is_database(self) -> bool:
        """Whether this is an SQLite file."""
        return self.head.startswith(_SQLITE)

    @cached_property
    def text(self) -> str:
        """The head as text, for formats that are told by their first lines."""
        return decode(self.head.removeprefix(BOM))

    @cached_property
    def first_lines(self) -> tuple[Line, ...]:
        """The first lines of the file, cut as JSON lines are; none where it holds no JSON."""
        if self.is_database or b'"' not in self.head or b"{" not in self.head:
            return ()
        found: list[Line] = []
        with opened(self.path) as stream:
            for line in islice(read_lines(stream), HEAD_RECORDS):
                found.append(line)
                if len(found) >= _ENOUGH and line.end > _ENOUGH_BYTES:
                    break
        return tuple(found)

    @cached_property
    def document(self) -> Any:
        """The whole file as one JSON value, or None where it is not one.

        A file whose first line is a record and which goes on after it is JSON
        lines, so most sources are told apart without reading them.
        """
        lead = self.head.removeprefix(BOM).lstrip()[:1]
        if lead not in {b"{", b"["} or self._goes_on_after_a_record():
            return None
        if self.path.stat().st_size > LARGEST_DOCUMENT:
            return None
        try:
            with opened(self.path) as stream:
                return json.loads(decode(stream.read(LARGEST_DOCUMENT).removeprefix(BOM)))
        except (ValueError, RecursionError):
            return None

    def _goes_on_after_a_record(self) -> bool:
        whole = [line for line in self.first_lines[:2] if not line.pending]
        return len(whole) == 2 and whole[0].record is not None


def as_lines(records: Iterable[Mapping[str, Any]]) -> Iterator[Line]:
    """Yield native records as lines of canonical JSON: sorted keys, no spaces."""
    for number, record in enumerate(records, start=1):
        yield Line(number, canonical(record), dict(record))


def canonical(record: Mapping[str, Any]) -> bytes:
    """Return a record's one spelling. Half an emoji has a spelling in ASCII only."""
    text = json.dumps(record, ensure_ascii=False, sort_keys=True, separators=(",", ":"))
    try:
        return text.encode()
    except UnicodeEncodeError:
        return json.dumps(record, sort_keys=True, separators=(",", ":")).encode()
