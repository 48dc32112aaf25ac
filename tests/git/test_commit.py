"""The one commit that know makes: the archive's files, and nothing of the user's."""

from __future__ import annotations

from pathlib import Path

import pytest

from helpers import git, make_repository
from knowrepo.errors import KnowError
from knowrepo.git.commit import changed, commit_only, ignored, refuse_while_busy
from knowrepo.git.layout import Repository


@pytest.fixture
def here(repository) -> Repository:
    (repository.root / "code.py").write_text("1\n")
    (repository.root / "half.py").write_text("1\n")
    git(repository.root, "add", "-A")
    git(repository.root, "commit", "-qm", "start")
    (repository.sessions / "claude").mkdir()
    (repository.sessions / "claude" / "a.jsonl").write_text("{}\n")
    return repository


def is_there(path: Path) -> bool:
    return path.is_file()


def archive_and_commit(here: Repository) -> str:
    return commit_only(here, changed(here, here.sessions, is_there), "Archive")


def files_of(here: Repository, commit: str = "HEAD") -> list[str]:
    return git(here.root, "show", "--name-only", "--format=", commit).split()


def status(here: Repository) -> str:
    return git(here.root, "status", "--porcelain")


def test_what_the_user_has_staged_and_unstaged_stays_as_it_is(here):
    (here.root / "code.py").write_text("2\n")
    git(here.root, "add", "code.py")
    (here.root / "half.py").write_text("2\n")
    git(here.root, "add", "half.py")
    (here.root / "half.py").write_text("3\n")
    (here.root / "new.py").write_text("new\n")
    before = status(here).replace("?? sessions/\n", "")
    archive_and_commit(here)
    assert files_of(here) == ["sessions/claude/a.jsonl"]
    assert status(here) == before
    assert git(here.root, "show", ":half.py") == "2\n"


def test_the_users_next_commit_keeps_the_archive(here):
    archive_and_commit(here)
    (here.root / "code.py").write_text("2\n")
    git(here.root, "commit", "-qam", "mine")
    assert "sessions/claude/a.jsonl" in git(here.root, "ls-tree", "-r", "--name-only", "HEAD")
    assert status(here) == ""


def test_a_session_that_grew_or_was_staged_before_is_committed(here):
    git(here.root, "add", "sessions")
    archive_and_commit(here)
    (here.sessions / "claude" / "a.jsonl").write_text("{}\n{}\n")
    archive_and_commit(here)
    assert git(here.root, "show", "HEAD:sessions/claude/a.jsonl") == "{}\n{}\n"
    assert changed(here, here.sessions, is_there) == []


def test_a_session_that_somebody_deleted_is_not_deleted_from_history(here):
    archive_and_commit(here)
    (here.sessions / "claude" / "a.jsonl").unlink()
    (here.sessions / "claude" / "b.jsonl").write_text("{}\n")
    archive_and_commit(here)
    assert files_of(here) == ["sessions/claude/b.jsonl"]
    assert "a.jsonl" in git(here.root, "ls-tree", "-r", "--name-only", "HEAD")


def test_names_are_names_and_not_patterns(here):
    odd = here.sessions / "claude" / "*.jsonl"
    odd.write_text("{}\n")
    spaced = here.sessions / "claude" / "ä b.jsonl"
    spaced.write_text("{}\n")
    commit_only(here, ["sessions/claude/*.jsonl", "sessions/claude/ä b.jsonl"], "Archive")
    shown = git(here.root, "-c", "core.quotePath=off", "show", "--name-only", "--format=", "HEAD")
    assert shown.splitlines() == ["sessions/claude/*.jsonl", "sessions/claude/ä b.jsonl"]


def test_a_gate_that_refuses_is_heard_and_leaves_the_index_as_it_was(here):
    hook = here.git_dir / "hooks" / "pre-commit"
    hook.parent.mkdir(exist_ok=True)
    hook.write_text("#!/bin/sh\necho 'a secret at line 3' >&2\nexit 1\n")
    hook.chmod(0o755)
    (here.root / "code.py").write_text("2\n")
    git(here.root, "add", "code.py")
    before = status(here)
    with pytest.raises(KnowError, match="a secret at line 3"):
        archive_and_commit(here)
    assert status(here) == before
    assert (here.sessions / "claude" / "a.jsonl").read_text() == "{}\n"


@pytest.mark.parametrize("what", ["merge", "rebase", "cherry-pick", "revert", "bisect", "detached"])
def test_it_keeps_out_of_what_is_going_on(here, what):
    refuse_while_busy(here)
    git(here.root, "branch", "other")
    (here.root / "code.py").write_text("mine\n")
    git(here.root, "commit", "-qam", "mine")
    git(here.root, "checkout", "-q", "other")
    (here.root / "code.py").write_text("theirs\n")
    git(here.root, "commit", "-qam", "theirs")
    if what == "detached":
        git(here.root, "checkout", "-q", "--detach")
    elif what == "bisect":
        git(here.root, "bisect", "start")
    elif what == "revert":
        (here.root / "code.py").write_text("more\n")
        git(here.root, "commit", "-qam", "more")
        git(here.root, "revert", "HEAD~1", check=False)
    else:
        git(here.root, what, "main", check=False)
    with pytest.raises(KnowError, match=r"going on|detached"):
        refuse_while_busy(here)


