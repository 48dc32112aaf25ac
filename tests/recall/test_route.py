from __future__ import annotations

import json
import random
import shutil
import tempfile
from pathlib import Path

import pytest
from filelock import FileLock
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from helpers import (
    WordEmbedder,
    assistant,
    concept,
    git,
    make_repository,
    transcript,
    unprivileged,
    user,
    write,
)
from knowrepo.concepts import bundle
from knowrepo.errors import KnowError
from knowrepo.git.layout import Repository
from knowrepo.index import build, freshness
from knowrepo.index.build import refresh
from knowrepo.index.catalog import Catalog, Filter
from knowrepo.index.catalog import opening as catalog_opening
from knowrepo.index.chunk import document_id
from knowrepo.index.fill import embed as embed_texts
from knowrepo.index.fill import pending_texts
from knowrepo.index.vectors import VectorStore
from knowrepo.recall import ids, opening, route
from knowrepo.recall.hits import chunk_hit, chunk_hits, document_hit, document_hits
from knowrepo.sessions.archive import archive
from knowrepo.units import shorten


@pytest.fixture
def filled(repository, tmp_path) -> Repository:
    write(repository, "concepts/hooks.md", concept("Hooks never add", tags=["git"], body="body h"))
    write(
        repository,
        "concepts/old.md",
        concept("Old way", tags=["git"], status="deprecated", superseded_by="hooks.md"),
    )
    records = [
        user("why does the indexer lock readers out?", 1),
        assistant("the rollback journal shuts them out during a commit", 2),
        user("what about read-only mounts?", 3),
        assistant("immutable opens them", 4),
        user("thanks", 5),
    ]
    list(archive(repository, [transcript(tmp_path / "in", records)]))
    refresh(repository)
    return repository


def embed(repository: Repository) -> WordEmbedder:
    embedder = WordEmbedder()
    catalog = Catalog.open(repository.catalog)
    assert catalog is not None
    with catalog:
        store = VectorStore(repository.vectors, embedder.fingerprint)
        embed_texts(pending_texts(catalog, store), store, embedder)
    return embedder


def test_the_structured_layer_comes_first(filled):
    answer = route.recall(filled, "tag:git")
    assert answer.route == "structured"
    assert [hit.path for hit in answer.hits] == ["concepts/hooks.md", "concepts/old.md"]
    assert answer.hits[1].marks == ("deprecated", "superseded by hooks")
    assert answer.hits[1].score < answer.hits[0].score


def test_words_are_searched_where_it_does_not_know_and_a_missing_model_is_said(filled):
    answer = route.recall(filled, "rollback journal")
    assert answer.route == "lexical"
    assert answer.hits[0].shown_path == "claude/0f0e0d0c"
    assert answer.hits[0].heading == "why does the indexer lock readers out?"
    assert answer.hits[0].date == "2026-05-01"
    assert "words only" in answer.notes[0]


def test_saying_when_makes_an_answer_no_less_sure(filled):
    plain = route.recall(filled, "rollback journal", words_only=True)
    timed = route.recall(filled, "rollback journal in May 1999", words_only=True)
    assert timed.confidence == plain.confidence
    assert timed.explanation["dates"] == "in May 1999: 1999-05-01 to 1999-05-31"


def test_of_a_pasted_log_the_beginning_is_looked_at_and_all_of_it_is_the_query(filled):
    log = "rollback journal " + "x " * route.MOST_CHARACTERS + "quokkas"
    answer = route.recall(filled, log, words_only=True)
    assert answer.query == log
    assert answer.hits[0].shown_path == "claude/0f0e0d0c"
    assert answer.explanation == route.recall(filled, log[:-7], words_only=True).explanation
    assert not route.recall(filled, "x " * route.MOST_CHARACTERS + "hooks", words_only=True).hits


def test_with_vectors_it_is_hybrid_and_says_what_is_pending(filled, tmp_path):
    embedder = embed(filled)
    answer = route.recall(filled, "rollback journal", embedder=embedder)
    assert (answer.route, answer.pending, answer.notes) == ("hybrid", 0, [])
    write(filled, "concepts/new.md", concept("Brand new", body="fresh words"))
    answer = route.recall(filled, "fresh words", embedder=embedder)
    assert answer.pending == 1
    assert "1 of 6 texts have no vector" in answer.notes[0]
    assert answer.hits[0].path == "concepts/new.md"


def test_filters_hold_in_the_hybrid_layer(filled):
    embedder = embed(filled)
    answer = route.recall(filled, "journal body", only=Filter(kind="concept"), embedder=embedder)
    assert answer.hits
    assert {hit.kind for hit in answer.hits} == {"concept"}


