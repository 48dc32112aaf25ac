from __future__ import annotations

import json
import posixpath
import random
from html import escape
from urllib.parse import unquote

import pytest
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from helpers import concept
from knowrepo.concepts.checking.validate import check
from knowrepo.concepts.markdown import links
from knowrepo.concepts.model import Concept, read_concept
from knowrepo.concepts.tags import INDEX, LARGE_FOLDER, index_files, read_tag_index, tag_index

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
    assert index_files(shuffled) == index_files(CONCEPTS)


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
    there = {c.path for c in CONCEPTS}
    assert check(index_files(CONCEPTS), lambda path: path in there) == []
    assert check(index_files([]), lambda _: False) == []


def some(folder: str, number: int = 1, kind: str = "Decision") -> list[Concept]:
    paths = [f"concepts/{folder}/{name}.md" if folder else f"concepts/{name}.md"
             for name in range(number)]  # fmt: skip
    return [read_concept(path, concept(path, kind=kind).encode()) for path in paths]


def test_a_flat_bundle_has_one_index():
    assert set(index_files(some("") + some("decisions", 3) + some("failures"))) == {INDEX}


def test_a_folder_that_holds_folders_has_an_index_of_its_own_and_the_one_above_links_to_it():
    concepts = some("api/rest", 2) + some("api/v1.2", kind="Failure") + some("api") + some("other")
    files = index_files(concepts)
    assert set(files) == {INDEX, "concepts/api/index.md"}
    root, below = files[INDEX].decode(), files["concepts/api/index.md"].decode()
    assert "# Folders\n\n* [Api](api/) - Decision, Failure\n" in root
    assert "(other/0.md)" in root
    assert "rest" not in root
    assert "okf_version" not in below
    assert all(f"({target})" in below for target in ("0.md", "rest/0.md", "v1.2/0.md"))
    there = {c.path for c in concepts} | {"concepts/api"}
    assert check(files, lambda path: path in there) == []


def test_folders_nest():
    files = index_files(some("a/b/c/d"))
    assert set(files) == {INDEX, *(f"concepts/{f}/index.md" for f in ("a", "a/b", "a/b/c"))}
    assert b"* [B](b/) - Decision\n" in files["concepts/a/index.md"]
    assert b"(d/0.md)" in files["concepts/a/b/c/index.md"]


def test_every_concept_stands_in_exactly_one_index_with_a_link_that_leads_to_it():
    concepts = some("a/b/c", 2) + some("a", LARGE_FOLDER + 1) + some("", 3) + some("x y", 1)
    found = []
    for path, data in index_files(concepts).items():
        for target in links(data.decode()):
            full = posixpath.normpath(posixpath.join(path, "..", unquote(target.target)))
            found += [full] if full.endswith(".md") else []
    assert sorted(found) == sorted(c.path for c in concepts)


def test_a_large_folder_has_an_index_and_keeps_it():
    large, smaller = some("big", LARGE_FOLDER + 1), some("big", LARGE_FOLDER)
    assert set(index_files(smaller)) == {INDEX}
    assert set(index_files(large)) == {INDEX, "concepts/big/index.md"}
    assert index_files(smaller, ours=["big"]).keys() == index_files(large).keys()
    emptied = index_files(some("other"), ours=["big"])
    assert set(emptied) == {INDEX, "concepts/big/index.md"}
    assert not list(links(emptied["concepts/big/index.md"].decode()))
    assert b"(big/)" not in emptied[INDEX]


def test_where_a_person_writes_the_index_nothing_is_made_and_nothing_is_lost():
    deep = some("api/rest") + some("flat")
    assert set(index_files(deep, theirs=[""])) == set()
    assert set(index_files(deep, theirs=[""], ours=["flat"])) == {"concepts/flat/index.md"}
    files = index_files(deep, theirs=["api"])
    assert set(files) == {INDEX}
    assert b"(api/rest/0.md)" in files[INDEX]


@pytest.mark.parametrize(
    "title",
    ["_a_ b", "C #", "a ## ", "&amp; &lt;", "x*y*", "[a](b)", "`c`", "<b>", "a\\_b", "snake_case"],
)
def test_a_title_is_shown_as_it_is(title):
    made = read_concept("concepts/x.md", f"---\ntype: {json.dumps(title)}\n".encode()
                        + f"title: {json.dumps(title)}\n---\n".encode())  # fmt: skip
    body = index_files([made])[INDEX].decode().partition("-->\n")[2]
    html = MarkdownIt("commonmark").render(body)
    wanted = escape(" ".join(title.split()), quote=False)
    assert f"<h1>{wanted}</h1>" in html
    assert f'<a href="x.md">{wanted}</a>' in html


@given(st.text(max_size=60), st.text(max_size=60))
def test_any_title_and_tag_gives_files_that_can_be_read(title, tag):
    front = {"type": "X", "title": title, "tags": [tag]}
    text = f"---\n{json.dumps(front)}\n---\n"
    read = read_concept("concepts/x.md", text.encode("utf-8", "replace"))
    (entry,) = read_tag_index(tag_index([read]))
    assert (entry.title, entry.tags) == (read.title, read.tags)
    index_files([read])


@given(st.lists(st.sampled_from(range(3)), max_size=3), st.lists(st.sampled_from(range(3))))
def test_the_lines_of_two_branches_together_are_those_of_both_sets_of_concepts(ours, theirs):
    one, two = ([CONCEPTS[i] for i in set(some)] for some in (ours, theirs))
    union = {*tag_index(one).splitlines(), *tag_index(two).splitlines()}
    assert union == set(tag_index([*one, *two]).splitlines())
