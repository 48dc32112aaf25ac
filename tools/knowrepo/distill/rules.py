"""The finder that needs no model: rules of English, from a session to proposals.

Owns how statements become proposals; what a sentence is, what belongs together
and how it is worded are the modules' beside it. Sessions in other languages
give nothing. A session is gone through once, and of it statements are held.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Protocol

from knowrepo.distill import wording
from knowrepo.distill.collect import Collector
from knowrepo.distill.group import Matter, Said, matters
from knowrepo.distill.join import joined
from knowrepo.distill.model import Kind, Proposal, Session, Statement
from knowrepo.distill.tagging import Background, Tagger, Unknown, tag_words
from knowrepo.sessions.record import Record

RULES = 2
"""The version of the rules: with another one every session is looked at again."""
MOST_EVIDENCE = 8
"""Statements of a proposal."""

_TYPES: Mapping[Kind, str] = {
    "decision": "Decision",
    "rejection": "Decision",
    "cause": "Failure",
    "fix": "Project Knowledge",
    "preference": "Preference",
    "correction": "Correction",
}


class Watcher(Protocol):
    """What else finds proposals in the same pass over a session's records."""

    def take(self, record: Record) -> None:
        """See one record."""

    def done(self) -> list[Proposal]:
        """Return what was found, at the end of the session."""


class RulesFinder:
    """Proposes concepts by rules; implements `model.Finder`."""

    name = f"knowrepo/rules-{RULES}"

    def __init__(
        self,
        vocabulary: Mapping[str, int] | None = None,
        background: Background | None = None,
        watch: Callable[[Session], Watcher] | None = None,
    ) -> None:
        self._tagger = Tagger(vocabulary or {}, background or Unknown())
        self._watch = watch

    def propose(self, session: Session) -> list[Proposal]:
        """See `model.Finder.propose`."""
        if session.facts.helper:
            return []
        collector = Collector(session)
        watcher = self._watch(session) if self._watch else None
        for record in session.records:
            collector.take(record)
            if watcher is not None:
                watcher.take(record)
        collector.done()
        heard = _heard(session, collector.statements)
        found = [
            proposal
            for matter in matters(collector.statements, collector.withdrawals)
            if (proposal := self._proposal(matter, session.name, heard)) is not None
        ]
        if watcher is not None:
            found = joined(found, [self._tagged(one, heard) for one in watcher.done()])
        return sorted(found, key=lambda one: min(said.line for said in one.statements))

    def _tagged(self, proposal: Proposal, heard: Mapping[str, int]) -> Proposal:
        """Return what a watcher found with tags, if it has none."""
        if proposal.tags:
            return proposal
        texts = [proposal.title, *(one.text for one in proposal.statements if one.kind == "cause")]
        return replace(proposal, tags=self._tagger.tags(texts, heard))

    def _proposal(self, matter: Matter, session: str, heard: Mapping[str, int]) -> Proposal | None:
        lead = matter.lead
        if lead is None:
            return None
        title = _title(lead.statement)
        if not title:
            return None
        evidence = _evidence(matter, lead)
        texts = [title, *(statement.text for statement in evidence)]
        return Proposal(
            type=_type(lead, evidence),
            title=title,
            description=wording.description(lead.statement.text, _reason(evidence), named=title),
            session=session,
            statements=tuple(evidence),
            tags=self._tagger.tags(texts, heard),
        )


def _title(statement: Statement) -> str:
    question, mark, answer = statement.text.partition("? ")
    if statement.role == "tool" and mark:  # what a tool asked the user
        return wording.answered(question, answer)
    return wording.title(statement.text, why=statement.kind == "cause")


def _heard(session: Session, statements: Sequence[Said]) -> Mapping[str, int]:
    """Return in how many statements each word occurs, the session's title being one."""
    counts: Counter[str] = Counter()
    facts = session.facts
    for text in (facts.title, facts.first_user_line, *(said.statement.text for said in statements)):
        counts.update(set(tag_words(text)))
    return counts


def _type(lead: Said, evidence: Sequence[Statement]) -> str:
    """Return the type of a concept; a fix whose cause is known tells of a failure."""
    if lead.kind == "fix" and any(statement.kind == "cause" for statement in evidence):
        return "Failure"
    return _TYPES[lead.kind]


def _evidence(matter: Matter, lead: Said) -> list[Statement]:
    """Return the statement that leads, then the others that say most, in their order."""
    others = [said for said in matter.members if said is not lead]
    order = sorted(range(len(others)), key=lambda n: -others[n].statement.weight)
    kept = sorted(order[: MOST_EVIDENCE - 1])
    return [lead.statement, *(others[n].statement for n in kept)]


def _reason(evidence: Sequence[Statement]) -> str:
    """Return the statement after the first that gives a reason, or the first one that mends."""
    others = evidence[1:]
    reasons = [one.text for one in others if " because " in one.text or " so that " in one.text]
    fixes = [one.text for one in others if one.kind == "fix"]
    return next(iter([*reasons, *fixes]), "")
