"""What git waits for: one process for all, with the answers of the three, and little in it."""

from __future__ import annotations

import subprocess
import sys

import pytest
import yaml
from test_pre_commit import ROOT

from helpers import concept, git, make_repository, write
from knowrepo.cli.commit_hook import PARTS, asked
from knowrepo.cli.main import main

BAD = "---\ntitle: One: two\n---\n"
TOKEN = "gh" + "p_" + "aB3dE5fG7hJ9kL1mN3pQ5rS7tU9vW1xY3z5A"
HEAVY = {"typer", "rich", "git", "duckdb", "numpy", "llama_cpp", "sqlite3", "filelock", "tomlkit"}

IMPORTED = (
    "import sys; from knowrepo.__main__ import entry\n"
    "try: entry()\n"
    "finally: print('\\n'.join({name.partition('.')[0] for name in sys.modules}))\n"
)


@pytest.fixture
def here(repository, commit, capsys):
    write(repository, "concepts/a.md", concept(tags=["git"]))
    assert main(["tags", "build", "--repo", str(repository.root)]) == 0
    commit()
    capsys.readouterr()
    return repository


def test_the_one_says_what_the_three_say_and_rebuilds_where_they_find_nothing(know, here):
    assert know("hook", "pre-commit") == (0, "", "")
    write(here, "concepts/b.md", concept("B", tags=["x"]))
    alone = [know("hook", part) for part in ("check", "scan")]
    assert [result.code for result in alone] == [0, 0]
    together = know("hook", "pre-commit")
    assert (together.code, "git add concepts/index.md" in together.err) == (1, True)
    write(here, "concepts/bad.md", BAD)
    write(here, "concepts/b.md", concept("B", body=TOKEN))
    alone = [know("hook", part) for part in ("check", "scan")]
    together = know("hook", "pre-commit")
    assert together == (1, "".join(r.out for r in alone), "".join(r.err for r in alone))


def test_what_was_right_is_known_until_a_concept_or_what_is_generated_changes(know, here):
    assert know("hook", "tags").code == 0
    assert know("hook", "tags").code == 0
    kept = here.common_dir / "know" / "generated.facts"
    assert len(kept.read_text().splitlines()) == 3  # the rules, one state, and its files
    write(here, "concepts/tag_index.jsonl", "")
    assert know("hook", "tags").code == 1
    git(here.root, "add", "-A")
    assert know("hook", "tags").code == 0
    write(here, "concepts/b.md", concept("B"))
    assert know("hook", "tags").code == 1


