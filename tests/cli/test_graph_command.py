"""``know graph`` as it is typed."""

from __future__ import annotations

import json

import pytest

from helpers import concept, write


@pytest.fixture
def linked(repository):
    write(repository, "concepts/a.md", concept("A", tags=["x"], body="[b](b.md) [gone](gone.md)"))
    write(repository, "concepts/b.md", concept("B", kind="Failure", tags=["X"]))
    write(repository, "concepts/c.md", concept("C", body="[a](a.md)"))
    write(repository, "concepts/alone.md", concept("Alone"))
    write(repository, "concepts/draft.md", concept("Draft"), stage=False)


def ids(know, *arguments: str) -> list[str]:
    told = json.loads(know("graph", "--format", "json", *arguments).out)
    assert told["version"] == 1
    return [node["id"] for node in told["concepts"]]


def test_concepts_are_chosen_by_type_tag_and_nearness(know, linked):
    assert ids(know) == ["a", "alone", "b", "c"]
    assert ids(know, "--linked") == ["a", "b", "c"]
    assert ids(know, "--type", "failure") == ["b"]
    assert ids(know, "--tag", "#x") == ["a", "b"]
    assert ids(know, "--from", "b") == ["a", "b"]
    assert ids(know, "--from", "concepts/b.md", "--depth", "2") == ["a", "b", "c"]
    assert ids(know, "--from", "b", "--depth", "0") == ["b"]


def test_it_is_drawn_in_each_format_and_says_nothing_more(know, linked):
    drawn = know("graph")
    assert drawn.out.startswith("flowchart LR\n")
    assert drawn.out.count("-->") == 2
    assert drawn.err == ""
    assert know("graph", "--format", "dot").out.count("->") == 2
    assert "no such concept" in know("graph", "--type", "None").err


def test_what_is_too_large_to_be_read_is_said_to_be(know, repository):
    for number in range(151):
        write(repository, f"concepts/{number}.md", concept(), stage=False)
    from helpers import git

    git(repository.root, "add", "-A")
    result = know("graph")
    assert result.code == 0
    assert "151 concepts, 0 links: more than a page can show" in result.err
    assert know("graph", "--format", "json").err == ""


@pytest.mark.parametrize(
    ("arguments", "code"),
    [(("--format", "svg"), 2), (("--depth", "2"), 2), (("--from", "nowhere"), 1)],
)
def test_what_cannot_be_drawn_is_said_in_a_line(know, linked, arguments, code):
    result = know("graph", *arguments)
    assert (result.code, result.out) == (code, "")
    assert result.err.startswith("know: --")
