"""Aider's chat history, `.aider.chat.history.md`.

Owns how that Markdown is cut into sessions and turns. One file holds all sessions
of a folder, one after the other, and only grows. `# aider chat started at …` begins
a session; `#### ` is what the user typed, `> ` what Aider and its tools said, the
rest is the model's. Known from version 0.5 of 2023 to 0.86.

Aider ends its own lines with two spaces. Where a session's first user line has
them, a heading or a quote in the model's Markdown is told apart by lacking them;
where an editor took them away, every such line counts as what it looks like.

A session has no id. It is named by its start, and by a hash of all up to the first
thing that the user typed: that never changes again. What is before that, and a
session without it, says nothing but which model was chosen.
"""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from knowrepo.sessions.lines import BOM, Line, decode
from knowrepo.sessions.readers.base import (
    BaseReader,
    Keys,
    safe_id,
)
from knowrepo.sessions.readers.message import Message
from knowrepo.sessions.readers.values import (
    text_of,
)
from knowrepo.sessions.record import Identity, Record, Role
from knowrepo.sessions.source import Native, Source, opened

_START = re.compile(rb"# aider chat started at (\d{4}-\d\d-\d\d \d\d:\d\d:\d\d)\s*")
_ROLES: dict[str, Role] = {"user": "user", "assistant": "assistant", "tool": "tool"}
# What Aider writes for an empty line, and answers to its questions.
_NOISE = frozenset({"<blank>", "y", "n", "yes", "no", "a", "all", "s", "skip", "d"})
_ENDED = "  "  # how Aider ends its own lines


class AiderReader(BaseReader):
    """The reader for Aider."""

    agent = "aider"

    def recognises(self, records: Sequence[Mapping[str, Any]]) -> bool:
        """See `Reader.recognises`: only what we archived ourselves is JSON lines."""
        return any(isinstance(record.get("aider_started"), str) for record in records)

    def unpack(self, source: Source) -> Iterable[Native] | None:
        """See `Reader.unpack`."""
        first = source.head.removeprefix(BOM).lstrip().split(b"\n", 1)[0]
        return _sessions(source.path) if _START.fullmatch(first) else None

    def session_id(self, record: Mapping[str, Any]) -> str:
        """See `Reader.session_id`."""
        return safe_id(text_of(record, "session"))

    def identity(self, path: Path, first: str, last: str, parent: str) -> Identity:  # noqa: ARG002
        """See `Reader.identity`."""
        return Identity(last, parent)

    def folder(self, record: Mapping[str, Any]) -> str:
        """See `Reader.folder`."""
        return text_of(record, "directory")

    def time(self, record: Mapping[str, Any]) -> str:
        """See `BaseReader.time`: the session's start, in its machine's own time."""
        return text_of(record, "aider_started").replace(" ", "T")

    def read(self, lines: Iterable[Line]) -> Iterator[Record]:
        """See `Reader.read`."""
        keys = Keys()
        for line in lines:
            record = line.record
            if record is None:
                continue
            key = keys.key(self.record_id(record), line.raw)
            message = Message(key, line, time=self.time(record))
            role = _ROLES.get(text_of(record, "role"), "system")
            text = text_of(record, "text")
            noise = role == "user" and text.strip().lower() in _NOISE
            message.say("system" if noise else role, text)
            yield from message.records()


@dataclass
class _Place:
    """Where a session lies in its file."""

    started: str
    start: int
    end: int = 0
    id: str = ""
    strict: bool = False
    digest: Any = field(default_factory=hashlib.sha256)


def _sessions(path: Path) -> list[Native]:
    folder = path.absolute().parent
    # Elsewhere than in a work tree the file is a copy, and its folder says nothing.
    own = {"directory": str(folder)} if (folder / ".git").exists() else {}
    return [Native(place.id, _Session(path, place, own)) for place in _places(path) if place.id]


def _places(path: Path) -> list[_Place]:
    places: list[_Place] = []
    seen: Counter[str] = Counter()
    position = 0
    with opened(path) as stream:
        for raw in stream:
            if found := _START.fullmatch(_without_mark(raw, position)):
                places.append(_Place(found[1].decode(), position))
            if places:
                place = places[-1]
                place.end = position + len(raw)
                if not place.id:
                    _name(place, raw, seen)
            position += len(raw)
    return places


def _without_mark(raw: bytes, position: int) -> bytes:
    return raw.removeprefix(BOM) if position == 0 else raw


def _name(place: _Place, raw: bytes, seen: Counter[str]) -> None:
    """Take a line into what names the session; the user's first one settles it."""
    place.digest.update(raw.strip() + b"\n")
    if not raw.startswith(b"#### ") or not raw.endswith(b"\n"):
        return
    when = re.sub(r"[^\d]+", "", place.started)
    name = f"{when[:8]}T{when[8:]}-{place.digest.hexdigest()[:16]}"
    seen[name] += 1
    place.id = name if seen[name] == 1 else f"{name}-{seen[name]}"
    place.strict = raw.rstrip(b"\r\n").endswith(_ENDED.encode())


@dataclass(frozen=True)
class _Session:
    """The records of a session: its own fields, then one record a turn."""

    path: Path
    place: _Place
    own: Mapping[str, str]

    def __iter__(self) -> Iterator[Mapping[str, Any]]:
        own = {"aider_started": self.place.started, "session": self.place.id, "id": "start"}
        yield {**own, **self.own}
        turns = _turns(self._lines(), strict=self.place.strict)
        for number, (role, lines) in enumerate(turns, start=1):
            text = "\n".join(lines).strip("\n")
            yield {"id": f"turn-{number}", "role": role, "text": text}

    def _lines(self) -> Iterator[str]:
        """Yield the lines after the first."""
        with opened(self.path) as stream:
            stream.seek(self.place.start)
            position = self.place.start + len(stream.readline())
            for raw in stream:
                if position >= self.place.end:
                    return
                yield decode(raw.rstrip(b"\r\n"))
                position += len(raw)


def _turns(lines: Iterable[str], *, strict: bool) -> Iterator[tuple[str, list[str]]]:
    """Yield the turns in order; two inputs of the user with a blank line between are two."""
    role = ""
    said: list[str] = []
    blank = False
    for line in lines:
        if not line.strip():
            blank = True
            said.append("")
            continue
        new, text = _cut(line, said if role == "assistant" else [], strict=strict)
        if new != role or (new == "user" and blank):
            if role and any(said):
                yield role, said
            role, said = new, []
        said.append(text)
        blank = False
    if role and any(said):
        yield role, said


def _cut(line: str, before: Sequence[str], *, strict: bool) -> tuple[str, str]:
    """Return who said a line, and the line without its mark."""
    ended = line.endswith(_ENDED) or not strict
    if line.startswith("#### ") and ended and (strict or not _announced(before)):
        return "user", line.removeprefix("#### ").rstrip()
    if line.startswith("> ") and ended:
        return "tool", line.removeprefix("> ").rstrip()
    return "assistant", line


def _announced(before: Sequence[str]) -> bool:
    """Say whether the model's last line announces what follows, so that a heading is its own."""
    return next((line for line in reversed(before) if line), "").rstrip().endswith(":")
