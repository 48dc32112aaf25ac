"""The commit in the making: whose it is, what it changes, and what git's index holds for it.

Owns the questions that a hook asks before a commit. All are answered from the
index that git hands down, so that `git commit PATH` and `git commit -a` are seen
as they will be; nothing is read from the work tree, and nothing is fetched into a
partial clone. Each question costs one git process, however many hooks ask it.
"""

from __future__ import annotations

import contextlib
import os
import re
import subprocess
from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from pathlib import Path
from typing import NamedTuple

from knowrepo.config import REPOSITORY_FILE, find_root
from knowrepo.errors import KnowError, NotARepositoryError
from knowrepo.git import partial, plumbing
from knowrepo.git.layout import Repository, repository_at

_EMPTY = ("e69de29bb2d1d6434b8b29ae775ad8c2e48c5391",
          "473a0f4c3be8a93681a267e3b1e9a7dcda1185436fe141f7749120a303721813")  # fmt: skip
"""An empty file's id; a file that was only announced (`git add -N`) has it too."""
_KEPT_BYTES = 32_000_000  # of blobs, until the end; a commit may bring gigabytes of sessions
_ODD = re.compile("[\udc80-\udcff]")  # bytes that are not UTF-8, as Python lets them through


class Change(NamedTuple):
    """What becomes of a path: A, M, T or D. An oid is empty where there is no regular file."""

    status: str
    path: str
    old: str
    new: str


class NextCommit:
    """What git's index holds for the commit in the making; use it as a context.

    Paths are relative to the repository's root; what lies outside of it is not seen.
    """

    def __init__(self, repository: Repository) -> None:
        self.repository = repository
        self._process: subprocess.Popen[bytes] | None = None
        self._known: dict[str, bytes] = {}
        self._spare = _KEPT_BYTES

    def __enter__(self) -> NextCommit:
        return self

    def __exit__(self, *_: object) -> None:
        self._stop()

    # -- the lists ----------------------------------------------------------------

    @cached_property
    def changes(self) -> tuple[Change, ...]:
        """What differs from HEAD; a rename is a deletion and an addition."""
        listing = self._git(
            "diff", "--cached", "--raw", "-z", "--no-renames", "--no-abbrev", "--relative",
            "--no-ext-diff",
        )  # fmt: skip
        fields = plumbing.names_in(listing)
        found: list[Change] = []
        for head, path in zip(fields[::2], fields[1::2], strict=True):
            before, after, old, new, status = head.removeprefix(":").split(" ")
            old = old if before.startswith("100") else ""
            found.append(Change(status, path, old, new if after.startswith("100") else ""))
        return tuple(found)

    @cached_property
    def files(self) -> dict[str, str]:
        """The regular files, `{path: blob oid}`, but those in conflict or only announced.

        One whose name is not UTF-8 is left out too; see `undecodable`.
        """
        at = self._at
        found = {
            entry[at:]: entry[7 : at - 3]
            for entry in self._entries
            if entry.startswith("100")
            and entry[at - 2] == "0"
            and (entry.isascii() or not _ODD.search(entry))
        }
        if not set(_EMPTY).isdisjoint(found.values()):
            for name in self._announced():
                found.pop(name, None)
        return found

    @cached_property
    def links(self) -> frozenset[str]:
        """The symbolic links."""
        return frozenset(_shown(e[self._at :]) for e in self._entries if e.startswith("120000"))

    @cached_property
    def undecodable(self) -> tuple[str, ...]:
        """The names that are not UTF-8, their odd bytes as `\\xff`."""
        odd = (e for e in self._entries if not e.isascii() and _ODD.search(e))
        return tuple(_shown(entry[self._at :]) for entry in odd)

    @cached_property
    def unmerged(self) -> tuple[str, ...]:
        """The names that a merge left in conflict."""
        at = self._at
        return tuple(sorted({_shown(e[at:]) for e in self._entries if e[at - 2] != "0"}))

    def below(self, folder: str) -> list[str]:
        """Return all that the index holds below ``folder``, which ends with `/`.

        Each is as git lists it, `100644 OID 0<TAB>PATH`, and changes when its file does.
        """
        return [entry for entry in self._entries if entry.startswith(folder, self._at)]

    @cached_property
    def _entries(self) -> list[str]:
        """All that the index holds, as git lists it.

        The fields are as wide in every entry, so those who look for some cut them out
        by their places: there are thousands, and a commit waits for it.
        """
        listing = self._git("ls-files", "--stage", "-z").decode("utf-8", "surrogateescape")
        return listing.split("\0")[:-1]

    @cached_property
    def _at(self) -> int:
        """Where the path begins in an entry."""
        return self._entries[0].index("\t") + 1 if self._entries else 0

    def _announced(self) -> list[str]:
        return plumbing.names_in(
            self._git("diff", "--name-only", "-z", "--diff-filter=A", "--relative", "--no-ext-diff")
        )

    # -- the contents ----------------------------------------------------------------

    def with_words(self, folder: str, words: Iterable[str]) -> list[str]:
        """Return the files below ``folder`` that hold one of ``words``.

        What a partial clone has not got is not looked into.
        """
        wanted = [w.encode("utf-8", "surrogateescape") for w in words if "\n" not in w]
        if not wanted:
            return []
        patterns = b"".join(word + b"\n" for word in wanted)
        try:
            return self._grep("-F", "-f", "-", "--", folder, data=patterns)
        except KnowError:  # git gives up at the first file that it would have to fetch
            files = {p: oid for p, oid in self.files.items() if p.startswith(f"{folder}/")}
            found = zip(files, self.read_all(list(files.values())), strict=True)
            return [p for p, data in found if data and any(word in data for word in wanted)]

    def with_lines(self, paths: Sequence[str], patterns: Iterable[str]) -> list[str]:
        """Return those of ``paths`` that have a line like one of ``patterns``."""
        options = [option for pattern in patterns for option in ("-e", pattern)]
        found: list[str] = []
        for start in range(0, len(paths), 500):  # a command line has an end
            some = [f":(literal){path}" for path in paths[start : start + 500]]
            found += self._grep(*options, "--", *some)
        return found

    def _grep(self, *arguments: str, data: bytes | None = None) -> list[str]:
        options = ("--cached", "--text", "--files-with-matches", "-z")
        return plumbing.names_in(self._git("grep", *options, *arguments, data=data))

    def read_path(self, path: str) -> bytes | None:
        """Return the content of a file as the commit will have it; None where it has none."""
        oid = self.files.get(path)
        return self.read(oid) if oid else None

    def read(self, oid: str) -> bytes | None:
        """Return a blob, or None where this clone has none of that id.

        All are read through one process. Where a partial clone lacks one, that
        process gives up, and the next blob starts another. What one part of the
        hook has read the next need not read again, while that is no burden.
        """
        if oid in self._known:
            return self._known[oid]
        data = self._read(oid)
        if data is not None and len(data) <= self._spare:
            self._known[oid] = data
            self._spare -= len(data)
        return data

    def _read(self, oid: str) -> bytes | None:
        process = self._process or self._start()
        stdin, stdout = process.stdin, process.stdout
        assert stdin is not None
        assert stdout is not None
        try:
            stdin.write(f"{oid}\n".encode())
            stdin.flush()
        except BrokenPipeError:
            self._stop()
            return None
        header = stdout.readline().split()
        if len(header) != 3:
            if not header:
                self._stop()
            return None
        data = stdout.read(int(header[2]))
        stdout.read(1)
        return data

    def read_all(self, oids: Sequence[str]) -> Iterator[bytes | None]:
        """Yield many blobs in order; None for one that this clone has not."""
        return partial.blobs(self.repository, oids)

    def _start(self) -> subprocess.Popen[bytes]:
        try:
            self._process = subprocess.Popen(
                ["git", "-C", str(self.repository.root), "cat-file", "--batch"],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,  # of what is not there, which is told by the answer
                env=plumbing.environment(self.repository) | plumbing.NO_FETCHING,
            )
        except FileNotFoundError as error:
            raise plumbing.no_git() from error
        return self._process

    def _stop(self) -> None:
        process, self._process = self._process, None
        if process is not None:
            assert process.stdin is not None
            assert process.stdout is not None
            with contextlib.suppress(BrokenPipeError):
                process.stdin.close()
            process.stdout.close()
            process.wait()

    def _git(self, *arguments: str, data: bytes | None = None) -> bytes:
        expected = (0, 1) if arguments[0] == "grep" else (0,)
        return plumbing.git(
            self.repository, *arguments, data=data, for_commit=True, fetching=False,
            expected=expected,
        )  # fmt: skip


