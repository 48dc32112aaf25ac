"""One session as a page to read (Markdown, HTML) or as data (JSON lines).

- `page`: what a page shows; `text`: made safe and short enough
- `markdown`, `html`, `jsonl`: the formats; `prose`: agents' Markdown as HTML
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from knowrepo.sessions.export import html, jsonl, markdown
from knowrepo.sessions.export.page import FULL, Limits, Page, open_page

__all__ = ["FORMATS", "FULL", "Limits", "Page", "open_page"]

FORMATS: dict[str, Callable[[Page, Limits], Iterator[str]]] = {
    "md": markdown.render,
    "html": html.render,
    "jsonl": jsonl.render,
}
"""By the extension of its files, what writes a format: it yields text piece by piece."""
