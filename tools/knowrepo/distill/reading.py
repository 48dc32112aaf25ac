"""An archived session as those who find something in it take it.

Owns no rule: it brings the archive's files, the reader of their agent and the
facts together. Nothing is held but what `SessionLines` holds.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from knowrepo.distill.model import Session
from knowrepo.git.layout import Repository
from knowrepo.sessions.listing import Archived, glance
from knowrepo.sessions.record import Reader, Record
from knowrepo.sessions.store import SessionLines


@dataclass(frozen=True)
class _Records:
    """The records of an archived session; may be gone through again."""

    reader: Reader
    lines: SessionLines

    def __iter__(self) -> Iterator[Record]:
        return self.reader.read(self.lines)


def session_of(repository: Repository, archived: Archived, reader: Reader) -> Session:
    """Return a session as finders take it.

    What is known of it as a whole comes of a quick look: it is read once.
    """
    lines = SessionLines(archived.path)
    path = archived.path.relative_to(repository.root).as_posix()
    facts = glance(archived)
    return Session(archived.name, path, facts, _Records(reader, lines))
