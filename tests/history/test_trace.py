"""`know history`: what commits did to a concept."""

from __future__ import annotations

import json

import pytest

from helpers import concept, git, write
from knowrepo.errors import KnowError
from knowrepo.git.layout import repository_at
from knowrepo.history.trace import trace

LONG = "\n\n".join(f"Paragraph {number} of a long text." for number in range(12))


def test_each_commit_says_when_who_and_what_in_a_few_words(repository, at):
    write(repository, "concepts/a.md", concept("A", tags=["one"], body=LONG, status="draft"))
    at("2026-05-01", "begin", "Ann")
    new = concept("B", tags=["two"], body=f"{LONG}\n\nMore.", status="stable", description="Told")
    write(repository, "concepts/a.md", new)
    at("2026-05-02", "go on", "Bob")
    last, first = trace(repository, "a").events
    assert (last.commit.time[:10], last.commit.author, last.commit.subject) == (
        "2026-05-02", "Bob", "go on",
    )  # fmt: skip
    assert last.changes == (
        "title A -> B", "status draft -> stable", "description", "tags +two -one", "body +1",
    )  # fmt: skip
    assert (first.kind, first.commit.author, first.changes) == ("added", "Ann", ())


def test_it_goes_through_renames_and_what_is_renamed_and_changed_says_both(repository, at):
    write(repository, "concepts/a.md", concept("A", body=LONG))
    at("2026-05-01")
    git(repository.root, "mv", "concepts/a.md", "concepts/ü b.md")
    write(repository, "concepts/ü b.md", concept("A", body=LONG, status="draft"))
    at("2026-05-02")
    write(repository, "concepts/ü b.md", concept("A", body=LONG, status="stable"))
    at("2026-05-03")
    found = trace(repository, "ü b")
    assert [event.kind for event in found.events] == ["changed", "renamed", "added"]
    assert found.events[1].renamed_from == "concepts/a.md"
    assert found.events[1].changes == ("status stable -> draft",)
    assert [event.path for event in found.events] == ["concepts/ü b.md"] * 2 + ["concepts/a.md"]


def test_who_wrote_and_verified_it_is_told_of_each_version(repository, at):
    front = 'type: Decision\ntitle: "A"\ngenerated:\n  by: "claude/4"\n'
    write(repository, "concepts/a.md", f"---\n{front}---\n")
    at("2026-05-01")
    front += 'verified:\n  - by: "human:ann"\n    at: "2026-05-02T00:00:00Z"\n'
    write(repository, "concepts/a.md", f"---\n{front}---\n")
    at("2026-05-02")
    last, first = trace(repository, "a").events
    assert (last.generated_by, last.verified) == ("claude/4", ("human:ann",))
    assert last.changes == ("verified +human:ann",)
    assert first.verified == ()


def test_supersessions_are_told_from_both_ends(know, repository, at):
    write(repository, "concepts/old.md", concept("Old"))
    write(repository, "concepts/x/new.md", concept("New"))
    at("2026-05-01")
    know("supersede", "old", "x/new")
    at("2026-05-02")
    old, new = trace(repository, "old"), trace(repository, "x/new")
    assert old.superseded_by == "concepts/x/new.md"
    assert new.supersedes == ("concepts/old.md",)
    assert old.events[0].changes == (
        "status stable -> deprecated", "superseded_by (none) -> x/new.md",
    )  # fmt: skip
    assert "superseded by x/new" in know("history", "old").out
    assert "supersedes old" in know("history", "x/new").out


def test_what_is_not_committed_is_told_first(know, repository, at):
    write(repository, "concepts/a.md", concept("A"))
    at("2026-05-01")
    write(repository, "concepts/a.md", concept("B"), stage=False)
    write(repository, "concepts/draft.md", concept("Draft"), stage=False)
    assert trace(repository, "a").uncommitted == ("title A -> B",)
    assert trace(repository, "draft").uncommitted == ("not committed",)
    assert trace(repository, "draft").events == ()
    assert "not committed yet\n  title A -> B" in know("history", "a").out


