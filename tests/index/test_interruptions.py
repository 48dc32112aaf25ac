"""Indexers that are killed, that meet, and that cannot write; real processes."""

from __future__ import annotations

import multiprocessing
import os
import random
import resource
import signal
import tempfile
from collections.abc import Callable
from multiprocessing.connection import Connection
from pathlib import Path

import pytest
from filelock import FileLock

from catalog_rows import rebuilt, rows_of
from helpers import catalog_file, concept, git, jsonl, make_repository, unprivileged, user, write
from knowrepo.errors import KnowError
from knowrepo.git.layout import Repository
from knowrepo.index import build
from knowrepo.index.build import refresh
from knowrepo.index.catalog import Catalog, Filter, opening

FORK = multiprocessing.get_context("fork")
KILLS = int(os.environ.get("KILLS", "25"))


def change(repository: Repository, choose: random.Random) -> None:
    """Let a few concepts and sessions come, change and go."""
    for _ in range(3):
        path = repository.concepts / f"c{choose.randrange(30)}.md"
        word = choose.choice(["heron", "otter", "lynx"])
        path.write_text(concept(word, tags=[word], body=f"{word} {choose.random()} " * 100))
        session = repository.sessions / "claude" / f"s{choose.randrange(6)}.jsonl"
        session.parent.mkdir(exist_ok=True)
        texts = [f"{word} {choose.random()} " * 50 for _ in range(choose.randrange(1, 20))]
        session.write_bytes(jsonl(user(text, n) for n, text in enumerate(texts, 1)))
    for gone in (choose.choice(sorted(repository.concepts.glob("*.md"))),
                 choose.choice(sorted(repository.sessions.rglob("*.jsonl")))):  # fmt: skip
        if choose.random() < 0.5:
            gone.unlink()
    git(repository.root, "add", "-A", "concepts")


def killed_after(seconds: float, work: Callable[..., object], *arguments: object) -> bool:
    """Do the work in a process and kill it, unless it ends before; says whether it was killed."""
    process = FORK.Process(target=work, args=arguments)
    process.start()
    process.join(seconds)
    process.kill()
    process.join()
    return process.exitcode == -signal.SIGKILL


def _hold(path, pipe: Connection) -> None:
    catalog = Catalog.open(path)
    pipe.send(catalog is not None)
    pipe.recv()


def test_an_indexer_that_is_killed_anywhere_leaves_an_index_that_works(repository, monkeypatch):
    choose = random.Random(5)
    # Small transactions, and a reader that holds on: the file changes often too.
    monkeypatch.setattr(build, "_SECONDS_A_TRANSACTION", 0.005)
    monkeypatch.setattr(opening, "WAL_BYTES", 20_000)
    change(repository, choose)
    refresh(repository)
    ours, theirs = FORK.Pipe()
    holder = FORK.Process(target=_hold, args=(repository.catalog, theirs))
    holder.start()
    assert ours.recv()
    killed = 0
    for turn in range(KILLS):
        change(repository, choose)
        killed += killed_after(choose.random() * 0.25, refresh, repository)
        opened = Catalog.open(repository.catalog)
        assert opened is not None
        with opened:  # what a reader sees is whole, however far the run came
            for number, _ in opened.lexical(["heron", "otter"], 1000, Filter()):
                assert opened.chunks([number])[number].text
        if turn % 8 == 7:
            assert not refresh(repository).busy
            assert rows_of(repository) == rebuilt(repository)
    ours.send(True)
    holder.join()
    assert killed > KILLS // 4
    assert not catalog_file(repository).name.endswith("-1.db")  # it moved on the way
    refresh(repository)
    assert rows_of(repository) == rebuilt(repository)
    assert {file.name for file in repository.locks.iterdir()} == {
        "catalog.lock", catalog_file(repository).name,
    }  # fmt: skip


def _lock(repository: Repository, pipe: Connection) -> None:
    with FileLock(repository.locks / "catalog.lock"):
        pipe.send(True)
        pipe.recv()


