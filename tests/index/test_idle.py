"""Connections that lie idle between two openings of a catalog: when they are used, and when not."""

from __future__ import annotations

import multiprocessing
import shutil
import sqlite3
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator
from contextlib import closing
from multiprocessing.connection import Connection
from pathlib import Path

import pytest

from helpers import unprivileged
from knowrepo.index.catalog import Catalog, DamagedError, Document, Filter, idle, opening, told

FORK = multiprocessing.get_context("fork")
# What another process does with the catalog that is its argument.
PUT = "catalog.put(Document('b', 'uid-b', 'b.md', '2', 'concept'), [])"
PURGE = "catalog.purge()"
LEAVE = "catalog.leave(['a'])"


@pytest.fixture(autouse=True)
def none_idle() -> Iterator[None]:
    idle.close_all()
    yield
    idle.close_all()


@pytest.fixture
def opened(monkeypatch) -> list[Path]:
    """Give the files that were opened anew, in order."""
    files: list[Path] = []
    open_readable = opening.open_readable

    def counted(file: Path):
        files.append(file)
        return open_readable(file)

    monkeypatch.setattr(opening, "open_readable", counted)
    return files


@pytest.fixture
def path(tmp_path) -> Path:
    return made(tmp_path / "know" / "catalog.db")


def made(path: Path, key: str = "a") -> Path:
    with Catalog.create(path) as catalog:
        catalog.put(Document(key, f"uid-{key}", f"{key}.md", "1", "concept"), [])
    return path


def keys(path: Path) -> set[str]:
    """Return the documents of a catalog, by a connection that lies idle before and after."""
    catalog = Catalog.open(path, keep=True)
    assert catalog is not None
    with catalog:
        return set(catalog.states())


def elsewhere(path: Path, *steps: str) -> None:
    """Change a catalog in another process."""
    program = (
        "import sys\nfrom pathlib import Path\n"
        "from knowrepo.index.catalog import Catalog, Document\n"
        "with Catalog.create(Path(sys.argv[1])) as catalog:\n"
    ) + "".join(f"    {step}\n" for step in steps)
    subprocess.run([sys.executable, "-c", program, str(path)], check=True)


def file_of(path: Path) -> Path:
    file = Catalog.file(path)
    assert file is not None
    return file


def test_a_file_is_opened_once_for_readers_that_follow_each_other(path, opened):
    for _ in range(3):
        assert keys(path) == {"a"}
    assert opened == [file_of(path)]


def test_who_does_not_ask_for_it_has_a_connection_of_its_own_that_is_closed(path, opened):
    for _ in range(2):
        catalog = Catalog.open(path)
        assert catalog is not None
        catalog.close()
    assert len(opened) == 2


def test_what_is_committed_between_two_readers_is_seen_by_the_second(path, opened):
    with Catalog.create(path) as writer:
        assert keys(path) == {"a"}
        with writer.transaction():
            writer.put(Document("b", "uid-b", "b.md", "2", "concept"), [])
        assert keys(path) == {"a", "b"}
        assert len(opened) == 1
        catalog = Catalog.open(path, keep=True)
        assert catalog is not None
        with catalog, writer.transaction():
            writer.put(Document("c", "uid-c", "c.md", "3", "concept"), [])
            assert set(catalog.states()) == {"a", "b"}
        assert keys(path) == {"a", "b", "c"}
        assert len(opened) == 1


def test_another_process_that_writes_is_seen_and_is_never_kept_waiting(path):
    assert keys(path) == {"a"}
    elsewhere(path, PUT)
    with closing(sqlite3.connect(file_of(path))) as connection:
        assert connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()[0] == 0
    assert keys(path) == {"a", "b"}


def test_the_next_generation_of_another_process_is_opened_and_the_old_file_let_go(path, opened):
    assert keys(path) == {"a"}
    old, kept = file_of(path), idle_connections()
    elsewhere(path, PUT, PURGE)
    assert keys(path) == {"a", "b"}
    assert opened == [old, file_of(path)]
    assert old != file_of(path)
    assert all(map(is_closed, kept))
    assert kept


