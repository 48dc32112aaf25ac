"""The files of a catalog: their names, which one is current, and which ones may go.

Owns the folder that a catalog lies in, and opens nothing. A catalog is named by a
path, `catalog.db`, and lies in a file whose name says the version of its tables
and its generation: `catalog-2.1.2-7.db`. The highest generation of a version is
the current one. So two versions of know that take turns keep a catalog each, and
a writer leaves a file that a reader holds by publishing the next one beside it.

A file that is in use is only ever unlinked, never renamed nor written over: who
has it open keeps it until it closes it.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import NamedTuple

_SIDE = ("-wal", "-shm", "-journal")
UNFINISHED = ".new"
"""What the name of a file ends with that is not published yet."""


class Found(NamedTuple):
    """A catalog's file, and the number of the i-node, which tells it from a later namesake."""

    file: Path
    node: int


def current(path: Path, version: str) -> Found | None:
    """Return the file that is read and written now; None where there is none."""
    numbers = _generations(path, version)
    if not numbers:
        return None
    file = _file(path, version, max(numbers))
    try:
        return Found(file, os.stat(file).st_ino)  # noqa: PTH116 - as in `_generations`
    except FileNotFoundError:  # a writer published another one just now
        return current(path, version)


def following(path: Path, version: str) -> Path:
    """Return the name of the next generation; nothing of that name was ever left behind."""
    return _file(path, version, max(_generations(path, version, sides=True), default=0) + 1)


def tidy(path: Path, version: str) -> None:
    """Remove the files that nobody will open any more.

    The newest catalog of another version of know stays, for that may take its turn.
    """
    found = current(path, version)
    kept = [found.file] if found else []
    kept += sorted(of_others(path, version), key=_age)[-1:]
    names = {f"{file.name}{side}" for file in kept for side in ("", *_SIDE)}
    for file in _all(path):
        if file.name not in names:
            file.unlink(missing_ok=True)


def of_others(path: Path, version: str) -> list[Path]:
    """Return the catalogs of other versions."""
    own = f"{path.stem}-{version}-"
    return [
        file for file in _all(path) if file.suffix == path.suffix and not file.name.startswith(own)
    ]


def remove(file: Path) -> None:
    """Remove a catalog's file and what lies beside it."""
    for side in ("", *_SIDE):
        file.with_name(f"{file.name}{side}").unlink(missing_ok=True)


def discard(path: Path) -> None:
    """Remove all files of a catalog, of every version."""
    for file in _all(path):
        file.unlink(missing_ok=True)


def _file(path: Path, version: str, number: int) -> Path:
    before, end = os.path.splitext(path)  # noqa: PTH122 - as in `_generations`
    return Path(f"{before}-{version}-{number}{end}")


def _all(path: Path) -> list[Path]:
    return list(path.parent.glob(f"{path.stem}*{path.suffix}*"))


def _generations(path: Path, version: str, *, sides: bool = False) -> list[int]:
    # On every recall's time, so the names are cut and not matched, and no paths are made.
    folder, name = os.path.split(path)
    stem, end = os.path.splitext(name)  # noqa: PTH122
    start = f"{stem}-{version}-"
    try:
        names = os.listdir(folder or os.curdir)  # noqa: PTH208
    except (FileNotFoundError, NotADirectoryError):
        return []
    found = []
    for name in names:
        if name.startswith(start) and (sides or name.endswith(end)):
            number, _, rest = name[len(start) :].partition(end)
            if _is_number(number) and (sides or not rest):
                found.append(int(number))
    return found


def _is_number(text: str) -> bool:
    return text.isascii() and text.isdigit() and text[0] != "0"


def _age(file: Path) -> int:
    try:
        return file.stat().st_mtime_ns
    except FileNotFoundError:
        return 0
