"""The git plumbing that the index needs often: listing and reading blobs.

Owns the git processes that run on a hot path, where importing GitPython would
cost more than the work. Everything is NUL-separated, nothing goes through a
shell, and the environment is scrubbed of `GIT_*`: a hook hands down `GIT_DIR` and
`GIT_INDEX_FILE`, which are right for its own repository (`git commit PATH` uses a
temporary index) and ruinous for any other.
"""

from __future__ import annotations

import contextlib
import os
import shlex
import subprocess
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from knowrepo.errors import KnowError
from knowrepo.git.layout import Repository

_KEPT = frozenset({"GIT_SSH", "GIT_SSH_COMMAND", "GIT_ASKPASS", "GIT_EXEC_PATH", "GIT_TRACE"})
_LOCKED = "another git is at work: run this again when it is done; if it crashed, remove that file"
# The second is for a git that does not know the first: no way to fetch is allowed.
NO_FETCHING = {"GIT_NO_LAZY_FETCH": "1", "GIT_ALLOW_PROTOCOL": ""}
_LOCKS = ("index.lock", "could not lock config file")
_WAITS = (0.05, 0.1, 0.2, 0.4, 0.8)


def _is_users(name: str) -> bool:
    """Tell what a user sets for all of git from what git hands down for one repository."""
    return name in _KEPT or name.startswith("GIT_CONFIG")


def environment(repository: Repository, *, for_commit: bool = False) -> dict[str, str]:
    """Return the environment for a git process on ``repository``.

    git finds the repository by the folder it runs in, so nothing that a hook
    hands down is needed, but the index of the commit in the making: with
    ``for_commit`` it is used where it belongs to this very work tree.
    """
    env = {k: v for k, v in os.environ.items() if not k.startswith("GIT_") or _is_users(k)}
    env["GIT_OPTIONAL_LOCKS"] = "0"  # a look must never contend with the user's own git
    env["LC_ALL"] = "C"
    index = _index_of_commit(repository) if for_commit else None
    if index is not None:
        env["GIT_INDEX_FILE"] = str(index)
    return env


def _index_of_commit(repository: Repository) -> Path | None:
    """Return the index that git handed down, where it is one of this work tree."""
    index = os.environ.get("GIT_INDEX_FILE")
    if not index:
        return None
    path = repository.work_tree / index  # relative to the top, where git runs its hooks
    git_dir = os.environ.get("GIT_DIR")
    if git_dir is not None:
        named = (repository.work_tree / git_dir).resolve()
        return path if named == repository.git_dir.resolve() else None
    return path if repository.git_dir.resolve() in path.resolve().parents else None


def no_git() -> KnowError:
    """Return the error where there is no git to run."""
    return KnowError("git is not installed", hint="install git 2.30 or newer")


def git(
    repository: Repository,
    *arguments: str,
    data: bytes | None = None,
    for_commit: bool = False,
    fetching: bool = True,
    expected: tuple[int, ...] = (0,),
) -> bytes:
    """Run git in the root of ``repository`` and return its standard output.

    Without ``fetching`` a partial clone stays as partial as it is. Raises KnowError
    where git exits with another code than those ``expected``.
    """
    env = environment(repository, for_commit=for_commit)
    try:
        done = subprocess.run(
            ["git", "-C", str(repository.root), *arguments],
            input=data,
            stdin=subprocess.DEVNULL if data is None else None,
            capture_output=True,
            env=env if fetching else env | NO_FETCHING,
            check=False,
        )
    except FileNotFoundError as error:
        raise no_git() from error
    if done.returncode not in expected:
        said = done.stderr.decode("utf-8", "replace").strip().splitlines()
        last = said[-1] if said else "no message"
        why = next((line for line in said if line.startswith(("fatal:", "error:"))), last)
        raise KnowError(
            f"git {arguments[0]} failed in {repository.root}: {why}",
            hint=_hint(why, repository.work_tree),
        )
    return done.stdout


def _hint(why: str, work_tree: Path) -> str:
    if "dubious ownership" in why:
        named = shlex.quote(str(work_tree))
        return f"if you trust its owner: git config --global --add safe.directory {named}"
    return _LOCKED if any(lock in why for lock in _LOCKS) else ""


