"""Downloads from a hub on this machine, by the hub's own client."""

from __future__ import annotations

import hashlib
import os
import resource
import sys
from collections import namedtuple
from collections.abc import Iterator
from pathlib import Path

import huggingface_hub
import pytest
from filelock import FileLock

from knowrepo.errors import ModelError
from knowrepo.index import models
from knowrepo.index.models import hub as hub_module
from knowrepo.index.models import registry
from model_hub import BODY, SHA256, Hub, entry, hub_here, proxy_here, use_registry


@pytest.fixture(autouse=True)
def folder(monkeypatch, tmp_path) -> Iterator[Path]:
    monkeypatch.setenv("KNOW_CACHE", str(tmp_path / "cache"))
    use_registry(monkeypatch, tmp_path / "registry.json", entry("other"), entry("small"))
    yield tmp_path / "cache" / "models"
    registry.known.cache_clear()


@pytest.fixture
def hub(monkeypatch) -> Iterator[Hub]:
    # It waits a second before it goes on after a cut.
    monkeypatch.setattr("huggingface_hub.file_download.time.sleep", lambda _: None)
    # And reads ten megabytes at a time.
    monkeypatch.setattr("huggingface_hub.constants.DOWNLOAD_CHUNK_SIZE", 1 << 18)
    with hub_here(monkeypatch) as here:
        yield here


def pull(name: str = "small", **options) -> Path:
    return models.pull(models.find(name), **options)


def left(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir() if not path.name.endswith(".lock"))


def test_a_model_is_downloaded_to_our_folder_as_a_plain_file(hub, folder):
    told: list[tuple[int, int]] = []
    path = pull(progress=lambda done, total: told.append((done, total)))
    assert path == folder / "small.gguf"
    assert not path.is_symlink()
    assert path.read_bytes() == BODY
    assert left(folder) == ["small.gguf", "small.gguf.json"]
    assert told[-1] == (len(BODY), len(BODY))
    assert len(told) > 3
    assert hub.asked[0][:2] == ("HEAD", "/makers/small-gguf/resolve/main/small.gguf")


def test_a_model_that_is_here_asks_nobody(hub):
    pull()
    asked = len(hub.asked)
    pull()
    assert len(hub.asked) == asked


def test_a_connection_that_is_cut_is_gone_on_with(hub):
    hub.cuts = [1_000_000]
    assert pull().read_bytes() == BODY
    assert len(hub.gets) == 2
    assert hub.gets[1]["range"].startswith("bytes=")


def test_a_download_that_was_stopped_goes_on_in_the_next_run(hub, folder):
    def stop(done: int, _total: int) -> None:
        if done > 1_000_000:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        pull(progress=stop)
    (part,) = left(folder)
    had = (folder / part).stat().st_size
    assert had > 1_000_000
    said: list[str] = []
    assert pull(say=said.append).read_bytes() == BODY
    assert hub.gets[-1]["range"] == f"bytes={had}-"
    assert said == [f"going on with small at {had / 1e6:.0f} MB"]
    assert left(folder) == ["small.gguf", "small.gguf.json"]


def test_a_download_begins_anew_where_the_hub_has_another_file_by_now(hub, folder, monkeypatch):
    hub.cuts = [1_000_000] + [0] * 20
    with pytest.raises(ModelError):
        pull()
    assert left(folder)
    hub.cuts, hub.etag = [], "f" * 64
    assert pull().read_bytes() == BODY
    assert "range" not in hub.gets[-1]


def test_a_server_that_cannot_go_on_is_read_from_the_start(hub):
    hub.cuts, hub.ranges = [1_000_000], False
    assert pull().read_bytes() == BODY


def test_a_server_that_sends_more_than_it_says_fills_no_disk(hub, folder):
    size, hub.size = len(hub.body), 1_000_000
    assert size > hub.size
    with pytest.raises(ModelError, match="more than 1,000,000 bytes came"):
        pull()
    assert left(folder) == []
    assert len(hub.gets) <= 2


def test_a_connection_that_is_cut_again_and_again_is_one_line(hub, folder):
    hub.cuts = [0] * 20
    with pytest.raises(ModelError, match=r"^small: http://127.0.0.1:\d+ cannot be reached: ") as e:
        pull()
    assert "\n" not in e.value.message
    assert "--from FILE" in e.value.hint
    assert not (folder / "small.gguf").exists()


