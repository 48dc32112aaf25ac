"""Commits with dates and authors of their own, and commands as their users run them."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from helpers import Result, git
from knowrepo.cli.main import main


@pytest.fixture
def know(capsys, monkeypatch, repository) -> Callable[..., Result]:
    """Run a command in the repository."""
    monkeypatch.chdir(repository.root)

    def run(*arguments: str) -> Result:
        code = main(list(arguments))
        captured = capsys.readouterr()
        return Result(code, captured.out, captured.err)

    return run


@pytest.fixture
def at(repository, monkeypatch) -> Callable[..., str]:
    """Commit all there is as somebody did on a day; returns the commit."""

    def commit(day: str, message: str = "change", author: str = "Ann") -> str:
        monkeypatch.setenv("GIT_COMMITTER_DATE", f"{day}T12:00:00+00:00")
        git(repository.root, "add", "-A")
        git(
            repository.root, "-c", f"user.name={author}", "commit", "-q", "-m", message,
            f"--date={day}T12:00:00+00:00",
        )  # fmt: skip
        return git(repository.root, "rev-parse", "HEAD").strip()

    return commit
