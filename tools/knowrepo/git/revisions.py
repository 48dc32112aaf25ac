"""Revisions: which commit a word of the user names, what it holds, what changed since another.

Owns the git processes that look back from a revision. A word is never taken for an
option. Nothing is fetched: what a shallow or partial clone lacks is said. No setting of
the user changes what is read, and every listing is separated by NUL.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from knowrepo.errors import KnowError
from knowrepo.git import plumbing
from knowrepo.git.history import is_shallow
from knowrepo.git.layout import Repository

_OID = re.compile(r"[0-9a-f]{40}(?:[0-9a-f]{24})?")
_RENAMES = ("--find-renames=50%", "-l1000")
# A file that orders a user's own diffs may not even be there.
_IN_ORDER = ("-c", "diff.orderFile=/dev/null")
_BY_DAY = "of a day: git rev-list -1 --before=2026-05-31 HEAD"


class Range(NamedTuple):
    """Two commits to be compared, and how a person would write that."""

    old: str
    new: str
    said: str


class Changed(NamedTuple):
    """A file that differs between two commits; paths and blob oids are empty where it is not."""

    old_path: str
    path: str
    old: str
    new: str


def commit_of(repository: Repository, name: str) -> str:
    """Return the commit that ``name`` names.

    Raises KnowError where there is none, or this clone does not have it.
    """
    found = _commit(repository, name)
    if found:
        return found
    if name in {"", "HEAD"} or not plumbing.has_commits(repository):
        raise KnowError(f"{name or 'REV'}: no commit yet", hint="commit something first")
    if is_shallow(repository):
        hint = "this clone is shallow and may lack it: git fetch --unshallow"
        raise KnowError(f"{name}: no revision in this clone", hint=hint)
    hint = f"name a commit, a branch or a tag; {_BY_DAY}"
    raise KnowError(f"{name}: no revision of this repository", hint=hint)


def _commit(repository: Repository, name: str) -> str:
    """Return the commit that a name names, '' where it names none that is here."""
    if not name or "\0" in name:
        return ""
    asked = ("rev-parse", "--verify", "--quiet", "--end-of-options", f"{name}^{{commit}}")
    try:
        found = plumbing.git(repository, *asked, fetching=False, expected=(0, 1, 128))
    except KnowError:  # an object that is here in name only
        return ""
    oid = found.decode("ascii", "replace").strip()
    return oid if _OID.fullmatch(oid) else ""  # of `A..B` two are printed


def range_of(repository: Repository, text: str) -> Range:
    """Return what is to be compared by `A..B`, `A...B` or `A`; a side left out is HEAD.

    `A...B` is what B has since it left A, `A` what HEAD has that A has not. Nothing is
    what this branch has since its upstream, or where it has none, since the last tag.
    """
    if not text:
        return _since_shared(repository)
    whole = _commit(repository, text)  # `HEAD^{/a..b}` is one revision
    if whole:
        return Range(whole, commit_of(repository, "HEAD"), f"{text}..HEAD")
    for sign in ("...", ".."):
        old, found, new = text.partition(sign)
        if found:
            old, new = old or "HEAD", new or "HEAD"
            first, second = commit_of(repository, old), commit_of(repository, new)
            base = _base(repository, first, second, text) if sign == "..." else first
            return Range(base, second, f"{old}{sign}{new}")
    raise AssertionError(commit_of(repository, text))  # which raises


def _since_shared(repository: Repository) -> Range:
    head = commit_of(repository, "HEAD")
    upstream = _commit(repository, "@{upstream}")
    if upstream:
        named = ("rev-parse", "--abbrev-ref", "@{upstream}")
        said = plumbing.git(repository, *named).decode("utf-8", "replace").strip()
        return Range(_base(repository, upstream, head, said), head, f"{said}...HEAD")
    last = ("describe", "--tags", "--abbrev=0", "HEAD")
    tag = plumbing.git(repository, *last, expected=(0, 128)).decode("utf-8", "replace").strip()
    if not tag:
        hint = "name what to compare: know diff A..B"
        raise KnowError("this branch has no upstream, and there is no tag", hint=hint)
    return Range(commit_of(repository, f"refs/tags/{tag}"), head, f"{tag}..HEAD")


def _base(repository: Repository, one: str, other: str, said: str) -> str:
    asked = ("merge-base", one, other)
    found = plumbing.git(repository, *asked, fetching=False, expected=(0, 1)).decode().split()
    if not found:
        shallow = is_shallow(repository)
        hint = "this clone is shallow: git fetch --unshallow" if shallow else "write A..B"
        raise KnowError(f"{said}: no common commit", hint=hint)
    return found[0]


class Commit(NamedTuple):
    """What git says of a commit; ``time`` is its author's, ISO 8601."""

    oid: str
    time: str
    author: str
    subject: str


