from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from knowrepo.recall.evidence import Evidence
from knowrepo.recall.fuse import LEAST_CONFIDENCE, Meaning, confidence, parts, score, shares

SHARE = st.floats(0, 1)
EVIDENCE = st.builds(Evidence, SHARE, SHARE, SHARE, SHARE, SHARE, SHARE, SHARE)
MEANING = st.builds(
    Meaning, st.floats(-1, 1), st.floats(-0.2, 0.5), st.floats(0, 0.3), st.booleans()
)


def worth(words: Evidence, meaning: Meaning | None = None, **others: float) -> float:
    return score(shares(words, meaning, **others))


def test_a_chunk_that_holds_all_words_together_has_about_the_full_score():
    assert worth(Evidence(1, 1, 1, 1, 1, 1)) == pytest.approx(1.0)
    assert worth(Evidence()) == 0.0


def test_what_is_told_of_a_score_sums_up_to_it():
    given = shares(Evidence(words=0.5, title=1.0), Meaning(0.6, 0.1, 0.1), dates=1.0)
    assert sum(parts(given).values()) == pytest.approx(score(given))


def test_where_hardly_a_word_is_found_the_vectors_lead():
    near, far = Meaning(0.6, 0.1, 0.1), Meaning(0.1, 0.1, 0.1)
    assert worth(Evidence(words=0.15), far) < worth(Evidence(), near)


def test_where_all_words_are_found_together_the_vectors_only_order():
    near, far = Meaning(0.6, 0.1, 0.1), Meaning(0.1, 0.1, 0.1)
    held = Evidence(words=0.6, document=0.8, together=0.6, coverage=1.0)
    assert worth(held, far) > worth(Evidence(), near)
    assert worth(held, near) > worth(held, far)


def test_meaning_counts_less_for_a_language_that_the_model_was_not_made_for():
    assert (
        0
        < worth(Evidence(), Meaning(0.6, 0.1, 0.1, foreign=True))
        < worth(Evidence(), Meaning(0.6, 0.1, 0.1))
    )


def test_a_date_that_was_asked_for_outweighs_a_few_words():
    assert worth(Evidence(words=0.3), dates=1.0) > worth(Evidence(words=0.6))


@given(EVIDENCE, MEANING, SHARE, SHARE)
def test_more_evidence_never_costs_a_chunk_its_place(words, meaning, dates, front_matter):
    least = worth(words, meaning, dates=dates, front_matter=front_matter)
    assert worth(words, meaning, dates=1.0, front_matter=1.0) >= least
    for name in Evidence._fields:
        more = words._replace(**{name: 1.0})
        assert worth(more, meaning, dates=dates, front_matter=front_matter) >= least - 1e-12


@given(EVIDENCE, MEANING)
def test_confidence_is_a_probability_that_grows_with_the_words_and_falls_with_what_lacks(
    words, meaning
):
    for near in (None, meaning):
        found = confidence(words, near)
        assert 0 < found < 1
        assert confidence(words._replace(coverage=1.0), near) >= found
        assert confidence(words._replace(missing=1.0), near) <= found


def test_what_shares_neither_words_nor_meaning_is_not_confident():
    unlike = Evidence(coverage=0.05, missing=1.0)
    assert confidence(unlike, Meaning(0.15, 0.1, 0.1)) < LEAST_CONFIDENCE
    assert confidence(unlike, None) < LEAST_CONFIDENCE
    alike = Evidence(coverage=0.9, missing=0.3)
    assert confidence(alike, Meaning(0.5, 0.1, 0.1)) > 0.5
    assert confidence(alike, None) > 0.5


def test_the_cosine_of_a_query_in_a_foreign_language_makes_nothing_sure():
    near = Meaning(0.9, 0.1, 0.1, foreign=True)
    assert confidence(Evidence(coverage=0.5), near) == confidence(Evidence(coverage=0.5), None)
