"""Lifting OKF v0.1 to v0.2: nothing invented, nothing lost, nothing done twice."""

from __future__ import annotations

import re

import pytest

from helpers import SHARED
from knowrepo.concepts.document import parse
from knowrepo.concepts.editing.migrate import lift

BUNDLES = SHARED / "okf" / "bundles"


def lifted(text: str, path: str = "concepts/a.md") -> tuple[str, int, str]:
    """Return the new text, how much was done, and what was left; hold it to its second run."""
    first = lift(path, text.encode())
    second = lift(path, first.data)
    assert (second.data, second.done, second.left) == (first.data, (), first.left)
    crlf = lift(path, text.replace("\n", "\r\n").encode()).data.decode()
    assert crlf == first.data.decode().replace("\n", "\r\n")
    return first.data.decode(), len(first.done), "; ".join(first.left)


def front(block: str, body: str = "\nbody\n") -> str:
    return f"---\ntype: A\n{block}\n---\n{body}"


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (
            "timestamp: 2026-05-28T22:53:05+02:00 # c\nx: y",
            'generated: { by: "process:unknown", at: "2026-05-28T22:53:05+02:00" } # c\nx: y',
        ),
        (
            "timestamp: '2026-05-28'",
            'generated: { by: "process:unknown", at: "2026-05-28T00:00:00Z" }',
        ),
        (
            "timestamp: 2026-05-28 10:00:00 z",
            'generated: { by: "process:unknown", at: "2026-05-28T10:00:00Z" }',
        ),
        (
            "timestamp: 2026-05-28\ngenerated: {by: tool/1}",
            'generated: {by: tool/1, at: "2026-05-28T00:00:00Z"}',
        ),
        (
            "generated: {by: human:jane, at: 2026-05-28T00:00:00Z}\ntimestamp: 2026-05-28",
            "generated: {by: human:jane, at: 2026-05-28T00:00:00Z}",
        ),
        (
            "generated:\n  by: a/1\n  at: 2026-05-28 # c\nstale_after: '2026-06-01'",
            "generated:\n  by: a/1\n  at: 2026-05-28T00:00:00Z # c\n"
            "stale_after: '2026-06-01T00:00:00Z'",
        ),
        (
            "verified:\n  - {by: a/1, at: 2026-05-28}\nsources: [{resource: x, last_modified: "
            "2026-01-02}]",
            "verified:\n  - {by: a/1, at: 2026-05-28T00:00:00Z}\nsources: [{resource: x, "
            "last_modified: 2026-01-02T00:00:00Z}]",
        ),
    ],
)
def test_times_are_lifted_to_instants_in_their_place(before, after):
    text, done, left = lifted(front(before))
    assert text == front(after)
    assert done
    assert not left


@pytest.mark.parametrize(
    ("block", "reason"),
    [
        ("timestamp: <ISO 8601>", "is no time"),
        ("timestamp: 2026-13-41", "is no time"),
        ("timestamp: [2026-01-01]", "is no time"),
        ("timestamp:", "is no time"),
        ("timestamp: 2026-05-28\ngenerated: yesterday", "no mapping"),
        ("timestamp: 2026-05-28\ngenerated: {by: a/1, at: 2026-05-29T00:00:00Z}", "differ"),
        ("generated: {by: a/1, at: 2026-05-29T10:00:00}", "no offset"),
        ("usage_window: {from: 2026-01-01T00:00:00Z, to: 2026-02-01}", "cut that day off"),
        ("x: &t 2026-05-28\ntimestamp: *t", "alias"),
        ("x: y: z\ntimestamp: 2026-05-28", "not YAML"),
    ],
)
def test_what_would_be_a_guess_is_left_and_said(block, reason):
    text, done, left = lifted(front(block))
    assert (text, done) == (front(block), 0)
    assert reason in left


def test_a_time_without_offset_is_moved_and_said():
    text, done, left = lifted(front("timestamp: 2026-05-28T10:00:00"))
    assert parse(text.encode()).front["generated"]["at"] == "2026-05-28T10:00:00"
    assert done == 1
    assert "no offset" in left


def test_no_person_is_ever_named():
    for path in sorted(BUNDLES.rglob("*.md")) if BUNDLES.is_dir() else ():
        before, after = path.read_bytes(), lift("concepts/x.md", path.read_bytes()).data
        assert after.count(b"human:") == before.count(b"human:"), path


def test_citations_become_sources_and_what_refers_to_them_footnotes():
    text, done, left = lifted(
        front(
            "tags: [x] # c",
            "\n# Why\n\nOne [1], two[^2]. `[1]` and [1](u) stay, so does [9].\n\n```\n[2]\n```\n\n"
            "# Citations\n\n[1] [The Handbook](https://example.org/handbook)\n"
            "[2] <https://example.org/a/rules.html>\n[3] [Third](../x/third.md), a draft\n\n"
            "# Next\n\nmore [2]\n",
        )
    )
    assert (done, left) == (1, "")
    assert text == (
        "---\ntype: A\ntags: [x] # c\nsources:\n"
        '  - id: the-handbook\n    resource: "https://example.org/handbook"\n'
        "    title: The Handbook\n"
        '  - id: rules\n    resource: "https://example.org/a/rules.html"\n'
        '  - id: third-a-draft\n    resource: "../x/third.md"\n    title: "Third, a draft"\n'
        "---\n\n# Why\n\nOne [^the-handbook], two[^rules]. `[1]` and [1](u) stay, so does [9].\n\n"
        "```\n[2]\n```\n\n"
        "[^the-handbook]: The Handbook\n[^rules]: https://example.org/a/rules.html\n\n"
        "# Next\n\nmore [^rules]\n"
    )