def test_a_query_of_stop_words_lists_the_newest(filled):
    answer = route.recall(filled, "what is it")
    assert answer.route == "newest"
    assert len(answer.hits) == 3


def test_an_id_is_taken_only_where_it_is_said_to_be_one(filled):
    hit = route.recall(filled, "rollback journal").hits[0]
    assert route.recall(filled, f"id:{hit.id}").hits[0].uid == hit.uid
    assert route.recall(filled, hit.id).route != "structured"
    assert route.recall(filled, "id: how are they made").route == "lexical"


def test_bodies_of_a_document_and_of_a_chunk(filled):
    document = route.recall(filled, "tag:git", full=True).hits[0]
    assert document.text == "body h"
    chunk = route.recall(filled, "rollback journal", full=True).hits[0]
    assert chunk.text.startswith("User: why does the indexer")


def test_neighbours_are_given_in_order_around_the_hit(filled):
    hit = route.recall(filled, "read-only mounts").hits[0]
    with opening.current(filled) as opened:
        near, at = ids.timeline(opened.catalog, hit.id, 1)
        assert [h.heading[:5] for h in near] == ["why d", "what ", "thank"]
        assert near[at].uid == hit.uid
        assert [h.uid for h in ids.timeline(opened.catalog, hit.id, 0)[0]] == [hit.uid]


def test_ids_that_name_nothing_several_things_or_are_none(filled, monkeypatch):
    with opening.current(filled) as opened:
        with pytest.raises(ids.NoMatchError, match=r"\[no match for ffff0000ffff\]"):
            ids.resolve(opened.catalog, "ffff0000ffff")
        for malformed in ("zzzz", "abc", "", "a" * 41, "a3f2; x"):
            with pytest.raises(ids.MalformedError, match="is no id"):
                ids.resolve(opened.catalog, malformed)
        monkeypatch.setattr(ids, "_ID", __import__("re").compile("[0-9a-f]*"))
        with pytest.raises(ids.NoMatchError, match="is ambiguous"):
            ids.resolve(opened.catalog, "")


def test_a_document_that_is_gone_is_never_shown(filled):
    git(filled.root, "rm", "-qf", "concepts/hooks.md")
    assert [h.path for h in route.recall(filled, "tag:git").hits] == ["concepts/old.md"]


def test_a_change_is_seen_without_an_index_run(filled, tmp_path):
    write(filled, "concepts/new.md", concept("Fresh from the press"))
    assert route.recall(filled, "fresh from the press").hits[0].path == "concepts/new.md"


def test_what_does_not_fit_the_time_is_said(repository, monkeypatch):
    monkeypatch.setattr(opening, "FIRST_BUILD_SECONDS", 0.0)
    for number in range(80):
        write(repository, f"concepts/c{number}.md", concept(f"C {number}"), stage=False)
    git(repository.root, "add", "-A")
    answer = route.recall(repository, "anything")
    assert answer.behind > 0
    assert "run `know index`" in answer.notes[0]


def test_without_a_writable_git_directory_the_tag_index_answers(repository, monkeypatch):
    write(repository, "concepts/a.md", concept("A title", tags=["git"]))
    write(repository, "concepts/gone.md", concept("Gone", tags=["git"]))
    bundle.write_generated(repository)
    (repository.concepts / "gone.md").unlink()
    shutil.rmtree(repository.git_dir / "know")  # what the build remembered
    (repository.git_dir / "know").write_text("in the way")
    answer = route.recall(repository, "tag:git")
    assert [hit.path for hit in answer.hits] == ["concepts/a.md"]
    assert "nothing is indexed yet" in answer.notes[0]
    answer = route.recall(repository, "nothing of the kind")
    assert answer.hits == []
    assert "cannot be written" in answer.notes[0]
    with opening.current(repository) as opened:
        assert ids.resolve(opened.catalog, document_id("concepts/a")).title == "A title"


@pytest.fixture
def fresh(repository) -> Repository:
    """A clone in which nothing was ever indexed."""
    for number in range(30):
        text = concept(f"Concept {number}", tags=["git"], description=f"Of matter {number}")
        write(repository, f"concepts/c{number:02}.md", text + f"\nThe body of {number}.\n")
    bundle.write_generated(repository)
    git(repository.root, "add", "-A")
    shutil.rmtree(repository.git_dir / "know")
    return repository


