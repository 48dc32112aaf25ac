"""What git can do to its index and its objects; the catalog holds the same concepts."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from catalog_rows import rebuilt, rows_of
from helpers import concept, git, make_repository, write
from knowrepo.git.layout import Repository, repository_at
from knowrepo.index import freshness
from knowrepo.index.build import refresh
from knowrepo.index.catalog import SEEN, Catalog, Filter


def paths(repository: Repository) -> set[str]:
    catalog = Catalog.open(repository.catalog)
    assert catalog is not None
    with catalog:
        return {document.path for document in catalog.newest(1000, Filter())}


def is_current(repository: Repository) -> bool:
    catalog = Catalog.open(repository.catalog)
    assert catalog is not None
    with catalog:
        return freshness.is_current(repository, freshness.Signature.loads(catalog.meta(SEEN)))


def committed(folder: Path, *options: str) -> Repository:
    folder.mkdir()
    git(folder, "init", "-q", *options)
    (folder / "know.toml").write_text("format = 1\n")
    repository = repository_at(folder.resolve())
    for name in "abc":
        write(repository, f"concepts/{name}.md", concept(name, body=f"about {name}"))
    (folder / "sessions").mkdir()
    git(folder, "commit", "-qm", "three")
    return repository


@pytest.mark.parametrize(
    "settings",
    [
        {"core.splitIndex": "true"},
        {"index.version": "4"},
        {"index.skipHash": "true"},
        {"core.untrackedCache": "true"},
        {"core.splitIndex": "true", "index.version": "4", "index.skipHash": "true"},
    ],
    ids=str,
)
def test_a_change_is_seen_whatever_the_form_of_gits_index(tmp_path, monkeypatch, settings):
    monkeypatch.setattr(freshness, "_RACY_NANOSECONDS", -1)
    repository = committed(tmp_path / "memory")
    for name, value in settings.items():
        git(repository.root, "config", name, value)
    write(repository, "concepts/d.md", concept("d"))
    refresh(repository)
    assert is_current(repository)
    assert paths(repository) == {f"concepts/{name}.md" for name in "abcd"}
    for change in (("mv", "concepts/a.md", "concepts/z.md"), ("rm", "-qf", "concepts/b.md")):
        git(repository.root, *change)
        assert not is_current(repository)
        refresh(repository)
        assert is_current(repository)
    assert rows_of(repository) == rebuilt(repository)


def test_a_repository_with_longer_names_of_objects_is_indexed(tmp_path, monkeypatch):
    monkeypatch.setattr(freshness, "_RACY_NANOSECONDS", -1)
    repository = committed(tmp_path / "memory", "--object-format=sha256")
    refresh(repository)
    assert is_current(repository)
    write(repository, "concepts/a.md", concept("changed"))
    write(repository, "concepts/empty.md", "")
    assert not is_current(repository)
    assert refresh(repository).indexed == 1
    assert refresh(repository).indexed == 0
    assert rows_of(repository) == rebuilt(repository)


def test_what_a_sparse_checkout_leaves_out_of_the_work_tree_is_known(tmp_path):
    repository = committed(tmp_path / "memory")
    write(repository, "concepts/deep/d.md", concept("deep"))
    git(repository.root, "commit", "-qm", "deep")
    for cone in ("--no-cone", "--cone"):
        git(repository.root, "sparse-checkout", "set", cone, "--sparse-index", "sessions")
        assert not (repository.concepts / "deep" / "d.md").exists()
        refresh(repository)
        assert paths(repository) == {f"concepts/{name}.md" for name in ("a", "b", "c", "deep/d")}


def test_what_is_assumed_to_be_unchanged_is_known_by_what_is_tracked(tmp_path):
    repository = committed(tmp_path / "memory")
    git(repository.root, "update-index", "--assume-unchanged", "concepts/a.md")
    git(repository.root, "update-index", "--skip-worktree", "concepts/b.md")
    (repository.concepts / "a.md").unlink()
    refresh(repository)
    assert paths(repository) == {f"concepts/{name}.md" for name in "abc"}


def test_a_file_that_was_only_announced_to_git_is_a_draft(repository):
    write(repository, "concepts/a.md", concept("A"), stage=False)
    git(repository.root, "add", "--intent-to-add", "concepts/a.md")
    refresh(repository)
    assert paths(repository) == set()
    git(repository.root, "add", "concepts/a.md")
    refresh(repository)
    assert paths(repository) == {"concepts/a.md"}


def test_links_and_submodules_among_the_concepts_are_no_concepts(tmp_path):
    repository = committed(tmp_path / "memory")
    inner = committed(tmp_path / "inner")
    (repository.concepts / "link.md").symlink_to("a.md")
    (repository.concepts / "away").symlink_to(inner.concepts)
    allow = ("-c", "protocol.file.allow=always")
    git(repository.root, *allow, "submodule", "-q", "add", str(inner.root), "concepts/inner")
    git(repository.root, "add", "-A")
    git(repository.root, "commit", "-qm", "more")
    refresh(repository)
    assert paths(repository) == {f"concepts/{name}.md" for name in "abc"}
    below = repository_at(repository.concepts / "inner")
    (below.root / "sessions").mkdir(exist_ok=True)
    refresh(below)
    assert paths(below) == {f"concepts/{name}.md" for name in "abc"}
    assert below.catalog != repository.catalog


def cloned(origin: Repository, folder: Path, *options: str) -> Repository:
    for name in ("allowFilter", "allowAnySHA1InWant"):
        git(origin.root, "config", f"uploadpack.{name}", "true")
    subprocess.run(["git", "clone", "-q", *options, origin.root.as_uri(), str(folder)], check=True)
    (folder / "sessions").mkdir(exist_ok=True)
    return repository_at(folder.resolve())


def test_what_a_partial_clone_lacked_is_indexed_once_it_was_fetched(tmp_path, monkeypatch):
    monkeypatch.setattr(freshness, "_RACY_NANOSECONDS", -1)
    origin = committed(tmp_path / "origin")
    clone = cloned(origin, tmp_path / "clone", "--no-checkout", "--filter=blob:none")
    git(clone.root, "read-tree", "HEAD")
    refresh(clone)
    assert not freshness.holds_all(clone)
    for name in "abc":  # fetches it, and touches neither git's index nor a file
        git(clone.root, "cat-file", "-p", f"HEAD:concepts/{name}.md")
    assert refresh(clone).indexed == 3
    assert refresh(clone).notes == ()
    assert freshness.holds_all(clone)


def test_a_shallow_clone_is_indexed(tmp_path):
    origin = committed(tmp_path / "origin")
    write(origin, "concepts/d.md", concept("d"))
    git(origin.root, "commit", "-qm", "four")
    clone = cloned(origin, tmp_path / "clone", "--depth=1")
    assert refresh(clone).notes == ()
    assert paths(clone) == {f"concepts/{name}.md" for name in "abcd"}


def test_a_partial_clone_is_named_what_it_lacks_and_nothing_is_fetched(tmp_path):
    origin = committed(tmp_path / "origin")
    clone = cloned(origin, tmp_path / "clone", "--no-checkout", "--filter=blob:none")
    git(clone.root, "read-tree", "HEAD")
    done = refresh(clone)
    assert len(done.notes) == 3
    assert "concepts/a.md: not indexed: this clone lacks its content" in done.notes[0]
    assert done.behind == 0
    missing = git(clone.root, "rev-list", "--objects", "--all", "--missing=print")
    assert missing.count("?") == 3
    git(clone.root, "checkout", "-q", "--", "concepts/a.md")  # git fetches that
    assert len(refresh(clone).notes) == 2
    catalog = Catalog.open(clone.catalog)
    assert catalog is not None
    with catalog:
        assert len(catalog.lexical(["about"], 10, Filter())) == 1
    assert rows_of(clone) == rebuilt(clone)


def test_a_clone_without_its_older_trees_says_that_dates_are_missing(tmp_path):
    origin = committed(tmp_path / "origin")
    write(origin, "concepts/d.md", concept("d"))
    git(origin.root, "commit", "-qm", "four")
    clone = cloned(origin, tmp_path / "clone", "--filter=tree:0")
    done = refresh(clone)
    assert done.indexed == 4
    assert "no date of a commit" in done.notes[0]


def test_a_missing_object_that_nobody_promised_costs_one_document(tmp_path):
    repository = make_repository(tmp_path / "memory")
    write(repository, "concepts/a.md", concept("A"))
    write(repository, "concepts/b.md", concept("B"))
    oid = git(repository.root, "rev-parse", ":concepts/a.md").strip()
    (repository.git_dir / "objects" / oid[:2] / oid[2:]).unlink()
    done = refresh(repository)
    assert [note.split(":")[0] for note in done.notes] == ["concepts/a.md"]
    assert paths(repository) == {"concepts/a.md", "concepts/b.md"}
