"""Running commands in this process, as their users do."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from helpers import Result
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
