"""Pages as they are kept between two checks, so that an unchanged file is not parsed again.

Owns the form in which a page goes through JSON. A page depends on the bytes, the
path and what the check was told; all of that is its key. It also depends on the
time, where a date lies in the future; such a page is not kept.
"""

from __future__ import annotations

import json
from datetime import datetime
from typing import Any

from knowrepo.concepts.checking.findings import Finding
from knowrepo.concepts.checking.page import Page, Scope
from knowrepo.concepts.document import Document, Place
from knowrepo.concepts.facts import Facts, blob_id
from knowrepo.concepts.markdown import Heading, Link, Outline

_IN_THE_FUTURE = "OKF268"


class KeptPages:
    """Gives back pages that were read before, and keeps new ones."""

    def __init__(self, facts: Facts, scope: Scope) -> None:
        self._facts = facts
        self._scope = scope

    def get(self, path: str, data: bytes) -> Page | None:
        """Return the page of these bytes at this path, where it is known."""
        kept = self._facts.get(self._key(path, data))
        try:
            return None if kept is None else _page(path, json.loads(kept), self._scope.now)
        except (TypeError, ValueError, RecursionError):  # not of our making
            return None

    def put(self, page: Page, data: bytes) -> None:
        """Keep a page until its file, or a rule, changes."""
        if not any(finding.code == _IN_THE_FUTURE for finding in page.findings):
            kept = _as_json(page, self._scope.now)
            line = json.dumps(kept, separators=(",", ":"))
            self._facts.put(self._key(page.path, data), line)

    def _key(self, path: str, data: bytes) -> str:
        scope = self._scope
        return f"{blob_id(data)} {scope.strict_spec:d} {scope.root!r} {path}"


def _as_json(page: Page, now: datetime) -> list[Any]:
    document, shape = page.document, page.outline
    return [
        now.timestamp(),
        [page.role, page.generated, page.whole],
        [document.has_front, document.body_line, document.front, document.lines],
        [[list(key), *place] for key, place in document.places.items()],
        [[h.level, h.text, h.line] for h in shape.headings],
        [[x.target, x.line, x.column] for x in shape.links],
        [[x.target, x.line, x.column] for x in shape.wikilinks],
        sorted(shape.anchors),
        [[f.line, f.column, f.code, f.message] for f in page.findings],
    ]


def _page(path: str, kept: list[Any], now: datetime) -> Page | None:
    made, (role, generated, whole), head, places, headings, links, wikilinks, anchors, found = kept
    if made > now.timestamp():  # a clock was set back: a date may lie in the future again
        return None
    has_front, body_line, front, lines = head
    document = Document(
        front, "", body_line, has_front, lines,
        places={tuple(key): Place(*place) for key, *place in places},
    )  # fmt: skip
    outline = Outline(
        headings=tuple(Heading(*one) for one in headings),
        links=tuple(Link(*one) for one in links),
        wikilinks=tuple(Link(*one) for one in wikilinks),
        anchors=frozenset(anchors),
    )
    findings = tuple(Finding(path, *one) for one in found)
    return Page(path, role, document, outline, findings, generated, whole)
