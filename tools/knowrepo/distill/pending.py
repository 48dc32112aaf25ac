"""Which sessions a finder is yet to look at.

Owns what each finder remembers of those that it looked at, and who among them is
asked about at all. Nothing is written here.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from knowrepo.distill.ledger import LEDGER, read_ledger
from knowrepo.distill.looked import Looked
from knowrepo.distill.model import Session
from knowrepo.distill.reading import session_of
from knowrepo.git.layout import Repository
from knowrepo.sessions import store
from knowrepo.sessions.listing import Archived
from knowrepo.sessions.readers import reader_of


@dataclass(frozen=True)
class Wanted:
    """What a run is to do. ``types`` and ``limit`` leave proposals for later."""

    types: frozenset[str] = frozenset()
    limit: int = 0
    named: bool = False  # a person named just these sessions
    again: bool = False  # those too that did not change
    dry_run: bool = False


ALL = Wanted()
"""All that changed."""


def pending(
    repository: Repository, sessions: Sequence[Archived], finder: str, wanted: Wanted
) -> Iterator[Session]:
    """Yield the sessions in which a finder of this name has not yet looked as they are."""
    ledger = read_ledger(repository.root / LEDGER)
    looked = looked_by(repository, finder)
    for archived in sessions:
        known = looked.unchanged(archived.name, store.stamp(archived.path), ledger)
        reader = reader_of(archived.agent)
        if reader is not None and (not known or wanted.again or wanted.named):
            session = session_of(repository, archived, reader)
            if is_told(session, wanted):
                yield session


def looked_by(repository: Repository, finder: str) -> Looked:
    """Return what a finder looked at; each has its own, for to ask again may cost money."""
    return Looked(repository.locks / f"distilled-{finder.partition('/')[0]}.json", finder)


def is_told(session: Session, wanted: Wanted) -> bool:
    """Say whether a session is no housekeeping agent's, nor an unnamed sub-agent's."""
    facts = session.facts
    return not facts.helper and (wanted.named or not facts.sub_agent)
