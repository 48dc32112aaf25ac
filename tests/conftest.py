"""Every test has a home, a configuration and a git identity of its own."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import settings

from helpers import Result, git, make_repository
from knowrepo.git.layout import Repository

# The same examples in every run: a change is judged by what it changes. Others are
# tried with `HYPOTHESIS_PROFILE=explore`.
settings.register_profile("same", derandomize=True, deadline=None)
settings.register_profile("explore", deadline=None)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "same"))
_AGENTS = {"CODEX_HOME", "GEMINI_CLI_HOME", "COPILOT_HOME", "PI_CODING_AGENT_DIR"}


@pytest.fixture(autouse=True)
def own_environment(tmp_path_factory: pytest.TempPathFactory, monkeypatch) -> Path:
    """Keep the user's files out of reach; the model cache alone is shared, for it is big."""
    home = tmp_path_factory.mktemp("home")
    for name in list(os.environ):
        own = name.startswith(("GIT_", "KNOW_", "XDG_")) or name in _AGENTS
        if own and name != "KNOW_CACHE":
            monkeypatch.delenv(name)
    from knowrepo import config

    monkeypatch.setenv("KNOW_CACHE", str(config.cache_dir()))
    monkeypatch.setenv("KNOW_CONFIG", str(home / "config.toml"))
    monkeypatch.setenv("KNOW_STATE", str(home / "state"))
    monkeypatch.delenv("XDG_STATE_HOME", raising=False)
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", str(home / ".claude"))
    (home / ".gitconfig").write_text(
        "[user]\n\tname = Tester\n\temail = tester@example.org\n"
        "[init]\n\tdefaultBranch = main\n[commit]\n\tgpgsign = false\n"
    )
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", str(home / ".gitconfig"))
    monkeypatch.setenv("GIT_CONFIG_SYSTEM", os.devnull)
    return home


@pytest.fixture
def repository(tmp_path: Path) -> Repository:
    return make_repository(tmp_path / "memory")


@pytest.fixture
def know(capsys, monkeypatch, repository) -> Callable[..., Result]:
    """Run a command in the repository, in this process."""
    from knowrepo.cli.main import main

    monkeypatch.chdir(repository.root)

    def run(*arguments: str) -> Result:
        code = main(list(arguments))
        captured = capsys.readouterr()
        return Result(code, captured.out, captured.err)

    return run


@pytest.fixture
def commit(repository: Repository) -> Callable[..., None]:
    def add_all(message: str = "change") -> None:
        git(repository.root, "add", "-A")
        git(repository.root, "commit", "-qm", message)

    return add_all
