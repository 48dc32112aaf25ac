"""When a case passes, asked of real repositories by the path that users take."""

from __future__ import annotations

import hashlib
from dataclasses import replace

import pytest

from helpers import WordEmbedder, concept, jsonl, make_repository, user, write
from knowrepo.evaluate.cases import Case
from knowrepo.evaluate.run import Figures, Outcome, evaluate, figures
from knowrepo.index import models
from knowrepo.index.build import refresh
from knowrepo.index.catalog import Catalog, Filter
from knowrepo.index.fill import embed as embed_texts
from knowrepo.index.fill import pending_texts
from knowrepo.index.vectors import VectorStore
from knowrepo.recall import route

ROOMS = "attic cellar kitchen garage library office studio workshop"
SESSION = "768de5d6-0000-4000-8000-000000000001"


@pytest.fixture
def filled(repository):
    write(
        repository, "concepts/decisions/two-stores.md",
        concept("Two stores", tags=["storage"], body="SQLite holds words, DuckDB holds vectors."),
    )  # fmt: skip
    write(
        repository, "concepts/decisions/hooks.md",
        concept("Hooks only enqueue", tags=["capture"], body="A hook writes a file into a queue."),
    )  # fmt: skip
    for number, room in enumerate(ROOMS.split()):
        write(
            repository, f"concepts/notes/n{number}.md",
            concept(f"The {room}", kind="Reference", body=f"Print queue, {room} {room}: printers."),
        )  # fmt: skip
    path = repository.sessions / "claude" / f"{SESSION}.jsonl"
    path.parent.mkdir()
    path.write_bytes(jsonl([user("the walrus build fails on macOS")]))
    return repository


def outcome(repository, case, **options):
    (found,) = evaluate(repository, [case], **options).outcomes
    return found


@pytest.mark.parametrize(
    "case",
    [
        Case("sqlite words duckdb vectors", ("decisions/two-stores",)),
        Case("tag:capture", ("concepts/decisions/hooks.md",), k=1, route="structured"),
        Case("walrus build", ("claude/768de5d6",), route="hybrid"),
        Case("walrus build", (f"sessions/claude/{SESSION}.jsonl",)),
        Case("walrus", ("decisions/hooks", f"claude/{SESSION}")),
        Case("zeppelin"),
        Case("walrus build", only=Filter(kind="concept")),
        Case("queue", ("decisions/hooks",), only=Filter(type="Decision"), k=1),
    ],
)
def test_a_case_passes_where_the_expected_is_found(filled, case):
    found = outcome(filled, case)
    assert found.problem == ""
    assert found.passed
    assert (found.rank is not None) == bool(case.expect)


def test_what_is_found_too_late_says_where_it_is_and_what_came_first(filled):
    case = Case("print queue printers", ("decisions/hooks",), k=2)
    found = outcome(filled, case)
    assert found.rank > 2
    assert found.problem == (
        f"expected decisions/hooks in the first 2; it is at {found.rank};"
        f" the first is [{found.first.id}] {found.first.shown_path}"
    )
    assert outcome(filled, replace(case, k=found.rank)).passed


def test_what_is_not_found_at_all_says_so(filled):
    found = outcome(filled, Case("zeppelin", ("decisions/hooks", "decisions/two-stores")))
    assert found.rank is None
    assert found.problem == (
        "expected decisions/hooks or decisions/two-stores in the first 5; nothing is found"
    )


def test_what_a_layer_that_is_sure_leaves_out_is_said_to_be_left_out(filled):
    found = outcome(filled, Case("tag:capture", ("decisions/two-stores",)))
    assert "; the structured layer finds 1 hit without it; the first is [" in found.problem


def test_what_a_hundred_hits_do_not_hold_is_looked_for_no_further(filled):
    for number in range(150):
        other = hashlib.sha256(bytes([number])).hexdigest()  # else they would say the same
        text = f"Kelp {' '.join(other[n : n + 8] for n in range(0, 64, 8))} kelp."
        write(filled, f"concepts/kelp/{number}.md", concept(f"Kelp {number}", body=text))
    write(filled, "concepts/whale.md", concept("Whale", body=f"{'Plankton. ' * 200} Some kelp."))
    found = outcome(filled, Case("much kelp", ("whale",)))
    assert found.rank is None
    assert "; it is not among the first 100; the first is [" in found.problem


def test_a_match_where_none_is_expected_fails(filled):
    found = outcome(filled, Case("walrus build"))
    assert found.problem.startswith("expected no confident match; the first is [")


