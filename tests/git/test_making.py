from __future__ import annotations

from helpers import git, write
from knowrepo.git import making, plumbing


def test_changes_are_those_that_are_staged_and_a_rename_is_two(repository, commit):
    for name in ("a.md", "b é.md", "c.md"):
        write(repository, f"concepts/{name}", f"{name}\n")
    commit()
    assert making.staged_changes(repository) == []
    git(repository.root, "mv", "concepts/b é.md", "concepts/d.md")
    git(repository.root, "rm", "-q", "concepts/c.md")
    write(repository, "concepts/a.md", "other\n")
    write(repository, "concepts/new.md", "new\n", stage=False)
    assert making.staged_changes(repository, "concepts") == [
        ("M", "concepts/a.md"), ("D", "concepts/b é.md"), ("D", "concepts/c.md"),
        ("A", "concepts/d.md"),
    ]  # fmt: skip


def test_words_are_looked_for_as_they_are_in_what_is_staged(repository):
    write(repository, "concepts/a.md", "see [x](b.md)\n")
    write(repository, "concepts/b.md", "see bxmd\n")
    write(repository, "concepts/é.md", "caf\xe9 (100%)\n")
    write(repository, "concepts/a.md", "edited\n", stage=False)
    assert making.with_words(repository, "concepts", ["b.md"]) == ["concepts/a.md"]
    assert making.with_words(repository, "concepts", ["(100%)", "-e"]) == ["concepts/é.md"]
    assert making.with_words(repository, "concepts", []) == []


def test_blobs_are_read_one_by_one_and_what_is_not_there_is_none(repository):
    write(repository, "concepts/a.md", "one\n")
    write(repository, "concepts/b.md", "")
    oids = plumbing.tracked(repository, "concepts")
    with making.BlobReader(repository) as blobs:
        assert blobs.read(oids["concepts/a.md"]) == b"one\n"
        assert blobs.read("0" * 40) is None
        assert blobs.read(oids["concepts/b.md"]) == b""
        assert blobs.read(oids["concepts/a.md"]) == b"one\n"


def test_lines_are_looked_for_in_the_staged_files_that_are_named(repository):
    write(repository, "sessions/a[1].jsonl", "<<<<<<< x\n")
    write(repository, "sessions/b.jsonl", '{"a": "<<<<<<< x"}\n')
    write(repository, "sessions/c.jsonl", "<<<<<<< x\n")
    named = ["sessions/a[1].jsonl", "sessions/b.jsonl"]
    assert making.staged_with_lines(repository, named, ["^<<<<<<< "]) == named[:1]
    assert making.staged_with_lines(repository, [], ["^<<<<<<< "]) == []
