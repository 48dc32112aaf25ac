"""Without FTS5 a catalog gives the same answers by a scan."""

from __future__ import annotations

import contextlib
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from random import Random

import pytest

from knowrepo.index.catalog import (
    Catalog,
    Document,
    Filter,
    Occurrence,
    StoredChunk,
    scan,
    schema,
)
from knowrepo.index.chunk import chunk_id, document_id, text_hash
from knowrepo.index.text import Asked, content_words, forms

# Words that come often, so that many scores are near each other; identifiers with their
# parts, scripts without spaces, and sentences of which a language is recognised.
TEXTS = (
    "red", "red red red", "pear", "apple", "the of and", "parseHTTPHeader", "parse_http_header",
    "header", "v1.2.3", "C++", "東京都に住む", "京都", "京", "ein Hund und eine Katze sind im Haus",
    "Katzen", "les chats sont dans la maison avec les chiens", "tests", "testing", "«·»", "don't",
)  # fmt: skip
KEYS = ("concepts/a", "concepts/b", "sessions/claude/c", "sessions/claude/d")


@contextmanager
def fts5(has: bool) -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(schema, "has_fts5", lambda: has)
        yield


@contextmanager
def opened(path: Path, has: bool) -> Iterator[Catalog]:
    with fts5(has):
        catalog = Catalog.open(path)
    assert catalog is not None
    with catalog:
        yield catalog


FILTERS = (Filter(), Filter(kind="session"), Filter(tag="red"), Filter(since="2026-05-03"))


def some(chance: Random, least: int, most: int) -> str:
    return " ".join(chance.choices(TEXTS, k=chance.randint(least, most)))


def any_change(chance: Random) -> tuple:
    what = chance.choice(("put", "put", "put", "remove", "shrink", "fail", "leave"))
    key = chance.choice(KEYS)
    if what == "leave":
        return what, set(chance.sample(KEYS, chance.randint(0, 2)))
    if what != "put":
        return what, key
    texts = [(some(chance, 0, 2), some(chance, 0, 8)) for _ in range(chance.randint(0, 9))]
    return what, key, some(chance, 0, 2), set(chance.sample(TEXTS, 2)), texts


class UndoneError(Exception):
    """A change that is to leave nothing behind."""


def change(catalog: Catalog, what: str, *values) -> None:
    with contextlib.suppress(UndoneError), catalog.transaction():
        if what == "put":
            put(catalog, *values)
        elif what == "leave":
            catalog.leave(values[0])
        else:
            catalog.remove(values[0], most=1 if what == "shrink" else None)
        if what == "fail":
            catalog.chunk_frequency("red")  # nothing of this may be remembered
            raise UndoneError


def put(catalog: Catalog, key: str, title: str, tags: set[str], texts: list) -> None:
    kind = "session" if key.startswith("sessions") else "concept"
    chunks = [
        StoredChunk(
            chunk_id(key, str(seq)), seq, str(seq), heading, "", body, f"2026-05-0{seq + 1}",
            1, text_hash(body),
        )
        for seq, (heading, body) in enumerate(texts)
    ]  # fmt: skip
    catalog.put(
        Document(key, document_id(key), key, "0" * 40, kind, title=title), chunks, tags=tags
    )


def same_answers(scanned: Catalog, full: Catalog, query: str, limit: int, only: Filter) -> int:
    """Ask both what a search asks, and the scan again when it has counted; returns the hits."""
    words = content_words(query)
    found = scanned.lexical(words, limit, only)
    expected = full.lexical(words, limit, only)
    numbers = [number for number, _ in expected]
    assert [number for number, _ in found] == numbers
    assert [score for _, score in found] == pytest.approx(
        [score for _, score in expected], abs=1e-6
    )
    for word in (*words, *(Asked(word, "de") for word in words)):
        assert scanned.chunk_frequency(word) == full.chunk_frequency(word)
        assert scanned.matches(word, numbers) == full.matches(word, numbers)
    assert scanned.lexical(words, limit, only) == found
    asked = list(dict.fromkeys(words))
    often = full.often(asked)
    assert scanned.often(asked) == often
    places = full.occurrences(asked)
    assert in_order(scanned.occurrences(asked)) == in_order(places)
    assert {word: len(found) for word, found in places.items()} == {
        word: often[word].places for word in asked
    }
    some = {number: [] for number in numbers[::2]}
    assert in_order(scanned.occurrences(asked, some)) == in_order(full.occurrences(asked, some))
    return len(found)


def in_order(places: dict[str, list[Occurrence]]) -> dict[str, list[Occurrence]]:
    return {word: sorted(found) for word, found in places.items()}


@pytest.mark.parametrize("seed", range(6))
def test_a_scan_gives_what_fts5_gives_before_and_after_every_change(tmp_path, seed):
    chance = Random(seed)
    path = tmp_path / "catalog.db"
    with fts5(True):
        full = Catalog.create(path)
    with fts5(False):
        scanned = Catalog.create(path)
    found = 0
    with full, scanned:
        for step in [any_change(chance) for _ in range(12)]:
            change(full, *step)
            change(scanned, *step)
            with opened(path, True) as full_reader, opened(path, False) as scanning_reader:
                for _ in range(8):
                    question = some(chance, 1, 3), chance.choice((1, 3, 99)), chance.choice(FILTERS)
                    same_answers(scanned, full, *question)
                    found += same_answers(scanning_reader, full_reader, *question)
    assert found > 50


