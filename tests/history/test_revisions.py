"""Naming revisions, and listing what they hold, with git as users have set it up."""

from __future__ import annotations

import pytest

from helpers import concept, git, write
from knowrepo.errors import KnowError
from knowrepo.git import revisions
from knowrepo.git.layout import repository_at

ODD = "concepts/a b/ü\nnew.md"


def test_a_word_is_never_taken_for_an_option(repository, at):
    write(repository, "concepts/a.md", concept("A"))
    at("2026-05-01")
    for word in ("--help", "-x", "--all", "--output=x", "a b\n", "HEAD..HEAD", "HEAD:concepts"):
        with pytest.raises(KnowError, match="no revision"):
            revisions.commit_of(repository, word)


def test_tags_branches_and_short_names_lead_to_the_commit(repository, at):
    write(repository, "concepts/a.md", concept("A"))
    first = at("2026-05-01")
    git(repository.root, "tag", "-a", "v1", "-m", "one")
    for name in ("v1", "main", first[:8], "HEAD^{/change}", first):
        assert revisions.commit_of(repository, name) == first


def test_before_the_first_commit_there_is_none(repository):
    with pytest.raises(KnowError, match="HEAD: no commit yet"):
        revisions.commit_of(repository, "HEAD")
    with pytest.raises(KnowError, match="v1: no commit yet"):
        revisions.commit_of(repository, "v1")


def test_a_shallow_clone_says_that_it_is_one(repository, at, tmp_path):
    write(repository, "concepts/a.md", concept("A"))
    first = at("2026-05-01")
    write(repository, "concepts/a.md", concept("B"))
    at("2026-05-02")
    git(tmp_path, "clone", "-q", "--depth=1", f"file://{repository.root}", "shallow")
    clone = repository_at(tmp_path / "shallow")
    for name in (first, "HEAD~1"):
        with pytest.raises(KnowError) as caught:
            revisions.commit_of(clone, name)
        assert "--unshallow" in caught.value.hint


def test_a_clone_without_trees_fetches_nothing_and_says_so(repository, at, tmp_path):
    write(repository, "concepts/a.md", concept("A"))
    first = at("2026-05-01")
    write(repository, "concepts/a.md", concept("B"))
    at("2026-05-02")
    git(repository.root, "config", "uploadpack.allowFilter", "true")
    git(tmp_path, "clone", "-q", "--filter=tree:0", f"file://{repository.root}", "partial")
    clone = repository_at(tmp_path / "partial")
    before = git(clone.root, "count-objects", "-v")
    for look in (
        lambda: revisions.files(clone, first, "concepts"),
        lambda: revisions.changed(clone, first, "HEAD", "concepts"),
    ):
        with pytest.raises(KnowError, match="not all of it is here") as caught:
            look()
        assert "partial clone" in caught.value.hint
    assert git(clone.root, "count-objects", "-v") == before


def test_odd_names_links_and_folders_of_other_knowledge(repository, at):
    write(repository, ODD, concept("Odd"))
    write(repository, "other/concepts/b.md", concept("B"))
    (repository.root / "concepts/link.md").symlink_to("a b")
    commit = at("2026-05-01")
    assert list(revisions.files(repository, commit, "concepts")) == [ODD]
    (repository.root / "other/know.toml").write_text("")
    inner = repository_at(repository.root / "other")
    assert list(revisions.files(inner, commit, "concepts")) == ["concepts/b.md"]
    nowhere = repository.root / "new"
    nowhere.mkdir()
    assert revisions.files(repository_at(nowhere), commit, "concepts") == {}


def test_a_range_has_two_sides_and_each_may_be_left_out(repository, at):
    write(repository, "concepts/a.md", concept("A"))
    first = at("2026-05-01")
    git(repository.root, "checkout", "-qb", "side")
    write(repository, "concepts/b.md", concept("B"))
    side = at("2026-05-02")
    git(repository.root, "checkout", "-q", "main")
    write(repository, "concepts/c.md", concept("C"))
    main = at("2026-05-03")

    def span(text: str) -> tuple[str, str]:
        return revisions.range_of(repository, text)[:2]

    assert span("side..main") == (side, main)
    assert span("side...main") == (first, main)
    assert span("side") == span("side..") == (side, main)
    assert span("..side") == (main, side)
    with pytest.raises(KnowError, match="nowhere: no revision"):
        span("nowhere..main")
    with pytest.raises(KnowError, match="x y: no revision"):
        span("side..x y")


def test_without_a_range_it_is_what_the_upstream_lacks_else_what_came_since_the_tag(
    repository, at, tmp_path
):
    write(repository, "concepts/a.md", concept("A"))
    first = at("2026-05-01")
    with pytest.raises(KnowError, match="no upstream"):
        revisions.range_of(repository, "")
    git(repository.root, "tag", "v1")
    write(repository, "concepts/b.md", concept("B"))
    second = at("2026-05-02")
    assert revisions.range_of(repository, "") == (first, second, "v1..HEAD")
    git(tmp_path, "init", "-q", "--bare", "bare")
    git(repository.root, "remote", "add", "origin", str(tmp_path / "bare"))
    git(repository.root, "push", "-q", "-u", "origin", "main")
    assert revisions.range_of(repository, "") == (second, second, "origin/main...HEAD")


def test_histories_without_a_common_commit_are_said_to_be_so(repository, at):
    write(repository, "concepts/a.md", concept("A"))
    at("2026-05-01")
    git(repository.root, "checkout", "-q", "--orphan", "alone")
    at("2026-05-02")
    with pytest.raises(KnowError, match="no common commit"):
        revisions.range_of(repository, "main...alone")


def test_no_setting_of_the_user_changes_what_is_read(repository, at, know):
    write(repository, "concepts/old.md", concept("Old", body="one\ntwo\nthree"))
    first = at("2026-05-01", "größer", "Zoë")
    git(repository.root, "mv", "concepts/old.md", "concepts/new.md")
    at("2026-05-02")
    looks = (
        ("history", "new", "--json"), ("blame", "new", "--json"), ("diff", first, "--json"),
        ("diff", f"{first}..HEAD", "--format", "md"),
    )  # fmt: skip
    before = [know(*look) for look in looks]
    assert {result.code for result in before} == {0}
    settings = (
        "diff.external=false", "color.ui=always", "log.showSignature=true", "diff.noprefix=true",
        "i18n.logOutputEncoding=ISO-8859-1", "diff.renames=false", "diff.renameLimit=1",
        "log.showRoot=false", "diff.relative=true", "log.date=relative", "diff.orderFile=/nowhere",
        "blame.ignoreRevsFile=/dev/null", "blame.showEmail=true", "core.quotePath=true",
        "format.pretty=oneline", "log.follow=true", "log.decorate=full",
        "blame.coloring=highlightRecent", "log.diffMerges=first-parent", "diff.algorithm=histogram",
    )  # fmt: skip
    for setting in settings:
        git(repository.root, "config", *setting.split("=", 1))
    assert [know(*look) for look in looks] == before  # a process for each would take long