def _shown(path: str) -> str:
    return path.encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace")


def repository_of_commit(named: Path | None = None) -> Repository:
    """Return the knowledge repository that the commit in the making belongs to.

    It lies in the work tree that git is at work in and nowhere else: not around it,
    not in `KNOW_REPO`, not in the user's configuration. Without ``named`` it is the
    top, or a folder above this one, or the only one below. Raises
    NotARepositoryError where that tells none.
    """
    if named is not None:
        return repository_at(find_root(named))
    here = Path.cwd().resolve()
    top = repository_at(here).work_tree
    for folder in (here, *here.parents):
        if (folder / REPOSITORY_FILE).is_file():
            return repository_at(folder)
        if folder == top:
            break
    outer = repository_at(top)
    listing = plumbing.git(outer, "ls-files", "-z", "--", f"*/{REPOSITORY_FILE}", for_commit=True)
    roots = [os.path.dirname(path) for path in plumbing.names_in(listing)]  # noqa: PTH120
    found = [root for root in roots if (top / root).is_dir()]
    if len(found) == 1:
        return repository_at(top / found[0])
    raise _not_told(top, found)


def _not_told(top: Path, found: Sequence[str]) -> KnowError:
    """Return the error where a hook cannot tell the repository that it is for."""
    if not found:
        return NotARepositoryError(
            f"{top}: no knowledge repository in this work tree (no {REPOSITORY_FILE})",
            hint=f"run `know init {top}`, or take the hooks of know out of this repository",
        )
    return NotARepositoryError(
        f"{top}: several knowledge repositories: {', '.join(sorted(found))}",
        hint="give each a hook of its own, with `args: [--repo, FOLDER]`",
    )
