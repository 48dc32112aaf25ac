"""What of a transcript's line is archived, and in which bytes.

Owns the one function from a line of a source to a line of the archive. It looks
at nothing but that line: so a longer snapshot of a session begins with the very
bytes of a shorter one, which is what growing without loss rests on (see
`growth`). Every record is kept but pure progress chatter; payloads that no
reader can use become stubs; secrets become placeholders; all else stays byte for
byte.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import json
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from knowrepo.sessions.lines import Line, decode
from knowrepo.sessions.redact import redact, redact_value

BAD = "know.bad"

# Progress records that repeat what a later record holds in full. Progress that
# carries output, or a whole sub-agent's record, may be its only copy: it stays.
_CHATTER = frozenset({"hook_progress", "mcp_progress", "waiting_for_task"})
# Whole files as they were before an edit: git has them.
_WHOLE_FILES = frozenset({"originalFile", "originalFileContents"})
# Opaque values that no rule may touch: a changed signature is a broken one.
_OPAQUE = frozenset({"signature", "encrypted_content", "data"})
_THINKING = frozenset({"thinking", "redacted_thinking", "reasoning"})
_SHORTEST_STUB = 256  # characters; below it a stub saves nothing
_SHORTEST_COPY = 64
_NUMBERED = re.compile(r"(?m)^ *\d+[\t→]")


@dataclass
class Kept:
    """Counts of what happened to the lines of one source."""

    records: int = 0
    dropped: int = 0
    bad: list[int] = field(default_factory=list)
    pending: bool = False
    redacted: Counter[str] = field(default_factory=Counter)
    stubbed: int = 0


def archived_line(line: Line, kept: Kept) -> bytes | None:
    """Return the bytes to archive for ``line``, without a line end; None to drop it."""
    if line.pending:
        kept.pending = True
        return None
    if line.record is None:
        kept.bad.append(line.number)
        text = line.raw.decode("utf-8", "backslashreplace")  # no byte is lost
        return _dump({"type": BAD, "text": redact(text, kept.redacted)})
    if _is_chatter(line.record):
        kept.dropped += 1
        return None
    kept.records += 1
    try:
        changed = _archived_record(line.record, kept)
        if changed is not line.record:
            return _dump(_archived_record(_exact(line.raw), Kept()))
        if _repeats_a_key(line.raw) and redact(decode(line.raw)) != decode(line.raw):
            # What the parser did not see must not stay.
            return _dump(_archived_record(_exact(line.raw), Kept()))
        return line.raw
    except RecursionError:  # nested deeper than this interpreter can follow
        text = decode(line.raw)
        clean = redact(text, kept.redacted)
        return line.raw if clean is text else _dump({"type": BAD, "text": clean})


def _archived_record(record: dict[str, Any], kept: Kept) -> Any:
    return _walk(_without_copies(record), kept)


class _Number(float):
    """A number that is written as it was spelled."""

    spelling: str

    def __new__(cls, spelling: str) -> _Number:
        number = super().__new__(cls, spelling)
        number.spelling = spelling
        return number


def _exact(raw: bytes) -> dict[str, Any]:
    """Parse a record so that its numbers keep their spelling."""
    record: dict[str, Any] = json.loads(
        decode(raw),
        parse_float=_Number,
        parse_int=lambda spelling: _Number(spelling) if spelling == "-0" else int(spelling),
    )
    return record


def _is_one_of(kind: object, kinds: frozenset[str]) -> bool:
    return isinstance(kind, str) and kind in kinds


def _repeats_a_key(raw: bytes) -> bool:
    """Say whether an object of the record has a key twice; the parser gives the last only."""
    repeated = False

    def look(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        nonlocal repeated
        found = dict(pairs)
        repeated = repeated or len(found) < len(pairs)
        return found

    json.loads(decode(raw), object_pairs_hook=look)
    return repeated


def _is_chatter(record: dict[str, Any]) -> bool:
    data = record.get("data")
    return (
        record.get("type") == "progress"
        and isinstance(data, dict)
        and _is_one_of(data.get("type"), _CHATTER)
    )


def _dump(value: object) -> bytes:
    try:
        return "".join(_written(value, ensure_ascii=False)).encode()
    except UnicodeEncodeError:  # a lone surrogate has a spelling in ASCII only
        return "".join(_written(value, ensure_ascii=True)).encode()


def _written(value: object, *, ensure_ascii: bool) -> Iterator[str]:
    """Yield compact JSON. The library's writer knows no number but its own."""
    if isinstance(value, dict):
        lead = "{"
        for key, item in value.items():
            yield f"{lead}{json.dumps(key, ensure_ascii=ensure_ascii)}:"
            yield from _written(item, ensure_ascii=ensure_ascii)
            lead = ","
        yield "}" if value else "{}"
    elif isinstance(value, list):
        lead = "["
        for item in value:
            yield lead
            yield from _written(item, ensure_ascii=ensure_ascii)
            lead = ","
        yield "]" if value else "[]"
    elif isinstance(value, _Number):
        yield value.spelling
    else:
        yield json.dumps(value, ensure_ascii=ensure_ascii)


