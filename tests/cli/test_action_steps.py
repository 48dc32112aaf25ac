"""The steps of action.yml, run as their host runs them, in repositories of every state."""

from __future__ import annotations

import json
import os
import re
import shutil
import sys
from pathlib import Path

import pytest
import yaml

from helpers import concept, git, make_repository, write
from workflow_steps import Ran, job_of, run_steps

ROOT = Path(__file__).resolve().parents[2]
WHEELHOUSE = ROOT / "build" / "wheelhouse"
ACTION = yaml.safe_load((ROOT / "action.yml").read_text(encoding="utf-8"))
WRITING = (
    "Check the generated files", "Fetch vectors", "Rebuild the generated files", "Push vectors",
)  # fmt: skip
ASKING = ("Ask the questions",)
SHARING = ("Fetch vectors", "Index", "Push vectors")
BOT = "41898282+github-actions[bot]@users.noreply.github.com"
CASES = """\
[[case]]
query = "walrus deployment"
expect = "walrus"
"""
WORKFLOW = yaml.safe_load((ROOT / ".github/workflows/knowledge.yml").read_text(encoding="utf-8"))
# Stands in for the installation, which takes long: the know of this checkout, and
# where something is embedded, that of `machines` with its embedder of words.
INSTALL = """
mkdir -p "$RUNNER_TEMP/know/bin"
cat > "$RUNNER_TEMP/know/bin/know" <<'END'
#!/bin/sh
if [ "$1" = model ]; then exit 0; fi
exec "$TEST_PYTHON" "$TEST_KNOW" "$@"
END
chmod +x "$RUNNER_TEMP/know/bin/know"
"""
MACHINES = ROOT / "tests" / "sharing" / "machines.py"
PACKS = "refs/know/vectors/"


@pytest.fixture
def repository(tmp_path):
    """A repository that is as it should be, cloned as a workflow has it, with its origin."""
    made = make_repository(tmp_path / "made")
    write(made, "concepts/walrus.md", page("Walrus deployment", body="How it is deployed."))
    write(made, "eval.toml", CASES)
    write(made, "know.toml", "format = 1\n")
    commit(made, "Begin")
    rebuild(made)
    git(tmp_path, "clone", "-q", "--bare", str(made.root), str(tmp_path / "origin.git"))
    git(made.root, "remote", "add", "origin", str(tmp_path / "origin.git"))
    git(made.root, "fetch", "-q", "origin")
    git(made.root, "checkout", "-q", "-b", "change")
    return made


def page(title: str, body: str = "What there is to say.") -> str:
    return concept(title, body=body, description="In a few words.")


def commit(repository, message: str) -> None:
    git(repository.root, "add", "-A")
    git(repository.root, "commit", "-q", "--allow-empty", "-m", message)


def rebuild(repository) -> None:
    from knowrepo.cli.main import main

    assert main(["tags", "build", "--repo", str(repository.root)]) == 0
    commit(repository, "Rebuild")


@pytest.fixture
def act(repository, tmp_path, capsys):
    """Run the action on what is checked out."""

    def run(
        event: str = "pull_request",
        more: dict[str, str] | None = None,
        install: str | None = INSTALL,
        only: tuple[str, ...] = (),
        **given: str,
    ) -> Ran:
        temp = tmp_path / f"temp-{len(list(tmp_path.iterdir()))}"
        temp.mkdir()
        kept = {name: os.environ[name] for name in ("PATH", "HOME", "LANG") if name in os.environ}
        git_settings = {k: v for k, v in os.environ.items() if k.startswith(("GIT_", "XDG_"))}
        environment = {
            **kept, **git_settings,
            "PYTHONPATH": os.pathsep.join(map(str, (ROOT / "tools", ROOT / "tests"))),
            "TEST_PYTHON": sys.executable,
            "TEST_KNOW": str(MACHINES) if given.get("semantic") == "true" else "-mknowrepo",
            "KNOW_CONFIG": str(tmp_path / "no-configuration"),
            "CI": "true", "GITHUB_ACTIONS": "true",
            "GITHUB_ACTION_PATH": str(ROOT),
            "GITHUB_WORKSPACE": str(repository.root),
            "GITHUB_EVENT_NAME": event,
            "GITHUB_BASE_REF": "main" if event == "pull_request" else "",
            "GITHUB_REF_NAME": "main" if event == "push" else "7/merge",
            "RUNNER_TEMP": str(temp), "RUNNER_OS": "Linux", "RUNNER_ARCH": "X64",
            **(more or {}),
        }  # fmt: skip
        scripts = {} if install is None else {"Install know": install}
        return run_steps(
            ACTION, {"semantic": "false", **given}, workspace=repository.root, temp=temp,
            environment=environment, replaced=scripts, only=only and ("Install know", *only),
        )  # fmt: skip

    return run


def packs(tmp_path: Path) -> list[str]:
    return git(
        tmp_path / "origin.git", "for-each-ref", "--format=%(refname)", PACKS
    ).split()  # fmt: skip


def of_workflow(event: str, branch: str) -> dict[str, str]:
    """What knowledge.yml gives the action, on an event."""
    github = {
        "event_name": event, "ref_name": branch, "event.repository.default_branch": "main",
    }  # fmt: skip
    (*_, step) = job_of(WORKFLOW, github)["steps"]
    assert step["uses"] == "./"
    return {"semantic": "true", **step.get("with", {})}


def annotations(ran: Ran) -> list[str]:
    lines = [line for printed in ran.printed.values() for line in printed.splitlines()]
    return [line for line in lines if re.match(r"::(error|warning|notice)", line)]


def test_a_good_change_passes_and_is_summed_up(repository, act):
    write(repository, "concepts/seal.md", page("Seal backups", body="Nightly."))
    write(repository, "concepts/walrus.md", page("Walrus deployment", body="Changed."))
    commit(repository, "Change")
    rebuild(repository)
    ran = act()
    assert not ran.failed, ran.printed
    assert annotations(ran) == []
    assert "conformant: 0 errors" in ran.summary
    assert "Concepts: 1 new, 1 changed." in ran.summary
    assert "| new | Seal backups | Decision | stable | concepts/seal.md |" in ran.summary
    assert "Answered: 1 of 1." in ran.summary
    assert "Against the base nothing changed." in ran.summary
    assert ran.outcomes["Rebuild the generated files"] == "skipped"
    assert ran.outcomes["Push vectors"] == "skipped"


def test_a_finding_is_annotated_on_its_line_and_all_else_is_still_told(repository, act):
    write(repository, "concepts/broken.md", "---\ntitle: No type\n---\n\nText.\n")
    commit(repository, "Break")
    rebuild(repository)
    ran = act()
    assert ran.failed == ["Check the concepts"]
    (error,) = [line for line in annotations(ran) if line.startswith("::error")]
    assert error.startswith("::error file=concepts/broken.md,line=")
    assert "**not conformant**" in ran.summary
    assert ran.outcomes["Ask the questions"] == "success"
    assert "### Questions" in ran.summary


def test_a_stale_tag_index_is_a_notice_on_a_pull_request(repository, act):
    write(repository, "concepts/seal.md", page("Seal backups"))
    commit(repository, "Forget to rebuild")
    ran = act(only=WRITING, **{"rebuild": "true", "push-vectors": "true"})
    assert not ran.failed
    told = annotations(ran)
    assert told
    assert all(line.startswith("::notice file=concepts/") for line in told)
    assert "rebuilds them" in ran.summary
    assert ran.outcomes["Rebuild the generated files"] == "skipped"
    assert ran.outcomes["Push vectors"] == "skipped"


def test_a_stale_tag_index_fails_elsewhere_unless_it_is_rebuilt(repository, act):
    write(repository, "concepts/seal.md", page("Seal backups"))
    commit(repository, "Forget to rebuild")
    ran = act("push", only=WRITING)
    assert ran.failed == ["Check the generated files"]


def test_the_default_branch_rebuilds_commits_and_pushes_once(repository, act, tmp_path):
    git(repository.root, "checkout", "-q", "main")
    write(repository, "concepts/seal.md", page("Seal backups"))
    commit(repository, "Forget to rebuild")
    git(repository.root, "push", "-q", "origin", "main")
    ran = act("push", **of_workflow("push", "main"))
    assert not ran.failed, ran.printed
    assert set(ran.outcomes.values()) == {"success"}
    assert ran.outputs["rebuild"] == {"rebuilt": "true"}
    told = git(tmp_path / "origin.git", "log", "-1", "--format=%ae %s", "main").strip()
    assert told == f"{BOT} Rebuild the generated files"
    changed = git(tmp_path / "origin.git", "show", "--name-only", "--format=", "main").split()
    assert changed == ["concepts/index.md", "concepts/tag_index.jsonl"]
    assert re.search(r"(\d+) vectors pushed in 1 pack", ran.printed["Push vectors"])
    assert len(packs(tmp_path)) == 1
    again = act("push", only=WRITING, rebuild="true")
    assert not again.failed
    assert again.outputs["rebuild"] == {"rebuilt": "false"}
    assert git(tmp_path / "origin.git", "rev-list", "--count", "main").strip() == "4"


