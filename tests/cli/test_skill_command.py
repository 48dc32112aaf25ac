from __future__ import annotations

import re

import pytest

from helpers import write
from knowrepo.concepts.kinds import TYPES, folder_of
from knowrepo.distill import skill


def test_the_text_is_short_and_has_the_front_matter_of_a_skill(know):
    printed = know("skill").out
    assert printed == skill.text()
    assert re.match(r"---\nname: know-distill\ndescription: [^\n]{40,300}\n---\n", printed)
    assert len(printed.split()) < 400


def test_the_concept_that_it_shows_passes_the_check(know, repository):
    example = re.search(r"```markdown\n(.*?)```", skill.text(), re.DOTALL)
    assert example is not None
    text = example[1].replace("AGENT/ID", "claude/s1")
    write(repository, "sessions/claude/s1.jsonl", "{}\n")
    write(repository, "concepts/decisions/retry.md", text)
    done = know("check", "concepts/decisions/retry.md")
    assert (done.code, done.out) == (0, "")


def test_it_names_types_and_folders_as_they_are():
    named = dict(re.findall(r"([A-Z][A-Za-z ]+) `([a-z-]+)`", skill.text()))
    assert set(named) < set(TYPES)
    assert {kind: folder_of(kind).rpartition("/")[2] for kind in named} == named


def test_every_command_that_it_names_exists(know):
    for line in re.findall(r"`know ([a-z ]+)", skill.text()):
        words = line.split()
        known = words[:2] if words[0] in {"tags"} else words[:1]
        assert know(*known, "--help").code == 0, line


def test_it_is_installed_in_the_project_and_a_second_time_changes_nothing(know, repository):
    path = repository.root / ".claude" / "skills" / "know-distill" / "SKILL.md"
    assert know("skill", "--install").out == f"{path}: written\n"
    assert path.read_text() == skill.text()
    assert know("skill", "--install").out == f"{path}: there already\n"


def test_it_is_installed_for_the_user_or_in_another_project(know, own_environment, tmp_path):
    assert know("skill", "--install", "--user").code == 0
    assert (own_environment / ".claude/skills/know-distill/SKILL.md").is_file()
    other = tmp_path / "other"
    other.mkdir()
    assert know("skill", "--install", "--project", str(other)).code == 0
    assert (other / ".claude/skills/know-distill/SKILL.md").is_file()


def test_a_text_of_somebodys_own_is_kept_unless_forced(know, repository):
    path = repository.root / ".claude/skills/know-distill/SKILL.md"
    path.parent.mkdir(parents=True)
    path.write_text("mine\n")
    refused = know("skill", "--install")
    assert (refused.code, path.read_text()) == (1, "mine\n")
    assert "--force replaces it" in refused.err
    assert know("skill", "--install", "--force").code == 0
    assert path.read_text() == skill.text()


def test_a_link_in_a_clone_leads_no_file_elsewhere(know, repository, tmp_path):
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    (repository.root / ".claude").symlink_to(elsewhere)
    refused = know("skill", "--install")
    assert refused.code == 1
    assert "a link leads out of" in refused.err
    assert list(elsewhere.iterdir()) == []


@pytest.mark.parametrize(
    "arguments",
    [
        ("--user",), ("--force",), ("--install", "--agent", "codex"),
        ("--install", "--user", "--project", "."), ("--install", "--project", "/no/such/folder"),
    ],
)  # fmt: skip
def test_what_makes_no_sense_is_wrong_usage(know, arguments):
    assert know("skill", *arguments).code == 2
