from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from helpers import SHARED
from knowrepo.index import text as analyser
from knowrepo.index.catalog.words import _any_of
from knowrepo.index.spelling import LONGEST_WORD
from knowrepo.index.text import (
    STOP_WORDS,
    TOKENIZER,
    analysed,
    content_words,
    normal_name,
    spelled,
    stem,
    stems,
    words,
)


@contextmanager
def table(*texts: str) -> Iterator[sqlite3.Connection]:
    with closing(sqlite3.connect(":memory:")) as db:
        db.execute(f"CREATE VIRTUAL TABLE w USING fts5(body, tokenize='{TOKENIZER}')")
        db.execute("CREATE VIRTUAL TABLE v USING fts5vocab('w', 'instance')")
        db.executemany("INSERT INTO w VALUES (?)", [(analysed(text),) for text in texts])
        yield db


def tokens(text: str) -> list[str]:
    """What FTS5 really keeps of a text, in its order."""
    with table(text) as db:
        return [row[0] for row in db.execute("SELECT term FROM v ORDER BY offset")]


def finds(query: str, text: str) -> bool:
    with table(text) as db:
        return found(db, query) == [1]


def found(db: sqlite3.Connection, query: str) -> list[int]:
    condition = _any_of(content_words(query))
    rows = db.execute("SELECT rowid FROM w WHERE w MATCH ? ORDER BY bm25(w)", (condition,))
    return [row[0] for row in rows]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("parseHTTPHeader", "parse http header parsehttpheader"),
        ("snake_case_name", "snake case name snakecasename"),
        ("pre-commit", "pre commit precommit"),
        ("tag_index.jsonl", "tag index jsonl tagindexjsonl tagindex"),
        ("src/app/main.py:42", "src app main py 42 srcappmainpy mainpy"),
        ("`a::b`", "a b ab"),
        ("E0432", "e0432 0432"),
        ("HTTP-404", "http 404 http404"),
        ("v1.2.3", "v1·2·3 1·2 1·2·3"),
        ("(3.11)", "3·11"),
        ("0x7fff", "0x7fff"),
        ("b3a9ba9de1", "b3a9ba9de1 b3a9ba9"),
        ("C++, C# libstdc++", "c⁺⁺ c♯ libstdc⁺⁺ libstdc"),
        (".NET", "net ·net"),
        ("--flag-name", "flag name flagname"),
        ("@scope/pkg", "scope pkg scopepkg"),
        ("8th utf8", "8 th utf 8 8th utf8"),
        ("don't Anna's l’homme O'Brien", "dont anna l homme o brien lhomme obrien"),
        ("naïve Über Straße Łódź ısı İyi", "naive uber strasse lodz isi iyi"),
        ("ＡＢＣ ﬁn ｶﾞ", "abc fin ガ"),
        ("你好世界", "你好 好世 世界 界"),
        ("用HTML写", "用 html 写"),
        ("हिन्दी שָׁלוֹם العَرَبِيَّة أحمد", "हिन्दी שלום العربية احمد"),
        ("ёлка йод Їжак", "елка йод їжак"),
        ("a→b … ✓", "a b"),
        ("__init__ ___", "init"),
        ("", ""),
    ],
)
def test_words(text, expected):
    assert " ".join(words(text)) == expected


FINDS = [
    ("parse_http_header", "parseHTTPHeader(x)"),
    ("parseHTTPHeader", "use `parse-http-header`"),
    ("parse http header", "parseHTTPHeader"),
    ("header", "parse_http_header"),
    ("main.py", "see src/app/main.py:12"),
    ("src/app", r"src\app\main.py"),
    ("HashMap", "std::collections::HashMap"),
    ("1.2.3", "released v1.2.3."),
    ("python 3.11", "needs 3.11.4"),
    ("e0432", "error[E0432]: unresolved"),
    ("http 404", "HTTP-404"),
    ("b3a9ba9", "commit b3a9ba91c0ffee0123456789abcdef0123456789"),
    ("b3a9ba91c0", "commit b3a9ba9"),
    ("C++", "written in C++."),
    (".net", "the .NET runtime"),
    ("flag-name", "pass --flagName"),
    ("@scope/pkg", "npm i @scope/pkg@2.0.1"),
    ("naive", "a naïve try"),
    ("NAÏVE", "a naive try"),
    ("strasse", "die Straße"),
    ("Lodz", "w Łodzi, Łódź"),
    ("istanbul", "İstanbul"),
    ("世", "你好世界"),
    ("界", "你好世界"),
    ("世界", "hello世界hello"),
    ("カタカナ", "ｶﾀｶﾅ"),
    ("한국", "한국어를 배운다"),
    ("ไทย", "ภาษาไทย"),
    ("हिन्दी", "मुझे हिन्दी आती है"),
    ("שלום", "שָׁלוֹם"),
    ("елка", "ёлка"),
    ("running tests", "it ran: test"),
]


@pytest.mark.parametrize(("query", "text"), FINDS)
def test_a_query_finds(query, text):
    assert finds(query, text)


