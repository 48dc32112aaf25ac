"""What a reranker reads and says, compared with numpy, and which files are refused."""

from __future__ import annotations

from pathlib import Path

import pytest

import tiny_models
from knowrepo.errors import ModelError
from knowrepo.index import llama
from knowrepo.index.embed import LlamaEmbedder
from knowrepo.index.models import Model, rerankers
from knowrepo.index.models.header import read_header
from knowrepo.index.reranker import LEAST_PASSAGE, Reranker

QUERY, PASSAGE = "why was it kept", "the lock file is kept"
CLS, SEP = 2, 3
BEGIN, END = 0, 2


def opened(path: Path, **options: int) -> Reranker:
    return Reranker(Model("tiny", path, "tiny"), **options)


def tokens(reranker: Reranker, text: str) -> list[int]:
    return llama.tokens(reranker._vocabulary, text, begin=False)


def pair(reranker: Reranker, query: str, passage: str) -> list[int]:
    return reranker.pair(tokens(reranker, query), tokens(reranker, passage))


@pytest.mark.parametrize("architecture", rerankers.ENCODERS)
def test_a_score_is_what_the_architecture_says(tmp_path, architecture):
    reranker = opened(tiny_models.build_reranker(tmp_path, architecture))
    passages = [PASSAGE, "a", "nothing of it", PASSAGE + " here", ""]
    scores = list(reranker.scores(QUERY, passages))
    expected = [
        tiny_models.score(architecture, pair(reranker, QUERY, passage)) for passage in passages
    ]
    assert scores == pytest.approx(expected, abs=5e-3)
    assert max(expected) - min(expected) > 0.1  # it tells them apart


def test_query_and_passage_are_not_the_same_to_it(tmp_path):
    reranker = opened(tiny_models.build_reranker(tmp_path))
    ((one,), (other,)) = (
        list(reranker.scores(first, [second])) for first, second in ((QUERY, "a"), ("a", QUERY))
    )
    assert one != pytest.approx(other, abs=1e-3)


def test_a_file_that_does_not_say_how_it_pools_is_a_reranker_by_its_head(tmp_path):
    told = opened(tiny_models.build_reranker(tmp_path))
    silent = opened(tiny_models.build_reranker(tmp_path, pooling="none"))
    assert list(told.scores(QUERY, [PASSAGE])) == list(silent.scores(QUERY, [PASSAGE]))


def test_a_vocabulary_with_a_separator_alone_ends_with_it(tmp_path):
    reranker = opened(tiny_models.build_reranker(tmp_path))
    first, second = tokens(reranker, QUERY), tokens(reranker, PASSAGE)
    assert reranker.pair(first, second) == [CLS, *first, SEP, *second, SEP]


@pytest.mark.parametrize("flags", [{}, {"sep": True}])
def test_a_vocabulary_of_xlm_roberta_has_two_marks_between_even_where_its_file_is_silent(
    tmp_path, flags
):
    path = tiny_models.build_reranker(tmp_path, separators={"bos": True, "eos": True, **flags})
    reranker = opened(path)
    first, second = tokens(reranker, QUERY), tokens(reranker, PASSAGE)
    assert reranker.pair(first, second) == [BEGIN, *first, END, END, *second, END]
    (score,) = reranker.scores(QUERY, [PASSAGE])
    assert score == pytest.approx(tiny_models.score("bert", reranker.pair(first, second)), abs=5e-3)


def test_marks_that_a_file_does_not_want_are_left_out(tmp_path):
    path = tiny_models.build_reranker(
        tmp_path, separators={"bos": False, "eos": True, "sep": False}
    )
    reranker = opened(path)
    assert reranker.pair([7], [8]) == [7, END, 8, END]


@pytest.mark.parametrize("mark", ["[SEP]", "[CLS]", "</s>"])
def test_what_stands_in_a_text_is_no_mark(tmp_path, mark):
    for separators in (None, {"bos": True, "eos": True}):
        reranker = opened(tiny_models.build_reranker(tmp_path, separators=separators))
        marks = {CLS, SEP} if separators is None else {BEGIN, END}
        assert not marks & set(tokens(reranker, f"a {mark} b"))


def test_a_passage_is_cut_to_the_window_and_a_query_never_is(tmp_path):
    reranker = opened(tiny_models.build_reranker(tmp_path))
    first, second = tokens(reranker, QUERY), tokens(reranker, f"{PASSAGE} " * 10)
    cut = reranker.pair(first, second)
    assert len(cut) == tiny_models.WINDOW
    assert cut[1 : len(first) + 1] == first
    assert cut[-1] == SEP
    room = len(cut) - len(first) - 3
    assert cut[len(first) + 2 : -1] == second[:room]
    (score,) = reranker.scores(QUERY, [f"{PASSAGE} " * 10])
    assert score == pytest.approx(tiny_models.score("bert", cut), abs=5e-3)


def test_a_query_that_leaves_no_room_is_told(tmp_path):
    reranker = opened(tiny_models.build_reranker(tmp_path))
    most = tiny_models.WINDOW - 3 - LEAST_PASSAGE
    assert len(reranker.pair([7] * most, [8] * 99)) == tiny_models.WINDOW
    with pytest.raises(ModelError, match="too long"):
        reranker.pair([7] * (most + 1), [8])
    with pytest.raises(ModelError, match="too long"):
        list(reranker.scores("a" * 100, [PASSAGE]))


