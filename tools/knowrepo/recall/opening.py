"""Opening what an answer is made of: of the present state, or it says how far behind.

Owns that a catalog is brought up before it answers, as far as time allows, and that
the structured layer knows all concepts all the same: where the catalog lacks some, it
asks the tag index, which every clone brings. Nothing is looked up here.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from contextlib import AbstractContextManager, contextmanager
from types import TracebackType

from knowrepo.errors import KnowError
from knowrepo.git.layout import Repository
from knowrepo.index import freshness
from knowrepo.index.catalog import SEEN, Catalog, DamagedError, told

REFRESH_SECONDS = 0.2
"""What an answer waits for the catalog to be brought up."""
FIRST_BUILD_SECONDS = 2.0
"""The same where there is no catalog yet."""


class Opened:
    """What an answer is made of.

    ``behind`` documents are not indexed yet, -1 where that is not known. ``notes`` are for
    the person who asks. ``partial``: there is no catalog but what the tag index says.
    """

    partial = False

    def __init__(self, catalog: Catalog | None, notes: Collection[str] = ()) -> None:
        self._catalog = catalog
        self.behind = 0
        self.notes = list(notes)

    @property
    def waits(self) -> bool:
        """Whether there is no catalog yet, but one is made when somebody asks for it."""
        return False

    def bring_up(self) -> None:
        """Bring the catalog up to the present state, as far as time allows."""

    @property
    def catalog(self) -> Catalog:
        """The catalog, brought up."""
        assert self._catalog is not None
        return self._catalog

    def names(self, query: str) -> Catalog | None:  # noqa: ARG002
        """Return what the structured layer asks in its place, where it lacks concepts."""
        return None


Opener = Callable[[Repository], AbstractContextManager[Opened]]
"""What gives the catalog that an answer is made of."""


@contextmanager
def current(repository: Repository, *, ids: Collection[str] = ()) -> Iterator[Opened]:
    """Give the present state, brought up as far as time allows.

    All that is asked of its catalog is answered from one state. Documents whose id
    begins with one of ``ids`` are brought up before others. A damaged catalog is built
    anew for the next question, and said to be so.
    """
    try:
        with told(repository.catalog), _Present(repository, tuple(filter(None, ids))) as opened:
            yield opened
    except DamagedError as error:
        from knowrepo.index.build import discard

        discard(repository)
        raise KnowError(
            f"{error.message}; it is removed", hint="ask again: it is built anew"
        ) from error


class _Present(Opened):
    """The present state. A first catalog is made only where the tag index does not do."""

    def __init__(self, repository: Repository, ids: tuple[str, ...]) -> None:
        super().__init__(Catalog.open(repository.catalog, keep=True))
        self._repository, self._ids = repository, ids
        self._names: Catalog | None = None
        self._lacks_concepts = self._is_first = self._catalog is None
        if self._catalog is not None and not self._is_current(self._catalog):
            self._catalog.close()
            self._refresh(REFRESH_SECONDS)

    def __enter__(self) -> Opened:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        for catalog in (self._names, self._catalog):
            if catalog is not None:
                catalog.__exit__(kind, error, trace)

    def _is_current(self, catalog: Catalog) -> bool:
        try:
            with told(self._repository.catalog):
                seen = freshness.Signature.loads(catalog.meta(SEEN))
        except DamagedError:
            seen = freshness.Signature()
        return freshness.is_current(self._repository, seen)

    @property
    def waits(self) -> bool:
        """Whether there is no catalog yet."""
        return self._is_first

    def bring_up(self) -> None:
        """Make the first catalog, where there is none yet."""
        if self._is_first:
            self.notes.clear()
            self._refresh(FIRST_BUILD_SECONDS)

    @property
    def catalog(self) -> Catalog:
        """The catalog, brought up."""
        self.bring_up()
        if self._catalog is None:
            from knowrepo.index.tag_catalog import from_tag_index

            self._catalog = from_tag_index(self._repository) or Catalog.in_memory()
        return self._catalog

    def names(self, query: str) -> Catalog | None:
        """Return what the tag index says of a query, where the catalog lacks concepts."""
        if not self._lacks_concepts:
            return None
        from knowrepo.index.tag_catalog import from_tag_index

        self._names = from_tag_index(self._repository, query)
        if self._is_first and self._names is not None:
            self.behind = -1
            self.notes = ["nothing is indexed yet; `know index` makes all of it findable"]
        return self._names

    def _refresh(self, seconds: float) -> None:
        from knowrepo.index.build import refresh

        self._is_first, self._lacks_concepts = False, True
        try:
            done = refresh(self._repository, budget=seconds, first=self._is_asked_for)
            self.behind = -1 if done.busy else done.behind
            self._lacks_concepts = done.busy or done.lacks_concepts
            self.notes += done.notes
            if done.busy:
                self.notes.append("another process is indexing; this answer may lack the newest")
            elif self.behind:
                self.notes.append(f"{self.behind} documents are not indexed yet; run `know index`")
        except KnowError as error:
            self.notes.append(f"{error.message}; answering from what there is")
        self._catalog = Catalog.open(self._repository.catalog, keep=True)
        self.partial = self._catalog is None

    def _is_asked_for(self, key: str) -> bool:
        from knowrepo.index.chunk import document_id

        return bool(self._ids) and document_id(key).startswith(self._ids)
