"""What a commit in the making can have changed: for the hook, which must be quick.

Owns the choice of files. Content and names are those of git's index, as the
commit will have them. Beside the files that the commit changes, those are
looked at that link to what it removes, and the names and titles of all others.
"""

from __future__ import annotations

import json
import posixpath
from collections.abc import Iterable, Iterator, Mapping
from urllib.parse import quote

from knowrepo.concepts import tags
from knowrepo.concepts.checking.findings import Finding
from knowrepo.concepts.checking.gather import symbolic_link
from knowrepo.concepts.checking.rules import names
from knowrepo.concepts.checking.tree import ListedTree
from knowrepo.concepts.checking.validate import check
from knowrepo.concepts.model import FOLDER, concept_id, is_concept_path
from knowrepo.git.making import NextCommit

_OF_LINKS = frozenset(
    {"OKF201", "OKF202", "OKF232", "OKF233", "OKF236", "OKF237", "OKF239", "OKF286"}
)

_TYPE = b', "type": '  # what follows the id of a concept in its line of the tag index


def check_staged(commit: NextCommit, *, strict_spec: bool = False) -> tuple[list[Finding], int]:
    """Check what the commit in the making changes; returns the findings and how many files."""
    gone = [change.path for change in commit.changes if change.status == "D"]
    changed = {change.path for change in commit.changes if change.status != "D"}
    mine = {path for path in changed if path.startswith(f"{FOLDER}/")}
    if not mine and not gone:
        return [], 0
    tracked, linked = commit.files, commit.links
    # What is in conflict is there, though nobody knows yet what it says.
    tree = ListedTree((*tracked, *linked, *commit.unmerged), commit.read_path)
    files = _read(tree, (path for path in mine & set(tracked) if path.endswith(".md")))
    found = check(
        files, tree, strict_spec=strict_spec, whole_bundle=False,
        titles=_titles(tree, set(files), set(files) | set(gone)),
    )  # fmt: skip
    inside = [path for path in tracked if path.startswith(f"{FOLDER}/")]
    found += names.collisions(inside, mine)
    others = _read(tree, _may_link_to(commit, gone, tree, set(files)))
    found += _broken(others, tree, gone)
    for path in sorted(mine & linked):
        found += symbolic_link(commit.repository.root, path)
    found += [
        Finding(path, 1, 1, "OKF208", "the name is not UTF-8; rename the file")
        for path in sorted(mine & set(commit.undecodable))
    ]
    return sorted(set(found)), len(files) + len(others)


def _read(tree: ListedTree, paths: Iterable[str]) -> dict[str, bytes]:
    found = {path: tree.read(path) for path in sorted(paths)}
    return {path: data for path, data in found.items() if data is not None}


def _titles(tree: ListedTree, files: set[str], without: set[str]) -> Mapping[str, str]:
    """Return the titles of the other concepts in the folders of files, as the tag index has them.

    Most lines of a large tag index are about tags, which come last, or about other
    folders; those are not taken apart.
    """
    folders = {posixpath.dirname(path) for path in files}
    near = {f"{folder}/{name}" for folder in folders for name in tree.names(folder)} - without
    starts = {_start_of(concept_id(path)) for path in near if is_concept_path(path)}
    lines = (tree.read(tags.TAG_INDEX) or b"").partition(b'\n{"tag"')[0].split(b"\n")
    some = b"\n".join(line for line in lines if line.partition(_TYPE)[0] in starts)
    return {tags.concept_path(e.concept): e.title for e in tags.read_tag_index(some)}


def _start_of(concept: str) -> bytes:
    """Return how the line of a concept in the tag index begins, by its id."""
    name = json.dumps(concept, ensure_ascii=False).encode("utf-8", "surrogatepass")
    return b'{"concept": ' + name


def _may_link_to(
    commit: NextCommit, gone: list[str], tree: ListedTree, without: set[str]
) -> Iterator[str]:
    """Yield the files of the bundle in which the name of something removed stands."""
    words: set[str] = set()
    for path in gone:
        name = posixpath.basename(path)
        words |= _spellings(name)
        if name.endswith(".md"):
            for spelling in _spellings(name.removesuffix(".md")):
                words |= {f"({spelling})", f"/{spelling})", f"({spelling}#", f"/{spelling}#"}
        folder = posixpath.dirname(path)
        while folder and not tree.kind(folder):  # the last file of it went
            words |= _spellings(posixpath.basename(folder))
            folder = posixpath.dirname(folder)
    for path in commit.with_words(FOLDER, sorted(words)):
        if path.endswith(".md") and path not in without:
            yield path


def _spellings(name: str) -> set[str]:
    return {name, quote(name), quote(name, safe="/()!'*,;:@&=+$")}


def _broken(others: Mapping[str, bytes], tree: ListedTree, gone: list[str]) -> Iterator[Finding]:
    """Yield the links that lead somewhere as long as what the commit removes is there."""
    if not others:
        return
    before = ListedTree((*_paths(tree), *gone), tree.read)
    known = {
        finding
        for finding in check(others, before, whole_bundle=False)
        if finding.code in _OF_LINKS
    }
    for finding in check(others, tree, whole_bundle=False):
        if finding.code in _OF_LINKS and finding not in known:
            yield finding


def _paths(tree: ListedTree, folder: str = "") -> Iterator[str]:
    for name in tree.names(folder):
        path = f"{folder}/{name}" if folder else name
        if tree.kind(path) == "folder":
            yield from _paths(tree, path)
        else:
            yield path
