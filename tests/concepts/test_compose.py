"""New concepts: strict YAML that says what was meant, names that are names everywhere."""

from __future__ import annotations

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from knowrepo.concepts.compose import compose, free_path, slug
from knowrepo.concepts.document import parse
from knowrepo.concepts.kinds import folder_of, spelled

TEXT = st.text(st.characters(exclude_categories=["Cs"]))


@given(TEXT.filter(bool), st.lists(TEXT), TEXT)
def test_what_is_composed_is_read_as_it_was_meant(title, tags, body):
    front = {
        "type": "Decision",
        "title": title,
        "tags": tags,
        "generated": {"by": title},
        "sources": [{"id": "a", "resource": title}, {"id": "b", "resource": "x: y"}],
    }
    document = parse(compose(front, "text"))
    assert not document.problems
    assert document.front == {key: value for key, value in front.items() if value}
    block = compose(front, "text").decode().split("\n---\n")[0]
    assert yaml.safe_load(block.removeprefix("---"))["title"] == title


@pytest.mark.parametrize(
    "word", ["no", "Yes", "null", "1.0", "2026-01-01", "a: b", "#x", "- a", ""]
)
def test_what_yaml_takes_for_something_else_is_quoted(word):
    block = compose({"type": "X", "title": word or "e", "tags": [word]}, "").decode()
    assert yaml.safe_load(block.split("---")[1])["tags"] == [word]


@given(TEXT)
def test_a_title_gives_a_name_that_is_one_on_every_platform(title):
    name = slug(title)
    assert name
    assert name == slug(name)
    assert not set(name) & set('/\\:*?"<>|. \n\0')
    assert len(name.encode()) <= 200
    assert name not in {"index", "log", "con", "nul", "aux"}


@pytest.mark.parametrize(
    ("title", "name"),
    [
        ("Use DuckDB for vectors", "use-duckdb-for-vectors"),
        ("Größe & façade", "grosse-facade"),
        ("用 DuckDB 存向量", "用-duckdb-存向量"),
        ("index", "index-concept"),
        ("C++ / C#", "c-c"),
    ],
)
def test_names_are_plain(title, name):
    assert slug(title) == name


def test_a_name_that_is_taken_gets_a_number():
    taken = {"concepts/decisions/a.md", "concepts/decisions/a-2.md"}
    assert free_path("concepts/decisions", "A", taken.__contains__) == "concepts/decisions/a-3.md"


def test_a_type_is_told_in_any_spelling():
    assert spelled("project-knowledge") == "Project Knowledge"
    assert spelled("devops") == "DevOps"
    assert spelled("Runbook") == "Runbook"
    assert folder_of("decision") == "concepts/decisions"
    assert folder_of("Metric View") == "concepts/metric-view"
