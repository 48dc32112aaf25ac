"""What becomes of a reranker's scores, and what a recall does with and without one."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import tiny_models
from helpers import concept, write
from knowrepo import config
from knowrepo.errors import KnowError
from knowrepo.index.build import refresh
from knowrepo.index.models import rerankers
from knowrepo.recall import rerank as module
from knowrepo.recall.rerank import MOST, blended, rerank, reranked
from knowrepo.recall.route import recall


class Slow:
    """Scores by length; each takes as long as it is told to, so many side by side."""

    def __init__(self, *seconds: float, lanes: int = 1) -> None:
        self._seconds, self._lanes = list(seconds), lanes
        self.now, self.begun = 100.0, 0

    def scores(self, query, passages):
        waiting: list[tuple[float, float]] = []
        for passage in passages:
            waiting.append((self.now + self._seconds[self.begun], float(len(passage))))
            self.begun += 1
            if len(waiting) == self._lanes:
                yield self._next(waiting)
        while waiting:
            yield self._next(waiting)

    def _next(self, waiting: list[tuple[float, float]]) -> float:
        done, score = waiting.pop(0)
        self.now = max(self.now, done)
        return score

    def ask(self, seconds: float, number: int = 6) -> list[float | None]:
        passages = ["x" * (n + 1) for n in range(number)]
        return rerank(self, "q", passages, seconds, clock=lambda: self.now)


def test_all_are_scored_where_there_is_time():
    slow = Slow(*[0.1] * 6)
    assert slow.ask(1.0) == [1, 2, 3, 4, 5, 6]


def test_none_is_begun_that_would_not_be_done_in_time():
    slow = Slow(*[0.3] * 6)
    assert slow.ask(1.0) == [1, 2, 3, None, None, None]
    assert (slow.begun, slow.now) == (3, pytest.approx(100.9))


def test_what_is_scored_side_by_side_is_begun_in_time_and_none_of_it_is_lost():
    slow = Slow(*[0.4] * 8, lanes=2)
    assert slow.ask(1.0, number=8) == [1, 2, 3, 4, *[None] * 4]
    assert (slow.begun, slow.now) == (4, pytest.approx(100.8))
    long = Slow(*[2.0] * 8, lanes=3)
    assert long.ask(1.0, number=8) == [1, 2, 3, *[None] * 5]
    assert long.begun == 3


def test_the_first_is_scored_however_long_it_takes():
    slow = Slow(5.0, 5.0)
    assert slow.ask(1.0) == [1, None, None, None, None, None]
    assert slow.begun == 1


def test_the_pace_is_that_of_all_so_far():
    # After a slow beginning there is time again, and after a slow end there is none.
    assert Slow(0.4, 0.1, 0.1, 0.1, 0.1, 0.1).ask(1.0) == [1, 2, 3, 4, 5, 6]
    assert Slow(0.1, 0.1, 0.7, 0.1, 0.1, 0.1).ask(1.0) == [1, 2, 3, None, None, None]


def test_without_passages_nothing_is_asked():
    assert Slow(1.0).ask(1.0, number=0) == []


def test_what_a_scorer_raises_is_raised():
    class Broken:
        def scores(self, query, passages):
            raise KnowError("gone")
            yield 0.0

    with pytest.raises(KnowError, match="gone"):
        rerank(Broken(), "q", ["a"], 1.0)


finite = st.floats(-1e6, 1e6, allow_subnormal=False)
firsts = st.lists(st.floats(0, 1), min_size=1, max_size=30).map(lambda some: sorted(some)[::-1])


@st.composite
def orders(draw):
    """A first order, and the scores of as many of its first as there was time for."""
    ranked = [(number, score) for number, score in enumerate(draw(firsts))]
    done = draw(st.integers(0, len(ranked)))
    scores = [draw(finite) if n < done else None for n in range(len(ranked))]
    return ranked, scores


@given(orders())
def test_nothing_is_lost_and_what_was_not_scored_stays_behind_as_it_was(order):
    ranked, scores = order
    new = blended(ranked, scores)
    done = sum(score is not None for score in scores)
    assert sorted(chunk for chunk, _ in new) == sorted(chunk for chunk, _ in ranked)
    assert new[done:] == ranked[done:]
    assert {chunk for chunk, _ in new[:done]} == {chunk for chunk, _ in ranked[:done]}


@given(orders())
def test_scores_fall_and_stay_between_the_best_and_the_worst_of_before(order):
    ranked, scores = order
    values = [score for _, score in blended(ranked, scores)]
    assert all(one >= other - 1e-9 for one, other in pairwise(values))
    assert max(values) <= ranked[0][1] + 1e-9
    assert min(values) >= ranked[-1][1] - 1e-9


@given(orders(), st.floats(0.01, 100), st.floats(-100, 100))
def test_the_scale_of_a_reranker_does_not_count(order, factor, shift):
    ranked, scores = order
    other = [None if score is None else round(score) * factor + shift for score in scores]
    whole = [None if score is None else float(round(score)) for score in scores]
    one, two = (dict(blended(ranked, some)) for some in (whole, other))
    assert one == pytest.approx(two, abs=1e-6)


@given(firsts)
def test_one_that_agrees_or_knows_nothing_changes_no_order(values):
    ranked = list(enumerate(values))
    for scores in ([*values], [3.0] * len(values), [None] * len(values)):
        assert [chunk for chunk, _ in blended(ranked, scores)] == [chunk for chunk, _ in ranked]


def test_a_reranker_moves_what_the_first_search_could_not_tell_apart():
    ranked = [(1, 0.81), (2, 0.80), (3, 0.79), (4, 0.1)]
    new = blended(ranked, [0.0, 0.1, 9.0, -0.1])
    assert [chunk for chunk, _ in new] == [3, 1, 2, 4]
    assert (new[0][1], new[-1][1]) == (0.81, 0.1)


def test_what_leads_by_far_stays_ahead_of_what_the_reranker_likes_a_little_more():
    ranked = [(1, 1.0), (2, 0.3), (3, 0.28), (4, 0.26), (5, 0.2)]
    assert blended(ranked, [1.0, 1.5, -2.0, -1.0, 0.4])[0][0] == 1
    # One that is of another mind altogether is not believed alone, and may be with more weight.
    assert blended(ranked, [-9.0, 9.0, -9.0, -9.0, -9.0])[0][0] == 1
    assert blended(ranked, [-9.0, 9.0, -9.0, -9.0, -9.0], weight=0.6)[0][0] == 2


def test_one_score_alone_says_nothing():
    ranked = [(1, 0.9), (2, 0.5)]
    assert blended(ranked, [-7.0, None]) == ranked


@pytest.fixture
def reranker(tmp_path) -> Iterator[Path]:
    """A reranker of the user's own that is chosen."""
    path = tiny_models.build_reranker(tmp_path)
    rerankers.choose(str(path), 30.0)
    yield path
    module._opened.cache_clear()


