"""``know new`` and ``know remember`` as they are typed, with real git."""

from __future__ import annotations

import io
import stat
import sys

import pytest

from helpers import concept, git, part_ways, write
from knowrepo.concepts.document import parse

AGENTS = (
    "AI_AGENT",
    "CLAUDECODE",
    "CODEX_SANDBOX",
    "CODEX_THREAD_ID",
    "CURSOR_AGENT",
    "GEMINI_CLI",
)
TOKEN = "gh" + "p_" + "aB3dE5fG7hJ9kL1mN3pQ5rS7tU9vW1xY3z5A"


@pytest.fixture(autouse=True)
def typed_by_a_person(monkeypatch):
    for name in (*AGENTS, "VISUAL", "EDITOR"):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture
def piped(monkeypatch):
    def give(data: bytes) -> None:
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(data)))

    return give


def front(repository, path: str) -> dict[str, object]:
    return parse((repository.root / path).read_bytes()).front


def staged(repository) -> list[str]:
    return git(repository.root, "diff", "--cached", "--name-only").split()


# -- know new ------------------------------------------------------------------------


def test_without_arguments_the_types_are_listed(know):
    result = know("new")
    assert result.code == 0
    assert len(result.out.splitlines()) == 8
    assert result.out.startswith("Decision           a choice")


def test_a_form_is_written_and_not_staged(know, repository):
    result = know("new", "decision", "Retry uploads: thrice", "--tag", "up", "--tag", "up")
    assert result.out == "concepts/decisions/retry-uploads-thrice.md\n"
    assert "git add concepts/decisions/retry-uploads-thrice.md" in result.err
    told = front(repository, result.out.strip())
    assert (told["type"], told["status"], told["tags"]) == ("Decision", "draft", ["up"])
    assert told["generated"]["by"] == "human:Tester"
    assert told["generated"]["at"].endswith("Z")
    assert staged(repository) == []
    git(repository.root, "add", "-A")
    assert know("check", "--strict").code == 0


def test_a_title_that_is_taken_overwrites_nothing(know, repository):
    first, second = (know("new", "Decision", "Same").out.strip() for _ in range(2))
    assert (first, second) == ("concepts/decisions/same.md", "concepts/decisions/same-2.md")


def test_the_path_is_one_that_the_shell_can_use(know, repository, monkeypatch, tmp_path):
    (repository.root / "sub").mkdir()
    monkeypatch.chdir(repository.root / "sub")
    assert know("new", "Decision", "A").out == "../concepts/decisions/a.md\n"
    monkeypatch.chdir(tmp_path)
    out = know("new", "Decision", "B", "--repo", str(repository.root)).out
    assert out == f"{repository.concepts / 'decisions' / 'b.md'}\n"


def test_the_editor_is_the_users_and_never_the_repositorys(know, repository, monkeypatch, tmp_path):
    git(repository.root, "config", "core.editor", "touch /tmp/never")
    assert "EDITOR" in know("new", "Decision", "A", "--edit").err
    assert not (repository.concepts / "decisions").exists()
    editor = tmp_path / "my editor"
    editor.write_text('#!/bin/sh\necho edited >> "$2"\n')
    editor.chmod(editor.stat().st_mode | stat.S_IXUSR)
    monkeypatch.setenv("EDITOR", "false")
    monkeypatch.setenv("VISUAL", f"'{editor}' --wait")
    result = know("new", "Decision", "A", "--edit")
    assert result.code == 0
    assert (repository.root / result.out.strip()).read_text().endswith("edited\n")
    monkeypatch.delenv("VISUAL")
    result = know("new", "Decision", "B", "--edit")
    assert result.code == 1
    assert "false ended with 1" in result.err
    assert (repository.concepts / "decisions" / "b.md").exists()


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("Decision",), "no title"),
        (("Decision", "  "), "the title is empty"),
        (("../..", "x"), "names no type"),
        (("Decision", "x" * 201), "201 characters"),
        (("Decision", "caf\udce9"), "the title is not UTF-8"),
        (("Decision", "x", "--tag", "caf\udce9"), "--tag is not UTF-8"),
        (("Decision", "x", "--by", "human:me"), "<producer>/<version>"),
    ],
)
def test_what_cannot_be_meant_is_wrong_usage(know, repository, arguments, said):
    result = know("new", *arguments)
    assert result.code == 2
    assert said in result.err
    assert list(repository.concepts.iterdir()) == []


