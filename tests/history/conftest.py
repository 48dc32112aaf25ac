"""Commits with dates and authors of their own."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from helpers import git


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
