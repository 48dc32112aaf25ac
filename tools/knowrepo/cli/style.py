"""Colours and bold type, where a terminal shows them: nowhere else, and never with NO_COLOR."""

from __future__ import annotations

import os
import sys

BOLD, DIM, CYAN = "1", "2", "36"
_END = "\x1b[0m"


def is_styled() -> bool:
    """Say whether standard output shows colours, and who reads it wants them."""
    if not sys.stdout.isatty() or os.environ.get("TERM") == "dumb":
        return False
    return not os.environ.get("NO_COLOR")  # https://no-color.org: any value but none


def styled(text: str, style: str) -> str:
    """Return a text, which must be plain, in a style."""
    return f"\x1b[{style}m{text}{_END}" if text else ""
