"""What git's history says of files: which commit changed which, and when.

Owns the walk over commits. Merges say nothing of their own, renames are read as
what they are to git, and no setting of the user changes what is printed.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from typing import NamedTuple

from knowrepo.git import plumbing
from knowrepo.git.layout import Repository


class Change(NamedTuple):
    """One file in one commit. ``status`` is A, M or D; ``day`` its author's, in UTC.

    ``old`` and ``new`` are blob oids, empty where there was or is no file.
    """

    commit: str
    day: str
    status: str
    path: str
    old: str
    new: str


def changes(repository: Repository, folder: str) -> Iterator[Change]:
    """Yield what commits changed below ``folder``, a commit after those that it builds upon."""
    if not plumbing.has_commits(repository):
        return
    log = plumbing.git(
        repository, "log", "--topo-order", "--reverse", "--no-merges", "--no-show-signature",
        "--raw", "--no-abbrev", "--no-renames", "--relative", "--no-ext-diff", "-z",
        "--format=%x01%H %at", "--", folder,
    )  # fmt: skip
    commit = day = ""
    fields = iter(log.split(b"\0"))
    for raw in fields:
        field = raw.strip(b"\n")
        if field.startswith(b"\x01"):
            commit, _, seconds = field[1:].decode().partition(" ")
            day = _day(seconds)
        elif field.startswith(b":"):
            _mode, _new_mode, old, new, status = field[1:].decode().split(" ")
            path = next(fields).decode("utf-8", "backslashreplace")
            if status in "AMD":
                was, is_ = (oid if oid.strip("0") else "" for oid in (old, new))
                yield Change(commit, day, status, path, was, is_)


def _day(seconds: str) -> str:
    """Return the day of a Unix time; the first of all where a commit's date is no time."""
    try:
        return datetime.fromtimestamp(int(seconds), UTC).date().isoformat()
    except (ValueError, OverflowError, OSError):
        return "1970-01-01"


def last_commit(repository: Repository, path: str) -> str:
    """Return the last commit that changed a file; '' for none."""
    if not plumbing.has_commits(repository):
        return ""
    return plumbing.git(repository, "log", "-1", "--format=%H", "--", path).decode().strip()


def commits_since(repository: Repository, commit: str) -> frozenset[str]:
    """Return the commits that HEAD has and ``commit`` has not."""
    listing = plumbing.git(repository, "rev-list", "HEAD", f"^{commit}")
    return frozenset(listing.decode().split())


def is_shallow(repository: Repository) -> bool:
    """Say whether this clone lacks the beginning of its history."""
    return (repository.common_dir / "shallow").is_file()
