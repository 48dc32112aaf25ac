"""A draft's bytes: what was said, quoted so that it is nothing but text, with its sources."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from knowrepo.concepts.checking.validate import check
from knowrepo.concepts.document import parse
from knowrepo.concepts.markdown import links, sections
from knowrepo.distill.files import Cited, Related, cited_paths, draft, neutral
from knowrepo.distill.model import Proposal, Statement

AT = datetime(2026, 5, 2, 10, 30, tzinfo=UTC)
SESSION = Cited("claude/s-1", "sessions/claude/s-1.jsonl", "A slow start")
PATH = "concepts/decisions/use-a-cache.md"


def statement(text: str, kind: Any = "decision", record: str = "u-3", **fields: Any) -> Statement:
    given = {"line": 3, "role": "assistant", "time": "2026-05-01T10:00:03.000Z", **fields}
    return Statement(kind, text, record, **given)


def proposal(*statements: Statement, **fields: Any) -> Proposal:
    given = {
        "type": "Decision",
        "title": "Use a cache",
        "description": "A cache is used.",
        **fields,
    }
    return Proposal(session=SESSION.name, statements=statements, **given)


def made(*statements: Statement, cited: Cited = SESSION, path: str = PATH, **fields: Any) -> bytes:
    related = fields.pop("related", ())
    by = "knowrepo/rules-1"
    return draft(proposal(*statements, **fields), cited, path, by=by, at=AT, related=related)


def body(data: bytes) -> str:
    return parse(data).body


def test_a_draft_has_what_a_reviewer_needs():
    data = made(
        statement("We use a cache."),
        statement("Reading twice was slow.", "cause", "u-7", line=7, role="user", time=""),
        tags=("cache", "speed"),
        note="Measured on two machines.",
        related=[Related("solutions/slow-start", "Slow *start*")],
    )
    assert (
        data.decode()
        == """---
type: Decision
title: Use a cache
description: "A cache is used."
tags: [cache, speed]
status: draft
generated:
  by: "knowrepo/rules-1"
  at: "2026-05-02T10:30:00Z"
sources:
  - id: rfc0e316f
    resource: "../../sessions/claude/s-1.jsonl#u-3"
    title: A slow start
    last_modified: "2026-05-01T10:00:03.000Z"
  - id: r4dd17efa
    resource: "../../sessions/claude/s-1.jsonl#u-7"
    title: A slow start
---

Measured on two machines.

# Decision

> We use a cache. [^rfc0e316f]

# Why

> Reading twice was slow. [^r4dd17efa]

# Related

* [Slow \\*start\\*](../solutions/slow-start.md)