def tracked(
    repository: Repository, *folders: str, for_commit: bool = False, ours: bool = False
) -> dict[str, str]:
    """Return ``{path: blob oid}`` of the regular files that the git index holds.

    Paths are relative to the repository's root, with `/`. Symbolic links and
    submodules are left out, and so is one whose name is not UTF-8 (see
    `undecodable`), and a path in conflict; with ``ours``, our side of it is given.
    """
    stages = (b"0", b"2") if ours else (b"0",)
    listing = git(repository, "ls-files", "--stage", "-z", "--", *folders, for_commit=for_commit)
    found: dict[str, str] = {}
    for entry in listing.split(b"\0"):
        if not entry:
            continue
        head, _, path = entry.partition(b"\t")
        mode, oid, stage = head.split(b" ")
        if mode.startswith(b"100") and stage in stages:
            with contextlib.suppress(UnicodeDecodeError):
                found[path.decode()] = oid.decode()
    return found


def undecodable(repository: Repository, folder: str) -> list[str]:
    """Return the tracked names that are not UTF-8, their odd bytes as `\\xff`."""
    listing = git(repository, "ls-files", "-z", "--", folder)
    odd = [raw for raw in listing.split(b"\0") if raw.decode("utf-8", "replace").encode() != raw]
    return names_in(b"\0".join(odd))


def symbolic_links(repository: Repository, folder: str, *, for_commit: bool = False) -> list[str]:
    """Return the tracked names that are symbolic links."""
    listing = git(
        repository, "ls-files", "--stage", "-z", "--", folder, for_commit=for_commit
    )  # fmt: skip
    return [name.partition("\t")[2] for name in names_in(listing) if name.startswith("120000")]


def ignored(repository: Repository) -> list[str]:
    """Return what git ignores below the root; a folder that it ignores ends with `/`."""
    ignores = ("--others", "--ignored", "--exclude-standard", "--directory")
    return names_in(git(repository, "ls-files", *ignores, "-z"))


def untracked(repository: Repository, folder: str) -> list[str]:
    """Return the names that git neither tracks nor ignores."""
    return names_in(
        git(repository, "ls-files", "--others", "--exclude-standard", "-z", "--", folder)
    )


def left_out(repository: Repository, folder: str) -> list[str]:
    """Return the tracked names that a sparse checkout leaves out of the work tree."""
    listing = names_in(git(repository, "ls-files", "-t", "-z", "--", folder))
    return [name.removeprefix("S ") for name in listing if name.startswith("S ")]


def modified(repository: Repository, folder: str, *, for_commit: bool = False) -> list[str]:
    """Return the tracked names whose file differs from what git's index holds."""
    return names_in(
        git(
            repository, "diff", "--name-only", "-z", "--relative", "--no-ext-diff", "--", folder,
            for_commit=for_commit,
        )
    )  # fmt: skip


def update_index(repository: Repository, paths: Iterable[str]) -> None:
    """Put files as they are into git's index; those that are gone leave it.

    Plumbing: `git add` fails for a file that git does not know and that is not there.
    """
    names = b"".join(os.fsencode(path) + b"\0" for path in paths)
    update = ("update-index", "--add", "--remove", "--ignore-skip-worktree-entries")
    _in_turn(repository, *update, "-z", "--stdin", data=names)


def update_index_with(repository: Repository, files: Mapping[str, bytes]) -> None:
    """Put contents into git's index that the files of the work tree do not have.

    An empty one takes the file out.
    """
    inside = repository.root.relative_to(repository.work_tree)
    gone = b"".join(os.fsencode(path) + b"\0" for path, data in files.items() if not data)
    _in_turn(repository, "update-index", "--force-remove", "-z", "--stdin", data=gone)
    lines: list[bytes] = []
    for path, data in files.items():
        if data:
            oid = git(repository, "hash-object", "-w", "--stdin", data=data).strip()
            name = os.fsencode((inside / path).as_posix())  # from the top, wherever git runs
            lines.append(b"100644 %s\t%s\0" % (oid, name))
    _in_turn(repository, "update-index", "-z", "--index-info", data=b"".join(lines))


def configure(repository: Repository, *arguments: str) -> None:
    """Change this clone's git configuration, as `git config --local` is asked to."""
    _in_turn(repository, "config", "--local", *arguments)


def _in_turn(repository: Repository, *arguments: str, data: bytes | None = None) -> None:
    """Run what writes a file of git's; where another git does just now, wait for it a while."""
    for seconds in _WAITS:
        try:
            git(repository, *arguments, data=data)
        except KnowError as error:
            if error.hint != _LOCKED:
                raise
            time.sleep(seconds)
        else:
            return
    git(repository, *arguments, data=data)


