"""Which document a case means by a name.

Owns the ways to name one: a concept by its path or id, a session by its path or
as it is shown, with as many first digits of its id as tell it. Names are compared
with those that the catalog has; no file is looked for.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable

from knowrepo.errors import KnowError
from knowrepo.evaluate.cases import plain_name

_MOST_NAMED = 5


class UnknownNameError(KnowError):
    """A name that means no document, or more than one."""


def key_of(path: str) -> str:
    """Return the key of the document at a path."""
    return path.removesuffix(".md") if path.startswith("concepts/") else path.removesuffix(".jsonl")


class Names:
    """The documents of a catalog by their names; ``keys`` are theirs, without an ending."""

    def __init__(self, keys: Iterable[str]) -> None:
        self._keys = dict.fromkeys(sorted(keys))

    def resolve(self, name: str) -> str:
        """Return the key of the document that a name means.

        Raises UnknownNameError where there is none, or more than one.
        """
        plain = plain_name(name)
        for key in (f"concepts/{plain}", f"sessions/{plain}"):
            named_elsewhere = name.split("/")[0] in {"concepts", "sessions"} - {key.split("/")[0]}
            if key in self._keys and not named_elsewhere:
                return key
        found = [] if name.startswith("concepts/") else self._shortened(f"sessions/{plain}")
        if len(found) > 1:
            named = ", ".join(map(plain_name, found[:_MOST_NAMED]))
            more = f" and {len(found) - _MOST_NAMED} more" if len(found) > _MOST_NAMED else ""
            raise UnknownNameError(f"{name} could be {named}{more}")
        if not found:
            raise UnknownNameError(f"{name} names no document{self._near(plain)}")
        return found[0]

    def _shortened(self, name: str) -> list[str]:
        """Return the sessions whose agent this is, and whose ids begin so."""
        folder, agent, *ids = name.split("/")
        if not ids:
            return []
        found = []
        for key in self._keys:
            if key.startswith(f"{folder}/{agent}/"):
                own = key.split("/")[2:]
                if len(own) == len(ids) and all(map(str.startswith, own, ids)):
                    found.append(key)
        return found

    def _near(self, plain: str) -> str:
        known = [plain_name(key) for key in self._keys]
        near = difflib.get_close_matches(plain, known, n=2, cutoff=0.8)
        return f"; perhaps {' or '.join(near)}" if near else ""
