"""Edits of a front matter: what was meant changes, and no other byte."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from knowrepo.concepts.document import parse
from knowrepo.concepts.editing import edit
from knowrepo.errors import KnowError


def file(block: str, body: str = "\nbody\n") -> bytes:
    return f"---\n{block}\n---\n{body}".encode()


def check(before: str, after: str, change: Any, *arguments: Any) -> None:
    """Hold an edit to its bytes, in every form that a file may have."""
    for form in (str, lambda text: text.replace("\n", "\r\n"), lambda text: "\ufeff" + text):
        old, new = (form(f"---\n{text}\n---\nb\n").encode() for text in (before, after))
        assert change(old, *arguments) == new
    assert change(f"---\n{before}\n---".encode(), *arguments) == f"---\n{after}\n---".encode()


@pytest.mark.parametrize(
    ("before", "after", "keys", "value"),
    [
        ("type: A", "type: B", ["type"], "B"),
        ("type: A  # why", "type: B  # why", ["type"], "B"),
        ("type: A\t# why", "type: B\t# why", ["type"], "B"),
        ("type:   A", "type:   B", ["type"], "B"),
        ("type : A", "type : B", ["type"], "B"),
        ("'type': 'A'", "'type': 'B'", ["type"], "B"),
        ('"type": "A"', '"type": "B"', ["type"], "B"),
        ("type: 'A'", "type: 'it''s'", ["type"], "it's"),
        ("type: A", 'type: "no"', ["type"], "no"),
        ("type: A", 'type: "a: b"', ["type"], "a: b"),
        ("type: A", 'type: "a #b"', ["type"], "a #b"),
        ("type: A", 'type: "1.0"', ["type"], "1.0"),
        ("at: 2026-01-01", "at: 2026-01-02", ["at"], "2026-01-02"),
        ("type: A", 'type: "two\\nlines"', ["type"], "two\nlines"),
        ("type: A\nstatus:", "type: A\nstatus: draft", ["status"], "draft"),
        ("type: A\nstatus: # why", "type: A\nstatus: draft # why", ["status"], "draft"),
        ("status: ~\ntype: A", 'status: "~"\ntype: A', ["status"], "~"),
        ("type: &a A", "type: &a B", ["type"], "B"),
        ("é: ü # ö\ntype: A # ß", "é: ü # ö\ntype: ñ # ß", ["type"], "ñ"),
        ("🦆: 🦆\ntype: 🦆", "🦆: 🦆\ntype: A", ["type"], "A"),
        ("d: |\n  a\n\n  b  \n\n# c\ntype: A", "d: B\n\n# c\ntype: A", ["d"], "B"),
        ("d: >-\n  a\n  b\ntype: A", "d: B\ntype: A", ["d"], "B"),
        ("d: >+\n  a\n\ntype: A", "d: B\n\ntype: A", ["d"], "B"),
        ("d: one\n  two\n\n  three # c\ntype: A", "d: B # c\ntype: A", ["d"], "B"),
        ('d: "one\n  two"\ntype: A', 'd: "B"\ntype: A', ["d"], "B"),
        ("g: { by: a, at: b }", "g: { by: a, at: c }", ["g", "at"], "c"),
        ("g: {by: a,\n    at: b} # c", "g: {by: a,\n    at: c} # c", ["g", "at"], "c"),
        ("g: {by: a}", 'g: {by: "a, b"}', ["g", "by"], "a, b"),
        ("g:\n    by: a # c\n    at: b", "g:\n    by: x # c\n    at: b", ["g", "by"], "x"),
        ("s:\n- id: a\n- id: b", "s:\n- id: a\n- id: c", ["s", 1, "id"], "c"),
        ("s:\n  -   a\n  -", "s:\n  -   a\n  - b", ["s", 1], "b"),
        ("tags: [a, b]", "tags: [a, c]", ["tags", 1], "c"),
        ("tags: a, b", "tags: [a, b]", ["tags"], ["a", "b"]),
        ("tags: [a]\n", "tags: [a, b]\n", ["tags"], ["a", "b"]),
        ("tags: # c\n  - a # d\ntype: A", "tags: [] # c\ntype: A", ["tags"], []),
        ("tags:\n    - a\n    - b\nx: y", "tags:\n    - c\n    - d\nx: y", ["tags"], ["c", "d"]),
        ("g:\n  by: a\nx: y", "g: b\nx: y", ["g"], "b"),
        ("g:\n  by: a\nx: y", "g:\n  at: b\n  by: c\nx: y", ["g"], {"at": "b", "by": "c"}),
        ("g: a", "g: { by: b, at: c }", ["g"], {"by": "b", "at": "c"}),
        ("type: A\ntype: B", "type: A\ntype: C", ["type"], "C"),
        ("{type: A, x: y}", "{type: B, x: y}", ["type"], "B"),
        ("  type: A\n  x: y", "  type: B\n  x: y", ["type"], "B"),
        # A key that is not there.
        ("type: A\nx: y", "type: A\nstatus: draft\nx: y", ["status"], "draft"),
        (
            "type: A # c\n\n# d\nx: y",
            "type: A # c\nstatus: draft\n\n# d\nx: y",
            ["status"],
            "draft",
        ),
        ("x: y", "type: A\nx: y", ["type"], "A"),
        ("type: A\nx: y", "type: A\nx: y\nz: b", ["z"], "b"),
        ("  type: A", "  type: A\n  status: draft", ["status"], "draft"),
        ("{type: A}", "{type: A, status: draft}", ["status"], "draft"),
        ("{x: A}", "{type: B, x: A}", ["type"], "B"),
        ("type: |+\n  a\n\nx: y", "type: |+\n  a\n\nstatus: draft\nx: y", ["status"], "draft"),
        ("type: |\n  a\n\nx: y", "type: |\n  a\nstatus: draft\n\nx: y", ["status"], "draft"),
        ("g:\n   by: a\nx: y", "g:\n   by: a\n   at: b\nx: y", ["g", "at"], "b"),
        ("g: {}\nx: y", "g: {at: b}\nx: y", ["g", "at"], "b"),
        ("s:\n  - id: a\nx: y", "s:\n  - id: a\n    t: b\nx: y", ["s", 0, "t"], "b"),
        ("type: A", "type: A\ntags: [a, b]", ["tags"], ["a", "b"]),
        (
            "type: A",
            'type: A\nsources:\n  - id: a\n    resource: "b:c"',
            ["sources"],
            [{"id": "a", "resource": "b:c"}],
        ),
    ],
)
def test_a_value_is_set_and_all_else_stays(before, after, keys, value):
    check(before, after, edit.set_value, keys, value)


@pytest.mark.parametrize(
    ("before", "after", "keys"),
    [
        ("type: A\nx: y", "type: A", ["x"]),
        ("# a\nx: y # b\n\n# c\ntype: A", "# a\n\n# c\ntype: A", ["x"]),
        ("x: |\n  a\n\n  b\ntype: A", "type: A", ["x"]),
        ("x:\n- a\n- b # c\ntype: A", "type: A", ["x"]),
        ("x: y\ntype: A\nx: z", "type: A", ["x"]),
        ("{type: A, x: y}", "{type: A}", ["x"]),
        ("{x: y, type: A}", "{type: A}", ["x"]),
        ("g: {x: y}", "g: {}", ["g", "x"]),
        ("g:\n  x: y\n  z: y", "g:\n  z: y", ["g", "x"]),
        ("s:\n  - x: y\n    z: y", "s:\n  - z: y", ["s", 0, "x"]),
        ("tags: [a, b, c]", "tags: [a, c]", ["tags", 1]),
        ("tags: [a, b]", "tags: [a]", ["tags", 1]),
        ("tags: [a]", "tags: []", ["tags", 0]),
        ("tags: [a,]", "tags: []", ["tags", 0]),
        (
            "tags: [\n  a, # one\n  b, # two\n  c # three\n]",
            "tags: [\n  a, # one\n  c # three\n]",
            ["tags", 1],
        ),
        ("tags: [\n  a, # one\n  b # two\n  ]", "tags: [\n  a, # one\n  ]", ["tags", 1]),
        ("tags:\n  - a\n  - b\n  - c", "tags:\n  - a\n  - c", ["tags", 1]),
        ("tags: # d\n- a # e\nx: y", "tags: [] # d\nx: y", ["tags", 0]),
        ("l:\n- - a\n  - b", "l:\n- - b", ["l", 0, 0]),
    ],
)
def test_what_is_removed_takes_its_lines_and_no_others(before, after, keys):
    check(before, after, edit.remove, keys)


@pytest.mark.parametrize(
    ("before", "after", "item"),
    [
        ("tags: [a]", "tags: [a, b]", "b"),
        ("tags: []", "tags: [b]", "b"),
        ("tags: ['a', ]", "tags: ['a', 'b', ]", "b"),
        ("tags: [\n a # c\n]", "tags: [\n a, b # c\n]", "b"),
        ("tags:\n-   a # c\n\nx: y", "tags:\n-   a # c\n-   b\n\nx: y", "b"),
        ("tags:\n  - a\nx: y", "tags:\n  - a\n  - id: b\n    t: c\nx: y", {"id": "b", "t": "c"}),
        ("tags:\nx: y", "tags: [b]\nx: y", "b"),
        ("type: A\nx: y", "type: A\ntags: [b]\nx: y", "b"),
    ],
)
def test_an_item_is_added_as_the_others_are_written(before, after, item):
    check(before, after, edit.append, ["tags"], item)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("verified: {by: a} # c", "verified: [{by: a}] # c"),
        ("verified: {by: a,\n  at: b}", "verified: [{by: a,\n  at: b}]"),
        (
            "verified: # d\n  by: a # c\n\n  # e\n  at: |\n    b\nx: y",
            "verified: # d\n  - by: a # c\n\n    # e\n    at: |\n      b\nx: y",
        ),
    ],
)
def test_a_mapping_becomes_the_one_item_of_a_list(before, after):
    check(before, after, edit.wrap, ["verified"])


def test_a_key_is_renamed_and_its_value_is_as_it_was():
    check("a: 'x' # c\nt: y", "b: 'x' # c\nt: y", edit.rename, ["a"], "b")
    check('"a": [x]', '"b": [x]', edit.rename, ["a"], "b")
    check("g: {a: x}", "g: {b: x}", edit.rename, ["g", "a"], "b")


def test_a_plain_text_is_quoted():
    check("okf_version: 0.2 # c", 'okf_version: "0.2" # c', edit.quote, ["okf_version"])
    check("okf_version: '0.2'", "okf_version: '0.2'", edit.quote, ["okf_version"])


def test_later_keys_of_the_same_value_are_removed():
    check("a: x\nt: A\na: 'x' # c", "a: x\nt: A", edit.remove_repeats, ["a"])
    check("g: {a: x, b: y, a: x}", "g: {a: x, b: y}", edit.remove_repeats, ["g", "a"])
    check("g: {a: x, a: x, a: x}", "g: {a: x}", edit.remove_repeats, ["g", "a"])
    assert edit.repeats(file("g: {a: x, b: y, a: x, b: z}")) == [["g", "a"]]
    with pytest.raises(KnowError, match="different values"):
        edit.remove_repeats(file("a: x\nt: A\na: y"), ["a"])
    with pytest.raises(KnowError, match="different values"):  # a date to others, and a text
        edit.remove_repeats(file("a: 2026-01-01\nt: A\na: '2026-01-01'"), ["a"])


@pytest.mark.parametrize(
    ("block", "keys", "said"),
    [
        ("x: &a A\ntype: *a", ["type"], r"an alias, `\*a`"),
        ("x: &a A\ntype: *a", ["x"], r"used again, as `\*a`"),
        ("x: &a {y: A}\ntype: *a", ["type", "y"], "an alias"),
        ("x: &a {y: A}\nz: {<<: *a}\ntype: B", ["z", "q"], "<<"),
        ("x: &a {y: A}\n<<: *a\ntype: B", ["q"], "<<"),
        ("type: !!str A", ["type"], "has a tag"),
        ("type: !x\n  y: A", ["type", "y"], "has a tag"),
        ("? type\n: A", ["type"], "no plain"),
        ("x: &a [*a]\ntype: A", ["type"], "a part of itself|not YAML"),
        ("x: y: z\ntype: A", ["type"], "not YAML"),
        ("- a", ["type"], "no front matter"),
        ("type: A", ["type", "x"], "no mapping"),
        ("type: [A]", ["type", 1], "no item 2"),
        ("type: A", ["g", "at"], "there is no `g`"),
    ],
)
def test_what_cannot_be_changed_safely_is_refused_with_the_reason(block, keys, said):
    with pytest.raises(KnowError, match=said):
        edit.set_value(file(block), keys, "B")


def test_aliases_of_aliases_cost_nothing():
    lines = ["a0: &a0 [x, x, x, x, x, x, x, x, x, x]"]
    lines += [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 10)}]" for n in range(1, 9)]
    with pytest.raises(KnowError, match="more values"):
        edit.set_value(file("\n".join([*lines, "type: A"])), ["type"], "B")


@pytest.mark.parametrize(
    ("change", "arguments", "said"),
    [
        (edit.remove, (["type"],), "the only key"),
        (edit.remove, (["x"],), "there is no `x`"),
        (edit.append, (["type"], "b"), "no list"),
        (edit.wrap, (["type"],), "no mapping"),
        (edit.rename, (["x"], "y"), "there is no `x`"),
    ],
)
def test_an_edit_of_something_else_is_refused(change, arguments, said):
    with pytest.raises(KnowError, match=said):
        change(file("type: A"), *arguments)


def test_a_file_without_a_front_matter_is_refused():
    for data in (b"", b"# text\n", b"---\ntype: A\n", b"---\n---\n", b"---\ntype: \xff\n---\n"):
        with pytest.raises(KnowError):
            edit.set_value(data, ["type"], "B")


def test_the_file_is_named_in_the_message():
    with (
        pytest.raises(KnowError, match=r"^concepts/a.md: there is no `x`"),
        edit.in_file("concepts/a.md"),
    ):
        edit.remove(file("type: A"), ["x"])


# Front matters as people write them, and worse.
_WORD = st.sampled_from(
    ["a", "B c", "é", "🦆", "it's", "x: y", "#z", "no", "1.0", "- a", "", "a, b"]
)
_COMMENT = st.sampled_from(["", " # c", "\t# é", "  "])


def _spelled(text: str, style: str) -> str:
    if style == "'":
        return "'" + text.replace("'", "''") + "'"
    if style == '"' or text in {"x: y", "#z", "- a", "", "a, b"}:
        return f'"{text}"'
    return text


_SCALAR = st.builds(_spelled, _WORD, st.sampled_from(["", "'", '"']))


@st.composite
def _value(draw: Any, indent: int) -> str:
    """Draw what may follow `key:`."""
    comment, space = draw(_COMMENT), " " * indent
    kind = draw(st.integers(0, 7))
    if kind <= 1:
        return f" {draw(_SCALAR)}{comment}"
    if kind == 2:
        return f" [{', '.join(draw(st.lists(_SCALAR, max_size=3)))}]{comment}"
    if kind == 3:
        return f" {{p: {draw(_SCALAR)},\n{space}  q: {draw(_SCALAR)} }}{comment}"
    if kind == 4:
        style = draw(st.sampled_from(["|", ">", "|-", ">+", "|2"]))
        return f" {style}\n{space}  one\n\n{space}  two: x # no comment"
    if kind == 5:
        items = draw(st.lists(_SCALAR, min_size=1, max_size=3))
        pad = draw(st.sampled_from(["", "  "]))
        return comment + "".join(f"\n{space}{pad}- {item}{draw(_COMMENT)}" for item in items)
    if kind == 6:
        return f"{comment}\n{space}   p: {draw(_SCALAR)}\n\n{space}   # c\n{space}   q: 1"
    return comment


@st.composite
def _fronts(draw: Any) -> tuple[bytes, list[str]]:
    keys = draw(st.lists(st.sampled_from(["type", "title", "tags", "é", "x y"]), unique=True,
                         min_size=1))  # fmt: skip
    indent = draw(st.sampled_from([0, 0, 2]))
    lines = []
    for key in keys:
        lines += draw(st.sampled_from([[], [""], ["# c"], [" " * indent + "# é: x"]]))
        lines.append(" " * indent + key + ":" + draw(_value(indent)))
    text = "---\n" + "\n".join(lines) + "\n---\n" + draw(st.sampled_from(["", "\n# B\n---\nx"]))
    if draw(st.booleans()):
        text = text.replace("\n", "\r\n")
    if draw(st.booleans()):
        text = "\ufeff" + text
    return text.encode(), keys


@given(_fronts(), st.data(), _WORD)
def test_any_key_of_any_front_matter_is_changed_alone(drawn, data, word):
    before, keys = drawn
    assert not parse(before).problems, before
    key = data.draw(st.sampled_from(keys))
    after = edit.set_value(before, [key], word)
    old, new = parse(before), parse(after)
    assert new.front == {**old.front, key: word}
    assert new.body == old.body
    assert comments_outside(before, key) <= comments_outside(after, key)
    added = edit.set_value(before, ["status"], word)
    assert not lines_of(before) - lines_of(added)
    assert edit.remove(added, ["status"]) == before
    if len(keys) > 1:
        removed = edit.remove(before, [key])
        assert parse(removed).front == {k: v for k, v in old.front.items() if k != key}
        assert not lines_of(removed) - lines_of(before)


@given(_fronts(), _WORD)
def test_any_item_of_any_list_is_changed_alone(drawn, word):
    before, _ = drawn
    for key, value in parse(before).front.items():
        if isinstance(value, list):
            longer = edit.append(before, [key], word)
            assert parse(longer).front[key] == [*value, word]
            if value:
                assert edit.remove(longer, [key, len(value)]) == before
            for number in range(len(value)):
                fewer = edit.remove(before, [key, number])
                assert parse(fewer).front[key] == value[:number] + value[number + 1 :]
                other = edit.set_value(before, [key, number], word)
                assert parse(other).front[key] == [*value[:number], word, *value[number + 1 :]]
        if isinstance(value, dict):
            wrapped = parse(edit.wrap(before, [key])).front
            assert wrapped == {**parse(before).front, key: [value]}


def lines_of(data: bytes) -> set[bytes]:
    return set(data.split(b"\n"))


def comments_outside(data: bytes, key: str) -> set[bytes]:
    """Return the lines that are comments as a whole and stand at the top."""
    return {line for line in data.split(b"\n") if line.startswith(b"#")}
