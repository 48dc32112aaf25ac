from __future__ import annotations

import random
from contextlib import closing

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from helpers import concept, git, make_repository, write
from knowrepo.git.layout import Repository
from knowrepo.index.build import refresh
from knowrepo.index.catalog import Catalog, Filter
from knowrepo.index.documents import put_concept
from knowrepo.index.tag_catalog import from_tag_index
from knowrepo.recall.structured import ENOUGH, MOST_NEAR, StructuredAnswer, ask

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
    from_lines = from_tag_index(repository)
    assert from_lines is not None
    with opened, from_lines:
        yield opened, from_lines, repository


def answer(catalog, query: str, only: Filter | None = None) -> list[str]:
    """Ask the catalog, and what the tag index gives at all and for the query: they agree."""
    of_blobs, of_lines, repository = catalog
    found = [ask(one, query, only or Filter()) for one in (of_blobs, of_lines)]
    paths = [_paths(*both) for both in zip((of_blobs, of_lines), found, strict=True)]
    with _focused(repository, query) as focused:
        given = ask(focused, query, only or Filter())
        paths.append(_paths(focused, given))
    assert paths[0] == paths[1] == paths[2]
    assert [match.score for match in given.matches] == [match.score for match in found[1].matches]
    assert given.confidence == found[1].confidence
    return paths[0]


def _focused(repository: Repository, query: str) -> Catalog:
    found = from_tag_index(repository, query)
    assert found is not None
    return found


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


# -- the order of an answer ------------------------------------------------------------


def put(repository: Repository, name: str, title: str, *, at: str = "", **fields: object) -> None:
    more = {"generated": f'{{by: "process:test", at: "{at}"}}'} if at else {}
    write(repository, f"concepts/{name}.md", concept(title, **more, **fields), stage=False)


def opened(repository: Repository) -> Catalog:
    git(repository.root, "add", "-A")
    refresh(repository)
    catalog = Catalog.open(repository.catalog)
    assert catalog is not None
    return catalog


def names(catalog: Catalog, numbers: list[int]) -> list[str]:
    documents = catalog.documents(numbers)
    return [documents[n].path.removeprefix("concepts/").removesuffix(".md") for n in numbers]


def ranked(catalog: Catalog, query: str, only: Filter | None = None, **more: int) -> list[str]:
    answer = ask(catalog, query, only or Filter(), **more)
    assert [m.score for m in answer.matches] == sorted(
        (m.score for m in answer.matches), reverse=True
    )
    assert all(0 < match.score <= 1 for match in answer.matches)
    return names(catalog, [match.document for match in answer.matches])


STANDINGS = {
    "stale": {"at": "2026-05-09T00:00:00Z", "stale_after": '"2026-05-10T00:00:00Z"'},
    "deprecated": {"at": "2026-05-08T00:00:00Z", "status": "deprecated"},
    "superseded": {"at": "2026-05-07T00:00:00Z", "superseded_by": "new.md"},
    "draft": {"at": "2026-05-06T00:00:00Z", "status": "draft"},
    "new": {"at": "2026-05-05T00:00:00Z"},
    "old": {"at": "2026-05-01T00:00:00Z"},
}
IN_ORDER = ["new", "old", "draft", "stale", "deprecated", "superseded"]


@pytest.fixture(scope="module")
def standings(tmp_path_factory):
    repository = make_repository(tmp_path_factory.mktemp("standings") / "memory")
    for name, fields in STANDINGS.items():
        put(repository, name, f"About {name}", tags=["storage"], **fields)
    with opened(repository) as catalog:
        yield catalog


@pytest.mark.parametrize(
    "query", ["tag:storage", "#storage", "storage", "Storage?", "the storages"]
)
def test_bearers_of_a_tag_come_newest_first_and_what_is_trusted_less_behind(standings, query):
    assert ranked(standings, query) == IN_ORDER


def test_what_is_cut_is_the_end_of_the_order_and_the_stale_take_nobodys_place(standings):
    for most in range(1, len(IN_ORDER) + 1):
        assert ranked(standings, "storage", most=most) == IN_ORDER[:most]


def test_a_filter_is_applied_before_the_answer_is_cut(standings):
    assert ranked(standings, "storage", Filter(until="2026-05-01"), most=1) == ["old"]
    assert ranked(standings, "tag:storage", Filter(kind="session")) == []


