"""Which concept a person means by a word on the command line.

Owns the ways to name one: its path, its id, its title in any case, or the last
part of its path. An exact path or id wins; beyond that a name must be unique.
"""

from __future__ import annotations

import difflib
import os
import stat
from pathlib import Path

from knowrepo.concepts import bundle
from knowrepo.concepts.compose import slug
from knowrepo.concepts.model import FOLDER, concept_id, is_concept_path, read_concept
from knowrepo.errors import KnowError
from knowrepo.git import plumbing
from knowrepo.git.layout import Repository

_MOST_NAMED = 5


def resolve(repository: Repository, name: str) -> str:
    """Return the path of the concept that ``name`` means, tracked or not.

    Raises KnowError where there is none, more than one, or where it is in conflict.
    """
    conflicts = plumbing.unmerged(repository, FOLDER)
    known = _known(repository, conflicts)
    found = _by_path(repository, name, known) or _by_word(repository, name, known)
    if len(found) > 1:
        named = ", ".join(concept_id(path) for path in found[:_MOST_NAMED])
        more = f" and {len(found) - _MOST_NAMED} more" if len(found) > _MOST_NAMED else ""
        raise KnowError(f"{name}: could be {len(found)} concepts", hint=f"name one: {named}{more}")
    if not found:
        raise KnowError(f"{name}: no such concept", hint=_near(name, known))
    if found[0] in conflicts:
        raise KnowError(f"{found[0]}: in conflict", hint="resolve it and `git add` it first")
    return found[0]


def _known(repository: Repository, conflicts: list[str]) -> list[str]:
    repository.inside(repository.concepts)
    listed = {*plumbing.tracked(repository, FOLDER), *bundle.drafts(repository), *conflicts}
    root = str(repository.root)  # of thousands of files no path objects
    return sorted(path for path in listed if is_concept_path(path) and _is_there(f"{root}/{path}"))


def _is_there(full: str) -> bool:
    """Say whether a file is there, and no symbolic link in its place."""
    try:
        return stat.S_ISREG(os.lstat(full).st_mode)
    except (OSError, ValueError):
        return False


def _by_path(repository: Repository, name: str, known: list[str]) -> list[str]:
    """Return the concept whose path or id this is, with `.md` or without."""
    ways = [name, f"{FOLDER}/{name.lstrip('/')}"]
    full = Path(name).absolute()
    if full.is_relative_to(repository.root):
        ways.insert(0, full.relative_to(repository.root).as_posix())
    either = [spelled for way in ways for spelled in (way, f"{way}.md")]
    return next(([spelled] for spelled in either if spelled in known), [])


def _by_word(repository: Repository, name: str, known: list[str]) -> list[str]:
    """Return the concepts whose title, or the last part of whose path, this is."""
    word = name.removesuffix(".md").casefold()
    found = []
    for path in known:
        title = read_concept(path, (repository.root / path).read_bytes()).title
        last = concept_id(path).rpartition("/")[2]
        if word in {title.casefold(), slug(title), last.casefold()}:
            found.append(path)
    return found


def _near(name: str, known: list[str]) -> str:
    ids = {concept_id(path): concept_id(path) for path in known}
    ids |= {one.rpartition("/")[2]: one for one in ids}
    near = difflib.get_close_matches(name.removesuffix(".md"), ids, n=3, cutoff=0.6)
    if near:
        return "perhaps: " + ", ".join(dict.fromkeys(ids[one] for one in near))
    return "name it by path, id or title; `know recall` finds it by what it says"
