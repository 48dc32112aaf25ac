"""Which concepts a change brings, changes and removes.

Owns the list for a summary, from two commits: names from git, titles from the
blobs. What a change means for what is known is not told here.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from knowrepo.concepts.document import parse
from knowrepo.concepts.model import FOLDER, from_document, is_concept_path
from knowrepo.git import partial
from knowrepo.git.layout import Repository
from knowrepo.git.plumbing import git, names_in

Kind = Literal["new", "changed", "moved", "removed"]
KINDS: tuple[Kind, ...] = ("new", "changed", "moved", "removed")
_MOST_BYTES = 1_000_000  # of a concept that is parsed for its title


@dataclass(frozen=True)
class Change:
    """What became of a concept; ``before`` is where one that was moved had been."""

    kind: Kind
    path: str
    title: str = ""
    type: str = ""
    status: str = ""
    before: str = ""


def changes(here: Repository, base: str, head: str = "HEAD") -> list[Change]:
    """Return what became of the concepts between two commits, by kind and path."""
    found = list(_raw(here, base, head))
    contents = partial.blobs(here, [oid for *_, oid in found])
    told = [
        _described(kind, path, before, content or b"")
        for (kind, path, before, _), content in zip(found, contents, strict=True)
    ]
    return sorted(told, key=lambda change: (KINDS.index(change.kind), change.path))


def _raw(here: Repository, base: str, head: str) -> Iterator[tuple[Kind, str, str, str]]:
    """Yield (kind, path, path before, blob oid) of each concept that differs."""
    listing = git(
        here, "diff", "--raw", "-z", "--find-renames", "--no-abbrev", "--relative",
        "--no-ext-diff", "--end-of-options", base, head, "--", FOLDER,
    )  # fmt: skip
    fields = iter(names_in(listing))
    for head_of in fields:
        _, _, old, new, status = head_of.split(" ")
        before = next(fields)
        path = next(fields) if status[0] in "RC" else before
        was, is_there = is_concept_path(before), is_concept_path(path)
        if status[0] == "D" or not is_there:
            if was and status[0] != "C":
                yield "removed", before, "", old
        elif status[0] in "AC" or not was:
            yield "new", path, "", new
        elif status[0] == "R":
            yield "moved", path, before, new
        else:
            yield "changed", path, "", new


def _described(kind: Kind, path: str, before: str, content: bytes) -> Change:
    if len(content) > _MOST_BYTES:
        return Change(kind, path, before=before)
    concept = from_document(path, parse(content))
    return Change(kind, path, concept.title, concept.type, concept.status, before)
