"""One thing that a check has to say, and how rules say where in a front matter it is.

Owns the value that rules give and reports take; what a code means is in `codes`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from knowrepo.concepts.checking.codes import CODES, Severity

if TYPE_CHECKING:
    from knowrepo.concepts.document import Document


@dataclass(frozen=True, order=True)
class Finding:
    """One thing to look at; ``line`` and ``column`` are 1-based."""

    path: str
    line: int
    column: int
    code: str
    message: str

    @property
    def severity(self) -> Severity:
        """The severity that the code stands for."""
        return CODES[self.code].severity

    @property
    def section(self) -> str:
        """The section of the spec, as `S6.1`; empty where it says nothing."""
        return CODES[self.code].section


def at_value(path: str, document: Document, code: str, message: str, *key: str | int) -> Finding:
    """Return a finding at a value of the front matter, or at what is nearest above it."""
    while key and key not in document.places:
        key = key[:-1]
    place = document.places.get(key)
    return Finding(path, *(place[:2] if place else (1, 1)), code, message)


def at_key(path: str, document: Document, code: str, message: str, key: str) -> Finding:
    """Return a finding at a top-level key, or at the start where it is missing."""
    return Finding(path, document.lines.get(key, 1), 1, code, message)
