"""Each code of the check: what has it, and what looks alike and has not."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import NamedTuple

import pytest

from knowrepo.concepts.checking.codes import CODES, FIXABLE, explain, is_non_conformance
from knowrepo.concepts.checking.findings import Finding
from knowrepo.concepts.checking.tree import ListedTree
from knowrepo.concepts.checking.validate import check

Files = dict[str, str | bytes]
NOW = datetime(2026, 11, 30, tzinfo=UTC)
HEAD = "type: X\ntitle: T\ndescription: D.\n"
# Codes whose findings need git or a disk; test_check_command has both cases of each.
WITH_GIT = {"OKF208", "OKF216", "KNOW301", "KNOW302", "KNOW303", "KNOW304", "KNOW305"}


class Case(NamedTuple):
    code: str
    bad: Files
    good: Files
    line: int = 0  # where the finding must stand; 0 for anywhere


def doc(front: str = "", body: str = "") -> str:
    return f"---\n{HEAD}{front}---\n{body}"


def whole(front: str, body: str = "") -> str:
    return f"---\n{front}---\n{body}"


def one(code: str, bad: str | bytes, good: str | bytes, line: int = 0) -> Case:
    return Case(code, {"a.md": bad}, {"a.md": good}, line)


def key(code: str, bad: str, good: str, line: int = 5) -> Case:
    """One more key in a front matter that is right otherwise."""
    return one(code, doc(bad), doc(good), line)


def body(code: str, bad: str, good: str, line: int = 6) -> Case:
    b = doc("status: stable\n", "# Part one\n\n## Two `b_c`\n\n[a](a.md)\n")
    return Case(code, {"a.md": doc(body=bad), "b.md": b}, {"a.md": doc(body=good), "b.md": b}, line)


def index(code: str, bad: str, good: str, line: int = 0, path: str = "index.md") -> Case:
    a = doc()
    return Case(code, {path: bad, "sub/a.md": a}, {path: good, "sub/a.md": a}, line)


SECTION = "# All\n\n* [A](/sub/a.md) - text\n"
INDEX_OK = f'---\nokf_version: "0.2"\n---\n{SECTION}'
OLD = doc("status: deprecated\nsuperseded_by: new.md\n")
COMPUTED = "type: Attested Computation\ntitle: T\ndescription: D.\n"
RUN = "runtime: bigquery\n"
CODE = "# Computation\n\n```sql\nSELECT 1\n```\n"

CASES = [
    # Front matter that is not there
    one("OKF101", "# Text\n", doc(), 1),
    one("OKF101", "", doc(), 1),
    one("OKF101", "text\n\n---\ntype: X\n---\n", "---\ntype: X\n---\ntext\n---\ntitle: no\n---\n"),
    one("OKF101", "\n---\ntype: X\n---\n", "---  \ntype: X\n---\t\n"),
    one("OKF101", " ---\ntype: X\n---\n", "---\r\ntype: X\r\n---\r\n"),
    one("OKF101", '+++\ntype = "X"\n+++\n', "\ufeff---\ntype: X\n---\n"),
    one("OKF102", "---\ntype: X\n# Text\n", "---\ntype: X\n---", 1),
    one("OKF102", "---\ntype: X\n----\ntext\n", doc(), 3),
    Case("OKF102", {"a.md": "---\ntype: X\n"}, {"index.md": "---\n\n# A rule above\n"}),
    # Front matter that is not YAML
    one("OKF103", whole("type: X\ntitle: One: two\n"), whole('type: X\ntitle: "One: two"\n'), 3),
    one("OKF103", whole("type: X\ntitle: Two parts:\n"), whole("type: X\ntitle: http://x\n"), 3),
    one("OKF103", whole("type: X\ntags:\n\t- a\n"), whole("type: X\ntags:\n  - a\n"), 4),
    one("OKF103", whole('type: X\ntitle: "open\nz: 1\n'), whole('type: X\ntitle: "a\n  b"\n'), 3),
    one("OKF103", whole("type: X\ntags: [a\nz: 1\n"), whole("type: X\ntags: [a,\n  b]\n"), 3),
    one("OKF103", whole("type: X\nby: @me\n"), whole("type: X\nby: '@me'\n"), 3),
    one("OKF103", whole("type: X\ntitle: *not* so\n"), whole("type: X\ntitle: so *not*\n"), 3),
    one("OKF103", whole("<<<<<<< HEAD\ntype: X\n=======\ntype: Y\n>>>>>>> b\n"), doc(), 2),
    one("OKF104", "---\n- a\n---\n", doc(), 2),
    one("OKF104", "---\ntext\n---\n", doc(), 2),
    Case("OKF104", {"a.md": "---\n---\n"}, {"a.md": doc(), "index.md": f"---\n---\n{SECTION}"}),
    # type
    one("OKF105", whole("title: T\n"), whole("type: Anything at all\n"), 1),
    one("OKF105", whole("title: T\ntype: ''\n"), whole("title: T\ntype: 'x'\n"), 3),
    one("OKF105", whole("type: null\n"), whole("type: 'null'\n"), 2),
    one("OKF105", whole("type: [X]\n"), whole("type: 2026\n"), 2),
    # Bytes
    one("OKF106", b"---\ntype: caf\xe9\n---\n", "---\ntype: café\n---\n", 2),
    one("OKF106", "---\ntype: X\n---\n".encode("utf-16"), doc(), 1),
    one("OKF211", "\ufeff" + doc(), doc(body="a\ufeffb"), 1),
    one("OKF212", "---\r\ntype: X\r\n---\ntext\n", "---\r\ntype: X\r\n---\r\n", 3),
    one("OKF213", doc(body="a\0b\n"), doc(body="a\tb\n"), 6),
    one("OKF214", doc(body="<<<<<<< a\nx\n=======\ny\n>>>>>>> b\n"),
        doc(body="```\n<<<<<<< a\nx\n=======\ny\n>>>>>>> b\n```\n\nTitle\n=======\n"), 6),
    one("OKF215", doc().encode() + b"caf\xe9\n", doc(body="café"), 6),
    # Names
    Case("OKF217", {"a:b.md": doc()}, {"a-b.md": doc()}),
    Case("OKF217", {"aux/a.md": doc()}, {"auxiliary/a.md": doc()}),
    Case("OKF217", {"con.md": doc()}, {"icon.md": doc()}),
    Case("OKF217", {"sub./a.md": doc()}, {".sub/a.md": doc()}),
    Case("OKF218", {"A.md": doc(), "a.md": doc()}, {"a.md": doc(), "b.md": doc()}),
    Case("OKF218", {"S/a.md": doc(), "s/b.md": doc()}, {"s/a.md": doc(), "s/b.md": doc()}),
    Case("OKF218", {"e\u0301.md": doc(), "\xe9.md": doc()}, {"e.md": doc(), "\xe9.md": doc()}),
    Case("OKF220", {"README.md": "# About\n"}, {"README.md": doc(), "a.md": doc()}),
    Case("OKF220", {"sub/SKILL.md": "---\nname: x\n---\n"}, {"sub/SKILLS-we-have.md": doc()}),
    # index.md and log.md
    index("OKF111", f"---\ntitle: T\n---\n{SECTION}", INDEX_OK, 2),
    index("OKF111", INDEX_OK, SECTION, 2, path="sub/index.md"),
    index("OKF112", "* [A](sub/a.md)\n", SECTION, 1),
    index("OKF206", INDEX_OK.replace("0.2", "9.9"), INDEX_OK.replace("0.2", "0.1"), 2),
    index("OKF227", "# All\n\nWords only.\n", "# All\n\nWords.\n\n## Some\n\n- [A](/sub/a.md)\n"),
    index("OKF227", "# All\n\n[A](/sub/a.md)\n", "# All\n"),
    index("OKF279", INDEX_OK.replace('"', ""), INDEX_OK.replace('"', "'"), 2),
    index("OKF121", "# Log\n\n## Yesterday\n", "# Log\n\n## 2026-05-22\n\n### Part\n", 3, "log.md"),
    index("OKF121", "## 2026-13-40\n", "## 2026-12-04\n", 1, "log.md"),
    index("OKF207", "---\ntype: Log\n---\n# Log\n", "---\n\n# Log\n", 1, "log.md"),
    index("OKF223", "## 2026-05-01\n\n## 2026-05-02\n", "## 2026-05-02\n\n## 2026-05-01\n", 3,
          "log.md"),
    index("OKF224", "## 2026-05-22 (release)\n", "## 2026-05-22\n", 1, "log.md"),
    # Keys
    key("OKF203", "a: 1\na: 2\n", "a: 1\nb: {a: 2}\n", 6),
    key("OKF203", "generated: {by: a/b, by: c/d}\n", "generated: {by: a/b}\nby: c\n"),
    key("OKF204", "tags: a, b\n", "tags: [a, b]\n"),
    key("OKF205", "timestamp: 2026-01-01T00:00:00Z\n", "generated: {by: a/b}\n"),
    one("OKF261", whole("type: X\ntitle: [x]\n"), whole("type: X\ntitle: '[x]'\n"), 3),
    key("OKF261", "status: [draft]\n", "status: draft\n"),
    key("OKF261", "tags: [a, {b: c}]\n", "tags: [a, 'b: c']\n"),
    key("OKF261", "sources: {resource: x}\n", "sources: [{resource: x}]\n"),
    key("OKF261", "sources: [text]\n", "sources: []\n"),
    key("OKF261", "generated: me\n", "generated: {by: a/b}\n"),
    key("OKF261", "verified: human:j\n", "verified: [{by: human:j, at: 2026-01-01T00:00Z}]\n"),
    key("OKF261", "usage_window: 2026\n",
        "usage_window: {from: 2026-01-01T00:00:00Z, to: 2027-01-01T00:00:00Z}\n"),
    key("OKF261", "sources: [{resource: x, usage_count: many}]\n",
        "sources: [{resource: x, usage_count: 5000}]\n"),
    one("OKF261", whole(f"{COMPUTED}{RUN}executor: run.md\n", CODE),
        whole(f"{COMPUTED}{RUN}executor: {{resource: https://x.example/run}}\n", CODE), 6),
    key("OKF262", "generated: {at: 2026-01-01T00:00:00Z}\n", "generated: {by: a/b}\n"),
    key("OKF263", "verified: {by: human:j, at: 2026-01-01T00:00:00Z}\n",
        "verified: [{by: human:j, at: 2026-01-01T00:00:00Z}]\n"),
    key("OKF264", "verified: [{by: human:j}]\n", "unverified: [{by: human:j}]\n"),
    key("OKF265", "generated: {by: a/b, at: 2026-01-01T10:00:00}\n",
        "generated: {by: a/b, at: 2026-01-01T10:00:00+02:00}\n"),
    key("OKF266", "stale_after: 2027-01-01\n", "stale_after: 2027-01-01T00:00:00Z\n"),
    key("OKF267", "stale_after: next week\n", "stale_after: 2027-01-01 00:00Z\n"),
    key("OKF267", "stale_after: 2027-02-30\n", "stale_after: 2028-02-29\n"),
    key("OKF268", "generated: {by: a/b, at: 2027-01-01T00:00:00Z}\n",
        "generated: {by: a/b, at: 2026-11-30T20:00:00Z}\nstale_after: 2099-01-01T00:00:00Z\n"),
    *(key("OKF269", f'generated: {{by: "{near}"}}\n', "generated: {by: human:jane}\n")
      for near in ("Human:jane", "HUMAN:jane", "humans:jane", "human-jane", "human jane",
                   "human: jane", "human/jane", "human :jane")),
    *(key("OKF280", f'generated: {{by: "{nobody}"}}\n', "generated: {by: process:nightly}\n")
      for nobody in ("human", "human:", "Humans")),
    key("OKF270", "generated: {by: Jane Doe}\n", "generated: {by: team:docs}\n"),
    key("OKF270", "generated: {by: jane}\n", "generated: {by: agent/gemini-2.5-pro}\n"),
    key("OKF271", "status: published\n", "status: draft\n"),
    key("OKF272", "status: Draft\n", "status: deprecated\n"),
    key("OKF273", "tags: [data-lake, Data Lake]\n", "tags: [data, lake, C, C++]\n"),
    key("OKF273", "tags: [a, a]\n", "tags: [a, b]\n"),
    key("OKF274", "tags: [2026, no]\n", 'tags: ["2026", "no", nothing, v1.2.3]\n'),
    key("OKF281", "x: !person {name: jane}\n", "x: !!str y\nz: !!int 5\n\"! a\": '!b c'\n"),
    key("OKF281", "x: {{ template }}\n", "x: '{{ template }}'\n"),
    key("OKF281", "? [a, b]\n: c\n", "? a\n: c\n"),
    one("OKF274", whole("type: yes\n"), whole("type: 'yes'\n"), 2),
    one("OKF275", whole("type: X\n"), doc(), 1),
    one("OKF275", whole("type: X\ntitle:\n"), doc(), 3),
    one("OKF276", whole("type: X\ntitle: T\n"), doc(), 1),
    # Computations and v0.1
    one("OKF278", whole(COMPUTED, CODE), whole(COMPUTED + RUN, CODE), 1),
    one("OKF278", whole(COMPUTED + RUN, "# Notes\n\n```\nx\n```\n"),
        whole(f"{COMPUTED}{RUN}computation: https://x.example/a.sql\n"), 1),
    body("OKF282", "# Citations\n\n1. x\n", "# Sources\n\n1. x\n"),
    # Footnotes and sources
    body("OKF251", "x[^n]\n", "x[^n] and `[^m]` and \\[^k]\n\n[^n]: y\n"),
    one("OKF251", doc("sources: [{id: p, resource: x}]\n", "x[^q]\n"),
        doc("sources: [{id: p, resource: x}]\n", "x[^p]\n"), 7),
    one("OKF252", doc("sources: [{id: p, resource: x}]\n", "x[^q]\n\n[^q]: y\n"),
        doc("sources: [{id: p, resource: x}]\n", "x[^p]\n\n[^p]: https://x.example\n"), 7),
    one("OKF253", doc("sources: [{id: p, resource: x}, {id: q, resource: y}]\n", "x[^p]\n"),
        doc("sources: [{id: p, resource: x}, {id: q, resource: y}]\n", "none is cited\n"), 5),
    key("OKF254", "sources: [{id: p, resource: x}, {id: p, resource: y}]\n",
        "sources: [{id: p, resource: x}, {id: q, resource: x}]\n"),
    key("OKF255", "sources: [{id: p}]\n", "sources: [{resource: all queries in project X}]\n"),
    # Links
    body("OKF201", "[x](gone.md)\n",
         "[x](b.md) `[y](gone.md)` [z](https://x.example/gone.md) [m](mailto:a@b.example)\n"
         "\n    [code](gone.md)\n\n[i](//host/x) [w](b.md?plain=1#part-one) [e]()\n"),
    body("OKF201", "![x](gone.png)\n", "[x](/b.md) [y](./b.md) [z](../concepts/b.md)\n"),
    Case("OKF201", {"a.md": doc(body="[x](sub/b.md)\n")},
         {"a.md": doc(body="[x](sub/) [y](sub) [z](sub/index.md) [s](a%20b.md) [t](<a b.md>)\n"),
          "sub/c.md": doc(), "a b.md": doc()}, 6),
    Case("OKF201", {"a.md": doc(body="[x](gone.md)")},
         {"log.md": "## 2026-01-01\n\n[x](gone.md)\n"}),
    body("OKF202", "[x](../../etc/passwd)\n", "[x](../README.md)\n"),
    body("OKF231", "[x](a.md)\n", "[x](a.md#top) [y](#top)\n"),
    body("OKF232", "[x](B.md)\n", "[x](b.md)\n"),
    body("OKF233", "[x](b)\n", "[x](b.md)\n"),
    body("OKF234", "[x](b.md#three)\n",
         "[x](b.md#part-one) [y](b.md#two-b_c) [z](b.md#part-one-1) [l](b.md#L10)\n"),
    body("OKF234", "[x](#gone)\n\n# Here\n",
         '[x](#here) [y](#own)\n\n# Here\n\n<a id="own"></a>\n'),
    body("OKF235", "see [[b]]\n", "`[[b]]` and a[[0]](b.md)\n"),
    body("OKF236", "[x](/concepts/b.md)\n", "[x](/b.md)\n"),
    Case("OKF237", {"a.md": doc(body="[x](a%2520b.md)\n"), "a b.md": doc()},
         {"a.md": doc(body="[x](a%20b.md)\n"), "a b.md": doc()}, 6),
    Case("OKF237", {"a.md": doc(body="[x](100%25.md)\n"), "100%25.md": doc()},
         {"a.md": doc(body="[x](100%25.md)\n"), "100%.md": doc()}, 6),
    key("OKF239", "resource: ./gone.sql\n", "resource: https://x.example/gone.sql\n"),
    key("OKF239", "resource: /lib/gone.sql\n", "resource: /projects/x/tables/orders\n"),
    key("OKF239", "sources: [{resource: gone.md}]\n", "sources: [{resource: 'notes, v1.md'}]\n"),
    one("OKF239", whole(f"{COMPUTED}{RUN}computation: lib/a.sql\n"),
        whole(f"{COMPUTED}{RUN}computation: a.md\n"), 6),
    # What is current
    Case("OKF277", {"a.md": doc(), "b.md": doc()}, {"a.md": doc(), "sub/b.md": doc()}),
    key("OKF283", "stale_after: 2026-01-01T00:00:00Z\n", "stale_after: 2027-01-01T00:00:00Z\n"),
    Case("OKF284", {"a.md": doc(body="[x](old.md)\n"), "old.md": OLD, "new.md": doc()},
         {"a.md": doc(body="[x](new.md)\n"), "old.md": OLD, "new.md": doc(),
          "index.md": "# All\n\n* [x](old.md)\n"}, 6),
    key("OKF285", "status: deprecated\n", "status: draft\n"),
    Case("OKF285", {"old.md": doc("status: deprecated\n")},
         {"old.md": doc("status: deprecated\n", "See [new](new.md).\n"), "new.md": doc()}),
    Case("OKF286", {"old.md": OLD}, {"old.md": OLD, "new.md": doc()}, 6),
    Case("OKF286", {"sub/old.md": OLD},
         {"sub/old.md": OLD.replace("new.md", "/sub/new"), "sub/new.md": doc()}, 6),
    Case("OKF287", {"old.md": OLD, "new.md": OLD.replace("new", "old")},
         {"old.md": OLD, "new.md": OLD.replace("new", "newest"), "newest.md": doc()}),
    key("OKF288", "superseded_by: b.md\n", "status: deprecated\nsuperseded_by: b.md\n"),
    Case("OKF291", {"a.md": doc(body="[b](b.md)"), "b.md": doc(body="[a](a.md)"), "c.md": doc()},
         {"a.md": doc(), "b.md": doc(), "c.md": doc()}),
    one("OKF298", doc(body="a b\n" * 260_000), doc(body="a b\n" * 20_000), 1),
    one("OKF299", doc(body="](" + "[" * 4000), doc(body="](" + "[" * 400), 6),
]  # fmt: skip


def findings(files: Files, **options: bool) -> list[Finding]:
    contents = {
        f"concepts/{path}": text if isinstance(text, bytes) else text.encode()
        for path, text in files.items()
    }
    tree = ListedTree([*contents, "README.md", "know.toml"], contents.get)
    return check(contents, tree, now=NOW, **options)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.code)
def test_a_code_is_given_where_it_should_and_not_where_it_should_not(case: Case):
    bad = [finding for finding in findings(case.bad) if finding.code == case.code]
    assert bad
    if case.line:
        assert bad[0].line == case.line
    assert all(finding.message and finding.column >= 1 for finding in bad)
    assert [finding for finding in findings(case.good) if finding.code == case.code] == []


def test_every_code_has_both_cases():
    assert {case.code for case in CASES} | WITH_GIT == set(CODES)


def test_what_is_good_conforms():
    """No good example breaks a rule of S11, other than by what it is an example of."""
    for case in CASES:
        assert not [f for f in findings(case.good) if is_non_conformance(f.code)], case


@pytest.mark.parametrize("code", CODES.values(), ids=lambda code: code.code)
def test_every_code_is_explained_in_a_few_lines(code):
    told = explain(code)
    assert all((code.meaning, code.why, code.example, code.mend))
    assert code.severity in {"error", "warning", "notice"}
    assert code.code in told
    assert code.mend in told
    assert is_non_conformance(code.code) <= (code.severity == "error")


def test_codes_that_a_tool_may_mend_exist():
    assert set(CODES) >= FIXABLE
