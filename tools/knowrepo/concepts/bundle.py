"""The files of the bundle as git tracks them, and the two that are generated.

Owns reading and writing under `concepts/` for the commands and hooks. It lists
files through git, never by a pattern: an untracked draft is nobody's knowledge
yet, and pre-commit leaves untracked files lying about.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from knowrepo.concepts import tags
from knowrepo.concepts.model import FOLDER, Concept, is_concept_path, read_concept
from knowrepo.config import write_atomically
from knowrepo.errors import KnowError
from knowrepo.git import plumbing
from knowrepo.git.layout import Repository


@dataclass(frozen=True)
class Generated:
    """One generated file: what it should hold, and how it stands.

    ``foreign`` marks an `index.md` that a person wrote: it is left alone.
    """

    path: str
    content: bytes
    stale: bool
    untracked: bool
    foreign: bool = False


def read_tracked(repository: Repository) -> dict[str, bytes]:
    """Return ``{path: bytes}`` of the tracked Markdown files of the bundle.

    The content is that of the work tree (pre-commit sets unstaged edits aside
    before its hooks run). A file deleted from the work tree is left out.
    """
    repository.inside(repository.concepts)
    found: dict[str, bytes] = {}
    for path in plumbing.tracked(repository, FOLDER, for_commit=True):
        full = repository.root / path
        if path.endswith(".md") and not full.is_symlink() and full.is_file():
            found[path] = full.read_bytes()
    return found


def drafts(repository: Repository) -> list[str]:
    """Return the concepts that git does not track: nobody's knowledge yet."""
    return [path for path in plumbing.untracked(repository, FOLDER) if is_concept_path(path)]


def read_concepts(repository: Repository) -> list[Concept]:
    """Read the tracked concepts."""
    files = read_tracked(repository)
    return [read_concept(p, data) for p, data in sorted(files.items()) if is_concept_path(p)]


def refuse_conflicts(repository: Repository) -> None:
    """Raise KnowError while concepts are in conflict."""
    conflicts = [path for path in plumbing.unmerged(repository, FOLDER) if is_concept_path(path)]
    if conflicts:
        raise KnowError(
            f"{conflicts[0]}: in conflict", hint="resolve it and `git add` it, then run this again"
        )


def generated_files(repository: Repository) -> list[Generated]:
    """Say what each generated file should hold and whether it does.

    Raises KnowError while concepts are in conflict: what they say is not decided.
    """
    refuse_conflicts(repository)
    concepts = read_concepts(repository)
    known = plumbing.tracked(repository, tags.INDEX, tags.TAG_INDEX, for_commit=True)
    found = []
    for path, content in (
        (tags.INDEX, tags.index_md(concepts)),
        (tags.TAG_INDEX, tags.tag_index(concepts)),
    ):
        full = repository.root / path
        # git may have written CRLF on checkout; the content is the same.
        now = full.read_bytes().replace(b"\r\n", b"\n") if full.is_file() else None
        foreign = path == tags.INDEX and now is not None and not tags.is_generated(now)
        found.append(
            Generated(
                path=path,
                content=content,
                stale=now != content and not foreign,
                untracked=path not in known,
                foreign=foreign,
            )
        )
    return found


def write_generated(repository: Repository) -> list[Generated]:
    """Write the generated files that are stale; returns all of them as they stood."""
    files = generated_files(repository)
    for file in files:
        if file.stale:
            _write(repository.root / file.path, file.content)
    return files


def _write(path: Path, content: bytes) -> None:
    try:
        write_atomically(path, content)
    except OSError as error:
        raise KnowError(f"{path}: cannot be written: {error.strerror}") from error
