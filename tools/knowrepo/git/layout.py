"""Where a knowledge repository and its derived files are, found without running git.

Owns the `Repository` value that everything else is given. It reads the two
small files by which git itself finds its folders (`.git` as a file, and
`commondir`), because a recall must not pay for a process or for GitPython.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from knowrepo.config import find_root
from knowrepo.errors import KnowError, NotARepositoryError


@dataclass(frozen=True)
class Repository:
    """A knowledge repository: a folder with `concepts/` and `sessions/` under git.

    ``root`` is that folder; it may lie below ``work_tree``, the top of the git
    work tree. ``git_dir`` belongs to this work tree alone, ``common_dir`` to
    all work trees of the repository.
    """

    root: Path
    work_tree: Path
    git_dir: Path
    common_dir: Path

    @property
    def concepts(self) -> Path:
        """The OKF bundle."""
        return self.root / "concepts"

    @cached_property
    def sessions(self) -> Path:
        """The archived transcripts."""
        return self.root / "sessions"

    @cached_property
    def git_index(self) -> Path:
        """Git's own index file of this work tree."""
        return self.git_dir / "index"

    @cached_property
    def catalog(self) -> Path:
        """What names the SQLite catalog, one for each work tree; see `index.catalog.files`."""
        return self._derived(self.git_dir) / "catalog.db"

    @property
    def vectors(self) -> Path:
        """The folder of vector segments, shared by all work trees."""
        return self.common_dir / "know" / "vectors"

    @property
    def logs(self) -> Path:
        """The folder of the logs, one for all work trees."""
        return self.common_dir / "know" / "logs"

    @property
    def locks(self) -> Path:
        """The folder of this work tree's lock files, and of what is made before it is moved."""
        return self._derived(self.git_dir)

    def inside(self, path: Path) -> Path:
        """Return ``path`` where it leads to a place in this repository.

        A clone may bring a symbolic link in place of any folder; following it
        would read or write what is not the repository's.
        """
        if not path.resolve().is_relative_to(self.root.resolve()):
            raise KnowError(
                f"{path}: leads out of the repository, to {path.resolve()}",
                hint="remove the symbolic link",
            )
        return path

    def _derived(self, base: Path) -> Path:
        # A git work tree may hold several knowledge repositories, each in a
        # folder of its own; their catalogs must not meet.
        inside = self.root.relative_to(self.work_tree).as_posix()
        if inside == ".":
            return base / "know"
        return base / "know" / hashlib.sha256(inside.encode()).hexdigest()[:12]


def open_repository(explicit: Path | None = None, *, start: Path | None = None) -> Repository:
    """Find the knowledge repository to work in; see `config.find_root` for the order."""
    return repository_at(find_root(explicit, start=start))


def repository_at(root: Path) -> Repository:
    """Return the repository whose knowledge lies in ``root``.

    Raises NotARepositoryError where no git work tree holds that folder.
    """
    for folder in (root, *root.parents):
        marker = folder / ".git"
        if marker.exists():
            git_dir = _git_dir(marker)
            return Repository(
                root=root,
                work_tree=folder,
                git_dir=git_dir,
                common_dir=_common_dir(git_dir),
            )
        if (folder / "HEAD").is_file() and (folder / "objects").is_dir():
            raise NotARepositoryError(
                f"{folder}: a bare git repository has no files to work on",
                hint="clone it, and work in the clone",
            )
    raise NotARepositoryError(
        f"{root}: not in a git repository",
        hint="run `git init` there, then `know init`",
    )


def _git_dir(marker: Path) -> Path:
    if marker.is_dir():
        return marker
    # A linked work tree or a submodule has a file `.git` that says where.
    try:
        text = marker.read_text(encoding="utf-8", errors="surrogateescape")
    except OSError as error:
        raise NotARepositoryError(f"{marker}: cannot be read: {error.strerror}") from error
    if not text.startswith("gitdir:"):
        raise NotARepositoryError(f"{marker}: not a git folder, nor a pointer to one")
    target = (marker.parent / text.removeprefix("gitdir:").strip()).resolve()
    if not target.is_dir():
        raise NotARepositoryError(
            f"{marker}: points to {target}, which is not there",
            hint="`git worktree repair` mends a moved work tree",
        )
    return target


def _common_dir(git_dir: Path) -> Path:
    pointer = git_dir / "commondir"
    if not pointer.is_file():
        return git_dir
    return (git_dir / pointer.read_text(encoding="utf-8").strip()).resolve()