def test_a_fresh_clone_answers_by_names_without_building_anything(fresh):
    answer = route.recall(fresh, "tag:git", limit=50)
    assert len(answer.hits) == 30
    assert (answer.route, answer.behind) == ("structured", -1)
    assert answer.notes == ["nothing is indexed yet; `know index` makes all of it findable"]
    assert {len(hit.id) for hit in answer.hits} == {8}
    assert not (fresh.git_dir / "know").exists()
    assert "The body of 7." in route.recall(fresh, "concept 7", full=True).hits[0].text


def test_a_tag_index_that_somebody_made_up_harms_nobody(fresh):
    line = {"type": "T", "title": "Zebra", "description": "", "aliases": [], "status": "stable"}
    (fresh.root.parent / "out.md").write_text("secret")
    made_up = [
        {**line, "concept": "../../out"}, {**line, "concept": "c01", "title": "Zebra \ud800"},
        {**line, "concept": "a\0b"}, {**line, "concept": "\ud800"}, {**line, "date": 5},
        {"tag": "zebra\ud800", "concept": "c01"}, {"tag": "zebra", "concept": "gone"}, [], None,
    ]  # fmt: skip
    with (fresh.concepts / "tag_index.jsonl").open("a", encoding="utf-8") as file:
        file.writelines(f"{json.dumps(one)}\n" for one in made_up)
        file.write("]\n\x00\n{\n")
    answer = route.recall(fresh, "tag:git", limit=50)
    assert (len(answer.hits), answer.behind) == (30, -1)
    for query in ("tag:zebra", "Zebra", "zebra out"):
        assert route.recall(fresh, query, full=True).hits == []


def test_a_name_with_dots_is_a_name(repository):
    write(repository, "concepts/from v1..v2.md", concept("Between versions", tags=["git"]))
    bundle.write_generated(repository)
    shutil.rmtree(repository.git_dir / "know")
    answer = route.recall(repository, "tag:git")
    assert [hit.path for hit in answer.hits] == ["concepts/from v1..v2.md"]
    assert answer.behind == -1


def test_a_fresh_clone_builds_where_names_do_not_know(fresh):
    answer = route.recall(fresh, "the body of 17")
    assert (answer.route, answer.behind) == ("lexical", 0)
    assert answer.hits[0].path == "concepts/c17.md"
    assert not any("nothing is indexed" in note for note in answer.notes)
    assert {len(hit.id) for hit in route.recall(fresh, "tag:git").hits} <= {4, 5}


def test_names_are_known_while_the_catalog_lacks_concepts(fresh, monkeypatch):
    monkeypatch.setattr(opening, "FIRST_BUILD_SECONDS", 0.0)
    monkeypatch.setattr(opening, "REFRESH_SECONDS", 0.0)
    assert route.recall(fresh, "the body of 17").behind == 30
    assert Catalog.open(fresh.catalog) is not None
    answer = route.recall(fresh, "tag:git", limit=50)
    assert len(answer.hits) == 30
    assert answer.behind == 30
    assert "30 documents are not indexed yet" in answer.notes[0]
    assert "The body of 9." in route.recall(fresh, "concept 9", full=True).hits[0].text


def test_what_the_tag_index_does_not_know_yet_is_known_once_all_is_indexed(fresh):
    write(fresh, "concepts/new.md", concept("Fresh from the press"))
    answer = route.recall(fresh, "fresh from the press")
    assert (answer.route, answer.hits[0].path) == ("structured", "concepts/new.md")


def test_what_is_asked_for_by_id_is_indexed_before_all_else(fresh, monkeypatch):
    monkeypatch.setattr(build, "_BATCH", 1)
    clock = iter(range(1000))  # of which a few documents take all that there is
    monkeypatch.setattr(build.time, "monotonic", lambda: next(clock) / 5)
    wanted = document_id("concepts/c23")[:8]
    with opening.current(fresh, ids=[wanted]) as opened:
        assert ids.resolve(opened.catalog, wanted).path == "concepts/c23.md"
        assert opened.behind > 0


def test_another_process_that_indexes_takes_no_names_away(fresh):
    with FileLock(fresh.locks / "catalog.lock"):
        answer = route.recall(fresh, "the body of 17")
        assert answer.behind == -1
        assert len(route.recall(fresh, "tag:git", limit=50).hits) == 30


def test_a_catalog_that_cannot_be_brought_up_still_answers(filled, monkeypatch):
    def refuse(*_: object, **__: object) -> None:
        raise KnowError("/x: the catalog cannot be written: Read-only file system")

    monkeypatch.setattr(build, "refresh", refuse)
    write(filled, "concepts/new.md", concept("New"))
    answer = route.recall(filled, "tag:git")
    assert answer.hits
    assert "Read-only file system; answering from what there is" in answer.notes[0]


