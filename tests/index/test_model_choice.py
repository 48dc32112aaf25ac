"""Which model is in use: what configuration, environment and the past come to."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from knowrepo import config
from knowrepo.errors import KnowError, ModelError, UsageError
from knowrepo.index import models
from knowrepo.index.models import choose, registry
from knowrepo.tables import EndpointConfig
from model_hub import BODY, SHA256, entry, use_registry

LOCAL = EndpointConfig("http://127.0.0.1:8080/v1", "served")


@pytest.fixture(autouse=True)
def folder(monkeypatch, tmp_path) -> Iterator[Path]:
    """Two models of the registry, both fetched; `usual` is the default."""
    monkeypatch.setenv("KNOW_CACHE", str(tmp_path / "cache"))
    use_registry(
        monkeypatch,
        tmp_path / "registry.json",
        entry("usual", sha256="", dimensions=[64]),
        entry("small"),
    )
    for name, body in (("usual", b"GGUF usual"), ("small", BODY)):
        (tmp_path / f"{name}.gguf").write_bytes(body)
        models.pull(models.find(name), source=tmp_path / f"{name}.gguf")
    yield tmp_path / "cache" / "models"
    registry.known.cache_clear()


def configure(text: str) -> None:
    config.config_path().write_text(text)


def written() -> str:
    return config.config_path().read_text()


def own_file(path: Path, body: bytes = b"GGUF mine") -> Path:
    path.write_bytes(body)
    return path


def current() -> models.Model:
    found = models.current()
    assert found is not None
    return found


def test_where_nobody_chose_it_is_the_default(folder):
    assert current().name == "usual"
    (folder / "usual.gguf").unlink()
    assert models.current() is None


def test_a_model_that_is_chosen_by_name_has_what_its_makers_say(folder):
    choose.choose(choose.by_name("small", dimension=32))
    assert current() == models.Model(
        "small", folder / "small.gguf", f"sha256:{SHA256}", "passage: ", "query: ", 32, "cls"
    )
    choose.choose(choose.by_name("small", dimension=64))
    assert current().dimension == 0
    assert "dimension" not in written()


def test_what_is_configured_and_not_here_says_how_to_get_it(folder):
    configure('model = "small"\n')
    models.remove(models.find("small"))
    with pytest.raises(ModelError, match=r"small: the model named in .*is not here") as caught:
        models.current()
    assert "know model pull small" in caught.value.hint
    with pytest.raises(ModelError, match="not here"):
        choose.by_name("small")


def test_a_file_that_the_registry_no_longer_names_is_not_used(folder, monkeypatch, tmp_path):
    use_registry(
        monkeypatch, tmp_path / "registry.json", entry("usual"), entry("small", sha256="a" * 64)
    )
    configure('model = "small"\n')
    with pytest.raises(ModelError, match="not the file that the registry names") as caught:
        models.current()
    assert "know model pull small" in caught.value.hint


def test_only_trained_dimensions_unless_it_is_forced():
    with pytest.raises(UsageError, match="--dimension 48: small: it was trained for 64, 32") as e:
        choose.by_name("small", dimension=48)
    assert "--force" in e.value.hint
    with pytest.raises(UsageError, match="it was not trained to be cut; it has 64"):
        choose.by_name("usual", dimension=32)
    assert choose.by_name("small", dimension=48, force=True).dimension == 48
    for dimension in (65, -1):
        with pytest.raises(UsageError, match="it must be from 1 to 64"):
            choose.by_name("small", dimension=dimension, force=True)


def test_a_file_of_ones_own_is_not_known_to_be_trained_for_any(tmp_path):
    path = own_file(tmp_path / "own.gguf")
    with pytest.raises(UsageError, match="not known which dimensions"):
        choose.by_path(path, dimension=32)
    choice, _ = choose.by_path(path, dimension=32, force=True)
    choose.choose(choice)
    assert current().dimension == 32


def test_more_dimensions_than_there_are_is_said_where_it_stands():
    configure('model = "small"\ndimension = 100\n')
    with pytest.raises(ModelError, match="`dimension` is 100, but it has only 64"):
        models.current()


def test_a_file_of_ones_own_has_the_prefixes_that_are_given(tmp_path):
    path = own_file(tmp_path / "own.gguf")
    choice, known = choose.by_path(path, passage_prefix="p: ", query_prefix="q: ", pooling="last")
    assert known is None
    choose.choose(choice)
    sha256 = hashlib.sha256(b"GGUF mine").hexdigest()
    assert current() == models.Model("own", path, f"sha256:{sha256}", "p: ", "q: ", 0, "last")


def test_a_file_whose_hash_is_known_is_known(tmp_path):
    path = own_file(tmp_path / "fetched.gguf", BODY)
    choice, known = choose.by_path(path, dimension=32)
    assert known is models.find("small")
    assert (choice.passage_prefix, choice.query_prefix, choice.pooling) == (
        "passage: ", "query: ", "cls"
    )  # fmt: skip
    other, _ = choose.by_path(path, query_prefix="")
    assert other.query_prefix == ""
    # The same weights are the same model, wherever they lie.
    choose.choose(choice)
    here = current()
    choose.choose(choose.by_name("small", dimension=32))
    assert replace(current(), name=here.name, path=here.path) == here


def test_a_file_that_is_no_model_is_refused_before_anything_is_written(tmp_path):
    with pytest.raises(ModelError, match="no such file"):
        choose.by_path(tmp_path / "gone.gguf")
    with pytest.raises(ModelError, match="not a GGUF file"):
        choose.by_path(own_file(tmp_path / "own.gguf", b"PK"))
    assert not config.config_path().exists()


def test_a_path_that_is_looked_for_in_the_folder_at_hand_is_refused(tmp_path, monkeypatch):
    own_file(tmp_path / "cloned.gguf")
    monkeypatch.chdir(tmp_path)
    for named in ("cloned.gguf", "./cloned.gguf"):
        configure(f'model = "{named}"\n')
        with pytest.raises(ModelError, match="neither known nor an absolute path"):
            models.current()


def test_a_choice_keeps_all_else_in_the_configuration(tmp_path):
    configure(
        '# mine\nrepository = "/memory"  # here\nquery_prefix = "old: "\n\n[archive]\n'
        'exclude = ["x"]  # never\n\n[[projects]]\nidentity = "a"\npath = "/a"\n'
        'repository = "/memory"\n'
    )
    choose.choose(choose.by_name("small", dimension=32))
    assert written() == (
        '# mine\nrepository = "/memory"  # here\nmodel = "small"\ndimension = 32\n\n[archive]\n'
        'exclude = ["x"]  # never\n\n[[projects]]\nidentity = "a"\npath = "/a"\n'
        'repository = "/memory"\n'
    )
    choose.choose(choose.by_endpoint(replace(LOCAL, query_prefix="q: ")))
    assert current().query_prefix == "q: "
    assert "[endpoint]" in written()
    choose.choose(choose.by_name("usual"))
    assert "[endpoint]" not in written()
    settings = config.load_user_config()
    assert (settings.unknown, settings.repository, settings.exclude) == ((), "/memory", ("x",))


def test_the_environment_overrides_what_is_configured(folder, tmp_path, monkeypatch):
    own = own_file(tmp_path / "own.gguf")
    configure('query_prefix = "q: "\npooling = "cls"\n')
    monkeypatch.setenv("KNOW_MODEL", str(own))
    assert (current().path, current().query_prefix, current().pooling) == (own, "q: ", "cls")
    monkeypatch.setenv("KNOW_MODEL", "small")
    assert (current().name, current().query_prefix) == ("small", "query: ")
    monkeypatch.setenv("KNOW_MODEL", str(folder / "small.gguf"))
    assert (current().name, current().query_prefix) == ("small", "query: ")
    # What is said of another model does not become this one's.
    monkeypatch.setenv("KNOW_MODEL", str(own))
    configure('model = "small"\ndimension = 32\n')
    assert (current().path, current().dimension) == (own, 0)
    configure('[endpoint]\nurl = "http://localhost:1/v1"\nmodel = "m"\n')
    assert (current().path, current().endpoint) == (own, "")
    monkeypatch.setenv("KNOW_MODEL", str(tmp_path / "gone.gguf"))
    with pytest.raises(ModelError, match="the model named in KNOW_MODEL is not there"):
        models.current()


def test_an_endpoint_is_a_model_known_by_its_address_and_name():
    choose.choose(choose.by_endpoint(replace(LOCAL, passage_prefix="p: ", timeout_seconds=5)))
    assert current() == models.Model(
        "served",
        Path(),
        "endpoint:http://127.0.0.1:8080/v1#served",
        "p: ",
        endpoint="http://127.0.0.1:8080/v1",
        timeout=5,
    )
    other = models.of(choose.by_endpoint(replace(LOCAL, url="http://localhost:8080/v1/")))
    assert other is not None
    assert other.identity != current().identity
    assert other.endpoint == "http://localhost:8080/v1"


@pytest.mark.parametrize(
    "url",
    ["http://127.0.0.1:8080/v1", "https://localhost/v1", "http://[::1]:80/v1", "http://127.9.9.9/"],
)
def test_this_machine_is_loopback(url):
    assert choose.by_endpoint(replace(LOCAL, url=url)).endpoint.url == url


@pytest.mark.parametrize(
    "url",
    [
        "http://192.168.1.2:8080/v1",
        "http://example.org/v1",
        "http://0.0.0.0:8080/v1",
        "http://localhost.example.org/v1",
        "http://x.localhost/v1",
        "http://127.0.0.1.example.org/v1",
        "http://2130706433/v1",
        "http://[::ffff:10.0.0.1]/v1",
    ],
)
def test_another_machine_needs_leave(url):
    with pytest.raises(UsageError, match="may be another machine") as caught:
        choose.by_endpoint(replace(LOCAL, url=url))
    assert "--allow-remote" in caught.value.hint
    configure(f'[endpoint]\nurl = "{url}"\nmodel = "m"\n')
    with pytest.raises(KnowError, match=r"config\.toml: endpoint: .*may be another machine"):
        models.current()
    configure(f'[endpoint]\nurl = "{url}"\nmodel = "m"\nallow_remote = true\n')
    assert current().endpoint == url.rstrip("/")


@pytest.mark.parametrize(
    "url",
    [
        "", "127.0.0.1:8080", "ftp://127.0.0.1/", "file:///etc/passwd", "unix:/run/x", "http://",
        "http://127.0.0.1:99999/", "http://[::1/", "http://127.0.0.1/a b", "http://127.0.0.1\\@x/",
        "http://user:pw@127.0.0.1/", "http://127.0.0.1@example.org/", "http://127.0.0.1/?key=x",
        "http://127.0.0.1/#x", "http://127.0.0.1/\n",
    ],
)  # fmt: skip
@pytest.mark.parametrize("remote", [False, True])
def test_what_is_no_plain_address_is_refused_with_leave_or_without(url, remote):
    with pytest.raises(UsageError, match="--endpoint: "):
        choose.by_endpoint(replace(LOCAL, url=url, allow_remote=remote))


def test_an_endpoint_and_a_model_exclude_each_other_and_tables_are_checked():
    for text, said in {
        'model = "small"\n[endpoint]\nurl = "http://localhost/"\nmodel = "m"\n': "exclude each",
        'endpoint = "http://localhost/"\n': "`endpoint` must be a table",
        '[endpoint]\nurl = "http://localhost/"\n': "`model` must say",
        '[endpoint]\nurl = "http://localhost/"\nmodel = 3\n': "`model` must be a string",
        '[endpoint]\nurl = "http://localhost/"\nmodel = "m"\nallow_remote = 1\n': "true or false",
        '[endpoint]\nurl = "http://localhost/"\nmodel = "m"\ntimeout_seconds = 0\n': "from 1 to",
        "dimension = 0\n": "`dimension` must be from 1",
        "dimension = true\n": "`dimension` must be from 1",
        'pooling = "max"\n': "`pooling` must be one of mean, cls, last",
    }.items():
        configure(text)
        with pytest.raises(KnowError, match=f"config.toml: .*{said}"):
            models.current()
    configure('[endpoint]\nurl = "http://localhost/"\nmodel = "m"\nkey = "x"\n')
    assert config.load_user_config().unknown == ("endpoint.key",)


def test_a_repository_has_no_say_in_it(repository, monkeypatch, tmp_path):
    own = own_file(repository.root / "cloned.gguf")
    (repository.root / "know.toml").write_text(
        f'format = 1\nmodel = "{own}"\ndimension = 1\nquery_prefix = "x"\n[endpoint]\n'
        'url = "http://127.0.0.1:1/v1"\nmodel = "m"\n'
    )
    monkeypatch.chdir(repository.root)
    assert current().name == "usual"
    assert config.load_repository_config(repository.root).unknown == (
        "dimension", "endpoint", "model", "query_prefix"
    )  # fmt: skip


def test_models_used_before_are_remembered_the_last_first(folder, tmp_path):
    assert models.previous() == []
    first = current()
    choose.choose(choose.by_name("small", dimension=32))
    second = current()
    assert models.previous() == [first]
    choice, _ = choose.by_path(own_file(tmp_path / "own.gguf"))
    choose.choose(choice)
    third = current()
    assert models.previous() == [second, first]
    choose.choose(choose.by_name("usual"))
    assert models.previous() == [third, second]
    choose.choose(choose.by_name("usual"))  # again, which changes nothing
    assert models.previous() == [third, second]
    choose.choose(choose.by_endpoint(LOCAL))
    assert models.previous() == [first, third, second]


def test_of_those_used_before_only_what_is_still_there_and_the_same(folder, tmp_path):
    own = own_file(tmp_path / "own.gguf")
    choose.choose(choose.by_path(own)[0])
    mine = current()
    choose.choose(choose.by_name("small"))
    small = current()
    choose.choose(choose.by_name("usual"))
    assert models.previous() == [small, mine]
    own.write_bytes(b"GGUF other")
    assert models.previous() == [small]
    models.remove(models.find("small"))
    assert models.previous() == []


def test_a_server_that_one_turned_away_from_is_not_asked_again():
    choose.choose(choose.by_endpoint(LOCAL))
    choose.choose(choose.by_name("small"))
    assert [model.name for model in models.previous()] == ["usual"]


@pytest.mark.parametrize("content", ["", "{", "[]", '{"models": [{"x": 1}]}', '{"models": 3}'])
def test_a_memory_that_says_nothing_is_none(folder, content):
    (folder / "used.json").write_text(content)
    assert models.previous() == []
    choose.choose(choose.by_name("small"))
    assert [model.name for model in models.previous()] == ["usual"]


def test_few_are_remembered(tmp_path):
    for number in range(12):
        choose.choose(choose.by_path(own_file(tmp_path / f"{number}.gguf"))[0])
    assert [model.name for model in models.previous()] == ["10", "9", "8", "7", "6"]


def test_a_memory_that_cannot_be_written_stops_no_choice(folder):
    (folder / "used.json").mkdir()
    choose.choose(choose.by_name("small"))
    assert current().name == "small"
    assert models.previous() == []
