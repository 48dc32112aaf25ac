"""`know bench tokens`: what is counted, where it is kept, and what leads to the right answer."""

from __future__ import annotations

import json

import pytest

from helpers import WordEmbedder, concept, git, make_repository, write
from knowrepo.bench import counting
from knowrepo.bench.counting import Counted
from knowrepo.bench.recalling import Wanted, opened
from knowrepo.bench.sets import read_set
from knowrepo.cli.main import main
from knowrepo.errors import KnowError
from knowrepo.index import models
from knowrepo.index.build import refresh
from knowrepo.index.catalog import Catalog
from set_samples import dialogues, sessions


def words(text: str) -> int:
    return len(text.split())


@pytest.fixture
def kept(repository):
    body = "The kiln is fired at 1200 degrees. " * 20
    for number, title in enumerate(("Firing the kiln", "Mixing cobalt glaze", "Kiln repair")):
        write(repository, f"concepts/c{number}.md", concept(title, body=body))
    refresh(repository)
    return repository


def test_each_query_is_counted_as_lines_and_as_bodies(kept):
    compact, full = counting.count(kept, ["kiln repair"], tokens=words)
    assert (compact.mode, full.mode, compact.hits) == ("compact", "full", full.hits)
    assert compact.chars < full.chars
    assert compact.tokens == -(-compact.chars // 4)
    assert compact.model_tokens is not None
    assert 0 < compact.model_tokens < compact.chars


def test_the_saving_is_of_the_sums():
    counted = [
        Counted("a", "compact", 40, 10, 12, 2), Counted("a", "full", 400, 100, 110, 2),
        Counted("b", "compact", 80, 20, 18, 1), Counted("b", "full", 800, 200, 190, 1),
    ]  # fmt: skip
    sums = counting.saving(counted)
    assert sums["compact"] == {"chars": 120, "tokens": 30, "model_tokens": 30, "hits": 3}
    assert sums["full"] == {"chars": 1200, "tokens": 300, "model_tokens": 300, "hits": 3}
    assert (sums["queries"], sums["saved"], sums["model_tokens_a_line"]) == (2, 0.9, 10.0)


def test_without_a_vocabulary_the_models_tokens_are_none_and_not_nought():
    sums = counting.saving([Counted("a", "compact", 4, 1, None, 1)])
    assert sums["compact"]["model_tokens"] is None
    assert (sums["model_tokens_a_line"], sums["saved"]) == (None, None)


def test_queries_are_titles_from_all_of_a_repositorys_time(kept):
    with Catalog.open(kept.catalog) as catalog:
        assert len(counting.own_queries(catalog, 2)) == 2
        assert set(counting.own_queries(catalog)) == {
            "Firing the kiln", "Mixing cobalt glaze", "Kiln repair",
        }  # fmt: skip
    assert counting.evenly(list("abcdefgh"), 4) == ["a", "c", "e", "g"]


def test_figures_of_a_day_are_appended_to_one_file_that_only_the_user_reads(tmp_path):
    one = Counted("a", "full", 4, 1, None, 1)
    path = counting.keep(tmp_path / "new", [one])
    assert counting.keep(tmp_path / "new", [one]) == path
    rows = [json.loads(line) for line in path.read_text().splitlines()]
    assert rows == 2 * [{
        "query": "a", "mode": "full", "chars": 4, "tokens": 1, "model_tokens": None, "hits": 1,
    }]  # fmt: skip
    assert path.stat().st_mode & 0o077 == 0
    with pytest.raises(KnowError, match="cannot be written"):
        counting.keep(path, [one])


def test_the_right_answer_costs_lines_and_a_body_or_all_bodies_or_what_grep_prints(tmp_path):
    labelled = read_set(dialogues(tmp_path / "talk"))
    with opened(labelled, tmp_path / "work", Wanted(embedder=WordEmbedder())) as (here, asked):
        facts = counting.to_the_answer(here, asked, tokens=words)
        mends = counting.grep(here, "who mends the broken kiln")
        nothing = counting.grep(here, "lighthouse")
    assert (facts["questions"], facts["found"]) == (2, 2)
    assert facts["grep_holds_the_answer"] == 2
    assert min(facts["median_tokens"].values()) > 0
    assert facts["model_tokens_a_line"] > 1
    assert len(mends.splitlines()) == 1  # one line holds the rarest of its words
    assert mends.startswith("sessions/claude/")
    assert nothing == ""


@pytest.mark.model
def test_tokens_are_those_of_the_models_own_vocabulary():
    tokens = counting.tokens_of(models.current())
    assert tokens is not None
    assert tokens("the kiln") < tokens("the kiln is broken, ask somebody")
    assert tokens("") == 0
    assert tokens("cat") == 1


def test_the_command_keeps_its_figures_beside_the_logs(kept, monkeypatch, tmp_path, capsys):
    monkeypatch.setenv("KNOW_CACHE", str(tmp_path / "cache"))
    monkeypatch.chdir(kept.root)
    assert main(["bench", "tokens", "--json"]) == 0
    told = capsys.readouterr()
    facts = json.loads(told.out)
    assert (facts["version"], facts["queries"], facts["limit"]) == (1, 3, 10)
    assert facts["saved"] > 0
    (log,) = kept.logs.glob("tokens-*.jsonl")
    assert len(log.read_text().splitlines()) == 6
    assert str(log) in told.err
    assert git(kept.root, "status", "--porcelain", "--", str(log)) == ""


def test_queries_may_be_given_and_the_folder_named(kept, monkeypatch, tmp_path, capsys):
    monkeypatch.setenv("KNOW_CACHE", str(tmp_path / "cache"))
    code = main([
        "bench", "tokens", "--repo", str(kept.root), "--query", "glaze", "-k", "1",
        "--to", str(tmp_path / "to"), "--quiet",
    ])  # fmt: skip
    told = capsys.readouterr()
    assert (code, told.err) == (0, "")
    assert "1 hits of 1 queries" in told.out
    (log,) = (tmp_path / "to").iterdir()
    assert {json.loads(line)["query"] for line in log.read_text().splitlines()} == {"glaze"}


def test_a_set_is_asked_in_place_of_a_repository(monkeypatch, tmp_path, capsys):
    monkeypatch.setenv("KNOW_CACHE", str(tmp_path / "cache"))
    folder = sessions(tmp_path / "sess")
    arguments = ["bench", "tokens", "--set", str(folder), "--to", str(tmp_path / "to")]
    assert main([*arguments, "--cache", str(tmp_path / "kept"), "--quiet"]) == 0
    out = capsys.readouterr().out
    assert "to the right answer, in 2 of 2 questions" in out
    assert "  full bodies: " in out
    assert len(list((tmp_path / "kept").iterdir())) == 1


def test_an_empty_repository_has_nothing_to_ask_for(tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("KNOW_CACHE", str(tmp_path / "cache"))
    empty = make_repository(tmp_path / "empty")
    assert main(["bench", "tokens", "--repo", str(empty.root)]) == 1
    assert "--query" in capsys.readouterr().err
