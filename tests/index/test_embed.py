"""The real model: `make test` pulls it first."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from knowrepo.errors import ModelError
from knowrepo.index import embed, llama, models
from knowrepo.index.embed import LlamaEmbedder, Passage, Query

pytestmark = pytest.mark.model


@pytest.fixture(scope="module")
def model() -> models.Model:
    found = models.current()
    assert found is not None, "run `know model pull` first"
    return found


@pytest.fixture(scope="module")
def embedder(model) -> LlamaEmbedder:
    return LlamaEmbedder(model)


def test_a_vector_has_the_models_dimension_and_unit_length(embedder):
    vector = embedder.embed_query(Query("hello"))
    assert (vector.shape, vector.dtype) == ((384,), np.float32)
    assert np.linalg.norm(vector) == pytest.approx(1.0, abs=1e-5)


def test_meaning_is_nearer_than_words_that_are_not_shared(embedder):
    query = embedder.embed_query(Query("How do I keep passwords out of the repository?"))
    near, far = (
        embedder.embed_passage(Passage(text))[0]
        for text in ("Redact credentials before they are committed", "The weather in Spain")
    )
    assert query @ near > query @ far + 0.2


def test_the_same_text_gives_the_same_vector(embedder):
    first, again = (embedder.embed_passage(Passage("one text"))[0] for _ in range(2))
    assert np.array_equal(first, again)
    embedder.embed_passage(Passage("another " * 300))
    assert np.allclose(embedder.embed_passage(Passage("one text"))[0], first, atol=1e-6)


def test_a_passage_longer_than_the_window_has_a_vector_for_each_part(embedder):
    assert len(embedder.embed_passage(Passage("word " * 100))) == 1
    parts = embedder.embed_passage(Passage("word " * 2000))
    assert len(parts) >= 4
    assert embedder.embed_query(Query("word " * 2000)).shape == (384,)


@pytest.mark.parametrize("text", ["", " ", "\0", "\ud800", "[SEP] [CLS]", "x" * 5000, "你好" * 400])
def test_any_text_has_a_vector(embedder, text):
    for vector in [*embedder.embed_passage(Passage(text)), embedder.embed_query(Query(text))]:
        assert np.isfinite(vector).all()


def test_special_tokens_in_a_text_are_only_text(embedder):
    tokens = llama.tokens(embedder._vocabulary, "a [SEP] b", begin=True)
    assert tokens.count(102) == 1  # the one that ends every passage


def test_it_agrees_with_the_published_model(embedder):
    # sentence-transformers' own example sentences; cosines of its F32 model.
    texts = ["That is a happy person", "That is a happy dog", "Today is a sunny day"]
    one, dog, day = (embedder.embed_passage(Passage(text))[0] for text in texts)
    assert one @ dog == pytest.approx(0.695, abs=0.02)
    assert one @ day == pytest.approx(0.257, abs=0.02)


def test_nothing_is_written_to_the_processs_own_streams(model):
    code = (
        "from knowrepo.index import embed, llama, models\n"
        "m = models.current()\n"
        "e = embed.LlamaEmbedder(m)\n"
        "e.embed_query(embed.Query('x'))\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True)
    assert (done.stdout, done.stderr) == (b"", b"")


@pytest.mark.parametrize("size", [0, 3, 100, 1_000_000])
def test_a_truncated_model_is_a_clear_error(model, tmp_path, size):
    path = tmp_path / "truncated.gguf"
    path.write_bytes(model.path.read_bytes()[:size])
    with pytest.raises(ModelError, match=r"truncated.gguf: (not a GGUF|llama.cpp cannot load)"):
        LlamaEmbedder(models.Model("x", path, "x"))


def test_the_fingerprint_covers_all_that_decides_a_vector(model):
    base = embed.fingerprint(model)
    for changed in (
        models.Model(model.name, model.path, "other"),
        models.Model(model.name, model.path, model.identity, passage_prefix="p: "),
        models.Model(model.name, model.path, model.identity, query_prefix="q: "),
    ):
        assert embed.fingerprint(changed) != base
    moved = models.Model("renamed", Path("/elsewhere"), model.identity)
    assert embed.fingerprint(moved) == base
