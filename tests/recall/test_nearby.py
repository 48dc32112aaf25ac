from __future__ import annotations

import sqlite3

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from helpers import concept, make_repository, write
from knowrepo.git.layout import Repository
from knowrepo.index.build import refresh
from knowrepo.index.catalog import Catalog, Filter
from knowrepo.index.text import content_words, stem
from knowrepo.recall.nearby import MOST, MOST_UNKNOWN, near

BODY = """
The migration of transcripts wrote a rollback journal, and the parser of configuration read
`parseHttpHeader` of every session. Übersichtlichkeit, конфигурация, настройка. money chat
header header2 a1b2c3d4 sqlite3 v8engine which handler handles handled; 数据库迁移
"""


@pytest.fixture(scope="module")
def filled(tmp_path_factory):
    repository = make_repository(tmp_path_factory.mktemp("near") / "memory")
    write(repository, "concepts/a.md", concept("One", body=BODY))
    write(repository, "concepts/b.md", concept("Two", body="hooks and the parser of a session"))
    refresh(repository)
    return repository


@pytest.fixture(scope="module")
def catalog(filled):
    with opened(filled) as catalog:
        yield catalog


def opened(repository: Repository) -> Catalog:
    catalog = Catalog.open(repository.catalog)
    assert catalog is not None
    return catalog


def repaired(catalog: Catalog, query: str) -> dict[str, list[str]]:
    return {word: list(terms) for word, terms in near(catalog, content_words(query)).items()}


@pytest.mark.parametrize(("typed", "meant"), [
    ("rolback", "rollback"), ("rollbcak", "rollback"), ("rolllback", "rollback"),
    ("rollbaxk", "rollback"), ("orllback", "rollback"), ("ollback", "rollback"),
    ("tollback", "rollback"), ("migratoin", "migration"), ("migratio", "migration"),
    ("transcirpts", "transcripts"), ("confguratoin", "configuration"), ("sesion", "session"),
    ("parsr", "parser"), ("mony", "money"), ("ubersichtlichkiet", "ubersichtlichkeit"),
    ("конфигурацяи", "конфигурация"), ("онфигурация", "конфигурация"),
])  # fmt: skip
def test_a_slip_finds_the_word_that_was_meant(catalog, typed, meant):
    assert stem(meant) in repaired(catalog, f"the {typed} of it")[typed]


@pytest.mark.parametrize("query", [
    "rollback", "sessions parsers", "cht", "a1b2c3d5", "12345", "数据车", "whcih", "zzzzzzz",
    "mxnxy", "confxgxrxtxon", "מחשב", "", "the",
])  # fmt: skip
def test_what_is_known_or_no_word_or_too_far_is_left_alone(catalog, query):
    assert repaired(catalog, query) == {}


def test_a_name_is_repaired_by_its_parts(catalog):
    assert repaired(catalog, "parseHttpHaeder") == {"haeder": ["header"]}
    assert repaired(catalog, "parse_htttp_header") == {"htttp": ["http"]}
    assert repaired(catalog, "heeder2") == {"heeder": ["header"]}


def test_the_commonest_come_first_and_not_too_many(filled, tmp_path_factory):
    repository = make_repository(tmp_path_factory.mktemp("common") / "memory")
    for number, words in enumerate(["cart", "cart card", "cart card carp", "carb", "barx", "barx"]):
        write(repository, f"concepts/c{number}.md", concept("X", body=words))
    refresh(repository)
    with opened(repository) as catalog:
        assert repaired(catalog, "carx") == {"carx": ["cart", "card", "carb"]}
        assert MOST == 3


def test_many_unknown_words_are_another_subject_and_no_slips(catalog):
    slips = ["rolback", "sesion", "parsr", "mony", "hoks"]
    few, many = slips[:MOST_UNKNOWN], slips[: MOST_UNKNOWN + 1]
    assert len(repaired(catalog, " ".join(few))) == MOST_UNKNOWN
    assert repaired(catalog, " ".join(many)) == {}


def test_a_spelling_is_looked_for_as_the_index_has_it(catalog):
    [found] = near(catalog, content_words("migratoin"))["migratoin"]
    assert catalog.chunk_frequency(found) == 1
    assert catalog.lexical([found], 5, Filter())
    assert catalog.chunk_frequency("migratoin") == 0


def test_a_term_is_stemmed_no_second_time(filled):
    write(filled, "concepts/d.md", concept("Stems", body="we advertise it"))
    refresh(filled)
    assert stem(stem("advertise")) != stem("advertise")
    with opened(filled) as catalog:
        [found] = near(catalog, content_words("advretise"))["advretise"]
        assert catalog.chunk_frequency(found) == 1


def test_a_connection_that_only_reads_gives_them(filled):
    with opened(filled) as catalog:
        with pytest.raises(sqlite3.OperationalError, match="readonly"):
            catalog._db.execute("DELETE FROM chunks")
        assert repaired(catalog, "rolback") == {"rolback": ["rollback"]}


def test_the_vocabulary_is_asked_by_its_beginning_and_its_length(catalog):
    assert catalog.vocabulary("session", 1, 20) == {"session": 2}
    assert set(catalog.vocabulary("hand", 5, 6)) == {"handl"}
    assert set(catalog.vocabulary("hand", 5, 7)) == {"handl", "handler"}
    assert catalog.vocabulary('x" OR 1', 1, 99) == {}
    assert catalog.terms_among(["parser", "nothing", "hook"]) == {"parser": 2, "hook": 1}


def test_a_writer_that_was_asked_can_still_purge_and_be_asked_again(repository):
    write(repository, "concepts/a.md", concept("One", body="rollback"))
    write(repository, "concepts/b.md", concept("Two", body="journal"))
    refresh(repository)
    with Catalog.create(repository.catalog) as writer:
        assert repaired(writer, "rolback") == {"rolback": ["rollback"]}
        with writer.transaction():
            writer.remove("concepts/a")
        writer.purge()
        assert repaired(writer, "rolback jornal") == {"jornal": ["journal"]}


def test_words_of_a_hidden_document_may_be_given_and_find_nothing(repository):
    write(repository, "concepts/a.md", concept("One", body="rollback"))
    refresh(repository)
    with Catalog.create(repository.catalog) as writer, writer.transaction():
        writer.leave(["concepts/a"])
    with opened(repository) as catalog:
        [found] = near(catalog, content_words("rolback"))["rolback"]
        assert catalog.lexical([found], 5, Filter()) == []


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(st.text(st.characters(exclude_categories=[]), max_size=60))
def test_any_query_is_safe(catalog, query):
    for word, terms in near(catalog, content_words(query)).items():
        assert catalog.chunk_frequency(word) == 0
        assert 0 < len(terms) <= MOST
        assert catalog.terms_among(terms).keys() == set(terms)
