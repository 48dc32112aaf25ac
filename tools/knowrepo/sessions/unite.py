"""What an archived session becomes when a snapshot of it comes in.

Owns the cheap cases before the costly one: what is there already, or is a
beginning of what came in, is told by comparing bytes; then with the archived
lines brought to the rules of today, so that a new rule doubles no record; only
snapshots that parted are joined (see `growth`). It publishes nothing.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Literal

from knowrepo.sessions import growth, store
from knowrepo.sessions.keep import Kept, archived_line
from knowrepo.sessions.lines import parse_object, read_lines
from knowrepo.sessions.record import Reader
from knowrepo.sessions.redact import Redactor, covers

United = Literal["new", "grown", "joined", "unchanged"]
_BLOCK = 1 << 20


def unite(
    old: Path | None, incoming: Path, reader: Reader, scratch: Path, redactor: Redactor
) -> tuple[United, Path]:
    """Return what a session becomes, and the file that holds it.

    ``old`` is the archived session as one file, None where there is none;
    ``incoming`` a source in the archive's form. Other files are made in ``scratch``.
    """
    if old is None:
        return "new", incoming
    if _is_prefix(incoming, old):
        return "unchanged", old
    if _is_prefix(old, incoming):
        return "grown", incoming
    # Only now are the archived lines brought to the rules of today.
    current = scratch / "current.jsonl"
    with current.open("wb") as out:
        out.writelines(line + b"\n" for line in _current(old, redactor))
    if _is_prefix(current, incoming):
        joined = incoming
    elif _is_prefix(incoming, current):
        joined = current
    else:
        joined = scratch / "joined.jsonl"
        snapshots: list[growth.Snapshot] = [
            lambda: current.open("rb"), lambda: incoming.open("rb"),
        ]  # fmt: skip
        with joined.open("wb") as out:
            out.writelines(
                line + b"\n" for line in growth.join(snapshots, _identify(reader), covers)
            )
    same = size_of(joined) == size_of(old) and _is_prefix(joined, old)
    return ("unchanged", old) if same else ("joined", joined)


def whole(first: Path, scratch: Path) -> Path | None:
    """Return one file with all of an archived session, or None where it is not archived."""
    files = store.parts(first)
    if len(files) <= 1:
        return files[0] if files else None
    made = scratch / "archived.jsonl"
    with made.open("wb") as out:
        out.writelines(store.chunks(first))
    return made


def canonical(incoming: Path, reader: Reader, scratch: Path) -> Path:
    """Return a file with the canonical form of a source that has markers of its own."""
    made = scratch / "canonical.jsonl"
    with made.open("wb") as out:
        union = growth.join([lambda: incoming.open("rb")], _identify(reader), covers)
        out.writelines(line + b"\n" for line in union)
    return made


def merge(ours: Path, theirs: Path, reader: Reader, scratch: Path, redactor: Redactor) -> Path:
    """Return the file that holds what two archived copies of a session become.

    The order of the two makes no difference.
    """
    current = {}
    for name, path in (("ours", ours), ("theirs", theirs)):
        current[name] = scratch / f"{name}.jsonl"
        with current[name].open("wb") as out:
            out.writelines(line + b"\n" for line in _current(path, redactor))
    return unite(current["ours"], current["theirs"], reader, scratch, redactor)[1]


def _current(archived: Path, redactor: Redactor) -> Iterator[bytes]:
    """Yield archived lines brought to the rules of today."""
    ignored = Kept()
    for line in read_lines(store.chunks(archived)):
        if growth.is_marker(line.raw):
            yield line.raw
            continue
        current = archived_line(line, ignored, redactor)
        if current is not None:
            yield current


def _identify(reader: Reader) -> growth.Identify:
    def identify(raw: bytes) -> tuple[str, str]:
        record = parse_object(raw)
        return (reader.record_id(record), reader.rank(record)) if record else ("", "")

    return identify


def count_lines(path: Path | None) -> int:
    """Return the lines of a file; none has none."""
    if path is None:
        return 0
    with path.open("rb") as stream:
        return sum(block.count(b"\n") for block in iter(partial(stream.read, _BLOCK), b""))


def size_of(path: Path | None) -> int:
    """Return the bytes of a file; none has none."""
    return path.stat().st_size if path is not None else 0


def _is_prefix(short: Path, long: Path) -> bool:
    if short.stat().st_size > long.stat().st_size:
        return False
    with short.open("rb") as a, long.open("rb") as b:
        while block := a.read(_BLOCK):
            if b.read(len(block)) != block:
                return False
    return True
