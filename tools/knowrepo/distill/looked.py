"""Which sessions were distilled as they are, so that they are not read again.

Owns a small derived file in the git directory. It is believed only as far as the
ledger bears it out: on a branch that lacks what a session gave, the session is
looked at again. Losing the file costs time, nothing else.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path

from knowrepo.config import write_atomically
from knowrepo.distill.ledger import Ledger

_FORMAT = 1


class Looked:
    """The sessions by name: the stamp of their files, and what was found in them.

    ``rules`` names the finder with its version; what others looked at is not
    looked at.
    """

    def __init__(self, path: Path, rules: str) -> None:
        self._path = path
        self._rules = rules
        self._sessions: dict[str, list[str]] = {}
        self._changed = False
        try:
            data = json.loads(path.read_bytes())
            if (data["format"], data["rules"]) == (_FORMAT, rules):
                self._sessions = {
                    str(name): [str(one) for one in entry]
                    for name, entry in data["sessions"].items()
                }
        except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError):
            pass

    def unchanged(self, name: str, stamp: str, ledger: Ledger) -> bool:
        """Say whether a session is as it was, and the ledger knows what it gave."""
        entry = self._sessions.get(name)
        if not entry or not stamp or entry[0] != stamp:
            return False
        return all(map(ledger.concepts_of, entry[1:]))

    def note(self, name: str, stamp: str, statements: Iterable[str]) -> None:
        """Note a session as distilled, with those of its statements that the ledger holds."""
        self._sessions[name] = [stamp, *statements]
        self._changed = True

    def save(self) -> None:
        """Write what was noted."""
        if self._changed:
            data = {"format": _FORMAT, "rules": self._rules, "sessions": self._sessions}
            write_atomically(self._path, json.dumps(data, separators=(",", ":")).encode())
            self._changed = False
