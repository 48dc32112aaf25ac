"""All that a body of Markdown says, flat and in order: to prove that an edit kept it.

Owns the comparison's form: texts, mark-up, links with their targets, link
definitions. `markdown` says what a check and the catalog want to know of a body;
this leaves nothing out.
"""

from __future__ import annotations

from functools import cache
from typing import Any, NamedTuple

from markdown_it import MarkdownIt
from markdown_it.common.normalize_url import normalizeLink
from markdown_it.common.utils import unescapeAll

MOST_BRACKETS = 20_000
"""A body with more is not parsed for an edit: brackets can be nested at a price."""


class Said(NamedTuple):
    """One thing that a body says: a text, a mark-up, or a link with its target."""

    kind: str
    text: str
    target: str = ""


@cache
def _parser() -> MarkdownIt:
    return MarkdownIt("commonmark").enable("table")


def all_said(body: str) -> list[Said]:
    """Return all that a body says, in order, then its link definitions."""
    env: dict[str, Any] = {}
    found = []
    for token in _parser().parse(body, env):
        for part in token.children or [] if token.type == "inline" else [token]:
            target = part.attrGet("href") or part.attrGet("src") or ""
            text = f"{part.info} {part.content}" if part.info else part.content
            found.append(Said(part.type, text, str(target)))
    for label, definition in env.get("references", {}).items():
        text = f"{label} {definition['title']}"
        found.append(Said("definition", text, definition["href"]))
    return found


def target_of(written: str) -> str:
    """Return the target that a link destination stands for, in the form that `all_said` has."""
    return normalizeLink(plain_destination(written))


def plain_destination(written: str) -> str:
    """Return a link destination without its brackets and escapes."""
    return unescapeAll(written[1:-1] if written.startswith("<") else written)