def test_the_lock_of_a_killed_indexer_does_not_stay(repository):
    write(repository, "concepts/a.md", concept("A"))
    repository.locks.mkdir(parents=True)
    ours, theirs = FORK.Pipe()
    process = FORK.Process(target=_lock, args=(repository, theirs))
    process.start()
    assert ours.recv()
    assert refresh(repository).busy
    process.kill()
    process.join()
    assert refresh(repository).indexed == 1


def _refresh(repository: Repository, pipe: Connection) -> None:
    done = refresh(repository)
    pipe.send((done.busy, done.indexed))


def test_of_two_indexers_at_once_one_works_and_the_other_steps_aside(repository):
    choose = random.Random(1)
    outcomes = set()
    for _ in range(10):
        change(repository, choose)
        pipes = [FORK.Pipe() for _ in range(2)]
        processes = [FORK.Process(target=_refresh, args=(repository, end)) for _, end in pipes]
        for process in processes:
            process.start()
        done = [ours.recv() for ours, _ in pipes]
        for process in processes:
            process.join()
        outcomes |= set(done)
        assert sum(indexed > 0 for _, indexed in done) <= 1
        assert not all(busy for busy, _ in done)
    assert any(busy for busy, _ in outcomes)
    refresh(repository)
    assert rows_of(repository) == rebuilt(repository)


def _index_within(repository: Repository, limit: int, pipe: Connection) -> None:
    resource.setrlimit(resource.RLIMIT_FSIZE, (limit, resource.RLIM_INFINITY))
    try:
        pipe.send(str(refresh(repository)))
    except KnowError as error:
        pipe.send(f"{error.message} ({error.hint})")


@pytest.mark.parametrize("share", [0.0, 0.3, 0.9, 1.3])
def test_where_nothing_more_can_be_written_it_says_so_and_nothing_is_lost(repository, share):
    choose = random.Random(2)
    for _ in range(6):
        change(repository, choose)
    refresh(repository)
    before = rows_of(repository)
    limit = int(catalog_file(repository).stat().st_size * share)
    for _ in range(6):
        change(repository, choose)
    ours, theirs = FORK.Pipe()
    process = FORK.Process(target=_index_within, args=(repository, limit, theirs))
    process.start()
    said = ours.recv()
    process.join()
    assert process.exitcode == 0
    assert "cannot be written" in said
    assert "free some space" in said
    assert rows_of(repository)["postings"]
    assert share or rows_of(repository) == before
    refresh(repository)
    assert rows_of(repository) == rebuilt(repository)


def test_a_move_for_which_there_is_no_room_is_put_off(repository, monkeypatch):
    monkeypatch.setattr(opening, "WAL_BYTES", 1)
    choose = random.Random(3)
    change(repository, choose)
    refresh(repository)

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    held = Catalog.open(repository.catalog)
    assert held is not None
    with held, monkeypatch.context() as patched:
        patched.setattr(opening, "copy", full)
        file = catalog_file(repository)
        for _ in range(4):
            change(repository, choose)
            refresh(repository)
        assert catalog_file(repository) == file
    assert rows_of(repository) == rebuilt(repository)


def test_a_catalog_that_may_not_be_written_is_a_clear_error():
    with tempfile.TemporaryDirectory() as folder:  # pytest's own is closed to others
        Path(folder).chmod(0o755)
        repository = make_repository(Path(folder) / "memory")
        write(repository, "concepts/a.md", concept("A"))
        refresh(repository)
        before = rows_of(repository)
        write(repository, "concepts/b.md", concept("B"))
        (repository.locks / "catalog.lock").chmod(0o666)  # the lock alone may be taken
        repository.locks.chmod(0o555)
        try:
            with unprivileged(), pytest.raises(KnowError, match="cannot be written") as raised:
                refresh(repository)
        finally:
            repository.locks.chmod(0o755)
        assert rows_of(repository) == before
    assert "git directory writable" in raised.value.hint
