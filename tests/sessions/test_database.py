from __future__ import annotations

import os
import sqlite3
import tempfile
from contextlib import closing
from pathlib import Path

import pytest

from helpers import unprivileged
from knowrepo.sessions import database
from knowrepo.sessions.database import Database, DatabaseError, tables


def made(path: Path, *, wal: bool = False) -> Path:
    with closing(sqlite3.connect(path)) as connection:
        if wal:
            connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("CREATE TABLE notes (id INTEGER PRIMARY KEY, text)")
        connection.execute("INSERT INTO notes (text) VALUES ('one'), ('two')")
        connection.commit()
    return path


def beside(folder: Path) -> dict[str, tuple[int, int]]:
    return {
        path.name: (path.stat().st_mtime_ns, path.stat().st_size)
        for path in sorted(folder.iterdir())
    }


def texts(path: Path) -> list[str]:
    return [row["text"] for row in Database(path).all("SELECT text FROM notes ORDER BY id")]


@pytest.mark.parametrize("wal", [False, True])
def test_a_database_at_rest_is_read_and_nothing_is_left_beside_it(tmp_path, wal):
    path = made(tmp_path / "a.db", wal=wal)
    before = beside(tmp_path)
    assert tables(path) == {"notes"}
    assert texts(path) == ["one", "two"]
    assert beside(tmp_path) == before
    assert list(before) == ["a.db"]


def test_what_stands_only_in_a_live_log_is_read_and_the_log_stays_as_it_is(tmp_path):
    path = made(tmp_path / "a.db", wal=True)
    with closing(sqlite3.connect(path)) as program:
        program.execute("INSERT INTO notes (text) VALUES ('three')")
        program.commit()
        before = beside(tmp_path)
        assert texts(path) == ["one", "two", "three"]
        assert beside(tmp_path) == before
        assert "a.db-wal" in before


def test_a_table_that_stands_only_in_a_live_log_is_found(tmp_path):
    path = tmp_path / "a.db"
    with closing(sqlite3.connect(path)) as program:
        program.execute("PRAGMA journal_mode = WAL")
        program.execute("CREATE TABLE notes (id INTEGER PRIMARY KEY, text)")
        program.commit()
        assert tables(path) == {"notes"}


def test_a_log_without_its_index_as_after_a_crash_is_read_from_a_copy(tmp_path):
    path = made(tmp_path / "live.db", wal=True)
    crashed = tmp_path / "crashed"
    crashed.mkdir()
    with closing(sqlite3.connect(path)) as program:
        program.execute("INSERT INTO notes (text) VALUES ('three')")
        program.commit()
        for name in ("", "-wal"):
            (crashed / f"a.db{name}").write_bytes(path.with_name(path.name + name).read_bytes())
    before = beside(crashed)
    assert texts(crashed / "a.db") == ["one", "two", "three"]
    assert beside(crashed) == before


def test_a_large_database_in_use_is_read_in_place(tmp_path, monkeypatch):
    path = made(tmp_path / "a.db", wal=True)
    monkeypatch.setattr(database, "LARGEST_COPY", 1)
    with closing(sqlite3.connect(path)) as program:
        program.execute("INSERT INTO notes (text) VALUES ('three')")
        program.commit()
        assert texts(path) == ["one", "two", "three"]
        program.execute("INSERT INTO notes (text) VALUES ('four')")  # nobody is in its way
        program.commit()


def test_a_transaction_that_a_crash_cut_off_is_not_read(tmp_path):
    path = made(tmp_path / "live.db")
    crashed = tmp_path / "crashed"
    crashed.mkdir()
    with closing(sqlite3.connect(path, isolation_level=None)) as program:
        program.execute("PRAGMA cache_size = 1")
        program.execute("BEGIN IMMEDIATE")
        for number in range(2000):
            program.execute("INSERT INTO notes (text) VALUES (?)", (f"lost {number}" * 20,))
        for name in ("", "-journal"):
            (crashed / f"a.db{name}").write_bytes(path.with_name(path.name + name).read_bytes())
        program.execute("ROLLBACK")
    before = beside(crashed)
    assert "a.db-journal" in before
    assert texts(crashed / "a.db") == ["one", "two"]
    assert beside(crashed) == before


def test_a_copy_goes_when_it_is_no_longer_needed(tmp_path, monkeypatch):
    path = made(tmp_path / "a.db", wal=True)
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    monkeypatch.setattr(database.tempfile, "tempdir", str(scratch))
    with closing(sqlite3.connect(path)) as program:
        program.execute("INSERT INTO notes (text) VALUES ('three')")
        program.commit()
        opened = Database(path)
        assert len(list(scratch.iterdir())) == 1
        del opened
        assert list(scratch.iterdir()) == []


def test_a_database_that_changes_while_it_is_read_is_an_error(tmp_path):
    path = made(tmp_path / "a.db", wal=True)
    opened = Database(path)
    os.utime(path, ns=(1, 1))
    with pytest.raises(DatabaseError, match="changed while it was read"):
        opened.all("SELECT text FROM notes")


def test_a_locked_database_is_one_clear_error(tmp_path, monkeypatch):
    monkeypatch.setattr(database, "BUSY_SECONDS", 0)
    path = made(tmp_path / "a.db")
    with closing(sqlite3.connect(path, isolation_level=None)) as program:
        program.execute("BEGIN EXCLUSIVE")
        with pytest.raises(DatabaseError, match="locked by its program") as caught:
            texts(path)
    assert caught.value.filename == str(path)


def test_a_damaged_database_is_one_clear_error(tmp_path):
    path = made(tmp_path / "a.db")
    data = bytearray(path.read_bytes())
    data[100:] = b"\xff" * (len(data) - 100)
    path.write_bytes(bytes(data))
    with pytest.raises(DatabaseError, match="damaged") as caught:
        tables(path)
    assert caught.value.filename == str(path)


def test_a_database_in_a_folder_that_cannot_be_written_is_read():
    with tempfile.TemporaryDirectory() as folder:  # pytest's own is closed to others
        path = made(Path(folder) / "a.db", wal=True)
        Path(folder).chmod(0o555)
        try:
            with unprivileged():
                assert texts(path) == ["one", "two"]
        finally:
            Path(folder).chmod(0o755)


def test_bytes_that_are_no_text_do_no_harm(tmp_path):
    path = made(tmp_path / "a.db")
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("INSERT INTO notes (text) VALUES (CAST(x'ff41' AS TEXT))")
        connection.commit()
    assert texts(path)[-1] == "\ufffdA"


def test_a_path_may_hold_what_an_address_may_not(tmp_path):
    path = made(tmp_path / "a?mode=rw#b%20 c.db")
    assert texts(path) == ["one", "two"]
