"""The files of a catalog: readers that hold on, versions, what was forgotten; real processes."""

from __future__ import annotations

import multiprocessing
from collections.abc import Iterator
from contextlib import contextmanager
from multiprocessing.connection import Connection
from pathlib import Path

import pytest

from catalog_rows import bytes_of, rebuilt, rows_of
from helpers import assistant, catalog_file, concept, git, jsonl, make_repository, user, write
from knowrepo.git.layout import Repository, repository_at
from knowrepo.index.build import refresh
from knowrepo.index.catalog import SEEN, Catalog, Document, Filter, files, opening, schema
from knowrepo.recall import route
from knowrepo.sessions.forget import forget
from knowrepo.sessions.store import SessionName

FORK = multiprocessing.get_context("fork")
BOUND = 100_000


def session(repository: Repository, number: int, *texts: str) -> Path:
    path = repository.sessions / "claude" / f"{number:08d}-0000-4000-8000-000000000000.jsonl"
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(jsonl(user(text, place) for place, text in enumerate(texts, 1)))
    return path


def fill(repository: Repository, word: str) -> None:
    """Put other text of the same size into every session."""
    for number in range(10):
        session(repository, number, *(f"{word} {number} {place} " * 40 for place in range(10)))


def _hold(path: Path, pipe: Connection) -> None:
    catalog = Catalog.open(path)
    assert catalog is not None
    while pipe.recv():
        found = catalog.lexical(["first"], 1000, Filter())
        pipe.send(
            (catalog.counts(), [catalog.chunks([number])[number].text for number, _ in found])
        )


@contextmanager
def reader(repository: Repository) -> Iterator[Connection]:
    """Give a pipe to a process that holds on to one state of the catalog, and says what it sees."""
    ours, theirs = FORK.Pipe()
    process = FORK.Process(target=_hold, args=(repository.catalog, theirs))
    process.start()
    try:
        yield ours
    finally:
        ours.send(False)
        process.join()


def seen(pipe: Connection) -> object:
    pipe.send(True)
    return pipe.recv()


def size(repository: Repository) -> int:
    return len(bytes_of(repository.locks))


def test_a_reader_that_holds_on_keeps_its_state_and_the_files_stay_small(repository, monkeypatch):
    monkeypatch.setattr(opening, "WAL_BYTES", BOUND)
    fill(repository, "first")
    refresh(repository)
    settled = catalog_file(repository).stat().st_size
    with reader(repository) as held:
        before = seen(held)
        fill(repository, "second")
        refresh(repository)
        with reader(repository) as later:
            state_of_later = seen(later)
            for number in range(12):
                fill(repository, f"turn{number}")
                refresh(repository)
                # Its own log at most, half a file's, and what one run writes into it.
                assert size(repository) < 5 * settled + BOUND
                assert seen(held) == before
                assert seen(later) == state_of_later
    assert rows_of(repository) == rebuilt(repository)
    refresh(repository)
    assert len(list(repository.locks.glob("catalog*.db"))) == 1


def test_the_log_is_written_back_in_place_where_nobody_reads(repository, monkeypatch):
    monkeypatch.setattr(opening, "WAL_BYTES", BOUND)
    fill(repository, "first")
    refresh(repository)
    file = catalog_file(repository)
    for number in range(5):
        fill(repository, f"turn{number}")
        refresh(repository)
    assert catalog_file(repository) == file


def test_a_reader_that_opens_what_its_writer_just_left_takes_the_next(tmp_path, monkeypatch):
    path = tmp_path / "catalog.db"
    with Catalog.create(path) as catalog:
        catalog.put(Document("a", "u", "a.md", "1", "concept"), [])
    left = []

    def open_late(file: Path):
        if not left:
            left.append(file)
            with Catalog.create(path) as catalog:
                catalog.put(Document("b", "v", "b.md", "2", "concept"), [])
                catalog.purge()
            assert not file.exists()
        return open_readable(file)

    open_readable = opening.open_readable
    monkeypatch.setattr(opening, "open_readable", open_late)
    opened = Catalog.open(path)
    assert opened is not None
    with opened:
        assert set(opened.states()) == {"a", "b"}


