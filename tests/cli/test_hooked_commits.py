"""Traps of ordinary commits, with real git and real pre-commit; more are in test_pre_commit.py."""

from __future__ import annotations

import pytest
from committing import add_what_is_named, commit, commit_with_tags, head

from helpers import concept, git, make_repository, write
from knowrepo.cli.main import main

TAGS = "concepts/tag_index.jsonl"
BAD = "---\ntitle: One: two\n---\n"


def know(repository, *arguments: str) -> None:
    """Run a command as a person would."""
    assert main([*arguments, "--repo", str(repository.root)]) == 0


@pytest.fixture
def hooked(tmp_path, hook_up):
    repository = make_repository(tmp_path / "a memory é")
    hook_up(repository.root)
    write(repository, "concepts/a.md", concept(tags=["first"]))
    know(repository, "tags", "build")
    git(repository.root, "add", "-A")
    git(repository.root, "commit", "-qm", "x", "--no-verify")
    return repository


def test_commit_a_takes_what_was_rebuilt_and_no_draft(hooked):
    write(hooked, "concepts/a.md", concept(tags=["second"]), stage=False)
    write(hooked, "concepts/draft.md", concept("Draft"), stage=False)
    code, said = commit(hooked.root, "-a")
    assert code == 1
    assert f"git add {TAGS}" in said
    code, said = commit(hooked.root, "-a")
    assert code == 0, said
    assert "second" in head(hooked.root, TAGS)
    assert "first" not in head(hooked.root, TAGS)
    assert "draft" not in head(hooked.root, TAGS)
    assert git(hooked.root, "status", "--porcelain") == "?? concepts/draft.md\n"


def test_a_commit_of_one_concept_is_indexed_without_what_else_is_staged(hooked):
    write(hooked, "concepts/a.md", concept(tags=["second"]))
    write(hooked, "concepts/b.md", concept("B", tags=["other"]))
    code, said = commit(hooked.root, "concepts/a.md")
    assert code == 1
    files = add_what_is_named(hooked.root, said)
    code, said = commit(hooked.root, "concepts/a.md", *files)
    assert code == 0, said
    assert "second" in head(hooked.root, TAGS)
    assert "other" not in head(hooked.root, TAGS)
    assert git(hooked.root, "diff", "--cached", "--name-only") == "concepts/b.md\n"
    commit_with_tags(hooked.root)
    assert "other" in head(hooked.root, TAGS)


def test_a_fault_in_what_is_staged_stops_no_commit_of_another_path(hooked):
    write(hooked, "concepts/bad.md", BAD)
    write(hooked, "note.txt", "x")
    assert commit(hooked.root, "note.txt")[0] == 0
    code, said = commit(hooked.root)
    assert code == 1
    assert "concepts/bad.md:2:11: error OKF103" in said


def test_an_amended_commit_has_what_is_generated(hooked):
    assert commit(hooked.root, "--amend")[0] == 0
    write(hooked, "concepts/b.md", concept("B", tags=["amended"]))
    commit_with_tags(hooked.root, "--amend")
    assert "amended" in head(hooked.root, TAGS)
    assert git(hooked.root, "rev-list", "--count", "HEAD").strip() == "1"


def test_names_with_spaces_quotes_and_letters_of_any_script_are_named_as_they_are(hooked):
    odd = "concepts/Ordner mit 'q'/日本 é.md"
    write(hooked, odd, BAD)
    code, said = commit(hooked.root)
    assert code == 1
    assert f"{odd}:2:11: error OKF103" in said
    token = "gh" + "p_" + "aB3dE5fG7hJ9kL1mN3pQ5rS7tU9vW1xY3z5A"
    write(hooked, odd, concept(body=f"The token is {token}."))
    code, said = commit(hooked.root)
    assert code == 1
    assert f"{odd}:7: github-token" in said
    assert token not in said
    write(hooked, "concepts/Ordner mit 'q'/tiefer/ü.md", concept("Ü"))
    write(hooked, odd, concept(tags=["ein Tag"]))
    commit_with_tags(hooked.root)  # with an index of the folder, to be quoted for a shell
    assert '"concept": "Ordner mit \'q\'/日本 é"' in head(hooked.root, TAGS)
    assert "[Ü](tiefer/%C3%BC.md)" in head(hooked.root, "concepts/Ordner mit 'q'/index.md")


def test_windows_line_endings_make_nothing_stale_and_reach_no_commit(hooked):
    git(hooked.root, "config", "core.autocrlf", "true")
    git(hooked.root, "rm", "-q", "--cached", "-r", "concepts")
    git(hooked.root, "reset", "-q", "--hard")
    generated = hooked.root / TAGS
    assert b"\r\n" in generated.read_bytes()
    write(hooked, "note.txt", "x")
    assert commit(hooked.root)[0] == 0
    text = concept("B", tags=["windows"], body="[a](a.md)\nMore.").replace("\n", "\r\n")
    (hooked.concepts / "b.md").write_bytes(text.encode())
    git(hooked.root, "add", "concepts/b.md")
    commit_with_tags(hooked.root)
    for path in ("concepts/b.md", TAGS, "concepts/index.md"):
        assert "\r" not in git(hooked.root, "cat-file", "-p", f"HEAD:{path}").replace("\r\n", "\r")
    assert "windows" in head(hooked.root, TAGS)
    assert git(hooked.root, "status", "--porcelain") == ""


def test_a_concept_that_was_committed_with_windows_line_endings_passes(hooked):
    git(hooked.root, "config", "core.autocrlf", "false")
    (hooked.concepts / "b.md").write_bytes(concept("B", tags=["x"]).replace("\n", "\r\n").encode())
    git(hooked.root, "add", "concepts/b.md")
    commit_with_tags(hooked.root)
    assert '"title": "B"' in head(hooked.root, TAGS)


def test_faults_are_told_at_once_and_nothing_is_rebuilt_of_what_is_to_be_mended(hooked):
    token = "gh" + "p_" + "aB3dE5fG7hJ9kL1mN3pQ5rS7tU9vW1xY3z5A"
    before = (hooked.root / TAGS).read_bytes()
    write(hooked, "concepts/bad.md", BAD)
    write(hooked, "concepts/b.md", concept("B", body=token))
    code, said = commit(hooked.root)
    assert code == 1
    assert "concepts/bad.md:2:11: error OKF103" in said
    assert "concepts/b.md:7: github-token" in said
    assert (hooked.root / TAGS).read_bytes() == before


def test_who_edits_on_in_place_of_adding_what_was_rebuilt_comes_to_an_end(hooked):
    """pre-commit sets the first rebuild aside, and undoes the second that conflicts with it."""
    write(hooked, "concepts/a.md", concept(tags=["second"]))
    assert commit(hooked.root)[0] == 1
    write(hooked, "concepts/a.md", concept(tags=["third"]))
    code, said = commit(hooked.root)
    assert code == 1
    assert "know tags build" in said
    know(hooked, "tags", "build")
    code, said = commit(hooked.root)
    assert code == 0, said
    assert "third" in head(hooked.root, TAGS)
    assert "second" not in head(hooked.root, TAGS)
