"""What is cleared at a glance holds no secret that the rules would find."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from knowrepo.recall.glance import MARKS, may_hold_secret
from knowrepo.sessions.redact import DEFAULT_RULES, redact
from redaction_corpus import secrets

# Literals that are in many texts, and what is looked for in their place.
ELSEWHERE = {
    "=": "only behind `pwd`, which is a mark with it",
    "-u": "with the space or the sign that follows it as an option",
    ".": "two in a word of 47 characters or more",
    "AC": "in a word of 34 characters or more",
    "-us": "in a word of 34 characters or more",
    "s.": "with 24 characters of the word behind it",
}
PROBES = [probe for rule in DEFAULT_RULES for probe in rule.probes]


def test_each_literal_on_which_a_rule_turns_is_looked_for():
    missing = {
        probe.literal
        for probe in PROBES
        if not any(mark in probe.literal.lower() for mark in MARKS)
        and probe.literal not in ELSEWHERE
    }
    assert missing == set(), "add them to MARKS in recall/glance.py"


def test_no_literal_is_looked_for_without_a_rule():
    for mark in MARKS:
        assert mark == "pwd=" or any(mark in probe.literal.lower() for probe in PROBES), mark


def test_no_secret_of_the_corpus_is_cleared():
    found = [secret.text for secret in secrets() if redact(secret.text) != secret.text]
    assert len(found) > 100
    assert [text for text in found if not may_hold_secret(text)] == []


@pytest.mark.parametrize(
    "query",
    [
        "how do we keep passwords out of the archive", "Why did the build fail on macOS?",
        "tag:git", "parse_http_header", "tools/knowrepo/recall/route.py", "know.toml format",
        "ConnectionRefusedError in load_repository_config", "wie wird die Datenbank gesperrt",
        "数据库为什么被锁住了", "a1b2c3d4-0000-4000-8000-1234567890ab", "git rebase --autosquash",
    ],
)  # fmt: skip
def test_a_common_query_is_cleared(query):
    assert not may_hold_secret(query)


_LITERAL = st.sampled_from(sorted({probe.literal for probe in PROBES}))
_SAID = st.sampled_from(
    ["password is", "--password", "login", "curl -u", "Bearer", "Authorization", "mysql -u root",
     "sshpass", "machine h login", "https", "BEGIN PRIVATE KEY-----", "-----", "DB_PWD"]
)  # fmt: skip
_SIGN = st.sampled_from(["", " ", ": ", "=", ":", '"', "\n", "/", "@", ".", "-", "_", "://"])
_RUN = st.sampled_from(
    ["abcdefghij", "ABCDEFGHIJ", "0123456789", "aB3dE6gH9k", "0a1b2c3d4e", "A1B2C3D4E5", "x_y-Z/9+"]
).flatmap(lambda some: st.text(some, min_size=3, max_size=60))
_TEXT = st.lists(st.one_of(_RUN, _RUN, _LITERAL, _SAID, _SIGN), min_size=1, max_size=9).map("".join)


@given(_TEXT)
def test_what_is_cleared_is_left_as_it_is_by_the_rules(text):
    assert may_hold_secret(text) or redact(text) == text
