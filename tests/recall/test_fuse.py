from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from knowrepo.recall.fuse import LEAST_WEIGHT, MOST_WEIGHT, fuse, semantic_weight

SCORED = st.dictionaries(st.integers(1, 30), st.floats(-1, 50), max_size=12).map(
    lambda scores: sorted(scores.items(), key=lambda item: -item[1])
)


def test_meaning_weighs_more_the_fewer_words_are_found():
    weights = [semantic_weight(coverage / 10) for coverage in range(11)]
    assert weights == sorted(weights, reverse=True)
    assert (weights[0], weights[-1]) == (MOST_WEIGHT, LEAST_WEIGHT)


def test_one_layer_alone_keeps_its_order():
    scored = [(3, 9.0), (1, 5.0), (2, 4.0)]
    assert [chunk for chunk, _ in fuse(scored, [], 0.5)] == [3, 1, 2]
    assert [chunk for chunk, _ in fuse([], scored, 0.5)] == [3, 1, 2]
    assert fuse([], [], 0.5) == []


def test_what_both_layers_put_first_is_first():
    lexical = [(1, 9.0), (2, 8.0), (3, 1.0)]
    semantic = [(1, 0.9), (3, 0.8), (2, 0.1)]
    assert fuse(lexical, semantic, 0.5)[0] == (1, 1.0)


def test_what_only_the_vectors_know_leads_where_no_word_is_found():
    lexical, semantic = [(1, 2.0), (2, 1.0)], [(9, 0.6), (1, 0.1)]
    assert fuse(lexical, semantic, MOST_WEIGHT)[0][0] == 9
    assert fuse(lexical, semantic, LEAST_WEIGHT)[0][0] == 1


@given(SCORED, SCORED, st.floats(0, 1))
def test_nothing_is_lost_and_scores_lie_between_0_and_1(lexical, semantic, weight):
    fused = fuse(lexical, semantic, weight)
    assert {chunk for chunk, _ in fused} == {c for c, _ in lexical} | {c for c, _ in semantic}
    scores = [score for _, score in fused]
    assert scores == sorted(scores, reverse=True)
    assert all(-1e-9 <= score <= 1 + 1e-9 for score in scores)