def described(repository: Repository, commit: str) -> Commit:
    """Return what git says of a commit."""
    show = ("log", "-1", "--no-show-signature", "--encoding=UTF-8", f"--format={_FIELDS}")
    output = plumbing.git(repository, *show, commit, "--", fetching=False)
    return _read(output.strip(b"\n").split(b"\0"))


_FIELDS = "%H%x00%aI%x00%an%x00%s"


def _read(fields: Sequence[bytes]) -> Commit:
    return Commit(*(field.decode("utf-8", "replace") for field in fields[:4]))


def files(repository: Repository, commit: str, *folders: str) -> dict[str, str]:
    """Return ``{path: blob oid}`` of the regular files in folders of a commit, and below.

    Paths are relative to the repository's root. One whose name is not UTF-8 is left out,
    as `plumbing.tracked` does. Raises KnowError where this clone lacks the commit's trees.
    """
    inside = _inside(repository)
    listed = ("ls-tree", "-r", "-z", "--full-tree", f"{commit}:{inside}", "--", *folders)
    try:
        listing = plumbing.git(repository, *listed, fetching=False)
    except KnowError as error:
        if inside and "Not a valid object name" in error.message:
            return {}  # the folder of the knowledge was not there yet
        raise lacking(commit[:12], error) from error
    found: dict[str, str] = {}
    for entry in listing.split(b"\0"):
        head, _, raw = entry.partition(b"\t")
        path = raw.decode("utf-8", "replace")
        if head.startswith(b"100") and path.encode() == raw:
            found[path] = head.split(b" ")[2].decode()
    return found


def _inside(repository: Repository) -> str:
    inside = repository.root.relative_to(repository.work_tree).as_posix()
    return "" if inside == "." else inside


def lacking(what: str, error: KnowError) -> KnowError:
    """Return the error where git cannot read something: mostly, a partial clone has it not."""
    why = error.message.rpartition("fatal: ")[2]
    hint = "a partial clone lacks what nobody looked at yet: git fetch --refetch brings it"
    return KnowError(f"{what}: not all of it is here: {why}", hint=hint)


def changed(repository: Repository, old: str, new: str, *folders: str) -> list[Changed]:
    """Return the regular files in folders that differ between two commits, renames found.

    In a partial clone that lacks contents, a rename is told as one file gone and one new.
    """
    compare = (*_IN_ORDER, "diff-tree", "-r", "-z", "--raw", "--no-abbrev", "--no-ext-diff")
    between = (old, new, "--", *(_from_top(repository, folder) for folder in folders))
    try:
        output = plumbing.git(repository, *compare, *_RENAMES, *between, fetching=False)
    except KnowError:
        try:
            output = plumbing.git(repository, *compare, "--no-renames", *between, fetching=False)
        except KnowError as error:
            raise lacking(new[:12], error) from error
    fields = iter(output.split(b"\0"))
    return [_placed(repository, change) for change in _raw(fields)]


def _from_top(repository: Repository, path: str) -> str:
    return f":(top,literal){'/'.join(filter(None, (_inside(repository), path)))}"


def _placed(repository: Repository, change: Changed) -> Changed:
    """Return a change with its paths relative to the repository's root."""
    above = _inside(repository)
    prefix = f"{above}/" if above else ""
    return change._replace(
        old_path=change.old_path.removeprefix(prefix), path=change.path.removeprefix(prefix)
    )


def _raw(fields: Iterator[bytes]) -> Iterator[Changed]:
    for field in fields:
        if field.startswith(b":"):
            yield _one(field, fields)


def _one(head: bytes, fields: Iterator[bytes]) -> Changed:
    """Read one raw entry, whose paths follow; a link or submodule counts as no file."""
    mode, new_mode, old, new, status = head[1:].decode().split(" ")
    first = next(fields).decode("utf-8", "backslashreplace")
    second = next(fields).decode("utf-8", "backslashreplace") if status[0] in "RC" else first
    was = old if mode.startswith("100") and status[0] != "C" else ""
    is_ = new if new_mode.startswith("100") else ""
    return Changed(first if was else "", second if is_ else "", was, is_)


