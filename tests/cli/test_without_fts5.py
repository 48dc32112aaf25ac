"""A Python whose SQLite has no FTS5: every command does its work, by a scan of the words."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

from helpers import SESSION, assistant, concept, git, jsonl, user, write
from knowrepo.git.layout import Repository

DRIVER = Path(__file__).resolve().parents[1] / "without_fts5.py"
QUERY = "why does the heron not answer the otter"


def run(repository: Repository, *command: object) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, *map(str, command)],
        cwd=repository.root, capture_output=True, text=True, check=False,
    )  # fmt: skip


def know(repository: Repository, *arguments: str) -> subprocess.CompletedProcess[str]:
    return run(repository, "-m", "knowrepo", *arguments)


def without(repository: Repository, *arguments: str) -> subprocess.CompletedProcess[str]:
    return run(repository, DRIVER, *arguments)


def hits(done: subprocess.CompletedProcess[str]) -> list[tuple[str, object]]:
    assert done.returncode == 0, done.stderr
    return [(hit["id"], hit["score"]) for hit in json.loads(done.stdout)["hits"]]


@pytest.fixture
def filled(repository) -> Repository:
    body = "The otter waits for the heron, which does not answer before noon."
    write(repository, "concepts/birds.md", concept("Birds", tags=["nature"], body=body))
    write(repository, "concepts/fish.md", concept("Fish", body="The heron eats it. " * 20))
    archived = repository.sessions / "claude" / f"{SESSION}.jsonl"
    archived.parent.mkdir()
    archived.write_bytes(
        jsonl([user("where is the heron?", 1), assistant("The otter knows: `parseHeron()`.", 2)])
    )
    git(repository.root, "add", "-A")
    git(repository.root, "commit", "-qm", "what is known")
    return repository


def test_a_process_without_fts5_recalls_the_same_hits_with_the_same_scores(filled):
    search = ("recall", QUERY, "--json")
    found = hits(without(filled, *search))
    assert len(found) == 3
    assert found == hits(know(filled, *search))
    assert found == hits(without(filled, *search))
    names = {re.sub("-[0-9]+[.]db$", "", file.name) for file in filled.locks.glob("catalog*.db")}
    assert len(names) == 2  # each kept its own, so neither built anew what the other had


def test_what_is_changed_and_removed_is_told_by_a_scan_too(filled):
    assert len(hits(without(filled, "recall", QUERY, "--json"))) == 3
    write(filled, "concepts/birds.md", concept("Birds", body="Nothing of this kind."))
    git(filled.root, "rm", "-qf", "concepts/fish.md")
    ((_, _),) = hits(without(filled, "recall", QUERY, "--json"))
    assert hits(without(filled, "recall", "kind nothing", "--json"))


def test_forgetting_leaves_no_byte_of_a_session_in_a_scanned_catalog(filled):
    without(filled, "index", "--no-vectors")
    held = b"".join(file.read_bytes() for file in filled.locks.glob("catalog*.db*"))
    assert b"parseheron" in held
    done = without(filled, "forget", SESSION, "--yes")
    assert done.returncode == 0, done.stderr
    held = b"".join(file.read_bytes() for file in filled.locks.glob("catalog*.db*"))
    assert held
    assert b"parseheron" not in held


def test_the_tables_that_sql_shows_are_the_same(filled):
    counted = "SELECT count(*) AS n FROM chunks"
    for arguments in (("sql", "--tables"), ("sql", counted)):
        assert without(filled, "index", "--no-vectors").returncode == 0
        ours = without(filled, *arguments)
        assert know(filled, "index", "--no-vectors").returncode == 0
        assert (ours.returncode, ours.stdout) == (0, know(filled, *arguments).stdout), ours.stderr


def test_the_doctor_says_that_searching_is_slower_and_finds_nothing_broken(filled):
    without(filled, "index", "--no-vectors")
    told = json.loads(without(filled, "doctor", "--json").stdout)
    checks = {check["name"]: check for check in told["checks"]}
    assert checks["sqlite"]["verdict"] == "warn"
    assert "without FTS5" in checks["sqlite"]["seen"]
    assert checks["catalog"]["verdict"] == "ok"
    assert "agree with their words" in checks["catalog"]["seen"]
