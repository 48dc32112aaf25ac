"""The checks of what is installed: Python, know, git, SQLite, DuckDB, llama.cpp."""

from __future__ import annotations

import platform
import re
import shutil
import subprocess
import sys

from knowrepo import __version__
from knowrepo.upkeep.doctor.check import Found, Place, fail, ok, warn
from knowrepo.upkeep.doctor.trial import imported

OLDEST_PYTHON = (3, 11)
OLDEST_GIT = (2, 30)
_PIP = "install it: `pip install 'knowrepo[semantic]'`"


def python(_: Place) -> Found:
    """Whether Python is new enough."""
    seen = f"{platform.python_version()}, {platform.system()} {platform.machine()}"
    if sys.version_info[:2] < OLDEST_PYTHON:
        return fail(seen, "install Python 3.11 or newer")
    return ok(seen)


def know(_: Place) -> Found:
    """Whether the programs that hooks call are found."""
    missing = [name for name in ("know", "know-hook") if shutil.which(name) is None]
    if missing:
        return warn(
            f"{__version__}; not on PATH: {', '.join(missing)}",
            "put the folder of know's programs on PATH: git's hooks look for them there",
        )
    return ok(__version__)


def git(_: Place) -> Found:
    """Whether git is there, and new enough."""
    if shutil.which("git") is None:
        return fail("git is not installed", "install git 2.30 or newer")
    done = subprocess.run(["git", "--version"], capture_output=True, text=True, check=False)
    version = re.search(r"(\d+)\.(\d+)(\.\d+)*", done.stdout)
    if done.returncode or version is None:
        return fail(f"git does not run: {done.stderr.strip()[:200]}", "install git 2.30 or newer")
    if (int(version[1]), int(version[2])) < OLDEST_GIT:
        return warn(f"git {version[0]}", "install git 2.30 or newer: older ones are not tested")
    return ok(version[0])


def sqlite(_: Place) -> Found:
    """Whether Python's SQLite has what the catalog needs."""
    from knowrepo.index.catalog import health, schema

    seen = health.sqlite_version()
    if not schema.has_fts5():
        return warn(
            f"{seen}, without FTS5: each search by words reads all of them, and is slower",
            "use a Python whose SQLite is built with FTS5; what is found is the same",
        )
    return ok(f"{seen}, with FTS5")


def duckdb(_: Place) -> Found:
    """Whether DuckDB can be imported, asked of another process."""
    version, problem = imported("duckdb")
    if problem:
        return fail(f"cannot be imported: {problem}", "install it: `pip install duckdb`")
    if not re.match(r"1\.([4-9]|\d\d)\.|2\.", version):
        return warn(version, "install a version that know is made for: `pip install 'duckdb<3'`")
    return ok(version)


def llama_cpp(_: Place) -> Found:
    """Whether llama.cpp can be imported, asked of another process: a bad build kills it."""
    from importlib.util import find_spec

    if find_spec("llama_cpp") is None:
        return warn("llama-cpp-python is not installed: recall works with words", _PIP)
    version, problem = imported("llama_cpp")
    if problem:
        return fail(
            f"cannot be imported: {problem}",
            "build it on this machine: `pip install --force-reinstall --no-binary :all:"
            " --no-deps llama-cpp-python`",
        )
    return ok(version)
