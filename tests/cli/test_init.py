from __future__ import annotations

import tomllib

import pytest

from helpers import git, transcript, user
from knowrepo.cli.main import main
from knowrepo.config import load_user_config


@pytest.fixture
def project(tmp_path, monkeypatch):
    folder = tmp_path / "app"
    folder.mkdir()
    git(folder, "init", "-q")
    monkeypatch.chdir(folder)
    return folder


def test_a_git_repository_becomes_a_knowledge_repository(project, capsys):
    assert main(["init", "--no-archive"]) == 0
    out = capsys.readouterr().out
    assert "Put this line into AGENTS.md or CLAUDE.md" in out
    assert "know recall" in out
    made = {p.relative_to(project).as_posix() for p in project.rglob("*") if ".git/" not in str(p)}
    assert made >= {
        "know.toml", ".gitattributes", ".pre-commit-config.yaml", "concepts", "sessions",
        "concepts/index.md", "concepts/tag_index.jsonl",
    }  # fmt: skip
    git(project, "add", "-A")
    assert main(["check"]) == 0
    assert main(["tags", "check"]) == 0


def test_a_second_run_changes_nothing(project, own_environment):
    main(["init", "--no-archive"])
    before = {p: p.read_bytes() for p in project.rglob("*") if p.is_file()}
    configuration = (own_environment / "config.toml").read_bytes()
    assert main(["init", "--no-archive"]) == 0
    assert {p: p.read_bytes() for p in project.rglob("*") if p.is_file()} == before
    assert (own_environment / "config.toml").read_bytes() == configuration


def test_nothing_is_overwritten(project, capsys):
    (project / ".pre-commit-config.yaml").write_text("repos: []\n")
    (project / ".gitattributes").write_text("* text=auto\n")
    (project / "concepts").mkdir()
    (project / "concepts" / "index.md").write_text("# Mine\n")
    assert main(["init", "--no-archive"]) == 0
    assert (project / ".pre-commit-config.yaml").read_text() == "repos: []\n"
    assert (project / ".gitattributes").read_text() == "* text=auto\n"
    assert (project / "concepts" / "index.md").read_text() == "# Mine\n"
    err = capsys.readouterr().err
    assert "left alone; it may want:" in err
    assert ".gitattributes: there already and left alone; add to it:" in err
    assert "end in a conflict" in err


def test_attributes_that_hold_our_lines_among_others_lack_nothing(project, capsys):
    main(["init", "--no-archive"])
    attributes = project / ".gitattributes"
    attributes.write_text("* text=auto\n" + attributes.read_text() + "*.png binary\n")
    capsys.readouterr()
    main(["init", "--no-archive"])
    told = capsys.readouterr()
    assert ".gitattributes: there already\n" in told.out
    assert ".gitattributes" not in told.err
    attributes.write_text(attributes.read_text().replace(" merge=know-tags", ""))
    main(["init", "--no-archive"])
    told = capsys.readouterr()
    assert "    concepts/tag_index.jsonl -text merge=know-tags\n" in told.err
    assert "merge=know-session" not in told.err


def test_a_project_that_is_not_there_is_not_mapped_and_nothing_is_made(project, capsys):
    assert main(["init", "--project", "nope"]) == 1
    told = capsys.readouterr()
    assert told.err.startswith("know: --project nope: no such folder\n")
    assert [path.name for path in project.iterdir()] == [".git"]
    assert load_user_config().projects == ()


def test_what_is_next_names_the_repository_that_was_made(project, tmp_path, capsys):
    (tmp_path / "memory").mkdir()
    git(tmp_path / "memory", "init", "-q")
    assert main(["init", str(tmp_path / "memory"), "--no-archive"]) == 0
    out = capsys.readouterr().out
    assert f"Next, in {tmp_path / 'memory'}: git add -A, commit" in out
    assert "Every other clone needs `know init`" in out


def test_in_a_clone_init_names_the_driver_that_the_clone_lacks(project, tmp_path, capsys):
    main(["init", "--no-archive"])
    git(project, "add", "-A")
    git(project, "commit", "-qm", "x")
    git(tmp_path, "clone", "-q", str(project), "clone")
    driver = "merge.know-session.driver"
    assert git(tmp_path / "clone", "config", "--local", "--get", driver, check=False) == ""
    assert main(["init", str(tmp_path / "clone"), "--no-archive"]) == 0
    assert "merge-session" in git(tmp_path / "clone", "config", "--local", "--get", driver)


