"""A file beyond all reason is named, not looked through, and never said not to conform."""

from __future__ import annotations

import pytest

from knowrepo.concepts import markdown
from knowrepo.concepts.checking import page, validate
from knowrepo.concepts.checking.findings import Finding
from knowrepo.concepts.checking.tree import ListedTree

HEAD = (
    b"---\ntype: X\ntitle: t\ndescription: d\nsources:\n- {id: a, resource: 'https://x.y'}\n---\n"
)
LINKS = b"[a](gone.md) [^x]\n\n" * 60_000


def check(files: dict[str, bytes]) -> list[Finding]:
    return validate.check(files, ListedTree(files, files.get), whole_bundle=False)


@pytest.mark.parametrize("name", ["a.md", "index.md", "log.md", "sub/index.md", "README.md"])
@pytest.mark.parametrize(
    "data",
    [HEAD + LINKS, LINKS, b"---\ntype: X\nlong: |\n" + b"  text\n" * 200_000 + b"---\n",
     HEAD + b"<<<<<<< a\n=======\n>>>>>>> b\n" * 50_000, b"---\n" + LINKS],
    ids=["body", "no front", "front", "conflict", "no end"],
)  # fmt: skip
def test_size_alone_is_a_warning(name, data, monkeypatch):
    monkeypatch.setattr(markdown, "outline", None)
    monkeypatch.setattr(page, "outline", None)
    found = check({f"concepts/{name}": data})
    assert [f.severity for f in found if f.code == "OKF298"] == ["warning"]
    lacks = {"OKF101"} if data == LINKS and name == "a.md" else set()  # whatever its size
    assert {f.code for f in found if f.severity == "error"} == lacks
    assert {f.code for f in found} <= {"OKF298", "OKF220", *lacks}


def test_what_its_front_matter_says_is_still_checked():
    found = check({"concepts/a.md": HEAD.replace(b"type: X", b"type: ''") + LINKS})
    assert [f.code for f in found] == ["OKF298", "OKF105"]


def test_a_heading_in_it_is_not_missed():
    files = {"concepts/a.md": HEAD + LINKS, "concepts/b.md": HEAD + b"[a](a.md#anywhere)\n"}
    assert "OKF234" not in {f.code for f in check(files)}
    tree = ListedTree(files, files.get)
    some = {"concepts/b.md": files["concepts/b.md"]}
    assert "OKF234" not in {f.code for f in validate.check(some, tree, whole_bundle=False)}


def test_headings_of_files_beside_those_that_are_checked_are_known():
    beside = HEAD + b"# Part\n"
    files = {"concepts/a.md": HEAD + b"[p](b.md#part) [q](b.md#other)\n", "concepts/b.md": beside}
    some = {"concepts/a.md": files["concepts/a.md"]}
    found = validate.check(some, ListedTree(files, files.get), whole_bundle=False)
    assert [(f.code, f.column) for f in found if f.code == "OKF234"] == [("OKF234", 20)]
