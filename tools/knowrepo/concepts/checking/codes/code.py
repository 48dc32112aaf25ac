"""One code of a finding, and what `know check --explain` says of it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Severity = Literal["error", "warning", "notice"]


@dataclass(frozen=True)
class Code:
    """A code: how grave it is, where the spec speaks of it, and how to mend what it names.

    ``section`` is empty where the spec says nothing. ``example`` is what is
    found fault with, ``mend`` what to write instead or to do.
    """

    code: str
    severity: Severity
    section: str
    meaning: str
    why: str
    example: str
    mend: str