@pytest.mark.parametrize(
    ("list_", "sources"),
    [
        ("- https://example.org/", [("example-org", "https://example.org/", None)]),
        ("1. Title: https://example.org/x", [("title", "https://example.org/x", "Title")]),
        ("* [A](https://example.org/a_(b))", [("a", "https://example.org/a_(b)", "A")]),
        ("- /tables/orders.md", [("orders", "/tables/orders.md", None)]),
        (
            "- https://a.example/x\n- https://b.example/x",
            [("x", "https://a.example/x", None), ("x-2", "https://b.example/x", None)],
        ),
        ("- [A long\n  title](x.md)", [("a-long-title", "x.md", "A long title")]),
    ],
)
def test_a_list_of_any_form_is_read(list_, sources):
    text, _, left = lifted(front("x: y", f"\nb\n\n## Citations\n\n{list_}\n"))
    assert not left
    found = parse(text.encode()).front["sources"]
    assert [(s["id"], s["resource"], s.get("title")) for s in found] == sources
    assert text.endswith("---\n\nb\n")


def test_sources_that_are_there_are_added_to_and_not_doubled():
    text, _, left = lifted(
        front(
            "sources:\n  - resource: https://example.org/a\n  - id: own\n    resource: b.md",
            "\nx[1] y[2] z[3]\n\n# Citations\n\n[1] https://example.org/a\n[2] b.md\n[3] c.md\n",
        )
    )
    assert not left
    assert text == front(
        "sources:\n  - resource: https://example.org/a\n    id: a\n  - id: own\n"
        '    resource: b.md\n  - id: c\n    resource: "c.md"',
        "\nx[^a] y[^own] z[^c]\n\n[^a]: https://example.org/a\n[^own]: b.md\n[^c]: c.md\n",
    )


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        ("# Citations\n\nAs they say in the book.\n", "more than a list"),
        ("# Citations\n\n- The book\n", "no link and no path"),
        ("# Citations\n\n- [a](b.md) and [c](d.md)\n", "more than one link"),
        ("# Citations\n\n", "empty"),
        ("# Citations\n\n- a.md\n\n## More\n\n- b.md\n", "headings below it"),
        ("# Citations\n\n- a.md\n\n# Citations\n\n- b.md\n", "twice"),
        ("Citations\n=====\n\n- a.md\n", "underlined"),
        ("# Citations\n\n[1]: https://example.org\n", "more than a list"),
        ("x[^1]\n\n[^1]: note\n\n# Citations\n\n1. a.md\n", "defined elsewhere"),
    ],
)
def test_citations_that_are_no_plain_list_are_left_whole(body, reason):
    text, done, left = lifted(front("x: y", f"\n{body}"))
    assert (text, done) == (front("x: y", f"\n{body}"), 0)
    assert reason in left


def test_citations_in_code_are_none():
    body = "\n```\n# Citations\n\n- a.md\n```\n"
    assert lifted(front("x: y", body)) == (front("x: y", body), 0, "")


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("# A\n\n* [a](a.md)\n", '---\nokf_version: "0.2"\n---\n\n# A\n\n* [a](a.md)\n'),
        ("---\nokf_version: '0.1' # c\n---\n# A\n", "---\nokf_version: '0.2' # c\n---\n# A\n"),
        ("---\nokf_version: 0.2\n---\n# A\n", '---\nokf_version: "0.2"\n---\n# A\n'),
    ],
)
def test_the_root_index_says_the_version(before, after):
    assert lifted(before, "concepts/index.md") == (after, 1, "")
    assert lifted(before, "concepts/x/index.md") == (before, 0, "")


def test_a_version_that_is_not_known_and_a_generated_index_are_left():
    assert "1.0" in lifted("---\nokf_version: 1.0\n---\n# A\n", "concepts/index.md")[2]
    text = "<!-- Generated by `know tags build`; edits are lost. -->\n\n# A\n"
    assert lifted(text, "concepts/index.md") == (text, 0, "")


@pytest.mark.skipif(not BUNDLES.is_dir(), reason="the shared data is not laid out")
def test_real_bundles_are_lifted_whole_and_nothing_else_in_them_changes():
    changed = 0
    for path in sorted(BUNDLES.rglob("*.md")):
        name = "concepts/" + "/".join(path.relative_to(BUNDLES).parts[1:])
        before = path.read_bytes()
        done = lift(name, before)
        again = lift(name, done.data)
        assert (again.data, again.done, again.left) == (done.data, (), done.left)
        old, new = parse(before), parse(done.data)
        assert not any(problem not in old.problems for problem in new.problems), path
        changed += done.data != before
        if path.name == "index.md":
            continue
        lost = set(before.split(b"\n")) - set(done.data.split(b"\n"))
        cited = before.partition(b"\n# Citations")[2].split(b"\n")
        for line in lost:
            assert line in cited or re.match(
                rb"timestamp: |# Citations|\s*(?:- )?(?:at|last_modified): |generated: \{|"
                rb"  - .*at: ", line
            ), (path, line)  # fmt: skip
        assert "timestamp" not in new.front or done.left, path
        kept = {k: v for k, v in old.front.items() if k not in ("timestamp", "generated")}
        assert (
            {k: v for k, v in new.front.items() if k in kept and k != "sources"}
            == {k: v for k, v in kept.items() if k != "sources"}
            or "verified" in kept
            or "stale_after" in kept
        ), path
    assert changed > 150
