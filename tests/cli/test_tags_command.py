"""What is generated, and the tags, as a person meets them."""

from __future__ import annotations

import json

from helpers import concept, git, write


def built(know, repository):
    assert know("tags", "build").code == 0
    git(repository.root, "add", "-A")
    assert know("tags", "check").code == 0


def test_a_folder_that_becomes_deep_gets_an_index_that_the_hook_wants_in_the_commit(
    know, repository
):
    write(repository, "concepts/a b/one.md", concept("One"))
    built(know, repository)
    write(repository, "concepts/a b/c/two.md", concept("Two"))
    result = know("hook", "tags")
    assert result.code == 1
    assert "git add concepts/index.md 'concepts/a b/index.md'" in result.err
    assert "concepts/a b/index.md: not tracked" in know("tags", "check").out
    git(repository.root, "add", "-A")
    assert know("hook", "tags").code == 0
    assert know("check", "--strict").code == 0


def test_the_index_of_an_emptied_folder_stays_until_a_person_removes_it(know, repository, commit):
    write(repository, "concepts/a/b/one.md", concept("One"))
    write(repository, "concepts/two.md", concept("Two"))
    built(know, repository)
    commit()
    git(repository.root, "rm", "-q", "concepts/a/b/one.md")
    assert "concepts/a/index.md" in know("hook", "tags").err
    git(repository.root, "add", "-A")
    assert know("hook", "tags").code == 0
    assert know("check", "--strict").code == 0
    git(repository.root, "rm", "-qrf", "concepts/a")
    assert know("hook", "tags").code == 0
    assert not (repository.concepts / "a").exists()


def test_a_folder_keeps_its_index_while_it_holds_a_concept(know, repository, commit):
    write(repository, "concepts/a/b/one.md", concept("One"))
    write(repository, "concepts/a/two.md", concept("Two"))
    built(know, repository)
    commit()
    git(repository.root, "rm", "-q", "concepts/a/b/one.md")
    built(know, repository)
    assert "(two.md)" in (repository.concepts / "a" / "index.md").read_text()


def test_what_git_does_not_track_decides_nothing(know, repository):
    write(repository, "concepts/a/one.md", concept("One"))
    built(know, repository)
    write(repository, "concepts/a/b/two.md", concept("Two"))
    assert know("hook", "tags").code == 1
    git(repository.root, "rm", "-qf", "concepts/a/b/two.md")
    assert know("tags", "check").code == 1  # what was rebuilt lies in the work tree
    assert know("hook", "tags").code == 0  # and the commit has what was right before
    assert not (repository.concepts / "a" / "index.md").exists()


def test_the_hook_looks_at_what_is_staged_and_not_at_edits_beside_it(know, repository, commit):
    write(repository, "concepts/a.md", concept(tags=["first"]))
    built(know, repository)
    commit()
    write(repository, "concepts/a.md", concept(tags=["later"]), stage=False)
    write(repository, "concepts/announced.md", concept("Announced"), stage=False)
    git(repository.root, "add", "--intent-to-add", "concepts/announced.md")
    assert know("hook", "tags").code == 0
    write(repository, "concepts/b.md", concept("B", tags=["new"]))
    assert know("hook", "tags").code == 1
    text = (repository.concepts / "tag_index.jsonl").read_text()
    assert [word in text for word in ("first", "new", "later", "announced")] == [
        True, True, False, False,
    ]  # fmt: skip


def test_an_index_that_a_person_is_writing_in_place_of_ours_is_not_overwritten(know, repository):
    write(repository, "concepts/a.md", concept())
    built(know, repository)
    (repository.concepts / "index.md").write_text("# Mine\n")
    write(repository, "concepts/b.md", concept("B"))
    assert know("hook", "tags").code == 1
    assert (repository.concepts / "index.md").read_text() == "# Mine\n"
    git(repository.root, "add", "-A")
    assert know("hook", "tags").code == 0


def test_an_index_that_a_person_wrote_in_a_folder_is_left_alone_tracked_or_not(know, repository):
    write(repository, "concepts/a/b/c/one.md", concept("One"))
    write(repository, "concepts/a/index.md", "# Mine\n")
    write(repository, "concepts/a/b/index.md", "# Mine too\n", stage=False)
    assert know("tags", "build").code == 0
    assert (repository.concepts / "a" / "index.md").read_text() == "# Mine\n"
    assert (repository.concepts / "a" / "b" / "index.md").read_text() == "# Mine too\n"
    assert "(a/b/c/one.md)" in (repository.concepts / "index.md").read_text()


def test_line_ends_of_a_checkout_make_nothing_stale(know, repository):
    write(repository, "concepts/a/b/one.md", concept("One"))
    built(know, repository)
    for path in repository.concepts.rglob("index.md"):
        path.write_bytes(path.read_bytes().replace(b"\n", b"\r\n"))
    assert know("tags", "check").code == 0


def test_a_folder_that_leads_out_of_the_repository_is_not_written_to(know, repository, tmp_path):
    write(repository, "concepts/a/b/one.md", concept("One"))
    outside = tmp_path / "outside"
    (repository.concepts / "a").rename(outside)
    (repository.concepts / "a").symlink_to(outside)
    result = know("tags", "build")
    assert result.code == 1
    assert "leads out of the repository" in result.err
    assert not (outside / "index.md").exists()


def test_the_list_says_in_which_types_a_tag_occurs_and_what_is_near(know, repository):
    write(repository, "concepts/a.md", concept(tags=["git hooks", "git"]))
    write(repository, "concepts/b.md", concept("B", kind="Failure", tags=["git"]))
    write(repository, "concepts/c.md", concept("C", tags=["git", "git-hooks"]))
    result = know("tags", "list")
    assert result.out.splitlines()[0] == "    3  git        Decision, Failure"
    assert "know tags rename 'git hooks' git-hooks" in result.err
    told = json.loads(know("tags", "list", "--json").out)
    assert told["version"] == 1
    assert told["tags"][0] == {"tag": "git", "count": 3, "types": ["Decision", "Failure"]}
    assert told["near"] == [{"old": "git hooks", "new": "git-hooks", "why": "case or separators"}]


def test_without_tags_the_list_is_empty(know):
    assert know("tags", "list").out == ""
    assert json.loads(know("tags", "list", "--json").out) == {"version": 1, "tags": [], "near": []}


def test_drafts_that_are_added_pass_the_hooks_at_the_first_try(know, repository, commit):
    write(repository, "concepts/a.md", concept("A"))
    know("tags", "build")
    commit()
    write(repository, "concepts/b.md", concept("B"))  # as `know distill` says: git add concepts
    result = know("tags", "build")
    assert "staged: concepts/index.md, concepts/tag_index.jsonl" in result.err
    assert know("hook", "tags").code == 0
    assert git(repository.root, "status", "--porcelain").split() == [
        "A", "concepts/b.md", "M", "concepts/index.md", "M", "concepts/tag_index.jsonl"
    ]  # fmt: skip


def test_what_is_built_and_was_never_staged_is_staged_by_the_next_build(know, repository, commit):
    write(repository, "concepts/a.md", concept("A"))
    know("tags", "build")
    commit()
    write(repository, "concepts/b.md", concept("B"))
    assert know("hook", "tags").code == 1  # built, but in the work tree alone
    assert "up to date" in know("tags", "build").out
    assert git(repository.root, "diff", "--name-only") == ""
