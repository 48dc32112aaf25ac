from __future__ import annotations

from dataclasses import replace

import pytest

from knowrepo.recall import present
from knowrepo.recall.hits import Hit
from knowrepo.recall.route import Answer
from knowrepo.recall.tokens import estimate

HIT = Hit(
    id="a3f2", uid="a3f2" + "0" * 36, kind="session", path="sessions/claude/768de5d6-x.jsonl",
    shown_path="claude/768de5d6", type="", title="Fix the hooks", heading="why?",
    date="2026-02-06", summary="it fails on delete", score=0.8312, line=7, text="User: why?\n",
)  # fmt: skip
ANSWER = Answer("why", "hybrid", "words cover 50%", [HIT], 0.0123, behind=2, notes=["a note"])
LONG = "the archive lost a session while two sweeps ran at the same time and"


def test_a_hit_is_one_line():
    assert present.line(HIT) == (
        "[a3f2] claude/768de5d6 2026-02-06 | Fix the hooks: it fails on delete score=0.83"
    )


def test_a_hit_is_one_line_whatever_its_file_is_called():
    odd = replace(HIT, shown_path="notes/a\n[ffff]\tb")
    assert present.line(odd).startswith("[a3f2] notes/a [ffff] b 2026-02-06 | Fix")


def test_marks_are_shown():
    marked = replace(HIT, marks=("deprecated",))
    assert "| Fix the hooks (deprecated): it" in present.line(marked)


@pytest.mark.parametrize(
    ("also", "told"), [(("b8c1",), "(=b8c1)"), (("b8c1", "c0de", "d00d"), "(=b8c1, +2)")]
)
def test_a_hit_names_those_that_say_the_same(also, told):
    twin = replace(HIT, also=also)
    assert f"| Fix the hooks {told}: it fails" in present.line(twin)
    assert present.fields(twin, full=False)["also"] == list(also)


def test_a_line_keeps_to_its_tokens_however_long_its_title_and_dense_its_summary():
    for summary in (LONG, "0f3a:" * 16, "数据库被锁定了" * 11):
        hit = replace(HIT, title=f"Why {LONG}", summary=summary)
        shown = present.parts(hit)
        assert estimate(str(shown)) <= present.A_LINE or len(shown.summary) <= 24
        assert "2026-02-06 | Why the archive lost" in present.line(hit)
        assert present.line(hit).endswith("score=0.83")
    assert "…: 数据库" in present.line(hit)
    assert present.line(hit).endswith("… score=0.83")


def test_a_title_that_was_told_above_is_told_shortly_and_never_left_out():
    hit = replace(HIT, title=LONG)
    assert present.parts(hit).title == "the archive lost a session while two…"
    assert present.parts(hit, again=True).title == "the archive lost a…"


def test_a_title_has_the_room_of_a_summary_that_is_not_there():
    assert f"| {LONG} score" in present.line(replace(HIT, title=LONG, summary=""))


def test_a_body_says_where_it_comes_from():
    assert present.body(HIT) == (
        "[a3f2] sessions/claude/768de5d6-x.jsonl:7 2026-02-06 | Fix the hooks > why?\n\n"
        "User: why?\n"
    )


def test_the_turn_that_a_session_is_called_after_is_told_once():
    hit = replace(HIT, title="Why does it lock?", heading="Why does it…")
    assert present.citation(hit).endswith(" | Why does it lock?")


def test_a_concept_of_one_sentence_is_not_told_three_times():
    text = "Releases are cut on Tuesdays.\n\nReleases are cut on Tuesdays."
    hit = replace(HIT, kind="concept", title="Releases are cut on Tuesdays", heading="", text=text)
    assert present.body(hit).count("Releases") == 1
    assert present.fields(hit, full=True)["text"] == text


def test_of_equal_scores_paths_and_places_decide():
    def hit(id_: str, path: str, place: int, score: float = 0.5) -> Hit:
        return replace(HIT, id=id_, path=path, place=place, score=score)

    mixed = [
        hit("1", "z", 0, 0.9), hit("2", "b", 4), hit("3", "a", 7), hit("4", "a", 2),
        hit("5", "a", 1, 0.4),
    ]  # fmt: skip
    answer = replace(ANSWER, hits=mixed)
    assert [h.id for h in present.ordered(answer)] == ["1", "4", "3", "2", "5"]
    newest = replace(answer, route="newest")
    assert [h.id for h in present.ordered(newest)] == ["1", "2", "3", "4", "5"]


def test_the_json_is_a_contract():
    told = present.answer_fields(ANSWER)
    assert list(told) == [
        "version", "query", "route", "reason", "confident", "confidence", "seconds", "behind",
        "pending", "notes",
    ]  # fmt: skip
    assert told["version"] == 1
    assert present.fields(HIT, full=True) == {
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
        "also": [],
        "text": "User: why?\n",
    }
    assert "text" not in present.fields(HIT, full=False)


def test_how_an_answer_came_about_is_one_line():
    assert present.trail(ANSWER) == "hybrid (words cover 50%): 1 hit in 12.3 ms"
    assert "no match" in present.trail(Answer("q", "lexical", "", [], 0.1))
    unsure = Answer("q", "lexical", "", [], 0.1, confident=False)
    assert present.trail(unsure) == "lexical: no confident match in 100.0 ms"


def test_an_explanation_may_hold_anything():
    answer = replace(ANSWER, hits=[replace(HIT, evidence={"lexical": 12.34567, "title": 1.0})])
    told = {
        "terms": ["hook", "add"], "none": [], "sure": True, "unknown": None, "share": 1 / 3,
        "weights": {"title": 2.0, "body": [1, 2]}, "many": list(range(60)), "text": "a\n b",
    }  # fmt: skip
    assert list(present.explained(answer, told)) == [
        "route: hybrid (words cover 50%)",
        "confidence: 1.00, confident",
        "terms: hook, add",
        "none: none",
        "sure: yes",
        "unknown: none",
        "share: 0.3333",
        "weights: title=2 body=1, 2",
        f"many: {', '.join(map(str, range(40)))}, and 20 more",
        "text: a b",
        "[a3f2] score=0.8312 lexical=12.35 title=1",
    ]
