"""Files of cases: what is understood, what is refused and where, and that adding keeps the rest."""

from __future__ import annotations

import tomllib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from knowrepo.errors import KnowError
from knowrepo.evaluate import cases
from knowrepo.evaluate.cases import Case, MalformedError, appended, parse, plain_name, read_bytes
from knowrepo.index.catalog import Filter

ALL = """\
# by hand
[[case]]
query = "why two stores"
expect = "decisions/two-stores"

[[case]] # with all that there is
query = '''
[[case]]
query = "not a key" '''
expect = [
  "claude/768de5d6", # [[case]]
  "concepts/a.md",
]
kind = "paraphrase"
k = 1
route = "structured"
only = "concept"
type = "Decision"
tag = "git"
since = "2026-05"
until = "2026-05-31"
session = "768d"
project = "app"
agent = "claude"
note = \"\"\"said "twice\"\"\"\"

[[case]]
query = "who waters the plants"
none = true
"""


def malformed(text: str | bytes) -> str:
    with pytest.raises(MalformedError) as caught:
        parse(text if isinstance(text, bytes) else text.encode(), "eval.toml")
    assert caught.value.exit_code == 2
    assert "\n" not in caught.value.message
    return caught.value.message


def one(*lines: str) -> str:
    return "\n".join(["# first line", "[[case]]", 'query = "q"', *lines, ""])


# -- reading ----------------------------------------------------------------------


def test_every_key_is_read_and_each_case_knows_its_line():
    first, second, third = parse(ALL.encode(), "eval.toml")
    assert first == Case("why two stores", ("decisions/two-stores",), line=2)
    assert (first.k, first.only) == (5, Filter())
    assert second == Case(
        '[[case]]\nquery = "not a key" ',
        ("claude/768de5d6", "concepts/a.md"),
        kind="paraphrase", k=1, route="structured",
        only=Filter(
            kind="concept", type="Decision", tag="git", since="2026-05", until="2026-05-31",
            session="768d", project="app", agent="claude",
        ),
        note='said "twice"', line=6,
    )  # fmt: skip
    assert (third.expect, third.line) == (
        (),
        ALL.splitlines().index('query = "who waters the plants"'),
    )


@pytest.mark.parametrize("change", [lambda t: t.replace("\n", "\r\n"), lambda t: "\ufeff" + t])
def test_line_ends_and_a_byte_order_mark_move_no_line(change):
    assert parse(change(ALL).encode(), "e") == parse(ALL.encode(), "e")


def test_an_empty_expectation_is_that_nothing_is_found():
    assert parse(one("expect = []").encode(), "e")[0].expect == ()


def test_a_file_without_cases_has_none():
    assert parse(b"# nothing yet\n", "e") == []


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (one('expect = "a"', "limit = 3"), "eval.toml:5: `limit` means nothing in a case"),
        (one("expect = 3"), "eval.toml:4: `expect` must be a string or a list of strings"),
        (one('expect = ["a", 3]'), "eval.toml:4: `expect` must be a string or a list"),
        (one('expect = ""'), "eval.toml:4: `` cannot be a concept or a session"),
        (one('expect = "a"', "k = 0"), "eval.toml:5: `k` must be from 1 to 100"),
        (one('expect = "a"', "k = true"), "eval.toml:5: `k` must be from 1 to 100"),
        (one('expect = "a"', "k = 1.5"), "eval.toml:5: `k` must be from 1 to 100"),
        (one('expect = "a"', "kind = 1"), "eval.toml:5: `kind` must be a string"),
        (one('expect = "a"', 'route = "lexical"'), "eval.toml:5: `route` must be structured or"),
        (one('expect = "a"', 'only = "file"'), "eval.toml:5: `only` must be concept or session"),
        (one('expect = "a"', 'since = "7d"'), "eval.toml:5: `since` must be a date"),
        (one('expect = "a"', 'until = "2026-13"'), "eval.toml:5: `until` must be a date"),
        (one('expect = "a"', "since = 2026-05-01"), "eval.toml:5: `since` must be a string"),
        (one('expect = "a"', "none = true"), "eval.toml:5: `none` and `expect` exclude"),
        (one("none = 1"), "eval.toml:4: `none` must be true or false"),
        (one("none = false"), "eval.toml:3: a case needs `expect`, or `none = true`"),
        (one("none = true", "k = 3"), "eval.toml:5: `k` says nothing where nothing is expected"),
        (one("expect = []", 'route = "hybrid"'), "eval.toml:5: `route` says nothing"),
        (one(), "eval.toml:3: a case needs `expect`"),
        ('[[case]]\nexpect = "a"\n', "eval.toml:1: a case needs a `query`"),
        ('[[case]]\nquery = " "\nexpect = "a"\n', "eval.toml:2: a case needs a `query`"),
        ('[[case]]\nquery = "q"\n[case.x]\na = 1\n', "eval.toml:1: `x` means nothing in a case"),
        ("\ntitle = 1\n", "eval.toml:2: `title` means nothing here"),
        ('\n\n[[cases]]\nquery = "q"\n', "eval.toml:3: `cases` means nothing here"),
        ("case = 1\n", "eval.toml:1: `case` must be tables"),
        ('case = [{query = "q", expect = "a"}]\n', "eval.toml:1: cases must be written as"),
        ("[[case]]\nquery = \n", "eval.toml:2: not valid TOML: "),
        ("[[case]]\nquery = 'a\n", "eval.toml:2: not valid TOML: "),
        (b"[[case]]\nquery = '\xff'\n", "eval.toml:2: not UTF-8"),
    ],
)
def test_what_is_wrong_is_one_line_that_says_where(text, message):
    assert malformed(text).startswith(message)


