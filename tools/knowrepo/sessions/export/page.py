"""A session as a page shows it, whatever the page is written in.

Owns what stands on a page and in which order: the session, its exchanges, then
its sub-agents, each record with as much of its text as is shown. A session may
be larger than the memory, so records are made one by one and only few are held;
a page must stay usable, so of an endless session the middle is left out.
"""

from __future__ import annotations

import sys
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass, replace

from knowrepo.errors import KnowError
from knowrepo.git.layout import Repository
from knowrepo.sessions import store
from knowrepo.sessions.export.text import Cut, cut, first_line, shorter, shown
from knowrepo.sessions.listing import Archived, glance
from knowrepo.sessions.readers import reader_of
from knowrepo.sessions.record import Reader, Record, SessionFacts

_HEADING = 100  # characters of a prompt or a title
_GLANCED = 1 << 25  # bytes beyond which a session is not read twice to be summed up
_ENDS = 500  # characters of a message that are shown where there is no room for more
_LEAST = 20  # last records of a conversation that are shown, however full the page is


@dataclass(frozen=True)
class Limits:
    """How much is shown.

    Characters of a message, of a tool's output, and of all outputs of a page;
    records of a page, and how many of a longer session's last ones; characters
    of all messages of a page, beyond which only both ends of each are shown.
    Something of what people asked is shown in any case.
    """

    message: int = 100_000
    output: int = 8_000
    outputs: int = 8_000_000
    records: int = 12_000
    last: int = 3_000
    messages: int = 8_000_000


FULL = Limits(*[sys.maxsize] * 6)


@dataclass(frozen=True)
class Entry:
    """A record with the text that is shown.

    ``opens`` numbers the exchange that it begins, or is 0. A ``task`` stands in
    a user's place and was given to a sub-agent by its caller. ``skipped`` is
    how many records before it are left out.
    """

    record: Record
    text: Cut
    lines: int  # of the whole text
    opens: int = 0
    heading: str = ""
    task: bool = False
    skipped: int = 0


class Budget:
    """What of its limits a page has not used yet."""

    def __init__(self, limits: Limits) -> None:
        self.limits = limits
        self.records, self.last, self.outputs = limits.records, limits.last, limits.outputs
        self.messages = limits.messages

    def spend(self, entry: Entry) -> Entry:
        """Return the entry as it is shown, with less of its text where there is no room for it."""
        self.records -= 1
        head, left_out, tail = entry.text
        size = len(head) + len(tail)
        if entry.record.role in {"user", "assistant"}:
            if size > self.messages:
                return replace(entry, text=shorter(entry.text, _ENDS))
            self.messages -= size
            return entry
        if size > self.outputs:
            return replace(entry, text=Cut("", left_out + size))
        self.outputs -= size
        return entry


@dataclass(frozen=True)
class Conversation:
    """A session, or one of its sub-agents' sessions."""

    session: Archived
    facts: SessionFacts
    reader: Reader

    @property
    def title(self) -> str:
        """One line that says what it was about."""
        return first_line(self.facts.title, _HEADING) or self.session.id

    def records(self) -> Iterator[Record]:
        """Yield the records in file order."""
        return self.reader.read(store.SessionLines(self.session.path))

    def entries(self, budget: Budget) -> Iterator[Entry]:
        """Yield what is shown: the first records, all prompts, and the last records."""
        last: deque[Entry] = deque()
        most = max(_LEAST, budget.last)
        skipped = 0
        for entry in self._said(budget.limits):
            if not last and budget.records > 0:
                yield budget.spend(entry)
                continue
            last.append(entry)
            if len(last) <= most:
                continue
            entry = last.popleft()
            if entry.opens:
                yield budget.spend(replace(entry, skipped=skipped))
                skipped = 0
            else:
                skipped += 1
        budget.last -= len(last)
        if last and not self.session.parent:  # how it ended is not for the middle to use up
            budget.outputs = max(budget.outputs, budget.limits.outputs // 4)
            budget.messages = max(budget.messages, budget.limits.messages // 4)
        while last:
            yield budget.spend(replace(last.popleft(), skipped=skipped))
            skipped = 0

    def _said(self, limits: Limits) -> Iterator[Entry]:
        """Yield the records that say something."""
        number = 0
        for record in self.records():
            if not record.text.strip() and not record.calls:
                continue
            # In a sub-agent's own file its task is the user's turn.
            opens = record.role == "user" and (not record.side or self.facts.sub_agent)
            number += opens
            text = shown(record.text).strip("\n")
            spoken = record.role in {"user", "assistant"}
            yield Entry(
                record._replace(text=""),
                cut(text, limits.message if spoken else limits.output),
                lines=text.count("\n") + bool(text),
                opens=number if opens else 0,
                heading=first_line(text, _HEADING) if opens else "",
                task=record.role == "user" and (record.side or self.facts.sub_agent),
            )


@dataclass(frozen=True)
class Page:
    """What is exported: a session, and its sub-agents'."""

    main: Conversation
    below: tuple[Conversation, ...] = ()

    @property
    def conversations(self) -> tuple[Conversation, ...]:
        """All that stands on the page, in order."""
        return (self.main, *self.below)

    @property
    def sub_agents(self) -> int:
        """How many of them are sub-agents'; others are outputs kept in files of their own."""
        return sum(conversation.facts.sub_agent for conversation in self.below)


def open_page(repository: Repository, session: Archived, *, sub_agents: bool = True) -> Page:
    """Return the page of a session. Raises KnowError where nobody here can read it."""
    reader = reader_of(session.agent)
    if reader is None:
        raise KnowError(
            f"{session.name}: no reader for sessions of {session.agent}",
            hint="a newer know archived it; update yours, or read the file itself",
        )

    def conversation(archived: Archived) -> Conversation:
        for part in store.parts(archived.path):
            repository.inside(part)
        if archived.size > _GLANCED:
            return Conversation(archived, glance(archived), reader)
        facts = reader.facts(store.SessionLines(archived.path), archived.id)
        return Conversation(archived, facts, reader)

    below = tuple(map(conversation, session.below)) if sub_agents else ()
    return Page(conversation(session), tuple(sorted(below, key=lambda c: c.facts.date)))
