"""On which lines of a TOML file its cases and their keys stand.

Owns the places alone: the standard library reads TOML and forgets them. The text
must be valid TOML, so that every string in it ends; what it says is `cases`'s.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

# Heads and keys, and what they must be told from: strings and comments.
_TOKEN = re.compile(
    r"^[ \t]*(?:(?P<head>\[\[[ \t]*case[ \t]*\]\])|(?P<key>[\w-]+)[ \t]*=)"
    r'|"""(?:\\.|[^\\])*?"""(?:"{0,2})'
    r"|'''.*?'''(?:'{0,2})"
    r'|"(?:\\.|[^"\\\n])*"'
    r"|'[^'\n]*'"
    r"|\#[^\n]*",
    re.MULTILINE | re.DOTALL,
)


@dataclass(frozen=True)
class Place:
    """On which lines a case and its keys stand."""

    line: int
    keys: dict[str, int]


def _tokens(text: str) -> Iterator[tuple[int, str, str]]:
    """Yield (line, `head` or `key`, the key) of what is neither string nor comment."""
    line, at = 1, 0
    for token in _TOKEN.finditer(text):
        if token.lastgroup:
            line += text.count("\n", at, token.start())
            at = token.start()
            yield line, token.lastgroup, token["key"] or ""


def places_of(text: str) -> list[Place]:
    """Return the place of each `[[case]]`, in order."""
    places: list[Place] = []
    for line, what, key in _tokens(text):
        if what == "head":
            places.append(Place(line, {}))
        elif places:
            places[-1].keys.setdefault(key, line)
    return places


def line_of_key(text: str, name: str) -> int:
    """Return the line of a key or a table outside of all cases, 1 where it is not seen."""
    lines = (line for line, what, key in _tokens(text) if what == "key" and key == name)
    rest = ((n, line.strip(" \t")) for n, line in enumerate(text.split("\n"), start=1))
    tables = (n for n, line in rest if line[:1] == "[" and line.lstrip("[ \t").startswith(name))
    return next(lines, 0) or next(tables, 1)
