"""Running the steps of an action as its host does: conditions, expressions, shell, environment.

Only what our own files use is understood; anything else fails, so that a step is
never taken for one that ran.
"""

from __future__ import annotations

import re
import subprocess
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

_EXPRESSION = re.compile(r"\$\{\{\s*(.*?)\s*\}\}", re.DOTALL)
_SHELL = ["bash", "--noprofile", "--norc", "-eo", "pipefail"]


@dataclass
class Ran:
    """What became of the steps, by name: the outcome, and what each printed."""

    outcomes: dict[str, str] = field(default_factory=dict)
    printed: dict[str, str] = field(default_factory=dict)
    outputs: dict[str, dict[str, str]] = field(default_factory=dict)
    summary: str = ""

    @property
    def failed(self) -> list[str]:
        return [name for name, outcome in self.outcomes.items() if outcome == "failure"]


def job_of(workflow: Mapping[str, Any], github: Mapping[str, str]) -> dict[str, Any]:
    """Return the one job of a workflow that runs; ``github`` are values of its context."""

    def value(word: str) -> str:
        return word.strip("'") if word.startswith("'") else github[word.removeprefix("github.")]

    def holds(condition: str) -> bool:
        sides = (part.strip().split(" == ") for part in condition.split("&&"))
        return all(value(left) == value(right) for left, right in sides)

    (job,) = (job for job in workflow["jobs"].values() if holds(job["if"]))
    assert isinstance(job, dict)
    return job


def run_steps(
    action: Mapping[str, Any],
    given: Mapping[str, str],
    *,
    workspace: Path,
    temp: Path,
    environment: Mapping[str, str],
    replaced: Mapping[str, str] = {},
    only: Collection[str] = (),
) -> Ran:
    """Run the `run:` steps of a composite action in order; `uses:` steps only succeed.

    ``replaced`` are scripts that stand in for those of steps, by name. With ``only``
    the other steps, where their condition holds, count as done.
    """
    ran = Ran()
    inputs = {name: str(one.get("default", "")) for name, one in action["inputs"].items()}
    inputs.update(given)
    names = {step["id"]: step["name"] for step in action["runs"]["steps"] if "id" in step}
    summary = temp / "summary"
    summary.touch()

    def value(name: str) -> str:
        scope, _, rest = name.partition(".")
        if scope == "inputs":
            return inputs[rest]
        if name == "runner.temp":
            return str(temp)
        if name == "github.event_name":
            return environment["GITHUB_EVENT_NAME"]
        match = re.fullmatch(r"steps\.(\w+)\.(?:outcome|outputs\.([\w-]+))", name)
        assert match is not None, name
        if match[2] is None:
            return ran.outcomes.get(names[match[1]], "")
        return ran.outputs.get(match[1], {}).get(match[2], "")

    def holds(condition: str) -> bool:
        whole = _EXPRESSION.fullmatch(condition)
        parts = [part.strip() for part in (whole[1] if whole else condition).split("&&")]
        always = "!cancelled()" in parts
        if ran.failed and not always:
            return False
        for part in parts:
            if part == "!cancelled()":
                continue
            match = re.fullmatch(r"([\w.-]+) (==|!=) '([^']*)'", part)
            assert match is not None, part
            if (value(match[1]) == match[3]) != (match[2] == "=="):
                return False
        return True

    for number, step in enumerate(action["runs"]["steps"]):
        name = step["name"]
        if not holds(step["if"]) if "if" in step else bool(ran.failed):
            ran.outcomes[name] = "skipped"
            continue
        if "run" not in step or (only and name not in only):
            ran.outcomes[name] = "success"
            continue
        script = temp / f"step-{number}.sh"
        script.write_text(replaced.get(name, step["run"]), encoding="utf-8")
        output = temp / f"output-{number}"
        output.touch()
        assert step["shell"] == "bash"
        own = {
            key: _EXPRESSION.sub(lambda match: value(match[1]), str(text))
            for key, text in step.get("env", {}).items()
        }
        done = subprocess.run(
            [*_SHELL, str(script)], cwd=workspace, check=False, text=True,
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
            env={
                **environment, **own, "GITHUB_OUTPUT": str(output),
                "GITHUB_STEP_SUMMARY": str(summary),
            },
        )  # fmt: skip
        ran.outcomes[name] = "failure" if done.returncode else "success"
        ran.printed[name] = done.stdout
        if "id" in step:
            lines = output.read_text(encoding="utf-8").splitlines()
            ran.outputs[step["id"]] = dict(line.split("=", 1) for line in lines)
    ran.summary = summary.read_text(encoding="utf-8")
    return ran
