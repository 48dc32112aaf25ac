"""Reading what a clone has, where it may be a partial one; nothing is fetched.

Git fetches an object that a partial clone lacks when it is asked for, one at a
time, and fails where there is no network. An index must do neither by itself.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from knowrepo.errors import KnowError
from knowrepo.git import plumbing
from knowrepo.git.layout import Repository


def blobs(repository: Repository, oids: Sequence[str]) -> Iterator[bytes | None]:
    """Yield the content of each blob, in order; None for one that is not here."""
    if not oids:
        return
    asked = list(oids)
    try:
        output = _batch(repository, asked)
    except KnowError:
        here = all_sizes(repository)  # git gives up at the first that it would have to fetch
        asked = [oid for oid in oids if oid in here]
        if len(asked) == len(oids):
            raise
        output = _batch(repository, asked) if asked else b""
    found = dict(zip(asked, plumbing.contents_in(output, len(asked)), strict=True))
    for oid in oids:
        yield found.get(oid)


def sizes(repository: Repository, oids: Sequence[str]) -> dict[str, int]:
    """Return the bytes of each blob that is here."""
    if not oids:
        return {}
    try:
        output = _check(repository, oids)
    except KnowError:
        here = all_sizes(repository)
        asked = [oid for oid in oids if oid in here]
        output = _check(repository, asked) if asked else b""
    rows = (line.split(b" ") for line in output.split(b"\n"))
    return {row[0].decode(): int(row[2]) for row in rows if len(row) > 2}


def _check(repository: Repository, oids: Iterable[str]) -> bytes:
    names = "".join(f"{oid}\n" for oid in oids).encode()
    return plumbing.git(repository, "cat-file", "--batch-check", data=names, fetching=False)


def _batch(repository: Repository, oids: Iterable[str]) -> bytes:
    names = "".join(f"{oid}\n" for oid in oids).encode()
    return plumbing.git(repository, "cat-file", "--batch", data=names, fetching=False)


def all_sizes(repository: Repository) -> dict[str, int]:
    """Return ``{oid: bytes}`` of all objects that are here."""
    listing = plumbing.git(
        repository, "cat-file", "--batch-all-objects", "--unordered",
        "--batch-check=%(objectname) %(objectsize)", fetching=False,
    )  # fmt: skip
    pairs = (line.split() for line in listing.decode().splitlines())
    return {oid: int(size) for oid, size in pairs}
