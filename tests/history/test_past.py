"""Recall of what was known at a revision, and of what came since."""

from __future__ import annotations

import json
import random
import shutil

import pytest

from helpers import (
    SESSION,
    WordEmbedder,
    assistant,
    concept,
    git,
    make_repository,
    transcript,
    user,
    write,
)
from knowrepo.git.layout import repository_at
from knowrepo.history import past
from knowrepo.index.build import refresh
from knowrepo.index.catalog import Catalog
from knowrepo.index.fill import embed, pending_texts
from knowrepo.index.vectors import VectorStore
from knowrepo.recall import route
from knowrepo.recall.then import Then
from knowrepo.sessions.archive import archive


def paths(result) -> list[str]:
    return [hit["path"] for hit in json.loads(result.out)["hits"]]


@pytest.fixture
def two(repository, at) -> tuple[str, str]:
    """Two commits: in the first the store is SQLite, in the second DuckDB."""
    write(repository, "concepts/store.md", concept("The store is SQLite", tags=["storage"]))
    write(repository, "concepts/gone.md", concept("Kangaroos", body="They jump far."))
    first = at("2026-05-01", "first")
    write(repository, "concepts/store.md", concept("The store is DuckDB", tags=["storage"]))
    write(repository, "concepts/late.md", concept("Wombats", body="They dig."))
    (repository.root / "concepts/gone.md").unlink()
    return first, at("2026-06-01", "second")


@pytest.mark.parametrize("indexed", [True, False])
def test_it_answers_what_was_known_then_with_a_catalog_and_without_one(
    know, repository, two, indexed
):
    if indexed:
        refresh(repository)
    then = know("recall", "--at", "HEAD~1", "--json", "tag:storage")
    assert json.loads(then.out)["hits"][0]["title"] == "The store is SQLite"
    assert json.loads(then.out)["revision"] == two[0]
    assert f"as of {two[0][:10]}, 2026-05-01: first" in then.err
    assert paths(know("recall", "--at", "HEAD~1", "--json", "jump")) == ["concepts/gone.md"]
    assert paths(know("recall", "--at", "HEAD~1", "--json", "dig wombats")) == []
    assert paths(know("recall", "--json", "jump")) == []
    now = know("recall", "--json", "tag:storage")
    assert json.loads(now.out)["hits"][0]["title"] == "The store is DuckDB"
    assert "revision" not in json.loads(now.out)


def test_an_answer_of_head_is_that_of_the_present(know, repository, two):
    for query in ("tag:storage", "dig", "wombats", "type:Decision"):
        now, then = know("recall", "--json", query), know("recall", "--at=HEAD", "--json", query)
        assert json.loads(now.out)["hits"] == json.loads(then.out)["hits"]


def test_bodies_and_neighbours_are_those_of_then(know, repository, two):
    found = json.loads(know("recall", "--at", "HEAD~1", "--json", "jump").out)["hits"][0]
    assert "jump far" in know("recall", "--at", "HEAD~1", "--get", found["id"]).out
    assert "gone" in know("recall", "--at", "HEAD~1", "--timeline", found["id"]).out
    assert know("recall", "--get", found["id"]).code == 1
    assert "jump far" in know("recall", "--at", "HEAD~1", "--full", "jump").out
    assert len(paths(know("recall", "--at", "HEAD~1", "-k", "1", "--json", "type:Decision"))) == 1


def test_nothing_is_written_into_the_work_tree_nor_changed_in_the_catalog(know, repository, two):
    refresh(repository)
    write(repository, "concepts/store.md", concept("Half written"), stage=False)
    before = git(repository.root, "status", "--porcelain"), know("recall", "--json", "jump").out
    assert know("recall", "--at", "HEAD~1", "jump").code == 0
    assert git(repository.root, "status", "--porcelain") == before[0]
    assert paths(know("recall", "--json", "jump")) == []


def test_since_a_revision_only_what_is_new_or_changed_is_found(know, repository, two):
    found = paths(know("recall", "--since-rev", "HEAD~1", "--json", "type:Decision"))
    assert sorted(found) == ["concepts/late.md", "concepts/store.md"]
    assert paths(know("recall", "--since-rev", "HEAD", "--json", "type:Decision")) == []
    assert paths(know("recall", "--since-rev", "HEAD", "--json", "dig")) == []
    assert paths(know("recall", "--since-rev", "HEAD~1", "--json", "dig")) == ["concepts/late.md"]
    write(repository, "concepts/new.md", concept("Koalas"))
    assert paths(know("recall", "--since-rev", "HEAD", "--json", "koalas")) == ["concepts/new.md"]
    assert (
        len(paths(know("recall", "--since-rev", "HEAD~1", "--json"))) == 3
    )  # no query: the newest
    assert know("recall", "--since-rev", "HEAD", "--get", "a3f2").code == 2