def test_what_the_default_branch_embedded_nobody_embeds_again(repository, act, tmp_path):
    git(repository.root, "checkout", "-q", "main")
    first = act("push", only=SHARING, **of_workflow("push", "main"))
    assert not first.failed, first.printed
    pushed = packs(tmp_path)
    git(repository.root, "checkout", "-q", "change")
    write(repository, "concepts/seal.md", page("Seal backups"))
    commit(repository, "Add")
    rebuild(repository)
    shutil.rmtree(repository.root / ".git" / "know")
    ran = act(only=SHARING, **of_workflow("pull_request", "7/merge"))
    assert not ran.failed, ran.printed
    assert re.search(r"[1-9]\d* vectors? pulled", ran.printed["Fetch vectors"])
    assert "vectors: 1 texts embedded" in ran.printed["Index"]
    assert ran.outcomes["Push vectors"] == "skipped"
    assert packs(tmp_path) == pushed


def test_a_remote_that_cannot_be_asked_for_vectors_costs_time_alone(repository, act, tmp_path):
    git(repository.root, "remote", "set-url", "origin", "http://127.0.0.1:9/private.git")
    ran = act(only=SHARING, **of_workflow("pull_request", "7/merge"))
    assert not ran.failed, ran.printed
    assert annotations(ran) == [
        "::notice::not all vectors were fetched; the others are made here"
    ]  # fmt: skip
    assert re.search(r"vectors: [1-9]\d* texts embedded", ran.printed["Index"])


def test_without_what_embeds_no_vectors_are_asked_for(repository, act):
    ran = act("push", only=SHARING, **{"pull-vectors": "true", "push-vectors": "true"})
    assert not ran.failed, ran.printed
    assert ran.outcomes["Fetch vectors"] == ran.outcomes["Push vectors"] == "skipped"


def test_the_light_installation_is_what_the_steps_need(repository, act, tmp_path):
    write(repository, "concepts/broken.md", "---\ntitle: No type\n---\n\nText.\n")
    commit(repository, "Break")
    pip = {"PIP_NO_INDEX": "1", "PIP_FIND_LINKS": WHEELHOUSE.as_uri()}
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    ran = act(more={**pip, "PATH": path, "PYTHONPATH": ""}, install=None)
    assert ran.failed == ["Check the concepts"], ran.printed
    (error,) = [line for line in annotations(ran) if line.startswith("::error")]
    assert error.startswith("::error file=concepts/broken.md,line=1,")
    assert "Concepts: 1 new." in ran.summary
    assert "Answered: 1 of 1." in ran.summary
    (installed,) = tmp_path.glob("temp-*/know/lib/python*/site-packages/knowrepo")
    assert installed.is_dir()


def test_a_rebuild_that_another_version_undoes_does_not_go_on_for_ever(repository, act):
    git(repository.root, "checkout", "-q", "main")
    write(repository, "concepts/seal.md", page("Seal backups"))
    git(
        repository.root, "-c", f"user.email={BOT}", "-c", "user.name=bot",
        "commit", "-qam", "Rebuild the generated files",
    )  # fmt: skip
    ran = act("push", only=WRITING, rebuild="true")
    assert ran.failed == ["Rebuild the generated files"]
    assert "two versions of know disagree" in ran.printed["Rebuild the generated files"]


def test_a_branch_that_moved_on_is_left_to_its_next_run(repository, act, tmp_path):
    git(tmp_path, "clone", "-q", str(tmp_path / "origin.git"), str(tmp_path / "other"))
    (tmp_path / "other" / "note").write_text("x\n")
    git(tmp_path / "other", "add", "-A")
    git(tmp_path / "other", "commit", "-qm", "Meanwhile")
    git(repository.root, "checkout", "-q", "main")
    write(repository, "concepts/seal.md", page("Seal backups"))
    commit(repository, "Forget to rebuild")
    git(tmp_path / "other", "push", "-q", "origin", "HEAD:main")
    before = git(tmp_path / "origin.git", "rev-parse", "main")
    ran = act("push", only=WRITING, rebuild="true")
    assert not ran.failed
    assert ran.outputs["rebuild"] == {"rebuilt": "false"}
    assert git(tmp_path / "origin.git", "rev-parse", "main") == before


def test_a_recall_that_fails_is_told_on_its_case_and_against_the_base(repository, act):
    write(repository, "concepts/walrus.md", page("Penguins", body="Nothing of the other."))
    commit(repository, "Lose it")
    rebuild(repository)
    ran = act(only=ASKING)
    assert ran.failed == ["Ask the questions"]
    (error,) = annotations(ran)
    assert error.startswith("::error file=eval.toml,line=1,title=no longer found::walrus")
    assert "Answered: 0 of 1." in ran.summary
    assert re.search(r"\| no longer found \| walrus deployment \| 1 \| - \|", ran.summary)


