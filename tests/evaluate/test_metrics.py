"""Each figure against values worked out by hand, and against its definition done slowly."""

from __future__ import annotations

import random
from math import log2
from statistics import fmean

import pytest
from hypothesis import given
from hypothesis import strategies as st

from knowrepo.evaluate.metrics import (
    auroc,
    first_right,
    hit_at,
    ndcg_at,
    paired_lower_bound,
    recall_at,
    reciprocal_rank,
)

LISTS = st.lists(st.sampled_from("abcdefgh"), max_size=12)
RIGHT = st.sets(st.sampled_from("abcdefgh"), min_size=1)


@pytest.mark.parametrize(
    ("found", "rank"), [("abc", 1), ("xab", 2), ("xyb", 3), ("xyz", None), ("", None)]
)
def test_the_rank_is_the_place_of_the_first_right_answer(found, rank):
    assert first_right(found, {"a", "b"}) == rank


def test_a_hit_counts_up_to_and_with_place_k():
    assert [hit_at(rank, 3) for rank in (1, 3, 4, None)] == [1.0, 1.0, 0.0, 0.0]


def test_the_reciprocal_rank_of_nothing_is_nothing():
    assert [reciprocal_rank(rank) for rank in (1, 2, 4, None)] == [1.0, 0.5, 0.25, 0.0]


def test_mrr_of_three_queries():
    # (1 + 1/3 + 0) / 3
    assert fmean(map(reciprocal_rank, (1, 3, None))) == pytest.approx(4 / 9)


def test_recall_is_the_share_of_all_right_answers_and_not_of_k():
    found, right = ["a", "x", "b", "c"], {"a", "b", "c", "d"}
    assert recall_at(found, right, 1) == 0.25
    assert recall_at(found, right, 3) == 0.5
    assert recall_at(found, right, 10) == 0.75


def test_an_answer_that_is_given_twice_is_recalled_once():
    assert recall_at(["a", "a"], {"a", "b"}, 2) == 0.5
    assert ndcg_at(["a", "a"], {"a", "b"}, 2) == pytest.approx(1 / (1 + 1 / log2(3)))


def test_ndcg_by_hand():
    # Right at 2 and 3 of three: (1/log2 3 + 1/log2 4) / (1/log2 2 + 1/log2 3).
    assert ndcg_at(["x", "a", "b"], {"a", "b"}, 3) == pytest.approx(
        (0.6309297536 + 0.5) / (1 + 0.6309297536)
    )
    # k = 2 has room for two of three right answers: 1 / (1 + 0.6309).
    assert ndcg_at(["a", "x", "b"], {"a", "b", "c"}, 2) == pytest.approx(0.6131471928)


@given(LISTS, RIGHT, st.integers(1, 12))
def test_figures_lie_between_nothing_and_all_and_agree_on_both(found, right, k):
    ndcg, recall = ndcg_at(found, right, k), recall_at(found, right, k)
    assert 0 <= ndcg <= 1 + 1e-12
    assert 0 <= recall <= 1
    hit = hit_at(first_right(found, right), k)
    assert (ndcg > 0) == (recall > 0) == (hit == 1.0)
    assert ndcg_at([*right, *found], right, k) == pytest.approx(1)


@pytest.mark.parametrize("figure", [recall_at, ndcg_at])
def test_a_query_without_an_answer_has_no_recall(figure):
    with pytest.raises(ValueError, match="right answer"):
        figure(["a"], set(), 5)


def test_no_figure_is_asked_at_place_nought():
    for ask in (
        lambda: hit_at(1, 0),
        lambda: recall_at("a", {"a"}, 0),
        lambda: ndcg_at("a", "a", 0),
    ):
        with pytest.raises(ValueError, match="1 or more"):
            ask()


def test_the_area_by_hand():
    # Pairs: 0.9 beats both, 0.4 beats 0.1 and ties with 0.4: 3.5 of 4.
    assert auroc([0.9, 0.4], [0.4, 0.1]) == pytest.approx(3.5 / 4)
    assert auroc([1.0], [0.0]) == 1.0
    assert auroc([0.0], [1.0]) == 0.0
    assert auroc([0.5, 0.5], [0.5]) == 0.5


@given(
    st.lists(st.integers(0, 5), min_size=1, max_size=20),
    st.lists(st.integers(0, 5), min_size=1, max_size=20),
)
def test_the_area_is_the_share_of_pairs_in_the_right_order(positive, negative):
    pairs = [(p > n) + (p == n) / 2 for p in positive for n in negative]
    assert auroc(positive, negative) == pytest.approx(fmean(pairs))


def test_the_area_needs_both_sides():
    with pytest.raises(ValueError, match="pairs"):
        auroc([], [1.0])


def test_equal_lists_differ_by_nothing():
    assert paired_lower_bound([1, 0, 1], [1, 0, 1]) == 0.0


def test_a_constant_difference_is_its_own_bound():
    assert paired_lower_bound([0.75] * 40, [0.5] * 40) == 0.25


def test_the_bound_of_many_queries_is_near_that_of_the_normal_law():
    # 300 wins and 100 losses of 1,000: mean 0.2, deviation 0.6, so 0.2 - 1.645 * 0.6/sqrt(1000).
    ours = [1.0] * 300 + [0.0] * 700
    theirs = [0.0] * 900 + [1.0] * 100
    bound = paired_lower_bound(ours, theirs, resamples=4000)
    assert bound == pytest.approx(0.2 - 1.645 * 0.6 / 1000**0.5, abs=0.004)


def test_the_bound_of_one_pair_in_three_by_counting_all_draws():
    # Of the 27 draws of three from (1, 0, 0), 8 have the mean 0 and none a lower one.
    assert paired_lower_bound([1, 0, 0], [0, 0, 0], confidence=0.75) == 0.0
    # A mean of 1/3 or less has 20 of 27: the 0.5 quantile.
    assert paired_lower_bound([1, 0, 0], [0, 0, 0], confidence=0.5) == pytest.approx(1 / 3)


def test_the_bound_is_the_same_in_every_run_and_falls_as_confidence_grows():
    draw = random.Random(7)
    ours = [draw.random() for _ in range(50)]
    theirs = [draw.random() for _ in range(50)]
    bounds = [paired_lower_bound(ours, theirs, confidence=c) for c in (0.99, 0.95, 0.5, 0.05)]
    assert bounds == sorted(bounds)
    assert bounds[1] == paired_lower_bound(ours, theirs)


@pytest.mark.parametrize(
    ("ours", "theirs", "keys"),
    [
        ([], [], {}),
        ([1.0], [1.0, 0.0], {}),
        ([1.0], [1.0], {"confidence": 1.0}),
        ([1.0], [1.0], {"resamples": 0}),
    ],
)
def test_what_are_no_pairs_has_no_bound(ours, theirs, keys):
    with pytest.raises(ValueError, match=r"pairs|confidence"):
        paired_lower_bound(ours, theirs, **keys)
