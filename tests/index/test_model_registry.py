"""The registry as it is shipped."""

from __future__ import annotations

import dataclasses
import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

from knowrepo.errors import UsageError
from knowrepo.index import models
from knowrepo.index.models import registry
from knowrepo.index.models.registry import ModelSpec
from knowrepo.tables import POOLINGS

ROWS = json.loads((Path(registry.__file__).parent / "registry.json").read_bytes())
LICENCES = {"Apache-2.0", "MIT", "Gemma"}


def test_the_models_that_we_promise_are_known_and_the_default_is_first():
    assert [spec.name for spec in models.REGISTRY] == [
        "all-MiniLM-L6-v2", "nomic-embed-text-v2-moe", "nomic-embed-text-v1.5",
        "bge-small-en-v1.5", "snowflake-arctic-embed-s", "multilingual-e5-small",
        "embeddinggemma-300m",
        "jina-reranker-v1-tiny-en", "jina-reranker-v1-turbo-en", "bge-reranker-v2-m3",
        "bge-reranker-v2-m3-q4",
    ]  # fmt: skip
    assert models.DEFAULT is models.MINILM is models.REGISTRY[0]
    assert models.DEFAULT.built


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row["name"])
def test_each_entry_is_whole_and_of_the_right_types(row):
    spec = models.find(row["name"])
    for field in dataclasses.fields(ModelSpec):
        kind = {"int": int, "str": str, "tuple[int, ...]": tuple, "tuple[str, ...]": tuple}[
            str(field.type)
        ]
        assert type(getattr(spec, field.name)) is kind, field.name
    assert row.keys() <= {field.name for field in dataclasses.fields(ModelSpec)}


@pytest.mark.parametrize("spec", models.REGISTRY, ids=lambda spec: spec.name)
def test_each_entry_makes_sense(spec):
    assert re.fullmatch(r"[\w.-]+/[\w.-]+", spec.source)
    assert re.fullmatch(r"[\w-][\w.-]*\.gguf", spec.file, re.IGNORECASE)
    if spec.reranks:
        assert (spec.kind, spec.dimension, spec.dimensions) == ("reranker", 0, ())
        assert (spec.pooling, spec.passage_prefix, spec.query_prefix) == ("", "", "")
    else:
        assert spec.kind == "embedding"
        assert spec.dimensions[0] == spec.dimension == max(spec.dimensions) > 0
        assert list(spec.dimensions) == sorted(set(spec.dimensions), reverse=True)
        assert spec.pooling in POOLINGS
    assert spec.licence in LICENCES
    assert min(spec.window, spec.megabytes) > 0
    for prefix in (spec.passage_prefix, spec.query_prefix):
        assert not prefix or prefix.endswith(": ")
    assert all(
        not value or re.fullmatch("[0-9a-f]{64}", value)
        for value in (spec.sha256, spec.weights, spec.vocabulary)
    )
    if spec.built:
        assert spec.vocabulary
        assert spec.recipe
        assert spec.carriers
        assert all("==" in carrier for carrier in spec.carriers)
        assert not spec.revision
    else:
        assert spec.revision == "main" or re.fullmatch("[0-9a-f]{40}", spec.revision)


def test_a_revision_that_is_pinned_has_a_hash_that_is():
    for spec in models.REGISTRY:
        assert spec.revision in {"", "main"} or spec.sha256, spec.name


def test_no_two_models_share_a_name_or_a_file():
    assert len({spec.name for spec in models.REGISTRY}) == len(models.REGISTRY)
    assert len({spec.file for spec in models.REGISTRY}) == len(models.REGISTRY)


def test_an_unknown_name_names_the_known_ones():
    with pytest.raises(UsageError, match="no model is called x") as caught:
        models.find("x")
    assert "all-MiniLM-L6-v2" in caught.value.hint
    assert "embeddinggemma-300m" in caught.value.hint


def test_only_who_asks_for_a_model_reads_the_registry():
    script = (
        "from knowrepo.index import models\n"
        "from knowrepo.index.models import registry\n"
        "models.Model; models.check_magic\n"
        "print(registry.known.cache_info().misses)\n"
        "models.DEFAULT\n"
        "print(registry.known.cache_info().misses)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    )
    assert done.stdout.split() == ["0", "1"]


def test_a_name_that_is_not_there_is_not_there():
    with pytest.raises(AttributeError, match="has no attribute 'NOTHING'"):
        models.NOTHING  # noqa: B018
