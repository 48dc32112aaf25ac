from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from knowrepo.index.catalog import Catalog, Document, Filter, StoredChunk, chunks, schema, store
from knowrepo.index.chunk import chunk_id, document_id, text_hash

KEY = "sessions/claude/one"


def document(title: str = "title") -> Document:
    return Document(KEY, document_id(KEY), f"{KEY}.jsonl", "0" * 40, "session", title=title)


def cut(texts: dict[int, str]) -> list[StoredChunk]:
    """Make chunks in this order, each named by its number."""
    return [
        StoredChunk(
            chunk_id(KEY, str(name)), seq, str(name), f"h{name}", "", text, "", 1, text_hash(text)
        )
        for seq, (name, text) in enumerate(texts.items())
    ]


def put(catalog: Catalog, title: str, texts: dict[int, str]) -> None:
    with catalog.transaction():
        catalog.put(document(title), iter(cut(texts)))


def everything(catalog: Catalog) -> tuple[list, list]:
    """Return the chunks without their numbers, and what the word lists hold."""
    db = catalog._db
    held = db.execute(f"SELECT {', '.join(chunks.FIELDS)} FROM chunks ORDER BY seq").fetchall()
    if not schema.has_fts5():
        kept = db.execute(
            "SELECT w.size, w.title, w.heading, w.body FROM words w"
            " LEFT JOIN chunks c ON c.id = w.id ORDER BY c.seq"
        )
        return held, kept.fetchall()
    db.execute("CREATE VIRTUAL TABLE IF NOT EXISTS temp.v USING fts5vocab(main, words, col)")
    return held, db.execute("SELECT term, col, doc, cnt FROM temp.v").fetchall()


@pytest.fixture(autouse=True, params=[True, False], ids=["fts5", "scan"])
def in_small_parts(request, monkeypatch):
    monkeypatch.setattr(schema, "has_fts5", lambda: request.param)
    monkeypatch.setattr(chunks, "_BATCH", 3)
    monkeypatch.setattr(store, "_HELD", 5)


versions = st.lists(
    st.tuples(
        st.sampled_from(["title", "another"]),
        st.lists(st.integers(0, 12), unique=True, max_size=10).flatmap(
            lambda names: st.fixed_dictionaries(
                {name: st.sampled_from(["red", "green pear", "blue"]) for name in names}
            )
        ),
    ),
    min_size=1,
    max_size=4,
)


@given(versions)
def test_what_is_put_again_and_again_is_what_is_put_last(made):
    with Catalog.in_memory() as changed, Catalog.in_memory() as fresh:
        for title, texts in made:
            put(changed, title, texts)
        put(fresh, *made[-1])
        assert everything(changed) == everything(fresh)
        with changed.transaction():
            changed.remove(KEY)
        assert everything(changed) == ([], [])


def test_of_a_document_that_grew_only_what_is_new_is_written():
    with Catalog.in_memory() as catalog:
        texts = {name: f"text {name}" for name in range(20)}
        put(catalog, "title", texts)
        written: list[str] = []
        catalog._db.set_trace_callback(written.append)
        put(catalog, "title", texts | {20: "new", 21: "newer"})
    assert sum(line.startswith("INSERT INTO chunks") for line in written) == 2
    assert not any(line.startswith("DELETE FROM chunks") for line in written)


@pytest.mark.parametrize("count", [2, 30])
def test_what_fails_on_the_way_changes_nothing(count):
    def fails():
        yield from cut(dict.fromkeys(range(count), "new"))
        raise OSError("gone")

    with Catalog.in_memory() as catalog:
        put(catalog, "title", {0: "old", 1: "older"})
        before = everything(catalog)
        with catalog.transaction(), pytest.raises(OSError, match="gone"):
            catalog.put(document("another"), fails())
        assert everything(catalog) == before
        assert catalog.newest(1, Filter())[0].title == "title"


@pytest.mark.parametrize("count", [2, 30])
@pytest.mark.parametrize("exists", [False, True])
def test_two_chunks_with_one_id_are_refused_and_change_nothing(count, exists):
    twice = [*cut(dict.fromkeys(range(count), "new"))]
    twice.append(StoredChunk(twice[-1].uid, count, "x", "", "", "again", "", 1, "0"))
    with Catalog.in_memory() as catalog:
        if exists:
            put(catalog, "title", {0: "old", 1: "older"})
        before = everything(catalog)
        with catalog.transaction(), pytest.raises(ValueError, match="contradicts itself"):
            catalog.put(document(), twice)
        assert everything(catalog) == before


def test_a_text_that_cannot_be_written_is_refused_before_anything_is():
    with Catalog.in_memory() as catalog:
        with catalog.transaction(), pytest.raises(UnicodeEncodeError):
            catalog.put(document(), cut({0: "fine", 1: "half \ud83d"}))
        assert everything(catalog) == ([], [])
        assert catalog.counts()["sessions"] == 0
