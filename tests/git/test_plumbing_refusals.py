"""Where git refuses: who changes its files at once waits, and what to do is said."""

from __future__ import annotations

import os
import threading

import pytest

from helpers import git
from knowrepo.errors import KnowError
from knowrepo.git import plumbing


def test_a_configuration_that_another_git_is_writing_is_waited_for(repository):
    lock = repository.common_dir / "config.lock"
    lock.touch()
    threading.Timer(0.2, lock.unlink).start()
    plumbing.configure(repository, "know.test", "x")
    assert git(repository.root, "config", "know.test") == "x\n"


def test_a_lock_that_a_crashed_git_left_is_named_with_what_to_do(repository, monkeypatch):
    monkeypatch.setattr(plumbing, "_WAITS", (0.001,))
    (repository.common_dir / "config.lock").touch()
    with pytest.raises(KnowError, match="could not lock config file") as told:
        plumbing.configure(repository, "know.test", "x")
    assert "if it crashed, remove that file" in told.value.hint


def test_a_repository_of_another_user_is_refused_with_what_to_do(repository, monkeypatch):
    refusing = {**os.environ, "GIT_TEST_ASSUME_DIFFERENT_OWNER": "1", "LC_ALL": "C"}
    monkeypatch.setattr(plumbing, "environment", lambda *_, **__: refusing)
    with pytest.raises(KnowError, match="dubious ownership") as told:
        plumbing.git(repository, "status")
    assert told.value.hint.endswith(f"git config --global --add safe.directory {repository.root}")
