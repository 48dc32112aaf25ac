"""What must hold of action.yml and of every workflow, whoever edits them."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

ROOT = Path(__file__).resolve().parents[1]
ACTION = ROOT / "action.yml"
WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.y*ml"))
FILES = [ACTION, *WORKFLOWS]
_PINNED = re.compile(r"[\w.-]+/[\w./-]+@[0-9a-f]{40}")


def loaded(path: Path) -> dict[Any, Any]:
    found = yaml.safe_load(path.read_text(encoding="utf-8"))
    assert isinstance(found, dict)
    return found


def jobs(path: Path) -> dict[str, dict[str, Any]]:
    return loaded(path)["jobs"] if path != ACTION else {}


def steps(path: Path) -> Iterator[dict[str, Any]]:
    if path == ACTION:
        yield from loaded(path)["runs"]["steps"]
    for job in jobs(path).values():
        yield from job["steps"]


def ids(path: Path) -> str:
    return path.name


@pytest.fixture(params=FILES, ids=ids)
def file(request) -> Path:
    return request.param


@pytest.fixture(params=WORKFLOWS, ids=ids)
def workflow(request) -> Path:
    return request.param


def test_there_is_something_to_look_at():
    assert {path.name for path in FILES} >= {"action.yml", "ci.yml", "knowledge.yml"}
    assert all(list(steps(path)) for path in FILES)


def test_every_foreign_action_is_pinned_by_a_whole_commit_and_says_its_version(file):
    used = [step["uses"] for step in steps(file) if "uses" in step]
    foreign = [one for one in used if one != "./"]
    assert all(_PINNED.fullmatch(one) for one in foreign), foreign
    for line in file.read_text(encoding="utf-8").splitlines():
        if re.match(r"\s*(?:- )?uses: (?!\./$)", line):
            assert re.search(r"@[0-9a-f]{40} # v\d+\.\d+\.\d+$", line), line


def test_an_action_is_at_one_version_everywhere():
    pins: dict[str, set[str]] = {}
    for path in FILES:
        for step in steps(path):
            name, _, commit = step.get("uses", "").partition("@")
            if commit:
                pins.setdefault(name, set()).add(commit)
    assert pins
    assert all(len(commits) == 1 for commits in pins.values()), pins


def test_a_workflow_may_only_read_but_for_one_job_of_the_default_branch(workflow):
    assert loaded(workflow)["permissions"] == {"contents": "read"}
    for job in jobs(workflow).values():
        if "permissions" in job:
            assert job["permissions"] == {"contents": "write"}
            assert "github.event_name == 'push'" in job["if"]
            assert "github.event.repository.default_branch" in job["if"]


def test_no_workflow_runs_with_rights_for_what_a_fork_sends(workflow):
    triggers = loaded(workflow)[True]  # YAML 1.1 reads `on` as a truth
    assert set(triggers) <= {"push", "pull_request"}


def test_every_job_ends_in_time_and_gives_way_to_a_newer_run(workflow):
    assert "group" in loaded(workflow)["concurrency"]
    for name, job in jobs(workflow).items():
        assert 0 < job["timeout-minutes"] <= 90, name


def test_nothing_is_put_into_a_script_by_the_host(file):
    for step in steps(file):
        assert "${{" not in step.get("run", ""), step


def test_every_script_of_the_action_names_its_shell():
    for step in steps(ACTION):
        assert ("run" in step) == (step.get("shell") == "bash"), step


def test_the_scripts_of_the_action_are_sound():
    for step in steps(ACTION):
        if "run" in step:
            done = subprocess.run(
                ["bash", "-n"], input=step["run"], text=True, capture_output=True, check=False
            )
            assert done.returncode == 0, done.stderr


def test_python_never_looks_into_the_folder_of_a_pull_request():
    for step in steps(ACTION):
        for call in re.findall(r"python\"? (\S+)", step.get("run", "")):
            assert call == "-I", step


def test_credentials_stay_in_the_checkout_only_where_something_is_pushed(workflow):
    for job in jobs(workflow).values():
        for step in job["steps"]:
            if step.get("uses", "").startswith("actions/checkout@"):
                pushes = job.get("permissions") == {"contents": "write"}
                assert step["with"]["persist-credentials"] is pushes


def test_what_writes_is_off_unless_asked_for():
    inputs = loaded(ACTION)["inputs"]
    assert all(one["description"] for one in inputs.values())
    for name in ("rebuild", "push-vectors", "pull-vectors"):
        assert inputs[name]["default"] == "false"


def test_the_scanner_of_workflows_finds_nothing():
    scanner = Path(sys.executable).with_name("zizmor")
    done = subprocess.run(
        [scanner, "--offline", "--no-progress", "--config", ROOT / ".github" / "zizmor.yml",
         ACTION, ROOT / ".github" / "workflows"],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
