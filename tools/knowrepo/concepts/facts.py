"""What was found in a file before, so that the same bytes need not be read again.

Owns a derived file in the git directory. What is kept hangs on the id of a blob,
and holds for these very rules only: a digest of our own source and of the
libraries that parse is kept with it, and anything else is thrown away. Losing it
costs time and nothing else; of two processes that write, one wins.
"""

from __future__ import annotations

import functools
import hashlib
import json
import sys
from collections.abc import Mapping
from importlib.util import find_spec
from pathlib import Path
from types import TracebackType
from typing import Any

from knowrepo.config import write_atomically
from knowrepo.git.layout import Repository

_LIBRARIES = ("yaml", "markdown_it")
_SPARE = 1000  # facts of other branches that are kept beside those in use


def blob_id(data: bytes) -> str:
    """Return the id that git gives a content, in a repository of SHA-1."""
    return hashlib.sha1(b"blob %d\0" % len(data) + data, usedforsecurity=False).hexdigest()


@functools.cache
def rules() -> str:
    """Return what tells one state of the rules from any other."""
    found = hashlib.sha256(f"{sys.version}{[_version(name) for name in _LIBRARIES]}".encode())
    for path in sorted(Path(__file__).parent.rglob("*.py")):
        found.update(path.read_bytes())
    return found.hexdigest()


def _version(library: str) -> str:
    """Return what names the version of a library, without importing it.

    That is the file at its top, where both keep theirs; a hook would wait for metadata.
    """
    found = find_spec(library)
    if found is None or found.origin is None:
        return ""
    return hashlib.sha256(Path(found.origin).read_bytes()).hexdigest()


class Facts:
    """Facts of one kind by blob id; use it as a context, which writes what is new at its end."""

    def __init__(self, repository: Repository, kind: str) -> None:
        self._path = repository.common_dir / "know" / f"{kind}.json"
        self._used: dict[str, Any] = {}
        self._is_new = False

    def __enter__(self) -> Facts:
        self._known = self._load()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, _: BaseException | None, __: TracebackType | None
    ) -> None:
        if self._is_new and kind is None:
            self._save()

    def get(self, key: str) -> Any:
        """Return what is known of a blob, as JSON has it, or None."""
        value = self._known.get(key)
        if value is not None:
            self._used[key] = value
        return value

    def put(self, key: str, value: Any) -> None:
        """Keep what is known of a blob; it must be the same after a way through JSON."""
        self._used[key] = value
        self._is_new = True

    def _load(self) -> Mapping[str, Any]:
        try:
            held = json.loads(self._path.read_bytes())
            facts = held["facts"] if held["rules"] == rules() else {}
        except (OSError, ValueError, TypeError, LookupError, RecursionError):
            facts = {}
        return facts if isinstance(facts, dict) else {}

    def _save(self) -> None:
        kept = {**self._known, **self._used}
        if len(kept) > 2 * len(self._used) + _SPARE:
            kept = self._used
        text = json.dumps({"rules": rules(), "facts": kept}, separators=(",", ":"))
        try:
            write_atomically(self._path, text.encode())
        except OSError:  # a full or read-only disk: the next look takes its time again
            return