def unmerged(repository: Repository, *folders: str) -> list[str]:
    """Return the names that a merge left in conflict."""
    listing = git(repository, "ls-files", "--unmerged", "-z", "--", *folders)
    return sorted({name.partition("\t")[2] for name in names_in(listing)})


class Entry(NamedTuple):
    """A file of git's index. Stage 2 is ours and 3 theirs, 0 where there is no conflict."""

    path: str
    stage: int
    oid: str


def entries(repository: Repository, folder: str) -> list[Entry]:
    """Return the regular files below ``folder`` that git's index holds, in every stage."""
    found: list[Entry] = []
    for name in names_in(git(repository, "ls-files", "--stage", "-z", "--", folder)):
        head, _, path = name.partition("\t")
        mode, oid, stage = head.split(" ")
        if mode.startswith("100"):
            found.append(Entry(path, int(stage), oid))
    return found


def tree(repository: Repository, commit: str, folder: str) -> dict[str, str]:
    """Return ``{path: blob oid}`` of the regular files in ``folder`` of a commit, not below it."""
    found: dict[str, str] = {}
    for name in names_in(git(repository, "ls-tree", "-z", commit, "--", f"{folder}/")):
        head, _, path = name.partition("\t")
        if head.startswith("100"):
            found[path] = head.split(" ")[2]
    return found


def with_lines(repository: Repository, folder: str, patterns: Iterable[str]) -> list[str]:
    """Return the files below ``folder`` with a line that matches one of ``patterns``.

    Looks at those that git tracks, as they are in the work tree, and at new ones.
    """
    options = [option for pattern in patterns for option in ("-e", pattern)]
    listing = git(
        repository, "grep", "--untracked", "--text", "--files-with-matches", "-z", *options,
        "--", folder, expected=(0, 1),
    )  # fmt: skip
    return names_in(listing)


def names_in(listing: bytes) -> list[str]:
    """Return the names of a listing that NUL separates, odd bytes as `\\xff`."""
    return [raw.decode("utf-8", "backslashreplace") for raw in listing.split(b"\0") if raw]


def blobs(repository: Repository, oids: Sequence[str]) -> Iterator[bytes | None]:
    """Yield the content of each blob, in order; None for one that is not there."""
    if oids:
        names = "".join(f"{oid}\n" for oid in oids).encode()
        yield from contents_in(git(repository, "cat-file", "--batch", data=names), len(oids))


def contents_in(output: bytes, number: int) -> Iterator[bytes | None]:
    """Yield the contents of so many objects that `git cat-file --batch` gave."""
    position = 0
    for _ in range(number):
        end = output.index(b"\n", position)
        header = output[position:end].split(b" ")
        position = end + 1
        if header[-1] == b"missing":
            yield None
            continue
        size = int(header[2])
        yield output[position : position + size]
        position += size + 1


def in_history(repository: Repository, paths: Sequence[str]) -> list[str]:
    """Return those of ``paths`` that some commit of any branch holds."""
    return [
        path
        for path in paths
        if git(repository, "log", "--all", "-1", "--format=%H", "--", f":(literal){path}").strip()
    ]


def commit_dates(repository: Repository, folder: str) -> dict[str, str]:
    """Return ``{path: ISO date of the last commit that touched it}`` for a folder."""
    if not has_commits(repository):
        return {}
    log = git(
        repository, "log", "--no-renames", "--relative", "--name-only", "-z",
        "--format=%x01%cI", "--", folder, fetching=False,
    )  # fmt: skip
    dates: dict[str, str] = {}
    date = ""
    for entry in log.split(b"\0"):
        text = entry.strip(b"\n").decode("utf-8", "replace")
        if text.startswith("\x01"):
            date = text[1:].strip()
        elif text:
            dates.setdefault(text, date)  # newest first: the first one seen counts
    return dates


def has_commits(repository: Repository) -> bool:
    """Say whether HEAD names a commit yet."""
    return is_commit(repository, "HEAD")


def is_commit(repository: Repository, name: str) -> bool:
    """Say whether ``name``, as HEAD or MERGE_HEAD, names a commit."""
    return bool(git(repository, "rev-parse", "--verify", "--quiet", name, expected=(0, 1)))