TEXTS = {1: "the lock file", 2: "why it was kept", 3: "a", 4: "nothing"}
RANKED = [(1, 0.9), (2, 0.89), (3, 0.88), (4, 0.87)]


def texts(chunks: list[int]) -> dict[int, str]:
    return {chunk: TEXTS[chunk] for chunk in chunks}


def never(chunks: list[int]) -> dict[int, str]:
    raise AssertionError("a text was asked for")


def test_where_nothing_was_chosen_nothing_is_read_or_loaded(monkeypatch):
    kept = {name for name in sys.modules if name.startswith(("llama_cpp", "knowrepo.index"))}
    for name in kept:
        monkeypatch.delitem(sys.modules, name)
    config.config_path().write_text('repository = "/memory"\n')
    config._rerank_of.cache_clear()
    for _ in range(3):
        found = reranked("q", RANKED, never)
        assert found.ranked is RANKED
        assert (found.how, found.fault) == ("", "")
    assert config._rerank_of.cache_info().misses == 1
    assert not {name for name in sys.modules if name.startswith(("llama_cpp", "knowrepo.index"))}


def test_a_choice_is_seen_at_the_next_query_of_the_same_process(reranker):
    assert reranked("why", RANKED, texts).how
    rerankers.give_up()
    assert reranked("why", RANKED, never) == (RANKED, "", "")
    rerankers.choose(str(reranker))
    assert reranked("why", RANKED, texts).how


