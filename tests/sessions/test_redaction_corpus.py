"""How the redactor does on the corpus in `tests/data/redaction`; `-s` prints the table."""

from __future__ import annotations

import sys
from collections import Counter

from knowrepo.sessions.redact import redact, redact_value
from redaction_corpus import Half, look_alikes, measure, secrets, table

HALVES: tuple[Half, ...] = ("dev", "heldout")


def _redact(key: str, text: str, counts: Counter[str]) -> str:
    return redact_value(key, text, counts) if key else redact(text, counts)


def test_the_corpus_is_large_varied_and_split():
    planted, alike = secrets(), look_alikes()
    assert len(planted) >= 150
    assert len(alike) >= 300
    assert len({s.text for s in planted}) == len(planted)
    assert len({s.before for s in planted}) > 0.9 * len(planted)
    for entries in (planted, alike):
        assert 0.4 < sum(e.half == "dev" for e in entries) / len(entries) < 0.6


def test_the_redactor_does_no_worse_on_the_corpus_than_it_did():
    scores = {half: measure(_redact, half) for half in HALVES}
    sys.stdout.write(f"\n{table(scores)}\n")
    for score in scores.values():
        assert score.recall >= 0.98
        assert score.precision >= 0.98
