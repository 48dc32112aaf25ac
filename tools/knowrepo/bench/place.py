"""Where measurements happen: a folder of their own, an environment of their own, and clocks.

Nothing of the user's is touched: configuration, state and repositories are the folder's, and
only the embedding model is read from where it lies.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Literal

from knowrepo import config
from knowrepo.errors import KnowError
from knowrepo.git.layout import Repository, repository_at
from knowrepo.index import models
from knowrepo.index.models import Model

Clock = Literal["wall", "cpu"]


@dataclass(frozen=True)
class Spent:
    """What a piece of work took, in seconds; ``peak`` is a process's memory in bytes."""

    wall: float
    cpu: float
    peak: int = 0

    def by(self, clock: Clock) -> float:
        """Return what a clock says."""
        return self.wall if clock == "wall" else self.cpu


@dataclass
class Place:
    """A folder to measure in. ``model`` is the user's, None where there is none."""

    folder: Path
    model: Model | None

    def repository(self, name: str) -> Repository:
        """Make an empty knowledge repository, in place of one of this name."""
        return empty_repository(self.folder / name)

    def drop(self, name: str) -> None:
        """Remove a repository that is no longer needed: corpora are large."""
        shutil.rmtree(self.folder / name, ignore_errors=True)


def empty_repository(root: Path) -> Repository:
    """Make an empty knowledge repository at ``root``, in place of what is there."""
    shutil.rmtree(root, ignore_errors=True)
    for folder in ("concepts", "sessions"):
        (root / folder).mkdir(parents=True)
    subprocess.run(["git", "init", "-q", str(root)], check=True, capture_output=True)
    (root / "know.toml").write_text("format = 1\n", encoding="utf-8")
    return repository_at(root.resolve())


@contextlib.contextmanager
def prepared(model: str = "") -> Iterator[Place]:
    """Give a place; ``model`` is a path, or a name of the registry, if not the user's own."""
    given = model_path(model) if model else ""
    own = models.current() if not given else None
    with tempfile.TemporaryDirectory(prefix="know-bench-") as temporary:
        folder = Path(temporary)
        (folder / "config.toml").touch()
        settings = {
            "KNOW_CONFIG": str(folder / "config.toml"),
            "KNOW_CACHE": str(config.cache_dir()),
            "KNOW_STATE": str(folder / "state"),
            "KNOW_MODEL": given or (str(own.path) if own and os.environ.get("KNOW_MODEL") else ""),
            "GIT_CONFIG_GLOBAL": os.devnull,
            "GIT_CONFIG_SYSTEM": os.devnull,
        }
        with _environment(settings):
            yield Place(folder, models.current())


def model_path(model: str) -> str:
    """Return the file of a model of the registry, or of a path. Raises KnowError."""
    path = Path(model).expanduser()
    if path.is_file():
        return str(path.resolve())
    found = models.installed(models.find(model))
    if found is None:
        raise KnowError(f"{model}: not here", hint=f"`know model pull {model}` fetches it")
    return str(found)


@contextlib.contextmanager
def _environment(settings: dict[str, str]) -> Iterator[None]:
    """Set variables, and drop those that say where the user's things are."""
    before = dict(os.environ)
    for name in [name for name in os.environ if name.startswith(("GIT_", "KNOW_"))]:
        del os.environ[name]
    os.environ.update({name: value for name, value in settings.items() if value})
    try:
        yield
    finally:
        os.environ.clear()
        os.environ.update(before)


# -- clocks -----------------------------------------------------------------------


def spent(work: Callable[[], object]) -> Spent:
    """Do a piece of work in this process; what its children spent counts too."""
    wall, cpu = time.perf_counter(), _processor_time()
    work()
    return Spent(time.perf_counter() - wall, _processor_time() - cpu)


def _processor_time() -> float:
    times = os.times()
    return time.process_time() + times.children_user + times.children_system


def in_process(arguments: Sequence[str], folder: Path) -> Spent:
    """Run a Python process to its end; raises KnowError where it fails."""
    started = time.perf_counter()
    with tempfile.TemporaryFile() as told:
        process = subprocess.Popen(
            [sys.executable, *arguments], cwd=folder, stdin=subprocess.DEVNULL,
            stdout=told, stderr=subprocess.STDOUT,
        )  # fmt: skip
        try:
            _, status, used = os.wait4(process.pid, 0)
        except BaseException:
            process.kill()
            process.wait()
            raise
        process.returncode = os.waitstatus_to_exitcode(status)
        wall = time.perf_counter() - started
        if process.returncode:
            told.seek(0)
            last = told.read().decode("utf-8", "replace").strip().splitlines()[-1:]
            raise KnowError(f"{' '.join(arguments)}: ended with {process.returncode}: {last}")
    unit = 1 if sys.platform == "darwin" else 1024
    return Spent(wall, used.ru_utime + used.ru_stime, used.ru_maxrss * unit)


def in_turn(rounds: int, *works: Callable[[], Spent]) -> list[list[Spent]]:
    """Do several kinds of work in turn, ``rounds`` times: what disturbs one disturbs all."""
    found: list[list[Spent]] = [[] for _ in works]
    for _ in range(rounds):
        for work, spents in zip(works, found, strict=True):
            spents.append(work())
    return found


def ratio(of: Sequence[Spent], to: Sequence[Spent], clock: Clock = "cpu") -> float:
    """Return the median of the ratios of what was done in turn."""
    pairs = zip(of, to, strict=True)
    return median(a.by(clock) / max(b.by(clock), 1e-9) for a, b in pairs)


def middle(spents: Sequence[Spent], clock: Clock = "cpu") -> float:
    """Return the median seconds."""
    return median(one.by(clock) for one in spents)
