"""Every measurement of `know bench index`, so small that only its shape and counts are seen."""

from __future__ import annotations

import json
import os
import re
from pathlib import Path

import pytest

from helpers import Result
from knowrepo import config
from knowrepo.bench import place, run
from knowrepo.bench.corpus import Corpus, as_line, needle
from knowrepo.bench.measured import Measured, machine
from knowrepo.bench.sizes import Sizes
from knowrepo.cli.main import main
from knowrepo.errors import KnowError, UsageError
from knowrepo.sessions.lines import read_lines
from knowrepo.sessions.readers.claude import ClaudeReader

TINY = Sizes(
    rounds=1, sessions=3, records=8, texts=2, chunks_of_session=6, growth=(2, 4), processes=1,
    vectors=(300,), dimension=16, searches=1, reader_sessions=10, memory_chunks=40, memory_texts=20,
    concepts=(5, 20), lookups=1,
)  # fmt: skip


@pytest.fixture
def no_model(monkeypatch, tmp_path):
    monkeypatch.setenv("KNOW_CACHE", str(tmp_path / "cache"))


def measured(name: str) -> list[Measured]:
    return list(run.measure(TINY, only=[name]))


def test_the_catalog_is_measured_with_all_that_was_generated(no_model):
    (found,) = measured("cataloging")
    assert found.details["sessions"] == 3
    assert found.details["chunks"] >= 6
    assert found.target == "at most 5"
    assert found.figure > 0


def test_an_appended_exchange_embeds_its_own_chunks_and_no_others(no_model):
    counted, timed = measured("appending")
    assert (counted.figure, counted.met) == (0, True)
    assert counted.details["chunks"] >= 6
    assert counted.details["embedded"] == counted.details["chunks_of_the_exchange"] > 0
    assert timed.met is None  # without a model it says nothing of the target


def test_an_index_with_nothing_to_do_is_measured_at_every_size(no_model):
    found, growth = measured("idle")
    assert (found.details["sessions"], found.target) == (3, "at most 3")
    assert [step["documents"] for step in growth.details["steps"]] == [2, 4]


def test_the_vector_search_finds_what_numpy_finds(no_model):
    found, differing = measured("searching")
    assert (differing.figure, differing.met) == (0, True)
    assert [step["rows"] for step in found.details["steps"]] == [300]
    assert found.name == "exact search of 300 x 16 against numpy"


def test_a_reader_during_an_index_sees_no_error_and_no_wrong_answer(no_model):
    errors, wrong, latency = measured("reading")
    assert (errors.figure, errors.details["first"]) == (0, [])
    assert (wrong.figure, wrong.details["first"]) == (0, [])
    assert latency.details["recalls"] > 0
    assert latency.figure >= latency.details["median_seconds"] > 0


def test_a_lookup_is_timed_at_every_size_and_finds_what_is_there(no_model):
    found = measured("structured")
    assert len(found) == 9  # of each kind of query a time, and how two of them grow
    for lookup in found[::3]:
        assert lookup.target == "at most 1"
        assert [step["concepts"] for step in lookup.details["steps"]] == [5, 20]
        assert all(step["recall_milliseconds"] > 0 for step in lookup.details["steps"])
    assert [step["hits"] for step in found[3].details["steps"]] == [1, 1]
    assert [step["hits"] for step in found[6].details["steps"]] == [1, 3]


def test_memory_is_that_of_the_process_that_indexes(no_model):
    (found,) = measured("memory")
    assert found.details["chunks"] > 0
    assert 10 < found.figure < 10_000


@pytest.mark.model
def test_with_the_model_every_way_of_embedding_is_measured():
    best, default = measured("embedding")
    assert (best.target, default.target) == ("at least 0.9", "at least 1.6")
    assert best.details["bare_texts_per_second"] > 0
    assert "second" in best.details["weights_repacked_by_llama"] or (
        "crashes here" in best.details["weights_repacked_by_llama"]
    )


@pytest.mark.model
def test_with_the_model_the_memory_of_the_whole_command_is_measured():
    _, command = measured("memory")
    assert command.name == "peak memory of know index with the model"
    assert command.details["chunks"] > 0


def test_without_a_model_embedding_is_left_out_and_said_so(no_model):
    said: list[str] = []
    assert list(run.measure(TINY, only=["embedding"], say=said.append)) == []
    assert "no model" in said[0]