@pytest.mark.parametrize("left", ["catalog-{v}-2.db.new", "catalog-{v}-2.db.new-wal"])
def test_what_a_killed_move_left_behind_goes_and_the_catalog_stays(repository, left):
    write(repository, "concepts/a.md", concept("A"))
    refresh(repository)
    for name in (left, f"{left}-journal"):
        (repository.locks / name.format(v=schema.version())).write_bytes(b"half a copy")
    (repository.locks / f"catalog-{schema.version()}-1.db.new").write_bytes(b"")
    refresh(repository)
    there = {file.name for file in repository.locks.glob("catalog*.db*")}
    assert there == {f"catalog-{schema.version()}-1.db"}
    assert rows_of(repository) == rebuilt(repository)


def test_a_move_that_was_published_and_not_finished_is_finished(repository):
    write(repository, "concepts/a.md", concept("A"))
    refresh(repository)
    old = catalog_file(repository)
    with Catalog.create(repository.catalog) as catalog:
        catalog._publish()  # and there it was killed
    write(repository, "concepts/b.md", concept("B"))
    refresh(repository)
    assert not old.exists()
    assert rows_of(repository) == rebuilt(repository)


def as_version(monkeypatch: pytest.MonkeyPatch, version: str) -> None:
    monkeypatch.setattr(schema, "VERSION", version)


def test_two_versions_that_take_turns_build_one_catalog_each(repository, monkeypatch):
    write(repository, "concepts/a.md", concept("A"))
    for version, indexed in (("90.1.1", 1), ("91.1.1", 1), ("90.1.1", 0), ("91.1.1", 0)):
        as_version(monkeypatch, version)
        assert refresh(repository).indexed == indexed
    as_version(monkeypatch, "92.1.1")
    refresh(repository)
    assert len(list(repository.locks.glob("catalog*.db"))) == 2


def test_another_version_is_built_while_a_reader_holds_the_old_one(repository, monkeypatch):
    fill(repository, "first")
    refresh(repository)
    with reader(repository) as held:
        before = seen(held)
        as_version(monkeypatch, "99.1.1")
        fill(repository, "second")
        assert refresh(repository).indexed == 10
        assert seen(held) == before


def pulled_tombstone(tmp_path: Path) -> Repository:
    """Return a clone that indexed a session, and then got the tombstone that another made."""
    origin = make_repository(tmp_path / "origin")
    words = [f"zebra{n}quagga unicorn{n}wombat" for n in range(30)]
    session(origin, 1, "plain words", *words)
    session(origin, 2, "other words", "that stay here")
    write(origin, "concepts/a.md", concept("A"))
    git(origin.root, "add", "-A")
    git(origin.root, "commit", "-qm", "archive")
    git(tmp_path, "clone", "-q", str(origin.root), "clone")
    clone = repository_at((tmp_path / "clone").resolve())
    refresh(clone)
    assert b"quagga" in bytes_of(clone.locks)
    forget(origin, SessionName("claude", "00000001-0000-4000-8000-000000000000"))
    git(origin.root, "add", "-A")
    git(origin.root, "commit", "-qm", "forget")
    git(clone.root, "pull", "-q")
    return clone


@pytest.mark.parametrize("fts5", [True, False], ids=["fts5", "scan"])
def test_what_another_clone_forgot_is_not_in_the_bytes_of_the_catalog(tmp_path, monkeypatch, fts5):
    monkeypatch.setattr(schema, "has_fts5", lambda: fts5)
    clone = pulled_tombstone(tmp_path)
    with reader(clone) as held:
        before = seen(held)
        assert refresh(clone).removed == 1
        assert seen(held) == before
    found = bytes_of(clone.locks)
    for trace in (b"quagga", b"unicorn", b"zebra", b"wombat"):
        assert trace not in found
    assert b"that stay here" in found
    assert rows_of(clone) == rebuilt(clone)


def test_nor_in_that_of_another_version_which_may_never_run_again(tmp_path, monkeypatch):
    clone = pulled_tombstone(tmp_path)
    as_version(monkeypatch, "99.1.1")
    assert refresh(clone).indexed == 2
    assert b"quagga" not in bytes_of(clone.locks)
    # An older one takes its turn, and neither throws away what the other one built since.
    for version, indexed in (("98.1.1", 2), ("99.1.1", 0), ("98.1.1", 0)):
        as_version(monkeypatch, version)
        assert refresh(clone).indexed == indexed


