from __future__ import annotations

import pytest

from helpers import git, make_repository, write
from knowrepo.errors import NotARepositoryError
from knowrepo.git.making import NextCommit, repository_of_commit


def test_changes_are_those_that_are_staged_and_a_rename_is_two(repository, commit):
    for name in ("a.md", "b é.md", "c.md"):
        write(repository, f"concepts/{name}", f"{name}\n")
    commit()
    assert NextCommit(repository).changes == ()
    git(repository.root, "mv", "concepts/b é.md", "concepts/d.md")
    git(repository.root, "rm", "-q", "concepts/c.md")
    write(repository, "concepts/a.md", "other\n")
    write(repository, "concepts/new.md", "new\n", stage=False)
    with NextCommit(repository) as made:
        assert [(change.status, change.path) for change in made.changes] == [
            ("M", "concepts/a.md"), ("D", "concepts/b é.md"), ("D", "concepts/c.md"),
            ("A", "concepts/d.md"),
        ]  # fmt: skip
        edited = made.changes[0]
        assert (made.read(edited.old), made.read(edited.new)) == (b"a.md\n", b"other\n")
        assert (made.changes[1].new, made.changes[3].old) == ("", "")


def test_words_are_looked_for_as_they_are_in_what_is_staged(repository):
    write(repository, "concepts/a.md", "see [x](b.md)\n")
    write(repository, "concepts/b.md", "see bxmd\n")
    write(repository, "concepts/é.md", "caf\xe9 (100%)\n")
    write(repository, "concepts/a.md", "edited\n", stage=False)
    made = NextCommit(repository)
    assert made.with_words("concepts", ["b.md"]) == ["concepts/a.md"]
    assert made.with_words("concepts", ["(100%)", "-e"]) == ["concepts/é.md"]
    assert made.with_words("concepts", []) == []


def test_blobs_are_read_one_by_one_and_what_is_not_there_is_none(repository):
    write(repository, "concepts/a.md", "one\n")
    write(repository, "concepts/b.md", "")
    with NextCommit(repository) as made:
        assert made.read_path("concepts/a.md") == b"one\n"
        assert made.read("0" * 40) is None
        assert made.read_path("concepts/none.md") is None
        assert made.read_path("concepts/b.md") == b""
        assert made.read_path("concepts/a.md") == b"one\n"


def test_a_blob_that_a_partial_clone_lacks_is_none_and_the_next_is_read(repository, tmp_path):
    write(repository, "concepts/a.md", "one\n")
    write(repository, "concepts/b.md", "two\n")
    git(repository.root, "commit", "-qm", "x")
    git(repository.root, "config", "uploadpack.allowFilter", "true")
    clone = tmp_path / "clone"
    source = repository.root.as_uri()
    git(tmp_path, "clone", "-q", "--no-checkout", "--filter=blob:none", source, str(clone))
    git(clone, "restore", "--staged", ".")
    git(clone, "checkout", "-q", "--", "concepts/b.md")  # which fetches that one
    (clone / "know.toml").write_text("format = 1\n")
    with NextCommit(repository_of_commit(clone)) as made:
        assert made.read_path("concepts/a.md") is None
        assert made.read_path("concepts/b.md") == b"two\n"
        oids = [made.files["concepts/a.md"], made.files["concepts/b.md"]]
        assert list(made.read_all(oids)) == [None, b"two\n"]


def test_lines_are_looked_for_in_the_staged_files_that_are_named(repository):
    write(repository, "sessions/a[1].jsonl", "<<<<<<< x\n")
    write(repository, "sessions/b.jsonl", '{"a": "<<<<<<< x"}\n')
    write(repository, "sessions/c.jsonl", "<<<<<<< x\n")
    named = ["sessions/a[1].jsonl", "sessions/b.jsonl"]
    made = NextCommit(repository)
    assert made.with_lines(named, ["^<<<<<<< "]) == named[:1]
    assert made.with_lines([], ["^<<<<<<< "]) == []


def test_a_file_that_was_only_announced_is_no_part_of_it_and_an_empty_one_is(repository):
    write(repository, "concepts/announced.md", "text\n", stage=False)
    git(repository.root, "add", "--intent-to-add", "concepts/announced.md")
    write(repository, "concepts/empty.md", "")
    assert set(NextCommit(repository).files) == {"concepts/empty.md"}


def test_a_state_of_a_folder_is_what_git_has_of_it_and_nothing_beside(repository):
    write(repository, "concepts/a.md", "one\n")
    write(repository, "note.txt", "one\n")
    first = NextCommit(repository).below("concepts/")
    write(repository, "note.txt", "two\n")
    write(repository, "concepts/a.md", "two\n", stage=False)
    assert NextCommit(repository).below("concepts/") == first
    git(repository.root, "add", "-A")
    assert NextCommit(repository).below("concepts/") != first
    write(repository, "concepts/a.md", "one\n")
    assert NextCommit(repository).below("concepts/") == first


# -- whose commit it is ------------------------------------------------------------


def test_a_commit_is_that_of_the_work_tree_and_of_no_repository_that_is_configured(
    repository, tmp_path, monkeypatch
):
    monkeypatch.setenv("KNOW_REPO", str(make_repository(tmp_path / "other").root))
    monkeypatch.chdir(repository.concepts)
    assert repository_of_commit().root == repository.root
    monkeypatch.chdir(tmp_path / "other")
    assert repository_of_commit().root == (tmp_path / "other").resolve()


def test_a_repository_below_the_top_is_found_where_git_tracks_one_and_named_where_more(
    tmp_path, monkeypatch
):
    git(tmp_path, "init", "-q")
    monkeypatch.chdir(tmp_path)
    with pytest.raises(NotARepositoryError, match=r"no knowledge repository in this work tree"):
        repository_of_commit()
    for name in ("a b", "c"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "know.toml").write_text("format = 1\n")
    git(tmp_path, "add", "a b")
    assert repository_of_commit().root == tmp_path / "a b"
    git(tmp_path, "add", "-A")
    with pytest.raises(NotARepositoryError, match=r"several knowledge repositories: a b, c"):
        repository_of_commit()


def test_a_work_tree_inside_of_a_knowledge_repository_is_not_its(repository, monkeypatch):
    inner = repository.root / "vendor"
    inner.mkdir()
    git(inner, "init", "-q")
    monkeypatch.chdir(inner)
    with pytest.raises(NotARepositoryError, match="vendor: no knowledge repository"):
        repository_of_commit()