def test_what_was_made_is_removed_and_the_users_own_is_not_touched(
    no_model, own_environment, monkeypatch, tmp_path
):
    folder = tmp_path / "scratch"
    folder.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(folder))
    before, files = dict(os.environ), sorted(own_environment.rglob("*"))
    measured("cataloging")
    assert dict(os.environ) == before
    assert sorted(own_environment.rglob("*")) == files
    assert list(folder.iterdir()) == []


def test_a_model_that_is_not_here_is_told_with_the_command_that_fetches_that_one(
    monkeypatch, tmp_path
):
    monkeypatch.setenv("KNOW_CACHE", str(tmp_path))
    with pytest.raises(KnowError) as caught, place.prepared("bge-small-en-v1.5"):
        pass
    assert caught.value.hint == "`know model pull bge-small-en-v1.5` fetches it"


def test_the_place_has_an_empty_configuration_and_the_users_cache(own_environment, monkeypatch):
    cache = config.cache_dir()
    monkeypatch.setenv("KNOW_REPO", "/nowhere")
    monkeypatch.setenv("GIT_DIR", "/nowhere")
    with place.prepared() as made:
        assert config.config_path().parent == made.folder
        assert config.cache_dir() == cache
        assert not {"KNOW_REPO", "GIT_DIR"} & set(os.environ)
        assert made.repository("a").sessions.is_dir()
    assert os.environ["GIT_DIR"] == "/nowhere"


def test_a_measurement_that_is_not_there_is_wrong_usage(no_model):
    with pytest.raises(UsageError, match="no measurement"):
        list(run.measure(TINY, only=["weather"]))


def test_wrong_usage_of_the_command_says_one_thing_and_prints_no_figures(capsys):
    told = know(capsys, "bench", "index", "--only", "weather")
    assert (told.code, told.out) == (2, "")
    assert told.err.startswith("know: --only weather: no measurement\n")


def test_generated_sessions_are_the_same_each_time_and_are_read_as_claude_codes(tmp_path):
    one = Corpus().write_sessions(tmp_path / "one", 2, 12, marked=True)
    two = Corpus().write_sessions(tmp_path / "two", 2, 12, marked=True)
    assert [path.read_bytes() for path in one] == [path.read_bytes() for path in two]
    with one[1].open("rb") as stream:
        lines = list(read_lines(stream))
    assert ClaudeReader().recognises([line.record for line in lines if line.record])
    records = list(ClaudeReader().read(lines))
    assert [record.role for record in records[:4]] == ["user", "assistant", "tool", "assistant"]
    assert needle(1) in records[0].text
    assert len({needle(number) for number in range(2000)}) == 2000


def test_an_appended_record_is_a_line_of_json():
    (record,) = Corpus().records(1, session="s", first=7)
    assert json.loads(as_line(record)) == record


def test_a_target_is_met_or_missed_and_said_in_words():
    assert Measured("a", 2, "s", "how", most=3).met is True
    assert Measured("a", 4, "s", "how", most=3).met is False
    assert Measured("a", 4, "s", "how", least=5).target == "at least 5"
    assert Measured("a", 4, "s", "how").met is None


def test_the_machine_is_described():
    about = machine()
    assert {"cpu", "cores", "python", "sqlite", "duckdb"} <= set(about)
    assert all(str(value) for value in about.values())


def know(capsys, *arguments: str) -> Result:
    code = main(list(arguments))
    captured = capsys.readouterr()
    return Result(code, captured.out, captured.err)


def test_the_command_prints_figures_or_json(no_model, monkeypatch, capsys):
    monkeypatch.setattr("knowrepo.bench.sizes.QUICK", TINY)
    told = know(capsys, "bench", "index", "--quick", "--only", "searching", "--sessions", "2")
    assert told.code == 0
    assert re.search(r"^exact search of 300 x 16 against numpy: [\d.,]+ times  \(at most 3.5: "
                     r"(met|MISSED)\)$", told.out, re.MULTILINE)  # fmt: skip
    assert "measuring: searching" in told.err
    given = json.loads(
        know(capsys, "bench", "index", "--quick", "--only", "searching", "--json", "--quiet").out
    )
    assert given["version"] == 1
    assert given["machine"]["cores"] >= 1
    assert set(given["measured"][0]) == {
        "name", "figure", "unit", "target", "met", "how", "details",
    }  # fmt: skip
    assert know(capsys, "bench", "index", "--only", "weather").code == 2


def test_every_measurement_is_in_the_help():
    text = " ".join((Path(run.__file__).parents[1] / "cli" / "bench.py").read_text().split())
    for name in run.MEASUREMENTS:
        assert f"{name}," in text or f"{name}." in text
