"""What was found in a file before, so that the same bytes need not be read again.

Owns a derived file in the git directory. What is kept hangs on the id of a blob,
and holds for these very rules only: a digest of our own source and of the
libraries that parse is kept with it, and anything else is thrown away. Losing it
costs time and nothing else; of two processes that write, one wins.
"""

from __future__ import annotations

import functools
import hashlib
import sys
from importlib.util import find_spec
from pathlib import Path
from types import TracebackType

from knowrepo.config import write_atomically
from knowrepo.git.layout import Repository

_LIBRARIES = ("yaml", "markdown_it")
_SPARE = 1000  # facts of other branches that are kept beside those in use
_SHA256 = 64  # digits of an id


def blob_id(data: bytes, like: str = "") -> str:
    """Return the id that git gives a content, by the same hash as ``like`` or else by SHA-1."""
    head = b"blob %d\0" % len(data)
    if len(like) == _SHA256:
        return hashlib.sha256(head + data).hexdigest()
    return hashlib.sha1(head + data, usedforsecurity=False).hexdigest()


@functools.cache
def rules() -> str:
    """Return what tells one state of the rules from any other.

    The bytes are looked at, not the times: so several installations of one version,
    as a person's own and that of pre-commit, share what they find.
    """
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
    """Facts of one kind by blob id; use it as a context, which writes what is new at its end.

    Those that nobody asked for are forgotten then, where they are many; with ``some``
    only some are asked for, and all others stay.

    A fact is a line of text. So is a key; both together are a line of the file, below
    a line with the rules and how many they are. A hook that asks for thousands has
    them in a few milliseconds so; JSON takes several times as long.
    """

    def __init__(self, repository: Repository, kind: str, *, some: bool = False) -> None:
        self._path = repository.common_dir / "know" / f"{kind}.facts"
        self._used: dict[str, str] = {}
        self._is_new = False
        self._some = some

    def __enter__(self) -> Facts:
        self._known = self._load()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, _: BaseException | None, __: TracebackType | None
    ) -> None:
        if self._is_new and kind is None:
            self._save()

    def get(self, key: str) -> str | None:
        """Return what is known of a blob, or None."""
        value = self._known.get(key)
        if value is not None:
            self._used[key] = value
        return value

    def put(self, key: str, value: str) -> None:
        """Keep what is known of a blob; what is not one line, as odd names are, is not kept."""
        if "\n" not in key and "\t" not in key and "\n" not in value:
            self._known[key] = self._used[key] = value
            self._is_new = True

    def _load(self) -> dict[str, str]:
        try:
            head, *lines = self._path.read_bytes().decode("utf-8", "surrogatepass").split("\n")
            if head != _head(len(lines) - 1) or lines.pop():  # cut off, or of other rules
                return {}
            return dict([line.split("\t", 1) for line in lines])
        except (OSError, ValueError):
            return {}

    def _save(self) -> None:
        kept = self._known
        if not self._some and len(kept) > 2 * len(self._used) + _SPARE:
            kept = self._used
        lines = (f"{key}\t{value}\n" for key, value in kept.items())
        text = f"{_head(len(kept))}\n{''.join(lines)}"
        try:
            write_atomically(self._path, text.encode("utf-8", "surrogatepass"))
        except OSError:  # a full or read-only disk: the next look takes its time again
            return


def _head(number: int) -> str:
    return f"{rules()} {number}"