def test_of_two_that_fit_the_one_that_still_holds_is_the_answer(tmp_path):
    repository = make_repository(tmp_path / "memory")
    put(repository, "then", "Vectors kept in segments", status="deprecated")
    put(repository, "now", "Segments where vectors are kept")
    for number in range(20):
        put(repository, f"other{number}", f"Something else {number}")
    with opened(repository) as catalog:
        answer = ask(catalog, "how are segments of vectors kept", Filter())
        assert names(catalog, [match.document for match in answer.near[:2]]) == ["now", "then"]
        assert ranked(catalog, "how are segments of vectors kept") == ["now"]


def test_a_new_date_by_a_commit_changes_the_order(tmp_path, monkeypatch):
    repository = make_repository(tmp_path / "memory")
    put(repository, "a", "First", tags=["x"], at="2026-05-01T00:00:00Z")
    put(repository, "b", "Second", tags=["x"])
    with opened(repository) as catalog:
        assert ranked(catalog, "tag:x") == ["a", "b"]
    monkeypatch.setenv("GIT_COMMITTER_DATE", "2026-06-01T00:00:00Z")
    git(repository.root, "commit", "-qm", "both")
    with opened(repository) as catalog:
        assert ranked(catalog, "tag:x") == ["b", "a"]


# -- what is typed, and what is there ---------------------------------------------------


@pytest.fixture(scope="module")
def typed(tmp_path_factory):
    repository = make_repository(tmp_path_factory.mktemp("typed") / "memory")
    put(repository, "api/cache", "Caching Layer", tags=["C-API", "dataStores"])
    put(repository, "api/overview", "Estonian business register", kind="Architecture Decision")
    put(repository, "web/overview", "让 HTML 成为一等公民", tags=["提案"])
    for number in range(20):
        put(repository, f"other{number}", f"Something else {number}")
    with opened(repository) as catalog:
        yield catalog


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("c api", ["api/cache"]),
        ("tag:c_apis", ["api/cache"]),
        ("caching layers", ["api/cache"]),
        ("caching-layer", ["api/cache"]),
        ("which page describes the caching layer?", ["api/cache"]),
        ("docs about c-apis", ["api/cache"]),
        ("type:architecture-decisions", ["api/overview"]),
        ("ARCHITECTURE DECISIONS", ["api/overview"]),
        ("Estonia's register of business", ["api/overview"]),
        ("提案", ["web/overview"]),
        ("让 HTML 成为一等公民的那篇在哪", ["web/overview"]),
        ("api/overview", ["api/overview"]),
        ("web/overview.md", ["web/overview"]),
        ("concepts/api/cache.md", ["api/cache"]),
    ],
)
def test_what_is_typed_otherwise_is_found(typed, query, expected):
    assert ranked(typed, query) == expected


def test_the_end_of_a_path_is_enough_where_several_bundles_are_kept(tmp_path):
    repository = make_repository(tmp_path / "memory")
    put(repository, "one/design/cache", "First")
    put(repository, "two/design/cache", "Second")
    put(repository, "two/own/design", "Third")
    with opened(repository) as catalog:
        assert ranked(catalog, "design/cache.md") == ["one/design/cache", "two/design/cache"]
        assert ranked(catalog, "own/design") == ["two/own/design"]
        assert ranked(catalog, "sign/cache.md") == []


# -- confidence, and what comes near ----------------------------------------------------


def test_what_does_not_answer_gives_what_comes_near(catalog):
    for one in catalog[:2]:
        answer = ask(one, "git rebase onto a new branch", Filter())
        assert answer.matches == []
        assert 0 < answer.confidence < ENOUGH
        assert names(one, [match.document for match in answer.near]) == ["decisions/hooks"]
        assert 0 < answer.near[0].score < 1


def test_a_single_shared_word_is_no_answer_but_evidence(catalog):
    for one in catalog[:2]:
        answer = ask(one, "virtual", Filter())
        assert (answer.matches, answer.exact) == ([], False)
        assert names(one, [match.document for match in answer.near]) == ["failures/crash"]


