"""What pre-commit calls, in the form in which git runs it."""

from __future__ import annotations

import json
import os
import shlex
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from helpers import git


@pytest.fixture(scope="session")
def pre_commit_hook(tmp_path_factory) -> tuple[str, str]:
    """What `pre-commit install` puts into a clone, and a command that is this very `know`.

    The command needs no environment: neither a path nor a home.
    """
    folder = tmp_path_factory.mktemp("hook é")
    environment = {**os.environ, "GIT_CONFIG_GLOBAL": os.devnull, "PRE_COMMIT_HOME": str(folder)}
    subprocess.run(["git", "init", "-q", folder], check=True, env=environment)
    (folder / ".pre-commit-config.yaml").write_text("repos: []\n")
    subprocess.run(
        [sys.executable, "-m", "pre_commit", "install"],
        cwd=folder, check=True, capture_output=True, env=environment,
    )  # fmt: skip
    package = Path(__file__).resolve().parents[2] / "tools"
    program = folder / "know.py"
    program.write_text(
        f"import sys; sys.path.insert(0, {str(package)!r})\n"
        "from knowrepo.__main__ import entry; entry()\n",
        encoding="utf-8",
    )
    hook = (folder / ".git/hooks/pre-commit").read_text(encoding="utf-8")
    return hook, shlex.join([sys.executable, str(program)])


@pytest.fixture
def hook_up(pre_commit_hook, tmp_path_factory, monkeypatch) -> Callable[..., None]:
    """Have the commits of a work tree pass through `know hook pre-commit`, run by pre-commit."""
    hook, know = pre_commit_hook
    monkeypatch.setenv("PRE_COMMIT_HOME", str(tmp_path_factory.mktemp("pre-commit")))

    def hook_up(top: Path, *arguments: str) -> None:
        entry = f"{know} {shlex.join(['hook', 'pre-commit', *arguments])}"
        (top / ".pre-commit-config.yaml").write_text(
            "repos:\n- repo: local\n  hooks:\n"
            f"  - {{id: know-commit, name: know, entry: {json.dumps(entry)}, language: system,\n"
            "     always_run: true, pass_filenames: false, verbose: true}\n",
            encoding="utf-8",
        )
        file = top / git(top, "rev-parse", "--git-path", "hooks/pre-commit").strip()
        file.parent.mkdir(exist_ok=True)
        file.write_text(hook, encoding="utf-8")
        file.chmod(0o755)
        git(top, "add", ".pre-commit-config.yaml")

    return hook_up
