"""A session as JSON lines, for programs: the open record model, nothing cut.

Owns the exported form and its number. The first line is a header, each line
after it a record. A change that a reader must know of comes with a new number;
a new key does not.
"""

from __future__ import annotations

from collections.abc import Iterator

from knowrepo.sessions.export.page import Conversation, Limits, Page
from knowrepo.sessions.record import Record
from knowrepo.terminal import json_text

FORMAT = 1


def render(page: Page, limits: Limits) -> Iterator[str]:  # noqa: ARG001
    """Yield the lines of the export; records that say nothing are among them."""
    sessions = [_header(conversation) for conversation in page.conversations]
    yield _line({"format": FORMAT, "sessions": sessions})
    for conversation in page.conversations:
        for record in conversation.records():
            yield _line(_fields(conversation.session.name, record))


def _header(conversation: Conversation) -> dict[str, object]:
    facts, session = conversation.facts, conversation.session
    return {
        "session": session.name,
        "agent": session.agent,
        "parent": f"{session.agent}/{session.parent}" if session.parent else "",
        "title": facts.title,
        "project": facts.project,
        "branch": facts.branch,
        "date": facts.date,
        "sub_agent": facts.sub_agent,
        "helper": facts.helper,
    }


def _fields(session: str, record: Record) -> dict[str, object]:
    return {
        "session": session,
        "key": record.key,
        "parent": record.parent,
        "role": record.role,
        "time": record.time,
        "text": record.text,
        "calls": [{"name": call.name, "argument": call.argument} for call in record.calls],
        "line": record.line,
        "start": record.start,
        "end": record.end,
        "side": record.side,
    }


def _line(value: dict[str, object]) -> str:
    return f"{json_text(value)}\n"
