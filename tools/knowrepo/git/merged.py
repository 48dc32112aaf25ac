"""The merge commit that git has just made, so that it can hold what follows from it.

Owns telling such a commit from one that came from elsewhere, and giving it another
tree. git writes the tree of a merge before any of its hooks runs, so nothing that a
hook stages is in the commit (git 2.39 and newer). What is told before the commit is
therefore noted, and the commit replaced right after, while nobody else can have it:
same parents, author, date and message. A signed commit is never replaced.
"""

from __future__ import annotations

import json

from knowrepo.config import write_atomically
from knowrepo.errors import KnowError
from knowrepo.git.layout import Repository
from knowrepo.git.plumbing import git

_NOTE = "merging.json"
_FORWARD = b"Fast-forward"  # how git's reflog ends where no commit was made
_REASON = "know: generated files of the merge"


def note(repository: Repository) -> None:
    """Note the merge that git is about to commit; called before it does."""
    told = {"head": _head(repository), "tree": _tree_of_index(repository)}
    write_atomically(repository.locks / _NOTE, json.dumps(told).encode())


def take_noted(repository: Repository) -> str:
    """Return the merge commit at HEAD, where it is the one noted; else ''. Drops the note."""
    path = repository.locks / _NOTE
    try:
        told = json.loads(path.read_bytes())
    except (FileNotFoundError, ValueError):
        return ""
    finally:
        path.unlink(missing_ok=True)
    head = _head(repository)
    fields = _fields(git(repository, "cat-file", "commit", head))
    parents = [value for name, value in fields if name == b"parent"]
    last = git(repository, "log", "-g", "-1", "--format=%gs", "HEAD").strip()
    made_here = (
        isinstance(told, dict)
        and len(parents) > 1
        and parents[0] == str(told.get("head")).encode()
        and (b"tree", str(told.get("tree")).encode()) in fields
        and not last.endswith(_FORWARD)
    )
    return head if made_here and _tree_of_index(repository) == told["tree"] else ""


def is_signed(repository: Repository, commit: str) -> bool:
    """Say whether a commit bears a signature, which another tree would break."""
    names = [name for name, _ in _fields(git(repository, "cat-file", "commit", commit))]
    return any(name.startswith(b"gpgsig") for name in names)


def give_tree_of_index(repository: Repository, commit: str) -> None:
    """Put in the place of ``commit``, which is HEAD, one with the tree of git's index."""
    head, separator, message = git(repository, "cat-file", "commit", commit).partition(b"\n\n")
    _, _, others = head.partition(b"\n")
    tree = b"tree " + _tree_of_index(repository).encode()
    content = tree + b"\n" + others + separator + message
    new = git(repository, "hash-object", "-t", "commit", "-w", "--stdin", data=content)
    name = new.decode().strip()
    git(repository, "update-ref", "-m", _REASON, "HEAD", name, commit)


def _head(repository: Repository) -> str:
    return git(repository, "rev-parse", "--verify", "HEAD").decode().strip()


def _tree_of_index(repository: Repository) -> str:
    return git(repository, "write-tree").decode().strip()


def _fields(commit: bytes) -> list[tuple[bytes, bytes]]:
    """Return the headers of a commit; a line that goes on begins with a space."""
    if not commit.startswith(b"tree "):
        raise KnowError("git shows no commit at HEAD")
    lines = commit.partition(b"\n\n")[0].split(b"\n")
    parted = [line.partition(b" ") for line in lines if not line.startswith(b" ")]
    return [(name, value) for name, _, value in parted]
