"""The links between concepts, and their drawings, whatever a title is made of."""

from __future__ import annotations

import json
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from helpers import concept
from knowrepo.concepts.drawing import as_json, dot, mermaid
from knowrepo.concepts.graph import Edge, Graph, Node, build
from knowrepo.errors import KnowError

HOSTILE = ["end", "-->", 'a"]; x["y', "`code`", "<b>bold</b>", "%%{init: {}}%%", "A & B &lt;",
           "back\\", "\\N \\G", "#quot;", '"`md`"', "subgraph x", "]", "1. one", "- two",
           "x:::deprecated", "click n1 'x'", '\\"', "名前", "a\u2028b"]  # fmt: skip


def bundle(**bodies: str) -> dict[str, bytes]:
    return {
        f"concepts/{name.replace('__', '/')}.md": text.encode() for name, text in bodies.items()
    }


def edges(files: dict[str, bytes]) -> set[tuple[str, str, str]]:
    return {(edge.origin, edge.target, edge.kind) for edge in build(files).edges}


def test_links_lead_from_a_concept_to_another_however_they_are_written():
    files = bundle(
        a__one=concept(body="[x](two.md#part) [y](../b%20c.md) [z](/d.md) [w](two) ![i](../e.md)"),
        a__two=concept(body="[ref][r]\n\n[r]: <../f.md?raw=1> 'title'"),
        d=concept(), e=concept(), f=concept(),
    ) | {"concepts/b c.md": concept().encode()}  # fmt: skip
    assert edges(files) == {
        ("a/one", "a/two", "link"), ("a/one", "b c", "link"), ("a/one", "d", "link"),
        ("a/one", "e", "link"), ("a/two", "f", "link"),
    }  # fmt: skip


def test_what_is_no_link_between_concepts_is_none():
    files = bundle(
        a=concept(body="`[x](b.md)` [self](a.md) [gone](c.md) [up](../../b.md) [web](http://b.md)"
                       " [i](index.md) [top](#top)\n\n    [code](b.md)\n"),
        b=concept(), index="# I\n\n* [a](a.md)\n", log="# L\n",
    )  # fmt: skip
    assert edges(files) == set()
    assert [node.id for node in build(files).nodes] == ["a", "b"]


def test_front_matter_leads_to_concepts_too():
    sources = (
        "\n  - resource: b.md\n  - resource: /x/c.md\n  - resource: https://example.org\n  - y"
    )
    files = bundle(
        a=concept(superseded_by="x/c.md", sources=sources),
        x__d=concept(superseded_by="concepts/a.md", sources="text"),
        x__e=concept(superseded_by="x/d"),
        b=concept(), x__c=concept(),
    )  # fmt: skip
    assert edges(files) == {
        ("a", "x/c", "superseded_by"), ("a", "b", "source"), ("a", "x/c", "source"),
        ("x/d", "a", "superseded_by"), ("x/e", "x/d", "superseded_by"),
    }  # fmt: skip


def chain() -> Graph:
    nodes = tuple(Node(name, "X", name, (), "stable") for name in "abcde")
    return Graph(nodes, (Edge("a", "b", "link"), Edge("c", "b", "link"), Edge("c", "d", "link")))


def test_a_part_is_what_is_near_in_either_direction():
    assert [node.id for node in chain().around("b", 1).nodes] == ["a", "b", "c"]
    assert [node.id for node in chain().around("a", 0).nodes] == ["a"]
    assert [node.id for node in chain().around("a", 99).nodes] == ["a", "b", "c", "d"]
    assert len(chain().around("a", 1).edges) == 1
    assert [node.id for node in chain().linked().nodes] == ["a", "b", "c", "d"]


def test_a_concept_is_named_by_path_id_or_file_name():
    graph = build(bundle(a__one=concept(), b__one=concept(), b__two=concept()))
    for named in ("concepts/b/two.md", "b/two", "two", "two.md", "./concepts/b/two.md"):
        assert graph.find(named) == "b/two"
    with pytest.raises(KnowError, match="no such concept") as error:
        graph.find("one")
    assert "a/one, b/one" in error.value.hint