@pytest.fixture
def scanned() -> Iterator[Catalog]:
    with fts5(False), Catalog.in_memory() as catalog:
        yield catalog


def test_the_questions_of_the_comparison_reach_what_is_told_apart():
    asked = [form for text in TEXTS for word in content_words(text) for form in forms(word)]
    assert any(form.endswith("*") for form in asked)  # the beginning of a word
    assert any(not form.isascii() and form.isalpha() for form in asked)  # pairs
    assert any(form.endswith("·") for form in asked)  # stems of other languages


def test_a_scan_finds_whole_words_only(scanned):
    put(scanned, KEYS[0], "", set(), [("", "prefix red"), ("", "reddish"), ("red", "ish")])
    found = [number for number, _ in scanned.lexical(["red"], 9, Filter())]
    assert sorted(found) == [1, 3]
    assert scanned.matches("red", [1, 2, 3]) == {1, 3}
    assert scanned.chunk_frequency("redish") == 0  # two columns make no word


def test_a_scan_holds_no_more_than_the_best(scanned, monkeypatch):
    put(scanned, KEYS[0], "", set(), [("", "red " * (number + 1)) for number in range(300)])
    held: list[int] = []

    def nlargest(limit, scored):
        held.append(limit)
        assert iter(scored) is scored  # rows that come one at a time
        return sorted(scored, reverse=True)[:limit]

    monkeypatch.setattr(scan, "nlargest", nlargest)
    assert len(scanned.lexical(["red"], 7, Filter())) == 7
    assert held == [7]


def test_a_search_of_a_reader_reads_all_words_twice_and_not_for_every_word(tmp_path):
    path = tmp_path / "catalog.db"
    with fts5(False), Catalog.create(path) as written:
        change(written, "put", KEYS[0], "", set(), [("", "red pear")])
    with opened(path, False) as catalog:
        run: list[str] = []
        catalog._db.set_trace_callback(run.append)
        words = content_words("red pear apple testing")
        catalog.lexical(words, 9, Filter())
        for word in words:
            catalog.chunk_frequency(word)
    assert sum("FROM words" in statement for statement in run) == 2


def test_fts5_and_a_scan_keep_a_catalog_each_and_read_only_their_own(tmp_path):
    path = tmp_path / "catalog.db"
    with fts5(True), Catalog.create(path) as written:
        change(written, "put", KEYS[0], "", set(), [("", "red")])
    with fts5(False):
        assert Catalog.open(path) is None
        with Catalog.create(path) as made:
            assert made.counts()["chunks"] == 0
    with opened(path, True) as kept:
        assert kept.chunk_frequency("red") == 1


def test_a_file_of_the_other_kind_under_our_name_is_made_anew(tmp_path):
    path = tmp_path / "catalog.db"
    with fts5(True), Catalog.create(path) as written:
        change(written, "put", KEYS[0], "", set(), [("", "red")])
        file = Catalog.file(path)
    assert file is not None
    with fts5(False):
        file.rename(tmp_path / f"catalog-{schema.version()}-1.db")
        assert Catalog.open(path) is None
        with Catalog.create(path) as made:
            assert made.chunk_frequency("red") == 0


def test_the_tables_to_look_at_are_the_same_with_and_without_fts5():
    with fts5(True), Catalog.in_memory() as full:
        expected = full.tables()
    with fts5(False), Catalog.in_memory() as scanned:
        assert scanned.tables() == expected
        assert "words" not in expected


def test_whether_there_is_fts5_is_found_by_trying_where_sqlite_does_not_tell(monkeypatch):
    class Silent(sqlite3.Connection):
        def execute(self, statement, *values):
            return super().execute(statement.replace("pragma_module_list", "nothing"), *values)

    class Without(Silent):
        def execute(self, statement, *values):
            return super().execute(statement.replace("fts5", "fts9"), *values)

    connect = sqlite3.connect
    for factory, expected in ((sqlite3.Connection, True), (Silent, True), (Without, False)):
        with monkeypatch.context() as patch:
            patch.setattr(
                sqlite3, "connect", lambda file, made=factory: connect(file, factory=made)
            )
            assert schema.has_fts5.__wrapped__() is expected


def test_words_of_a_scanned_catalog_that_disagree_are_found(tmp_path):
    from knowrepo.index.catalog import health

    path = tmp_path / "catalog.db"
    for damage, said in (
        ("SELECT 1", ""),
        ("DELETE FROM words WHERE id = 1", "1 chunks without words"),
        ("DELETE FROM chunks WHERE id = 1", "1 words without a chunk"),
        ("UPDATE words SET body = 'red red red' WHERE id = 1", "1 chunks whose words"),
    ):
        with fts5(False):
            Catalog.discard(path)
            with Catalog.create(path) as written:
                change(written, "put", KEYS[0], "a b", {"t"}, [("", "red"), ("h h", "")])
                file = Catalog.file(path)
            assert file is not None
            with closing(sqlite3.connect(file)) as db, db:
                db.execute(damage)
            found = health.examine(file)
            assert not found.outdated
            assert [problem.startswith(said) for problem in found.problems] == [True] * bool(said)
