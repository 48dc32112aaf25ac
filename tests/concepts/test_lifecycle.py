"""Draft, stable, deprecated: what may follow what, and the bytes that say it."""

from __future__ import annotations

import pytest

from knowrepo.concepts.document import parse
from knowrepo.concepts.editing import lifecycle, retag
from knowrepo.errors import KnowError

A, B, C = "concepts/decisions/a.md", "concepts/decisions/b.md", "concepts/failures/c.md"


def concept(*lines: str) -> bytes:
    return "\n".join(["---", "type: Decision", *lines, "---", "", "body", ""]).encode()


def bundle(**keys: str) -> dict[str, bytes]:
    files = {A: concept(), B: concept(), C: concept()}
    paths = {"a": A, "b": B, "c": C}
    return files | {
        paths[name]: concept(f"superseded_by: {target}") for name, target in keys.items()
    }


def test_what_is_superseded_is_deprecated_and_names_its_successor_relative_to_itself():
    assert lifecycle.superseded(A, B, bundle().get) == concept(
        "status: deprecated", "superseded_by: b.md"
    ).replace(b"superseded_by: b.md", b'superseded_by: "b.md"')
    assert parse(lifecycle.superseded(A, C, bundle().get)).front["superseded_by"] == (
        "../failures/c.md"
    )


def test_superseding_twice_changes_nothing_more():
    files = bundle()
    files[A] = lifecycle.superseded(A, B, files.get)
    assert lifecycle.superseded(A, B, files.get) == files[A]


def test_another_successor_needs_force():
    files = bundle(a="b.md")
    with pytest.raises(KnowError, match="superseded by decisions/b already"):
        lifecycle.superseded(A, C, files.get)
    after = lifecycle.superseded(A, C, files.get, force=True)
    assert parse(after).front["superseded_by"] == "../failures/c.md"


@pytest.mark.parametrize("link", ["../decisions/a.md", "/decisions/a.md", "../decisions/a"])
def test_a_loop_is_refused_even_by_force(link):
    files = bundle(b="../failures/c.md", c=link)
    with pytest.raises(KnowError, match=r"loop: decisions/b -> failures/c -> decisions/a"):
        lifecycle.superseded(A, B, files.get, force=True)


def test_a_loop_that_is_there_already_ends():
    files = bundle(b="../failures/c.md", c="../decisions/b.md")
    assert b"superseded_by" in lifecycle.superseded(A, B, files.get)


def test_itself_and_what_is_not_there_are_refused():
    with pytest.raises(KnowError, match="itself"):
        lifecycle.superseded(A, A, bundle().get)
    with pytest.raises(KnowError, match=r"none\.md: no such file"):
        lifecycle.superseded(A, "concepts/none.md", bundle().get)


def test_a_draft_becomes_stable_and_nothing_else_changes():
    before = concept("status: draft # why", "verified: []")
    assert lifecycle.accepted(before) == before.replace(b"draft", b"stable")
    for same in (concept(), concept("status: stable"), concept("status: odd")):
        assert lifecycle.accepted(same) == same
    assert parse(lifecycle.accepted(concept("status: Draft"))).front["status"] == "stable"


@pytest.mark.parametrize(
    ("data", "said"),
    [(concept("status: deprecated"), "deprecated"), (b"# text", "no `type`"), (b"", "no `type`")],
)
def test_what_is_no_draft_is_not_accepted(data, said):
    with pytest.raises(KnowError, match=said):
        lifecycle.accepted(data)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("tags: [old, x]", "tags: [new, x]"),
        ("tags: [x, 'old']", "tags: [x, 'new']"),
        ("tags: [old, new]", "tags: [new]"),
        ("tags: [old, x, old]", "tags: [new, x]"),
        ("tags: # c\n  - x # d\n  - old # e", "tags: # c\n  - x # d\n  - new # e"),
        ("tags:\n- new\n- old\n- x", "tags:\n- new\n- x"),
        ("tags: x, old , y", "tags: x, new , y"),
        ("tags: old, new", "tags: new"),
        ("tags: new, old", "tags: new"),
        ("tags: older", "tags: older"),
        ("tags: [older, Old]", "tags: [older, Old]"),
        ("tags: [{old: old}]", "tags: [{old: old}]"),
        ("tags:", "tags:"),
    ],
)
def test_a_tag_is_renamed_wherever_it_stands(before, after):
    assert retag.with_tag_renamed(concept(before), "old", "new") == concept(after)


def test_all_concepts_are_retagged_or_none():
    files = {A: concept("tags: [old]"), B: concept("x: &a old", "tags: [*a]")}
    with pytest.raises(KnowError, match=rf"^{B}: .*alias"):
        retag.retagged(files, "old", "new")
    assert list(retag.retagged({A: files[A], C: concept()}, "old", "new")) == [A]


def test_tags_that_are_spelled_nearly_so_are_found():
    assert retag.near("Auth", ["auth", "authn", "build"]) == ["auth", "authn"]