def test_the_order_is_what_the_scores_of_the_model_come_to(reranker):
    found = reranked("why was it kept", RANKED, texts)
    scorer = module._opened(rerankers.chosen().model())
    scores = dict(zip(TEXTS, scorer.scores("why was it kept", list(TEXTS.values())), strict=True))
    assert found.ranked == blended(RANKED, list(scores.values()))
    # Where the first search cannot tell, the reranker decides.
    alike = [(chunk, 0.5) for chunk in sorted(TEXTS, key=scores.__getitem__)]
    told = reranked("why was it kept", alike, texts).ranked
    assert told == alike[::-1]
    assert found.how.startswith("bert-rank reranked the first 4 of 4 in ")
    assert found.fault == ""


def test_no_more_than_the_best_are_offered_and_a_text_that_is_gone_is_an_empty_one(reranker):
    ranked = [(number, 1 - number / 1000) for number in range(200)]
    asked: list[int] = []

    def few(chunks: list[int]) -> dict[int, str]:
        asked.extend(chunks)
        return {1: "a"}

    found = reranked("why", ranked, few)
    assert asked == list(range(MOST))
    assert found.ranked[MOST:] == ranked[MOST:]


def test_the_model_is_loaded_once(reranker, monkeypatch):
    from knowrepo.index import llama

    loaded = []
    load = llama.load
    monkeypatch.setattr(llama, "load", lambda *a, **k: loaded.append(a) or load(*a, **k))
    for query in ("why", "what", "where"):
        assert reranked(query, RANKED, texts).how
    assert len(loaded) == 1


def test_one_that_is_too_slow_to_compare_two_leaves_the_order_and_says_so(reranker, monkeypatch):
    monkeypatch.setattr(module, "rerank", lambda *_: [1.0, None, None, None])
    found = reranked("why", RANKED, texts)
    assert found.ranked is RANKED
    assert found.how == ""
    assert "not reranked: bert-rank read 1 passage in " in found.fault
    assert "--seconds" in found.fault


def test_one_hit_needs_no_order(reranker):
    assert reranked("why", RANKED[:1], never) == (RANKED[:1], "", "")


def test_a_query_that_it_cannot_read_leaves_the_order_and_says_so(reranker):
    found = reranked("why " * 100, RANKED, texts)
    assert found.ranked is RANKED
    assert "not reranked: bert-rank.gguf: the query is too long for it" in found.fault


@pytest.mark.parametrize("fault", ["gone", "damaged", "no model", "embeds"])
def test_a_model_that_cannot_be_used_leaves_the_order_and_says_so_in_one_line(reranker, fault):
    if fault == "gone":
        reranker.unlink()
    elif fault == "embeds":
        tiny_models.build(reranker.parent, "bert").rename(reranker)
    else:
        reranker.write_bytes(b"PK" if fault == "no model" else reranker.read_bytes()[:3000])
    found = reranked("why", RANKED, texts)
    said = {
        "gone": "is not there", "damaged": "damaged", "no model": "not a GGUF file",
        "embeds": "it has no classification head",
    }  # fmt: skip
    assert found.ranked is RANKED
    assert found.fault.startswith("not reranked: ")
    assert said[fault] in found.fault
    assert "\n" not in found.fault


def test_a_configuration_that_cannot_be_read_is_told_too():
    config.config_path().write_text("[rerank]\nmodel = 3\n")
    assert "`model` must be a string" in reranked("why", RANKED, never).fault


def test_a_recall_is_reranked_and_says_how_where_it_is_asked(repository, reranker):
    for number in range(6):
        text = f"why was the lock kept {'x' * number}"
        write(repository, f"concepts/c{number}.md", concept(f"C{number}", body=text))
    refresh(repository)
    answer = recall(repository, "why was lock kept")
    assert answer.route == "lexical"
    assert "; bert-rank reranked the first 6 of 6 in " in answer.reason
    reranker.unlink()
    module._opened.cache_clear()
    without = recall(repository, "why was lock kept")
    assert any(note.startswith("no vectors") and "not reranked" in note for note in without.notes)
    assert "reranked" not in without.reason
    assert {hit.id for hit in without.hits} == {hit.id for hit in answer.hits}
