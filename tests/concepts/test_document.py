from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from knowrepo.concepts.document import parse


def codes(text: str | bytes) -> list[str]:
    data = text.encode() if isinstance(text, str) else text
    return [problem.code for problem in parse(data).problems]


def test_front_matter_and_body_are_taken_apart():
    document = parse(b"---\ntype: Decision\ntags: [a, b]\n---\n\n# Why\n\ntext\n")
    assert document.front == {"type": "Decision", "tags": ["a", "b"]}
    assert document.body == "\n# Why\n\ntext\n"
    assert document.body_line == 5
    assert document.lines == {"type": 2, "tags": 3}
    assert document.problems == ()


def test_a_byte_order_mark_and_crlf_are_no_fault():
    document = parse(b"\xef\xbb\xbf---\r\ntype: Decision\r\n---\r\nbody\r\n")
    assert document.front == {"type": "Decision"}
    assert document.body == "body\n"
    assert document.problems == ()


def test_a_rule_in_the_body_does_not_end_the_front_matter_twice():
    document = parse(b"---\ntype: A\n---\none\n\n---\n\ntwo\n")
    assert document.body == "one\n\n---\n\ntwo\n"


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("# Only text\n", "OKF101"),
        ("", "OKF101"),
        (" ---\ntype: A\n---\n", "OKF101"),
        ("---\ntype: A\n", "OKF102"),
        ("---\ntitle: Two: parts\ntype: A\n---\n", "OKF103"),
        ("---\ntype: [A\n---\n", "OKF103"),
        ("---\n\tx: 1\n---\n", "OKF103"),
        ("---\n- a\n- b\n---\n", "OKF104"),
        ("---\njust text\n---\n", "OKF104"),
        ("---\n---\n", "OKF104"),
        (b"---\ntype: caf\xe9\n---\n", "OKF106"),
        ("---\ntype: A\ntype: B\n---\n", "OKF203"),
    ],
)
def test_what_is_wrong_has_a_code(text, code):
    assert codes(text) == [code]


def test_an_unquoted_colon_is_pointed_at_and_read_as_it_was_meant():
    document = parse(b"---\ntype: Decision\ntitle: Multi-view: tabs and windows\n---\nbody\n")
    (problem,) = document.problems
    assert (problem.code, problem.line, problem.column) == ("OKF103", 3, 18)
    assert 'write title: "Multi-view: tabs and windows"' in problem.message
    assert document.front["title"] == "Multi-view: tabs and windows"
    assert document.front["type"] == "Decision"


def test_scalars_stay_as_written():
    text = b"---\ntype: 2026\na: no\nb: 2026-05-01\nc: 1.0\nd: null\ne: ~\n---\n"
    assert parse(text).front == {
        "type": "2026", "a": "no", "b": "2026-05-01", "c": "1.0", "d": None, "e": None,
    }  # fmt: skip


def test_nothing_in_yaml_is_executed():
    text = b"---\ntype: A\nx: !!python/object/apply:os.system ['true']\n---\n"
    assert codes(text) == ["OKF281"]
    assert parse(text).front == {"type": "A", "x": ["true"]}


def test_tags_of_others_and_keys_that_are_no_text_are_yaml():
    text = (
        b"---\ntype: !kind Table\nowner: !person {name: jane}\nn: !!int many\ns: !!set {a, b}\n"
        b"? [a, b]\n: c\nself: &s {x: *s}\n---\n"
    )
    front = parse(text).front
    assert (front["type"], front["owner"], front["n"]) == ("Table", {"name": "jane"}, "many")
    assert list(front) == ["type", "owner", "n", "s", "(key 1 that is no text)", "self"]
    assert codes(text) == ["OKF281"] * 3


def test_keys_made_of_aliases_of_aliases_cost_nothing():
    levels = "\n".join(f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]" for n in range(1, 12))
    text = f"---\ntype: A\na0: &a0 x\n{levels}\n? *a11\n: y\n---\n"
    assert parse(text.encode()).front["(key 1 that is no text)"] == "y"


@given(st.binary(max_size=200))
def test_any_bytes_are_taken_apart_without_an_error(data):
    parse(data)
    parse(b"---\n" + data + b"\n---\n")


@pytest.mark.parametrize(
    ("line", "place", "told"),
    [
        ("title: [WIP] x", (3, 13), 'write title: "[WIP] x"'),
        ('title: "a" b', (3, 11), r'write title: "\"a\" b"'),
        ("title: 'it's'", (3, 12), "write title: \"'it's'\""),
        ("k.v: {a} b", (3, 9), 'write k.v: "{a} b"'),
        ("title x\nb: c", (3, 1), "`title x` has no `: `"),
        ("title:x\nb: c", (3, 7), "no space after `title:`"),
        ("title: x\n  y: z", (4, 1), "`y:` is indented below a value"),
        ("tags: [a, b", (3, 7), "`[` without `]`"),
        ('title: "a', (3, 8), 'a quote `"` that is not closed'),
        ("title: @x", (3, 8), 'write title: "@x"'),
    ],
)
def test_the_cause_of_a_broken_line_is_named_with_its_place(line, place, told):
    [problem] = parse(f"---\ntype: X\n{line}\n---\n".encode()).problems
    assert (problem.code, (problem.line, problem.column)) == ("OKF103", place)
    assert told in problem.message


@pytest.mark.parametrize(
    "line", ["tags: [a, b] # all", 'title: "a: b"', "by: {x: y}", "title: a [b] c", "u: http://a/b"]
)
def test_what_is_yaml_has_no_cause_to_name(line):
    assert not parse(f"---\ntype: X\n{line}\n---\n".encode()).problems
