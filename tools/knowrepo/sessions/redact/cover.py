"""Whether one archived line is another with placeholders in place of text.

Owns the comparison that keeps a redacted line redacted: a clone with older rules,
or whose user allows a pattern, sees the same record with its secret, and must
not put that beside or in place of what is archived.
"""

from __future__ import annotations

import json
from typing import Any

from knowrepo.sessions.lines import decode
from knowrepo.sessions.redact.rule import PLACEHOLDER


def covers(redacted: bytes, plain: bytes) -> bool:
    """Say whether ``redacted`` is the record of ``plain`` with placeholders in place of text.

    Both are archived lines. A line covers itself; spelling of JSON makes no
    difference, and every value that is no string must be the same.
    """
    if redacted == plain:
        return True
    if b"[redacted:" not in redacted:
        return False
    try:
        return _covers(json.loads(decode(redacted)), json.loads(decode(plain)))
    except (ValueError, RecursionError):
        return False


def _covers(redacted: Any, plain: Any) -> bool:
    if isinstance(redacted, str) and isinstance(plain, str):
        return _covers_text(redacted, plain)
    if isinstance(redacted, dict) and isinstance(plain, dict):
        return len(redacted) == len(plain) and all(
            _covers_key(key, other) and _covers(redacted[key], plain[other])
            for key, other in zip(redacted, plain, strict=True)
        )
    if isinstance(redacted, list) and isinstance(plain, list):
        return len(redacted) == len(plain) and all(map(_covers, redacted, plain))
    return type(redacted) is type(plain) and bool(redacted == plain)


def _covers_key(redacted: str, plain: str) -> bool:
    # A second key with the same placeholder got a `+`.
    return redacted == plain or _covers_text(redacted.rstrip("+"), plain.rstrip("+"))


def _covers_text(redacted: str, plain: str) -> bool:
    """Say whether the text around the placeholders stands in ``plain``, in order."""
    if redacted == plain:
        return True
    first, *rest = PLACEHOLDER.split(redacted)
    if not rest or not plain.startswith(first):
        return False
    *middle, last = rest
    position = len(first)
    for piece in middle:
        found = plain.find(piece, position + 1)  # a placeholder stands for something
        if found == -1:
            return False
        position = found + len(piece)
    return len(plain) - len(last) > position and plain.endswith(last)
