"""Where hooks run: work trees, submodules, repositories in others, clones, programs with windows.

A hook works in the work tree that git is at work in, and touches nothing of another.
"""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest
from committing import commit, commit_with_tags, head, state

from helpers import concept, git, make_repository, write
from knowrepo.cli.main import main
from knowrepo.git import drivers
from knowrepo.git.layout import Repository, repository_at

TAGS = "concepts/tag_index.jsonl"
BAD = "---\ntitle: One: two\n---\n"
FILE = ("-c", "protocol.file.allow=always")


def begin(repository: Repository, tag: str = "first") -> None:
    """Commit two folders of concepts, past the hooks."""
    for name in ("a/one", "b/two"):
        write(repository, f"concepts/{name}.md", concept(name, tags=[tag]))
    assert main(["tags", "build", "--repo", str(repository.root)]) == 0
    git(repository.work_tree, "add", "-A")
    git(repository.work_tree, "commit", "-qm", "x", "--no-verify")


@pytest.fixture
def outer(tmp_path, hook_up) -> Repository:
    repository = make_repository(tmp_path / "outer")
    hook_up(repository.root)
    begin(repository)
    return repository


def test_a_linked_work_tree_is_the_only_one_that_its_commits_touch(outer, tmp_path):
    git(outer.root, "worktree", "add", "-q", "-b", "side", str(tmp_path / "linked é"))
    linked = repository_at(tmp_path / "linked é")
    write(outer, "concepts/begun.md", concept("Begun"))
    before = state(outer.root)
    write(linked, "concepts/c.md", concept("C", tags=["linked"]))
    commit_with_tags(linked.root)
    assert '"concept": "c"' in head(linked.root, TAGS)
    assert "begun" not in head(linked.root, TAGS)
    assert state(outer.root) == before


def test_a_submodule_and_what_holds_it_leave_each_other_alone(outer, tmp_path, hook_up):
    source = make_repository(tmp_path / "source")
    begin(source)
    git(outer.root, *FILE, "submodule", "-q", "add", source.root.as_uri(), "concepts/inner")
    inner = repository_at(outer.root / "concepts" / "inner")
    hook_up(inner.root)
    assert commit(outer.root)[0] == 0  # the submodule is no concept
    index, _ = state(outer.root)
    generated = (outer.root / TAGS).read_bytes()
    write(inner, "concepts/c.md", concept("C", tags=["inner"]))
    commit_with_tags(inner.root)
    assert "inner" in head(inner.root, TAGS)
    assert (git(outer.root, "ls-files", "--stage"), (outer.root / TAGS).read_bytes()) == (
        index, generated,
    )  # fmt: skip
    before = state(inner.root)
    write(outer, "concepts/d.md", concept("D", tags=["outer"]))
    git(outer.root, "add", "concepts/inner")
    commit_with_tags(outer.root)
    assert state(inner.root) == before
    assert '"tag": "inner"' not in head(outer.root, TAGS)


def test_a_repository_inside_of_another_is_not_the_other(outer, hook_up):
    code_repository = outer.root / "vendor"
    code_repository.mkdir()
    git(code_repository, "init", "-q")
    hook_up(code_repository)
    write(outer, "concepts/bad.md", BAD)
    before = git(outer.root, "ls-files", "--stage")
    code, said = commit(code_repository)
    assert code == 1
    assert f"know: {code_repository}: no knowledge repository in this work tree" in said
    assert "know init" in said
    assert "bad.md" not in said
    (code_repository / "know.toml").write_text("format = 1\n")
    inner = repository_at(code_repository)
    write(inner, "concepts/c.md", concept("C", tags=["inner"]))
    generated = (outer.root / TAGS).read_bytes()
    commit_with_tags(inner.root)
    assert "inner" in head(inner.root, TAGS)
    assert git(outer.root, "ls-files", "--stage") == before
    assert (outer.root / TAGS).read_bytes() == generated


def test_the_repository_that_the_user_prefers_is_not_looked_at(outer, tmp_path, monkeypatch):
    other = make_repository(tmp_path / "other")
    write(other, "concepts/bad.md", BAD)
    before = state(other.root)
    monkeypatch.setenv("KNOW_REPO", str(other.root))
    write(outer, "concepts/c.md", concept("C"))
    commit_with_tags(outer.root)
    assert state(other.root) == before


@pytest.mark.parametrize("arguments", [(), ("--repo", "docs/my memory")])
def test_a_knowledge_repository_below_a_code_repository(tmp_path, hook_up, arguments):
    top = tmp_path / "code"
    (top / "docs" / "my memory").mkdir(parents=True)
    (top / "docs" / "my memory" / "know.toml").write_text("format = 1\n")
    git(top, "init", "-q")
    hook_up(top, *arguments)
    repository = repository_at(top / "docs" / "my memory")
    begin(repository)
    (top / "concepts").mkdir()
    (top / "concepts" / "bad.md").write_text(BAD)  # no knowledge of this repository
    (top / "main.c").write_text("int main;\n")
    git(top, "add", "-A")
    assert commit(top)[0] == 0
    write(repository, "concepts/bad.md", BAD)
    code, said = commit(top)
    assert code == 1
    assert "concepts/bad.md:2:11: error OKF103" in said
    git(repository.root, "rm", "-qf", "concepts/bad.md")
    write(repository, "concepts/c.md", concept("C", tags=["below"]))
    commit_with_tags(top)  # with the names as they are seen from the top
    assert "below" in head(top, f"docs/my memory/{TAGS}")


