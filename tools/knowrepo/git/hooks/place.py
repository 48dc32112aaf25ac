"""The folder of the hooks, and whether it is ours to write into.

Owns asking git where it looks. A folder inside the git directory belongs to this
clone. Any other is shared, with a team where it is tracked (husky), or with all of
a user's repositories where it is configured for all of them: there nothing is
written, and a person is told what to add.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

from knowrepo.git.layout import Repository
from knowrepo.git.plumbing import git, names_in


@dataclass(frozen=True)
class Place:
    """Where hooks are. ``shared`` says why nothing may be written there; '' where it may.

    ``scripts`` is the folder whose files a person edits: husky's own is made anew.
    """

    folder: Path
    shared: str = ""
    scripts: Path = Path()


def find(repository: Repository) -> Place:
    """Return the folder that git takes this clone's hooks from."""
    # git tells it from the folder that it runs in, or from the root of the disk.
    told = git(repository, "rev-parse", "--git-path", "hooks").rstrip(b"\n")
    folder = Path(os.path.normpath(repository.root / os.fsdecode(told)))
    real = folder.resolve()
    if real.is_relative_to(repository.common_dir.resolve()):
        return Place(folder, scripts=folder)
    if folder.name == "_" and (folder.parent.name == ".husky" or (folder / "h").is_file()):
        why = "husky looks after it, and makes it anew"
        return Place(folder, why, folder.parent)
    if not real.is_relative_to(repository.work_tree.resolve()):
        return Place(folder, "it lies outside of this clone, so others may use it too", folder)
    if names_in(git(repository, "ls-files", "-z", "--", str(folder))):
        return Place(folder, "git tracks it, so it is everybody's", folder)
    return Place(folder, "it lies in the work tree, where git may come to track it", folder)