def test_both_together_give_what_came_in_between(know, repository, two, at):
    write(repository, "concepts/later.md", concept("Echidnas"))
    at("2026-07-01")
    found = paths(
        know("recall", "--at", "HEAD~1", "--since-rev", "HEAD~2", "--json", "type:Decision")
    )
    assert sorted(found) == ["concepts/late.md", "concepts/store.md"]


def test_queries_from_a_pipe_are_asked_of_one_state(know, repository, two, monkeypatch):
    import io
    import sys

    made = []
    original = past.known_at
    monkeypatch.setattr(past, "known_at", lambda *a, **k: made.append(1) or original(*a, **k))
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"jump\nkangaroos\n")))
    result = know("recall", "--at", "HEAD~1", "--json", "-")
    assert [json.loads(line)["hits"][0]["path"] for line in result.out.splitlines()] == [
        "concepts/gone.md"
    ] * 2
    assert made == [1]


def test_what_is_no_revision_is_one_line(know, repository, two):
    for word in ("nowhere", "--all", "-x", "HEAD~9"):
        result = know("recall", "--at", word, "store")
        assert result.code == 1
        assert f"know: {word}: no revision of this repository" in result.err
        assert know("recall", f"--since-rev={word}", "store").code == 1


def test_an_empty_repository_has_nothing_to_look_back_on(know, repository):
    result = know("recall", "--at", "HEAD", "store")
    assert result.code == 1
    assert "HEAD: no commit yet" in result.err


def test_sessions_are_as_they_stood(know, repository, at, tmp_path):
    grown = [user("which marsupial digs", 1), assistant("The wombat.", 2)]
    list(archive(repository, [transcript(tmp_path / "one", grown)]))
    at("2026-05-01")
    grown += [user("and which one glides", 3), assistant("The sugar glider.", 4)]
    list(archive(repository, [transcript(tmp_path / "two", grown)]))
    at("2026-06-01")
    refresh(repository)
    path = f"sessions/claude/{SESSION}.jsonl"
    assert paths(know("recall", "--json", "glides")) == [path]
    assert paths(know("recall", "--at", "HEAD", "--json", "glides")) == [path]
    assert paths(know("recall", "--at", "HEAD~1", "--json", "glides")) == []
    assert paths(know("recall", "--at", "HEAD~1", "--json", "which marsupial digs")) == [path]
    assert paths(know("recall", "--at=HEAD~1", "--kind=concept", "--json", "marsupial digs")) == []
    found = know("recall", "--since-rev", "HEAD~1", "--json", "marsupial digs")
    assert set(paths(found)) == {path}
    assert paths(know("recall", "--since-rev", "HEAD", "--json", "marsupial digs")) == []


def test_a_session_that_was_forgotten_since_stays_forgotten(know, repository, at, tmp_path):
    list(archive(repository, [transcript(tmp_path / "one", [user("a marsupial", 1)])]))
    at("2026-05-01")
    assert know("forget", "--yes", SESSION).code == 0
    at("2026-06-01")
    assert paths(know("recall", "--at", "HEAD~1", "--json", "marsupial")) == []


def test_sessions_beyond_the_bound_are_said_not_to_be_looked_at(
    know, repository, at, tmp_path, monkeypatch
):
    list(archive(repository, [transcript(tmp_path / "one", [user("a marsupial", 1)])]))
    at("2026-05-01")
    shutil.rmtree(repository.sessions)
    at("2026-06-01")
    monkeypatch.setattr(past, "SESSION_BYTES", 10)
    result = know("recall", "--at", "HEAD~1", "--json", "marsupial")
    assert paths(result) == []
    assert any("1 session not looked at" in note for note in json.loads(result.out)["notes"])