def test_a_type_cannot_lead_out_of_the_bundle(know, repository):
    assert know("new", "../../x/y", "../../z").out == "concepts/x-y/z.md\n"


def test_who_has_no_name_is_told_how_to_get_one(know, own_environment):
    (own_environment / ".gitconfig").write_text("")
    for command in (("new", "Decision", "A"), ("remember", "A thing.")):
        result = know(*command)
        assert result.code == 1
        assert 'git config --global user.name "Your Name"' in result.err


# -- know remember -------------------------------------------------------------------


def test_what_is_remembered_is_recalled_at_once_by_the_structured_layer(know, repository):
    options = ("--tag", "release", "--alias", "release day", "--scope", "ops")
    result = know("remember", "Releases are cut on Tuesdays. It gives us a week.", *options)
    path = "concepts/project-knowledge/releases-are-cut-on-tuesdays.md"
    assert result.out == f"{path}\n"
    assert staged(repository) == ["concepts/index.md", path, "concepts/tag_index.jsonl"]
    told = front(repository, path)
    assert told["type"] == "Project Knowledge"
    assert told["description"] == "It gives us a week."
    assert (told["aliases"], told["scope"]) == (["release day"], "ops")
    assert "status" not in told
    for query in ("release day", "tag:release", "when are releases cut on tuesdays"):
        answer = know("recall", query)
        assert "releases-are-cut-on-tuesdays" in answer.out
        assert "structured" in answer.err
    assert know("check", "--strict").code == know("tags", "check").code == 0


def test_what_an_agent_remembers_is_a_draft_by_its_name(know, repository, monkeypatch):
    path = know("remember", "One thing.", "--by", "claude-code/2.1").out.strip()
    assert front(repository, path)["status"] == "draft"
    assert front(repository, path)["generated"]["by"] == "claude-code/2.1"
    monkeypatch.setenv("CLAUDECODE", "1")
    result = know("remember", "Another thing.")
    assert front(repository, result.out.strip())["generated"]["by"] == "claude-code/unknown"
    assert "a draft by claude-code/unknown" in result.err


def test_a_text_comes_from_a_pipe(know, repository, piped):
    piped(b"\xef\xbb\xbf# Why it broke\r\n\r\nThe cache was cold. \r\n\x1b[31mAlways.\x1b[0m\r\n")
    path = know("remember", "-", "--type", "failure").out.strip()
    assert path == "concepts/failures/why-it-broke.md"
    body = parse((repository.root / path).read_bytes()).body
    assert body == "\n# Why it broke\n\nThe cache was cold.\nAlways.\n"


@pytest.mark.parametrize(
    ("data", "code", "said"),
    [
        (b"", 2, "nothing to remember"),
        (b" \n---\n", 2, "nothing to remember"),
        (b"caf\xe9", 1, "not UTF-8"),
        ("ü".encode("utf-16"), 1, "not UTF-8"),
        (b"a" * 100_001, 1, "more than 100,000 characters"),
        (b"a" * 10_000_000, 1, "more than 100,000 characters"),
    ],
)
def test_what_is_no_text_is_refused(know, repository, piped, data, code, said):
    piped(data)
    result = know("remember", "-")
    assert (result.code, result.out) == (code, "")
    assert said in result.err
    assert list(repository.concepts.iterdir()) == []


@pytest.mark.parametrize("option", ["text", "--title", "--tag", "--alias", "--scope"])
def test_a_secret_is_refused_wherever_it_stands_and_not_shown(know, repository, option):
    words = f"the token is {TOKEN}"
    given = (words,) if option == "text" else ("A thing.", option, words)
    result = know("remember", *given)
    assert result.code == 1
    assert "github-token" in result.err
    assert TOKEN not in result.err + result.out
    assert list(repository.concepts.iterdir()) == []
    assert know("new", "Decision", words).code == 1


