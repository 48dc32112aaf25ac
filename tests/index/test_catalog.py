from __future__ import annotations

import threading

import pytest

from knowrepo.errors import KnowError
from knowrepo.index.catalog import Catalog, Document, Filter, StoredChunk, schema
from knowrepo.index.chunk import chunk_id, document_id, text_hash


def document(key: str, **fields: str) -> Document:
    values = {"kind": "concept", "title": key, **fields}
    return Document(key=key, uid=document_id(key), path=f"{key}.md", oid="0" * 40, **values)


def chunk(key: str, text: str, seq: int = 0) -> StoredChunk:
    uid = chunk_id(key, str(seq))
    return StoredChunk(uid, seq, str(seq), "", "", text, "", 1, text_hash(text))


def put(catalog: Catalog, key: str, *texts: str, tags: tuple[str, ...] = (), **fields: str) -> None:
    with catalog.transaction():
        chunks = [chunk(key, text, seq) for seq, text in enumerate(texts)]
        catalog.put(document(key, **fields), chunks, tags=tags)


def found(catalog: Catalog, word: str, only: Filter | None = None) -> list[str]:
    rows = catalog.lexical([word], 10, only or Filter())
    stored = catalog.chunks([number for number, _ in rows])
    return [stored[number].text for number, _ in rows]


@pytest.fixture
def catalog(tmp_path):
    with Catalog.create(tmp_path / "know" / "catalog.db") as opened:
        yield opened


def test_what_is_put_is_found_and_what_is_removed_is_not(catalog):
    put(catalog, "a", "red apple", "green pear")
    put(catalog, "b", "red rose")
    assert sorted(found(catalog, "red")) == ["red apple", "red rose"]
    with catalog.transaction():
        catalog.remove("a")
    assert found(catalog, "red") == ["red rose"]
    assert found(catalog, "pear") == []
    assert catalog.counts() == {"concepts": 1, "sessions": 0, "chunks": 1}


def test_putting_again_replaces(catalog):
    put(catalog, "a", "old text", tags=("one", "two"))
    put(catalog, "a", "new text", tags=("three",))
    assert found(catalog, "old") == []
    assert found(catalog, "two") == []
    assert found(catalog, "three") == ["new text"]


def test_a_change_that_fails_changes_nothing(catalog):
    put(catalog, "a", "kept")

    def change_and_fail() -> None:
        with catalog.transaction():
            catalog.remove("a")
            raise RuntimeError

    with pytest.raises(RuntimeError):
        change_and_fail()
    assert found(catalog, "kept") == ["kept"]


def test_filters_limit_what_is_found(catalog):
    put(catalog, "a", "word one", tags=("git",), type="Decision", date="2026-05-01T10:00:00Z")
    put(catalog, "sessions/claude/x", "word two", kind="session", date="2026-06-01", project="app")
    for only, expected in [
        (Filter(kind="session"), ["word two"]),
        (Filter(type="decision"), ["word one"]),
        (Filter(tag="GIT"), ["word one"]),
        (Filter(since="2026-05-15"), ["word two"]),
        (Filter(until="2026-05-01"), ["word one"]),
        (Filter(session="x"), ["word two"]),
        (Filter(project="app"), ["word two"]),
        (Filter(agent="codex"), []),
        (Filter(kind="concept", tag="none"), []),
    ]:
        assert found(catalog, "word", only) == expected
        assert len(catalog.text_hashes(only)) == len(expected)


def test_what_has_no_date_passes_neither_filter_of_dates(catalog):
    put(catalog, "undated", "word", date="")
    assert found(catalog, "word", Filter()) == ["word"]
    for only in (Filter(since="0001"), Filter(until="9999")):
        assert found(catalog, "word", only) == []
        assert catalog.newest(10, only) == []


def test_a_shown_id_has_one_digit_more_than_is_unique(catalog):
    for number in range(300):
        put(catalog, f"d{number}", f"text {number}")
    ids = [uid for uid, _, _ in catalog.with_prefix("", limit=1000)]
    for uid in ids:
        shown = catalog.shown_id(uid)
        assert len(shown) >= 4
        assert len(catalog.with_prefix(shown)) == 1
        assert len(shown) == 4 or len(catalog.with_prefix(shown[:-1])) == 1
        assert len(shown) == 4 or len(catalog.with_prefix(shown[:-2])) > 1
    told = catalog.shown_ids([*ids, *ids[:3]])
    assert told == {uid: catalog.shown_id(uid) for uid in ids}
    assert any(len(shown) > 4 for shown in told.values())
    assert catalog.shown_ids([]) == {}
    assert catalog.shown_id("no id") == "no i"