def test_a_concept_is_named_by_its_title_in_any_case():
    assert titled("Two stores", "One store").find("two STORES") == "n0"


def titled(*titles: str) -> Graph:
    nodes = tuple(Node(f"n{i}", "X", title, (), "deprecated") for i, title in enumerate(titles))
    return Graph(nodes, (Edge("n0", "n1", "superseded_by"),))


def labels_in_mermaid(text: str) -> list[str]:
    """Read labels as Mermaid does: quoted, with `#123;` for a character."""
    found = re.findall(r'^    \w+\["([^"\n]*)"\](?::::\w+)?$', text, re.MULTILINE)
    return [re.sub(r"#(\d+);", lambda match: chr(int(match[1])), label) for label in found]


def labels_in_dot(text: str) -> list[str]:
    """Read labels as Graphviz does: in quotes, with escapes, then entities."""
    found = re.findall(r'\[label="((?:[^"\\]|\\.)*)"', text)
    plain = [re.sub(r"\\(.)", r"\1", label) for label in found]
    return [label.replace("&amp;", "&") for label in plain]


def test_a_title_shows_as_it_is_whatever_it_is_made_of():
    wanted = [" ".join(title.split()) for title in HOSTILE]
    assert labels_in_mermaid(mermaid(titled(*HOSTILE))) == wanted
    assert labels_in_dot(dot(titled(*HOSTILE))) == wanted
    concepts = as_json(titled(*HOSTILE))["concepts"]
    assert isinstance(concepts, list)
    assert [one["title"] for one in concepts] == HOSTILE


@given(st.text(st.characters(exclude_categories=["Cs", "Cc"]), min_size=1, max_size=60))
def test_no_title_breaks_out_of_its_label(title):
    text = mermaid(titled(title, "b"))
    assert len(text.split("\n")) == 5
    assert len(labels_in_mermaid(text)) == 2
    assert not re.search(r"[`<>{}%&\\|;]", re.sub(r"#\d+;", "", text.split("\n")[1]))
    assert len(labels_in_dot(dot(titled(title, "b")))) == 2


def test_an_id_is_quoted_in_dot():
    node = Node('a"b\\', "X", "t", (), "stable")
    assert '    "a\\"b\\\\" [label="t"];' in dot(Graph((node,), ()))


def test_one_concept_more_changes_no_other_line():
    before = build(bundle(b=concept("B"), d=concept("D", body="[b](b.md)")))
    after = build(bundle(a=concept("A"), b=concept("B"), c=concept("C"),
                         d=concept("D", body="[b](b.md)")))  # fmt: skip
    for draw in (mermaid, dot):
        assert set(draw(before).split("\n")) < set(draw(after).split("\n"))


def test_json_can_be_read():
    told = json.loads(json.dumps(as_json(titled("A", "B"))))
    assert told["version"] == 1
    assert told["links"] == [{"from": "n0", "to": "n1", "kind": "superseded_by"}]


@pytest.mark.parametrize(
    "body",
    [
        "[x](<b.md>)", "[x](\n b.md)", "> [x](\n> b.md)", "[x](b\\.md)", "[x](b&#46;md)",
        "[x](./(b)/../b.md)", "[x]\n\n[x]: b.md", "[x]\n\n[x]:\n  b.md", "[![i](b.md)](http://h)",
        "[x](none.md) [y](b.md 'title')", "[x](%62.md)",
    ],
)  # fmt: skip
def test_no_form_of_a_link_is_passed_over_where_bodies_without_one_are_not_parsed(body):
    assert edges(bundle(a=concept(body=body), b=concept())) == {("a", "b", "link")}


def test_a_body_whose_links_lead_to_no_concept_is_not_parsed(monkeypatch):
    monkeypatch.setattr("knowrepo.concepts.graph.links", lambda _: pytest.fail("parsed"))
    body = "[x](https://example.org/b.md) [y](none.md) [z](#part)\n\n[r]: mailto:a@example.org"
    assert edges(bundle(a=concept(body=body), b=concept())) == set()