def test_what_is_known_is_refused_with_its_path_unless_forced(know, repository):
    path = know("remember", "Use tabs. They are narrow.").out.strip()
    for again in (("use TABS!",), ("use tabs -- they are narrow", "--title", "Other")):
        result = know("remember", *again)
        assert (result.code, result.out) == (1, "")
        assert f"{path}: says this already" in result.err
    assert know("remember", "use TABS!", "--force").out.strip() == path.replace(".md", "-2.md")


def test_a_form_that_is_not_filled_in_counts_as_known(know, repository):
    path = know("new", "Decision", "Use tabs").out.strip()
    assert path in know("remember", "Use tabs.").err


def test_a_new_type_or_tag_that_is_nearly_one_in_use_is_remarked(know, repository):
    write(repository, "concepts/a.md", concept(tags=["hooks"]))
    result = know("remember", "A thing.", "--type", "Decison", "--tag", "Hook")
    assert result.code == 0
    assert "did you mean Decision?" in result.err
    assert "Hook is a new tag; hooks is in use" in result.err


def test_where_it_cannot_be_staged_nothing_is_left(know, repository):
    (repository.git_dir / "index.lock").write_text("")
    result = know("remember", "A thing.")
    assert result.code == 1
    assert "index.lock" in result.err
    assert not list(repository.concepts.rglob("*.md"))
    (repository.git_dir / "index.lock").unlink()
    (repository.concepts / "index.md").mkdir()
    result = know("remember", "A thing.")
    assert result.code == 1
    assert "concepts/index.md: cannot be written" in result.err
    assert git(repository.root, "ls-files") == ""
    assert not [path for path in repository.concepts.rglob("*.md") if path.is_file()]


def test_while_concepts_are_in_conflict_nothing_is_written(know, repository):
    part_ways(repository)
    git(repository.root, "merge", "-q", "one", check=False)
    result = know("remember", "A thing.")
    assert result.code == 1
    assert "concepts/a.md: in conflict" in result.err
    assert not (repository.concepts / "project-knowledge").exists()


def test_a_detached_head_and_a_repository_without_a_commit_remember_too(know, repository, commit):
    assert know("remember", "Before all commits.").code == 0
    commit()
    git(repository.root, "checkout", "-q", "--detach")
    assert know("remember", "On no branch.").code == 0


def test_in_a_folder_below_the_top_the_right_files_are_staged(know, repository, monkeypatch):
    inner = repository.root / "inner"
    (inner / "concepts").mkdir(parents=True)
    (inner / "know.toml").write_text("format = 1\n")
    monkeypatch.chdir(inner)
    assert know("remember", "A thing.").out == "concepts/project-knowledge/a-thing.md\n"
    assert staged(repository) == [
        "inner/concepts/index.md", "inner/concepts/project-knowledge/a-thing.md",
        "inner/concepts/tag_index.jsonl",
    ]  # fmt: skip


def test_closed_standard_input_holds_nothing_to_remember(know, monkeypatch):
    monkeypatch.setattr(sys, "stdin", None)
    result = know("remember", "-")
    assert (result.code, "nothing to remember" in result.err) == (2, True)


def test_the_next_step_after_a_form_leads_through_the_hooks(know, repository):
    said = know("new", "Decision", "Two stores").err
    assert "git add concepts/decisions/two-stores.md && know tags build" in said
    git(repository.root, "add", "concepts/decisions/two-stores.md")
    know("tags", "build")
    assert know("hook", "tags").code == 0


def test_what_a_killed_run_left_unstaged_is_named_with_how_to_stage_it(know, repository):
    path = "concepts/project-knowledge/releases-are-on-tuesdays.md"
    know("remember", "Releases are on Tuesdays.")
    assert "git add" not in know("remember", "Releases are on Tuesdays.").err
    git(repository.root, "rm", "-q", "--cached", path)
    said = know("remember", "Releases are on Tuesdays.").err
    assert f"git add {path} && know tags build" in said
