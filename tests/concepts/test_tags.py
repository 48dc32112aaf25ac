from __future__ import annotations

import json
import random

from hypothesis import given
from hypothesis import strategies as st

from helpers import concept
from knowrepo.concepts.model import read_concept
from knowrepo.concepts.tags import index_md, read_tag_index, tag_index
from knowrepo.concepts.validate import check

CONCEPTS = [
    read_concept("concepts/b.md", concept("Two [stores]", tags=["git", "storage"]).encode()),
    read_concept("concepts/a dir/a.md", concept("Ünïcode", tags=["git"]).encode()),
    read_concept("concepts/c.md", b"---\ntype: Failure\ntags: x, y\naliases: [one, two]\n---\n"),
]


def test_the_tag_index_has_a_line_a_concept_and_a_line_a_tag_sorted():
    rows = tag_index(CONCEPTS).decode().splitlines()
    assert rows == sorted(rows)
    assert json.loads(rows[-1]) == {"tag": "y", "concept": "c"}
    assert len([row for row in rows if row.startswith('{"tag"')]) == 5
    assert len([row for row in rows if row.startswith('{"concept"')]) == 3


def test_both_files_depend_on_nothing_but_the_concepts():
    shuffled = CONCEPTS[:]
    random.Random(1).shuffle(shuffled)
    assert tag_index(shuffled) == tag_index(CONCEPTS)
    assert index_md(shuffled) == index_md(CONCEPTS)


def test_what_is_written_can_be_read():
    entries = {entry.concept: entry for entry in read_tag_index(tag_index(CONCEPTS))}
    assert entries["b"].tags == ("git", "storage")
    assert entries["a dir/a"].title == "Ünïcode"
    assert entries["c"].aliases == ("one", "two")
    assert entries["c"].title == "C"


def test_a_damaged_line_costs_only_itself():
    data = b"<<<<<<< HEAD\n" + tag_index(CONCEPTS) + b'{"concept": 3}\n[]\n\xff\n'
    assert len(list(read_tag_index(data))) == 3


def test_the_index_conforms_and_its_links_lead_somewhere():
    files = {"concepts/index.md": index_md(CONCEPTS)}
    there = {c.path for c in CONCEPTS}
    assert check(files, lambda path: path in there) == []
    assert check({"concepts/index.md": index_md([])}, lambda _: False) == []


@given(st.text(max_size=60), st.text(max_size=60))
def test_any_title_and_tag_gives_files_that_can_be_read(title, tag):
    front = {"type": "X", "title": title, "tags": [tag]}
    text = f"---\n{json.dumps(front)}\n---\n"
    read = read_concept("concepts/x.md", text.encode("utf-8", "replace"))
    (entry,) = read_tag_index(tag_index([read]))
    assert (entry.title, entry.tags) == (read.title, read.tags)
    index_md([read])


@given(st.lists(st.sampled_from(range(3)), max_size=3), st.lists(st.sampled_from(range(3))))
def test_the_lines_of_two_branches_together_are_those_of_both_sets_of_concepts(ours, theirs):
    one, two = ([CONCEPTS[i] for i in set(some)] for some in (ours, theirs))
    union = {*tag_index(one).splitlines(), *tag_index(two).splitlines()}
    assert union == set(tag_index([*one, *two]).splitlines())
