"""What `know sql` can see, and that it can do nothing but see."""

from __future__ import annotations

import duckdb
import numpy as np
import pytest

from helpers import assistant, catalog_file, concept, jsonl, make_repository, user, write
from knowrepo.errors import UsageError
from knowrepo.index import sql
from knowrepo.index.build import refresh
from knowrepo.index.catalog import Catalog
from knowrepo.index.vectors import VectorStore

OLD = "11111111-0000-4000-8000-000000000001"
FINGERPRINT = "0123456789abcdef"


@pytest.fixture
def filled(repository):
    write(repository, "concepts/decisions/a.md", concept("Use git", tags=["git", "é"]))
    path = repository.sessions / "claude" / f"{OLD}.jsonl"
    path.parent.mkdir()
    path.write_bytes(jsonl([user("why?", 1), assistant("because", 2)]))
    refresh(repository)
    return repository


def ask(repository, statement, **options):
    with sql.answer(repository, statement, **options) as found:
        return found.columns, list(found.rows)


def test_the_catalogs_tables_can_be_asked_and_joined(filled):
    columns, rows = ask(
        filled, "select d.title, t.tag from documents d join tags t on t.document = d.id order by 2"
    )
    assert columns == ("title", "tag")
    assert rows == [("Use git", "git"), ("Use git", "é")]


def test_every_table_of_the_catalog_holds_what_the_catalog_holds(filled):
    with Catalog.open(filled.catalog) as catalog:
        whole = {name: list(catalog.rows(name)) for name in catalog.tables()}
    assert {"documents", "chunks", "tags", "names", "terms", "meta"} <= set(whole)
    for name, rows in whole.items():
        shown = [tuple(v.hex() if isinstance(v, bytes) else v for v in row) for row in rows]
        assert sorted(ask(filled, f"select * from {name}")[1]) == sorted(shown), name


def test_records_are_the_archived_lines_with_the_numbers_of_the_catalog(filled):
    with (filled.sessions / "claude" / f"{OLD}.jsonl").open("ab") as stream:
        stream.write(b'\nno json {\n{"type":"odd\\ud800"}\n{"n": 1}\n')
    _, rows = ask(filled, "select session, agent, line, type, role, time, json from records")
    assert [row[2:6] for row in rows] == [
        (1, "user", "user", "2026-05-01T10:00:01.000Z"),
        (2, "assistant", "assistant", "2026-05-01T10:00:02.000Z"),
        (4, None, None, None),
        (5, None, None, None),
        (6, None, None, None),
    ]
    assert {row[:2] for row in rows} == {(f"claude/{OLD}", "claude")}
    assert rows[4][6] == '{"n": 1}'


def test_the_parts_of_a_large_session_are_numbered_as_one_file(filled):
    from knowrepo.sessions import store

    first = filled.sessions / "claude" / f"{OLD}.jsonl"
    head = store.header(1, first.stat().st_size, store.last_line_digest(first))
    store.part(first, 1).write_bytes(head + jsonl([user("more", 3)]))
    assert ask(filled, "select line, type from records order by 1")[1] == [
        (1, "user"), (2, "assistant"), (3, "user"),
    ]  # fmt: skip


def test_a_link_in_the_place_of_a_session_is_not_followed(filled, tmp_path):
    outside = tmp_path / "outside.jsonl"
    outside.write_text('{"type":"secret"}\n')
    (filled.sessions / "claude" / "22222222-0000-4000-8000-000000000002.jsonl").symlink_to(outside)
    assert ask(filled, "select count(*) from records where type = 'secret'")[1] == [(0,)]


def test_vectors_of_one_fingerprint_are_seen_and_join_the_chunks(filled):
    with Catalog.open(filled.catalog) as catalog:
        hashes = catalog.text_hashes()
    vector = np.zeros(4, dtype=np.float32)
    vector[1] = 1
    store = VectorStore(filled.vectors, FINGERPRINT)
    store.add([(hashes[0], 0, vector)])
    store.add([(name, 0, vector) for name in hashes[1:]])
    VectorStore(filled.vectors, "f" * 16).add([("0" * 32, 0, vector)])
    query = (
        "select count(*), min(len(vector)), max(vector[2]) from vectors v"
        " join (select distinct text_hash from chunks) using (text_hash)"
    )
    assert ask(filled, query, fingerprint=FINGERPRINT)[1] == [(len(hashes), 4, 1.0)]
    assert ask(filled, query)[1] == [(0, None, None)]


def test_a_damaged_segment_is_named_and_costs_only_its_vectors(filled):
    vector = np.ones(4, dtype=np.float32)
    store = VectorStore(filled.vectors, FINGERPRINT)
    store.add([("0" * 32, 0, vector)])
    (segment,) = store.segments()
    segment.write_bytes(b"damaged")
    with sql.answer(filled, "from vectors", fingerprint=FINGERPRINT) as found:
        assert list(found.rows) == []
        assert any(segment.name in note for note in found.notes)


def test_without_a_catalog_the_archive_can_still_be_asked(repository):
    with sql.answer(repository, "select count(*) from records") as found:
        assert list(found.rows) == [(0,)]
        assert any("know index" in note for note in found.notes)


