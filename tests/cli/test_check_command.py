"""``know check`` as its users run it: formats, explanations, other bundles, and the hook."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from helpers import concept, git, write
from knowrepo.cli.main import main
from knowrepo.concepts.checking.codes import CODES

GOOD = concept(description="D.")
BAD = "---\ntitle: One: two\n---\n"


@pytest.fixture
def three(repository):
    """A concept with an error, one with a warning, and one without a description."""
    write(repository, "concepts/bad.md", BAD)
    write(repository, "concepts/a b.md", concept("A", description="D.", body="[x](gone.md)"))
    write(repository, "concepts/c.md", concept("C"))
    return repository


# -- formats ----------------------------------------------------------------------


def test_json_has_every_finding_in_a_form_that_does_not_change(know, three):
    result = know("check", "--format", "json")
    assert result.out == know("check", "--json").out
    answer = json.loads(result.out)
    assert list(answer) == ["version", "conformant", "files", "counts", "findings"]
    assert (answer["version"], answer["conformant"], answer["files"]) == (1, False, 3)
    assert answer["counts"] == {"error": 2, "warning": 1, "notice": 2}
    warning = next(one for one in answer["findings"] if one["severity"] == "warning")
    assert warning == {
        "path": "concepts/a b.md", "line": 8, "column": 5, "code": "OKF201",
        "message": "`gone.md`: no such file", "severity": "warning", "section": "S6.1",
        "fixable": False,
    }  # fmt: skip


def test_sarif_is_what_code_scanning_takes(know, three):
    result = know("check", "--format", "sarif")
    assert result.code == 1
    log = json.loads(result.out)
    assert log["version"] == "2.1.0"
    assert log["$schema"].endswith("sarif-schema-2.1.0.json")
    (run,) = log["runs"]
    rules = run["tool"]["driver"]["rules"]
    assert run["tool"]["driver"]["name"] == "know check"
    assert [rule["id"] for rule in rules] == sorted({rule["id"] for rule in rules})
    assert all(rule["help"]["text"] and "helpUri" not in rule for rule in rules)
    for one in run["results"]:
        assert rules[one["ruleIndex"]]["id"] == one["ruleId"]
        assert one["level"] in {"error", "warning", "note"}
        region = one["locations"][0]["physicalLocation"]["region"]
        assert region["startLine"] >= 1 <= region["startColumn"]
    places = {
        one["locations"][0]["physicalLocation"]["artifactLocation"]["uri"] for one in run["results"]
    }
    assert places == {"concepts/bad.md", "concepts/a%20b.md", "concepts/c.md"}


def test_a_finding_keeps_its_fingerprint_when_lines_move(know, repository):
    def fingerprints() -> list[str]:
        (run,) = json.loads(know("check", "--format", "sarif").out)["runs"]
        return [one["partialFingerprints"]["knowFinding/v1"] for one in run["results"]]

    link = "[x](gone.md)\n"
    write(repository, "concepts/a.md", concept(description="D.", body=link + "\n" + link))
    before = fingerprints()
    assert len(set(before)) == len(before) == 2
    write(repository, "concepts/a.md", concept(description="D.", body="\n\n" + link + "\n" + link))
    assert fingerprints() == before


def test_annotations_are_escaped_and_errors_come_first(know, repository):
    write(repository, "concepts/a,b.md", concept(description="D.", body="[x](100%25:y,z.md)"))
    write(repository, "concepts/z.md", BAD)
    lines = know("check", "--format", "github").out.splitlines()
    assert lines[0].startswith("::error file=concepts/z.md,line=")
    (warning,) = [line for line in lines if line.startswith("::warning")]
    head, _, message = warning.removeprefix("::").partition("::")
    properties = dict(part.split("=", 1) for part in head.partition(" ")[2].split(","))
    assert properties["file"] == "concepts/a%2Cb.md"
    assert list(properties) == ["file", "line", "col", "title"]
    assert message == "`100%2525:y,z.md`: no such file"


def test_paths_for_a_code_host_start_at_the_top_of_the_work_tree(capsys, monkeypatch, tmp_path):
    top = tmp_path / "top"
    below = top / "memory"
    (below / "concepts").mkdir(parents=True)
    git(top, "init", "-q")
    (below / "know.toml").write_text("format = 1\n")
    (below / "concepts/a.md").write_text(BAD)
    git(top, "add", "-A")
    monkeypatch.chdir(below)
    assert main(["check", "--format", "github"]) == 1
    assert "::error file=memory/concepts/a.md,line=1" in capsys.readouterr().out


def test_what_repeats_is_counted_after_a_while_but_for_errors(know, repository):
    for number in range(30):
        write(repository, f"concepts/c{number}.md", concept(f"Title {number}"))
        write(repository, f"concepts/e{number}.md", "---\ntitle: x\ndescription: D.\n---\n")
    result = know("check")
    assert result.out.count("OKF276") == 20
    assert result.out.count("OKF105") == 30
    assert "OKF276: 10 more (a concept has no description); --all shows them" in result.err
    assert know("check", "--all").out.count("OKF276") == 30
    assert know("check", "--json").out.count("OKF276") == 30


def test_an_unknown_format_is_wrong_usage(know, repository):
    assert know("check", "--format", "xml").code == 2
    assert know("check", "--json", "--format", "sarif").code == 2


# -- verdicts ---------------------------------------------------------------------


def test_an_error_beyond_the_spec_fails_and_the_bundle_conforms(know, repository):
    body = "<<<<<<< a\nx\n=======\ny\n>>>>>>> b\n"
    write(repository, "concepts/a.md", concept(body=body))
    result = know("check")
    assert result.code == 1
    assert result.err.startswith("conformant: 1 error, 0 warnings")
    assert json.loads(know("check", "--json").out)["conformant"] is True


def test_meta_files_are_noticed_and_fail_where_rule_1_is_taken_by_the_letter(know, repository):
    write(repository, "concepts/README.md", "# About\n")
    result = know("check")
    assert (result.code, "notice OKF220" in result.out) == (0, True)
    assert result.err.startswith("conformant: ")
    strict = know("check", "--strict-spec")
    assert (strict.code, "error OKF101" in strict.out) == (1, True)


# -- explanations -----------------------------------------------------------------


@pytest.mark.parametrize("code", CODES)
def test_every_code_is_explained_without_a_repository(code, capsys, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    assert main(["check", "--explain", code.lower()]) == 0
    told = capsys.readouterr().out
    assert told.startswith(f"{code}: {CODES[code].meaning}\n")
    assert "Why it matters: " in told
    assert "To mend it: " in told


def test_an_unknown_code_is_wrong_usage_that_names_near_ones(know):
    result = know("check", "--explain", "OFK103")
    assert result.code == 2
    assert "OKF103" in result.err
    assert know("check", "--explain", "nonsense").code == 2


# -- paths and other bundles ------------------------------------------------------


def test_folders_and_files_are_checked_tracked_or_not_wherever_they_lie(know, repository):
    write(repository, "README.md", concept(description="D."), stage=False)
    write(repository, "concepts/sub/a.md", BAD, stage=False)
    write(repository, "notes/b.md", BAD, stage=False)
    write(repository, "notes/index.md", '---\nokf_version: "0.2"\n---\n# All\n', stage=False)
    assert know("check").code == 0
    assert know("check", "concepts").out.count("OKF103") == 1
    both = know("check", "concepts/sub/a.md", "notes")
    assert both.out.count("OKF103") == 2
    assert "OKF111" not in both.out  # the index of a folder that is a bundle by itself
    write(repository, ".okf/index.md", '---\nokf_version: "0.2"\n---\n# All\n', stage=False)
    assert know("check", ".okf").out == know("check", "README.md", ".okf/index.md").out == ""
    assert know("check", "nowhere.md").code == 1
    assert know("check", "..").code == 1


def make_bundle(folder: Path) -> Path:
    (folder / "sub").mkdir(parents=True)
    (folder / "index.md").write_text('---\nokf_version: "0.2"\n---\n# All\n\n* [A](/sub/a.md)\n')
    (folder / "sub/a.md").write_text(GOOD + "[index](/index.md) [up](../../README.md)\n")
    return folder


def test_any_bundle_is_checked_without_git(capsys, monkeypatch, tmp_path):
    make_bundle(tmp_path / "a bundle")
    monkeypatch.chdir(tmp_path)
    assert main(["check", "--bundle", "a bundle"]) == 0
    result = capsys.readouterr()
    assert result.out.startswith("sub/a.md:9:25: warning OKF202")
    assert result.err.startswith("conformant: 0 errors, 1 warning")


def test_a_bundle_in_git_may_link_to_the_rest_and_lacks_what_is_ignored(
    capsys, monkeypatch, tmp_path
):
    repository = tmp_path / "app"
    make_bundle(repository / "docs")
    git(repository, "init", "-q")
    (repository / "README.md").write_text("# App\n")
    (repository / ".gitignore").write_text("build/\nscratch.md\n")
    for path in ("docs/build/x.md", "docs/scratch.md"):
        (repository / path).parent.mkdir(exist_ok=True)
        (repository / path).write_text("no front matter\n")
    monkeypatch.chdir(tmp_path)
    assert main(["check", "--bundle", "app/docs", "--strict"]) == 0
    assert capsys.readouterr().err.startswith("conformant: 0 errors, 0 warnings")
    shutil.rmtree(repository / ".git")  # now nothing is ignored, nor is there anything above
    assert main(["check", "--bundle", "app/docs", "--strict"]) == 1
    told = capsys.readouterr().out
    assert [told.count(code) for code in ("OKF101", "OKF202")] == [2, 1]
    assert main(["check", "--bundle", "app/docs", "x"]) == 2
    assert main(["check", "--bundle", "nowhere"]) == 1


def test_symbolic_links_are_not_followed_and_noticed_where_they_lead_out(
    know, repository, tmp_path
):
    outside = tmp_path / "outside.md"
    outside.write_text(BAD)
    write(repository, "concepts/a.md", GOOD)
    for name, target in (("out.md", outside), ("gone.md", "nowhere.md"), ("in.md", "a.md")):
        (repository.concepts / name).symlink_to(target)
    git(repository.root, "add", "-A")
    for arguments in ((), ("concepts",), ("--bundle", "concepts")):
        result = know("check", *arguments)
        found = [line for line in result.out.splitlines() if "OKF216" in line]
        assert [line.partition(":")[0] for line in found] == ["concepts/gone.md", "concepts/out.md"]
        assert "OKF103" not in result.out


def test_a_name_or_value_with_a_line_end_forges_no_line(know, repository):
    write(repository, "concepts/a\n::error::b.md", "x\n")
    write(repository, "concepts/c.md", concept(status='"x\\n::error::y"', description="D."))
    for arguments in (("check",), ("check", "--format", "github")):
        lines = know(*arguments).out.splitlines()
        assert [line for line in lines if "OKF" not in line] == []


@pytest.mark.skipif(os.name == "nt", reason="such names cannot be made there")
def test_a_name_that_is_not_utf_8_is_named(know, repository):
    write(repository, "concepts/café.md", GOOD)
    assert "OKF208" not in know("check").out
    odd = os.fsencode(repository.concepts) + b"/caf\xe9.md"
    Path(os.fsdecode(odd)).write_text(GOOD)
    git(repository.root, "add", "-A")
    for arguments in ((), ("concepts",), ("--bundle", "concepts")):
        assert "concepts/caf\\xe9.md:1:1: warning OKF208" in know("check", *arguments).out


# -- the hook ---------------------------------------------------------------------


@pytest.fixture
def committed(repository, commit):
    write(repository, "concepts/a.md", concept("A", description="D.", body="[b](sub/b.md)"))
    write(repository, "concepts/sub/b.md", concept("B", description="D."))
    write(repository, "concepts/old.md", BAD)
    commit()
    return repository


def test_the_hook_says_nothing_of_what_the_commit_does_not_change(know, committed):
    assert know("hook", "check") == (0, "", "")
    write(committed, "concepts/c.md", GOOD)
    assert know("hook", "check") == (0, "", "")


def test_the_hook_sees_what_is_staged_and_not_what_lies_in_the_work_tree(know, committed):
    write(committed, "concepts/a.md", BAD)
    (committed.concepts / "a.md").write_text(GOOD)
    result = know("hook", "check")
    assert (result.code, "concepts/a.md:2:11: error OKF103" in result.out) == (1, True)
    write(committed, "concepts/a.md", GOOD)
    (committed.concepts / "a.md").write_text(BAD)
    assert know("hook", "check").code == 0


def test_the_hook_sees_links_into_what_the_commit_removes_or_renames(know, committed):
    git(committed.root, "mv", "concepts/sub/b.md", "concepts/sub/c.md")
    result = know("hook", "check")
    assert (result.code, result.out.count("OKF")) == (0, 1)
    assert "concepts/a.md:8:5: warning OKF201 `sub/b.md`" in result.out
    assert know("hook", "check", "--strict").code == 1


def test_the_hook_sees_links_to_a_folder_whose_last_file_goes(know, committed, commit):
    write(committed, "concepts/a.md", concept("A", body="[b](sub/) [space](my%20b.md)"))
    write(committed, "concepts/my b.md", concept("My b"))
    commit()
    git(committed.root, "rm", "-q", "concepts/sub/b.md", "concepts/my b.md")
    assert know("hook", "check").out.count("OKF201") == 2


def test_the_hook_sees_names_that_collide_with_those_that_are_there(know, committed):
    write(committed, "concepts/SUB/b.md", concept("Other"))
    result = know("hook", "check")
    assert "concepts/SUB/b.md:1:1: warning OKF218" in result.out


def test_the_hook_works_before_the_first_commit_and_in_a_merge(know, repository, commit):
    write(repository, "concepts/a.md", BAD)
    assert know("hook", "check").code == 1
    write(repository, "concepts/a.md", GOOD)
    commit()
    git(repository.root, "checkout", "-q", "-b", "side")
    write(repository, "concepts/b.md", BAD)
    commit()
    git(repository.root, "checkout", "-q", "main")
    write(repository, "concepts/c.md", GOOD)
    commit()
    git(repository.root, "merge", "-q", "--no-commit", "side")
    assert "concepts/b.md:1:1: error OKF105" in know("hook", "check").out


def test_the_hook_finds_the_errors_that_a_check_of_everything_finds(know, committed):
    write(committed, "concepts/a.md", "---\ntype: X\n# never closed\n")
    write(committed, "concepts/index.md", "no section\n")
    write(committed, "concepts/log.md", "## Someday\n")
    write(committed, "concepts/d.md", GOOD.encode("utf-16").decode("latin-1"))

    def errors(*command: str) -> set[str]:
        return {line for line in know(*command).out.splitlines() if ": error " in line}

    everything = {line for line in errors("check") if not line.startswith("concepts/old.md")}
    assert errors("hook", "check") == everything
    assert len(everything) >= 4


@pytest.mark.parametrize("arguments", [("-a",), ("concepts/a.md",), ("--only", "concepts/a.md")])
def test_the_hook_sees_the_files_of_this_very_commit(committed, monkeypatch, arguments):
    """`commit -a` and `commit PATH` make an index of their own."""
    hook = committed.root / ".git/hooks/pre-commit"
    hook.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m knowrepo hook check\n')
    hook.chmod(0o755)
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(sys.path))
    write(committed, "concepts/staged.md", BAD)
    if arguments[0] != "-a":
        (committed.concepts / "a.md").write_text(GOOD)
        done = _commit(committed.root, *arguments)
        assert done.returncode == 0, done.stderr
    else:
        git(committed.root, "rm", "-q", "--cached", "concepts/staged.md")
    (committed.concepts / "a.md").write_text(BAD)
    done = _commit(committed.root, *arguments)
    assert done.returncode == 1
    assert "concepts/a.md:2:11: error OKF103" in done.stdout + done.stderr
    assert "staged.md" not in done.stdout + done.stderr


def _commit(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        ["git", "-C", str(folder), "commit", "-m", "x", *arguments],
        capture_output=True, text=True, check=False,
    )  # fmt: skip


def test_the_hook_sees_sessions_that_should_not_come_in(know, committed):
    path = "sessions/claude/0f0e0d0c-0b0a-4908-8706-050403020100.jsonl"
    write(committed, path, '<<<<<<< ours\n{"a": 1}\n=======\n>>>>>>> theirs\n')
    assert f"{path}:1:1: error KNOW305" in know("hook", "check").out
    write(committed, path, '{"a": 1}\n')
    assert know("hook", "check").code == 0
    write(committed, path.replace(".jsonl", ".forgotten"), "gone\n")
    assert f"{path}:1:1: error KNOW304" in know("hook", "check").out
