from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from knowrepo.index.text import analysed, content_words, normal_name, stems


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("parseHTTPHeader", "parsehttpheader parse http header"),
        ("snake_case_name", "snakecasename snake case name"),
        ("pre-commit", "precommit pre commit"),
        ("tag_index.jsonl", "tagindexjsonl tag index jsonl"),
        ("E0308", "e0308 e 0308"),
        ("don't naïve Über", "dont naive uber"),
        ("你好世界", "你好 好世 世界"),
        ("用HTML写", "用 html 写"),
        ("__init__ ___", "init"),
        ("", ""),
    ],
)
def test_words(text, words):
    assert analysed(text) == words


def test_words_without_content_are_dropped_from_a_query():
    assert content_words("What did we decide about the hooks?") == ["decide", "hooks"]
    assert content_words("what is it") == []


def test_a_name_is_compared_without_case_punctuation_and_inflection():
    assert normal_name("C-API") == normal_name("c api")
    assert normal_name("Architecture Decisions") == normal_name("architecture-decision")
    assert normal_name("Über_uns") == normal_name("uber uns")


def test_stems_bring_inflections_together():
    assert stems("deciding decisions") == stems("decided decision")


@given(st.text())
def test_any_text_is_analysed_to_plain_words(text):
    words = analysed(text).split()
    assert all('"' not in word for word in words)
    assert set(content_words(text)) <= set(words)
