"""Text freed of what a terminal would obey, and JSON of the same meaning."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from knowrepo.terminal import json_text, plain


@given(st.text(st.characters()))
def test_json_says_the_very_same_and_can_be_written_anywhere(text):
    shown = json_text({"text": text})
    shown.encode()
    assert not any(0x7F <= ord(c) < 0xA0 or c in "\u2028\u2029\u202e\u2066" for c in shown)
    assert json.loads(shown) == json.loads(json.dumps({"text": text}))


@given(st.text(st.sampled_from("\x1b[]m;0a \x07\\\x9b\u202e\r\n\t")))
def test_no_mixture_leaves_anything_that_is_obeyed(text):
    assert not any(c in plain(text) for c in "\x1b\x07\x9b\u202e\r")


@pytest.mark.parametrize("code", [*range(0x202A, 0x202F), *range(0x2066, 0x206A)])
def test_what_reorders_text_is_made_visible(code):
    assert plain(f"a{chr(code)}b") == f"a[U+{code:04X}]b"


def test_ordinary_text_is_not_touched():
    text = "Grüße 你好 \u200fשלום 👩‍💻 1\t2\n3"
    assert plain(text) == text
