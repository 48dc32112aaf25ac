"""Shortcuts of the check before a commit: what is not looked at would have said nothing."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from knowrepo.concepts.checking.page import Scope, read_beside, read_page
from knowrepo.concepts.checking.rules import names
from knowrepo.concepts.checking.rules.whole import is_deprecated
from knowrepo.concepts.checking.tree import ListedTree

SCOPE = Scope("concepts", datetime(2026, 6, 1, tzinfo=UTC))
STATUS = [
    "status: deprecated", "status:  DEPRECATED ", "'status': 'deprecated'", "status: stable",
    'status: "\\x64eprecated"', '"st\\x61tus": "deprecat\\\n  ed"', "status: >-\n  deprecated",
    "a: &a deprecated\nstatus: *a", '"superseded\\x5fby": b.md', "superseded_by: b.md",
    "? superseded_by\n: b.md", "title: x", "type: X", "type: [", "tags: [deprecated]", "not a line",
]  # fmt: skip


@given(
    st.sampled_from(["a.md", "README.md", "index.md", "log.md"]),
    st.lists(st.sampled_from(STATUS), max_size=3),
    st.sampled_from(["---\n", "", "\ufeff---\n"]),
)
def test_a_page_beside_says_of_itself_what_it_would_if_all_was_read(name, front, opening):
    path = f"concepts/{name}"
    data = "".join([opening, *(f"{line}\n" for line in front), "---\n# One\n"]).encode()
    beside, whole = read_beside(path, data, SCOPE), read_page(path, data, SCOPE)
    assert (beside.role, beside.whole) == (whole.role, whole.whole)
    assert is_deprecated(beside) == is_deprecated(whole)
    named = [page.document.front.get("superseded_by") for page in (beside, whole)]
    assert named[0] == named[1]
    assert beside.document.body.strip().endswith("# One")


NAMES = st.sampled_from(["a", "A", "\u00e4", "a\u0308", "\u00c4", "b"])
PATHS = st.lists(
    st.lists(NAMES, min_size=1, max_size=3)
    .map("/".join)
    .map(lambda folder: f"concepts/{folder}.md"),
    max_size=8, unique=True,
)  # fmt: skip


@given(PATHS)
def test_names_folded_as_one_text_collide_where_they_do_one_by_one(paths):
    quick = list(names.collisions(paths, paths[:3]))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(names, "_may_collide", lambda _: True)
        assert quick == list(names.collisions(paths, paths[:3]))


@given(PATHS)
def test_a_list_of_files_is_a_tree_of_all_folders_above_them(paths):
    tree = ListedTree(paths, lambda _: None)
    above = {path.rsplit("/", n)[0] for path in paths for n in range(1, path.count("/") + 1)}
    for path in {*paths, *above}:
        assert tree.kind(path) == ("folder" if path in above else "file")
    for folder in {"", *above}:
        start = f"{folder}/" if folder else ""
        wanted = {p[len(start) :].partition("/")[0] for p in paths if p.startswith(start)}
        assert set(tree.names(folder)) == wanted
