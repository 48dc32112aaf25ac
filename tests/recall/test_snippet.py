from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from knowrepo.index.spelling import placed, words_of
from knowrepo.index.text import content_words
from knowrepo.recall.snippet import pieces
from knowrepo.units import splits


def marked(text: str, query: str, limit: int = 200) -> str:
    found = pieces(text, content_words(query), limit)
    return "".join(f"**{piece}**" if matched else piece for piece, matched in found)


@pytest.mark.parametrize(
    ("text", "query", "shown"),
    [
        ("it locks the files", "locking file", "it **locks** the **files**"),
        ("the parseHTTPHeader in x", "parse_http_header", "the **parseHTTPHeader** in x"),
        ("the parseHTTPHeader in x", "header", "the parseHTTP**Header** in x"),
        ("tools/parse_header.py:7", "parse header", "tools/**parse_header**.py:7"),
        ("C# and C++ and C", "c++", "C# and **C++** and C"),
        ("v1.2.3 and 1.3.2", "1.2.3", "**v1.2.3** and 1.3.2"),
        ("数据库被锁定了", "锁定数据库", "**数据库**被**锁定**了"),
        ("我们用日志", "日", "我们用**日**志"),
        ("Cafe\u0301s à côté", "cafés", "**Cafe\u0301s** à côté"),
        ("ＦＵＬＬ width", "full", "**ＦＵＬＬ** width"),
        ("die Häuser und der Weg für das Tier", "haus und tier für das",
         "die **Häuser** und der Weg für das **Tier**"),
        ("nothing of it", "zebra", "nothing of it"),
        ("it is not", "it is not", "it is not"),
        ("", "x", ""),
    ],
)  # fmt: skip
def test_what_matched_is_what_is_marked(text, query, shown):
    assert marked(text, query) == shown


def test_the_sentence_with_most_words_is_shown():
    text = (
        "The hooks are there. Nobody asked for hooks of the archive, which run at each commit "
        "and lock it. The archive grows."
    )
    assert marked(text, "archive hooks lock", 110) == (
        "Nobody asked for **hooks** of the **archive**, which run at each commit and **lock** it."
    )


def test_sentences_that_hold_the_words_together_are_shown_together():
    text = "One.\nThe journal is long enough to be read by itself here.\nIt locks the file.\nFour."
    assert marked(text, "journal lock") == (
        "The **journal** is long enough to be read by itself here. It **locks** the file."
    )


def test_a_long_sentence_is_cut_at_words_around_what_matched():
    text = "far " * 100 + "needle in the hay " + "near " * 100
    found = marked(text, "needle", 60)
    assert found.startswith("…far far ")
    assert found.endswith("near…")
    assert "**needle** in the hay" in found


def test_marks_of_markdown_are_no_words_of_a_snippet():
    text = "## Why\n```sh\nmake **test**\n```\n---\n"
    assert marked(text, "test") == "make **test**"


def test_what_a_terminal_would_obey_is_made_visible():
    assert marked("the \x1b[31mlock\x1b[0m \x07 is", "lock") == "the **lock** \ufffd is"


def test_marks_are_the_callers():
    assert pieces("a lock", content_words("lock"), 40) == [("a ", False), ("lock", True)]


TEXTS = st.text(
    st.sampled_from(list("abc lock \n.!`~#*-_/日数据e\u0301👩\u200d🏽🇩🇪\r\t\x1b[")), max_size=400
)


@given(TEXTS, st.sampled_from(["lock", "日", "数据", "a b", "e\u0301", "", "loc ck"]),
       st.integers(8, 120))  # fmt: skip
def test_a_snippet_of_anything_is_one_line_within_its_limit(text, query, limit):
    found = pieces(text, content_words(query), limit)
    line = "".join(piece for piece, _ in found)
    assert len(line) <= limit
    assert "\n" not in line
    assert not any("\x00" <= character < " " and character != "\t" for character in line)


@given(TEXTS, st.integers(12, 60))
def test_no_mark_parts_what_is_seen_as_one(text, limit):
    found = pieces(text, content_words("日 数据 lock a"), limit)
    line = "".join(piece for piece, _ in found)
    at = 0
    for piece, _ in found[:-1]:
        at += len(piece)
        assert not splits(line, at)


@given(st.text(st.sampled_from(list("aB1._-/:'+#日本한é\u0301ßﬁ🇩")), min_size=1, max_size=20))
def test_the_words_with_places_are_those_of_the_analyser(token):
    wholes = [tuple(filter(None, (word.whole, *word.others))) for word in words_of(token)]
    found = list(placed(token))
    assert [names for _, _, names in found if names in wholes][: len(wholes)] or not wholes
    assert all(0 <= start <= end <= len(token) for start, end, _ in found)
    for word in words_of(token):
        assert tuple(filter(None, (word.whole, *word.others))) in [names for *_, names in found]
