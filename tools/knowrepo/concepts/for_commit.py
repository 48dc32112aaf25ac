"""What is generated, for the commit in the making: as git's index has the concepts.

Owns what the hook looks at and what it may write. It looks at git's index alone, so
that edits which are not staged count for nothing, whoever runs the hook. It writes
the generated files of the work tree, and no other; a file there that a person wrote
stays. Staging is left to the person who commits.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Collection, Iterable
from functools import partial
from pathlib import Path

from knowrepo.concepts import bundle, conflicts, tags
from knowrepo.concepts.bundle import Generated, Present
from knowrepo.concepts.facts import Facts, blob_id
from knowrepo.concepts.listed import Listed, listed
from knowrepo.concepts.model import FOLDER, Concept, is_concept_path
from knowrepo.errors import KnowError
from knowrepo.git.making import NextCommit

_OURS, _THEIRS = "generated", "written"
_LAST = "last"
_REGULAR = re.compile(r"100[0-7]{3} ([0-9a-f]+) 0\t(.+)", re.DOTALL).fullmatch


def generated_files(commit: NextCommit) -> list[Generated]:
    """Say what each generated file of the commit should hold and whether it does.

    Raises KnowError while concepts are in conflict.
    """
    bundle.refuse_any_of(commit.unmerged)
    known = [path for path in commit.files if path.startswith(f"{FOLDER}/")]
    with Facts(commit.repository, "concepts") as facts:
        concepts = _concepts(commit, known, facts)
        present = _present(commit, known, facts)
    present |= _untracked(commit, concepts, known)
    unsettled = conflicts.indexes(commit.repository, commit.unmerged)
    return bundle.compared(concepts, present, known, unsettled=unsettled)


def write_generated(commit: NextCommit) -> list[Generated]:
    """Bring the work tree to what the commit should hold; returns all files as they stood.

    Returns none where all was right before and nothing of that differs, as for most
    commits: they change no concept, or no more of one than its body.
    """
    repository = commit.repository
    repository.inside(repository.concepts)
    entries = commit.below(f"{FOLDER}/")
    listing = "\0".join(entries)
    state = hashlib.sha256(listing.encode("utf-8", "surrogateescape")).hexdigest()
    with Facts(repository, "generated") as right:
        is_right = not commit.unmerged and (
            right.get(state) is not None or _lists_the_same(commit, right.get(_LAST), entries)
        )
        files = [] if is_right else generated_files(commit)
        is_known = right.get(state) is not None and right.get(_LAST) == listing
        if not is_known and not any(file.is_wrong or file.stale for file in files):
            right.put(state, "right")
            right.put(_LAST, listing)
    for file in files:
        there = _there(repository.root / file.path) if file.stale else None
        if file.stale and _is_ours(file, there) and there != (None if file.gone else file.content):
            bundle.put(repository, file)
    return files


def _lists_the_same(commit: NextCommit, last: str | None, entries: Iterable[str]) -> bool:
    """Say whether what is listed of the concepts is as it was when all was right the last time.

    That is so where concepts alone differ, and none of them in what is listed of it.
    """
    if last is None:
        return False
    before, now = set(last.split("\0")), set(entries)
    old, new = _concepts_in(before - now), _concepts_in(now - before)
    if old is None or new is None or old.keys() != new.keys():
        return False
    with Facts(commit.repository, "concepts", some=True) as facts:
        for path, oid in old.items():
            entry = _of_blob(commit, facts, oid, path)
            if entry is None or entry != _of_blob(commit, facts, new[path], path):
                return False
    return True


def _concepts_in(entries: Iterable[str]) -> dict[str, str] | None:
    """Return the blobs of entries by path; None where one of them is no concept."""
    found: dict[str, str] = {}
    for entry in entries:
        read = _REGULAR(entry)
        if read is None or not is_concept_path(read[2]):
            return None
        found[read[2]] = read[1]
    return found


def _of_blob(commit: NextCommit, facts: Facts, oid: str, path: str) -> Listed | None:
    """Return what is listed of a blob; None where it is not here, or only announced."""
    entry = bundle.remembered(facts, oid, path)
    if entry is None:
        data = commit.read(oid)
        entry = bundle.read_listed(facts, oid, path, data) if data else None
    return None if oid == blob_id(b"", like=oid) else entry


def _is_ours(file: Generated, there: bytes | None) -> bool:
    """Say whether a file of the work tree may be replaced: no person has written it anew."""
    return there is None or file.path == tags.TAG_INDEX or tags.is_generated(there)


def _present(commit: NextCommit, known: Iterable[str], facts: Facts) -> dict[str, Present]:
    """Return the indexes that git tracks, and the tag index.

    A bundle may hold many of those. What an index is, is kept by its blob; what it
    holds, the id of the blob says: hardly any is read.
    """
    indexes = [path for path in known if tags.index_folder(path) is not None]
    keys = {path: f"{commit.files[path]} index" for path in indexes}
    unknown = [path for path in indexes if facts.get(keys[path]) not in (_OURS, _THEIRS)]
    contents = commit.read_all([commit.files[path] for path in unknown])
    for path, data in zip(unknown, contents, strict=True):
        if data is None:
            raise _not_here(path)
        facts.put(keys[path], _OURS if tags.is_generated(data) else _THEIRS)
    found = {
        path: Present(facts.get(key) == _OURS, partial(_holds, commit, path))
        for path, key in keys.items()
    }
    if tags.TAG_INDEX in commit.files:
        found[tags.TAG_INDEX] = Present(False, partial(_holds, commit, tags.TAG_INDEX))
    return found


def _holds(commit: NextCommit, path: str, content: bytes) -> bool:
    """Say whether a file of the commit holds a content, with LF or CRLF."""
    oid = commit.files[path]
    if blob_id(content, like=oid) == oid:
        return True
    data = commit.read(oid)
    if data is None:
        raise _not_here(path)
    return _with_lf(data) == content


def _untracked(
    commit: NextCommit, concepts: Iterable[Listed], known: Iterable[str]
) -> dict[str, Present]:
    """Return the files that git does not know and that lie where a generated one may."""
    nearest = {concept.path.rpartition("/")[0]: concept for concept in concepts}
    places = {path for concept in nearest.values() for path in tags.indexes_above(concept)}
    found: dict[str, Present] = {}
    for path in {tags.INDEX, tags.TAG_INDEX, *places}.difference(known):
        data = _there(commit.repository.root / path)
        if data is not None:
            found[path] = bundle.present(data)
    return found


def _there(full: Path) -> bytes | None:
    return _with_lf(full.read_bytes()) if full.is_file() else None


def _with_lf(data: bytes) -> bytes:
    """Return the same content, where git wrote CRLF on checkout or was given it."""
    return data.replace(b"\r\n", b"\n")


def _concepts(commit: NextCommit, known: Iterable[str], facts: Facts) -> list[Listed]:
    """Return what is listed of the concepts; a blob that was read before is not read again."""
    files = commit.files
    paths = [path for path in known if is_concept_path(path)]
    found = {path: bundle.remembered(facts, files[path], path) for path in paths}
    unknown = [path for path, entry in found.items() if entry is None]
    contents = commit.read_all([files[path] for path in unknown])
    missing: list[str] = []
    for path, data in zip(unknown, contents, strict=True):
        if data is None:
            missing.append(path)
        else:
            found[path] = bundle.read_listed(facts, files[path], path, data)
    return [one for one in (found | _as_committed(commit, missing)).values() if one is not None]


def _as_committed(commit: NextCommit, missing: Collection[str]) -> dict[str, Listed | None]:
    """Return concepts whose files a partial clone lacks, as the tag index has them.

    Raises KnowError where it has one not: then nobody here knows what the file says.
    """
    if not missing:
        return {}
    data = commit.read_path(tags.TAG_INDEX) or b""
    entries = {tags.concept_path(entry.concept): entry for entry in tags.read_tag_index(data)}
    changed = {change.path for change in commit.changes}
    found: dict[str, Listed | None] = {}
    for path in missing:
        entry = entries.get(path)
        if entry is None or path in changed:
            raise _not_here(path)
        concept = Concept(
            id=entry.concept, path=path, type=entry.type, title=entry.title,
            description=entry.description, tags=entry.tags, aliases=entry.aliases,
            status=entry.status, date=entry.date, superseded_by="", stale_after="", body="",
        )  # fmt: skip
        found[path] = listed(concept)
    return found


def _not_here(path: str) -> KnowError:
    return KnowError(
        f"{path}: this partial clone has not got it, so what is generated cannot be known",
        hint="`git sparse-checkout add concepts`, or `git fetch --refetch --no-filter`, brings it",
    )