@pytest.mark.parametrize(
    ("query", "text"),
    [("3.11", "number 311"), ("C++", "plain c"), ("C#", "C++"), ("世", "你好"), ("йод", "иод")],
)
def test_what_is_another_word_is_not_found(query, text):
    assert not finds(query, text)


def test_german_is_found_in_other_inflections_and_english_as_before():
    german = "Für die Häuser der Nachbarn und ihre Gärten gibt es neue Bäume."
    assert finds("Garten", german)
    assert finds("die Bäume und der Nachbar", german)
    assert finds("Gärten", german)
    assert "garten·" not in tokens("Gärten are garden, he said, and they are über all of us.")


def test_a_query_in_a_language_drops_its_function_words():
    assert content_words("Wie ist die Verteidigung der Panthers?") == ["verteidigung", "panthers"]
    assert "die" in content_words("die hard")


def test_neighbours_stay_neighbours_and_parts_make_a_phrase():
    with table("call the parseHTTPHeader function now") as db:
        for phrase in ("the pars http header function", "pars http header", "call the"):
            assert db.execute("SELECT 1 FROM w WHERE w MATCH ?", (f'"{phrase}"',)).fetchone()
        assert not db.execute("SELECT 1 FROM w WHERE w MATCH ?", ('"the function"',)).fetchone()


SPELLINGS = [
    "parseHTTPHeader", "snake_case", "a::b", "v1.2.3", "C++", ".NET", "don't", "naïve", "你好世界",
    "it's", "word.", "(x)", "E0432", "src/app/main.py", "…", "ﬁ", "é", "\ud800", "\0", "\1\2", "·",
    "Привет", "हिन्दी", "ไทย", "x" * 5000, "a/" * 400, "Zeit-Geist", "ß", "İ", "\u0301", "\u00a0",
]  # fmt: skip
TEXTS = st.lists(
    st.one_of(st.sampled_from(SPELLINGS), st.text(max_size=12), st.text("aB1-._:/'+# ", max_size=9))
).flatmap(lambda parts: st.sampled_from([" ", "\n", "", "\t"]).map(lambda by: by.join(parts)))


@given(TEXTS)
@example("\ud800 a\0b")
def test_fts5_keeps_the_stems_of_the_words_and_nothing_else(text):
    expected = [stem(word) for word in words(text)]
    kept = tokens(text)
    assert kept[: len(expected)] == expected
    assert all(token.endswith("·") for token in kept[len(expected) :])


@given(TEXTS)
def test_what_is_remembered_is_what_is_found_anew(text):
    first = analysed(text)
    analyser._ANALYSES.clear()
    analyser._SPELLINGS.clear()
    analyser._short.cache_clear()
    assert analysed(text) == first


@given(TEXTS)
def test_every_content_word_of_a_text_finds_it(text):
    with table(text) as db:
        for word in content_words(text):
            rows = db.execute("SELECT 1 FROM w WHERE w MATCH ?", (_any_of([word]),))
            assert rows.fetchone(), word


@given(TEXTS)
def test_words_are_plain_and_of_bounded_length(text):
    for word in words(text):
        assert word
        assert '"' not in word
        assert len(word.split()) == 1
        assert len(word) <= 2 * LONGEST_WORD
    assert all(whole for whole, _ in spelled(text))


def test_what_is_too_long_for_a_word_keeps_its_parts():
    path = "/".join(["folder"] * 100)
    assert set(words(path)) == {"folder"}
    assert list(words("x" * 5000)) == []


def test_words_without_content_are_dropped_from_a_query():
    assert content_words("What did we decide about the hooks?") == ["decide", "hooks"]
    assert content_words("what is it, didn't it") == []


def test_a_name_is_compared_without_case_punctuation_and_inflection():
    assert normal_name("C-API") == normal_name("c api")
    assert normal_name("Architecture Decisions") == normal_name("architecture-decision")
    assert normal_name("Über_uns") == normal_name("uber uns")
    assert normal_name("हिन्दी") == "हिन्दी"
    assert len({normal_name(name) for name in ("C", "C++", "C#")}) == 3


def test_stems_bring_inflections_together():
    assert stems("deciding decisions") == stems("decided decision")


def test_an_exact_name_ranks_before_its_parts_elsewhere():
    texts = "the index of a tag", "tagIndex is a name", "a tag in an index, tag and index"
    with table(*texts) as db:
        assert found(db, "tag_index")[0] == 2


def test_function_words_of_english_are_not_those_of_other_languages():
    for name in ("German", "English"):
        assert not tokens(f"{name}: café is what we were to do on the way in")[-1].endswith("·")
    assert "the" in STOP_WORDS


@pytest.mark.skipif(not SHARED.is_dir(), reason="no shared data on this machine")
def test_real_text_is_kept_as_its_words():
    pages = sorted((SHARED / "okf" / "bundles").rglob("*.md"))[::7]
    assert len(pages) > 60
    for page in pages:
        text = page.read_text(encoding="utf-8", errors="replace")
        expected = [stem(word) for word in words(text)]
        assert tokens(text)[: len(expected)] == expected
