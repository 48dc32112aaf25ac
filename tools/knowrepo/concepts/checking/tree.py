"""What is there: the files and folders that links can lead to.

Owns three ways to know it, one by the work tree, one by a list of names such as
git's index, one by a function. Paths are relative to the top, with `/`; the top
itself is the empty path. Names are compared letter by letter, also where the
file system would not.
"""

from __future__ import annotations

import os
import unicodedata
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Literal, Protocol

Kind = Literal["file", "folder", ""]


class Tree(Protocol):
    """What can be asked about the files around a bundle."""

    def kind(self, path: str) -> Kind:
        """Say whether a file or a folder is there."""

    def names(self, folder: str) -> Iterable[str]:
        """Return the names in a folder; none where there is no such folder."""

    def read(self, path: str) -> bytes | None:
        """Return a file's content, where it can be had."""


class DiskTree:
    """The files as they are on disk; each folder is listed once."""

    def __init__(self, top: Path) -> None:
        self._top = top
        self._folders: dict[str, dict[str, Kind]] = {}

    def kind(self, path: str) -> Kind:
        """Say whether a file or a folder is there; a symbolic link is what it leads to."""
        kind: Kind = "folder"
        folder = ""
        for name in path.split("/") if path else ():
            if kind != "folder":
                return ""
            kind = self._list(folder).get(name, "")
            folder = f"{folder}/{name}" if folder else name
        return kind

    def names(self, folder: str) -> Iterable[str]:
        """Return the names in a folder."""
        return self._list(folder)

    def read(self, path: str) -> bytes | None:
        """Return a file's content."""
        try:
            return (self._top / path).read_bytes()
        except OSError:
            return None

    def _list(self, folder: str) -> dict[str, Kind]:
        if folder not in self._folders:
            found: dict[str, Kind] = {}
            try:
                with os.scandir(self._top / folder) as entries:
                    for entry in entries:
                        found[entry.name] = "folder" if entry.is_dir() else "file"
            except (OSError, ValueError):
                pass
            self._folders[folder] = found
        return self._folders[folder]


class ListedTree:
    """The files of a list, as git's index; the rest is read by a function."""

    def __init__(self, paths: Iterable[str], read: Callable[[str], bytes | None]) -> None:
        self._read = read
        self._folders: defaultdict[str, dict[str, Kind]] = defaultdict(dict)
        for path in paths:  # thousands, in a few folders: those are gone up only once
            folder, _, name = path.rpartition("/")
            self._folders[folder][name] = "file"
        for folder in list(self._folders):
            while folder:
                folder, _, name = folder.rpartition("/")
                if name in self._folders[folder]:
                    break
                self._folders[folder][name] = "folder"

    def kind(self, path: str) -> Kind:
        """Say whether a file or a folder is in the list."""
        if not path:
            return "folder"
        folder, _, name = path.rpartition("/")
        return self._folders.get(folder, {}).get(name, "")

    def names(self, folder: str) -> Iterable[str]:
        """Return the names in a folder."""
        return self._folders.get(folder, {})

    def read(self, path: str) -> bytes | None:
        """Return a file's content."""
        return self._read(path) if self.kind(path) == "file" else None


class AskedTree:
    """What a function says is there, beside the files at hand."""

    def __init__(self, exists: Callable[[str], bool], files: Mapping[str, bytes]) -> None:
        self._exists = exists
        self._files = files

    def kind(self, path: str) -> Kind:
        """Say whether something is there; what has no ending passes for a folder."""
        if path in self._files:
            return "file"
        if not self._exists(path):
            return ""
        return "file" if "." in path.rpartition("/")[2] else "folder"

    def names(self, folder: str) -> Iterable[str]:
        """Return the names in a folder that are known."""
        start = f"{folder}/" if folder else ""
        return {p[len(start) :].partition("/")[0] for p in self._files if p.startswith(start)}

    def read(self, path: str) -> bytes | None:
        """Return a file's content."""
        return self._files.get(path)


def folded(name: str) -> str:
    """Return a name as a file system takes it that knows neither case nor encodings of accents."""
    if name.isascii():
        return name.lower()
    return unicodedata.normalize("NFC", unicodedata.normalize("NFD", name).casefold())


class Spellings:
    """Finds names that are there in another spelling; each folder is gone through once."""

    def __init__(self, tree: Tree) -> None:
        self._tree = tree
        self._folders: dict[str, dict[str, list[str]]] = {}

    def find(self, path: str) -> list[str]:
        """Return the paths that are there and differ from ``path`` in spelling at most."""
        found = [""]
        for wanted in path.split("/"):
            found = [
                f"{folder}/{name}" if folder else name
                for folder in found
                for name in self._names(folder).get(folded(wanted), ())
            ]
        return found

    def _names(self, folder: str) -> dict[str, list[str]]:
        if folder not in self._folders:
            names = self._folders[folder] = {}
            for name in sorted(self._tree.names(folder)):
                names.setdefault(folded(name), []).append(name)
        return self._folders[folder]
