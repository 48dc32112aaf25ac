"""The log of runs: bounded, whole lines, and nothing of an archive in it."""

from __future__ import annotations

import json
import multiprocessing
from pathlib import Path

import pytest

from helpers import unprivileged
from knowrepo.errors import KnowError
from knowrepo.upkeep import logs


def lines(repository) -> list[dict]:
    text = (repository.logs / logs.FILE).read_text()
    return [json.loads(line) for line in text.splitlines()]


def run(repository, name: str = "index", **what: int) -> None:
    with logs.noted(repository, name) as counts:
        counts.update(what)


def test_a_run_leaves_one_line_with_when_what_how_many_and_how_long(repository):
    run(repository, indexed=3, removed=1)
    (line,) = lines(repository)
    assert line["run"] == "index"
    assert line["outcome"] == "done"
    assert line["what"] == {"indexed": 3, "removed": 1}
    assert line["time"].endswith("Z")
    assert line["seconds"] >= 0
    assert line["tree"] == str(repository.root)
    (found,) = logs.recent(repository, 5)
    assert (found.name, found.outcome, dict(found.what)) == ("index", "done", line["what"])


def test_a_run_that_did_nothing_leaves_no_line(repository):
    run(repository)
    assert not (repository.logs / logs.FILE).exists()
    assert logs.recent(repository, 5) == []


@pytest.mark.parametrize(
    ("error", "outcome", "said"),
    [
        (KnowError("concepts/a.md: cannot be read"), "failed", "concepts/a.md: cannot be read"),
        (OSError(28, "No space left on device", "catalog.db"), "failed", "catalog.db: No space"),
        (KeyboardInterrupt(), "interrupted", ""),
        (ValueError("what somebody said in a session"), "bug", "ValueError"),
    ],
)
def test_a_run_that_fails_says_how_and_the_error_goes_on(repository, error, outcome, said):
    with pytest.raises(type(error)), logs.noted(repository, "index"):
        raise error
    (line,) = lines(repository)
    assert line["outcome"] == outcome
    assert line.get("error", "").startswith(said)


def test_of_a_bug_the_places_are_kept_and_neither_its_words_nor_paths_of_the_machine(repository):
    try:
        raise ValueError("a secret from a transcript")
    except ValueError as error:
        log = logs.note_bug(repository, "recall", error)
    assert log == repository.logs / logs.FILE
    text = log.read_text()
    (line,) = lines(repository)
    assert line["error"] == "ValueError"
    assert line["traceback"][0].startswith("test_logs.py:")
    assert "secret" not in text
    assert str(Path(__file__).parent) not in text


def test_credentials_in_an_address_are_left_out(repository):
    with pytest.raises(KnowError), logs.noted(repository, "index"):
        raise KnowError("https://me:" + "hunter2@host.example/x: refused")
    assert lines(repository)[0]["error"] == "https://host.example/x: refused"


def test_an_error_with_line_ends_and_escapes_is_one_line(repository):
    with pytest.raises(KnowError), logs.noted(repository, "index"):
        raise KnowError("a\n\x1b[31mb" + " c" * 4000)
    (line,) = lines(repository)
    assert line["error"].startswith("a b c")
    assert len(line["error"]) <= 300


def test_a_log_that_cannot_be_written_stops_no_run(repository):
    repository.logs.mkdir(parents=True)
    repository.logs.chmod(0o500)
    try:
        with unprivileged():
            run(repository, indexed=1)
    finally:
        repository.logs.chmod(0o700)
    assert list(repository.logs.iterdir()) == []
    repository.logs.rmdir()
    repository.logs.write_text("a file in its place")
    run(repository, indexed=1)
    assert logs.recent(repository, 5) == []


def test_the_log_is_turned_over_and_never_holds_more_than_twice_its_size(repository, monkeypatch):
    monkeypatch.setattr(logs, "LARGEST", 4000)
    for number in range(100):
        run(repository, indexed=number)
    sizes = {path.name: path.stat().st_size for path in repository.logs.glob("know.log*[g1]")}
    assert "know.log.1" in sizes
    assert all(size < 4000 + 400 for size in sizes.values())
    assert [dict(one.what)["indexed"] for one in logs.recent(repository, 12)] == [*range(88, 100)]


def _write_many(folder: str, name: str) -> None:
    from knowrepo.git.layout import repository_at

    for number in range(50):
        run(repository_at(Path(folder)), name, number=number)


def test_lines_of_processes_that_write_at_once_stay_whole(repository):
    context = multiprocessing.get_context("spawn")
    processes = [
        context.Process(target=_write_many, args=(str(repository.root), f"p{number}"))
        for number in range(3)
    ]
    for process in processes:
        process.start()
    for process in processes:
        process.join()
    found = [(line["run"], line["what"]["number"]) for line in lines(repository)]
    assert sorted(found) == [(f"p{p}", number) for p in range(3) for number in range(50)]


def test_what_a_full_disk_cut_costs_that_line_and_no_other(repository):
    run(repository, indexed=1)
    log = repository.logs / logs.FILE
    whole = log.read_bytes()
    log.write_bytes(whole + whole[: len(whole) // 2])
    run(repository, indexed=2)
    with log.open("ab") as stream:
        stream.write(b"\xff not ours\n[]\n{}\n" + b'{"time": 3}\n')
    assert [dict(one.what)["indexed"] for one in logs.recent(repository, 9)] == [1, 2]


def test_nobody_else_may_read_the_log(repository):
    run(repository, indexed=1)
    assert (repository.logs / logs.FILE).stat().st_mode & 0o077 == 0
    assert [path.name for path in repository.logs.iterdir()] == [logs.FILE]