def test_a_question_that_is_asked_no_more_is_told(repository, act):
    write(repository, "eval.toml", '[[case]]\nquery = "who waters the plants"\nnone = true\n')
    commit(repository, "Ask something else")
    ran = act(only=ASKING)
    assert not ran.failed
    (warning,) = annotations(ran)
    assert warning == "::warning file=eval.toml,title=no longer asked::walrus deployment"
    assert "| no longer asked | walrus deployment |" in ran.summary


def test_a_secret_fails_and_is_not_repeated(repository, act):
    token = "ghp_" + "9aBcDeFgHiJkLmNoPqRsTuVwXyZ012345678"
    write(repository, "concepts/walrus.md", page("Walrus deployment", body=f"With {token}."))
    commit(repository, "Leak")
    rebuild(repository)
    ran = act(only=("Check the concepts", "Look for secrets"))
    assert ran.failed == ["Look for secrets"]
    (error,) = annotations(ran)
    assert error.startswith("::error file=concepts/walrus.md,line=8::a secret: ")
    assert token not in ran.summary + "".join(ran.printed.values())


HOSTILE = (
    'x"; $(touch pwned) `touch pwned` \r\n::error::pwned %0A::warning::pwned'
    " | ![a](http://b) ##[error]pwned"
)


def test_no_text_of_a_repository_becomes_a_command_a_row_or_markup(repository, act):
    title = json.dumps(HOSTILE)[1:-1]
    text = page("placeholder").replace('"placeholder"', f'"{title}"')
    write(repository, "concepts/a,b: %0A::error::pwned.md", text)
    write(repository, "concepts/c.md", text.replace("type: Decision", f'type: "{title}"'))
    write(repository, "eval.toml", f'[[case]]\nquery = "{title}"\nexpect = "nowhere"\n')
    commit(repository, "Try it")
    act(base="$(touch pwned)", only=("Tell what changed",))
    assert not list(repository.root.glob("**/pwned"))
    ran = act()
    for name, printed in ran.printed.items():
        for line in printed.splitlines():
            # What the host would take for a command is one of ours, on one line, whole.
            if line.lstrip().startswith("::") or "##[" in line:
                assert re.match(
                    r"::(error|warning|notice) file=|::stop-commands::|::[0-9a-f]{32}::$", line
                ), (name, line)
                assert "::error::pwned" not in line.split("::", 2)[1]
    assert "http://b" not in ran.summary
    assert "![" not in ran.summary
    rows = [line for line in ran.summary.splitlines() if line.startswith("| new |")]
    assert len(rows) == 2
    assert all(len(re.findall(r"(?<!&)\|", row)) == 6 for row in rows)


def test_a_knowledge_repository_below_the_top_is_named_from_the_top(tmp_path, repository, act):
    inner = repository.root / "notes"
    (inner / "concepts").mkdir(parents=True)
    (inner / "sessions").mkdir()
    (inner / "know.toml").write_text("format = 1\n")
    (inner / "concepts" / "broken.md").write_text("---\ntitle: No type\n---\n\nText.\n")
    commit(repository, "A second one")
    ran = act(path="notes", only=("Check the concepts", "Tell what changed"))
    assert "Check the concepts" in ran.failed
    assert any(
        line.startswith("::error file=notes/concepts/broken.md,") for line in annotations(ran)
    )
    assert "| new | No type |  | stable | concepts/broken.md |" in ran.summary


def test_without_a_base_nothing_is_compared_and_it_is_said(repository, act):
    ran = act("workflow_dispatch", only=("Tell what changed",))
    assert not ran.failed
    assert "There is no base to compare with." in ran.summary


def test_a_push_is_compared_with_what_the_branch_was(repository, act, tmp_path):
    before = git(repository.root, "rev-parse", "HEAD").strip()
    write(repository, "concepts/seal.md", page("Seal backups"))
    commit(repository, "Add")
    rebuild(repository)
    payload = tmp_path / "event.json"
    for value, said in ((before, "Concepts: 1 new."), ("0" * 40, "no base"), ("-x", "no base")):
        payload.write_text(json.dumps({"before": value}))
        ran = act("push", more={"GITHUB_EVENT_PATH": str(payload)}, only=("Tell what changed",))
        assert said in ran.summary, value


def test_the_base_leaves_nothing_behind(repository, act, tmp_path):
    act(only=ASKING)
    assert git(repository.root, "worktree", "list").count("\n") == 1
    assert not list(tmp_path.glob("temp-*/know-base-*"))


def test_when_know_cannot_be_installed_nothing_else_is_tried(act):
    ran = act("push", install="exit 1", rebuild="true", **{"push-vectors": "true"})
    assert ran.failed == ["Install know"]
    steps = [step["name"] for step in ACTION["runs"]["steps"]]
    after = steps[steps.index("Install know") + 1 :]
    assert {ran.outcomes[name] for name in after} == {"skipped"}
