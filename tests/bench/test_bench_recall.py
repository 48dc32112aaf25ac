"""`know bench recall`: the figures of layers, worked out by hand, and what becomes of a run."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from helpers import Result, WordEmbedder
from knowrepo.bench import costs, layers, plots, report, warm
from knowrepo.bench.baseline import Baseline, matching
from knowrepo.bench.cut import Cut, trained
from knowrepo.bench.judging import Asked, Ranked, compared, figures, ranked
from knowrepo.bench.place import Place, prepared
from knowrepo.bench.recalling import Wanted, measure
from knowrepo.bench.sets import Question, read_set
from knowrepo.bench.shown import Piece, Spot
from knowrepo.bench.sizes import Sizes
from knowrepo.cli.main import main
from knowrepo.errors import KnowError, UsageError
from knowrepo.index.models import Model
from set_samples import bundles, dialogues, passages, sessions

TINY = Sizes(
    records=8, processes=1, recall=(2, 4), recalls=1, recall_chunks=20,
)  # fmt: skip


@pytest.fixture
def no_model(monkeypatch, tmp_path):
    monkeypatch.setenv("KNOW_CACHE", str(tmp_path / "cache"))


class Units:
    """Stands for a catalog whose spots show what is said here."""

    def __init__(self, shown: dict[str, tuple[str, ...]]) -> None:
        self._shown = shown

    def units(self, spot: Spot) -> tuple[str, ...]:
        return self._shown[spot.path]

    def holds_record(self, spot: Spot, answers) -> bool:
        return spot.path in answers


class Counting(WordEmbedder):
    """Counts the queries."""

    asked = 0

    def embed_query(self, query):
        self.asked += 1
        return super().embed_query(query)


def asked(kind: str = "k", right=("r",), twins=(), answers=None) -> Asked:
    question = Question("q", kind, "text", "", tuple(right))
    return Asked(question, answers or {}, frozenset(right), frozenset((*right, *twins)))


def answered(rank: int | None, of: int = 10) -> Ranked:
    units = [f"x{place}" for place in range(1, of + 1)]
    if rank:
        units[rank - 1] = "r"
    return Ranked(units, rank, rank, None)


def test_a_unit_counts_at_the_first_spot_that_shows_it():
    shown = Units({"a": ("x",), "b": ("x",), "c": ("y", "r"), "d": ("r", "z")})
    judged = ranked(asked(), [Spot(path) for path in "abcd"], shown)
    assert judged.units == ["x", "r", "z"]
    assert judged.rank == 2


def test_a_twin_is_a_hit_on_the_group_and_none_on_the_unit():
    shown = Units({"a": ("t",), "b": ("r",)})
    judged = ranked(asked(twins=("t",)), [Spot("a"), Spot("b")], shown)
    assert (judged.group_rank, judged.rank) == (1, 2)


def test_a_record_is_found_where_one_of_the_first_five_shows_it():
    shown = Units({name: (name,) for name in "abcdef"})
    spots = [Spot(name) for name in "abcdef"]
    fifth, sixth = asked(answers={"e": {1}}), asked(answers={"f": {1}})
    assert ranked(fifth, spots, shown).record is True
    assert ranked(sixth, spots, shown).record is False
    assert ranked(asked(), spots, shown).record is None


def test_the_figures_are_those_worked_out_by_hand():
    two = replace(answered(2), units=["x1", "r", "x3", "s"])
    (every,) = figures(
        [asked(right=("r", "s")), asked(), asked(), asked(right=())],
        [two, answered(1), answered(None), answered(1)],
    )
    assert every.questions == 3  # that without an answer is none of them
    assert every.hit_1 == pytest.approx(1 / 3)
    assert every.hit_5 == pytest.approx(2 / 3)
    assert every.recall_1 == pytest.approx(1 / 3)
    assert every.recall_5 == pytest.approx(2 / 3)
    assert every.mrr == pytest.approx((0.5 + 1 + 0) / 3)
    gained = (1 / np.log2(3) + 1 / np.log2(5)) / (1 + 1 / np.log2(3))
    assert every.ndcg_10 == pytest.approx((gained + 1 + 0) / 3)
    assert (every.record_5, every.group_1) == (None, None)


def test_layers_are_compared_question_by_question_and_by_kind():
    questions = [asked("a"), asked("a"), asked("b"), asked("b", right=())]
    ours = [answered(1), answered(7), answered(1), answered(1)]
    theirs = [answered(2), answered(1), answered(1), answered(9)]
    every, of_a, of_b = compared(questions, ours, theirs)
    assert (every.kind, every.questions) == ("all", 3)
    assert (every.lost, every.won) == ({"hit@1": 1, "hit@5": 1}, {"hit@1": 1, "hit@5": 0})
    assert (of_a.lost["hit@1"], of_a.won["hit@1"]) == (1, 1)
    assert of_b.bounds == {"hit@1": 0.0, "hit@5": 0.0, "mrr": 0.0}


def test_the_baseline_is_plain_fts5_without_stop_words():
    pieces = [
        Piece("a", 0, 1, 1, "", "", "The lock is held by the importer."),
        Piece("b", 0, 1, 1, "Importers", "", "Nothing of it."),
        Piece("c", 0, 1, 1, "", "", "What is it?"),
    ]
    plain = Baseline(pieces, {"c": "tagged"})
    assert matching("What is the lock?") == '"lock"'
    assert plain.search("what is it") == []
    assert plain.search("locks") == [Spot("a", 0)]
    assert {spot.path for spot in plain.search("importer")} == {"a", "b"}
    assert plain.search("tagged") == [Spot("c", 0)]
    plain.close()


def by_layer(facts: dict, layer: str, kind: str = "all") -> dict:
    return next(one for one in facts["layers"][layer] if one["kind"] == kind)


def test_every_layer_is_asked_and_finds_what_is_there(tmp_path):
    labelled = read_set(dialogues(tmp_path / "talk"))
    facts = measure(labelled, tmp_path / "work", Wanted(embedder=WordEmbedder()))
    assert list(facts["layers"]) == ["fts5", *layers.LAYERS]
    assert (facts["documents"], facts["questions"], facts["without_answer"]) == (2, 3, 1)
    for layer in ("fts5", "lexical", "semantic", "hybrid"):
        assert by_layer(facts, layer)["hit_1"] == 1.0, layer
    assert by_layer(facts, "structured")["hit_5"] == 0.0
    assert by_layer(facts, "hybrid", "who")["questions"] == 1
    assert set(facts["confidence"]) == {
        "auroc", "confident_where_answerable", "confident_where_not",
    }  # fmt: skip


def test_the_structured_layer_is_told_by_what_it_answers_and_how_often_right(tmp_path):
    facts = measure(read_set(bundles(tmp_path / "okf")), tmp_path / "work", Wanted())
    assert "semantic" not in facts["layers"]  # there is no model
    every, tag, none = facts["structured"]
    assert (tag["kind"], tag["answered"], tag["right"], tag["right_share"]) == ("tag", 1, 1, 1.0)
    assert (none["kind"], none["answered"], none["right_share"]) == ("none", 0, None)
    assert (every["questions"], every["answered_share"]) == (2, 0.5)
    assert by_layer(facts, "structured")["recall_5"] == 1.0  # both that carry the tag


def test_a_group_searched_alone_holds_nothing_of_the_others(tmp_path):
    labelled = read_set(bundles(tmp_path / "okf"))
    wanted = Wanted(scope="own", cache=tmp_path / "kept")
    facts = measure(labelled, tmp_path / "work", wanted)
    assert (facts["documents"], facts["scope"]) == (3, "own")
    assert by_layer(facts, "hybrid")["recall_1"] == 1.0  # what answers in the other counts not
    kept = tmp_path / "kept" / f"okf-{labelled.fingerprint()}" / "groups"
    assert sorted(path.name for path in kept.iterdir()) == ["one", "two"]


def test_sessions_have_no_groups_to_be_searched_alone(tmp_path):
    with pytest.raises(KnowError, match="no groups"):
        measure(read_set(sessions(tmp_path / "s")), tmp_path / "work", Wanted(scope="own"))


def test_transcripts_are_judged_by_session_and_by_labelled_record(tmp_path):
    facts = measure(read_set(sessions(tmp_path / "s")), tmp_path / "work", Wanted())
    assert facts["unit"] == "session"
    assert (by_layer(facts, "hybrid")["hit_1"], by_layer(facts, "hybrid")["record_5"]) == (1, 1)


def test_twins_are_told_as_a_group(tmp_path):
    facts = measure(read_set(passages(tmp_path / "xq" / "en")), tmp_path / "work", Wanted())
    plain = by_layer(facts, "fts5")
    assert plain["group_1"] == 1.0
    assert plain["hit_1"] == 0.5  # of two that say the same the other comes first


def test_a_second_run_with_a_cache_embeds_nothing(tmp_path):
    labelled = read_set(dialogues(tmp_path / "talk"))
    first, second = Counting(), Counting()
    for embedder in (first, second):
        wanted = Wanted(embedder=embedder, cache=tmp_path / "kept")
        measure(labelled, tmp_path / "work", wanted)
    assert first.passages
    assert second.passages == []
    assert second.asked == 0  # nor any question


def test_cut_vectors_are_made_of_the_whole_ones(tmp_path):
    labelled = read_set(dialogues(tmp_path / "talk"))
    whole = WordEmbedder(dimension=64)
    wanted = Wanted(embedder=whole, cache=tmp_path / "kept")
    measure(labelled, tmp_path / "work", wanted)
    embedded = len(whole.passages)
    facts = measure(labelled, tmp_path / "work", replace(wanted, dimension=32))
    assert facts["dimension"] == 32
    assert len(whole.passages) == embedded
    assert by_layer(facts, "semantic")["hit_5"] == 1.0
    short = Cut(whole, 32).embed_query("the kiln")
    assert np.linalg.norm(short) == pytest.approx(1, abs=1e-6)
    assert np.allclose(short, Cut(whole, 32).short(whole.embed_query("the kiln")))


def test_dimensions_are_those_a_model_was_trained_for():
    assert trained(Model("embeddinggemma-300m", Path(), "")) == (768, 512, 256, 128)
    with pytest.raises(UsageError, match="not trained"):
        trained(Model("all-MiniLM-L6-v2", Path(), ""))
    with pytest.raises(UsageError, match="the model has 64"):
        Cut(WordEmbedder(dimension=64), 65)


def test_costs_are_told_of_every_layer_at_every_size(no_model):
    with prepared() as place:
        rows = list(costs.measure(place, TINY))
        assert list(place.folder.glob("recall-*")) == []
    assert [(row["sessions"], row["concepts"]) for row in rows] == [(2, 2), (4, 4)]
    for row in rows:
        assert set(row["warm_milliseconds"]) == {
            "scan", "structured", "lexical", "semantic", "hybrid",
        }  # fmt: skip
        assert set(row["cold_cpu_milliseconds"]) == {"typer", "structured", "lexical"}
        assert min(row["warm_cpu_milliseconds"].values()) > 0
        assert row["chunks"] >= 2 * row["sessions"]


def test_the_query_of_the_costs_finds_its_session(no_model):
    with prepared() as place:
        here = costs.repository_of(place, "x", 5, 8)
        found = costs._scan(here, costs.asked())
        assert found
        answer = costs.route.recall(here, costs.asked(), words_only=True)
        assert "quokka" in f"{answer.hits[0].title} {answer.hits[0].summary}"


def test_a_warm_query_is_measured_against_its_parts(no_model):
    with prepared() as place:
        (found,) = warm.measure(place, TINY)
    assert (found.target, found.unit) == ("at most 3", "times")
    assert found.details["bare_milliseconds"] > 0
    assert {"bare_embedding_milliseconds", "bare_numpy_milliseconds",
            "bare_fts5_milliseconds"} <= set(found.details)  # fmt: skip


# -- the command ------------------------------------------------------------------


def know(capsys, *arguments: str) -> Result:
    code = main(list(arguments))
    captured = capsys.readouterr()
    return Result(code, captured.out, captured.err)


def test_a_run_is_written_as_a_page_with_its_json_and_plots(no_model, tmp_path, capsys):
    sets = [dialogues(tmp_path / "talk"), bundles(tmp_path / "okf")]
    page = tmp_path / "docs" / "page.md"
    told = know(
        capsys, "bench", "recall", *map(str, sets), "--report", str(page),
        "--plots", str(tmp_path / "docs" / "plots"), "--json", "--quiet",
    )  # fmt: skip
    assert (told.code, told.err) == (0, "")
    run = json.loads(told.out)
    assert json.loads(page.with_suffix(".json").read_text()) == run
    assert set(run) == {
        "version", "date", "command", "machine", "sets", "dimensions", "costs", "measured",
    }  # fmt: skip
    text = page.read_text()
    assert "Generated on" in text
    assert "by `know bench recall talk okf --report page.md --plots plots`;" in text
    assert str(tmp_path) not in text
    assert "not part of this repository" in text
    assert "![hit@1, hit@5 and MRR of each layer](plots/quality.svg)" in text
    assert "| FTS5 alone | 100.0 |" in text
    assert text.count("| structured |") == 1  # of dialogues it has nothing to tell
    assert "| tag | 1 | 100.0 % | 100.0 % |" in text
    assert (page.parent / "plots" / "quality.png").read_bytes().startswith(b"\x89PNG")


def test_a_run_is_drawn_the_same_each_time(no_model, tmp_path):
    facts = measure(read_set(dialogues(tmp_path / "talk")), tmp_path / "work", Wanted())
    cost = {
        "sessions": 25, "chunks": 500, "model": "",
        "warm_cpu_milliseconds": {"scan": 9.0, "hybrid": 3.0},
        "cold_cpu_milliseconds": {"typer": 90.0, "lexical": 150.0},
    }  # fmt: skip
    cut = [facts | {"dimension": number} for number in (64, 32)]
    run = {"sets": [facts], "costs": [cost, cost | {"sessions": 100}], "dimensions": cut}
    first = [path.read_bytes() for path in plots.draw(run, tmp_path / "one")]
    second = [path.read_bytes() for path in plots.draw(run, tmp_path / "two")]
    assert len(first) == 3
    assert first == second


def test_without_matplotlib_it_is_said_before_anything_is_measured(
    no_model, tmp_path, capsys, monkeypatch
):
    real = plots.util.find_spec
    monkeypatch.setattr(
        plots.util, "find_spec", lambda name: None if name == "matplotlib" else real(name)
    )
    folder = str(dialogues(tmp_path / "talk"))
    told = know(capsys, "bench", "recall", folder, "--plots", str(tmp_path / "plots"))
    assert (told.code, told.out) == (1, "")
    assert "knowrepo[bench]" in told.err


def test_figures_are_printed_for_people(no_model, tmp_path, capsys):
    told = know(capsys, "bench", "recall", str(dialogues(tmp_path / "talk")))
    assert told.code == 0
    assert "  hybrid     who                      hit@1 100.0" in told.out
    assert "lost and won hit@1 -0 +0" in told.out
    assert "there is no model" in told.err


def test_costs_are_measured_where_no_set_is_named(no_model, monkeypatch, capsys):
    monkeypatch.setattr("knowrepo.bench.sizes.QUICK", TINY)
    told = know(capsys, "bench", "recall", "--quick")
    assert told.code == 0
    assert "4 sessions, " in told.out
    assert "warm query by meaning" in told.out
    assert "measured: 2 sessions" in told.err


@pytest.mark.parametrize(
    "arguments",
    [
        ("--unit", "page"), ("--scope", "half"), ("--layers", "magic"), ("--dimensions",),
    ],
)  # fmt: skip
def test_wrong_usage_is_told_before_anything_is_read(capsys, arguments):
    told = know(capsys, "bench", "recall", *arguments)
    assert (told.code, told.out) == (2, "")


def test_a_page_of_costs_tells_them_by_size(tmp_path):
    cost = {
        "sessions": 1600, "chunks": 32_000, "model": "m",
        "warm_cpu_milliseconds": {"scan": 1234.0, "hybrid": 3.14},
        "cold_cpu_milliseconds": {"typer": 90.0, "lexical": 150.0},
    }  # fmt: skip
    timed = {
        "name": "warm query", "figure": 1.5, "unit": "times", "how": "a over b",
        "target": "at most 3", "met": True,
        "details": {"milliseconds": 9.0, "bare_milliseconds": 6.0},
    }  # fmt: skip
    run = {
        "date": "2026-05-01", "command": "know bench recall", "machine": {"cores": 2},
        "sets": [], "dimensions": [], "costs": [cost], "measured": [timed],
    }  # fmt: skip
    report.write(run, tmp_path / "b.md")
    text = (tmp_path / "b.md").read_text()
    assert "| 1,600 | 32,000 | 1,234 | 3.1 | 90.0 | 150 |" in text
    assert "1.50 times (at most 3: met)" in text


def test_a_place_without_a_model_embeds_by_hash(tmp_path):
    assert costs.embedder_of(Place(tmp_path, None)).fingerprint == "stand-in"