@pytest.mark.parametrize("arguments", [("--depth=1",), ("--filter=blob:none",)])
def test_a_shallow_or_partial_clone_needs_nothing_of_where_it_came_from(
    outer, tmp_path, hook_up, arguments
):
    begin(outer, "second")
    clone = _clone(outer, tmp_path, *arguments)
    hook_up(clone.root)
    write(clone, "concepts/a/one.md", concept("A third title", tags=["cloned"]))
    git(clone.root, "rm", "-q", "concepts/b/two.md")
    commit_with_tags(clone.root)
    assert "cloned" in head(clone.root, TAGS)
    assert "two" not in head(clone.root, TAGS)
    git(clone.root, "reset", "-q", "--soft", "HEAD^")
    assert commit(clone.root)[0] == 0


def test_what_a_sparse_partial_clone_has_not_got_stays_in_the_tag_index(outer, tmp_path, hook_up):
    clone = _clone(outer, tmp_path, "--filter=blob:none", "--sparse", cone="concepts/a")
    assert not (clone.concepts / "b").exists()
    hook_up(clone.root)
    write(clone, "concepts/a/three.md", concept("Three", tags=["new"]))
    git(clone.root, "rm", "-q", "concepts/a/one.md")  # which makes the hook look for links to it
    commit_with_tags(clone.root)
    index = head(clone.root, TAGS)
    assert [word in index for word in ("a/three", "a/one", "b/two")] == [True, False, True]
    assert "(b/two.md)" in head(clone.root, "concepts/index.md")
    absent = git(clone.root, "ls-files", "--stage", "concepts/b/two.md").split()[1]
    assert absent not in _objects(clone)


def test_what_a_sparse_checkout_leaves_out_stays_in_the_tag_index_in_a_merge_too(
    outer, tmp_path, capsys
):
    attributes = "".join(f"{driver.attributes}\n" for driver in drivers.DRIVERS)
    write(outer, ".gitattributes", attributes)
    git(outer.root, "commit", "-qm", "x", "--no-verify")
    clone = _clone(outer, tmp_path, "--sparse", cone="concepts/a")
    assert not (clone.concepts / "b").exists()
    assert main(["hooks", "install", "--git", "--repo", str(clone.root)]) == 0
    for branch, name in (("one", "x"), ("two", "y")):
        git(clone.root, "checkout", "-q", "-b", branch, "main")
        write(clone, f"concepts/a/{name}.md", concept(name, kind=name))
        commit_with_tags(clone.root)
    git(clone.root, "merge", "-q", "--no-edit", "one")
    for path in (TAGS, "concepts/index.md"):
        index = head(clone.root, path)
        assert [word in index for word in ("a/x", "a/y", "b/two")] == [True] * 3
    assert git(clone.root, "status", "--porcelain") == ""
    assert not (clone.concepts / "b").exists()
    capsys.readouterr()
    assert main(["tags", "check", "--repo", str(clone.root)]) == 0


def test_a_commit_without_any_environment(outer, tmp_path):
    """As a program with windows may start git: no home, no language, a path with git alone."""
    programs = tmp_path / "programs"
    programs.mkdir()
    for name in ("git", "bash", "sh", "env"):
        found = shutil.which(name)
        assert found is not None
        (programs / name).symlink_to(found)
    bare = {"PATH": str(programs), "PRE_COMMIT_HOME": os.environ["PRE_COMMIT_HOME"]}
    for key, value in (("user.name", "Tester"), ("user.email", "tester@example.org")):
        git(outer.root, "config", key, value)
    write(outer, "concepts/ü.md", concept("Ü", tags=["bare"]))
    commit_with_tags(outer.root, environment=bare)
    assert "bare" in head(outer.root, TAGS)
    write(outer, "concepts/bad ü.md", BAD)
    code, said = commit(outer.root, environment=bare)
    assert code == 1
    assert "error OKF103" in said


def _clone(outer: Repository, tmp_path: Path, *arguments: str, cone: str = "") -> Repository:
    """Clone, and take away what was cloned: whatever would be fetched cannot be."""
    git(outer.root, "config", "uploadpack.allowFilter", "true")
    git(tmp_path, "clone", "-q", *arguments, outer.root.as_uri(), "clone")
    clone = tmp_path / "clone"
    if cone:
        git(clone, "sparse-checkout", "set", cone)
    outer.root.rename(tmp_path / "away")
    return repository_at(clone)


def _objects(repository: Repository) -> set[str]:
    options = ("--batch-all-objects", "--batch-check=%(objectname)")
    return set(git(repository.root, "cat-file", *options).split())