def test_a_recall_never_shows_what_is_gone_and_leaves_the_rest_to_the_next_index(tmp_path):
    clone = pulled_tombstone(tmp_path)
    refresh(clone, budget=0.0)
    opened = Catalog.open(clone.catalog)
    assert opened is not None
    with opened:
        assert opened.lexical(["zebra3quagga"], 10, Filter()) == []
        assert opened.counts()["sessions"] == 1
        assert {d.path for d in opened.newest(9, Filter(kind="session"))} == {
            "sessions/claude/00000002-0000-4000-8000-000000000000.jsonl"
        }
        assert opened.meta(SEEN) == ""
    assert route.recall(clone, "zebra3quagga unicorn3wombat").hits == []
    refresh(clone)
    assert b"quagga" not in bytes_of(clone.locks)


def test_many_documents_that_are_gone_are_hidden_at_once_and_removed_as_time_allows(
    repository, commit
):
    commit()
    for number in range(60):
        text = concept(f"Heron {number}", tags=["bird"], body="heron " * 50)
        write(repository, f"concepts/c{number}.md", text, stage=False)
    session(repository, 1, *(f"heron {n} " * 60 for n in range(200)))
    write(repository, "concepts/kept.md", concept("Kept heron"))
    commit()
    refresh(repository)
    git(repository.root, "rm", "-q", "concepts/c*.md")
    (repository.sessions / "claude" / "00000001-0000-4000-8000-000000000000.jsonl").unlink()
    assert refresh(repository, budget=0.0).removed == 61
    opened = Catalog.open(repository.catalog)
    assert opened is not None
    with opened:
        assert opened.counts() == {"concepts": 1, "sessions": 0, "chunks": 1}
        assert len(opened.lexical(["heron"], 999, Filter())) == 1
        assert len(opened.text_hashes()) == len(list(opened.text_hashes_in_order())) == 1
        assert opened.named("bird", "tag", 9) == []
        assert opened.holders(["heron"]).called["heron"].bit_count() == 1
        assert opened.holders([]).every.bit_count() == 1
        assert opened.document_at("concepts/c1") is None
        assert len(opened.with_prefix("", limit=999)) == 2
    assert {hit.path for hit in route.recall(repository, "heron").hits} == {"concepts/kept.md"}
    refresh(repository, budget=0.005)
    git(repository.root, "checkout", "-q", "HEAD", "--", "concepts/c1.md")
    refresh(repository)
    assert rows_of(repository) == rebuilt(repository)


def test_a_document_that_was_half_removed_and_comes_back_is_whole(repository, commit):
    path = session(repository, 1, *(f"heron {n} " * 60 for n in range(200)))
    content = path.read_bytes()
    refresh(repository)
    path.unlink()
    key = path.relative_to(repository.root).as_posix().removesuffix(".jsonl")
    with Catalog.create(repository.catalog) as catalog, catalog.transaction():
        catalog.leave([key])
        assert not catalog.remove(key, most=64)
    path.write_bytes(content)
    refresh(repository)
    assert rows_of(repository) == rebuilt(repository)


def test_a_rename_embeds_nothing(repository, commit):
    write(repository, "concepts/a.md", concept("A title", body="# Part\n\ntext"))
    path = session(repository, 1, "question", "another")
    refresh(repository)
    before = hashes(repository)
    git(repository.root, "mv", "concepts/a.md", "concepts/b.md")
    path.rename(path.with_name("moved.jsonl"))
    assert refresh(repository).indexed == 2
    assert hashes(repository) == before


def hashes(repository: Repository) -> set[str]:
    catalog = Catalog.open(repository.catalog)
    assert catalog is not None
    with catalog:
        return set(catalog.text_hashes())


def test_names_of_generations_are_never_used_twice(tmp_path):
    path = tmp_path / "catalog.db"
    (tmp_path / f"catalog-{schema.version()}-4.db-wal").write_bytes(b"left behind")
    (tmp_path / f"catalog-{schema.version()}-3.db.new").write_bytes(b"left behind")
    assert files.following(path, schema.version()).name == f"catalog-{schema.version()}-5.db"
    assert files.current(path, schema.version()) is None


def test_answers_are_of_one_state_while_the_file_changes(repository, monkeypatch):
    monkeypatch.setattr(opening, "WAL_BYTES", 1)
    write(repository, "concepts/a.md", concept("A"))
    (repository.sessions / "claude").mkdir()
    path = repository.sessions / "claude" / "x.jsonl"
    refresh(repository)
    with reader(repository):
        for number in range(8):
            path.write_bytes(jsonl([user(f"pair {number}", 1), assistant(f"pair {number}", 2)]))
            opened = Catalog.open(repository.catalog)
            assert opened is not None
            with opened:
                before = opened.states()
                refresh(repository)
                assert opened.states() == before
    assert rows_of(repository) == rebuilt(repository)
