"""Which commit brought each line of a file of the work tree, as `git blame` knows it.

Owns the reading of its porcelain, which has no form separated by NUL: of a commit only
what stands on a line by itself is read, and names of files are not. Lines that a rename
carried along, that moved within the file, or whose indent alone changed keep their
commit.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta, timezone
from typing import NamedTuple

from knowrepo.errors import KnowError
from knowrepo.git import plumbing
from knowrepo.git.layout import Repository
from knowrepo.git.revisions import Commit, lacking


class Line(NamedTuple):
    """A line as the file has it, without its end; ``commit`` is None where it is in none yet."""

    commit: Commit | None
    text: bytes


def lines(repository: Repository, path: str) -> list[Line]:
    """Return the lines of a file with the commit that brought each."""
    tree = plumbing.git(repository, "rev-parse", "--verify", "--quiet", "HEAD", expected=(0, 1))
    held = tree and plumbing.git(repository, "ls-tree", "-z", "HEAD", "--", path, expected=(0,))
    if not held:  # no commit has it: a draft, or staged for the first one
        data = (repository.root / path).read_bytes()
        return [Line(None, raw.removesuffix(b"\r")) for raw in _cut(data)]
    look = (
        "blame", "--porcelain", "-w", "-M", "--no-textconv", "--encoding=UTF-8",
        "--ignore-revs-file=", "--", path,
    )  # fmt: skip
    try:
        output = plumbing.git(repository, *look, fetching=False)
    except KnowError as error:
        raise lacking(path, error) from error
    return list(_read(_cut(output)))


def _cut(data: bytes) -> list[bytes]:
    found = data.split(b"\n")
    return found[:-1] if found[-1] == b"" else found


@dataclass
class _Told:
    """What was told of a commit so far; it is told once."""

    author: str = ""
    seconds: str = ""
    zone: str = ""
    subject: str = ""


def _read(output: list[bytes]) -> Iterator[Line]:
    told: dict[str, _Told] = {}
    rows = iter(output)
    for head in rows:
        oid = head.split(b" ", 1)[0].decode("ascii", "replace")
        one = told.setdefault(oid, _Told())
        for row in rows:
            if row.startswith(b"\t"):
                yield Line(_commit(oid, one), row[1:].removesuffix(b"\r"))
                break
            name, _, value = row.decode("utf-8", "replace").partition(" ")
            if name in _KEPT:
                setattr(one, _KEPT[name], value)


_KEPT = {"author": "author", "author-time": "seconds", "author-tz": "zone", "summary": "subject"}


def _commit(oid: str, told: _Told) -> Commit | None:
    if not oid.strip("0"):
        return None
    return Commit(oid, _time(told.seconds, told.zone), told.author, told.subject)


def _time(seconds: str, zone: str) -> str:
    """Return a time of git as ISO 8601, of the first day where it is none."""
    try:
        minutes = int(zone[1:3]) * 60 + int(zone[3:5])
        offset = timezone(timedelta(minutes=-minutes if zone.startswith("-") else minutes))
        return datetime.fromtimestamp(int(seconds), offset).isoformat()
    except (ValueError, OverflowError, OSError):
        return datetime.fromtimestamp(0, UTC).isoformat()
