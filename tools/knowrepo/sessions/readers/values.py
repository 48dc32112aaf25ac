"""Taking values out of records that anybody may have written.

Owns reading a field of any type without ever raising, and making text of content
blocks. It knows no agent and no record's meaning.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from typing import Any


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


def text_of(record: Mapping[str, Any], name: str) -> str:
    """Return the text under ``name``, or an empty string where there is none."""
    value = record.get(name)
    if not isinstance(value, str):
        return ""
    return value if value.isascii() else clean(value)


def object_of(record: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    """Return the object under ``name``, or an empty one where there is none."""
    value = record.get(name)
    return value if isinstance(value, dict) else {}


def told(record: Mapping[str, Any], name: str) -> bool | None:
    """Return the yes or no under ``name``; None where there is neither."""
    value = record.get(name)
    return value if isinstance(value, bool) else None


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
