"""A pack as git has it: one blob, in a tree of its own, in a commit without parents.

Owns how these three are made and read. The same pack is the same commit on every
machine: it names no time and nobody. Its ref is named by the sha256 of its bytes, so
a name is never used for two contents, and no ref is ever moved.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Sequence
from dataclasses import dataclass

from knowrepo.git import plumbing
from knowrepo.git.layout import Repository
from knowrepo.sharing.pack import READ_BYTES, RefusedError

REFS = "refs/know/vectors"
_REF = re.compile(rf"{REFS}/(?P<fingerprint>[0-9a-f]{{16}})/(?P<name>[0-9a-f]{{64}})")
_FILE = b"vectors"
_SOMEBODY = "know <know> 0 +0000"
_MESSAGE = "Vectors, made by know; see `know sync`"
_KINDS = ("commit", "tree", "blob")
_OBJECTS = len(_KINDS)
_SMALL = 1000  # bytes that our commits and trees stay well below


@dataclass(frozen=True)
class Ref:
    """A pack of a remote: its ref, what that says, and the commit that it names."""

    fingerprint: str
    name: str
    commit: str

    @property
    def ref(self) -> str:
        """The full name of the ref."""
        return f"{REFS}/{self.fingerprint}/{self.name}"


def parsed(ref: str, commit: str) -> Ref | None:
    """Return the pack that a ref is by its name; None for another ref."""
    found = _REF.fullmatch(ref)
    return Ref(found["fingerprint"], found["name"], commit) if found else None


def name_of(data: bytes) -> str:
    """Return the name of a pack."""
    return hashlib.sha256(data).hexdigest()


def write(repository: Repository, fingerprint: str, data: bytes) -> Ref:
    """Put a pack into this clone's objects; no ref is made."""
    blob = _made(repository, "blob", data)
    listing = b"100644 blob %s\t%s\0" % (blob.encode(), _FILE)
    tree = plumbing.git(repository, "mktree", "-z", data=listing).decode().strip()
    commit = _made(repository, "commit", _commit(tree))
    return Ref(fingerprint, name_of(data), commit)


def read(repository: Repository, pack: Ref) -> bytes:
    """Return the bytes of a pack whose objects are here; raises RefusedError for any other form.

    Sizes are asked before contents, and no name in the tree is ever used as a path.
    """
    commit = _content(repository, pack.commit, "commit", _SMALL)
    if b"\nparent " in commit.partition(b"\n\n")[0]:
        raise RefusedError("its commit has a parent")
    found = re.match(rb"tree ([0-9a-f]+)\n", commit)
    if found is None or commit != _commit(found[1].decode()):
        raise RefusedError("its commit is not as know makes it")
    tree = found[1].decode()
    _size(repository, tree, "tree", _SMALL)
    entry = plumbing.git(repository, "ls-tree", "-z", "--full-tree", tree)
    inside = re.fullmatch(rb"100644 blob ([0-9a-f]+)\t" + _FILE + rb"\0", entry)
    if inside is None:
        raise RefusedError("its tree holds something else than one file `vectors`")
    data = _content(repository, inside[1].decode(), "blob", READ_BYTES)
    if name_of(data) != pack.name:
        raise RefusedError("its content has not the hash that it is named by")
    return data


def whole(repository: Repository, packs: Sequence[Ref]) -> list[Ref]:
    """Return those packs of which all is in this clone; nothing is fetched.

    A fetch that was killed, or that filled the disk, leaves a commit without its blob.
    """
    said = _batch(repository, packs, "%(objecttype)")
    kinds = zip(*[iter(said)] * _OBJECTS, strict=True)
    return [one for one, each in zip(packs, kinds, strict=True) if each == _KINDS]


def disk_size(repository: Repository, packs: Sequence[Ref]) -> int:
    """Return about how many bytes packs take, compressed, here and on the wire."""
    said = _batch(repository, packs, "%(objectsize:disk)")
    return sum(int(line) for line in said if line.isdigit())


def _batch(repository: Repository, packs: Sequence[Ref], form: str) -> list[str]:
    """Ask git one thing of the commit, the tree and the blob of each pack, in this order."""
    asked = "".join(f"{p.commit}\n{p.commit}^{{tree}}\n{p.commit}:vectors\n" for p in packs)
    return plumbing.git(
        repository, "cat-file", f"--batch-check={form}", data=asked.encode(), fetching=False
    ).decode("utf-8", "replace").splitlines()  # fmt: skip


def _commit(tree: str) -> bytes:
    lines = (f"tree {tree}", f"author {_SOMEBODY}", f"committer {_SOMEBODY}", "", _MESSAGE, "")
    return "\n".join(lines).encode()


def _made(repository: Repository, kind: str, data: bytes) -> str:
    # Written as it is: `git commit-tree` would add what the user's configuration says.
    return plumbing.git(
        repository, "hash-object", "-t", kind, "-w", "--stdin", "--no-filters", data=data
    ).decode().strip()  # fmt: skip


def _size(repository: Repository, oid: str, kind: str, most: int) -> None:
    """Raise RefusedError unless an object is here, of a kind, and not too large."""
    asked = plumbing.git(repository, "cat-file", "--batch-check", data=f"{oid}\n".encode())
    said = asked.decode().split()
    if said[-1] == "missing":
        raise RefusedError("it is not complete", lasting=False)
    if said[1] != kind:
        raise RefusedError(f"it is a {said[1]} where a {kind} is due")
    if int(said[2]) > most:
        raise RefusedError(f"its {kind} is too large ({int(said[2]):,} bytes)")


def _content(repository: Repository, oid: str, kind: str, most: int) -> bytes:
    _size(repository, oid, kind, most)
    return plumbing.git(repository, "cat-file", kind, oid)
