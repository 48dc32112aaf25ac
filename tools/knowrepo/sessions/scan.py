"""Looking for secrets in what is archived and written already.

Owns the second look: rules learn, and what was archived before is brought to
today's by `fix`. Sessions are looked at line by line, as they are archived;
concepts are text that a person wrote, and are never edited here. A finding
names a place and a kind, and holds no part of the secret.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import IO

from knowrepo.config import load_repository_config
from knowrepo.errors import KnowError
from knowrepo.git.layout import Repository
from knowrepo.sessions import growth, store
from knowrepo.sessions.archive import cleared, exclusively, finish
from knowrepo.sessions.conflicts import Conflicts
from knowrepo.sessions.keep import Kept, archived_line
from knowrepo.sessions.lines import read_lines
from knowrepo.sessions.publish import PUBLISHING, publish, put_in_place
from knowrepo.sessions.redact import Redactor
from knowrepo.sessions.redact.settings import redactor_for
from knowrepo.sessions.secrets import FOLDERS, Found, in_lines, in_text
from knowrepo.sessions.tracked import session_of


def files(repository: Repository, paths: Iterable[Path]) -> list[Path]:
    """Return the files to look at: those named, else all sessions and concepts, tracked or not."""
    named = list(paths)
    found: list[Path] = []
    for path in named or [repository.root / folder for folder in FOLDERS]:
        if path.is_dir():
            for folder, _, names in os.walk(path):
                found += [Path(folder, n) for n in names if n.endswith((".jsonl", ".md"))]
        elif path.is_file():
            found.append(path)
        elif named:
            raise KnowError(f"{path}: no such file or folder")
    return sorted(file for file in found if not file.is_symlink())


def scan(repository: Repository, paths: Iterable[Path]) -> Iterator[list[Found]]:
    """Yield the findings of each file, in order."""
    redactor = redactor_for(repository.root)
    for path in paths:
        name = shown(repository, path)
        with path.open("rb") as stream:
            if path.suffix == ".jsonl":
                yield list(in_lines(name, read_lines(stream), redactor))
            else:
                yield list(in_text(name, stream.read(), redactor))


def fix(
    repository: Repository,
    paths: Iterable[Path],
    *,
    waiting: Callable[[], None] = lambda: None,
) -> Iterator[tuple[Path, list[Found]]]:
    """Bring archived sessions to today's rules, each in one step; yields what was redacted.

    A session in several parts is brought as a whole, with its first one. Raises
    KnowError at a session that a merge left in conflict.
    """
    redactor = redactor_for(repository.root)
    conflicts = Conflicts(repository)
    parted: dict[Path, list[Found]] = {}
    with exclusively(repository, waiting):
        for path in paths:
            if path in parted:
                yield path, parted[path]
                continue
            name = session_of(repository, repository.inside(path))
            files = [path]
            if name is not None:
                conflicts.refuse(name)
                files = store.parts(name.path(repository.sessions))
            if path in files and len(files) > 1:
                parted.update(_fixed_parts(repository, files, redactor))
                yield path, parted[path]
            else:
                yield path, _fixed(repository, path, redactor)


def _fixed(repository: Repository, path: Path, redactor: Redactor) -> list[Found]:
    """Redact one archived session; the old bytes or the new are there, never half."""
    temporary = repository.locks / "scan.jsonl"
    try:
        with temporary.open("wb") as out:
            found = _clean(repository, path, out, redactor)
        if found:
            put_in_place(temporary, path)
    finally:
        temporary.unlink(missing_ok=True)
    return found


def _fixed_parts(
    repository: Repository, files: list[Path], redactor: Redactor
) -> dict[Path, list[Found]]:
    """Redact a session in several parts: each says what stands before it, so all are cut anew."""
    most = load_repository_config(repository.root).part_megabytes * 1_000_000
    scratch = cleared(repository)
    try:
        finish(repository, scratch, most)
        temporary = scratch / "scan.jsonl"
        with temporary.open("wb") as out:
            found = {
                path: _clean(repository, path, out, redactor, is_part=path != files[0])
                for path in files
            }
        if any(found.values()):
            publish(temporary, files[0], repository.locks / PUBLISHING, most=most)
    finally:
        shutil.rmtree(scratch, ignore_errors=True)
    return found


def _clean(
    repository: Repository, path: Path, out: IO[bytes], redactor: Redactor, *, is_part: bool = False
) -> list[Found]:
    """Write what is archived at ``path``, redacted; returns what was.

    Of a part the line that says what stands before it is left out.
    """
    name = shown(repository, path)
    found: list[Found] = []
    with path.open("rb") as stream:
        for line in read_lines(_whole(stream)):
            if is_part and line.number == 1:
                continue
            kept = Kept()
            clean = None if growth.is_marker(line.raw) else archived_line(line, kept, redactor)
            found += [Found(name, line.number, kind) for kind in kept.redacted.elements()]
            # Nothing shortens an archived session: what would be left out today stays.
            out.write((line.raw if clean is None else clean) + b"\n")
    return found


def _whole(stream: Iterable[bytes]) -> Iterator[bytes]:
    """Yield lines that all end: an archived line is whole, though its newline may be lost."""
    return (raw if raw.endswith(b"\n") else raw + b"\n" for raw in stream)


def shown(repository: Repository, path: Path) -> str:
    """Return the name of a file: relative to the repository where it lies in it."""
    full = path.resolve()
    inside = full.is_relative_to(repository.root)
    return full.relative_to(repository.root).as_posix() if inside else str(path)
