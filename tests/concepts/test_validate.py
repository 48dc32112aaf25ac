from __future__ import annotations

from helpers import concept
from knowrepo.concepts.checking.validate import Finding, check

ADVICE = {"OKF275", "OKF276", "OKF277"}  # titles and descriptions, which are not what is tested


def findings(files: dict[str, str], *, also: set[str] = frozenset()) -> list[Finding]:
    contents = {f"concepts/{path}": text.encode() for path, text in files.items()}
    there = set(contents) | also | {"concepts", "concepts/sub"}
    found = check(contents, lambda path: path in there)
    return [finding for finding in found if finding.code not in ADVICE]


def codes(files: dict[str, str]) -> list[str]:
    return [finding.code for finding in findings(files)]


def test_a_concept_with_a_type_alone_conforms():
    assert codes({"a.md": "---\ntype: Anything At All\n---\n"}) == []


def test_a_type_that_is_missing_or_empty_is_an_error_with_its_place():
    found = findings({"a.md": "---\ntitle: x\n---\n", "b.md": "---\ntitle: x\ntype: ''\n---\n"})
    assert [(f.code, f.path, f.line) for f in found] == [
        ("OKF105", "concepts/a.md", 1),
        ("OKF105", "concepts/b.md", 3),
    ]
    assert {f.severity for f in found} == {"error"}


def test_what_the_spec_tolerates_is_no_error():
    files = {
        "a.md": "---\ntype: X\nunknown: {deep: [1]}\n---\n[gone](nowhere.md)\n",
        "deep/b.md": "---\ntype: X\ntimestamp: 2025-01-01\ntags: a, b\n---\n",
    }
    found = findings(files)
    assert {f.code for f in found} == {"OKF201", "OKF204", "OKF205"}
    assert all(f.severity != "error" for f in found)


def test_links_are_resolved_as_readers_do():
    body = (
        "[a](/b.md) [b](b.md#part) [c](<with space.md>) [d](with%20space.md) [e](sub/) [f](b)"
        " [g](https://example.org/x.md) [h](mailto:a@b.c) [i](#part-of-it) [j](//host/x)\n"
    )
    b = concept(body="# Part\n\n[a](a.md)\n")
    files = {
        "a.md": concept(body=f"## Part of it\n\n{body}"),
        "b.md": b,
        "with space.md": concept(),
    }
    assert codes(files) == ["OKF233"]


def test_a_link_in_code_is_no_link():
    assert codes({"a.md": concept(body="`[x](gone.md)`\n\n```\n[y](gone.md)\n```\n")}) == []


def test_a_link_that_leads_nowhere_has_its_line():
    (found,) = findings({"a.md": concept(body="one\n\ntwo\n[x](gone.md)")})
    assert (found.code, found.line) == ("OKF201", 10)


def test_a_link_out_of_the_repository_is_pointed_at():
    assert codes({"a.md": concept(body="[x](../../../etc/passwd)")}) == ["OKF202"]


def test_a_link_out_of_the_bundle_to_a_file_of_the_repository_is_fine():
    files = {"a.md": concept(body="[x](../README.md)")}
    assert findings(files, also={"README.md"}) == []


def test_an_index_has_sections_and_no_front_matter_but_the_version_at_the_root():
    good = '---\nokf_version: "0.2"\n---\n\n# Concepts\n\n* [A](a.md) - text\n'
    a = {"a.md": concept()}
    assert codes({**a, "index.md": good}) == []
    assert codes({**a, "index.md": "# Concepts\n"}) == []
    assert codes({**a, "index.md": good.replace("okf_version", "title")}) == ["OKF111"]
    assert codes({**a, "sub/index.md": good.replace("a.md", "../a.md")}) == ["OKF111"]
    assert codes({"index.md": "no heading\n"}) == ["OKF112"]
    assert codes({"index.md": good.replace("0.2", "9.9").replace("a.md", "#")}) == ["OKF206"]


def test_a_log_has_dates_for_headings():
    assert codes({"log.md": "# Log\n\n## 2026-05-22\n\n**Update** x\n"}) == []
    found = findings({"log.md": "# Log\n\n## 2026-05-22\n\n## Yesterday\n"})
    assert [(f.code, f.line) for f in found] == [("OKF121", 5)]
    assert codes({"log.md": "---\ntype: Log\n---\n# Log\n"}) == ["OKF207"]