def test_a_commit_of_code_or_of_a_concept_imports_nothing_heavy(here):
    write(here, "concepts/b.md", concept("B"))
    done = subprocess.run(
        [sys.executable, "-c", IMPORTED, "hook", "pre-commit"],
        cwd=here.root, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert (done.returncode, "now add it" in done.stderr) == (1, True)
    assert HEAVY.isdisjoint(done.stdout.split())
    assert "knowrepo" in done.stdout.split()


def test_a_commit_of_code_waits_for_no_parser(know, here):
    assert know("hook", "pre-commit").code == 0
    write(here, "app.py", "")
    script = (
        "import sys; sys.argv[1:] = ['hook', 'pre-commit']\n"
        "from knowrepo.__main__ import entry\n"
        "try: entry()\n"
        "finally: print('\\n'.join(sys.modules))\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], cwd=here.root, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0
    assert {"yaml", "markdown_it", "frontmatter"}.isdisjoint(done.stdout.split())
    assert "knowrepo.concepts.for_commit" in done.stdout.split()


@pytest.mark.parametrize(
    "arguments",
    [["merge-tags", "a", "a", "a", "concepts/tag_index.jsonl", "7"],
     ["merge-index", "a", "a", "a", "concepts/index.md", "7"],
     ["merge-ledger", "a", "a", "a", "concepts/distilled.jsonl", "7"],
     ["merge-project", "a", "a", "a", "sessions/claude/0.project", "7"],
     ["merging"], ["merged"]],
    ids=lambda arguments: arguments[0],
)  # fmt: skip
def test_what_git_calls_when_it_merges_imports_nothing_heavy(here, arguments):
    (here.root / "a").touch()
    done = subprocess.run(
        [sys.executable, "-c", IMPORTED, "hook", *arguments],
        cwd=here.root, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert (done.returncode, done.stderr) == (0, "")
    assert (HEAVY - {"filelock"}).isdisjoint(done.stdout.split())
    assert "knowrepo" in done.stdout.split()


@pytest.mark.parametrize(
    "arguments",
    [["merge-tags"], ["merge-session", *"abcdef"], ["merge-index", *"abc", "p", "x"],
     ["merging", "--tell"], ["merged", "--repo"], ["merged", "x"]],
)  # fmt: skip
def test_what_git_would_not_say_is_wrong_usage(know, arguments):
    result = know("hook", *arguments)
    assert (result.code, result.out, result.err.count("\n")) == (2, "", 1)


@pytest.mark.parametrize(
    "arguments",
    [["hook"], ["hook", "check", "-h"], ["hook", "tags", "--strict"], ["hook", "sweep"],
     ["hook", "scan", "--repo"], ["hook", "check", "x"], ["check"], []],
)  # fmt: skip
def test_what_the_hook_does_not_understand_is_left_to_the_whole_program(arguments):
    assert asked(arguments) is None


def test_both_ways_in_take_the_same_options_and_end_alike(know, here, tmp_path):
    write(here, "concepts/README.md", "# No front matter\n")
    write(here, "concepts/c.md", concept("C", body="[x](none.md)"))
    assert know("hook", "check").code == 0
    assert know("hook", "check", "--strict").code == 1
    assert know("hook", "check", "--strict-spec").code == 1
    assert know("hook", "check", f"--repo={here.root}").code == 0  # by way of typer
    assert know("hook", "check", "--strict", f"--repo={here.root}").code == 1
    missing = know("hook", "pre-commit", "--repo", str(tmp_path / "none"))
    assert (missing.code, missing.err.count("\n")) == (1, 1)
    assert missing.err == know("hook", "pre-commit", f"--repo={tmp_path / 'none'}").err


def test_a_bug_in_a_hook_is_said_to_be_ours(know, here, monkeypatch):
    from knowrepo.concepts.checking import staged

    def fail(*_: object, **__: object) -> None:
        raise ZeroDivisionError("oops")

    monkeypatch.setattr(staged, "check_staged", fail)
    write(here, "concepts/b.md", concept("B"))
    result = know("hook", "pre-commit")
    assert result.code == 3
    assert "a bug: ZeroDivisionError: oops" in result.err


def test_a_machine_without_git_is_told_so_in_a_line(know, here, monkeypatch, tmp_path):
    monkeypatch.setenv("PATH", str(tmp_path))
    result = know("hook", "pre-commit")
    assert result.code == 1
    assert result.err == "know: git is not installed\n  install git 2.30 or newer\n"


def test_the_ids_that_are_offered_are_the_parts_and_the_whole():
    hooks = yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text())
    entries = {hook["id"]: hook for hook in hooks if hook["stages"] == ["pre-commit"]}
    wanted = {f"know-{part}": f"know hook {part}" for part in PARTS}
    wanted["know-commit"] = "know hook pre-commit"
    assert {name: hook["entry"] for name, hook in entries.items()} == wanted
    assert all(h["always_run"] and not h["pass_filenames"] for h in entries.values())
    for arguments in (entry.split()[1:] for entry in wanted.values()):
        assert asked(arguments) is not None


def test_a_second_repository_of_the_work_tree_is_chosen_by_its_name(know, tmp_path, monkeypatch):
    top = make_repository(tmp_path / "top")
    write(top, "inner/know.toml", "format = 1\n")
    write(top, "inner/concepts/bad.md", BAD)
    monkeypatch.chdir(top.root)
    assert know("hook", "check").code == 0
    result = know("hook", "check", "--repo", "inner")
    assert (result.code, "concepts/bad.md:2:11: error OKF103" in result.out) == (1, True)