def test_it_works_in_a_linked_work_tree_and_in_a_folder_of_a_larger_repository(tmp_path):
    whole = make_repository(tmp_path / "code")
    git(whole.root, "commit", "-q", "--allow-empty", "-m", "start")
    git(whole.root, "worktree", "add", "-q", str(tmp_path / "linked"))
    from knowrepo.git.layout import repository_at

    memory = tmp_path / "linked" / "docs" / "memory"
    (memory / "sessions").mkdir(parents=True)
    (memory / "sessions" / "a.jsonl").write_text("{}\n")
    here = repository_at(memory)
    refuse_while_busy(here)
    archive_and_commit(here)
    assert files_of(here) == ["docs/memory/sessions/a.jsonl"]


def refuse(here: Repository) -> None:
    hook = here.git_dir / "hooks" / "pre-commit"
    hook.parent.mkdir(exist_ok=True)
    hook.write_text("#!/bin/sh\nexit 1\n")
    hook.chmod(0o755)


@pytest.mark.parametrize("staged", ["", "{}\n{}\n", None], ids=["as in HEAD", "other", "deleted"])
def test_a_refused_commit_leaves_what_was_staged_of_a_session(here, staged):
    archive_and_commit(here)
    path = here.sessions / "claude" / "a.jsonl"
    if staged:
        path.write_text(staged)
        git(here.root, "add", "sessions")
    elif staged is None:
        git(here.root, "rm", "-q", "--cached", "sessions/claude/a.jsonl")
    path.write_text("{}\n{}\n{}\n")
    before = status(here), git(here.root, "ls-files", "-s")
    refuse(here)
    with pytest.raises(KnowError):
        archive_and_commit(here)
    assert (status(here), git(here.root, "ls-files", "-s")) == before


def test_a_refused_first_commit_leaves_nothing_staged(repository):
    (repository.sessions / "a.jsonl").write_text("{}\n")
    refuse(repository)
    with pytest.raises(KnowError):
        archive_and_commit(repository)
    assert git(repository.root, "ls-files") == ""


@pytest.mark.parametrize("removed", ["deleted", "deleted and staged"])
def test_a_deletion_that_is_wanted_is_committed(here, removed):
    archive_and_commit(here)
    (here.sessions / "claude" / "a.jsonl").unlink()
    if removed == "deleted and staged":
        git(here.root, "add", "-A")
    commit_only(here, changed(here, here.sessions, lambda _: True), "Forget")
    assert status(here) == ""
    assert "a.jsonl" not in git(here.root, "ls-tree", "-r", "--name-only", "HEAD")


def test_what_was_staged_and_never_committed_is_unstaged_where_it_is_gone(here):
    git(here.root, "add", "sessions")
    (here.sessions / "claude" / "a.jsonl").unlink()
    assert commit_only(here, changed(here, here.sessions, lambda _: True), "Forget") == ""
    assert status(here) == ""


def test_a_sparse_checkout_without_the_archive_is_no_hindrance(here):
    (here.root / "src").mkdir()
    (here.root / "src" / "a.txt").write_text("x\n")
    git(here.root, "add", "src")
    git(here.root, "commit", "-qm", "src")
    git(here.root, "sparse-checkout", "set", "--cone", "src")
    archive_and_commit(here)
    assert files_of(here) == ["sessions/claude/a.jsonl"]
    (here.sessions / "claude" / "a.jsonl").write_text("{}\n{}\n")
    archive_and_commit(here)
    assert git(here.root, "show", "HEAD:sessions/claude/a.jsonl") == "{}\n{}\n"
    assert "code.py" in git(here.root, "ls-tree", "--name-only", "HEAD")


def test_what_is_in_conflict_is_not_resolved_by_adding_it(here):
    archive_and_commit(here)
    path = here.sessions / "claude" / "a.jsonl"
    path.write_text("ours\n")
    git(here.root, "stash", "-q")
    path.write_text("theirs\n")
    git(here.root, "commit", "-qam", "theirs")
    git(here.root, "stash", "pop", check=False)
    assert status(here) == "UU sessions/claude/a.jsonl\n"
    assert changed(here, here.sessions, is_there) == []


def test_ignored_files_are_told(here):
    (here.git_dir / "info" / "exclude").write_text("*.jsonl\n")
    assert changed(here, here.sessions, is_there) == []
    assert ignored(here, here.sessions, is_there) == ["sessions/claude/a.jsonl"]


def test_a_machine_without_git_is_told_so(here, monkeypatch, tmp_path):
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(KnowError, match="git is not installed"):
        refuse_while_busy(here)
