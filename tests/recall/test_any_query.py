"""Any string is a query: what FTS5, SQL and the router read into one is only text."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from helpers import WordEmbedder, assistant, concept, make_repository, transcript, user, write
from knowrepo.git.layout import Repository
from knowrepo.index.build import refresh
from knowrepo.index.catalog import Catalog, Filter
from knowrepo.index.fill import embed, pending_texts
from knowrepo.index.vectors import VectorStore
from knowrepo.recall import route
from knowrepo.sessions.archive import archive

SYNTAX = (
    *"\"'*^:()[]{}+-–.,;<>=!?#%_\\/|&~@$`",
    "AND", "OR", "NOT", "NEAR", "NEAR(", ", 10)", "title:", "body :", "{title body}:", '"hooks',
    'journal"', "hook*", "^hooks", "- hooks", "--", "/*", "'; DROP TABLE chunks; --", "words MATCH",
    "tag:", "type:", "id:", "#", "id:a3f2", "tag:git", "type:Decision", "../..", "concepts/",
    "hooks", "journal", "the", "what is", "last week", "before the", "2026-05-01",
    "parseHttpHaeder",
)  # fmt: skip
SCRIPTS = (
    "\0", "\ud800", "\udfff", "\ufffe", "\U0010ffff", "\u202e", "\u200f", "\u200b", "\ufeff",
    "\x1b[2J",
    "مرحبا", "שלום", "日誌", "ログ", "저널", "บันทึก", "नमस्ते", "ﬁ", "İ", "ß", "é", "e\u0301", "Ⅷ",
    "²", "٣", "👩‍👩‍👧", "🇩🇪", "\n", "\r\n", "\t", "\x85", "\u2028",
)  # fmt: skip
PIECES = st.one_of(
    st.sampled_from(SYNTAX), st.sampled_from(SCRIPTS), st.text(st.characters(), max_size=8)
)
QUERIES = st.one_of(
    st.lists(PIECES, max_size=12).map(" ".join),
    st.lists(PIECES, max_size=12).map("".join),
    st.text(st.characters(exclude_categories=[]), max_size=40),  # surrogates too
    st.builds(lambda piece, times: piece * times, PIECES, st.sampled_from([300, 5_000])),
)
WORDS = st.sampled_from(["", "", "", "git", "session", "it's", "%", '"', "\0", "\ud800", "日誌"])
DATES = st.sampled_from(["", "", "2026", "2026-05-01", "9999-99-99", "'", "-1"])
FILTERS = st.one_of(
    st.just(Filter()),
    st.builds(Filter, kind=st.sampled_from(["", "concept", "session"]), agent=WORDS, type=WORDS,
              tag=WORDS, since=DATES, until=DATES, session=WORDS, project=WORDS),
)  # fmt: skip


@pytest.fixture(scope="module")
def filled(tmp_path_factory) -> Repository:
    folder = tmp_path_factory.mktemp("any")
    repository = make_repository(folder / "memory")
    write(repository, "concepts/hooks.md", concept("Hooks never add", tags=["git"], body="body"))
    write(repository, "concepts/diary.md", concept("日誌", tags=["git"], body="journal مرحبا"))
    records = [user("why is the journal locked?", 1), assistant("by a hook", 2)]
    list(archive(repository, [transcript(folder / "in", records)]))
    refresh(repository)
    return repository


@pytest.fixture(scope="module")
def embedder(filled) -> WordEmbedder:
    embedder = WordEmbedder()
    catalog = Catalog.open(filled.catalog)
    assert catalog is not None
    with catalog:
        store = VectorStore(filled.vectors, embedder.fingerprint)
        embed(pending_texts(catalog, store), store, embedder)
    return embedder


@settings(deadline=None, max_examples=200)
@given(query=QUERIES, only=FILTERS, full=st.booleans(), meant=st.booleans())
def test_any_string_with_any_filter_is_a_safe_query(filled, embedder, query, only, full, meant):
    answer = route.recall(
        filled, query, limit=3, only=only, full=full, embedder=embedder if meant else None
    )
    assert len(answer.hits) <= 3
    for hit in answer.hits:
        assert not only.kind or hit.kind == only.kind


@pytest.mark.parametrize(
    "query", ["", "   ", "what is it", "the of and", "?!…", "\0", "\u202e", "🇩🇪"]
)
def test_a_query_without_a_word_to_look_for_lists_the_newest_in_scope(filled, query):
    answer = route.recall(filled, query)
    assert answer.route == "newest"
    dates = [hit.date for hit in answer.hits]
    assert len(dates) == 3
    assert dates == sorted(dates, reverse=True)
    concepts = route.recall(filled, query, only=Filter(kind="concept"), limit=1)
    assert [hit.kind for hit in concepts.hits] == ["concept"]


@pytest.mark.parametrize("query", [
    "tag:\ud800", "id:\ud800", "#\0", "concepts/\ud800.md", "/\ud800", "concepts/\0.md",
    "a/" * 5_000, "1." * 100_000, "aB" * 5_000, "日" * 5_000,
])  # fmt: skip
def test_a_hostile_name_or_number_is_only_text(filled, query):
    assert route.recall(filled, query, limit=1).route
