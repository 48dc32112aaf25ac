from __future__ import annotations

import pytest

from helpers import concept, git, make_repository, write
from knowrepo.index.build import refresh
from knowrepo.index.catalog import Catalog, Filter
from knowrepo.index.documents import from_tag_index
from knowrepo.recall.structured import StructuredAnswer, ask

CONCEPTS = {
    "decisions/two-stores.md": concept(
        "Two stores: SQLite for words, DuckDB for vectors", tags=["storage", "c-api"]
    ),
    "decisions/hooks.md": concept("Hooks never add files", tags=["git", "pre-commit"]),
    "failures/crash.md": concept(
        "Embedding died on a virtual machine",
        kind="Failure",
        tags=["crash"],
        aliases="[SIGSEGV in decode]",
        description='"llama.cpp repacked weights for AMX"',
    ),
    **{f"notes/n{n}.md": concept(f"Note {n} of many words", kind="Reference") for n in range(20)},
}


@pytest.fixture(scope="module")
def catalog(tmp_path_factory):
    from knowrepo.concepts import bundle

    repository = make_repository(tmp_path_factory.mktemp("x") / "memory")
    for path, text in CONCEPTS.items():
        write(repository, f"concepts/{path}", text)
    refresh(repository)
    bundle.write_generated(repository)
    opened = Catalog.open(repository.catalog)
    assert opened is not None
    with opened, from_tag_index(repository) as from_lines:
        yield opened, from_lines


def answer(catalog, query: str, only: Filter | None = None) -> list[str]:
    """Ask both the catalog and what the tag index gives: they must agree."""
    found = [_paths(one, ask(one, query, only or Filter())) for one in catalog]
    assert found[0] == found[1]
    return found[0]


def _paths(catalog: Catalog, given: StructuredAnswer) -> list[str]:
    documents = catalog.documents([match.document for match in given.matches])
    return sorted(d.path.removeprefix("concepts/") for d in documents.values())


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("tag:git", ["decisions/hooks.md"]),
        ("#git", ["decisions/hooks.md"]),
        ("tag:C API", ["decisions/two-stores.md"]),
        ("c api", ["decisions/two-stores.md"]),
        ("type:Failure", ["failures/crash.md"]),
        ("failures", ["failures/crash.md"]),
        ("sigsegv in decode", ["failures/crash.md"]),
        ("hooks never add files", ["decisions/hooks.md"]),
        ("two stores", ["decisions/two-stores.md"]),
        ("concepts/decisions/hooks.md", ["decisions/hooks.md"]),
        ("decisions/hooks", ["decisions/hooks.md"]),
        ("which words are for sqlite and which for duckdb vectors", ["decisions/two-stores.md"]),
        ("why did embedding die on the virtual machine", ["failures/crash.md"]),
    ],
)
def test_what_the_front_matter_knows_is_answered(catalog, query, expected):
    assert answer(catalog, query) == expected


def test_an_identifier_is_found_whole_and_in_its_parts(tmp_path):
    repository = make_repository(tmp_path / "memory")
    titles = ["Parse HTTP limits", "parseHTTP notes", *(f"limits of thing{n}" for n in range(30))]
    for number, title in enumerate(titles):
        write(repository, f"concepts/c{number}.md", concept(title), stage=False)
    git(repository.root, "add", "-A")
    refresh(repository)
    opened = Catalog.open(repository.catalog)
    assert opened is not None
    with opened:
        found = _paths(opened, ask(opened, "parseHTTP limits", Filter()))
    assert "c0.md" in found


@pytest.mark.parametrize(
    "query",
    [
        "",
        "the of and",
        "decade",
        "git rebase onto a new branch",
        "embedding of images",
        "quantum chromodynamics",
        "tag:",
        "tag:nothing",
        "type:Nothing",
        "../../etc/passwd",
        "many words",
        "concepts/nothing.md",
        "\"'; DROP TABLE documents; --",
    ],
)
def test_what_it_does_not_know_is_left_to_the_next_layer(catalog, query):
    assert answer(catalog, query) == []


def test_a_filter_takes_out_what_does_not_pass(catalog):
    query = "why did embedding die on the virtual machine"
    assert answer(catalog, query, Filter(type="Decision")) == []