def test_a_short_key_is_the_only_one(catalog):
    for key in ("sessions/claude/aaaabbbb-1", "sessions/claude/aaaabbbb-2", "sessions/claude/cc"):
        put(catalog, key, "x", kind="session")
    assert catalog.shown_key("sessions/claude/aaaabbbb-1", 24) == "sessions/claude/aaaabbbb-1"
    assert catalog.shown_key("sessions/claude/cc", 24) == "sessions/claude/cc"


def test_a_short_folder_is_shared_by_nothing_but_what_is_below_it(catalog):
    for key in (
        "s/claude/aaaabbbb-1111",
        "s/claude/aaaabbbb-1111/agent-1", "s/claude/aaaabbbb-1111/agent-2",
        "s/claude/cccc1111-1", "s/claude/cccc1111-2/agent-1",
    ):  # fmt: skip
        put(catalog, key, "x", kind="session")
    assert catalog.shown_folder("s/claude/aaaabbbb-1111", 17) == "s/claude/aaaabbbb"
    assert catalog.shown_folder("s/claude/cccc1111-2", 17) == "s/claude/cccc1111-2"


def test_a_reader_goes_on_in_one_state_while_a_writer_writes(tmp_path):
    path = tmp_path / "catalog.db"
    writer = Catalog.create(path)
    put(writer, "a", "first")
    reader = Catalog.open(path)
    assert reader is not None
    with writer.transaction():
        writer.remove("a")
        assert found(reader, "first") == ["first"]
    assert found(reader, "first") == ["first"]  # all that it reads is of one state
    reader.close()
    reader = Catalog.open(path)
    assert reader is not None
    assert found(reader, "first") == []
    reader.close()
    writer.close()


def test_readers_in_many_threads_see_whole_states(tmp_path):
    path = tmp_path / "catalog.db"
    writer = Catalog.create(path)
    put(writer, "a", "pair", "pair")
    wrong: list[int] = []
    stop = threading.Event()

    def read() -> None:
        while not stop.is_set():
            opened = Catalog.open(path)
            assert opened is not None
            with opened:
                count = len(found(opened, "pair"))
                if count != 2:
                    wrong.append(count)

    threads = [threading.Thread(target=read) for _ in range(3)]
    for thread in threads:
        thread.start()
    for _ in range(50):
        put(writer, "a", "pair", "pair")
    stop.set()
    for thread in threads:
        thread.join()
    writer.close()
    assert wrong == []


def test_another_version_is_built_anew(tmp_path, monkeypatch):
    path = tmp_path / "catalog.db"
    with Catalog.create(path) as old:
        put(old, "a", "text")
    monkeypatch.setattr(schema, "VERSION", "99.0.0")
    assert Catalog.open(path) is None
    with Catalog.create(path) as new:
        assert new.counts()["chunks"] == 0


@pytest.mark.parametrize("content", [b"not a database at all, but longer than a header" * 9, b""])
def test_a_damaged_catalog_is_built_anew(tmp_path, content):
    path = tmp_path / "catalog.db"
    path.with_name(f"catalog-{schema.version()}-1.db").write_bytes(content)
    assert Catalog.open(path) is None
    with Catalog.create(path) as new:
        assert new.counts()["chunks"] == 0


def test_a_path_with_odd_characters_is_opened(tmp_path):
    path = tmp_path / "a b%20?#é" / "catalog.db"
    Catalog.create(path).close()
    opened = Catalog.open(path)
    assert opened is not None
    opened.close()


def test_a_folder_that_cannot_be_made_is_a_clear_error(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(KnowError, match="the catalog cannot be written"):
        Catalog.create(tmp_path / "file" / "catalog.db")


def test_a_wal_catalog_without_its_side_files_opens_read_only(tmp_path):
    path = tmp_path / "catalog.db"
    with Catalog.create(path) as made:
        put(made, "a", "text")
    made_file = Catalog.file(path)
    assert made_file is not None
    copy = tmp_path / "copy" / made_file.name
    copy.parent.mkdir()
    copy.write_bytes(made_file.read_bytes())
    copy.chmod(0o400)
    opened = Catalog.open(copy.with_name(path.name))
    assert opened is not None
    with opened:
        assert found(opened, "text") == ["text"]
