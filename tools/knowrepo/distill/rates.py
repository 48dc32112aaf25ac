"""How long a language model took, for what is said before it is asked again.

Owns one small file in the user's cache. Nothing depends on it: where it cannot be
read or written, no time is said.
"""

from __future__ import annotations

import contextlib
import json
import math
from pathlib import Path
from typing import Any

from knowrepo.config import cache_dir, write_atomically

_LIKE_NEW = 1_000_000  # tokens; what is older counts less


class Rates:
    """The pace of one model on this machine, by its name."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._tokens, self._seconds = _read(_path()).get(name, (0.0, 0.0))

    def note(self, tokens: int, seconds: float) -> None:
        """Keep that a question and its answer of so many tokens took so long."""
        self._tokens += tokens
        self._seconds += seconds
        if self._tokens > _LIKE_NEW:
            self._tokens, self._seconds = self._tokens / 2, self._seconds / 2
        with contextlib.suppress(OSError):
            known = _read(_path())
            known[self._name] = (self._tokens, self._seconds)
            write_atomically(_path(), json.dumps(known).encode())

    def seconds(self, tokens: int) -> float | None:
        """Return how long so many tokens take, or None where nothing was measured."""
        return tokens * self._seconds / self._tokens if self._tokens else None


def _path() -> Path:
    return cache_dir() / "distill-rates.json"


def _read(path: Path) -> dict[str, tuple[float, float]]:
    try:
        known: Any = json.loads(path.read_bytes())
        return {
            str(name): (float(tokens), float(seconds))
            for name, (tokens, seconds) in known.items()
            if 0 < tokens < math.inf and 0 <= seconds < math.inf
        }
    except (OSError, ValueError, TypeError, AttributeError):
        return {}
