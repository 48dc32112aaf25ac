"""Telling git how the archive is merged.

Owns the entry in this clone's own git configuration. A repository names a merge
driver in `.gitattributes`, but git takes the command only from the user's side:
where it is not installed, git merges line by line, and may find a conflict.
"""

from __future__ import annotations

import shlex
import sys

from knowrepo.git.layout import Repository
from knowrepo.git.plumbing import git

SESSION_DRIVER = "know-session"


def install(repository: Repository) -> bool:
    """Name the driver for sessions in this clone's configuration; says whether it was new."""
    command = f"{shlex.quote(sys.executable)} -m knowrepo hook merge-session %O %A %B %P"
    wanted = {
        f"merge.{SESSION_DRIVER}.name": "join two copies of an archived session",
        f"merge.{SESSION_DRIVER}.driver": command,
    }
    changed = False
    for key, value in wanted.items():
        if _configured(repository, key) != value:
            git(repository, "config", "--local", key, value)
            changed = True
    return changed


def _configured(repository: Repository, key: str) -> str:
    entries = git(repository, "config", "--local", "--null", "--list").decode("utf-8", "replace")
    found = [entry.partition("\n") for entry in entries.split("\0")]
    return next((value for name, _, value in reversed(found) if name == key), "")
