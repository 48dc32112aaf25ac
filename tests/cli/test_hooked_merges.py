"""Merge, rebase and cherry-pick with conflicts, through real git and real pre-commit."""

from __future__ import annotations

import os

import pytest
from committing import add_what_is_named, commit, commit_with_tags, head, run_git, state

from helpers import concept, git, make_repository, write
from knowrepo.cli.main import main

TAGS = "concepts/tag_index.jsonl"


@pytest.fixture
def parted(tmp_path, hook_up):
    """Branches `main` and `side` with two concepts that both changed, `main` checked out."""
    repository = make_repository(tmp_path / "memory")
    hook_up(repository.root)
    for tag in ("base", "main", "side"):
        if tag == "side":
            git(repository.root, "checkout", "-qb", "side", "HEAD^")
            write(repository, "concepts/c.md", concept("C", tags=["added"]))
        for name in ("a", "b"):
            write(repository, f"concepts/{name}.md", concept(name.upper(), tags=[tag]))
        know(repository, "tags", "build")
        git(repository.root, "add", "-A")
        git(repository.root, "commit", "-qm", tag, "--no-verify")
    git(repository.root, "checkout", "-q", "main")
    return repository


def know(repository, *arguments: str) -> int:
    return main([*arguments, "--repo", str(repository.root)])


def resolve(repository, *names: str) -> None:
    for name in names:
        write(repository, f"concepts/{name}.md", concept(name.upper(), tags=["resolved"]))


def is_right(repository) -> bool:
    """Say whether all that is generated is as it should be, in the work tree and committed."""
    clean = not git(repository.root, "status", "--porcelain")
    return clean and know(repository, "tags", "check") == 0


def test_in_a_merge_only_what_is_resolved_counts(parted, capsys):
    assert run_git(parted.root, "merge", "side")[0] == 1
    before = state(parted.root)
    assert know(parted, "hook", "pre-commit") == 1
    said = capsys.readouterr()
    assert (said.out, said.err.splitlines()) == (
        "",
        [
            "know: concepts/a.md: in conflict",
            "  resolve it and `git add` it, then run this again",
        ],
    )
    assert state(parted.root) == before
    write(parted, "concepts/a.md", "---\ntitle: One: two\n---\n")
    assert know(parted, "hook", "pre-commit") == 1
    out = capsys.readouterr().out
    assert "concepts/a.md:2:11: error OKF103" in out
    assert "concepts/b.md" not in out
    assert "Unmerged" in commit(parted.root)[1] or "unmerged" in commit(parted.root)[1]
    resolve(parted, "a", "b")
    assert know(parted, "tags", "build") == 0
    code, said_by_git = commit(parted.root)
    assert code == 0, said_by_git
    assert len(git(parted.root, "rev-parse", "HEAD^@").split()) == 2
    assert is_right(parted)
    assert '"concept": "c"' in head(parted.root, TAGS)


def test_a_merge_whose_generated_files_one_side_was_taken_for_is_told_to_rebuild_them(parted):
    assert run_git(parted.root, "merge", "side")[0] == 1
    resolve(parted, "a", "b")
    git(parted.root, "checkout", "--ours", "--", "concepts/index.md", TAGS)
    git(parted.root, "add", "-A")
    commit_with_tags(parted.root)
    assert is_right(parted)
    assert '"tag": "added"' in head(parted.root, TAGS)


def test_a_conflict_marker_that_was_added_stops_the_merge(parted):
    assert run_git(parted.root, "merge", "side")[0] == 1
    git(parted.root, "add", "-A")  # as somebody in a hurry does
    code, said = commit(parted.root)
    assert code == 1
    assert "concepts/a.md:" in said
    assert "error" in said


def test_a_rebase_with_conflicts_ends_and_the_next_commit_passes(parted):
    git(parted.root, "checkout", "-q", "side")
    assert run_git(parted.root, "rebase", "main")[0] == 1
    resolve(parted, "a", "b")
    assert know(parted, "tags", "build") == 0
    environment = {**os.environ, "GIT_EDITOR": "true"}
    code, said = run_git(parted.root, "rebase", "--continue", environment=environment)
    assert code == 0, said
    assert is_right(parted)
    write(parted, "note.txt", "x")
    assert commit(parted.root)[0] == 0


def test_a_commit_in_the_middle_of_a_rebase_passes_the_hook(parted):
    git(parted.root, "checkout", "-q", "side")
    assert run_git(parted.root, "rebase", "main")[0] == 1
    resolve(parted, "a", "b")
    git(parted.root, "checkout", "--theirs", "--", "concepts/index.md", TAGS)
    git(parted.root, "add", "-A")
    commit_with_tags(parted.root)  # HEAD is detached
    environment = {**os.environ, "GIT_EDITOR": "true"}
    code, said = run_git(parted.root, "rebase", "--continue", environment=environment)
    assert code == 0, said
    assert git(parted.root, "symbolic-ref", "HEAD").strip() == "refs/heads/side"
    assert is_right(parted)


def test_a_cherry_pick_with_conflicts_is_asked_for_what_is_generated(parted):
    assert run_git(parted.root, "cherry-pick", "side")[0] == 1
    resolve(parted, "a", "b")
    git(parted.root, "checkout", "--ours", "--", "concepts/index.md", TAGS)
    git(parted.root, "add", "-A")
    environment = {**os.environ, "GIT_EDITOR": "true"}
    code, said = run_git(parted.root, "cherry-pick", "--continue", environment=environment)
    assert code != 0
    add_what_is_named(parted.root, said)
    code, said = run_git(parted.root, "cherry-pick", "--continue", environment=environment)
    assert code == 0, said
    assert is_right(parted)
