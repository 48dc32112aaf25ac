"""``know model``, as a person types it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

import tiny_models
from helpers import transcript, user
from knowrepo.config import config_path
from knowrepo.index.models import registry
from model_hub import BODY, Hub, entry, hub_here, use_registry


@pytest.fixture(autouse=True)
def folder(monkeypatch, tmp_path) -> Iterator[Path]:
    monkeypatch.setenv("KNOW_CACHE", str(tmp_path / "cache"))
    use_registry(monkeypatch, tmp_path / "registry.json", entry("usual", sha256=""), entry())
    yield tmp_path / "cache" / "models"
    registry.known.cache_clear()


@pytest.fixture
def hub(monkeypatch) -> Iterator[Hub]:
    with hub_here(monkeypatch) as here:
        yield here


def test_pull_prints_where_the_model_lies_and_talks_elsewhere(know, hub, folder):
    result = know("model", "pull", "small")
    assert (result.code, result.out) == (0, f"{folder / 'small.gguf'}\n")
    assert "fetching small.gguf of makers/small-gguf, 4 MB" in result.err
    assert know("model", "pull", "usual", "--quiet").err == ""


def test_pull_refuses_what_is_not_the_registrys_in_one_line(know, hub, folder):
    hub.body = BODY[:-1] + b"x"
    result = know("model", "pull", "small")
    assert (result.code, result.out) == (1, "")
    told = [line for line in result.err.splitlines() if line.startswith("know: ")]
    assert len(told) == 1
    assert "nothing was installed" in told[0]


def test_pull_without_a_network_names_the_way_out(know, monkeypatch):
    monkeypatch.setenv("HF_ENDPOINT", "http://127.0.0.1:9")
    result = know("model", "pull", "small")
    assert (result.code, result.out) == (1, "")
    assert "know model pull small --from FILE" in result.err
    assert "Traceback" not in result.err


def test_a_download_that_is_stopped_exits_as_interrupted(know, hub, monkeypatch):
    def stop(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("huggingface_hub.file_download.http_get", stop)
    assert know("model", "pull", "small").code == 130


def test_use_says_what_is_in_use_and_list_and_path_agree(know, hub, folder):
    know("model", "pull", "small")
    result = know("model", "use", "small", "--dimension", "32")
    assert (result.code, result.out) == (
        0,
        f"{config_path()}: uses small, cut to 32 dimensions\n",
    )
    assert know("model", "path").out == f"{folder / 'small.gguf'}\n"
    listed = know("model", "list").out.splitlines()
    assert len(listed) == 2
    assert listed[0].split()[:3] == ["usual", "not", "pulled"]
    assert listed[1].split()[:3] == ["*", "small", "here"]
    assert "64/32 cut to 32" in listed[1]
    data = json.loads(know("model", "list", "--json").out)
    assert data["version"] == 1
    used = [row for row in data["models"] if row["in_use"]]
    assert [row["name"] for row in used] == ["small"]
    assert used[0]["dimensions"] == [64, 32]
    assert used[0]["licence"] == "MIT"


def test_list_says_how_to_get_one_where_there_is_none(know):
    result = know("model", "list")
    assert result.code == 0
    assert "none is in use; `know model pull` brings usual" in result.err


def test_list_and_path_show_a_model_of_ones_own_and_an_endpoint(know, tmp_path):
    own = tmp_path / "own.gguf"
    own.write_bytes(b"GGUF mine")
    result = know("model", "use", str(own))
    assert "no prefixes" in result.err
    assert know("model", "list").out.splitlines()[0].split()[:3] == ["*", "own", "here"]
    assert know("model", "path").out == f"{own}\n"
    know("model", "use", "--endpoint", "http://127.0.0.1:8080/v1", "--name", "served")
    assert know("model", "list").out.splitlines()[0].split()[:3] == ["*", "served", "endpoint"]
    result = know("model", "path")
    assert (result.code, result.out) == (1, "")
    assert "runs behind http://127.0.0.1:8080/v1" in result.err


def test_a_file_that_is_known_says_so(know, tmp_path):
    (tmp_path / "fetched.gguf").write_bytes(BODY)
    result = know("model", "use", str(tmp_path / "fetched.gguf"))
    assert "it is small, whose prefixes are known" in result.err
    assert 'query_prefix = "query: "' in config_path().read_text()


def test_list_says_what_is_wrong_with_the_model_that_should_be_in_use(know, tmp_path):
    config_path().write_text(f'model = "{tmp_path}/gone.gguf"\n')
    result = know("model", "list")
    assert result.code == 0
    assert "gone.gguf: the model named in" in result.err
    assert "none is in use" not in result.err


def test_the_list_of_the_real_models_fits_a_terminal(know, monkeypatch):
    shipped = Path(registry.__file__).with_name("registry.json")
    monkeypatch.setattr(registry, "_FILE", shipped)
    registry.known.cache_clear()
    lines = know("model", "list").out.splitlines()
    assert len(lines) >= 7
    assert max(map(len, lines)) <= 80


def test_use_before_pull_says_the_command(know):
    result = know("model", "use", "small")
    assert (result.code, result.out) == (1, "")
    assert "`know model pull small` fetches it" in result.err


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ([], "name a model, or an endpoint"),
        (["small", "--endpoint", "http://localhost/"], "an endpoint, not both"),
        (["unknown"], "no model is called unknown"),
        (["small", "--query-prefix", "x"], "its prefixes and its pooling are known"),
        (["/x.gguf", "--name", "m"], "only for `--endpoint`"),
        (["/x.gguf", "--pooling", "max"], "known are mean, cls, last"),
        (["--endpoint", "http://localhost/", "--name", "m", "--pooling", "cls"], "pools by itself"),
        (["--endpoint", "http://localhost/"], "`--name` must say"),
        (["--endpoint", "http://example.org/", "--name", "m"], "may be another machine"),
        (["--endpoint", "http://localhost/", "--name", "m", "--dimension", "9"], "not known which"),
        (["--endpoint", "http://localhost/", "--name", "m", "--timeout", "0"], "--timeout"),
    ],
)
def test_wrong_usage_of_use_is_said_and_writes_nothing(know, arguments, said):
    result = know("model", "use", *arguments)
    assert (result.code, result.out) == (2, "")
    assert said in result.err
    assert not config_path().exists()


def test_use_counts_what_is_to_be_embedded_in_the_repository_at_hand(
    know, hub, repository, monkeypatch, tmp_path
):
    know("model", "pull", "small")
    assert "texts here" not in know("model", "use", "small").err  # there is no catalog yet
    transcript(tmp_path / "in", [user("why does the journal grow", 1)])
    assert know("archive", str(tmp_path / "in")).code == 0
    assert know("index", "--no-vectors").code == 0
    told = know("model", "use", "small").err
    assert "1 texts here have no vector of it; `know index` makes them" in told
    monkeypatch.chdir(tmp_path)
    assert "texts here" not in know("model", "use", "small").err
    assert "1 texts here" in know("model", "use", "small", "--repo", str(repository.root)).err
    assert know("model", "use", "small", "--repo", str(tmp_path)).code == 1


def test_use_says_where_the_environment_overrides_it(know, hub, monkeypatch):
    know("model", "pull", "small")
    monkeypatch.setenv("KNOW_MODEL", "small")
    assert "KNOW_MODEL is set, and overrides it" in know("model", "use", "small").err


def test_rm_leaves_the_model_in_use_unless_it_is_forced(know, hub, folder):
    know("model", "pull", "small")
    know("model", "use", "small")
    result = know("model", "rm", "small")
    assert (result.code, result.out) == (1, "")
    assert "in use" in result.err
    assert (folder / "small.gguf").exists()
    assert know("model", "rm", "small", "--force").out == "small: removed\n"
    assert not (folder / "small.gguf").exists()
    assert know("model", "rm", "small").code == 1
    assert know("model", "rm", "unknown").code == 2


def test_an_answer_from_the_structured_layer_reads_no_registry(know, repository, commit):
    (repository.root / "concepts" / "journal.md").write_text(
        "---\ntype: Decision\ntitle: The journal\ntags: [git]\n---\n\nText.\n"
    )
    commit()
    know("index", "--no-vectors")
    registry.known.cache_clear()
    assert "The journal" in know("recall", "tag:git").out
    assert registry.known.cache_info().misses == 0
    know("model", "list")
    assert registry.known.cache_info().misses == 1


@pytest.fixture
def second(monkeypatch, tmp_path) -> Path:
    """A registry with a reranker, whose file lies in the folder at hand."""
    path = tiny_models.build_reranker(tmp_path)
    said = entry("second", kind="reranker", sha256="", dimension=0, dimensions=[], pooling="")
    use_registry(monkeypatch, tmp_path / "registry.json", entry("usual", sha256=""), said)
    return path


def test_a_reranker_is_pulled_chosen_listed_and_removed_apart_from_what_embeds(
    know, second, folder
):
    (second.parent / "usual.gguf").write_bytes(BODY)
    know("model", "pull", "usual", "--from", str(second.parent / "usual.gguf"))
    know("model", "pull", "second", "--from", str(second))
    result = know("model", "use", "--rerank", "second", "--seconds", "0.5")
    assert (result.code, result.out, result.err) == (
        0, f"{config_path()}: reranks with second, for 0.5 s at most\n", ""
    )  # fmt: skip
    assert know("model", "path").out == f"{folder / 'usual.gguf'}\n"
    assert know("model", "path", "--rerank").out == f"{folder / 'second.gguf'}\n"
    lines = know("model", "list").out.splitlines()
    assert [line.split()[:2] for line in lines] == [["*", "usual"], ["*", "second"]]
    assert "reranks" in lines[1]
    rows = json.loads(know("model", "list", "--json").out)["models"]
    assert [(row["name"], row["kind"], row["in_use"]) for row in rows] == [
        ("usual", "embedding", True), ("second", "reranker", True)
    ]  # fmt: skip
    result = know("model", "rm", "second")
    assert (result.code, result.out) == (1, "")
    assert "`know model use --no-rerank` first" in result.err
    assert know("model", "use", "--no-rerank").out == f"{config_path()}: reranks no more\n"
    assert know("model", "use", "--no-rerank").out == f"{config_path()}: nothing reranked\n"
    assert know("model", "rm", "second").code == 0
    assert know("model", "path", "--rerank").code == 1


def test_a_reranker_of_ones_own_is_listed_and_one_that_is_gone_is_told(know, second):
    assert know("model", "use", "--rerank", str(second)).code == 0
    rows = json.loads(know("model", "list", "--json").out)["models"]
    assert (rows[0]["name"], rows[0]["kind"], rows[0]["in_use"]) == ("bert-rank", "reranker", True)
    assert not any(row["in_use"] for row in rows[1:])
    second.unlink()
    result = know("model", "list")
    assert result.code == 0
    assert "bert-rank.gguf: the reranker named in" in result.err


def test_a_file_that_cannot_rerank_is_told_in_one_line_and_nothing_is_written(know, tmp_path):
    path = tiny_models.build(tmp_path, "bert")
    result = know("model", "use", "--rerank", str(path))
    assert (result.code, result.out) == (1, "")
    assert "not a reranker (it has no classification head" in result.err
    assert not config_path().exists()


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--rerank", "small"], "small: an embedding model"),
        (["--rerank", "unknown"], "no model is called unknown"),
        (["--rerank", "second", "small"], "each stands alone"),
        (["--rerank", "second", "--no-rerank"], "each stands alone"),
        (["--no-rerank", "--dimension", "32"], "each stands alone"),
        (["--no-rerank", "--allow-remote"], "each stands alone"),
        (["--no-rerank", "--seconds", "1"], "only for `--rerank`"),
        (["small", "--seconds", "1"], "only for `--rerank`"),
        (["--rerank", "second", "--seconds", "0"], "must be from 0.05 to 60"),
        (["--rerank", "second", "--seconds", "nan"], "must be from 0.05 to 60"),
    ],
)
def test_wrong_usage_of_reranking_is_said_and_writes_nothing(know, arguments, said):
    result = know("model", "use", *arguments)
    assert (result.code, result.out) == (2, "")
    assert said in result.err
    assert not config_path().exists()


def test_a_recall_without_its_reranker_answers_and_says_so(know, second, repository, commit):
    (repository.root / "concepts" / "journal.md").write_text(
        "---\ntype: Decision\ntitle: T\n---\n\nThe rollback shuts readers out.\n\n# Two\n\n"
        "No rollback, no readers.\n"
    )
    commit()
    know("index", "--no-vectors")
    know("model", "use", "--rerank", str(second))
    found = know("recall", "rollback readers")
    second.write_bytes(b"PK")
    result = know("recall", "rollback readers")
    assert (result.code, found.code) == (0, 0)
    assert "not reranked: " in result.err
    assert "not reranked: " not in found.err
    assert result.out
