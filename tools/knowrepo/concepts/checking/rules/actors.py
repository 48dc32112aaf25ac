"""Rules on actors: `human:<id>`, `<producer>/<version>`, `process:<id>` (S7).

The spec's own example has `team:<id>`, so any word before a colon passes.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from knowrepo.concepts.checking.findings import Finding, at_value
from knowrepo.concepts.document import Document

_HUMAN = re.compile(r"human:\S.*")
_NEAR_HUMAN = re.compile(r"(?i:humans?)\s*[:\-_/= ]\s*(\S.*)")
_NOBODY = re.compile(r"(?i:humans?)\s*[:\-_/=]?\s*")
_FORM = re.compile(r"[A-Za-z][\w.+-]*:\S.*|[^\s/:]+/\S+")


def check(
    path: str, document: Document, actor: str, key: tuple[str | int, ...]
) -> Iterator[Finding]:
    """Yield what is wrong with one actor."""
    text = actor.strip()
    if _HUMAN.fullmatch(text):
        return
    near = _NEAR_HUMAN.fullmatch(text)
    if _NOBODY.fullmatch(text):
        code, said = "OKF280", f"`{text}` names no person; write `human:<id>`"
    elif near:
        code, said = "OKF269", f"`{text}` counts as no person; write `human:{near.group(1)}`"
    elif not _FORM.fullmatch(text):
        code, said = "OKF270", f"`{text[:40]}` is no actor; write `human:<id>` or `tool/version`"
    else:
        return
    yield at_value(path, document, code, said, *key)
