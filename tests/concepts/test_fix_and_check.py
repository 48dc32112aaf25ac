"""What the check calls fixable is what a fix mends, and nothing else."""

from __future__ import annotations

import re

import pytest

from helpers import SHARED
from knowrepo.concepts.checking.codes import FIXABLE
from knowrepo.concepts.checking.gather import Selection
from knowrepo.concepts.checking.tree import ListedTree
from knowrepo.concepts.checking.validate import check
from knowrepo.concepts.editing.fix import mend
from knowrepo.concepts.editing.mendable import mendable
from knowrepo.concepts.editing.relink import Names

BUNDLES = SHARED / "okf" / "bundles"


def fixable(files: dict[str, bytes], tree: ListedTree) -> set[tuple[str, str]]:
    return {(one.path, one.code) for one in check(files, tree) if one.code in FIXABLE}


def test_each_fixable_code_is_found_mended_and_found_no_more():
    files = {
        "concepts/index.md": b"---\nokf_version: 0.2\n---\n\n# A\n\n* [a](a.md) - d\n",
        "concepts/a.md": (
            "\ufeff---\ntype: A\ntype: A\ntitle: B: c\ntags: a, b\nstatus: Draft\n"
            "verified: {by: 'Human:jane', at: 2026-01-01T00:00:00Z}\n---\n\n"
            "[l](B.md) [l](b) [l](c%2520d.md)\n"
        ).encode(),
        "concepts/b.md": b"---\ntype: A\n---\n",
        "concepts/c d.md": b"---\ntype: A\n---\n",
    }
    tree = ListedTree(files, files.get)
    assert {code for _, code in fixable(files, tree)} == FIXABLE
    names = Names(tree)
    mended = {path: mend(path, data, names).data for path, data in files.items()}
    assert fixable(mended, tree) == set()


def spoilt(data: bytes) -> bytes:
    data = re.sub(rb"(?<=\w)\.md(?=[)#])", b".MD", data, count=2)
    data = re.sub(rb"(?m)^status: stable", b"status: Stable", data)
    return b"\xef\xbb\xbf" + re.sub(rb"by: human:", b"by: Human:", data)


@pytest.mark.skipif(not BUNDLES.is_dir(), reason="the shared data is not laid out")
@pytest.mark.parametrize("form", [bytes, spoilt])
def test_in_real_bundles_what_is_fixable_is_mended_and_nothing_else(form):
    for bundle in sorted(BUNDLES.iterdir()):
        paths = [path for path in bundle.rglob("*") if path.is_file()]
        files = {
            f"concepts/{path.relative_to(bundle).as_posix()}": path.read_bytes() for path in paths
        }
        tree = ListedTree(files, files.get)
        names = Names(tree)
        texts = {path: form(data) for path, data in files.items() if path.endswith(".md")}
        before = fixable(texts, tree)
        mended = {path: mend(path, data, names) for path, data in texts.items()}
        told = {(path, fix.code) for path, one in mended.items() for fix in one.fixes}
        assert told == before, bundle.name
        assert fixable({path: one.data for path, one in mended.items()}, tree) == set(), bundle.name


@pytest.mark.parametrize(
    "text",
    [
        "---\ntype: A\ntitle: [WIP] tea\n---\n",
        "---\ntype: A\nd: a: b\n  c: d\n---\n",
        "---\ntype: A\nstatus: &s Draft\nx: *s\n---\n",
        "---\ntype: A\nx: y\nx: z\n---\n",
        "---\ntype: A\n---\n\n[l](TEA.md)\n",
        "---\ntype: A\n---\n\n> [r]:\n> B.md\n\n[r]\n",
    ],
)
def test_what_a_fix_leaves_is_not_called_fixable(text):
    files = {
        "concepts/a.md": text.encode(),
        "concepts/b.md": b"---\ntype: A\nstatus: Draft\n---\n",
        "concepts/Tea.md": b"---\ntype: A\n---\n",
        "concepts/tea.md": b"---\ntype: A\n---\n",
    }
    tree = ListedTree(files, files.get)
    checked = Selection(files, tree, "concepts", whole=True)
    found = check(files, tree)
    assert any(one.path == "concepts/a.md" and one.code in FIXABLE for one in found)
    assert {(one.path, one.code) for one in mendable(found, checked)} == {
        ("concepts/b.md", "OKF272")
    }