def test_a_partial_clone_says_what_it_lacks_and_fetches_nothing(repository, two, tmp_path, know):
    git(repository.root, "config", "uploadpack.allowFilter", "true")
    git(tmp_path, "clone", "-q", "--filter=blob:none", f"file://{repository.root}", "partial")
    clone = repository_at(tmp_path / "partial")
    before = git(clone.root, "count-objects", "-v")
    result = know("recall", "--at", "HEAD~1", "--repo", str(clone.root), "--json", "type:Decision")
    notes = json.loads(result.out)["notes"]
    assert any("2 concepts of then: this partial clone lacks the content" in note for note in notes)
    assert git(clone.root, "count-objects", "-v") == before


def test_a_concept_without_a_date_has_that_of_its_last_commit_then(know, repository, at):
    write(repository, "concepts/a.md", concept("Wombats"))
    at("2026-05-01")
    write(repository, "concepts/a.md", concept("Wombats dig"))
    at("2026-06-01")
    then = json.loads(know("recall", "--at", "HEAD~1", "--json", "wombats").out)["hits"][0]
    assert then["date"].startswith("2026-05-01")


def test_knowledge_in_a_folder_of_a_repository_is_that_folders(tmp_path, know, monkeypatch):
    outer = make_repository(tmp_path / "outer")
    inner = outer.root / "knowledge"
    (inner / "concepts").mkdir(parents=True)
    (inner / "know.toml").write_text("")
    here = repository_at(inner)
    write(outer, "concepts/outer.md", concept("Outer wombats"))
    write(here, "concepts/inner.md", concept("Inner wombats"))
    git(outer.root, "commit", "-qm", "both")
    write(here, "concepts/inner.md", concept("Koalas"))
    git(outer.root, "commit", "-qm", "one")
    found = know("recall", "--repo", str(inner), "--at", "HEAD~1", "--json", "wombats")
    assert paths(found) == ["concepts/inner.md"]


def test_it_leaves_no_line_in_the_log(know, repository, two):
    know("recall", "--at", "HEAD~1", "jump")
    assert not (repository.logs / "recall.jsonl").exists()


def test_meaning_counts_where_vectors_of_the_texts_of_then_are_there(repository, two):
    embedder = WordEmbedder()
    store = VectorStore(repository.vectors, embedder.fingerprint)
    git(repository.root, "checkout", "-q", "HEAD~1")
    refresh(repository)
    with Catalog.open(repository.catalog) as catalog:
        embed(pending_texts(catalog, store), store, embedder)
    git(repository.root, "checkout", "-q", "main")
    then = Then(repository, "HEAD~1")
    query = "which of them jump far over there"
    asked = {"embedder": embedder, "opener": then.opener}
    answer = then.told(route.recall(repository, query, **asked))
    assert (answer.route, answer.pending) == ("hybrid", 0)
    assert answer.hits[0].path == "concepts/gone.md"
    then.close()
    now = Then(repository, "HEAD")
    asked = {"embedder": embedder, "opener": now.opener}
    answer = now.told(route.recall(repository, query, **asked))
    assert answer.pending == 0
    assert answer.notes == ["2 texts of then have no vector; words speak for them"]
    assert "concepts/gone.md" not in {hit.path for hit in answer.hits}
    now.close()


@pytest.mark.parametrize("seed", range(4))
def test_any_revision_answers_as_a_catalog_made_of_it_alone(repository, at, tmp_path, seed):
    choose = random.Random(seed)
    words = "wombat koala echidna numbat quoll bilby".split()
    for day in range(1, 8):
        for _ in range(3):
            path = f"concepts/{choose.choice('abcdef')}.md"
            if choose.random() < 0.3 and (repository.root / path).exists():
                (repository.root / path).unlink()
            else:
                title, tag, told = (choose.choice(words) for _ in range(3))
                write(repository, path, concept(title, tags=[tag], body=told), stage=False)
        write(repository, "concepts/day.md", concept(f"Day {day}"), stage=False)
        at(f"2026-05-0{day}")
    refresh(repository)
    for back in (0, 2, 5):
        git(tmp_path, "clone", "-q", str(repository.root), f"clone{back}")
        alone = repository_at(tmp_path / f"clone{back}")
        git(alone.root, "reset", "-q", "--hard", f"HEAD~{back}")
        then = Then(repository, f"HEAD~{back}")
        for query in [*words, *(f"tag:{word}" for word in words), "type:Decision"]:
            past_hits = route.recall(repository, query, limit=50, opener=then.opener).hits
            own_hits = route.recall(alone, query, limit=50).hits
            assert {(hit.uid, hit.title) for hit in past_hits} == {
                (hit.uid, hit.title) for hit in own_hits
            }, query
        then.close()
