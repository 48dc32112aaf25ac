"""``know recall --at`` and ``--since-rev``: which revision is asked, and how that is said."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from knowrepo.cli.common import progress, say

if TYPE_CHECKING:
    from knowrepo.git.layout import Repository
    from knowrepo.index.catalog import Filter
    from knowrepo.recall.then import Then


@contextmanager
def opened_at(here: Repository, at: str, kind: str, *, quiet: bool) -> Iterator[Then | None]:
    """Give the state of a revision, and say which it is; None for the present."""
    if not at:
        yield None
        return
    from knowrepo.git.revisions import described
    from knowrepo.recall.then import Then

    then = Then(here, at, with_sessions=kind != "concept")
    commit = described(here, then.commit)
    if not quiet:
        say(f"as of {commit.oid[:10]}, {commit.time[:10]}: {commit.subject}")
    try:
        with progress("reading what was known", quiet=quiet) as then.progress:
            yield then
    finally:
        then.close()


def since_revision(here: Repository, only: Filter, revision: str, then: Then | None) -> Filter:
    """Return a filter that passes only what came since a revision."""
    if not revision:
        return only
    from dataclasses import replace

    from knowrepo.recall.then import changed_since

    openers = () if then is None else (then.opener,)
    return replace(only, keys=changed_since(here, revision, *openers))
