"""The wheel as others get it: built from this checkout, installed where nothing else is."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import venv
import zipfile
from pathlib import Path

import pytest

from helpers import concept, make_repository, write

ROOT = Path(__file__).resolve().parents[1]
WHEELHOUSE = ROOT / "build" / "wheelhouse"


@pytest.fixture(scope="module")
def wheel(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("wheel")
    subprocess.run(
        [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--no-index",
         "--find-links", str(WHEELHOUSE), "--wheel-dir", str(folder), str(ROOT)],
        check=True,
    )  # fmt: skip
    (built,) = folder.glob("knowrepo-*.whl")
    return built


def test_the_wheel_holds_the_package_its_licence_and_nothing_else(wheel):
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()
    assert "knowrepo/py.typed" in names
    assert any(name.endswith("licenses/LICENSE") for name in names)
    assert {name.split("/")[0].split("-")[0] for name in names} == {"knowrepo"}


def test_it_installs_and_runs_in_a_clean_environment(wheel, tmp_path):
    folder = tmp_path / "an environment"
    venv.create(folder, with_pip=True)
    python = folder / "bin" / "python"
    subprocess.run(
        [str(python), "-m", "pip", "install", "--quiet", "--no-index", "--find-links",
         str(WHEELHOUSE), str(wheel)],
        check=True,
    )  # fmt: skip
    repository = make_repository(tmp_path / "memory")
    write(repository, "concepts/a.md", concept("Light core", tags=["git"], body="some words"))
    environment = {k: v for k, v in os.environ.items() if not k.startswith("PYTHON")}

    def know(*arguments: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [str(folder / "bin" / "know"), *arguments],
            cwd=repository.root, env=environment, capture_output=True, text=True, check=False,
        )  # fmt: skip

    assert "Light core" in know("recall", "tag:git").stdout
    assert "Light core" in know("recall", "some", "words", "here").stdout
    assert know("check").returncode == 0
    indexed = know("index")
    assert indexed.returncode == 0
    assert "no vectors:" in indexed.stderr
    noted = subprocess.run(
        [str(folder / "bin" / "know-hook")],
        input='{"transcript_path": "/t/a.jsonl", "hook_event_name": "Stop"}',
        env=environment, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert (noted.returncode, noted.stdout, noted.stderr) == (0, "", "")
    waiting = json.loads(know("hooks", "status", "--json").stdout)["queue"]
    assert waiting["waiting"] == 1
    listed = subprocess.run(
        [str(python), "-m", "pip", "list"], capture_output=True, text=True, check=True
    )
    assert "llama" not in listed.stdout
    assert "numpy" not in listed.stdout