ATTACKS = [
    "select * from read_text('{secret}')",
    "select * from read_blob('{secret}')",
    "select * from read_csv('{secret}')",
    "select * from read_json('{secret}')",
    "from '{secret}'",
    "select * from glob('{folder}/*')",
    "select * from sniff_csv('{secret}')",
    "select * from read_parquet('{folder}/*')",
    "select * from query('from read_text(''{secret}'')')",
    "select getenv('HOME')",
    "copy tags to '{target}'",
    "with x as (copy tags to '{target}') select * from x",
    "with x as (insert into tags values ('no', 1) returning tag) select * from x",
    "with x as (delete from documents returning key) select * from x",
    "select * from (with y as (copy tags to '{target}') from y)",
    "explain analyze copy tags to '{target}'",
    "export database '{target}'",
    "attach '{target}' as other",
    "attach '{catalog}' as other (type sqlite)",
    "select * from sqlite_scan('{catalog}', 'tags')",
    "install httpfs",
    "load httpfs",
    "load '{secret}'",
    "set enable_external_access = true",
    "set lock_configuration = false",
    "reset lock_configuration",
    "pragma enable_profiling",
    "call pragma_version()",
    "checkpoint",
    "create table mine as from read_text('{secret}')",
    "drop table documents",
    "update documents set title = 'no'",
    "begin",
    "commit; select 1",
    "select 1; select 2",
    "select 1; copy tags to '{target}'",
    "use memory",
    "select * from 'https://example.org/x.csv'",
    "select * from read_csv('https://example.org/x.csv')",
    "prepare p as select 1",
    "execute p",
    "selec 1",
    "select nothing from documents",
    "select * from nowhere",
    "select 1/",
    "",
]


@pytest.mark.parametrize("attack", ATTACKS)
def test_what_does_more_than_read_the_tables_is_wrong_usage_and_does_nothing(
    filled, tmp_path, attack
):
    secret, target = tmp_path / "secret.csv", tmp_path / "target.csv"
    secret.write_text("a,b\n1,2\n")
    catalog = catalog_file(filled)
    before = {path: path.read_bytes() for path in (secret, catalog)}
    statement = attack.format(secret=secret, target=target, folder=tmp_path, catalog=catalog)
    with pytest.raises(UsageError) as caught:
        ask(filled, statement)
    assert "\n" not in caught.value.message
    assert {path: path.read_bytes() for path in before} == before
    assert not target.exists()
    assert ask(filled, "select count(*) from documents")[1] == [(2,)]


def test_no_variable_of_the_program_can_be_asked(filled):
    documents_frame = np.zeros(3)  # noqa: F841  # DuckDB would find it by name
    for name in ("documents_frame", "columns", "batch"):
        with pytest.raises(UsageError):
            ask(filled, f"select * from {name}")


def test_no_segment_of_the_vectors_can_be_written_over(filled):
    store = VectorStore(filled.vectors, FINGERPRINT)
    store.add([("0" * 32, 0, np.ones(4, dtype=np.float32))])
    (segment,) = store.segments()
    before = segment.read_bytes()
    statement = f"with x as (copy (from vectors) to '{segment}') select * from x"
    with pytest.raises(UsageError):
        ask(filled, statement, fingerprint=FINGERPRINT)
    assert segment.read_bytes() == before


def test_a_deeply_nested_query_is_no_bug(filled):
    nested = "(" * 300 + "1" + ")" * 300
    assert ask(filled, f"select {nested}")[1] == [(1,)]


def test_nothing_is_left_of_the_throwaway_database(filled, tmp_path, monkeypatch):
    folder = tmp_path / "scratch"
    folder.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(folder))
    ask(filled, "from documents")
    with pytest.raises(UsageError):
        ask(filled, "from nowhere")
    assert list(folder.iterdir()) == []


def test_rows_come_in_batches_bounded_by_rows_and_by_characters(monkeypatch):
    monkeypatch.setattr(sql, "_BATCH_ROWS", 3)
    monkeypatch.setattr(sql, "_BATCH_BYTES", 10)
    rows = [("a" * 4, 1)] * 4 + [("b" * 50, 2)] + [("", 3)] * 5
    assert [len(batch) for batch in sql._batches(rows)] == [3, 2, 3, 2]


def test_names_in_quotes_and_of_any_case_are_found(filled):
    assert ask(filled, 'select count(*) from "Documents"')[1] == [(2,)]
    assert ask(filled, "select (select count(*) from DOCUMENTS)")[1] == [(2,)]
    assert ask(filled, "summarize documents")[1] != []
    assert len(ask(filled, "describe documents")[1]) > 10
    assert ("records",) in ask(filled, "show tables")[1]


@pytest.mark.parametrize(
    ("query", "rows"),
    [
        ("from query('select count(*) from documents')", 2),
        ("select count(*) from query_table('documents')", 2),
        ("select count(*) from query_table(['documents'])", 2),
        ("select count(*) from query_table('records')", 2),
        ("select count(*) from archive.lines", 2),
        ("with documents as (select 1) select count(*) from main.documents", 2),
        ("select count(*) from rows.main.documents", 2),
    ],
)
def test_a_table_that_is_named_in_another_way_is_not_taken_for_an_empty_one(filled, query, rows):
    assert ask(filled, query)[1] == [(rows,)]


def test_a_table_that_is_not_named_is_not_copied(filled, monkeypatch):
    read = []
    monkeypatch.setattr(Catalog, "rows", lambda _self, name: read.append(name) or iter(()))
    ask(filled, "select * from tags where tag in (select 'documents')")
    assert read == ["tags"]


def test_duckdb_knows_all_settings_that_hold_it(filled):
    db = duckdb.connect(config=sql._CONFIG)
    assert db.execute("select current_setting('python_enable_replacements')").fetchone() == (False,)


def test_a_repository_of_another_folder_is_read_as_itself(tmp_path):
    other = make_repository(tmp_path / "it's odd")
    write(other, "concepts/a.md", concept("A"))
    refresh(other)
    VectorStore(other.vectors, FINGERPRINT).add([("0" * 32, 0, np.ones(4, dtype=np.float32))])
    query = "select (select count(*) from documents), (select count(*) from vectors)"
    assert ask(other, query, fingerprint=FINGERPRINT)[1] == [(1, 1)]
