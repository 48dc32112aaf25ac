from __future__ import annotations

import json

from knowrepo.recall import present
from knowrepo.recall.hits import Hit
from knowrepo.recall.route import Answer

HIT = Hit(
    id="a3f2", uid="a3f2" + "0" * 36, kind="session", path="sessions/claude/768de5d6-x.jsonl",
    shown_path="claude/768de5d6", type="", title="Fix the hooks", heading="why?",
    date="2026-02-06", summary="it fails on delete", score=0.8312, line=7, text="User: why?\n",
)  # fmt: skip
ANSWER = Answer("why", "hybrid", "words cover 50%", [HIT], 0.0123, behind=2, notes=["a note"])


def test_a_hit_is_one_line():
    assert present.line(HIT) == (
        "[a3f2] claude/768de5d6 2026-02-06 | Fix the hooks: it fails on delete score=0.83"
    )


def test_a_hit_is_one_line_whatever_its_file_is_called():
    odd = Hit(**{**vars(HIT), "shown_path": "notes/a\n[ffff]\tb"})
    assert present.line(odd).startswith("[a3f2] notes/a [ffff] b 2026-02-06 | Fix")


def test_marks_are_shown():
    marked = Hit(**{**vars(HIT), "marks": ("deprecated",)})
    assert "| Fix the hooks (deprecated): it" in present.line(marked)


def test_a_body_says_where_it_comes_from():
    assert present.body(HIT) == (
        "[a3f2] sessions/claude/768de5d6-x.jsonl:7 2026-02-06 | Fix the hooks > why?\n\n"
        "User: why?\n"
    )


def test_the_json_is_a_contract():
    shown = json.loads(present.as_json(ANSWER, full=True))
    assert list(shown) == [
        "version", "query", "route", "reason", "seconds", "behind", "pending", "notes", "hits",
    ]  # fmt: skip
    assert shown["version"] == 1
    assert shown["hits"] == [
        {
            "id": "a3f2",
            "uid": "a3f2" + "0" * 36,
            "kind": "session",
            "path": "sessions/claude/768de5d6-x.jsonl",
            "line": 7,
            "type": "",
            "title": "Fix the hooks",
            "heading": "why?",
            "date": "2026-02-06",
            "summary": "it fails on delete",
            "score": 0.8312,
            "marks": [],
            "text": "User: why?\n",
        }
    ]
    assert "text" not in json.loads(present.as_json(ANSWER, full=False))["hits"][0]


def test_how_an_answer_came_about_is_one_line():
    assert present.trail(ANSWER) == "hybrid (words cover 50%): 1 hit in 12.3 ms"
    assert "no match" in present.trail(Answer("q", "lexical", "", [], 0.1))
