from __future__ import annotations

import json

from hypothesis import given
from hypothesis import strategies as st

from knowrepo.sessions.redact import covers

MARK = "[redacted:jwt]"


def dump(value: object) -> bytes:
    return json.dumps(value).encode()


def test_a_line_covers_itself_and_the_line_that_it_was():
    plain = {"uuid": "u", "n": 1.5, "text": "a SECRET b", "list": ["x", None, True]}
    redacted = {**plain, "text": f"a {MARK} b"}
    assert covers(dump(plain), dump(plain))
    assert covers(dump(redacted), dump(plain))
    assert covers(dump(redacted), json.dumps(plain, separators=(",", ":")).encode())


def test_an_invalid_byte_in_the_plain_line_makes_no_difference():
    assert covers(dump({"t": f"\ufffd {MARK}"}), b'{"t":"\xff SECRET"}')


def test_it_covers_what_other_rules_redacted_in_part():
    assert covers(dump({"t": f"a {MARK} b"}), dump({"t": "a [redacted:x]left b"}))


def test_it_covers_no_other_record():
    redacted = {"uuid": "u", "text": f"a {MARK} b"}
    for other in (
        {"uuid": "v", "text": "a SECRET b"},
        {"uuid": "u", "text": "a SECRET c"},
        {"uuid": "u", "text": "a  b"},  # a placeholder stands for something
        {"uuid": "u", "text": "SECRET b"},
        {"uuid": "u", "text": ["a SECRET b"]},
        {"uuid": "u"},
        {"uuid": "u", "text": "a SECRET b", "more": 1},
    ):
        assert not covers(dump(redacted), dump(other)), other
    assert not covers(dump({"t": MARK, "n": 1}), dump({"t": "x", "n": True}))
    assert not covers(dump({"t": "a SECRET b"}), dump({"t": f"a {MARK} b"}))
    assert not covers(f"broken {MARK}".encode(), b"broken x")


def test_secrets_as_keys_are_covered_too():
    assert covers(dump({MARK: 1, f"{MARK}+": 2}), dump({"s1": 1, "s2": 2}))


@given(st.text(max_size=20), st.lists(st.text(min_size=1, max_size=8), max_size=4), st.data())
def test_placeholders_in_any_places_cover_what_was_there(text, secrets, data):
    plain, redacted = text, text
    for secret in secrets:
        plain, redacted = plain + secret + text, redacted + MARK + text
    assert covers(dump({"t": redacted}), dump({"t": plain}))