def test_the_project_is_mapped_and_the_users_configuration_kept(project, own_environment):
    configuration = own_environment / "config.toml"
    configuration.write_text('# mine\nquery_prefix = "q: "\n')
    git(project, "remote", "add", "origin", "https://user:secret@example.org/team/app.git")
    main(["init", "--no-archive"])
    text = configuration.read_text()
    assert text.startswith('# mine\nquery_prefix = "q: "\n')
    (mapped,) = load_user_config().projects
    assert mapped.identity == "https://example.org/team/app.git"
    assert mapped.repository == str(project.resolve())
    assert tomllib.loads(text)["repository"] == str(project.resolve())


def test_another_project_can_be_mapped_and_the_default_left_alone(project, tmp_path):
    memory = tmp_path / "memory"
    memory.mkdir()
    git(memory, "init", "-q")
    assert main(["init", str(memory), "--no-archive", "--no-default"]) == 0
    config = load_user_config()
    assert config.repository == ""
    assert config.projects[0].path == str(project.resolve())
    assert config.projects[0].repository == str(memory.resolve())


def test_a_configured_repository_is_found_from_anywhere(project, tmp_path, monkeypatch, capsys):
    main(["init", "--no-archive"])
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    monkeypatch.chdir(elsewhere)
    assert main(["recall", "x"]) == 0


def agents_folder(own_environment, project):
    slug = "".join(c if c.isalnum() else "-" for c in str(project.resolve()))
    return own_environment / ".claude" / "projects" / slug


def test_transcripts_of_the_project_are_archived_where_that_is_asked(
    project, own_environment, capsys
):
    folder = agents_folder(own_environment, project)
    transcript(folder, [user("hello", 1, cwd=str(project.resolve()))])
    other = "11111111-2222-4333-8444-555555555555"
    transcript(folder, [user("private", 1, cwd="/somewhere/else")], f"{other}.jsonl")
    assert main(["init", "--archive"]) == 0
    archived = [p.stem for p in (project / "sessions").rglob("*.jsonl")]
    assert len(archived) == 1
    assert other not in archived


def test_without_a_terminal_nothing_is_asked_and_the_command_is_printed(
    project, own_environment, capsys
):
    folder = agents_folder(own_environment, project)
    transcript(folder, [user("hello", 1, cwd=str(project.resolve()))])
    assert main(["init"]) == 0
    assert "know archive --all\n" in capsys.readouterr().err
    assert list((project / "sessions").rglob("*.jsonl")) == []


def test_only_the_transcripts_of_the_project_at_hand_are_counted(
    project, own_environment, tmp_path, capsys
):
    other = tmp_path / "other"
    for one in (project, other):
        git(tmp_path, "init", "-q", str(one))
        folder = agents_folder(own_environment, one)
        transcript(folder, [user("hello", 1, cwd=str(one.resolve()))])
    assert main(["init"]) == 0
    assert main(["archive", "--all"]) == 0
    capsys.readouterr()
    assert main(["init", "--project", str(other)]) == 0
    assert f"1 transcript of {other.resolve()} found" in capsys.readouterr().err


def test_a_folder_that_is_no_project_is_not_mapped(tmp_path, monkeypatch):
    memory = tmp_path / "memory"
    memory.mkdir()
    git(memory, "init", "-q")
    monkeypatch.chdir(tmp_path)  # as from a home that holds all of one's projects
    assert main(["init", "memory", "--no-archive"]) == 0
    assert [p.path for p in load_user_config().projects] == [str(memory.resolve())]


def test_comments_and_other_keys_of_the_configuration_stay(project, own_environment):
    configuration = own_environment / "config.toml"
    text = (
        '# mine\n[[projects]]  # first\nidentity = "x"\npath = "/x"\nrepository = "/y"\nown = 1\n'
    )
    configuration.write_text(text)
    main(["init", "--no-archive", "--no-default"])
    assert configuration.read_text().startswith(text)
    assert len(load_user_config().projects) == 2


def test_in_a_subfolder_the_hooks_stand_at_the_top(project):
    (project / "docs").mkdir()
    assert main(["init", "docs", "--no-archive"]) == 0
    hooks = (project / ".pre-commit-config.yaml").read_text()
    assert "entry: know hook pre-commit --repo 'docs'" in hooks
    git(project, "add", "-A")
    assert main(["check", "--repo", "docs"]) == 0


def test_outside_of_git_there_is_one_clear_line(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    assert main(["init"]) == 1
    assert "not in a git repository" in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []
