"""Commands that edit concepts: named, written, staged, and told."""

from __future__ import annotations

import errno
import json

import pytest

from helpers import concept, git, write
from knowrepo.concepts import keeping


@pytest.fixture
def memory(repository, commit, know):
    write(repository, "concepts/decisions/one-store.md", concept("One store", tags=["db", "old"]))
    write(repository, "concepts/decisions/two-stores.md", concept("Two stores", tags=["old"]))
    write(repository, "concepts/failures/two-stores.md", concept("Split brain", kind="Failure"))
    know("tags", "build")
    commit()
    return repository


def status(memory) -> list[str]:
    return git(memory.root, "status", "--porcelain").splitlines()


def text(memory, path: str) -> str:
    return (memory.root / path).read_text()


def test_superseding_edits_and_stages_one_concept_and_what_is_generated(memory, know):
    done = know("supersede", "one-store", "decisions/two-stores")
    assert done.code == 0
    assert done.out == "concepts/decisions/one-store.md: superseded by decisions/two-stores\n"
    assert "git commit" in done.err
    assert 'status: deprecated\nsuperseded_by: "two-stores.md"' in text(
        memory, "concepts/decisions/one-store.md"
    )
    assert status(memory) == [
        "M  concepts/decisions/one-store.md",
        "M  concepts/tag_index.jsonl",
    ]
    again = know("supersede", "one-store", "decisions/two-stores")
    assert (again.code, again.err) == (0, "")
    assert "already" in again.out


@pytest.mark.parametrize(
    "name",
    [
        "decisions/one-store", "decisions/one-store.md", "concepts/decisions/one-store.md",
        "./concepts/decisions/one-store", "/decisions/one-store", "one store", "ONE-STORE",
    ],
)  # fmt: skip
def test_a_concept_may_be_named_in_many_ways(memory, know, name):
    assert know("deprecate", name).code == 0
    assert "status: deprecated" in text(memory, "concepts/decisions/one-store.md")


def test_a_concept_is_named_from_the_folder_one_is_in(memory, know, monkeypatch):
    monkeypatch.chdir(memory.root / "concepts" / "failures")
    assert know("deprecate", "two-stores.md").code == 0
    assert "status: deprecated" in text(memory, "concepts/failures/two-stores.md")


def test_a_name_of_several_lists_them_and_one_of_none_what_is_near(memory, know):
    several = know("deprecate", "two-stores")
    assert several.code == 1
    assert "could be 2 concepts" in several.err
    assert "decisions/two-stores, failures/two-stores" in several.err
    none = know("deprecate", "one-stor")
    assert none.code == 1
    assert "perhaps: decisions/one-store" in none.err
    assert status(memory) == []


def test_an_untracked_draft_is_accepted_and_tracked(memory, know):
    write(memory, "concepts/new.md", concept("New", status="draft"), stage=False)
    done = know("accept", "new", "one-store", "--json")
    assert json.loads(done.out) == {
        "version": 1,
        "concepts": {
            "concepts/new.md": "accepted", "concepts/decisions/one-store.md": "stable already",
        },
        "staged": ["concepts/new.md", "concepts/index.md", "concepts/tag_index.jsonl"],
        "unstaged": [],
    }  # fmt: skip
    assert "status: stable" in text(memory, "concepts/new.md")
    assert "verified" not in text(memory, "concepts/new.md")


def test_all_named_drafts_are_accepted_or_none(memory, know):
    write(memory, "concepts/new.md", concept("New", status="draft"))
    assert know("accept", "new", "none-such").code == 1
    assert "status: draft" in text(memory, "concepts/new.md")


def test_what_a_person_has_begun_to_edit_is_theirs_to_stage(memory, know):
    path = "concepts/decisions/one-store.md"
    (memory.root / path).write_text(text(memory, path) + "more\n")
    done = know("deprecate", "one-store")
    assert done.code == 0
    assert f"git add {path}" in done.err
    assert f" M {path}" in status(memory)
    assert "status: deprecated" in text(memory, path)


def test_a_deprecated_one_with_a_successor_by_option(memory, know):
    assert know("deprecate", "one-store", "--by", "failures/two-stores").code == 0
    assert 'superseded_by: "../failures/two-stores.md"' in text(
        memory, "concepts/decisions/one-store.md"
    )
    other = know("deprecate", "one-store", "--by", "decisions/two-stores")
    assert other.code == 1
    assert "--force" in other.err
    assert know("supersede", "one-store", "decisions/two-stores", "--force").code == 0


def test_a_successor_that_does_not_hold_yet_is_mentioned(memory, know):
    write(memory, "concepts/new.md", concept("New", status="draft"), stage=False)
    done = know("supersede", "one-store", "new")
    assert done.code == 0
    assert "know accept new" in done.err
    assert "git add concepts/new.md" in done.err


def test_a_concept_in_conflict_is_refused(memory, know, commit):
    path = "concepts/decisions/one-store.md"
    git(memory.root, "switch", "-qc", "other")
    write(memory, path, concept("One", tags=["old"]))
    commit()
    git(memory.root, "switch", "-q", "main")
    write(memory, path, concept("Another", tags=["old"]))
    commit()
    git(memory.root, "merge", "-q", "other", check=False)
    before = text(memory, path)
    for command in (["deprecate", "one-store"], ["tags", "rename", "old", "new"],
                    ["check", "--fix", path]):  # fmt: skip
        done = know(*command)
        assert done.code == 1
        assert "in conflict" in done.err
    assert "in conflict, left alone" in know("check", "--fix").err
    assert text(memory, path) == before
    assert f"AA {path}" in status(memory) or f"UU {path}" in status(memory)


def test_nothing_is_written_while_another_concept_is_in_conflict(memory, know, commit):
    test_a_concept_in_conflict_is_refused(memory, know, commit)
    before = text(memory, "concepts/decisions/two-stores.md")
    done = know("deprecate", "decisions/two-stores")
    assert done.code == 1
    assert "one-store.md: in conflict" in done.err
    assert text(memory, "concepts/decisions/two-stores.md") == before


def test_a_tag_is_renamed_and_staged_everywhere(memory, know):
    dry = know("tags", "rename", "old", "new", "--dry-run")
    assert dry.code == 0
    assert "2 concepts, nothing is written" in dry.err
    assert status(memory) == []
    done = know("tags", "rename", "old", "new")
    assert done.code == 0
    assert done.out.splitlines() == [
        "concepts/decisions/one-store.md: old -> new",
        "concepts/decisions/two-stores.md: old -> new",
    ]
    assert "tags: [db, new]" in text(memory, "concepts/decisions/one-store.md")
    assert all(line.startswith("M  ") for line in status(memory))
    assert '"tag": "new"' in text(memory, "concepts/tag_index.jsonl")


def test_a_tag_that_nothing_has_is_said_with_its_neighbours(memory, know):
    done = know("tags", "rename", "Odl", "new")
    assert done.code == 1
    assert "no tracked concept has the tag `Odl`" in done.err
    assert "perhaps: old" in done.err
    for wrong in (["old", "old"], ["old", ""], ["old", "a,b"]):
        assert know("tags", "rename", *wrong).code == 2


def test_a_full_disk_is_said_and_what_was_written_before(memory, know, monkeypatch):
    real = keeping.write_atomically

    def write_once(path, data, **how):
        if path.name == "two-stores.md":
            raise OSError(errno.ENOSPC, "No space left on device")
        real(path, data, **how)

    monkeypatch.setattr(keeping, "write_atomically", write_once)
    done = know("tags", "rename", "old", "new")
    assert done.code == 1
    assert "concepts/decisions/two-stores.md: cannot be written: No space" in done.err
    assert "written before that, perhaps not staged: concepts/decisions/one-store.md" in done.err
    assert "tags: [db, new]" in text(memory, "concepts/decisions/one-store.md")
    assert "tags: [old]" in text(memory, "concepts/decisions/two-stores.md")


def test_an_interrupt_between_two_files_leaves_both_whole_and_says_so(memory, know, monkeypatch):
    real = keeping.write

    def write_once(repository, path, data):
        if path.endswith("two-stores.md"):
            raise KeyboardInterrupt
        real(repository, path, data)

    monkeypatch.setattr(keeping, "write", write_once)
    done = know("tags", "rename", "old", "new")
    assert done.code == 130
    assert "written before that, perhaps not staged: concepts/decisions/one-store.md" in done.err
    assert "[db, new]" in text(memory, "concepts/decisions/one-store.md")
    assert "[old]" in text(memory, "concepts/decisions/two-stores.md")


