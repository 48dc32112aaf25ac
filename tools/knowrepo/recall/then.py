"""Recall of what was known at a revision, or of what came since one.

Owns how an answer from the past is opened and said to be one. How a catalog of the past
comes about is `history.past`'s business.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace

from knowrepo.git import revisions
from knowrepo.git.layout import Repository
from knowrepo.history import past
from knowrepo.index import Progress
from knowrepo.recall.opening import Opened, Opener, current
from knowrepo.recall.route import Answer


class Then:
    """The state of a revision; made once, however many queries are asked of it."""

    def __init__(self, repository: Repository, name: str, *, with_sessions: bool = True) -> None:
        self.commit = revisions.commit_of(repository, name)
        self.with_sessions = with_sessions
        self.progress: Progress = lambda _done, _total: None
        self._opened: Opened | None = None

    @contextmanager
    def opener(self, repository: Repository) -> Iterator[Opened]:
        """Give the catalog of then; see `opening.Opener`."""
        if self._opened is None:
            with current(repository) as now:  # so that the copy is of a catalog that is whole
                now.bring_up()
                notes = [] if now.behind else now.notes
                slow = now.behind != 0 or now.partial
            found = past.known_at(
                repository, self.commit, with_sessions=self.with_sessions, progress=self.progress
            )
            if slow:
                notes = ["not all is indexed yet, which makes this slow; run `know index`"]
            self._opened = Opened(found.catalog, [*notes, *found.notes])
        yield self._opened

    def told(self, answer: Answer) -> Answer:
        """Return an answer as one from then, without the advice to index what is no more."""
        answer = replace(answer, revision=self.commit)
        if not answer.pending or self._opened is None:
            return answer
        own = len(self._opened.notes)
        note = f"{answer.pending} texts of then have no vector; words speak for them"
        return replace(answer, pending=0, notes=[*answer.notes[:own], note])

    def close(self) -> None:
        """Drop the catalog."""
        if self._opened is not None:
            self._opened.catalog.close()
            self._opened = None


def changed_since(repository: Repository, name: str, opener: Opener = current) -> frozenset[str]:
    """Return the keys of the documents that a revision has not, or has otherwise."""
    commit = revisions.commit_of(repository, name)
    with opener(repository) as opened:
        return past.changed_since(repository, opened.catalog, commit)
