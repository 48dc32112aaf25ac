"""Payloads that no reader can use: what they look like in every agent's records.

Owns which values become a stub, and the stub's form. A stub names what was
there (sha256, size, type), so that the payload can be found again elsewhere.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import re
from typing import Any

_SHORTEST = 256  # characters; below it a stub saves nothing
# Whole files as they were before an edit: git has them.
_WHOLE_FILES = frozenset({"originalFile", "originalFileContents"})
# The names under which base64 stands, and beside which key it is told from text.
_TYPES = ("media_type", "mimeType", "mediaType", "mime_type", "mime", "format")
_DATA_URL = re.compile(r"data:([\w.+-]{1,64}/[\w.+-]{1,64})?(?:;[\w.+=-]{1,64}){0,4};base64,")
# One of these stands in every line with a payload. Each is led by a rare letter,
# by which it is found several times as fast as by its first.
_BASE64 = re.compile(rb"6(?<=base6)4").search
_TYPED = re.compile(rb"T(?<=imeT)ype").search
_OTHER = re.compile(rb"_(?:audio|generation_call|data)\b").search


def may_hold_payload(raw: bytes, record: dict[str, Any]) -> bool:
    """Say whether a line is worth looking through for payloads."""
    if len(raw) <= _SHORTEST:
        return False
    if _BASE64(raw) or _TYPED(raw) or _holds_file(record):
        return True
    return "message" not in record and _OTHER(raw) is not None


def _holds_file(record: dict[str, Any]) -> bool:
    """Say whether a record holds a whole file, as it was before an edit."""
    extra = record.get("toolUseResult")
    return isinstance(extra, dict) and not _WHOLE_FILES.isdisjoint(extra)


def stub_of(parent: dict[str, Any], key: str, value: str) -> str | None:
    """Return what is archived in place of ``value``, or None where it stays."""
    if len(value) < _SHORTEST:
        return None
    if key in _WHOLE_FILES:
        data = value.encode("utf-8", "surrogatepass")
        return f"[stub file sha256={hashlib.sha256(data).hexdigest()} bytes={len(data)}]"
    if value.startswith("data:"):
        url = _DATA_URL.match(value)
        return _base64_stub(value[url.end() :], url[1] or "unknown") if url else None
    kind = parent.get("type")
    named = next((parent[name] for name in _TYPES if isinstance(parent.get(name), str)), None)
    is_payload = (
        key == "base64"
        or (key in {"data", "file_data"} and (kind == "base64" or named is not None))
        or (key == "result" and kind == "image_generation_call")
    )
    if not is_payload:
        return None
    return _base64_stub(value, named or (kind if isinstance(kind, str) else "unknown"))


def _base64_stub(text: str, kind: str) -> str | None:
    try:
        data = base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError):
        return None
    digest = hashlib.sha256(data).hexdigest()
    return f"[stub base64 sha256={digest} bytes={len(data)} type={kind}]"