def test_a_file_that_is_not_the_registrys_is_not_installed(hub, folder):
    hub.body = BODY[:-1] + b"x"
    with pytest.raises(ModelError, match=f"not the file that the registry names.*not {SHA256}"):
        pull()
    assert left(folder) == []


def test_a_model_that_is_here_outlives_a_wrong_download(hub, folder, tmp_path):
    pull()
    (tmp_path / "wrong.gguf").write_bytes(b"GGUF wrong")
    with pytest.raises(ModelError, match="nothing was installed"):
        pull(source=tmp_path / "wrong.gguf")
    assert (folder / "small.gguf").read_bytes() == BODY
    assert left(folder) == ["small.gguf", "small.gguf.json"]


def test_a_page_in_place_of_a_file_is_no_model(hub, folder, monkeypatch, tmp_path):
    use_registry(monkeypatch, tmp_path / "registry.json", entry("small", sha256=""))
    hub.body = b"<html>please log in</html>" * 100
    hub.etag = "plain"
    with pytest.raises(ModelError, match="not a GGUF file"):
        pull()
    assert left(folder) == []


def test_where_no_hash_is_known_the_first_is_kept_and_holds(hub, monkeypatch, tmp_path):
    use_registry(monkeypatch, tmp_path / "registry.json", entry("small", sha256=""))
    said: list[str] = []
    path = pull(say=said.append)
    assert f"it is sha256 {SHA256}" in said[-1]
    path.unlink()
    hub.body = b"GGUF" + b"y" * 1000
    hub.etag = hashlib.sha256(hub.body).hexdigest()
    with pytest.raises(ModelError, match="not the file that was fetched first") as caught:
        pull()
    assert "know model rm small" in caught.value.hint
    models.remove(models.find("small"))
    assert pull().read_bytes() == hub.body


def test_where_no_hash_is_known_the_hubs_own_word_holds(hub, monkeypatch, tmp_path):
    use_registry(monkeypatch, tmp_path / "registry.json", entry("small", sha256=""))
    hub.body = BODY[:-1] + b"x"
    with pytest.raises(ModelError, match="not the file that the hub announced"):
        pull()


def test_a_refused_connection_and_a_name_that_nobody_knows_say_what_to_do(monkeypatch, hub):
    for endpoint, reason in {
        "http://127.0.0.1:9": "Connection refused",
        "http://hub.invalid": "name resolution|Name or service not known|nodename nor servname",
        "nonsense": ".",
    }.items():
        monkeypatch.setenv("HF_ENDPOINT", endpoint)
        with pytest.raises(ModelError, match=f"{endpoint} cannot be reached: .*({reason})") as e:
            pull()
        assert "small.gguf of makers/small-gguf elsewhere" in e.value.hint
        assert "know model pull small --from FILE" in e.value.hint


@pytest.mark.parametrize(("status", "code"), [(401, "GatedRepo"), (403, "GatedRepo"), (401, "")])
def test_a_model_behind_terms_says_where_to_accept_them(hub, folder, status, code):
    hub.status, hub.error_code = status, code
    with pytest.raises(ModelError, match=f"without leave \\({status}\\)") as caught:
        pull()
    assert f"accept its terms at {hub.url}/makers/small-gguf" in caught.value.hint
    assert "hf auth login" in caught.value.hint
    assert left(folder) == []


def test_a_file_that_is_gone_and_a_hub_that_fails_are_told_apart(hub):
    hub.status, hub.error_code = 404, "EntryNotFound"
    with pytest.raises(ModelError, match=r"has no small\.gguf in makers/small-gguf"):
        pull()
    hub.status, hub.error_code = 503, ""
    with pytest.raises(ModelError, match="answers 503"):
        pull()


def test_a_token_goes_to_the_hub_and_not_to_its_storage(hub, monkeypatch):
    monkeypatch.setenv("HF_TOKEN", "hf_" + "a" * 34)
    pull()
    (head,) = [headers for method, _, headers in hub.asked if method == "HEAD"]
    assert head["authorization"] == "Bearer hf_" + "a" * 34
    assert all("authorization" not in headers for headers in hub.gets)


def test_nothing_is_said_of_this_machine_but_the_client(hub):
    pull()
    assert os.environ["HF_HUB_DISABLE_TELEMETRY"] == "1"
    assert all(method in {"HEAD", "GET"} for method, _, _ in hub.asked)
    assert len(hub.asked) == 2