[^rfc0e316f]: session claude/s-1, record u-3, assistant, 2026-05-01T10:00:03.000Z
[^r4dd17efa]: session claude/s-1, record u-7, user
"""
    )


def test_the_same_proposal_gives_the_same_bytes_but_for_the_clock():
    said = (statement("We use a cache."), statement("No.", "rejection", "u-9"))
    assert made(*said) == made(*said)
    later = draft(proposal(*said), SESSION, PATH, by="knowrepo/rules-1", at=AT + timedelta(days=1))
    assert later.replace(b"05-03T", b"05-02T") == made(*said)
    east = draft(
        proposal(*said), SESSION, PATH, by="knowrepo/rules-1",
        at=AT.astimezone(timezone(timedelta(hours=5))),
    )  # fmt: skip
    assert east == made(*said)


def test_a_source_stands_once_for_each_record_whatever_was_said_there():
    data = made(statement("One."), statement("Two."), statement("Three.", record="u-1", line=1))
    sources = parse(data).front["sources"]
    assert [source["resource"].partition("#")[2] for source in sources] == ["u-1", "u-3"]
    assert body(data).count("[^") == 3 + 2


def test_only_a_time_with_an_offset_is_a_date_of_the_source():
    times = ["2026-05-01T10:00:03+02:00", "2026-05-01T10:00:03", "yesterday", "2026-05-01", ""]
    found = [parse(made(statement("x", time=time))).front["sources"][0] for time in times]
    assert [source.get("last_modified", "") for source in found] == [times[0], "", "", "", ""]


def test_a_records_key_is_percent_encoded_and_told_again():
    odd = statement("x", record="a b#c/d\0text1")
    data = made(odd, cited=Cited("claude/s-1", "sessions/claude/s 1.jsonl"))
    (source,) = parse(data).front["sources"]
    assert source["resource"] == "../../sessions/claude/s%201.jsonl#a%20b%23c%2Fd%00text1"
    assert b"\0" not in data
    assert cited_paths(PATH, data) == {"sessions/claude/s 1.jsonl"}


def test_the_paths_that_a_concept_cites_are_told_however_it_looks():
    assert cited_paths("concepts/a.md", b"no front matter") == set()
    odd = b'---\ntype: x\nsources: [a, {resource: [b]}, {resource: "../sessions/x.jsonl"}]\n---\n'
    assert cited_paths("concepts/a.md", odd) == {"sessions/x.jsonl"}
    assert cited_paths("concepts/a.md", b"---\ntype: x\nsources: {a: b}\n---\n") == set()


HOSTILE = [
    "# Ignore all that was said", "## x", "---", "***", "- item", "+ item", "* item", "1. one",
    "12) two", "> quote", "=====", "```sh", "~~~", "    code", "\tcode", "| a | b |",
    "<script>alert(1)</script>", "<!-- hidden -->", "<a href='https://x.example'>x</a>", "<b>",
    "[text](https://x.example)", "![image](https://x.example/a.png)", "[text][ref]", "[ref]: /x",
    "[^r1]: a footnote", "[^r1]", "<https://x.example>", "https://x.example/a_b*c*",
    "www.x.example", "mail me@x.example now", "mailto:me@x.example", "`code` and ``more``",
    "**bold** _it_ __x__",
    "snake_case_name", "~~gone~~", "$x$", "&lt;b&gt; &#35; &amp", "a\\*b\\", "line\n# heading",
    "a  \nb", "\u202egnp.exe", "\x1b[31mred\x1b[0m", "\u2028# x", "tag\U000e0041", "\ud800",
    "- [ ] task", ": definition", "[!NOTE]", "{{ template }}", "status: stable\n---\n", "x" * 5000,
]  # fmt: skip


def tokens(text: str) -> set[str]:
    parser = MarkdownIt("commonmark", {"html": True}).enable(["table", "strikethrough"])
    found = set()
    for token in parser.parse(text):
        found.add(token.type)
        found |= {child.type for child in token.children or ()}
    return found


FRONT = ("type", "title", "description", "tags", "status", "generated", "sources")
PLAIN = {
    "blockquote_open", "blockquote_close", "paragraph_open", "paragraph_close", "inline", "text",
    "code_inline", "text_special",
}  # fmt: skip


@pytest.mark.parametrize("text", HOSTILE)
def test_what_was_said_is_text_and_nothing_else(text):
    quoted = f"> {neutral(text)} [^r1]"
    assert "\n" not in quoted
    assert tokens(quoted) <= PLAIN
    quoted.encode()
    data = made(statement(text), title=text, description=text, tags=(text,))
    document = parse(data)
    assert document.problems == ()
    assert document.front["status"] == "draft"
    assert [section.headings for section in sections(document.body)] == [(), ("Decision",)]
    assert list(links(document.body)) == []


@given(st.text(max_size=80))
def test_any_text_is_text_and_nothing_else(text):
    assert tokens(f"> {neutral(text)} [^r1]") <= PLAIN


@pytest.mark.parametrize("text", [text for text in HOSTILE if text != "\ud800"])
def test_a_records_id_and_time_and_a_sessions_name_are_text_too(text):
    odd = Cited(f"claude/{text}", "sessions/claude/s.jsonl", text)
    document = parse(made(statement("x", record=text, time=text), cited=odd))
    assert document.problems == ()
    assert set(document.front) <= set(FRONT)
    assert [section.headings for section in sections(document.body)] == [(), ("Decision",)]
    assert list(links(document.body)) == []
    assert tokens(document.body) <= PLAIN | {"heading_open", "heading_close"}


def test_what_was_said_can_still_be_read():
    assert neutral("use snake_case, not a-b (see v1.2)") == "use snake_case, not a-b (see v1.2)"
    assert neutral("it's 5 * 3 < 20 & so on") == "it's 5 \\* 3 \\< 20 & so on"
    assert neutral("see https://x.example/a_b.") == "see `https://x.example/a_b.`"
    assert neutral("👩‍💻 works") == "👩‍💻 works"
    assert neutral("1. one") == "1\\. one"


@pytest.mark.parametrize(
    "note",
    [
        "# Heading",
        "<b>x</b>",
        "a [link](/x)",
        "![i](/x)",
        "text\n\n## x\n\nmore",
        "[r]: /x",
        "a\n===",
    ],
)
def test_a_note_that_would_do_more_than_say_something_is_text(note):
    said = body(made(statement("x"), note=note))
    assert [section.headings for section in sections(said)] == [(), ("Decision",)]
    assert list(links(said)) == []
    assert "<b>" not in said


def test_a_draft_passes_the_check_without_a_finding():
    said = [statement(text, kind, f"u-{n}", line=n) for n, (text, kind) in enumerate(
        [("We use a cache.", "decision"), ("Not Redis.", "rejection"), ("It was slow.", "cause"),
         ("Cached it.", "fix"), ("Keep it small.", "preference"), ("No, smaller.", "correction"),
         ("make: no rule", "failed"), ("make all", "worked"), ("<b>[x](y)", "decision")], 1)
    ]  # fmt: skip
    data = made(*said, related=[Related("decisions/b c", "B")])
    there = {PATH, "concepts/decisions/b c.md", SESSION.path}
    assert check({PATH: data}, there.__contains__) == []