def _walk(value: Any, kept: Kept) -> Any:
    """Return ``value`` stubbed and redacted; the same object where nothing changed."""
    if isinstance(value, str):
        return redact(value, kept.redacted)
    if isinstance(value, list):
        items = [_walk(item, kept) for item in value]
        return value if all(a is b for a, b in zip(items, value, strict=True)) else items
    if isinstance(value, dict):
        return _walk_object(value, kept)
    return value


def _walk_object(value: dict[str, Any], kept: Kept) -> dict[str, Any]:
    out: dict[str, Any] = {}
    same = True
    for key, item in value.items():
        if key in _OPAQUE and _is_one_of(value.get("type"), _THINKING):
            new = item
        elif (new := _stub(value, key, item)) is not item:
            kept.stubbed += 1
        elif isinstance(item, str):
            new = redact_value(key, item, kept.redacted)
        else:
            new = _walk(item, kept)
        name = redact(key, kept.redacted)
        while name in out:  # two secrets as keys: both values stay
            name += "+"
        same = same and new is item and name is key
        out[name] = new
    return value if same else out


def _stub(parent: dict[str, Any], key: str, item: Any) -> Any:
    if not isinstance(item, str) or len(item) < _SHORTEST_STUB:
        return item
    if key in _WHOLE_FILES:
        data = item.encode("utf-8", "surrogatepass")
        return f"[stub file sha256={hashlib.sha256(data).hexdigest()} bytes={len(data)}]"
    if key in {"data", "base64"} and (key == "base64" or parent.get("type") == "base64"):
        try:
            data = base64.b64decode(item, validate=True)
        except (binascii.Error, ValueError):
            return item
        kind = parent.get("media_type") or parent.get("type") or "unknown"
        digest = hashlib.sha256(data).hexdigest()
        return f"[stub base64 sha256={digest} bytes={len(data)} type={kind}]"
    return item


def _without_copies(record: dict[str, Any]) -> dict[str, Any]:
    """Drop fields of `toolUseResult` whose text stands in the same record's result.

    A quarter of these fields hold text that is found nowhere else, so a field
    goes only where its very text is seen beside it.
    """
    extra = record.get("toolUseResult")
    if not isinstance(extra, dict):
        return record
    shown = _result_text(record)
    if len(shown) < _SHORTEST_COPY:
        return record
    plain = _NUMBERED.sub("", shown)
    slim = _drop_copied(extra, shown, plain)
    return record if slim is extra else {**record, "toolUseResult": slim}


def _drop_copied(extra: dict[str, Any], shown: str, plain: str) -> dict[str, Any]:
    out: dict[str, Any] = {}
    for key, value in extra.items():
        if isinstance(value, str) and len(value) >= _SHORTEST_COPY:
            if value.strip() in shown or value.strip() in plain:
                continue
        elif isinstance(value, dict):
            value = _drop_copied(value, shown, plain)
        out[key] = value
    same = len(out) == len(extra) and all(out[key] is extra[key] for key in out)
    return extra if same else out


def _result_text(record: dict[str, Any]) -> str:
    message = record.get("message")
    content = message.get("content") if isinstance(message, dict) else None
    texts: list[str] = []
    for block in content if isinstance(content, list) else []:
        if isinstance(block, dict) and block.get("type") == "tool_result":
            inner = block.get("content")
            if isinstance(inner, str):
                texts.append(inner)
            elif isinstance(inner, list):
                texts += [
                    part["text"]
                    for part in inner
                    if isinstance(part, dict) and isinstance(part.get("text"), str)
                ]
    return "\n".join(texts)