def test_a_writer_of_this_process_leaves_nothing_open_of_what_it_removes(path, opened):
    with Catalog.create(path) as writer:
        assert keys(path) == {"a"}
        kept = idle_connections()
        writer.purge()
        assert all(map(is_closed, kept))
        assert kept
        assert keys(path) == {"a"}
    assert keys(path) == {"a"}
    kept = idle_connections()
    Catalog.discard(path)
    assert all(map(is_closed, kept))
    assert kept
    assert Catalog.open(path, keep=True) is None


def idle_connections() -> list[sqlite3.Connection]:
    return [kept.connection for kept in idle._idle.values()]


def is_closed(connection: sqlite3.Connection) -> bool:
    try:
        connection.execute("SELECT 1")
    except sqlite3.ProgrammingError:
        return True
    return False


def test_a_folder_that_was_removed_and_made_again_is_opened_anew(path):
    assert keys(path) == {"a"}
    kept = idle_connections()
    shutil.rmtree(path.parent)
    assert Catalog.open(path, keep=True) is None
    assert all(map(is_closed, kept))
    assert kept
    made(path, "b")
    assert keys(path) == {"b"}
    shutil.rmtree(path.parent)
    shutil.copytree(made(path.parent.with_name("other") / path.name, "c").parent, path.parent)
    assert keys(path) == {"c"}


def test_what_is_written_over_the_file_from_outside_is_no_longer_answered_from(path):
    other = file_of(made(path.parent.with_name("other") / path.name, "b"))
    assert keys(path) == {"a"}
    file_of(path).write_bytes(other.read_bytes())
    assert keys(path) == {"b"}
    file_of(path).write_bytes(b"SQLite format 3\0" + b"no database " * 1000)
    assert Catalog.open(path, keep=True) is None


def test_a_writer_of_this_process_is_the_last_to_close_the_file_and_leaves_no_log(path):
    assert keys(path) == {"a"}
    made(path, "b")
    assert list(path.parent.iterdir()) == [file_of(path)]


def test_documents_that_are_hidden_from_one_reader_are_there_for_the_next(path):
    assert keys(path) == {"a"}
    elsewhere(path, LEAVE)
    assert keys(path) == set()
    assert keys(path) == set()
    elsewhere(path, "catalog.leave([])")
    assert keys(path) == {"a"}


def test_temporary_tables_of_one_reader_are_not_left_to_the_next(path, opened):
    for _ in range(2):
        catalog = Catalog.open(path, keep=True)
        assert catalog is not None
        with catalog:
            assert temporary(catalog) == set()
            catalog.vocabulary("a", 1, 9)
            assert temporary(catalog) == {"vocabulary"}
    assert len(opened) == 1


def temporary(catalog: Catalog) -> set[str]:
    return {name for (name,) in catalog._db.execute("SELECT name FROM temp.sqlite_master")}


def test_after_an_error_the_connection_is_not_used_again(path, opened):
    catalog = Catalog.open(path, keep=True)
    assert catalog is not None
    with pytest.raises(DamagedError), told(path), catalog:
        raise sqlite3.DatabaseError("database disk image is malformed")
    assert keys(path) == {"a"}
    assert len(opened) == 2


def test_a_catalog_that_gave_its_connection_back_cannot_be_asked(path):
    catalog = Catalog.open(path, keep=True)
    assert catalog is not None
    catalog.close()
    catalog.close()
    with pytest.raises(sqlite3.ProgrammingError, match="closed"):
        catalog.counts()
    with pytest.raises(sqlite3.ProgrammingError, match="closed"):
        catalog.lexical(["word"], 1, Filter())
    assert keys(path) == {"a"}


def test_two_readers_at_once_have_a_connection_each_and_one_stays(path, opened):
    first, second = Catalog.open(path, keep=True), Catalog.open(path, keep=True)
    assert first is not None
    assert second is not None
    with first, second:
        assert first._db is not second._db
    assert len(opened) == 2
    assert len(idle_connections()) == 1
    assert keys(path) == {"a"}
    assert len(opened) == 2


