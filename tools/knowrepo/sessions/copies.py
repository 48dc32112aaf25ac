"""Text that an agent stores twice in one record.

Owns which fields of `toolUseResult` are dropped: those whose very text stands in
the same record's result. A quarter of these fields hold text that is found
nowhere else, so a field goes only where its text is seen beside it.
"""

from __future__ import annotations

import re
from typing import Any

_SHORTEST = 64
_NUMBERED = re.compile(r"(?m)^ *\d+[\t→]")


class _Shown:
    """What a tool showed: as it is, and without the line numbers of a listing."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._plain: str | None = None

    def __contains__(self, value: str) -> bool:
        if value in self._text:
            return True
        if self._plain is None:
            self._plain = _NUMBERED.sub("", self._text) if _NUMBERED.match(self._text) else ""
        return value in self._plain


def without_copies(record: dict[str, Any]) -> dict[str, Any]:
    """Return the record without what it holds twice; the same object where there is none."""
    extra = record.get("toolUseResult")
    if not isinstance(extra, dict):
        return record
    shown = _result_text(record)
    if len(shown) < _SHORTEST:
        return record
    slim = _drop_copied(extra, _Shown(shown))
    return record if slim is extra else {**record, "toolUseResult": slim}


def _drop_copied(extra: dict[str, Any], shown: _Shown) -> dict[str, Any]:
    out: dict[str, Any] = {}
    for key, value in extra.items():
        if isinstance(value, str) and len(value) >= _SHORTEST:
            if value.strip() in shown:
                continue
        elif isinstance(value, dict):
            value = _drop_copied(value, shown)
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
