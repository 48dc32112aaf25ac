"""Tiny models of every architecture that we name, compared with numpy."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import tiny_models
from knowrepo.errors import ModelError
from knowrepo.index import llama
from knowrepo.index.embed import LlamaEmbedder, Passage, Query, fingerprint, unit
from knowrepo.index.models import Model

PASSAGE, QUERY = "search_document: ", "search_query: "
TEXT = "why was the lock file kept"


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Path:
    found = tmp_path_factory.mktemp("models")
    for architecture in tiny_models.ARCHITECTURES:
        tiny_models.build(found, architecture)
    return found


def tiny(folder: Path, architecture: str, **fields) -> Model:
    return Model(architecture, folder / f"{architecture}-mean.gguf", architecture, **fields)


def tokens(embedder: LlamaEmbedder, text: str) -> list[int]:
    return llama.tokens(embedder._vocabulary, text, begin=True)


@pytest.fixture(params=tiny_models.ARCHITECTURES)
def architecture(request) -> str:
    return request.param


@pytest.mark.parametrize("pooling", ["mean", "cls", "last"])
def test_a_vector_is_what_the_architecture_says(folder, architecture, pooling):
    embedder = LlamaEmbedder(tiny(folder, architecture, pooling=pooling))
    (vector,) = embedder.embed_passage(Passage(TEXT))
    states = tiny_models.states(architecture, tokens(embedder, TEXT))
    expected = {"mean": states.mean(axis=0), "cls": states[0], "last": states[-1]}
    for name, state in expected.items():
        agrees = float(vector @ unit(state, "numpy")) > 0.999
        assert agrees == (name == pooling), name


def test_the_weights_own_pooling_is_used_where_no_other_is_named(tmp_path, architecture):
    for pooling in ("mean", "cls"):
        path = tiny_models.build(tmp_path, architecture, pooling=pooling)
        own, named = (
            LlamaEmbedder(Model("m", path, "m", pooling=name)).embed_query(Query(TEXT))
            for name in ("", pooling)
        )
        assert np.array_equal(own, named)


def test_a_query_and_a_passage_differ_by_their_prefix_alone(folder, architecture):
    model = tiny(folder, architecture, passage_prefix=PASSAGE, query_prefix=QUERY)
    embedder, plain = LlamaEmbedder(model), LlamaEmbedder(tiny(folder, architecture))
    (passage,) = embedder.embed_passage(Passage(TEXT))
    query = embedder.embed_query(Query(TEXT))
    assert np.array_equal(passage, plain.embed_passage(Passage(PASSAGE + TEXT))[0])
    assert np.array_equal(query, plain.embed_query(Query(QUERY + TEXT)))
    assert not np.allclose(passage, query)
    assert len({fingerprint(model), fingerprint(replace(model, query_prefix=PASSAGE))}) == 2


def test_a_cut_vector_is_the_beginning_of_the_whole_one_at_unit_length(folder, architecture):
    whole = LlamaEmbedder(tiny(folder, architecture)).embed_query(Query(TEXT))
    cut = LlamaEmbedder(tiny(folder, architecture, dimension=8))
    assert cut.dimension == 8
    for vector in (cut.embed_query(Query(TEXT)), *cut.embed_passage(Passage(TEXT))):
        assert vector.shape == (8,)
        assert np.allclose(vector, whole[:8] / np.linalg.norm(whole[:8]), atol=1e-6)
        assert np.linalg.norm(vector) == pytest.approx(1, abs=1e-6)


def test_what_the_weights_cannot_give_is_refused(folder):
    with pytest.raises(ModelError, match="bert: has 32 dimensions, not 33"):
        LlamaEmbedder(tiny(folder, "bert", dimension=33))
    with pytest.raises(ModelError, match="unknown pooling max"):
        LlamaEmbedder(tiny(folder, "bert", pooling="max"))


def test_a_model_that_does_not_pool_is_refused_unless_a_pooling_is_named(tmp_path):
    path = tiny_models.build(tmp_path, "bert", pooling="none")
    with pytest.raises(ModelError, match="not an embedding model"):
        LlamaEmbedder(Model("m", path, "m"))
    assert LlamaEmbedder(Model("m", path, "m", pooling="cls")).dimension == 32


def test_a_passage_longer_than_the_window_is_embedded_part_by_part(folder, architecture):
    embedder = LlamaEmbedder(tiny(folder, architecture))
    text = "abc defg hij " * 20
    parts = embedder.embed_passage(Passage(text))
    assert len(parts) > 3
    first = text[: len(text) // 2].rpartition(" ")[0]
    assert np.allclose(embedder.embed_passage(Passage(first))[0], parts[0])


@pytest.mark.parametrize("threads", [1, 2, 3])
def test_passages_side_by_side_are_what_each_is_alone_and_in_order(folder, architecture, threads):
    embedder = LlamaEmbedder(tiny(folder, architecture), threads=threads)
    texts = [Passage(f"text {number} " * (1 + number % 9)) for number in range(60)]
    side_by_side = list(embedder.embed_passages(iter(texts)))
    assert len(side_by_side) == len(texts)
    for text, vectors in zip(texts, side_by_side, strict=True):
        alone = embedder.embed_passage(text)
        assert len(vectors) == len(alone)
        assert np.allclose(vectors, alone, atol=1e-6)


def test_no_more_passages_are_taken_in_advance_than_keep_the_machine_busy(folder):
    embedder = LlamaEmbedder(tiny(folder, "bert"), threads=2)
    taken: list[int] = []

    def passages():
        for number in range(1000):
            taken.append(number)
            yield Passage(f"text {number}")

    stream = embedder.embed_passages(passages())
    next(stream)
    stream.close()
    assert len(taken) <= 10
    assert len(next(embedder.embed_passages(iter([Passage("again")])))) == 1


def test_the_fingerprint_covers_dimension_and_pooling(folder):
    base = tiny(folder, "bert")
    others = [replace(base, dimension=8), replace(base, dimension=16), replace(base, pooling="cls")]
    assert len({fingerprint(model) for model in (base, *others)}) == 4
