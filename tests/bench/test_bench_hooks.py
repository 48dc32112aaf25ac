"""What `know bench hooks` measures, so small that only its shape is seen."""

from __future__ import annotations

import json

from knowrepo.bench import hooks
from knowrepo.bench.hooks import Amounts, measure
from knowrepo.cli.main import main
from knowrepo.git import plumbing

TINY = Amounts(concepts=50, sessions=2, changed=20, records=8, rounds=1)
KINDS = ["20 concepts", "one concept", "code alone", "a session"]


def test_each_kind_of_commit_is_measured_beside_a_hook_that_does_nothing():
    found = list(measure(TINY))
    assert [one.name for one in found] == [f"before a commit of {kind}" for kind in KINDS]
    for one in found:
        assert (one.unit, one.target) == ("s", "at most 1")
        assert one.how.startswith("pre-commit run")
        assert one.figure == one.details["pre-commit run: seconds"] > 0
        assert one.details["nothing: seconds"] > 0
        assert one.details["times a hook that does nothing"] > 1


def test_without_pre_commit_the_process_is_measured_alone_and_that_is_said(monkeypatch):
    monkeypatch.setattr(hooks, "find_spec", lambda _: None)
    said: list[str] = []
    found = list(measure(TINY, said.append))
    assert said[0] == "pre-commit is not installed here: our process is measured alone"
    for one in found:
        assert one.figure == one.details["process: seconds"] > 0
        assert one.details["left out"] == "pre-commit, which is not installed"


def test_the_commit_that_is_measured_changes_what_it_says(monkeypatch):
    staged: list[list[str]] = []

    def note(kind, works, amounts):
        (work,) = works.values()
        here = work.args[0]
        changes = plumbing.git(here, "diff", "--cached", "--name-status").decode()
        staged.append(changes.splitlines())
        return kind

    monkeypatch.setattr(hooks, "find_spec", lambda _: None)
    monkeypatch.setattr(hooks, "_measured", note)
    assert list(measure(TINY)) == KINDS
    many, one, code, session = staged
    concepts = [line for line in many if "index" not in line]
    assert sorted(line[0] for line in concepts) == ["A"] * 2 + ["M"] * 18
    assert "M\tconcepts/tag_index.jsonl" in many
    assert ([line[0] for line in one], code) == (["M"], ["A\tapp.py"])
    assert [line.startswith("A\tsessions/claude/") for line in session] == [True]


def test_the_command_tells_it_as_json(monkeypatch, capsys):
    monkeypatch.setattr(hooks, "QUICK", TINY)
    assert main(["bench", "hooks", "--quick", "--concepts", "30", "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["version"] == 1
    assert [one["details"]["concepts"] for one in told["measured"]] == [30] * 4
