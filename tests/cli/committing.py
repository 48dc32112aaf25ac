"""Commits as a person makes them, through whatever hooks there are."""

from __future__ import annotations

import shlex
import subprocess
from collections.abc import Mapping
from pathlib import Path

from helpers import git

_NAMED = "now add it to the commit: git add "


def commit(
    folder: Path, *arguments: str, environment: Mapping[str, str] | None = None
) -> tuple[int, str]:
    """Commit; returns the exit code and all that was said."""
    return run_git(folder, "commit", "-m", "x", *arguments, environment=environment)


def run_git(
    folder: Path, *arguments: str, environment: Mapping[str, str] | None = None
) -> tuple[int, str]:
    """Run git, which may call hooks; returns the exit code and all that was said."""
    done = subprocess.run(
        ["git", "-C", str(folder), *arguments],
        capture_output=True, text=True, encoding="utf-8", check=False, env=environment,
    )  # fmt: skip
    return done.returncode, done.stdout + done.stderr


def add_what_is_named(top: Path, said: str) -> list[str]:
    """Do what the hook says, where git runs it; returns the files."""
    named = next(line.partition(_NAMED)[2] for line in said.splitlines() if _NAMED in line)
    files = shlex.split(named)
    git(top, "add", "--", *files)
    return files


def commit_with_tags(
    top: Path, *arguments: str, environment: Mapping[str, str] | None = None
) -> None:
    """Commit, add what the hook names, and commit again."""
    code, said = commit(top, *arguments, environment=environment)
    assert code == 1, said
    add_what_is_named(top, said)
    code, said = commit(top, *arguments, environment=environment)
    assert code == 0, said


def head(folder: Path, path: str) -> str:
    """Return a file of the last commit."""
    return git(folder, "show", f"HEAD:{path}")


def state(folder: Path) -> tuple[str, dict[str, bytes]]:
    """Return all that a commit elsewhere must not touch: git's index and the files."""
    files = {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file() and ".git" not in path.relative_to(folder).parts
    }
    return git(folder, "ls-files", "--stage"), files
