"""One module an agent. A format is told by its content, never by a file's extension."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from knowrepo.sessions.readers.aider import AiderReader
from knowrepo.sessions.readers.base import UUID
from knowrepo.sessions.readers.claude import ClaudeReader
from knowrepo.sessions.readers.codex import CodexReader
from knowrepo.sessions.readers.copilot import CopilotReader
from knowrepo.sessions.readers.cursor import CursorReader
from knowrepo.sessions.readers.droid import DroidReader
from knowrepo.sessions.readers.gemini import GeminiReader
from knowrepo.sessions.readers.kiro import KiroReader
from knowrepo.sessions.readers.opencode import OpenCodeReader
from knowrepo.sessions.readers.pi import PiReader
from knowrepo.sessions.record import Reader
from knowrepo.sessions.source import Native, Source, plain

READERS: tuple[Reader, ...] = (
    ClaudeReader(),
    CodexReader(),
    CopilotReader(),
    DroidReader(),
    PiReader(),
    GeminiReader(),
    OpenCodeReader(),
    KiroReader(),
    CursorReader(),
    AiderReader(),
)


class Found(NamedTuple):
    """Whose a source is. ``sessions`` is None where its lines are archived as they stand.

    ``waits``: a file that is not there yet may say more of it.
    """

    reader: Reader
    sessions: Iterable[Native] | None = None
    waits: bool = False

    @property
    def elsewhere(self) -> bool:
        """Whether something lies in other files, so that the source alone tells no change."""
        natives = self.sessions if isinstance(self.sessions, list) else []
        return self.waits or any(one.elsewhere for one in natives)


def recognise(source: Source) -> Found | None:
    """Return whose ``source`` is, or None."""
    for reader in READERS:
        sessions = reader.unpack(source)
        if sessions is not None:
            return Found(reader, sessions)
    lines = [line for line in source.first_lines if not line.raw.startswith(b"//")]
    # A text that quotes a transcript further down is none: it would be joined
    # with the very session that it quotes. Only a file that is named as a session
    # may begin with a broken line.
    if not lines or (lines[0].record is None and not _names_session(source)):
        return None
    records = [line.record for line in lines if line.record is not None]
    found = next((reader for reader in READERS if reader.recognises(records)), None)
    return Found(found, waits=found.waits_for_more(source)) if found else None


def reader_of(agent: str) -> Reader | None:
    """Return the reader of the sessions under `sessions/AGENT/`."""
    return next((reader for reader in READERS if reader.agent == agent), None)


def _names_session(source: Source) -> bool:
    stem = plain(source.path).name.removesuffix(".jsonl")
    return bool(UUID.fullmatch(stem)) or stem.startswith("agent-")
