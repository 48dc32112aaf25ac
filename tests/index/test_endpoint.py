"""An OpenAI-compatible endpoint: a real server in a thread, well and badly behaved."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from endpoint_server import Server, as_unit, raw, serving
from knowrepo.errors import ModelError
from knowrepo.index import embed, endpoint
from knowrepo.index.embed import Passage, Query, open_embedder
from knowrepo.index.endpoint import CANARY, EndpointEmbedder
from knowrepo.index.models import Model


@pytest.fixture
def server() -> Iterator[Server]:
    with serving() as found:
        yield found


def model(url: str, **fields) -> Model:
    return Model("served", Path(), "endpoint:served", endpoint=url, **fields)


@pytest.mark.parametrize("path", ["", "/", "/v1", "/v1/", "/v1/embeddings"])
def test_the_url_may_end_where_its_owner_ends_it(server, path):
    embedder = open_embedder(model(server.url + path))
    assert isinstance(embedder, EndpointEmbedder)
    assert {path for path, _ in server.requests} == {"/v1/embeddings"}
    assert server.requests[0][1]["model"] == "served"
    assert embedder.dimension == 16


def test_a_path_before_it_is_kept(server):
    EndpointEmbedder(model(server.url + "/models/small/v1"))
    assert server.requests[0][0] == "/models/small/v1/embeddings"


def test_passages_and_queries_have_their_own_prefix_and_unit_length(server):
    embedder = EndpointEmbedder(model(server.url, passage_prefix="p: ", query_prefix="q: "))
    (passage,) = embedder.embed_passage(Passage("a"))
    assert np.allclose(passage, as_unit(raw("p: a")), atol=1e-6)
    assert np.allclose(embedder.embed_query(Query("a")), as_unit(raw("q: a")), atol=1e-6)


def test_passages_go_in_requests_of_several_and_come_back_in_order(server):
    embedder = EndpointEmbedder(model(server.url))
    texts = [Passage(f"text {number}") for number in range(300)]
    found = list(embedder.embed_passages(iter(texts)))
    assert len(found) == 300
    for text, (vector,) in zip(texts, found, strict=True):
        assert np.allclose(vector, as_unit(raw(text)), atol=1e-6)
    sizes = [len(body["input"]) for _, body in server.requests[1:]]
    assert sum(sizes) == 300
    assert max(sizes) <= endpoint.MOST_TEXTS
    assert len(sizes) < 300 / 4


def test_vectors_that_come_in_another_order_are_put_in_order(server):
    server.answer = lambda texts: (200, {"data": server.well(texts)[1]["data"][::-1]})
    embedder = EndpointEmbedder(model(server.url))
    texts = [Passage(name) for name in "abc"]
    found = [vector for (vector,) in embedder.embed_passages(iter(texts))]
    assert np.allclose(found, [as_unit(raw(text)) for text in texts], atol=1e-6)


def test_a_cut_vector_is_at_unit_length_and_more_than_there_is_is_refused(server):
    embedder = EndpointEmbedder(model(server.url, dimension=4))
    assert embedder.dimension == 4
    vector = embedder.embed_query(Query("a"))
    assert np.allclose(vector, as_unit(raw("a")[:4]), atol=1e-6)
    with pytest.raises(ModelError, match="gives 16 dimensions, not 17"):
        EndpointEmbedder(model(server.url, dimension=17))


def test_what_is_too_long_is_cut_in_halves_and_the_rest_is_embedded(server):
    server.longest = 100
    embedder = EndpointEmbedder(model(server.url))
    long = "some words " * 20
    found = list(embedder.embed_passages(iter([Passage("a"), Passage(long), Passage("b")])))
    assert [len(vectors) for vectors in found] == [1, 4, 1]
    assert np.allclose(found[2][0], as_unit(raw("b")), atol=1e-6)
    first = embed.halves(embed.halves(long)[0])[0]
    assert np.allclose(found[1][0], as_unit(raw(first)), atol=1e-6)
    assert np.allclose(embedder.embed_query(Query(long)), as_unit(raw(first)), atol=1e-6)


def test_a_server_that_finds_everything_too_long_is_an_error(server):
    embedder = EndpointEmbedder(model(server.url))
    server.longest = 0
    with pytest.raises(ModelError, match="HTTP 400: the input is larger"):
        embedder.embed_passage(Passage("a few words"))
    with pytest.raises(ModelError, match="HTTP 400"):
        embedder.embed_query(Query("a few words"))


@pytest.mark.parametrize("text", ["", " ", "\0", "\ud800", "你好"])
def test_any_text_has_a_vector(server, text):
    embedder = EndpointEmbedder(model(server.url))
    assert np.isfinite(embedder.embed_passage(Passage(text))[0]).all()
    sent = server.requests[-1][1]["input"][0]
    assert sent.strip()
    sent.encode()


def test_a_connection_that_the_server_closed_is_opened_again(server):
    server.closes = True  # without saying so
    embedder = EndpointEmbedder(model(server.url))
    for text in "abc":
        embedder.embed_passage(Passage(text))
    assert len(server.requests) == 4


def nan(texts: list[str]) -> tuple[int, Any]:
    return 200, b'{"data": [{"index": 0, "embedding": [NaN, 1.0]}]}'


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        (lambda _: (404, {"error": "model \x1b[31mserved\x1b[0m not found"}),
         "answers with HTTP 404: model served not found"),
        (lambda _: (503, {"error": {"message": "Loading model", "code": 503}}),
         "answers with HTTP 503: Loading model"),
        (lambda _: (500, b""), "answers with HTTP 500"),
        (lambda _: (401, b"<html>\xff no"), "answers with HTTP 401: <html>"),
        (lambda _: (200, b"not json"), "something that is not JSON"),
        (lambda _: (200, b"[" * 200_000), "something that is not JSON"),
        (lambda _: (200, [1]), "JSON that holds no embeddings"),
        (lambda _: (200, {"data": {}}), "JSON that holds no embeddings"),
        (lambda _: (200, {"data": [1]}), "JSON that holds no embeddings"),
        (lambda _: (200, {"data": []}), "gives 0 vectors for 1 texts"),
        (lambda _: (200, {"data": [{"index": 1, "embedding": [1.0]}]}), "which vector is of which"),
        (lambda _: (200, {"data": [{"index": [], "embedding": [1]}]}), "which vector is of which"),
        (lambda _: (200, {"data": [{"index": 0}]}), "no list of numbers"),
        (lambda _: (200, {"data": [{"index": 0, "embedding": []}]}), "no list of numbers"),
        (lambda _: (200, {"data": [{"index": 0, "embedding": "abcd"}]}), "no list of numbers"),
        (lambda _: (200, {"data": [{"index": 0, "embedding": [[1.0]]}]}), "no list of numbers"),
        (lambda _: (200, {"data": [{"index": 0, "embedding": {"a": 1}}]}), "no list of numbers"),
        (nan, "gives no usable vector"),
        (lambda _: (200, {"data": [{"index": 0, "embedding": [0.0] * 16}]}), "no usable vector"),
        (lambda _: (200, {"data": [{"index": 0, "embedding": [1e300] * 16}]}), "no usable vector"),
    ],
)  # fmt: skip
@pytest.mark.filterwarnings("ignore:overflow encountered in cast")
def test_an_answer_that_cannot_be_used_is_one_clear_line(server, tmp_path, answer, said):
    server.answer = answer
    with pytest.raises(ModelError) as caught:
        EndpointEmbedder(model(server.url), vectors=tmp_path)
    message = caught.value.message
    assert message.startswith(f"{server.url}: ")
    assert said in message
    assert message.isprintable()
    assert not list(tmp_path.rglob("*.json"))  # of such an answer nothing is kept


def test_another_dimension_than_before_is_refused(server):
    embedder = EndpointEmbedder(model(server.url))
    server.answer = lambda _: (200, {"data": [{"index": 0, "embedding": [1.0] * 8}]})
    with pytest.raises(ModelError, match="gives 8 dimensions, and gave 16 before"):
        embedder.embed_passage(Passage("a"))


def test_fewer_vectors_than_texts_are_refused(server):
    embedder = EndpointEmbedder(model(server.url))
    server.answer = lambda texts: (200, {"data": server.well(texts)[1]["data"][1:]})
    with pytest.raises(ModelError, match="gives 2 vectors for 3 texts"):
        list(embedder.embed_passages(iter([Passage(name) for name in "abc"])))


def test_a_redirect_is_not_followed(server):
    server.headers = {"Location": f"{server.url}/elsewhere"}
    server.answer = lambda _: (307, b"")
    with pytest.raises(ModelError, match="HTTP 307; redirects are not followed"):
        EndpointEmbedder(model(server.url))
    assert len(server.requests) == 1


def test_a_proxy_of_the_environment_is_not_used(server, monkeypatch):
    for name in ("http_proxy", "HTTP_PROXY", "all_proxy"):
        monkeypatch.setenv(name, "http://127.0.0.1:1")
    assert EndpointEmbedder(model(server.url)).dimension == 16


def test_an_answer_without_end_is_given_up(server, monkeypatch):
    monkeypatch.setattr(endpoint, "LARGEST_ANSWER", 1000)
    server.answer = lambda _: (200, b" " * 100_000)
    with pytest.raises(ModelError, match="it is too large"):
        EndpointEmbedder(model(server.url))


def test_a_server_that_says_nothing_is_given_up(server):
    ready = threading.Event()
    server.answer = lambda texts: (ready.wait(30), server.well(texts))[1]
    with pytest.raises(ModelError, match="no answer within"):
        open_embedder(model(server.url), seconds=0.05)
    ready.set()


def test_where_nothing_listens_it_says_so():
    gone = Server()
    gone.http.server_close()
    with pytest.raises(ModelError, match="nothing answers there") as caught:
        EndpointEmbedder(model(gone.url))
    assert "start the server" in caught.value.hint


@pytest.mark.parametrize(
    "url",
    ["", "127.0.0.1:8080", "file:///etc/passwd", "http://", "http://u:p@localhost", "http://x:99999"],
)  # fmt: skip
def test_what_is_no_url_of_an_endpoint_is_refused(url):
    with pytest.raises(ModelError, match="not the URL of an endpoint"):
        EndpointEmbedder(model(url))


def test_a_model_that_changed_behind_the_endpoint_is_refused(server, tmp_path):
    first = EndpointEmbedder(model(server.url), vectors=tmp_path)
    assert server.requests[0][1]["input"] == [CANARY]
    EndpointEmbedder(model(server.url), vectors=tmp_path)
    server.salt = "another model"
    with pytest.raises(ModelError, match="serves another model as served") as caught:
        EndpointEmbedder(model(server.url), vectors=tmp_path)
    assert str(tmp_path / first.fingerprint) in caught.value.hint
    server.salt = ""
    EndpointEmbedder(model(server.url), vectors=tmp_path)


def test_a_model_of_another_dimension_behind_the_endpoint_is_refused(server, tmp_path):
    EndpointEmbedder(model(server.url), vectors=tmp_path)
    server.answer = lambda _: (200, {"data": [{"index": 0, "embedding": [1.0] * 8}]})
    with pytest.raises(ModelError, match="serves another model"):
        EndpointEmbedder(model(server.url), vectors=tmp_path)


def test_a_canary_that_cannot_be_read_is_made_anew(server, tmp_path):
    first = EndpointEmbedder(model(server.url), vectors=tmp_path)
    kept = tmp_path / first.fingerprint / "canary.json"
    good = kept.read_bytes()
    for damaged in (b"", b"[]", b'{"text": 1, "vector": []}', b'{"vector": "x"}'):
        kept.write_bytes(damaged)
        EndpointEmbedder(model(server.url), vectors=tmp_path)
        assert kept.read_bytes() == good


def test_an_endpoint_needs_no_llama_cpp(server):
    assert embed.lacking(model(server.url)) == ""
