"""What most readers share: identity by file name, keys, and the facts of a session.

Owns defaults. A reader overrides what its agent does otherwise; what only one
agent does stays in that agent's module.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from knowrepo.sessions.lines import Line, read_lines
from knowrepo.sessions.readers.values import (
    clean,
    iso_time,
    text_of,
)
from knowrepo.sessions.record import (
    Identity,
    Record,
    Role,
    SessionFacts,
    ToolCall,
    ToolResult,
)
from knowrepo.sessions.source import COMPRESSED, Native, Source, opened

UUID = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}", re.IGNORECASE)
# The argument of a tool call that says most, in order of preference.
_TELLING = (
    "command", "cmd", "file_path", "filePath", "notebook_path", "absolute_path", "path",
    "pattern", "query", "url", "description", "prompt", "skill", "question", "message",
)  # fmt: skip
_SHELLS = frozenset({"bash", "sh", "zsh", "/bin/bash", "/bin/sh", "/bin/zsh"})
_COMMAND = re.compile(r"/[\w:-]+")
_RECALL = re.compile(r"\bknow\s+recall\b")
_SAFE_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,127}")
_PART_OF = re.compile(r"\.\d+$")  # how the parts of a large session are named
UNREADABLE = "know.unreadable"
"""The type of a record that holds, as text, what its agent should have kept as JSON."""


class Meaning(NamedTuple):
    """What a native record says: whose words it holds, and the tools that it calls."""

    role: Role
    text: str = ""
    calls: tuple[ToolCall, ...] = ()
    side: bool = False
    results: tuple[ToolResult, ...] = ()


NOTHING = Meaning("system")
"""Bookkeeping, or what is unknown: it has no text and does no harm."""


class BaseReader:
    """A reader that recognises nothing. Subclasses set `agent` and say what records mean."""

    agent = ""

    def recognises(self, records: Sequence[Mapping[str, Any]]) -> bool:  # noqa: ARG002
        """See `Reader.recognises`."""
        return False

    def unpack(self, source: Source) -> Iterable[Native] | None:  # noqa: ARG002
        """See `Reader.unpack`."""
        return None

    def waits_for_more(self, source: Source) -> bool:  # noqa: ARG002
        """See `Reader.waits_for_more`."""
        return False

    def record_id(self, record: Mapping[str, Any]) -> str:
        """See `Reader.record_id`."""
        return text_of(record, "id")

    def rank(self, record: Mapping[str, Any]) -> str:  # noqa: ARG002
        """See `Reader.rank`. Without one the longest version is the last."""
        return ""

    def session_id(self, record: Mapping[str, Any]) -> str:
        """See `Reader.session_id`."""
        return text_of(record, "sessionId")

    def parent_id(self, record: Mapping[str, Any]) -> str:  # noqa: ARG002
        """See `Reader.parent_id`."""
        return ""

    def identity(self, path: Path, first: str, last: str, parent: str) -> Identity:  # noqa: ARG002
        """See `Reader.identity`: the file's stem where that is a uuid, else the last id inside."""
        stem = path.name.partition(".")[0]
        return Identity(stem if UUID.fullmatch(stem) else last, parent)

    def parent_source(self, path: Path, parent: str) -> Path | None:  # noqa: ARG002
        """See `Reader.parent_source`."""
        return None

    def folder(self, record: Mapping[str, Any]) -> str:
        """See `Reader.folder`."""
        return text_of(record, "cwd")

    def folder_hash(self, record: Mapping[str, Any]) -> str:  # noqa: ARG002
        """See `Reader.folder_hash`."""
        return ""

    def read(self, lines: Iterable[Line]) -> Iterator[Record]:
        """See `Reader.read`."""
        raise NotImplementedError

    def records(
        self, lines: Iterable[Line], meanings: Callable[[Mapping[str, Any]], Iterable[Meaning]]
    ) -> Iterator[Record]:
        """Yield a record for everything that ``meanings`` finds said in a line.

        The first takes the line's key; what else stands in the same line has one
        of its own that is made from it.
        """
        keys = Keys()
        for line in lines:
            record = line.record
            if record is None:
                continue
            key = keys.key(self.record_id(record), line.raw)
            parent, time = self.follows(record), self.time(record)
            for number, said in enumerate(meanings(record)):
                yield Record(
                    key if number == 0 else f"{key}\0text{number}",
                    said.role,
                    said.text,
                    line.number,
                    parent,
                    time,
                    said.calls,
                    said.results,
                    said.side,
                    line.start,
                    line.end,
                )

    def follows(self, record: Mapping[str, Any]) -> str:
        """Return the id of the record that this one answers or continues, or ''."""
        return text_of(record, "parentId")

    # -- facts ---------------------------------------------------------------

    def facts(self, lines: Iterable[Line], name: str) -> SessionFacts:
        """See `Reader.facts`."""
        title = project = branch = date = ""
        sub_agent = helper = False
        for line in lines:
            record = line.record
            if not record:
                continue
            sub_agent = sub_agent or self.tells_sub_agent(record)
            helper = helper or self.tells_helper(record)
            project = project or self.folder(record)
            branch = self.branch(record) or branch
            date = date or self.time(record)
            title = self.title(record) or title
        sub_agent = sub_agent or self.is_sub_agent(name)
        own = (said for said in self.read(lines) if sub_agent or not said.side)
        first_line = next(filter(None, map(telling_line, own)), "")
        return SessionFacts(
            title=title or first_line,
            project=project,
            branch=branch,
            date=date,
            first_user_line=first_line,
            helper=helper or self.is_helper(name, first_line),
            sub_agent=sub_agent,
        )

    def branch(self, record: Mapping[str, Any]) -> str:
        """Return the git branch that the record names, or an empty string."""
        return text_of(record, "gitBranch")

    def time(self, record: Mapping[str, Any]) -> str:
        """Return the record's time as ISO 8601, or an empty string."""
        return iso_time(record.get("timestamp"))

    def title(self, record: Mapping[str, Any]) -> str:  # noqa: ARG002
        """Return the title that the record gives its session, or an empty string."""
        return ""

    def tells_helper(self, record: Mapping[str, Any]) -> bool:  # noqa: ARG002
        """Say whether the record shows that its session is a housekeeping agent's."""
        return False

    def tells_sub_agent(self, record: Mapping[str, Any]) -> bool:
        """Say whether the record shows that its session is a sub-agent's own."""
        return bool(self.parent_id(record))

    def is_helper(self, name: str, first_line: str) -> bool:  # noqa: ARG002
        """Say whether the session is a housekeeping agent's: kept, but not searched."""
        return False

    def is_sub_agent(self, name: str) -> bool:  # noqa: ARG002
        """Say whether the session is a sub-agent's own, where no record says so."""
        return False


