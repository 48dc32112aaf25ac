"""The manifest: which segments a table of vectors consists of.

Owns the file `manifest.json`, which is replaced as a whole, and what a file in the
folder may be called. A manifest that cannot be read is told from one that
names nothing: behind the first there may be segments worth keeping.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from knowrepo.config import write_atomically

FILE = "manifest.json"
_NUMBERS = ("rows", "dimension", "size", "mtime_ns")
_NAME = re.compile(r"[0-9a-f]{32}\.duckdb")


@dataclass(frozen=True)
class Segment:
    """A segment as it was when it was last read to its end.

    ``size`` and ``mtime_ns`` tell, without reading it, that it is still that.
    """

    file: str
    rows: int
    dimension: int
    size: int
    mtime_ns: int


def path(folder: Path) -> Path:
    """Return the manifest of the table in ``folder``."""
    return folder / FILE


def read(folder: Path) -> list[Segment] | None:
    """Return the segments; None where there is no manifest, or one that cannot be read."""
    try:
        entries = json.loads(path(folder).read_bytes())["segments"]
        segments = [Segment(str(e["file"]), *(int(e[name]) for name in _NUMBERS)) for e in entries]
    except (OSError, ValueError, TypeError, KeyError):
        return None
    names = {segment.file for segment in segments}
    if len(names) != len(segments) or not all(map(_NAME.fullmatch, names)):
        return None
    return segments


def write(folder: Path, segments: Sequence[Segment]) -> None:
    """Publish a list of segments, whole or not at all."""
    content = {"version": 1, "segments": [asdict(segment) for segment in segments]}
    write_atomically(path(folder), json.dumps(content).encode(), durable=True)


def described(folder: Path, file: str, rows: int, dimension: int) -> Segment:
    """Return a segment as it lies in ``folder`` now."""
    stat = (folder / file).stat()
    return Segment(file, rows, dimension, stat.st_size, stat.st_mtime_ns)


def files(folder: Path) -> list[str]:
    """Return the names of all files that could be segments, named by the manifest or not."""
    return sorted(found.name for found in folder.iterdir() if _NAME.fullmatch(found.name))


def temporary(folder: Path) -> list[Path]:
    """Return what a killed writer may have left half made."""
    return sorted(found for found in folder.iterdir() if re.search(r"\.tmp(\.wal)?$", found.name))


def damaged(folder: Path) -> list[Path]:
    """Return what was set aside."""
    return sorted(found for found in folder.iterdir() if found.name.endswith(".damaged"))


def waste(folder: Path) -> list[Path]:
    """Return all files of segments, whole or not, that the manifest does not name."""
    named = {segment.file for segment in read(folder) or []}
    strays = [folder / name for name in files(folder) if name not in named]
    return [*temporary(folder), *damaged(folder), *strays]