@pytest.mark.parametrize(
    "name", ["../secrets.md", "concepts/../../x", "/etc/passwd", "concepts//a", "a/", " "]
)
def test_an_expectation_cannot_lead_anywhere(name):
    assert "cannot be a concept or a session" in malformed(one(f'expect = "{name}"'))


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ('expect = "a"', 'expect = "a"'),
        ('expect = "a"', 'expect = ["b", "concepts/a.md"]'),
        ("none = true", "expect = []"),
    ],
)
def test_a_case_that_stands_twice_names_both_lines(first, second):
    again = f'[[case]]\nquery = "Q "\n{second}\n'
    assert malformed(one(first) + again) == "eval.toml:5: the same case stands on line 2"


@pytest.mark.parametrize("other", ['expect = "b"', 'expect = "a"\ntag = "git"'])
def test_another_expectation_or_filter_makes_another_case(other):
    text = one('expect = "a"') + f'[[case]]\nquery = "q"\n{other}\n'
    assert len(parse(text.encode(), "e")) == 2


# -- a file of strangers ----------------------------------------------------------


@pytest.mark.parametrize(
    "text",
    [
        "x = " + "[" * 50_000,
        "x = " + "{a=" * 20_000,
        "k = " + "9" * 100_000,
        one('expect = "a"', "k = " + "9" * 5000),
        one('expect = "a"', f'note = "{"n" * 2001}"'),
        one(f'expect = "{"a" * 2001}"'),
        one("expect = [" + '"a",' * 51 + "]"),
        '[[case]]\nquery = "q"\nexpect = "a"\n' * 2001,
        ".".join("a" * 252) + " = 1",
        "a" * 100_000 + " = 1",
        'x = """' + '"\\' * 10_000,
    ],
)
def test_what_is_too_much_is_refused_in_a_short_line(text):
    assert len(malformed(text)) < 300


def test_a_file_that_is_too_large_is_not_read_to_its_end(tmp_path):
    path = tmp_path / "eval.toml"
    path.write_bytes(b"#" * (cases.MOST_BYTES + 1))
    with pytest.raises(MalformedError, match="larger than"):
        read_bytes(path, "eval.toml")


@given(st.text() | st.lists(st.sampled_from("[]=\"'#\\\n case\tquery"), max_size=40).map("".join))
def test_any_text_is_cases_or_one_line(text):
    told = "e:"
    try:
        parse(text.encode(errors="replace"), "e")
    except MalformedError as error:
        told = error.message
    assert told.startswith("e:")
    assert "\n" not in told


# -- adding -----------------------------------------------------------------------


@pytest.mark.parametrize(
    "before",
    [
        ALL.encode(),
        ALL.rstrip("\n").encode(),
        ALL.replace("\n", "\r\n").encode(),
        b"\xef\xbb\xbf" + ALL.encode(),
        b"# only a remark",
        b"",
    ],
)
def test_adding_keeps_every_byte_and_appends_a_case(before):
    case = Case("a new one", ("concepts/b.md",), kind="title", k=3)
    after, added = appended(before, case, "e")
    assert after.startswith(before)
    assert (b"\r\n" in after) == (b"\r\n" in before)
    assert b"\n" not in after.replace(b"\r\n", b"") or b"\r\n" not in after
    assert parse(after, "e")[-1] == added
    assert after.decode("utf-8-sig").splitlines()[added.line - 1] == "[[case]]"


def test_a_new_file_says_what_it_is_for():
    after, _ = appended(b"", Case("q", ("concepts/a.md",)), "e")
    assert after.decode() == (
        "# Questions that this repository must be able to answer: `know eval` asks them all\n"
        "# and fails where one is no longer answered. `know eval --add` records one.\n"
        '\n[[case]]\nquery = "q"\nexpect = "concepts/a.md"\n'
    )


@given(
    st.text(min_size=1).filter(lambda t: t.strip()),
    st.sampled_from([(), ("concepts/a.md",), ("concepts/a.md", "sessions/claude/b")]),
    st.sampled_from(["", "title", 'a "kind"']),
)
def test_whatever_is_asked_is_written_so_that_it_reads_the_same(query, expect, kind):
    after, added = appended(b"", Case(query, expect, kind=kind), "e")
    assert (added.query, added.expect, added.kind) == (query, expect, kind)
    assert tomllib.loads(after.decode())["case"][0]["query"] == query


def test_a_full_file_takes_no_more():
    data = b"#" * (cases.MOST_BYTES - 10)
    with pytest.raises(KnowError, match="no room"):
        appended(data, Case("q", ("a",)), "e")


def test_names_of_one_document_have_one_plain_form():
    assert {plain_name(n) for n in ("concepts/d/x.md", "d/x", "d/x.md", "concepts/d/x")} == {"d/x"}
    assert plain_name("sessions/claude/1.jsonl") == "claude/1"
