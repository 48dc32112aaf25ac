"""What most readers share: identity by file name, keys, and the facts of a session.

Owns defaults. A reader overrides what its agent does otherwise; what only one
agent does stays in that agent's module.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from knowrepo.sessions.lines import Line, read_lines
from knowrepo.sessions.record import Identity, Record, SessionFacts, ToolCall
from knowrepo.sessions.source import Native, Source

UUID = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}", re.IGNORECASE)
# The argument of a tool call that says most, in order of preference.
_TELLING = (
    "command", "cmd", "file_path", "filePath", "notebook_path", "absolute_path", "path",
    "pattern", "query", "url", "description", "prompt", "skill",
)  # fmt: skip
_COMMAND = re.compile(r"/[\w:-]+")
_RECALL = re.compile(r"\bknow\s+recall\b")
_SAFE_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,127}")
_PART_OF = re.compile(r"\.\d+$")  # how the parts of a large session are named
UNREADABLE = "know.unreadable"
"""The type of a record that holds, as text, what its agent should have kept as JSON."""


class BaseReader:
    """A reader that recognises nothing. Subclasses set `agent` and say what records mean."""

    agent = ""

    def recognises(self, records: Sequence[Mapping[str, Any]]) -> bool:  # noqa: ARG002
        """See `Reader.recognises`."""
        return False

    def unpack(self, source: Source) -> Iterable[Native] | None:  # noqa: ARG002
        """See `Reader.unpack`."""
        return None

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

    def folder(self, record: Mapping[str, Any]) -> str:
        """See `Reader.folder`."""
        return text_of(record, "cwd")

    def read(self, lines: Iterable[Line]) -> Iterator[Record]:
        """See `Reader.read`."""
        raise NotImplementedError

    # -- facts ---------------------------------------------------------------

    def facts(self, lines: Iterable[Line], name: str) -> SessionFacts:
        """See `Reader.facts`."""
        title = project = branch = date = parent = ""
        for line in lines:
            record = line.record or {}
            parent = parent or self.parent_id(record)
            project = project or self.folder(record)
            branch = self.branch(record) or branch
            date = date or self.time(record)
            title = self.title(record) or title
        first_line = next(filter(None, map(telling_line, self.read(lines))), "")
        return SessionFacts(
            title=title or first_line,
            project=project,
            branch=branch,
            date=date,
            first_user_line=first_line,
            helper=self.is_helper(name, first_line),
            sub_agent=bool(parent) or self.is_sub_agent(name),
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

    def is_helper(self, name: str, first_line: str) -> bool:  # noqa: ARG002
        """Say whether the session is a housekeeping agent's: kept, but not searched."""
        return False

    def is_sub_agent(self, name: str) -> bool:  # noqa: ARG002
        """Say whether the session is a sub-agent's own, where no record says so."""
        return False


class Keys:
    """Gives each record of a session the key that names it there."""

    def __init__(self) -> None:
        self._seen: Counter[str] = Counter()

    def key(self, own: str, raw: bytes) -> str:
        """Return the record's own id, else a hash of its line; a number where it is repeated."""
        key = own.replace("\0", "") or hashlib.sha256(raw).hexdigest()[:32]
        self._seen[key] += 1
        return key if self._seen[key] == 1 else f"{key}\0{self._seen[key]}"


def telling_line(record: Record) -> str:
    """Return the first line of a user's own words that is more than a slash command."""
    if record.role != "user":
        return ""
    lines = (line.strip() for line in record.text.splitlines())
    return next((line for line in lines if line and not _COMMAND.fullmatch(line)), "")


def tool_call(name: str, given: object) -> ToolCall:
    """Return a call with the argument that says most; arguments may be JSON in a string."""
    if isinstance(given, str):
        try:
            parsed = json.loads(given)
        except (ValueError, RecursionError):
            parsed = None
        if not isinstance(parsed, dict):
            return ToolCall(name or "tool", clean(given.strip()))
        given = parsed
    return ToolCall(name or "tool", _argument(given if isinstance(given, Mapping) else {}))


def asks_recall(call: ToolCall) -> bool:
    """Say whether a call asks our own recall, whose output is no news to the archive."""
    return _RECALL.search(call.argument) is not None


def _argument(given: Mapping[str, Any]) -> str:
    for name in _TELLING:
        value = given.get(name)
        if isinstance(value, list) and value and all(isinstance(part, str) for part in value):
            value = " ".join(value)
        if isinstance(value, str) and value.strip():
            return clean(value.strip())
    return plain(given)


def iso_time(value: object) -> str:
    """Return a time as ISO 8601: text as it is written, numbers as seconds or milliseconds."""
    if isinstance(value, str):
        return clean(value)
    if isinstance(value, int | float) and not isinstance(value, bool):
        try:
            moment = datetime.fromtimestamp(value / 1000 if value > 1e11 else value, UTC)
        except (ValueError, OverflowError, OSError):
            return ""
        return moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")
    return ""


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
    with path.open("rb") as stream:
        first = next((line.raw for line in read_lines(stream)), b"")
    return f"{agent}-{hashlib.sha256(first).hexdigest()[:16]}" if first else ""


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


def text_of(record: Mapping[str, Any], name: str) -> str:
    """Return the text under ``name``, or an empty string where there is none."""
    value = record.get(name)
    return clean(value) if isinstance(value, str) else ""


def object_of(record: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    """Return the object under ``name``, or an empty one where there is none."""
    value = record.get(name)
    return value if isinstance(value, dict) else {}


def list_of(record: Mapping[str, Any], name: str) -> list[Any]:
    """Return the list under ``name``, or an empty one where there is none."""
    value = record.get(name)
    return value if isinstance(value, list) else []


def blocks_text(blocks: Iterable[Any], kinds: frozenset[str] = frozenset({"text"})) -> str:
    """Return the text of those content blocks whose type is one of ``kinds``."""
    return "\n".join(
        clean(block["text"])
        for block in blocks
        if isinstance(block, dict)
        and isinstance(block.get("type"), str)
        and block["type"] in kinds
        and isinstance(block.get("text"), str)
        and block["text"].strip()
    )


def clean(text: str) -> str:
    """Return text that can be written: half an emoji, as a cut string has it, becomes `?`."""
    return text if text.isascii() else text.encode("utf-8", "replace").decode()
