"""A check that remembers says what a check says that does not."""

from __future__ import annotations

import json
import random
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from helpers import SHARED, make_repository
from knowrepo.concepts.checking import validate
from knowrepo.concepts.checking.kept_pages import KeptPages, _as_json, _page
from knowrepo.concepts.checking.page import Scope, read_page
from knowrepo.concepts.checking.tree import ListedTree
from knowrepo.concepts.facts import Facts

NOW = datetime(2026, 6, 1, tzinfo=UTC)
SCOPE = Scope("concepts", NOW)
FRONT = [
    "type: X", "title: A title", "title: Another", "status: deprecated", "status: [a]",
    "superseded_by: b.md", "superseded_by: gone.md", "stale_after: 2026-05-01T00:00:00Z",
    "sources: &s [{resource: gone/x.md, id: n}, {resource: b.md}, text]", "resource: a.md",
    "type: Attested Computation", "executor: {resource: x/gone.py}", "computation: sub/gone.sql",
    "generated: {by: a, at: 2027-01-01T00:00:00Z}", "tags: a", "? [a, b]\n: c", "1: 2", "a: b: c",
    "aliases: *s", "attester: &a {resource: /gone.md, more: *s}",
]  # fmt: skip
BODY = [
    "[b](b.md)", "[gone](gone.md)", "[h](b.md#part)", "# Part", "[[wiki]]", "[^n]", "<a id=part>",
    "[i](index.md)", "* [s](sub/c.md)", "# Citations", "```\n[x](y.md)\n```", "[self](#nowhere)",
]  # fmt: skip
NAMES = ["a.md", "b.md", "sub/c.md", "index.md", "log.md", "README.md", "A.md"]


def document(front: list[str], body: list[str]) -> bytes:
    return "\n".join(["---", *front, "---", "", *body, ""]).encode()


DOCUMENTS = st.builds(
    document, st.lists(st.sampled_from(FRONT), max_size=5), st.lists(st.sampled_from(BODY))
)


@pytest.fixture
def repo(tmp_path):
    return make_repository(tmp_path / "repo")


@given(st.sampled_from(NAMES), DOCUMENTS | st.binary(max_size=60))
def test_a_page_is_the_same_after_it_was_kept(name, data):
    page = read_page(f"concepts/{name}", data, SCOPE)
    assert _page(page.path, json.loads(json.dumps(_as_json(page, NOW))), NOW) == page


def test_the_pages_of_real_bundles_are_the_same_after_they_were_kept():
    for path in sorted((SHARED / "okf" / "bundles").rglob("*.md")):
        page = read_page(f"concepts/{path.name}", path.read_bytes(), SCOPE)
        assert _page(page.path, json.loads(json.dumps(_as_json(page, NOW))), NOW) == page


def test_over_random_edits_what_is_remembered_hides_nothing(repo):
    chance = random.Random(11)
    files: dict[str, bytes] = {}
    now = NOW
    for _ in range(150):
        path = f"concepts/{chance.choice(NAMES)}"
        if chance.random() < 0.2:
            files.pop(path, None)
        else:
            front = chance.sample(FRONT, chance.randrange(5))
            files[path] = document(front, chance.choices(BODY, k=chance.randrange(5)))
        now += timedelta(days=chance.choice([-40, 0, 1, 30]))
        tree, strict = ListedTree(files, files.get), chance.random() < 0.3
        with Facts(repo, "pages") as facts:
            told = validate.check(files, tree, now=now, strict_spec=strict, facts=facts)
        assert told == validate.check(files, tree, now=now, strict_spec=strict)


def test_a_file_that_did_not_change_is_not_parsed_again(repo, monkeypatch):
    files = {f"concepts/{name}": document(["type: X"], []) for name in ("a.md", "b.md")}
    tree = ListedTree(files, files.get)
    with Facts(repo, "pages") as facts:
        validate.check(files, tree, facts=facts)
    files["concepts/b.md"] = document(["type: Y"], [])
    read = []
    monkeypatch.setattr(
        validate, "read_page", lambda path, *given: read.append(path) or read_page(path, *given)
    )
    with Facts(repo, "pages") as facts:
        validate.check(files, tree, facts=facts)
    assert read == ["concepts/b.md"]


def test_a_date_that_lies_ahead_is_looked_at_again(repo):
    data = document(["type: X", "generated: {by: a, at: 2026-07-01T00:00:00Z}"], [])
    page = read_page("concepts/a.md", data, SCOPE)
    with Facts(repo, "pages") as facts:
        KeptPages(facts, SCOPE).put(page, data)
        assert KeptPages(facts, SCOPE).get(page.path, data) is None
    later = Scope("concepts", NOW + timedelta(days=60))
    page = read_page("concepts/a.md", data, later)
    with Facts(repo, "pages") as facts:
        KeptPages(facts, later).put(page, data)
    with Facts(repo, "pages") as facts:
        assert KeptPages(facts, later).get(page.path, data) == page
        assert KeptPages(facts, SCOPE).get(page.path, data) is None  # the clock was set back


@pytest.mark.parametrize(
    "damage", ["", "{", '"text"', "[1]", str([0] * 9), '{"a": 1}', "[" * 100_000]
)
def test_a_damaged_page_is_read_from_its_file(repo, damage):
    files = {"concepts/a.md": document([], ["[gone](gone.md)"])}
    tree = ListedTree(files, files.get)
    with Facts(repo, "pages") as facts:
        wanted = validate.check(files, tree, now=NOW, facts=facts)
    with Facts(repo, "pages") as facts:
        for path, data in files.items():
            facts.put(KeptPages(facts, Scope("concepts", NOW))._key(path, data), damage)
    with Facts(repo, "pages") as facts:
        assert validate.check(files, tree, now=NOW, facts=facts) == wanted
