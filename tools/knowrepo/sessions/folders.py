"""Folders as text, whichever machine wrote them.

Owns how two spellings of a folder are compared, and which the patterns of
`exclude` match. A folder may be gone, or another machine's, so the disk is not
asked: `..` goes with what is before it, either slash is one, and a path of Windows
is the same in upper and lower case.
"""

from __future__ import annotations

import os
import posixpath
import re
from collections.abc import Iterable
from fnmatch import fnmatchcase
from pathlib import Path

_DRIVE = re.compile(r"[A-Za-z]:/")
_LONG = re.compile(r"^//[?.]/(UNC/)?")  # how Windows spells paths that may be long
_WILD = re.compile(r"[*?\[]")


def spelled(folder: str) -> str:
    """Return the one spelling of a folder's path."""
    return _spelled(folder)[0]


def _spelled(folder: str) -> tuple[str, bool]:
    """Return the one spelling of a path, and whether it is one of Windows."""
    if not folder:
        return "", False
    slashed = folder.replace("\\", "/")
    shared = folder.startswith("\\\\")
    if shared:
        slashed = _LONG.sub(lambda found: "//" if found[1] else "", slashed)
    path = posixpath.normpath(re.sub(r"^/+", "/", slashed))
    windows = shared or _DRIVE.match(slashed) is not None
    return (path.casefold() if windows else path), windows


def is_below(folder: str, above: str) -> bool:
    """Say whether a folder is another one, or in it; both as `spelled` gives them."""
    return bool(above) and (folder == above or folder.startswith(above.rstrip("/") + "/"))


class Excluded:
    """The patterns of folders and files that are left out.

    A pattern stands for what it matches and all below. `~` is the user's home. One
    that begins neither there nor at a root matches at any depth. In doubt a
    pattern matches more: what was to be left out must never be archived.
    """

    def __init__(self, patterns: Iterable[str]) -> None:
        found = [whole for pattern in patterns if (whole := _whole(pattern))]
        # What is named through a link is left out under its own name as well.
        found += [
            spelled(os.path.realpath(whole))
            for whole in found
            if whole.startswith("/") and not _WILD.search(whole)
        ]
        self._patterns = tuple(dict.fromkeys(found))

    def __contains__(self, path: str) -> bool:
        given, windows = _spelled(path)
        # A path of Windows is folded, so a pattern that names no drive is folded for it.
        return any(
            _matches(given, pattern.casefold() if windows else pattern)
            for pattern in self._patterns
        )


def _whole(pattern: str) -> str:
    """Return a pattern as it is compared: from the root, without a slash at its end."""
    pattern = pattern.strip()
    if not pattern:
        return ""
    if pattern == "~" or pattern.startswith(("~/", "~\\")):
        pattern = str(Path.home()) + pattern[1:]
    path, windows = _spelled(pattern)
    for end in ("/**", "/*"):
        path = path.removesuffix(end)
    if not path:
        return "*"
    return path if windows or path.startswith(("/", "*")) else f"*/{path}"


def _matches(path: str, pattern: str) -> bool:
    if not _WILD.search(pattern):
        return is_below(path, pattern)
    return fnmatchcase(path, pattern) or fnmatchcase(path, f"{pattern}/*")