def test_another_layer_than_the_one_that_is_asked_for_fails(filled):
    found = outcome(filled, Case("walrus build", ("claude/768de5d6",), route="structured"))
    assert found.rank == 1
    assert found.problem == "expected the structured layer to answer; found at 1 by the hybrid one"
    found = outcome(filled, Case("tag:capture", ("decisions/hooks",), route="hybrid"))
    assert found.problem == "expected the hybrid layer to answer; found at 1 by the structured one"


def test_what_is_found_without_confidence_is_not_shown_and_does_not_count(filled, monkeypatch):
    real = route.recall
    monkeypatch.setattr(
        route, "recall", lambda *a, **k: replace(real(*a, **k), confident=False, confidence=0.1)
    )
    found = outcome(filled, Case("walrus build", ("claude/768de5d6",)))
    assert found.problem == "found at 1, but without confidence, so it is not shown unasked"
    assert outcome(filled, Case("walrus build")).passed


def test_a_hit_stands_for_those_that_say_the_same(filled, monkeypatch):
    real = route.recall
    other = real(filled, "tag:storage").hits[0]

    def collapsed(*arguments, **options):
        answer = real(*arguments, **options)
        return replace(answer, hits=[replace(h, also=(other.id, "ffff0")) for h in answer.hits])

    case = Case("walrus build", ("decisions/two-stores",))
    assert not outcome(filled, case).passed
    monkeypatch.setattr(route, "recall", collapsed)
    assert outcome(filled, case).passed


def test_a_name_that_means_nothing_fails_that_case_and_no_other(filled):
    cases = [Case("walrus", ("decisions/hooks", "decisions/two-store")), Case("zeppelin")]
    first, second = evaluate(filled, cases).outcomes
    assert first.problem == ("decisions/two-store names no document; perhaps decisions/two-stores")
    assert second.passed


@pytest.mark.parametrize(
    "query", ["id:ffffffffff", "", "the of and", '"', "tag:", "\x00", "a" * 2000]
)
def test_any_query_is_asked(filled, query):
    assert not outcome(filled, Case(query, ("decisions/hooks",), k=1)).passed


def test_a_fresh_clone_is_indexed_as_a_whole_before_it_is_asked(tmp_path):
    repository = make_repository(tmp_path / "large")
    for number in range(40):
        write(repository, f"concepts/n{number:02}.md", concept(f"N {number}", body=f"word{number}"))
    cases = [Case(f"word{number}", (f"n{number:02}",), k=1) for number in range(40)]
    found = evaluate(repository, cases)
    assert [one.problem for one in found.outcomes] == [""] * 40


def test_where_there_is_no_model_the_answers_say_so_once(filled):
    found = evaluate(filled, [Case("walrus build"), Case("sqlite words")])
    assert found.notes == ["no vectors yet, so words only; `know index` makes them"]
    assert evaluate(filled, [Case("walrus build")], words_only=True).notes == []


def test_by_words_only_neither_vectors_nor_a_model_are_asked(filled, monkeypatch):
    refresh(filled)
    embedder = WordEmbedder()
    catalog = Catalog.open(filled.catalog)
    assert catalog is not None
    with catalog:
        store = VectorStore(filled.vectors, embedder.fingerprint)
        embed_texts(pending_texts(catalog, store), store, embedder)
    case = Case("walrus build", ("claude/768de5d6",))
    assert outcome(filled, case, embedder=embedder).route == "hybrid"
    monkeypatch.setattr(models, "current", lambda: pytest.fail("a model is looked for"))
    assert outcome(filled, case, words_only=True).route == "lexical"


def test_progress_is_told_for_each_case(filled):
    told = []
    evaluate(filled, [Case("walrus"), Case("queue")], progress=lambda *now: told.append(now))
    assert told == [(1, 2), (2, 2)]


def test_figures_are_summed_by_kind_and_over_all():
    def came(kind, rank, problem="", *, k=5, expect=("a",)):
        return Outcome(Case("q", expect, kind=kind, k=k), rank, "hybrid", None, problem)

    nothing, words, unnamed = "nothing", "words", ""
    outcomes = [
        came(words, 1),
        came(words, 4, "expected …", k=3),
        came(words, 4, k=4),
        came(words, None, "expected …"),
        came(nothing, None, expect=()),
        came(unnamed, 1, "expected the structured layer …"),
    ]
    assert figures(outcomes) == [
        Figures("", 1, 0, 1.0, 1.0, 1.0),
        Figures("nothing", 1, 1, None, None, None),
        Figures("words", 4, 2, 0.25, 0.5, (1 + 0.25 + 0.25) / 4),
        Figures("all", 6, 3, 0.4, 0.6, (1 + 0.25 + 0.25 + 1) / 5),
    ]


def test_two_runs_give_the_same(filled):
    cases = [Case("queue", ("decisions/hooks",), k=1), Case("walrus build"), Case("storage")]
    assert evaluate(filled, cases) == evaluate(filled, cases)