class Step(NamedTuple):
    """What a commit did to a file; a merge only where its result is that of no parent.

    Then the change is told against the first parent.
    """

    commit: Commit
    change: Changed
    merged: bool = False


def steps(repository: Repository, path: str, folder: str) -> list[Step]:
    """Return the commits of HEAD that made a file of ``folder`` what it is, newest first.

    They are followed through renames, on both sides of a merge: `git log --follow` goes
    on with one name at a time, and loses what the other side did under another name.
    """
    if not plumbing.has_commits(repository):
        return []
    here = files(repository, "HEAD", path)
    walked = list(_walk(repository, path, folder))
    return _leading_to((path, here.get(path, "")), walked)


class _Walked(NamedTuple):
    """What differs between a commit and one of its parents."""

    commit: Commit
    parents: int
    changes: list[Changed]


_Place = tuple[str, str]
"""A path and what is there, a blob oid; '' where nothing is."""


def _walk(repository: Repository, path: str, folder: str) -> Iterator[_Walked]:
    """Yield what each commit did in a folder; of a merge one for each parent that differs."""
    walk = (
        *_IN_ORDER, "-c", "log.diffMerges=separate", "log", "--root", "-m", "--raw",
        "--no-abbrev", "-z", "--no-ext-diff", "--no-show-signature", "--no-notes",
        "--no-relative", "--encoding=UTF-8", f"--format=%x01{_FIELDS}%x00%P",
    )  # fmt: skip
    what = ("HEAD", "--", _from_top(repository, folder))
    try:
        output = plumbing.git(repository, *walk, *_RENAMES, *what, fetching=False)
    except KnowError:
        try:  # without the contents only what was renamed as it is can be told
            output = plumbing.git(repository, *walk, "-M100%", *what, fetching=False)
        except KnowError as error:
            raise lacking(path, error) from error
    fields = iter(output.split(b"\0"))
    found: _Walked | None = None
    for raw in fields:
        field = raw.strip(b"\n")
        if field.startswith(b"\x01"):
            if found is not None:
                yield found
            commit = _read([field[1:], *(next(fields) for _ in range(3))])
            found = _Walked(commit, len(next(fields).split()), [])
        elif found is not None and field.startswith(b":"):
            found.changes.append(_placed(repository, _one(field, fields)))
    if found is not None:
        yield found


def _leading_to(place: _Place, walked: Sequence[_Walked]) -> list[Step]:
    """Return the steps by which a file came to a place, in the order in which they were walked."""
    edges: dict[_Place, dict[str, list[tuple[_Walked, Changed]]]] = {}
    for one in walked:
        for change in one.changes:
            for came, done in _arrivals(change):
                edges.setdefault(came, {}).setdefault(one.commit.oid, []).append((one, done))
    found: dict[str, Step] = {}
    seen, ahead = {place}, [place]
    while ahead:
        for oid, arrived in edges.get(ahead.pop(), {}).items():
            one, first = arrived[0]
            if len(arrived) < one.parents:
                continue  # a merge that has it as one of its parents has it: that one tells
            if all(change.old != change.new for _, change in arrived) or one.parents < 2:
                found.setdefault(oid, Step(one.commit, first, merged=one.parents > 1))
            for _, change in arrived:
                before = (change.old_path or change.path, change.old)
                if before not in seen:
                    seen.add(before)
                    ahead.append(before)
    return [found[oid] for oid in dict.fromkeys(one.commit.oid for one in walked) if oid in found]


def _arrivals(change: Changed) -> Iterator[tuple[_Place, Changed]]:
    """Yield each place that a change fills or empties, with what was done there."""
    if change.path:
        yield (change.path, change.new), change
    if change.old_path and change.old_path != change.path:
        yield (change.old_path, ""), change._replace(path="", new="")


def dates(repository: Repository, commit: str, folder: str) -> dict[str, str]:
    """Return ``{path: ISO date of the last commit that touched it}``, as of a commit."""
    log = plumbing.git(
        repository, "log", "--no-renames", "--no-show-signature", "--relative", "--name-only",
        "-z", "--format=%x01%cI", commit, "--", folder, fetching=False,
    )  # fmt: skip
    found: dict[str, str] = {}
    date = ""
    for entry in log.split(b"\0"):
        text = entry.strip(b"\n").decode("utf-8", "replace")
        if text.startswith("\x01"):
            date = text[1:]
        elif text:
            found.setdefault(text, date)
    return found
