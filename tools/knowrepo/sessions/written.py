"""Writing a record back as compact JSON, its numbers as they were spelled.

Owns the bytes of an archived line that changed. A line that does not change is
never written anew.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

from knowrepo.sessions.lines import Line, decode

_MINUS_ZERO = re.compile(rb"-0(?=[,}\]\s])")
_compact = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"))
_ascii = json.JSONEncoder(ensure_ascii=True, separators=(",", ":"))


class _Number(float):
    """A number that is written as it was spelled."""

    spelling: str

    def __new__(cls, spelling: str) -> _Number:
        number = super().__new__(cls, spelling)
        number.spelling = spelling
        return number


def needs_spelling(line: Line) -> bool:
    """Say whether Python would write a number of the line differently than its writer did."""
    return line.odd_numbers or _MINUS_ZERO.search(line.raw) is not None


def exact(raw: bytes) -> dict[str, Any]:
    """Parse a record so that its numbers keep their spelling."""
    record: dict[str, Any] = json.loads(
        decode(raw),
        parse_float=_Number,
        parse_int=lambda spelling: _Number(spelling) if spelling == "-0" else int(spelling),
    )
    return record


def written(value: object, *, spelled: bool = False) -> bytes:
    """Return compact JSON; with ``spelled`` the value comes from `exact`."""
    try:
        text = "".join(_pieces(value, _compact)) if spelled else _compact.encode(value)
        return text.encode()
    except UnicodeEncodeError:  # a lone surrogate has a spelling in ASCII only
        text = "".join(_pieces(value, _ascii)) if spelled else _ascii.encode(value)
        return text.encode()


def _pieces(value: object, encoder: json.JSONEncoder) -> Iterator[str]:
    """Yield JSON piece by piece: the library's writer knows no number but its own."""
    if isinstance(value, dict):
        lead = "{"
        for key, item in value.items():
            yield f"{lead}{encoder.encode(key)}:"
            yield from _pieces(item, encoder)
            lead = ","
        yield "}" if value else "{}"
    elif isinstance(value, list):
        lead = "["
        for item in value:
            yield lead
            yield from _pieces(item, encoder)
            lead = ","
        yield "]" if value else "[]"
    elif isinstance(value, _Number):
        yield value.spelling
    else:
        yield encoder.encode(value)