def test_the_proxy_of_the_environment_is_used(hub, monkeypatch):
    seen: list[str] = []
    with proxy_here(seen) as proxy:
        monkeypatch.setenv("HTTP_PROXY", proxy)
        assert pull().read_bytes() == BODY
    assert seen[0] == f"HEAD {hub.url}/makers/small-gguf/resolve/main/small.gguf"
    assert seen[1].startswith("GET http://localhost:")


def test_a_proxy_that_refuses_is_named_among_what_to_look_at(hub, monkeypatch):
    seen: list[str] = []
    with proxy_here(seen) as proxy:
        monkeypatch.setenv("HTTPS_PROXY", proxy)
        monkeypatch.setenv("HF_ENDPOINT", "https://hub.invalid")
        with pytest.raises(ModelError, match=r"cannot be reached: .*502") as caught:
            pull()
    assert seen == ["CONNECT hub.invalid:443"]
    assert "HTTPS_PROXY" in caught.value.hint


def test_too_little_room_is_said_before_anything_is_fetched(hub, monkeypatch):
    usage = namedtuple("usage", "total used free")
    monkeypatch.setattr(hub_module.shutil, "disk_usage", lambda _: usage(9, 8, 1_000_000))
    with pytest.raises(ModelError, match="needs 4 MB more, and 1 MB are free") as caught:
        pull()
    assert "KNOW_CACHE" in caught.value.hint
    assert hub.gets == []


def test_a_disk_that_fills_up_is_one_line_and_the_next_run_goes_on(hub, folder):
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1_000_000, hard))
    try:
        with pytest.raises(ModelError, match="cannot be written: ") as caught:
            pull()
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert str(folder) in caught.value.message
    assert "KNOW_CACHE" in caught.value.hint
    assert not (folder / "small.gguf").exists()
    assert pull().read_bytes() == BODY
    assert hub.gets[-1]["range"] == "bytes=1000000-"


def test_a_folder_that_cannot_be_made_is_one_line(hub, tmp_path, monkeypatch):
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("KNOW_CACHE", str(tmp_path / "file"))
    with pytest.raises(ModelError, match="cannot be written: Not a directory"):
        pull()


def test_two_at_once_are_one(hub, folder):
    folder.mkdir(parents=True)
    with (
        FileLock(folder / ".small.gguf.lock"),
        pytest.raises(ModelError, match="another `know model pull` is fetching it"),
    ):
        pull()
    assert hub.asked == []


def test_without_the_hubs_client_it_says_what_to_install(monkeypatch):
    for name in list(sys.modules):
        if name.split(".")[0] == "huggingface_hub":
            monkeypatch.setitem(sys.modules, name, None)
    with pytest.raises(ModelError, match="fetching it needs huggingface_hub") as caught:
        pull()
    assert "pip install 'knowrepo[hub]'" in caught.value.hint
    assert "--from FILE" in caught.value.hint


def test_a_file_fetched_elsewhere_needs_no_client_and_no_network(monkeypatch, tmp_path, folder):
    monkeypatch.setitem(sys.modules, "huggingface_hub", None)
    (tmp_path / "fetched").write_bytes(BODY)
    (tmp_path / "link.gguf").symlink_to(tmp_path / "fetched")
    path = pull(source=tmp_path / "link.gguf")
    assert not path.is_symlink()
    assert path.read_bytes() == BODY
    with pytest.raises(ModelError, match="no such file"):
        pull(source=tmp_path / "gone.gguf")
    with pytest.raises(ModelError, match="no such file"):
        pull(source=tmp_path)
    assert left(folder) == ["small.gguf", "small.gguf.json"]


def test_a_damaged_model_is_fetched_anew(hub, folder):
    path = pull()
    path.write_bytes(BODY[:100])
    said: list[str] = []
    assert pull(say=said.append).read_bytes() == BODY
    assert "damaged" in said[0]
    assert "fetching it anew" in said[0]


def test_removing_takes_what_was_not_finished_as_well(hub, folder):
    hub.cuts = [1_000_000] + [0] * 20
    with pytest.raises(ModelError):
        pull()
    assert left(folder)
    assert models.remove(models.find("small"))
    assert left(folder) == []
    assert not models.remove(models.find("small"))


def test_the_client_is_one_of_those_that_are_supported():
    assert 1 <= int(huggingface_hub.__version__.split(".")[0]) < 3
