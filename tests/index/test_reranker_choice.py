"""Which model reranks, and that it never takes the place of the one that embeds."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from pathlib import Path

import pytest

import tiny_models
from knowrepo import config
from knowrepo.errors import KnowError, ModelError, UsageError
from knowrepo.index import models
from knowrepo.index.models import choose, registry, rerankers
from knowrepo.tables import RerankConfig
from model_hub import BODY, entry, hub_here, use_registry


def second(body: bytes, **changes: object) -> dict[str, object]:
    """What the registry says of a reranker."""
    said = entry("second", kind="reranker", sha256=hashlib.sha256(body).hexdigest(), **changes)
    for key in ("dimension", "dimensions", "pooling", "passage_prefix", "query_prefix"):
        del said[key]
    return said


@pytest.fixture(autouse=True)
def tiny(monkeypatch, tmp_path) -> Iterator[Path]:
    """Models of the registry: `usual` embeds and `second` reranks, both fetched."""
    monkeypatch.setenv("KNOW_CACHE", str(tmp_path / "cache"))
    path = tiny_models.build_reranker(tmp_path)
    body = path.read_bytes()
    use_registry(monkeypatch, tmp_path / "registry.json", entry("usual"), second(body))
    (tmp_path / "usual.gguf").write_bytes(BODY)
    models.pull(models.find("usual"), source=tmp_path / "usual.gguf")
    models.pull(models.find("second"), source=path)
    yield path
    registry.known.cache_clear()


def written() -> str:
    return config.config_path().read_text()


def model() -> models.Model:
    choice = rerankers.chosen()
    assert choice is not None
    return choice.model()


def test_nothing_reranks_unless_somebody_chose_it():
    assert rerankers.chosen() is None
    assert config.load_user_config().rerank == RerankConfig("", 1.0)
    assert not rerankers.give_up()


def test_a_model_of_the_registry_reranks_and_the_one_that_embeds_stays(tmp_path):
    before = models.current()
    rerankers.choose("second")
    assert written() == '[rerank]\nmodel = "second"\n'
    assert model().path == tmp_path / "cache" / "models" / "second.gguf"
    assert models.current() == before
    assert models.previous() == []
    choose.choose(choose.by_name("usual"))
    assert model().name == "second"


def test_a_file_of_ones_own_reranks_by_its_absolute_path(tiny, monkeypatch):
    monkeypatch.chdir(tiny.parent)
    rerankers.choose(f"./{tiny.name}", 0.5)
    assert written() == f'[rerank]\nmodel = "{tiny}"\nseconds = 0.5\n'
    assert model().identity == f"sha256:{hashlib.sha256(tiny.read_bytes()).hexdigest()}"
    choice = rerankers.chosen()
    assert choice is not None
    assert choice.seconds == 0.5


def test_a_choice_and_giving_it_up_keep_all_else_in_the_configuration(tiny):
    config.config_path().write_text(
        '# mine\nmodel = "usual"  # this\n\n[rerank]\nseconds = 3\nmodel = "x"  # that\n\n'
        '[archive]\nexclude = ["x"]\n'
    )
    rerankers.choose("second")
    assert written() == (
        '# mine\nmodel = "usual"  # this\n\n[rerank]\nmodel = "second"  # that\n\n'
        '[archive]\nexclude = ["x"]\n'
    )
    assert rerankers.give_up()
    assert written() == '# mine\nmodel = "usual"  # this\n\n[archive]\nexclude = ["x"]\n'


def test_one_that_embeds_is_not_taken_for_one_that_reranks(tmp_path):
    with pytest.raises(UsageError, match="usual: an embedding model") as caught:
        rerankers.choose("usual")
    assert "second" in caught.value.hint
    with pytest.raises(UsageError, match="usual: an embedding model"):
        rerankers.choose(str(tmp_path / "cache" / "models" / "usual.gguf"))
    path = tiny_models.build(tmp_path, "bert")
    with pytest.raises(ModelError, match="no classification head"):
        rerankers.choose(str(path))
    assert not config.config_path().exists()


def test_one_that_reranks_is_not_taken_for_one_that_embeds(tiny, tmp_path, monkeypatch):
    with pytest.raises(UsageError, match="second: a reranker") as caught:
        choose.by_name("second")
    assert "know model use --rerank second" in caught.value.hint
    with pytest.raises(UsageError, match="second: a reranker"):
        choose.by_path(tiny)
    assert not config.config_path().exists()
    config.config_path().write_text('model = "second"\n')
    with pytest.raises(ModelError, match=r"second: the model named in .*config\.toml reranks"):
        models.current()
    config.config_path().write_text("")
    monkeypatch.setenv("KNOW_MODEL", "second")
    with pytest.raises(ModelError, match="named in KNOW_MODEL reranks"):
        models.current()


@pytest.mark.parametrize("named", ["gone", "own.gguf", "./own.gguf", "~/own.gguf"])
def test_what_is_not_there_is_refused_before_anything_is_written(named):
    with pytest.raises(KnowError):
        rerankers.choose(named)
    assert not config.config_path().exists()


def test_what_was_chosen_and_is_not_there_any_more_says_how_to_get_it(tiny):
    rerankers.choose("second")
    models.remove(models.find("second"))
    with pytest.raises(ModelError, match="second: the reranker named in") as caught:
        model()
    assert "know model pull second" in caught.value.hint
    rerankers.choose(str(tiny))
    tiny.unlink()
    with pytest.raises(ModelError, match="is not there") as caught:
        model()
    assert "--no-rerank" in caught.value.hint


def test_one_that_was_damaged_since_it_was_fetched_is_not_used(tmp_path):
    rerankers.choose("second")
    file = tmp_path / "cache" / "models" / "second.gguf"
    file.write_bytes(file.read_bytes()[:-1] + b"x")
    with pytest.raises(ModelError, match="damaged"):
        model()


def test_a_path_that_is_looked_for_in_the_folder_at_hand_is_refused(tiny, monkeypatch):
    monkeypatch.chdir(tiny.parent)
    config.config_path().write_text(f'[rerank]\nmodel = "{tiny.name}"\n')
    with pytest.raises(ModelError, match="neither known nor an absolute path"):
        model()


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("rerank = 1\n", "`rerank` must be a table"),
        ("[rerank]\nmodel = 1\n", "rerank: `model` must be a string"),
        ("[rerank]\nseconds = 0\n", "`seconds` must be from 0.05 to 60"),
        ("[rerank]\nseconds = true\n", "`seconds` must be from 0.05 to 60"),
        ("[rerank]\nseconds = nan\n", "`seconds` must be from 0.05 to 60"),
    ],
)
def test_a_table_that_says_nothing_of_use_is_an_error(text, said):
    config.config_path().write_text(text)
    with pytest.raises(KnowError, match=said):
        config.load_user_config()


def test_an_unknown_key_is_told_and_a_repository_has_no_say(repository):
    config.config_path().write_text('[rerank]\nmodel = "second"\nweight = 1\n')
    assert config.load_user_config().unknown == ("rerank.weight",)
    (repository.root / "know.toml").write_text('format = 1\n[rerank]\nmodel = "/x.gguf"\n')
    assert config.load_repository_config(repository.root).unknown == ("rerank",)


def test_a_reranker_is_fetched_from_the_hub_under_its_hash(tiny, monkeypatch, tmp_path):
    models.remove(models.find("second"))
    with hub_here(monkeypatch) as hub:
        hub.body = tiny.read_bytes()
        hub.etag = hashlib.sha256(hub.body).hexdigest()
        target = models.pull(models.find("second"))
        assert target.read_bytes() == hub.body
        models.remove(models.find("second"))
        hub.body = hub.body[:-1] + b"x"
        with pytest.raises(ModelError, match="nothing was installed"):
            models.pull(models.find("second"))
