"""A session as a page shows it, whatever the page is written in.

Owns what stands on a page and in which order: the session, its exchanges, then
its sub-agents, each record with as much of its text as is shown. A session may
be larger than the memory, so records are made one by one and never kept.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import dataclass

from knowrepo.errors import KnowError
from knowrepo.git.layout import Repository
from knowrepo.sessions.export.text import Cut, cut, first_line, shown
from knowrepo.sessions.listing import Archived, open_session, parts_of
from knowrepo.sessions.readers import reader_of
from knowrepo.sessions.record import Reader, Record, SessionFacts

_HEADING = 100  # characters of a prompt or a title


@dataclass(frozen=True)
class Limits:
    """How many characters are shown: of a message, of a tool's output, of all outputs of a page.

    What people and agents said is cut only where nobody would read it; tools
    print the most, and are cut first.
    """

    message: int = 100_000
    output: int = 8_000
    all_outputs: int = 8_000_000


FULL = Limits(sys.maxsize, sys.maxsize, sys.maxsize)


@dataclass(frozen=True)
class Entry:
    """A record with the text that is shown.

    ``opens`` numbers the exchange that it begins, or is 0. A ``task`` stands in
    a user's place and was given to a sub-agent by its caller.
    """

    record: Record
    text: Cut
    lines: int  # of the whole text
    opens: int = 0
    heading: str = ""
    task: bool = False


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
        return self.reader.read(open_session(self.session.path))

    def entries(self, budget: Budget) -> Iterator[Entry]:
        """Yield the records that say something, with what is shown of them."""
        number = 0
        for record in self.records():
            if not record.text.strip() and not record.calls:
                continue
            # In a sub-agent's own file its task is the user's turn.
            opens = record.role == "user" and (not record.side or self.facts.sub_agent)
            number += opens
            text = shown(record.text).strip("\n")
            yield Entry(
                record,
                budget.take(record, text),
                lines=text.count("\n") + bool(text),
                opens=number if opens else 0,
                heading=first_line(text, _HEADING) if opens else "",
                task=record.role == "user" and (record.side or self.facts.sub_agent),
            )


class Budget:
    """What of a page's characters is left for the outputs of tools."""

    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        self._left = limits.all_outputs

    def take(self, record: Record, text: str) -> Cut:
        """Return what is shown of ``text``, the text of ``record``."""
        if record.role in {"user", "assistant"}:
            return cut(text, self._limits.message)
        most = min(self._limits.output, self._left)
        self._left -= min(most, len(text))
        return cut(text, most)


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
        for part in parts_of(archived.path):
            repository.inside(part)
        facts = reader.facts(open_session(archived.path), archived.id)
        return Conversation(archived, facts, reader)

    below = tuple(map(conversation, session.below)) if sub_agents else ()
    return Page(conversation(session), tuple(sorted(below, key=lambda c: c.facts.date)))
