"""One module an agent. A format is told by its content, never by a file's name."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from knowrepo.sessions.readers.claude import ClaudeReader
from knowrepo.sessions.record import Reader

READERS: tuple[Reader, ...] = (ClaudeReader(),)


def recognise(records: Iterable[Mapping[str, Any]]) -> Reader | None:
    """Return the reader for a source that begins with ``records``, or None."""
    first = list(records)
    return next((reader for reader in READERS if reader.recognises(first)), None)


def reader_of(agent: str) -> Reader | None:
    """Return the reader of the sessions under `sessions/AGENT/`."""
    return next((reader for reader in READERS if reader.agent == agent), None)