def test_an_answer_tells_how_sure_it_is(catalog):
    for one in catalog[:2]:
        exact, named, covered, nothing = (
            ask(one, query, Filter()).confidence
            for query in ("tag:git", "git", "do hooks ever add a file", "quantum chromodynamics")
        )
        assert exact == 1.0 > named > ENOUGH
        assert covered >= ENOUGH
        assert nothing == 0.0


def test_what_many_fit_alike_is_left_to_the_next_layer(catalog):
    for one in catalog[:2]:
        answer = ask(one, "notes with many words", Filter())
        assert answer.matches == []
        assert answer.confidence < ENOUGH
        assert len(answer.near) in {0, MOST_NEAR}  # equals are there together or not at all


def test_a_filter_leaves_no_near_misses_that_do_not_pass(catalog):
    for one in catalog[:2]:
        answer = ask(one, "embedding of the hooks", Filter(type="Failure"))
        assert names(one, [match.document for match in answer.near]) == ["failures/crash"]


# -- whatever is asked -------------------------------------------------------------------

ANYTHING = st.one_of(
    st.text(),
    st.text(st.characters(codec=None)),
    st.lists(
        st.sampled_from(
            [
                "#",
                "tag:",
                "type:",
                "/",
                ".md",
                " ",
                "git",
                "words",
                "hooks",
                "Failure",
                "\0",
                "\ud800",
            ]
        )
    ).map("".join),
)


@given(query=ANYTHING)
def test_no_string_fails_and_the_same_question_has_the_same_answer(catalog, query):
    for one in catalog[:2]:
        first = ask(one, query, Filter())
        assert first == ask(one, query, Filter())
        assert 0 <= first.confidence <= 1
        assert all(0 < match.score <= 1 for match in (*first.matches, *first.near))
        assert bool(first.matches) <= (first.confidence >= ENOUGH)


@given(words=st.permutations("why did embedding die on the virtual machine of hooks".split()))
def test_the_order_of_the_words_of_a_question_does_not_count(catalog, words):
    for one in catalog[:2]:
        asked = ask(one, "why did embedding die on the virtual machine of hooks", Filter())
        again = ask(one, " ".join(words), Filter())
        assert (again.near, again.confidence) == (asked.near, asked.confidence)


@settings(max_examples=5)
@given(seed=st.integers(0, 1000))
def test_the_order_in_which_concepts_came_does_not_count(seed, tmp_path_factory):
    folder = tmp_path_factory.mktemp("order")
    found = []
    for order in ("sorted", "shuffled"):
        repository = make_repository(folder / order)
        numbers = list(range(12))
        if order == "shuffled":
            random.Random(seed).shuffle(numbers)
        for count, number in enumerate(numbers):
            put(
                repository,
                f"c{number}",
                f"Words of number{number % 3} here",
                tags=[f"t{number % 2}"],
            )
            if count % 4 == 3:
                opened(repository).close()
        with opened(repository) as catalog:
            asked = ("t1", "tag:t0", "words of number2", "number1 words t0", "words somewhere else")
            answers = [ask(catalog, query, Filter()) for query in asked]
            found.append(
                [
                    (names(catalog, [m.document for m in (*a.matches, *a.near)]), a.confidence)
                    for a in answers
                ]
            )
    assert found[0] == found[1]


def test_a_concept_that_changed_is_found_by_what_it_says_now_alone(tmp_path):
    repository = make_repository(tmp_path / "memory")
    put(repository, "a", "Rollback journal of SQLite", tags=["old-tag"])
    put(repository, "b", "Another matter")
    opened(repository).close()
    put(repository, "a", "Write ahead log of SQLite", tags=["new-tag"])
    with opened(repository) as catalog:
        assert ranked(catalog, "old-tag") == []
        assert ask(catalog, "rollback journal", Filter()).near == []
        assert ranked(catalog, "new tags") == ["a"]
        assert ranked(catalog, "the log that is written ahead") == ["a"]


def test_a_concept_among_thousands_is_told_by_words_that_are_all_common():
    with closing(Catalog.in_memory()) as catalog:
        for number in range(4200):  # more than one block of bits
            words = [
                f"odd{number % 2}",
                f"third{number % 3}",
                f"of{number % 101}",
                f"by{number % 7}",
            ]
            put_concept(catalog, f"concepts/c{number}.md", "", concept(" ".join(words)).encode())
        assert ranked(catalog, "odd1 third0 of50 by5") == ["c4191"]
