"""Distilling a repository: which sessions, one by one, and what becomes of each proposal.

Owns the order of writing, so that a run that is stopped or killed neither loses
nor doubles a concept: a draft is noted in the journal, then written; the ledger
follows at the end. Nothing is staged and nothing is printed: a draft is nobody's
knowledge until somebody adds it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from typing import Literal

from knowrepo.concepts import bundle, keeping
from knowrepo.concepts.compose import free_path
from knowrepo.concepts.kinds import folder_of, spelled
from knowrepo.concepts.model import FOLDER, concept_id
from knowrepo.concepts.tags import concept_path
from knowrepo.distill.files import Cited, Related, cited_paths, draft
from knowrepo.distill.ledger import (
    ALONE,
    LEDGER,
    MENDED,
    Journal,
    Standing,
    Verdict,
    digest_of,
    judge,
    part_of,
    read_ledger,
    write_ledger,
)
from knowrepo.distill.model import Asking, Finder, Proposal, Session
from knowrepo.distill.pending import ALL, Wanted, is_told, looked_by
from knowrepo.distill.reading import session_of
from knowrepo.distill.relate import Relations
from knowrepo.errors import KnowError
from knowrepo.git import plumbing
from knowrepo.git.layout import Repository
from knowrepo.git.lock import held
from knowrepo.sessions import conflicts, store
from knowrepo.sessions.listing import Archived
from knowrepo.sessions.readers import reader_of


@dataclass(frozen=True)
class Outcome:
    """What became of one proposal, or of a session that could not be read.

    ``new`` is a new draft at ``path``, ``grown`` one that was written anew,
    ``already`` is said by the concept at ``path``, and ``failed`` says why in
    ``note``. ``fresh`` are the keys of the statements that were not known.
    """

    action: Literal["new", "grown", "already", "failed"]
    session: str
    path: str = ""
    proposal: Proposal | None = None
    fresh: tuple[str, ...] = ()
    note: str = ""


@dataclass(frozen=True)
class Done:
    """How many sessions a run looked at, and how many it knew as they are."""

    looked: int
    unchanged: int


def distill(
    repository: Repository,
    sessions: Sequence[Archived],
    finder: Finder,
    tell: Callable[[Outcome], None],
    *,
    wanted: Wanted = ALL,
    advance: Callable[[int, int], None] = lambda _done, _total: None,
    waiting: Callable[[], None] = lambda: None,
    clock: Callable[[], datetime] = lambda: datetime.now(UTC),
) -> Done:
    """Distil each session; ``tell`` hears what became of each proposal.

    A second process waits its turn; ``waiting`` is called once where it has to.
    What is done when a run is stopped stays done.
    """
    repository.inside(repository.concepts)
    _refuse_conflicts(repository)
    with nullcontext() if wanted.dry_run else held(repository, "distill", waiting):
        run = _Run(repository, finder, tell, wanted, clock)
        looked = 0
        try:
            for number, session in enumerate(sessions):
                advance(number, len(sessions))
                if run.is_full:
                    break
                looked += run.session(session)
            advance(len(sessions), len(sessions))
        finally:
            run.save()
    return Done(looked, run.unchanged)


def _unanswered(finder: Finder) -> int:
    return finder.unanswered if isinstance(finder, Asking) else 0


class _Run:
    """One run: what it knows of the bundle, and what it has written."""

    def __init__(
        self,
        repository: Repository,
        finder: Finder,
        tell: Callable[[Outcome], None],
        wanted: Wanted,
        clock: Callable[[], datetime],
    ) -> None:
        self._repository = repository
        self._finder = finder
        self._tell = tell
        self._wanted = wanted
        self._clock = clock
        self._ledger = read_ledger(repository.root / LEDGER)
        self._journal = Journal(repository.locks / "distill.journal")
        self._journal.recover(self._ledger, self._read)
        self._looked = looked_by(repository, finder.name)
        self._undecided = {*conflicts.unmerged(repository), *conflicts.marked(repository)}
        self._relations: Relations | None = None
        self._written = 0
        self.unchanged = 0

    @property
    def is_full(self) -> bool:
        """Whether as many drafts are there as were asked for."""
        return 0 < self._wanted.limit <= self._written

    def session(self, archived: Archived) -> bool:
        """Distil one session; says whether it was looked at."""
        if archived.place in self._undecided:
            how = conflicts.mended_by(self._repository, archived.path)
            self._fail(archived, f"in conflict after a merge; {how}")
            return True
        stamp = store.stamp(archived.path)
        known = self._looked.unchanged(archived.name, stamp, self._ledger)
        if known and not (self._wanted.again or self._wanted.named):
            self.unchanged += 1
            return False
        reader = reader_of(archived.agent)
        if reader is None:
            self._fail(archived, f"no reader for {archived.agent} here")
            return True
        before = _unanswered(self._finder)
        try:
            found = session_of(self._repository, archived, reader)
            proposals = self._finder.propose(found) if is_told(found, self._wanted) else []
        except OSError as error:
            self._fail(archived, f"cannot be read: {error.strerror or error}")
        except KnowError as error:
            self._fail(archived, error.message)
        else:
            whole = self._all(proposals, found)
            answered = _unanswered(self._finder) == before
            if whole and answered and not self._wanted.dry_run:
                keys = {one.key(p.session) for p in proposals for one in p.statements}
                held = sorted(key for key in keys if self._ledger.concepts_of(key))
                self._looked.note(archived.name, stamp, held)
        return True

    def _fail(self, archived: Archived, note: str) -> None:
        self._tell(Outcome("failed", archived.name, note=note))

    def _all(self, proposals: Sequence[Proposal], session: Session) -> bool:
        """Take the proposals of a session; says whether none was left for later."""
        claimed: set[str] = set()
        whole = True
        for proposal in proposals:
            if self.is_full or not self._is_wanted(proposal):
                whole = False
                continue
            standing = partial(self._standing, session=session)
            verdict = judge(proposal, self._ledger, standing, claimed)
            claimed |= {verdict.concept, self._take(proposal, verdict, session)}
        return whole

    def _is_wanted(self, proposal: Proposal) -> bool:
        return not self._wanted.types or spelled(proposal.type) in self._wanted.types

    def _take(self, proposal: Proposal, verdict: Verdict, session: Session) -> str:
        """Do what the ledger says; returns the concept that was written, if one was."""
        keys = [one.key(proposal.session) for one in proposal.statements]
        if verdict.action == "new":
            return self._propose(proposal, session)
        if verdict.action == "grown":
            fresh = tuple(keys[n] for n in verdict.fresh)
            part = part_of(proposal, verdict.kept)
            return self._put(part, session, verdict.concept, fresh, beside=verdict.other)
        alone = [n for n in verdict.fresh if proposal.statements[n].kind in ALONE]
        if verdict.action == "known" or not alone:
            return ""
        # The other statements belong to what is a person's.
        self._ledger.add(verdict.concept, (keys[n] for n in verdict.fresh if n not in alone))
        return self._propose(part_of(proposal, alone), session, beside=verdict.concept)

    def _propose(self, proposal: Proposal, session: Session, beside: str = "") -> str:
        """Write a new draft, unless a concept says the same already."""
        keys = tuple(one.key(proposal.session) for one in proposal.statements)
        said = self._known.said_by(proposal.title, proposal.description)
        if said:
            self._tell(Outcome("already", session.name, concept_path(said), proposal, keys))
            self._ledger.add(said, keys)  # where that one is rejected, so is this
            return ""
        path = free_path(folder_of(proposal.type), proposal.title, self._is_taken)
        return self._put(proposal, session, concept_id(path), keys, beside=beside)

    def _put(
        self,
        proposal: Proposal,
        session: Session,
        concept: str,
        fresh: tuple[str, ...],
        beside: str = "",
    ) -> str:
        """Write a draft, new or anew: note it, write it, then let the ledger know."""
        path = concept_path(concept)
        is_new = not self._ledger.wrote(concept)
        data = draft(
            proposal,
            Cited(session.name, session.path, session.facts.title),
            path,
            by=proposal.found_by or self._finder.name,
            at=self._clock(),
            related=self._related(proposal, concept, beside),
        )
        keys = [one.key(proposal.session) for one in proposal.statements]
        digest = digest_of(data)
        if not self._wanted.dry_run:
            self._journal.note(concept, keys, digest)
            keeping.write(self._repository, path, data)
        self._ledger.add(concept, keys, digest)
        self._known.add(concept, proposal.title, proposal.description, proposal.tags)
        self._written += is_new
        action: Literal["new", "grown"] = "new" if is_new else "grown"
        self._tell(Outcome(action, session.name, path, proposal, fresh))
        return concept

    # -- the bundle -----------------------------------------------------------

    @property
    def _known(self) -> Relations:
        """The concepts that are there; read when the first proposal needs them."""
        if self._relations is None:
            self._relations = Relations()
            there = [
                *bundle.read_concepts(self._repository),
                *bundle.read_drafts(self._repository),
            ]
            for one in sorted(there, key=lambda concept: concept.id):
                self._relations.add(one.id, one.title, one.description, one.tags, one.aliases)
        return self._relations

    def _related(self, proposal: Proposal, concept: str, beside: str) -> list[Related]:
        but = frozenset({concept, beside})
        found = self._known.related(proposal.title, proposal.description, proposal.tags, but)
        return [self._known.link(beside), *found][:3] if beside else found

    def _standing(self, concept: str, session: Session) -> Standing:
        """Say how a concept stands to a session: a draft made of another is not its to write."""
        data = self._read(concept)
        standing = self._ledger.standing(concept, data)
        if standing == "ours" and data is not None:
            mine = cited_paths(concept_path(concept), data) <= {session.path}
            return "ours" if mine else "theirs"
        return standing

    def _read(self, concept: str) -> bytes | None:
        path = self._repository.root / concept_path(concept)
        try:
            regular = path.is_file() and not path.is_symlink()
            return self._repository.inside(path).read_bytes() if regular else None
        except (OSError, ValueError):  # a name that no file can have
            return None

    def _is_taken(self, path: str) -> bool:
        return self._ledger.knows(concept_id(path)) or (self._repository.root / path).exists()

    def save(self) -> None:
        """Write what is known now: the ledger, then what need not be looked at again."""
        if self._wanted.dry_run:
            return
        write_ledger(self._repository, self._ledger)
        self._journal.clear()
        self._looked.save()


def _refuse_conflicts(repository: Repository) -> None:
    """Raise KnowError while concepts are in conflict: what they say is not decided."""
    undecided = plumbing.unmerged(repository, FOLDER)
    if undecided:
        other = "resolve it and `git add` it, then run this again"
        hint = MENDED if undecided[0] == LEDGER else other
        raise KnowError(f"{undecided[0]}: in conflict", hint=hint)