@pytest.mark.parametrize("threads", [1, 2, 3])
def test_scores_side_by_side_are_what_each_is_alone_and_in_order(tmp_path, threads):
    reranker = opened(tiny_models.build_reranker(tmp_path), threads=threads)
    passages = [f"text {number} " * (1 + number % 5) for number in range(30)]
    alone = [next(reranker.scores(QUERY, [passage])) for passage in passages]
    assert list(reranker.scores(QUERY, passages)) == pytest.approx(alone, abs=1e-6)


def test_who_stops_listening_has_begun_no_more_than_there_are_threads(tmp_path):
    reranker = opened(tiny_models.build_reranker(tmp_path), threads=2)
    taken = []

    def passages():
        for number in range(100):
            taken.append(number)
            yield PASSAGE

    stream = reranker.scores(QUERY, passages())
    next(stream)
    stream.close()
    assert len(taken) == 2
    assert len(list(reranker.scores(QUERY, [PASSAGE]))) == 1


def test_nothing_of_the_library_reaches_our_streams(tmp_path, capfd):
    list(opened(tiny_models.build_reranker(tmp_path)).scores(QUERY, [PASSAGE]))
    assert capfd.readouterr() == ("", "")


def test_an_embedding_model_is_refused_though_it_would_give_numbers(tmp_path):
    path = tiny_models.build(tmp_path, "bert")
    with pytest.raises(ModelError, match="it has no classification head"):
        opened(path)


@pytest.mark.parametrize("architecture", ["nomic-bert", "nomic-bert-moe"])
def test_an_architecture_that_was_not_compared_is_refused(tmp_path, architecture):
    path = tiny_models.build_reranker(tmp_path, architecture)
    with pytest.raises(ModelError, match=f"{architecture}; known are bert, jina-bert-v2"):
        opened(path)


def test_a_bert_that_tells_texts_apart_by_token_types_is_refused(tmp_path):
    path = tiny_models.build_reranker(tmp_path, types=2)
    with pytest.raises(ModelError, match="tells query and passage apart by token types"):
        opened(path)
    # This architecture gives all tokens the first type itself.
    assert opened(tiny_models.build_reranker(tmp_path, "jina-bert-v2", types=2))


def test_a_classifier_of_several_labels_is_refused(tmp_path):
    for architecture in rerankers.ENCODERS:
        path = tiny_models.build_reranker(
            tmp_path, architecture, head=tiny_models.head(architecture, outputs=3)
        )
        with pytest.raises(ModelError, match="gives 3 numbers"):
            opened(path)
    half = {
        name: tensor for name, tensor in tiny_models.head("bert").items() if "output" not in name
    }
    with pytest.raises(ModelError, match="gives 32 numbers"):
        opened(tiny_models.build_reranker(tmp_path, head=half))


def test_a_reranker_is_refused_where_vectors_are_made(tmp_path):
    for path in (
        tiny_models.build_reranker(tmp_path),
        tiny_models.build_reranker(tmp_path, "jina-bert-v2"),
    ):
        with pytest.raises(ModelError, match="a reranker, which embeds nothing"):
            LlamaEmbedder(Model("m", path, "m"))


def test_what_cannot_be_a_score_is_an_error(tmp_path):
    broken = tiny_models.head("bert")
    broken["cls.output.bias"] = broken["cls.output.bias"] * float("nan")
    with pytest.raises(ModelError, match="no usable score"):
        list(opened(tiny_models.build_reranker(tmp_path, head=broken)).scores(QUERY, [PASSAGE]))


def test_the_head_of_a_file_says_what_is_in_it(tmp_path):
    header = read_header(tiny_models.build_reranker(tmp_path))
    assert header.architecture == "bert"
    assert header.settings["bert.context_length"] == tiny_models.WINDOW
    assert header.settings["bert.attention.causal"] is False
    assert header.settings["tokenizer.ggml.tokens"] == len(tiny_models._tokens())
    assert header.shapes["cls.weight"] == (tiny_models.WIDTH, tiny_models.WIDTH)
    assert set(header.shapes) == {*tiny_models.weights("bert"), *tiny_models.head("bert")}


def test_a_file_that_is_cut_anywhere_in_its_head_is_told_as_damaged(tmp_path):
    whole = tiny_models.build_reranker(tmp_path).read_bytes()
    path = tmp_path / "cut.gguf"
    head = whole.index(b"cls.output.bias")
    for length in (*range(4, 200), *range(200, head, 97)):
        path.write_bytes(whole[:length])
        with pytest.raises(ModelError, match=r"cut\.gguf: damaged"):
            read_header(path)
    path.write_bytes(whole[:3])
    with pytest.raises(ModelError, match="not a GGUF file"):
        read_header(path)


def test_a_head_of_nonsense_is_an_error_and_takes_no_memory(tmp_path):
    whole = bytearray(tiny_models.build_reranker(tmp_path).read_bytes())
    path = tmp_path / "odd.gguf"
    for at in range(4, 400):
        changed = bytearray(whole)
        changed[at] ^= 0xFF
        path.write_bytes(changed)
        try:
            read_header(path)
        except ModelError as error:
            assert "odd.gguf" in error.message  # noqa: PT017 - some changes are of a text