def test_threads_that_read_at_once_see_whole_states(path):
    wrong: list[object] = []
    stop = threading.Event()

    def read() -> None:
        while not stop.is_set():
            try:
                catalog = Catalog.open(path, keep=True)
                assert catalog is not None
                with catalog:
                    before = catalog.states()
                    if len(before) != 2 or catalog.states() != before:
                        wrong.append(before)
            except BaseException as error:
                wrong.append(error)
                raise

    with Catalog.create(path) as writer:
        writer.put(Document("b", "uid-b", "b.md", "0", "concept"), [])
        threads = [threading.Thread(target=read) for _ in range(4)]
        for thread in threads:
            thread.start()
        for number in range(100):
            with writer.transaction():
                for key in "ab":
                    writer.put(Document(key, f"uid-{key}", f"{key}.md", f"{number}", "concept"), [])
        stop.set()
        for thread in threads:
            thread.join()
    assert wrong == []


def test_a_connection_may_be_used_and_closed_by_another_thread(path, opened):
    seen: list[set[str]] = []
    thread = threading.Thread(target=lambda: seen.append(keys(path)))
    thread.start()
    thread.join()
    assert keys(path) == {"a"}
    assert seen == [{"a"}]
    assert len(opened) == 1


def _read_in_child(path: Path, catalog: Catalog | None, pipe: Connection) -> None:
    inherited = len(idle._idle)
    if catalog is not None:
        catalog.close()
    pipe.send((inherited, len(idle._idle), keys(path)))
    pipe.recv()


@pytest.mark.parametrize("held", [False, True])
def test_a_child_inherits_no_connection_and_gives_none_back_that_its_parent_opened(path, held):
    assert keys(path) == {"a"}
    kept = idle_connections()
    catalog = Catalog.open(path, keep=True) if held else None
    ours, theirs = FORK.Pipe()
    child = FORK.Process(target=_read_in_child, args=(path, catalog, theirs))
    child.start()
    assert ours.recv() == (0, 0, {"a"})
    if catalog is None:
        assert all(map(is_closed, kept))
    else:
        catalog.close()
    elsewhere(path, PUT)
    assert keys(path) == {"a", "b"}
    ours.send("done")
    child.join()
    assert child.exitcode == 0
    assert keys(path) == {"a", "b"}


def test_a_disk_that_cannot_be_written_is_opened_anew_each_time(opened):
    with tempfile.TemporaryDirectory() as folder:  # pytest's own is closed to others
        Path(folder).chmod(0o755)
        path = made(Path(folder) / "know" / "catalog.db")
        assert list(path.parent.iterdir()) == [file_of(path)]
        path.parent.chmod(0o555)
        try:
            with unprivileged():
                for _ in range(2):
                    assert keys(path) == {"a"}
                assert idle_connections() == []
        finally:
            path.parent.chmod(0o755)
        assert len(opened) == 2
        made(path, "b")
        assert keys(path) == {"a", "b"}


def test_only_so_many_files_are_kept_open(tmp_path, opened):
    paths = [made(tmp_path / str(number) / "catalog.db") for number in range(idle._MOST + 1)]
    for path in paths:
        assert keys(path) == {"a"}
    assert len(idle_connections()) == idle._MOST
    del opened[:]
    for path in (*paths[1:], paths[0]):
        assert keys(path) == {"a"}
    assert opened == [file_of(paths[0])]


def test_a_process_that_ends_closes_what_is_idle(path):
    program = """
import atexit, sqlite3, sys
from pathlib import Path

def told():  # after all that is registered later
    for connection in connections:
        try:
            connection.execute("SELECT 1")
        except sqlite3.ProgrammingError as error:
            print(error)

atexit.register(told)
from knowrepo.index.catalog import Catalog, idle
with Catalog.open(Path(sys.argv[1]), keep=True) as catalog:
    catalog.counts()
connections = [kept.connection for kept in idle._idle.values()]
"""
    done = subprocess.run(
        [sys.executable, "-X", "dev", "-c", program, str(path)],
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert done.stdout == "Cannot operate on a closed database.\n"
    assert done.stderr == ""