def test_a_read_only_git_directory_still_answers():
    with tempfile.TemporaryDirectory() as folder:  # pytest's own is closed to others
        Path(folder).chmod(0o755)
        repository = make_repository(Path(folder) / "memory")
        write(repository, "concepts/a.md", concept("A title", tags=["git"]))
        refresh(repository)
        know = repository.git_dir / "know"
        for leftover in know.glob("catalog*.db-*"):
            leftover.unlink()
        write(repository, "concepts/b.md", concept("Newer", tags=["git"]))
        know.chmod(0o555)
        try:
            with unprivileged():
                answer = route.recall(repository, "tag:git")
        finally:
            know.chmod(0o755)
    assert [hit.path for hit in answer.hits] == ["concepts/a.md"]
    assert "Permission denied; answering from what there is" in answer.notes[0]


def test_an_unchanged_repository_is_not_looked_through_again(filled, monkeypatch):
    monkeypatch.setattr(freshness, "_RACY_NANOSECONDS", -1)
    refresh(filled)
    write(filled, "concepts/x.md", concept("X"))
    refresh(filled)
    monkeypatch.setattr(build, "refresh", lambda *_a, **_k: pytest.fail("looked through"))
    route.recall(filled, "tag:git")


@settings(
    suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None, max_examples=150
)
@given(st.text(max_size=60))
def test_any_query_is_safe(filled, query):
    route.recall(filled, query)


def test_a_name_that_the_filter_takes_out_is_searched_for(filled):
    assert route.recall(filled, "git", only=Filter(kind="session")).route == "lexical"
    assert route.recall(filled, "tag:git", only=Filter(kind="session")).hits == []


def test_a_pasted_page_is_a_query(filled):
    page = " ".join(f"word{n}" for n in range(20_000))
    assert route.recall(filled, page, embedder=embed(filled)).route == "hybrid"


HOSTILE = [
    '"',
    "'",
    "a AND",
    "NEAR(",
    "title:x",
    "*",
    "-x",
    "a^2",
    "(",
    '"a" OR "b',
    "\0",
    "x" * 9999,
]


@pytest.mark.parametrize("query", HOSTILE)
def test_search_syntax_is_only_text(filled, query):
    route.recall(filled, query)
    route.recall(filled, query, embedder=embed(filled))


def test_the_order_of_hits_is_the_same_each_time(filled):
    embedder = embed(filled)
    queries = ["journal", "hooks body", "mounts read"]
    for query in queries:
        first = route.recall(filled, query, embedder=embedder).hits
        random.seed()
        assert route.recall(filled, query, embedder=embedder).hits == first


def test_a_summary_is_one_line_cut_at_a_word():
    assert shorten("a  b\nc", 80) == "a b c"
    long = "word " * 40
    assert len(shorten(long, 80)) <= 80
    assert shorten(long, 80).endswith("word…")
    assert len(shorten("x" * 200, 80)) == 80


def test_several_hits_at_once_are_the_same_as_one_by_one(filled):
    catalog = Catalog.open(filled.catalog)
    assert catalog is not None
    with catalog:
        documents = catalog.newest(9, Filter())
        found = [(one, chunk, 0.5) for one in documents for chunk in catalog.chunks_of(one.id)]
        whole = document_hits(catalog, [(one, 0.25) for one in documents])
        assert whole == [document_hit(catalog, one, 0.25) for one in documents]
        assert chunk_hits(catalog, found) == [chunk_hit(catalog, *one) for one in found]
    assert {hit.kind for hit in whole} == {"concept", "session"}
    assert len(found) > len(documents) > 1
    assert any(hit.summary for hit in whole)


def test_a_recall_opens_no_file_anew_where_nothing_changed(filled, monkeypatch):
    monkeypatch.setattr(freshness, "_RACY_NANOSECONDS", -1)
    refresh(filled)
    wanted = route.recall(filled, "tag:git").hits
    assert wanted

    def refuse(file):
        raise AssertionError(f"{file} is opened again")

    monkeypatch.setattr(catalog_opening, "open_readable", refuse)
    for _ in range(2):
        assert route.recall(filled, "tag:git").hits == wanted
    assert route.recall(filled, "tag:nothing").hits == []


def test_what_holds_instead_is_named_as_commands_take_it(repository):
    write(repository, "concepts/a/old.md", concept("Old", superseded_by="../b/new.md"))
    write(repository, "concepts/c/odd.md", concept("Odd", superseded_by="somewhere else"))
    refresh(repository)
    assert {hit.title: hit.marks for hit in route.recall(repository, "type:Decision").hits} == {
        "Old": ("superseded by b/new",), "Odd": ("superseded by somewhere else",),
    }  # fmt: skip
