"""Machines that share one bare remote."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from machines import FINGERPRINT, Machine, cloned, first, use_words

from helpers import Result, WordEmbedder
from knowrepo.cli.main import main


@pytest.fixture
def words(monkeypatch) -> WordEmbedder:
    """The embedder that every machine has; it notes which passages it embedded."""
    embedder = WordEmbedder(FINGERPRINT)
    use_words(monkeypatch.setattr, embedder)
    return embedder


@pytest.fixture
def run(capsys) -> Callable[..., Result]:
    def know(*arguments: str) -> Result:
        code = main(list(arguments))
        captured = capsys.readouterr()
        return Result(code, captured.out, captured.err)

    return know


@pytest.fixture
def remote(tmp_path: Path) -> Path:
    return tmp_path / "remote.git"


@pytest.fixture
def one(tmp_path: Path, remote: Path, run, words) -> Machine:
    return first(tmp_path / "one", remote, run)


@pytest.fixture
def another(tmp_path: Path, remote: Path, run) -> Callable[..., Machine]:
    """Clone the remote once more."""
    names = iter("abcdefgh")

    def clone(*options: str) -> Machine:
        return cloned(remote, tmp_path / f"clone-{next(names)}", run, *options)

    return clone


@pytest.fixture
def other(one: Machine, another: Callable[..., Machine]) -> Machine:
    """A clone with one good pack on its remote, and what else a test plants there."""
    one.concept("a")
    one.share()
    return another()