def test_a_concept_that_was_removed_is_found_by_its_path(know, repository, at):
    write(repository, "concepts/x/a.md", concept("A"))
    at("2026-05-01")
    git(repository.root, "rm", "-q", "concepts/x/a.md")
    at("2026-05-02")
    for name in ("x/a", "concepts/x/a.md", "x/a.md"):
        assert [event.kind for event in trace(repository, name).events] == ["removed", "added"]
    assert know("history", "x/a").out.startswith("concepts/x/a.md A\n")
    for name in ("nowhere", "../a", "-x"):
        with pytest.raises(KnowError, match="no such concept"):
            trace(repository, name)


def test_what_only_a_merge_changed_is_told(repository, at):
    write(repository, "concepts/a.md", concept("Base"))
    at("2026-05-01")
    for branch in ("one", "two"):
        git(repository.root, "checkout", "-q", "-B", branch, "main")
        write(repository, "concepts/a.md", concept(branch))
        at("2026-05-02", branch)
    git(repository.root, "merge", "one", check=False)
    write(repository, "concepts/a.md", concept("both"))
    at("2026-05-03", "merge")
    first, *others = trace(repository, "a").events
    assert (first.kind, first.commit.subject, first.changes) == (
        "merged", "merge", ("title two -> both",),
    )  # fmt: skip
    assert len(others) == 3


@pytest.mark.parametrize("days", [("02", "03"), ("03", "02")], ids=["rename first", "edit first"])
def test_a_rename_on_one_side_and_an_edit_on_the_other_are_both_told(repository, at, know, days):
    write(repository, "concepts/a.md", concept("A", body="what it says\n" * 9))
    at("2026-05-01", "begin")
    git(repository.root, "checkout", "-q", "-b", "one")
    git(repository.root, "mv", "concepts/a.md", "concepts/b.md")
    at(f"2026-05-{days[0]}", "rename")
    git(repository.root, "checkout", "-q", "-b", "two", "main")
    write(repository, "concepts/a.md", concept("A", body="what it says\n" * 9 + "and more"))
    at(f"2026-05-{days[1]}", "edit")
    git(repository.root, "merge", "-q", "--no-edit", "one")
    git(repository.root, "config", "log.diffMerges", "first-parent")
    found = trace(repository, "b")
    assert {event.commit.subject for event in found.events} == {"begin", "rename", "edit"}
    assert found.events[-1].commit.subject == "begin"
    assert found.uncommitted == ()
    gone = trace(repository, "concepts/a.md")
    assert (gone.events[0].kind, gone.uncommitted) == ("removed", ())


def test_what_came_later_under_an_old_name_is_another_concepts_history(repository, at):
    write(repository, "concepts/a.md", concept("A", body="what it says\n" * 9))
    at("2026-05-01", "begin")
    git(repository.root, "mv", "concepts/a.md", "concepts/b.md")
    at("2026-05-02", "rename")
    write(repository, "concepts/a.md", concept("Another", body="of another matter"))
    at("2026-05-03", "another")
    assert [one.commit.subject for one in trace(repository, "b").events] == ["rename", "begin"]
    assert trace(repository, "a").events[0].commit.subject == "another"


def test_an_edit_that_a_merge_did_not_take_is_not_told(repository, at):
    write(repository, "concepts/a.md", concept("A"))
    at("2026-05-01", "begin")
    for branch in ("one", "two"):
        git(repository.root, "checkout", "-q", "-B", branch, "main")
        write(repository, "concepts/a.md", concept(branch))
        at("2026-05-02", branch)
    git(repository.root, "merge", "-q", "--no-edit", "-X", "ours", "one")
    assert [one.commit.subject for one in trace(repository, "a").events] == ["two", "begin"]


def test_a_body_whose_lines_only_moved_is_no_rewrite(repository, at):
    write(repository, "concepts/a.md", concept("A", body="one\n\ntwo"))
    at("2026-05-01")
    write(repository, "concepts/a.md", concept("A", body="two\n\none"))
    at("2026-05-02")
    write(repository, "concepts/a.md", concept("A", body="two\n\nthree"))
    at("2026-05-03")
    changes = [event.changes for event in trace(repository, "a").events]
    assert changes == [("body +1 -1",), ("body: order or space",), ()]