def test_fixes_are_written_told_and_not_staged(memory, know):
    path = "concepts/decisions/one-store.md"
    (memory.root / path).write_text(concept("One", status="Draft") + "[l](Two-Stores.md)\n")
    (memory.root / path).chmod(0o755)
    git(memory.root, "commit", "-qam", "x")
    dry = know("check", "--fix", "--dry-run")
    assert dry.code == 1
    assert f"--- a/{path}\n+++ b/{path}\n" in dry.out
    assert "-status: Draft\n+status: draft\n" in dry.out
    told = json.loads(know("check", "--fix", "--dry-run", "--json").out)
    assert [(one["path"], one["line"], one["code"]) for one in told["changes"]] == [
        (path, 5, "OKF272"), (path, 9, "OKF232"),
    ]  # fmt: skip
    assert status(memory) == []
    done = know("check", "--fix")
    assert done.code == 0
    assert f"{path}:5: OKF272 `status` is `draft`" in done.out
    assert "2 changes in 1 file, not staged" in done.err
    assert status(memory) == [f" M {path}"]
    assert (memory.root / path).stat().st_mode & 0o777 == 0o755
    again = know("check", "--fix")
    assert "nothing to fix" in again.err
    assert know("check", "--fix", "--dry-run").code == 0


def test_untracked_files_are_fixed_only_where_they_are_named(memory, know):
    path = "concepts/new.md"
    write(memory, path, concept("New", status="Draft"), stage=False)
    assert "nothing to fix" in know("check", "--fix").err
    assert json.loads(know("check", "--fix", "--json", path).out)["version"] == 1
    assert "status: draft" in text(memory, path)
    assert f"?? {path}" in status(memory)


def test_a_folder_stands_for_what_is_below_it(memory, know):
    write(memory, "concepts/x/new.md", concept("New", status="Draft"), stage=False)
    write(memory, "concepts/y/new.md", concept("New", status="Draft"), stage=False)
    know("check", "--fix", "concepts/x")
    assert "status: draft" in text(memory, "concepts/x/new.md")
    assert "status: Draft" in text(memory, "concepts/y/new.md")
    assert "nothing to fix" in know("check", "--fix", "concepts/decisions").err


def test_generated_and_foreign_files_are_not_fixed(memory, know, tmp_path):
    done = know("check", "--fix", "concepts/index.md")
    assert done.code == 1
    assert "is generated" in done.err
    outside = tmp_path / "x.md"
    outside.write_text("x")
    assert "not in the repository" in know("check", "--fix", str(outside)).err
    (memory.root / "concepts" / "link.md").symlink_to("decisions/one-store.md")
    assert "symbolic link" in know("check", "--fix", "concepts/link.md").err
    assert know("check", "--dry-run").code == 2


def test_who_accepts_a_draft_is_told_to_commit_what_remembers_it(memory, know):
    write(memory, "concepts/decisions/new.md", concept("New", status="draft"), stage=False)
    ledger = memory.concepts / "distilled.jsonl"
    ledger.write_text('{"concept": "decisions/new", "statement": "0123456789abcdef"}\n')
    assert "git add concepts/distilled.jsonl" in know("accept", "decisions/new").err
    assert "distilled" not in know("accept", "one-store").err
    git(memory.root, "add", "concepts/distilled.jsonl")
    assert "distilled" not in know("accept", "decisions/new").err


def test_a_fix_of_a_bundle_elsewhere_in_the_repository_knows_where_that_begins(memory, know):
    good = concept("A", description="D.", body="[l](/B.md) [l](/c)")
    write(memory, "docs/okf/a.md", good)
    write(memory, "docs/okf/B.md", concept("B", description="D.", body="[l](/a.md)"))
    write(memory, "docs/okf/c.md", concept("C", description="D."))
    write(memory, "docs/okf/index.md", "---\nokf_version: 0.2\n---\n\n# All\n\n* [A](a.md) - D.\n")
    write(memory, "concepts/b.md", concept("Another"))
    done = know("check", "--fix", "docs/okf")
    assert (done.code, "2 changes in 2 files" in done.err) == (0, True)
    assert text(memory, "docs/okf/a.md") == good.replace("(/c)", "(/c.md)")
    assert 'okf_version: "0.2"' in text(memory, "docs/okf/index.md")
    assert know("check", "--fix", "--dry-run", "docs/okf").code == 0


def test_a_bundle_that_may_be_anywhere_is_not_fixed_nor_another_in_its_place(memory, know):
    path = "concepts/decisions/one-store.md"
    write(memory, path, concept("One", status="Draft"))
    before = text(memory, path)
    for arguments in (("--fix",), ("--fix", "--dry-run"), ("--dry-run",)):
        done = know("check", "--bundle", str(memory.concepts), *arguments)
        assert (done.code, done.out) == (2, "")
        assert "--bundle" in done.err
    assert text(memory, path) == before
