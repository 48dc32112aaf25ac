"""What most readers share: identity by file name, keys, and the facts of a session.

Owns defaults. A reader overrides what its agent does otherwise; what only one
agent does stays in that agent's module.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple

from knowrepo.sessions.lines import Line
from knowrepo.sessions.record import Identity, Record, Role, SessionFacts, ToolCall
from knowrepo.sessions.source import Native, Source

UUID = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}", re.IGNORECASE)
# The argument of a tool call that says most, in order of preference.
_TELLING = (
    "command", "cmd", "file_path", "filePath", "notebook_path", "absolute_path", "path",
    "pattern", "query", "url", "description", "prompt", "skill", "question", "message",
)  # fmt: skip
_SHELLS = frozenset({"bash", "sh", "zsh", "/bin/bash", "/bin/sh", "/bin/zsh"})
_COMMAND = re.compile(r"/[\w:-]+")
_RECALL = re.compile(r"\bknow\s+recall\b")


class Meaning(NamedTuple):
    """What a native record says: whose words it holds, and the tools that it calls."""

    role: Role
    text: str = ""
    calls: tuple[ToolCall, ...] = ()
    side: bool = False


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
            if line.record is None:
                continue
            key = keys.key(self.record_id(line.record), line.raw)
            for number, said in enumerate(meanings(line.record)):
                yield Record(
                    key=key if number == 0 else f"{key}\0text{number}",
                    role=said.role,
                    text=said.text,
                    line=line.number,
                    parent=self.follows(line.record),
                    time=self.time(line.record),
                    calls=said.calls,
                    side=said.side,
                    start=line.start,
                    end=line.end,
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
            record = line.record or {}
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
        self._seen: Counter[str] = Counter()

    def key(self, own: str, raw: bytes) -> str:
        """Return the record's own id, else a hash of its line; a number where it is repeated."""
        key = own.replace("\0", "") or hashlib.sha256(raw).hexdigest()[:32]
        self._seen[key] += 1
        return key if self._seen[key] == 1 else f"{key}\0{self._seen[key]}"


class Recalls:
    """Knows the calls of our own recall: what it printed is no news to the archive."""

    def __init__(self) -> None:
        self._ids: set[str] = set()

    def call(self, name: str, given: object, call_id: str) -> ToolCall:
        """Return a call, and remember its id where it asks our recall."""
        call = tool_call(name, given)
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
            value = shell_line(value)
        if isinstance(value, str) and value.strip():
            return clean(value.strip())
    return clean(json.dumps(given, ensure_ascii=False)) if given else ""


def shell_line(words: Sequence[str]) -> str:
    """Return a command given as words; of `bash -lc COMMAND` the command."""
    if len(words) == 3 and words[0] in _SHELLS and words[1] in {"-c", "-lc"}:
        return words[2]
    return " ".join(words)


def iso_time(value: object) -> str:
    """Return a time as ISO 8601: text as it is written, numbers as seconds or milliseconds."""
    if isinstance(value, str):
        return clean(value)
    if isinstance(value, int | float) and not isinstance(value, bool):
        seconds = value / 1000 if value > 1e11 else value
        try:
            moment = datetime.fromtimestamp(seconds, UTC)
        except (ValueError, OverflowError, OSError):
            return ""
        return moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")
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


def content_text(value: object, kinds: frozenset[str] = frozenset({"text"})) -> str:
    """Return the text of a message's content: a string, or a list of blocks."""
    if isinstance(value, str):
        return clean(value)
    return blocks_text(value, kinds) if isinstance(value, list) else ""


def digest(text: str) -> bytes:
    """Return a short name of a text, to know it again; blanks make no difference."""
    plain = "".join(text.split()).encode("utf-8", "replace")
    return hashlib.blake2b(plain, digest_size=12).digest()


def wrappers(*names: str) -> re.Pattern[str]:
    """Return what finds the opening tags of these names."""
    return re.compile(rf"<({'|'.join(names)})(?: [^<>]*)?>")


def without_wrappers(text: str, opening: re.Pattern[str]) -> str:
    """Return what a person typed, without what the agent put between tags around it."""
    kept: list[str] = []
    at = 0
    unclosed: set[str] = set()  # so that a text of opening tags only is gone through once
    for tag in opening.finditer(text) if "<" in text else ():
        name = tag[1]
        if tag.start() < at or name in unclosed:
            continue
        end = text.find(f"</{name}>", tag.end())
        if end == -1:
            unclosed.add(name)
            continue
        kept.append(text[at : tag.start()])
        at = end + len(name) + 3
    return "".join([*kept, text[at:]]).strip()


def clean(text: str) -> str:
    """Return text that can be written: half an emoji, as a cut string has it, becomes `?`."""
    return text if text.isascii() else text.encode("utf-8", "replace").decode()