def test_a_shallow_clone_says_that_more_came_before(repository, at, tmp_path, know):
    write(repository, "concepts/a.md", concept("A"))
    at("2026-05-01")
    write(repository, "concepts/a.md", concept("B"))
    at("2026-05-02")
    git(tmp_path, "clone", "-q", "--depth=1", f"file://{repository.root}", "shallow")
    result = know("history", "a", "--repo", str(tmp_path / "shallow"))
    assert result.code == 0
    assert "this clone is shallow" in result.err


def test_a_partial_clone_tells_the_commits_and_fetches_no_content(repository, at, tmp_path):
    write(repository, "concepts/a.md", concept("A"))
    at("2026-05-01")
    write(repository, "concepts/a.md", concept("B"))
    at("2026-05-02")
    git(repository.root, "config", "uploadpack.allowFilter", "true")
    git(tmp_path, "clone", "-q", "--filter=blob:none", f"file://{repository.root}", "partial")
    clone = repository_at(tmp_path / "partial")
    before = git(clone.root, "count-objects", "-v")
    last, first = trace(clone, "a").events
    assert first.changes == ("content not here",)
    assert last.commit.time[:10] == "2026-05-02"
    assert git(clone.root, "count-objects", "-v") == before


def test_knowledge_in_a_subfolder_has_paths_of_its_own(repository, at):
    write(repository, "inner/concepts/a.md", concept("A", body=LONG))
    write(repository, "inner/know.toml", "")
    at("2026-05-01")
    git(repository.root, "mv", "inner/concepts/a.md", "inner/concepts/b.md")
    at("2026-05-02")
    found = trace(repository_at(repository.root / "inner"), "b")
    assert [event.path for event in found.events] == ["concepts/b.md", "concepts/a.md"]
    assert found.events[0].renamed_from == "concepts/a.md"


def test_what_history_says_is_printed_without_what_a_terminal_obeys(know, repository, at):
    write(repository, "concepts/a.md", concept("A"))
    at("2026-05-01", "red \x1b[31mand \u202eback", "Eve\x1b[2J")
    result = know("history", "a")
    assert "\x1b" not in result.out
    assert "red and [U+202E]back" in result.out
    assert "\x1b" not in know("blame", "a").out
    assert json.loads(know("history", "a", "--json").out)["version"] == 1


def test_the_json_holds_all_that_is_printed(know, repository, at):
    write(repository, "concepts/a.md", concept("A"))
    commit = at("2026-05-01", "begin", "Ann")
    found = json.loads(know("history", "--json", "a").out)
    assert found["events"] == [
        {
            "commit": commit, "time": "2026-05-01T12:00:00+00:00", "author": "Ann",
            "subject": "begin", "kind": "added", "path": "concepts/a.md", "renamed_from": "",
            "changes": [], "generated_by": "", "verified": [],
        }
    ]  # fmt: skip
    write(repository, "concepts/a.md", concept("B"))
    at("2026-05-02")
    assert len(json.loads(know("history", "--json", "-n", "1", "a").out)["events"]) == 1


def test_on_a_terminal_each_line_fits(know, repository, at, monkeypatch):
    words = "many words " * 12
    write(repository, "concepts/a.md", concept(words, body=words))
    at("2026-05-01", words, words)
    for name, value in (("COLUMNS", "80"), ("NO_COLOR", "1")):
        monkeypatch.setenv(name, value)
    whole = [know(command, "a").out for command in ("history", "blame")]
    monkeypatch.setattr("sys.stdout.isatty", lambda: True)
    cut = [know(command, "a").out for command in ("history", "blame")]
    assert all(max(map(len, out.splitlines())) > 100 for out in whole)
    assert all(max(map(len, out.splitlines())) <= 80 for out in cut)