class Keys:
    """Gives each record of a session the key that names it there."""

    def __init__(self) -> None:
        self._seen: dict[str, int] = {}

    def key(self, own: str, raw: bytes) -> str:
        """Return the record's own id, else a hash of its line; a number where it is repeated."""
        key = own.replace("\0", "") or hashlib.sha256(raw).hexdigest()[:32]
        times = self._seen[key] = self._seen.get(key, 0) + 1
        return key if times == 1 else f"{key}\0{times}"


class Recalls:
    """Knows the calls of our own recall: what it printed is no news to the archive."""

    def __init__(self) -> None:
        self._ids: set[str] = set()

    def call(self, name: str, given: object, call_id: str) -> ToolCall:
        """Return a call, and remember its id where it asks our recall."""
        call = tool_call(name, given, call_id)
        if call_id and asks_recall(call):
            self._ids.add(call_id)
        return call

    def role(self, call_id: str) -> Role:
        """Return the role of the output of a call."""
        return "injected" if call_id in self._ids else "tool"


def telling_line(record: Record) -> str:
    """Return the first line of a user's own words that is more than a slash command."""
    if record.role != "user":
        return ""
    lines = (line.strip() for line in record.text.splitlines())
    return next((line for line in lines if line and not _COMMAND.fullmatch(line)), "")


def tool_call(name: str, given: object, call_id: str = "") -> ToolCall:
    """Return a call with the argument that says most; arguments may be JSON in a string."""
    if isinstance(given, str):
        try:
            parsed = json.loads(given)
        except (ValueError, RecursionError):
            parsed = None
        if not isinstance(parsed, dict):
            return ToolCall(name or "tool", clean(given.strip()), call_id)
        given = parsed
    return ToolCall(name or "tool", _argument(given if isinstance(given, Mapping) else {}), call_id)


def asks_recall(call: ToolCall) -> bool:
    """Say whether a call asks our own recall, whose output is no news to the archive."""
    return "recall" in call.argument and _RECALL.search(call.argument) is not None


def _argument(given: Mapping[str, Any]) -> str:
    for name in _TELLING:
        value = given.get(name)
        if isinstance(value, list) and value and all(isinstance(part, str) for part in value):
            value = shell_line(value)
        if isinstance(value, str) and value.strip():
            return clean(value.strip())
    return plain(given)


def shell_line(words: Sequence[str]) -> str:
    """Return a command given as words; of `bash -lc COMMAND` the command."""
    if len(words) == 3 and words[0] in _SHELLS and words[1] in {"-c", "-lc"}:
        return words[2]
    return " ".join(words)


def safe_id(text: str) -> str:
    """Return an agent's id as one that may name a file; changed ones carry a hash of the whole."""
    if _SAFE_ID.fullmatch(text) and not _PART_OF.search(text):
        return text
    if not text:
        return ""
    digest = hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:12]
    plain = re.sub(r"[^A-Za-z0-9_-]+", "-", text).strip("-_")[:80]
    return f"{plain}-{digest}" if plain else digest


def own_stem(path: Path, agent: str) -> str:
    """Return a file's stem where it is a session's id, a uuid or one of ours; else ''."""
    stem = path.name.partition(".")[0]
    ours = re.fullmatch(re.escape(agent) + "-[0-9a-f]{16}", stem)
    return stem if ours or UUID.fullmatch(stem) else ""


def derived_id(path: Path, agent: str) -> str:
    """Return an id for JSON lines that hold none: by the first line, which later copies keep."""
    with opened(_stored(path)) as stream:
        first = next((line.raw for line in read_lines(stream)), b"")
    return f"{agent}-{hashlib.sha256(first).hexdigest()[:16]}" if first else ""


def _stored(path: Path) -> Path:
    """Return the file of a source whose identity is asked by its plain path."""
    names = (path, *(path.with_name(path.name + end) for end in COMPRESSED))
    return next((name for name in names if name.is_file()), path)


def unreadable(text: str, **fields: str) -> dict[str, Any]:
    """Return a record that keeps what could not be parsed."""
    return {"type": UNREADABLE, "text": text, **fields}


def parse_json(text: str) -> Any:
    """Return the JSON value that ``text`` holds, or None; never raises."""
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


def plain(value: object) -> str:
    """Return a value as text: strings as they are, lists by line, others as JSON."""
    if isinstance(value, str):
        return clean(value)
    if value is None or value == [] or value == {}:
        return ""
    if isinstance(value, list) and all(isinstance(item, str) for item in value):
        return clean("\n".join(value))
    try:
        return clean(json.dumps(value, ensure_ascii=False))
    except (TypeError, ValueError, RecursionError):
        return ""
