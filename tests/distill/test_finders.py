"""Real sessions, where they are laid out beside the checkout, and their labels."""

from __future__ import annotations

import pytest

from distil_finders import report, said, session_of
from distil_labels import SESSIONS, labels
from knowrepo.distill.prompt import MOST_PIECES, condense, tokens
from stand_in import StandIn

pytestmark = pytest.mark.skipif(not SESSIONS.is_dir(), reason="no sessions beside the checkout")
FILES = sorted({label.file for half in ("dev", "heldout") for label in labels(half)})


def test_any_finder_can_be_scored_on_the_labels():
    found = said(StandIn(), "dev")
    assert found
    assert all(one.spans for one in found)
    lines = report("dev", "stand_in:StandIn").splitlines()
    assert lines[0].startswith(f"stand-in on dev: {len(found)} proposals, ")
    assert lines[1].startswith("precision ")


@pytest.mark.parametrize("file", FILES)
def test_a_real_session_is_a_few_questions_that_fit(file):
    session = session_of(file)
    for room in (5000, 90_000):
        condensed = condense(session, room)
        assert 0 < len(condensed.pieces) <= MOST_PIECES
        assert all(tokens(piece.text) <= room * 1.02 for piece in condensed.pieces)
        shown = {turn.record.key for piece in condensed.pieces for turn in piece.turns.values()}
        asked = {
            r.key for r in session.records if r.role == "user" and r.text.strip() and not r.side
        }
        assert len(asked - shown) <= condensed.left_out
