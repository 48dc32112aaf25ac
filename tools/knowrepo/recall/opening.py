"""Opening the catalog for an answer: it is of the present state, or says how far behind.

Owns that a catalog is brought up before it answers, as far as time allows, and
what stands in where there is none. Nothing is looked up here.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass

from knowrepo.errors import KnowError
from knowrepo.git.layout import Repository
from knowrepo.index import freshness
from knowrepo.index.catalog import SEEN, Catalog, DamagedError, told

REFRESH_SECONDS = 0.2
"""What an answer waits for the catalog to be brought up."""
FIRST_BUILD_SECONDS = 2.0
"""The same where there is no catalog yet."""


@dataclass(frozen=True)
class Opened:
    """A catalog to answer from. ``partial``: only the tag index could be read."""

    catalog: Catalog
    behind: int
    notes: list[str]
    partial: bool = False


Opener = Callable[[Repository], AbstractContextManager[Opened]]
"""What gives the catalog that an answer is made of."""


@contextmanager
def current(repository: Repository) -> Iterator[Opened]:
    """Give the catalog, brought up to the present state as far as time allows.

    All that is asked of it is answered from one state. A damaged catalog is
    built anew for the next question, and said to be so.
    """
    opened = _open(repository)
    try:
        with told(repository.catalog), opened.catalog:
            yield opened
    except DamagedError as error:
        from knowrepo.index.build import discard

        discard(repository)
        raise KnowError(
            f"{error.message}; it is removed", hint="ask again: it is built anew"
        ) from error


def _open(repository: Repository) -> Opened:
    catalog = Catalog.open(repository.catalog, keep=True)
    if catalog is not None:
        try:
            with told(repository.catalog):
                seen = freshness.Signature.loads(catalog.meta(SEEN))
        except DamagedError:
            seen = freshness.Signature()
        if freshness.is_current(repository, seen):
            return Opened(catalog, 0, [])
        catalog.close()
    return _brought_up(repository, first=catalog is None)


def _brought_up(repository: Repository, *, first: bool) -> Opened:
    from knowrepo.index.build import refresh

    notes: list[str] = []
    behind = 0
    try:
        done = refresh(repository, budget=FIRST_BUILD_SECONDS if first else REFRESH_SECONDS)
        behind = -1 if done.busy else done.behind
        notes += done.notes
        if done.busy:
            notes.append("another process is indexing; this answer may lack the newest")
        elif behind:
            notes.append(f"{behind} documents are not indexed yet; run `know index`")
    except KnowError as error:
        notes.append(f"{error.message}; answering from what there is")
    catalog = Catalog.open(repository.catalog, keep=True)
    if catalog is not None:
        return Opened(catalog, behind, notes)
    from knowrepo.index.documents import from_tag_index

    return Opened(from_tag_index(repository), behind, notes, partial=True)
