"""The commit in the making: what it changes, and what git's index holds for it.

Owns the questions that a hook asks before a commit. All are answered from the
index that git hands down, so that `git commit PATH` and `git commit -a` are seen
as they will be; nothing is read from the work tree.
"""

from __future__ import annotations

import contextlib
import subprocess
from collections.abc import Iterable, Sequence

from knowrepo.git.layout import Repository
from knowrepo.git.plumbing import environment, git, names_in, no_git


def staged_changes(repository: Repository, *folders: str) -> list[tuple[str, str]]:
    """Return (status, path) of what the commit in the making changes; a rename is D and A."""
    listing = git(
        repository, "diff", "--cached", "--name-status", "-z", "--no-renames", "--relative",
        "--no-ext-diff", "--", *folders, for_commit=True,
    )  # fmt: skip
    fields = names_in(listing)
    return list(zip(fields[::2], fields[1::2], strict=True))


def with_words(repository: Repository, folder: str, words: Iterable[str]) -> list[str]:
    """Return the files below ``folder`` in the commit in the making that hold one of ``words``."""
    patterns = "".join(f"{word}\n" for word in words if "\n" not in word)
    if not patterns:
        return []
    listing = git(
        repository, "grep", "--cached", "--text", "--files-with-matches", "-z", "-F", "-f", "-",
        "--", folder, data=patterns.encode("utf-8", "surrogateescape"), for_commit=True,
        expected=(0, 1),
    )  # fmt: skip
    return names_in(listing)


def staged_with_lines(
    repository: Repository, paths: Sequence[str], patterns: Iterable[str]
) -> list[str]:
    """Return those of ``paths`` in the commit in the making that have a line like a pattern."""
    options = [option for pattern in patterns for option in ("-e", pattern)]
    found: list[str] = []
    for start in range(0, len(paths), 500):  # a command line has an end
        some = [f":(literal){path}" for path in paths[start : start + 500]]
        listing = git(
            repository, "grep", "--cached", "--text", "--files-with-matches", "-z", *options,
            "--", *some, for_commit=True, expected=(0, 1),
        )  # fmt: skip
        found += names_in(listing)
    return found


class BlobReader:
    """Reads blobs one by one through a single git process; use it as a context."""

    def __init__(self, repository: Repository) -> None:
        self._repository = repository
        self._process: subprocess.Popen[bytes] | None = None

    def __enter__(self) -> BlobReader:
        return self

    def __exit__(self, *_: object) -> None:
        if self._process is not None:
            assert self._process.stdin is not None
            assert self._process.stdout is not None
            with contextlib.suppress(BrokenPipeError):
                self._process.stdin.close()
            self._process.stdout.close()
            self._process.wait()

    def read(self, oid: str) -> bytes | None:
        """Return a blob, or None where there is none of that id."""
        if self._process is None:
            self._process = self._start()
        stdin, stdout = self._process.stdin, self._process.stdout
        assert stdin is not None
        assert stdout is not None
        stdin.write(f"{oid}\n".encode())
        stdin.flush()
        header = stdout.readline().split()
        if len(header) != 3:
            return None
        data = stdout.read(int(header[2]))
        stdout.read(1)
        return data

    def _start(self) -> subprocess.Popen[bytes]:
        try:
            return subprocess.Popen(
                ["git", "-C", str(self._repository.root), "cat-file", "--batch"],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                env=environment(self._repository),
            )
        except FileNotFoundError as error:
            raise no_git() from error
