"""``know status``: true, whole, narrow, and the same in JSON for programs."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import replace

import pytest

from helpers import WordEmbedder, catalog_file, concept, git, transcript, user, write
from knowrepo.index import embed, models
from knowrepo.index.catalog import Catalog
from knowrepo.index.fill import embed as embed_texts
from knowrepo.index.fill import pending_texts
from knowrepo.index.models import Model
from knowrepo.index.vectors import VectorStore
from knowrepo.upkeep import locks as looking


@pytest.fixture
def filled(repository, tmp_path, know):
    write(repository, "concepts/a.md", concept("One decision", body="why so"))
    write(repository, "concepts/b.md", concept("Another", body="because"))
    source = transcript(tmp_path / "in", [user("the build fails", 1, cwd="/home/dev/app")])
    assert know("archive", str(source)).code == 0
    return repository


@pytest.fixture
def words(monkeypatch, tmp_path) -> WordEmbedder:
    """Have a model whose vectors need none."""
    model = Model("words", tmp_path / "words.gguf", "sha256:0")
    monkeypatch.setattr(models, "current", lambda: model)
    return WordEmbedder(embed.fingerprint(model))


def fill(repository, embedder, most: int = 1000) -> None:
    store = VectorStore(repository.vectors, embedder.fingerprint)
    with Catalog.open(repository.catalog) as catalog:
        waiting = pending_texts(catalog, store)
    some = replace(waiting, digests=waiting.digests[: 16 * most])
    embed_texts(some, store, embedder)


def told(know) -> dict:
    result = know("status", "--json")
    assert result.code == 0
    return json.loads(result.out)


def test_the_json_has_these_keys_and_no_others(know, filled):
    know("index", "--no-vectors")
    found = told(know)
    assert found["version"] == 1
    assert set(found) == {
        "version", "repository", "state", "concepts", "sessions", "sub_agents", "chunks", "texts",
        "embedded", "pending", "behind", "catalog", "archive", "model", "vectors", "runs", "locks",
        "settings", "variables", "recall_log",
    }  # fmt: skip
    assert set(found["behind"]) == {"added", "changed", "removed"}
    assert set(found["catalog"]) == {"path", "bytes", "wal_bytes"}
    assert set(found["archive"]) == {"path", "files", "bytes"}
    assert set(found["model"]) == {
        "name", "fingerprint", "dimension", "window", "where", "problem",
    }  # fmt: skip
    assert set(found["vectors"]) == {"path", "problem", "tables"}
    assert set(found["runs"][0]) == {
        "name", "time", "seconds", "outcome", "tree", "error", "what",
    }  # fmt: skip
    assert set(found["settings"][0]) == {"path", "present", "problem"}


def test_it_counts_what_is_there(know, filled):
    assert told(know)["state"] == "not built"
    know("index", "--no-vectors")
    found = told(know)
    assert (found["state"], found["concepts"], found["sessions"]) == ("current", 2, 1)
    assert found["archive"]["files"] == 1
    assert found["archive"]["bytes"] == sum(
        path.stat().st_size for path in filled.sessions.rglob("*.jsonl")
    )
    assert found["catalog"]["bytes"] == catalog_file(filled).stat().st_size
    assert found["texts"] == found["pending"] == found["chunks"]


def test_a_repository_in_a_folder_of_a_work_tree_is_named_by_its_place(know, repository):
    (repository.root / "docs").mkdir()
    (repository.root / "docs" / "know.toml").write_text("format = 1\n")
    first = know("status", "--repo", "docs").out.splitlines()[0]
    assert first.startswith("repository ")
    assert first.endswith("/docs")


def test_what_is_wrong_with_the_model_is_told_to_its_end(know, filled, own_environment, tmp_path):
    (own_environment / "config.toml").write_text(f'model = "{tmp_path}/gone.gguf"\n')
    shown = know("status").out
    assert "is not there" in " ".join(shown.split("vectors ")[0].split())
    assert all(len(line) <= 80 for line in shown.splitlines() if "/" not in line)


def test_sub_agents_are_told_from_sessions(know, repository):
    for name in ("claude/one", "claude/one/agent-a", "claude/one/agent-b"):
        folder, _, stem = f"sessions/{name}".rpartition("/")
        transcript(repository.root / folder, [user("hello", 1)], f"{stem}.jsonl")
    know("index", "--no-vectors")
    found = told(know)
    assert (found["sessions"], found["sub_agents"]) == (1, 2)
    assert "1 session, 2 sub-agents" in know("status").out


def test_it_says_how_many_documents_git_has_otherwise(know, filled):
    know("index", "--no-vectors")
    write(filled, "concepts/a.md", concept("One decision", body="changed"))
    write(filled, "concepts/c.md", concept("A third"))
    git(filled.root, "rm", "-qf", "concepts/b.md")
    found = told(know)
    assert found["state"] == "behind"
    assert found["behind"] == {"added": 1, "changed": 1, "removed": 1}
    assert "1 new, 1 changed, 1 gone" in know("status").out


def test_times_that_change_without_a_document_are_not_behind(know, filled):
    know("index", "--no-vectors")
    (filled.sessions / "claude" / "empty").mkdir()
    assert told(know)["state"] == "current"


def test_vectors_count_by_fingerprint_and_only_those_of_the_model_count(know, filled, words):
    know("index", "--no-vectors")
    texts = told(know)["texts"]
    fill(filled, WordEmbedder("0123456789abcdef"))
    fill(filled, words, most=2)
    found = told(know)
    assert (found["embedded"], found["pending"]) == (2, texts - 2)
    first, second = found["vectors"]["tables"]
    assert (first["fingerprint"], first["current"], first["rows"]) == (words.fingerprint, True, 2)
    assert (second["current"], second["rows"]) == (False, texts)
    assert first["bytes"] > 0
    assert "of another model" in know("status").out


def test_a_damaged_segment_or_manifest_is_told_and_stops_nothing(know, filled, words):
    know("index", "--no-vectors")
    fill(filled, words)
    folder = VectorStore(filled.vectors, words.fingerprint).folder
    for segment in folder.glob("*.duckdb"):
        segment.write_bytes(b"nothing of use")
    before = sorted(path.name for path in folder.iterdir())
    found = told(know)
    assert found["embedded"] == 0
    assert "know index" in found["vectors"]["problem"]
    assert sorted(path.name for path in folder.iterdir()) == before
    (folder / "manifest.json").write_text("[]")
    found = told(know)
    assert found["pending"] == found["texts"]


def test_a_damaged_catalog_is_told(know, filled):
    know("index", "--no-vectors")
    catalog_file(filled).write_bytes(b"not a database" * 1000)
    assert told(know)["state"] == "damaged"
    assert "`know index` builds it anew" in know("status").out


def test_it_changes_nothing(know, filled):
    know("index", "--no-vectors")
    before = {path: path.stat().st_mtime_ns for path in filled.root.rglob("*")}
    know("status")
    after = {path: path.stat().st_mtime_ns for path in filled.root.rglob("*")}
    ours = catalog_file(filled)
    differ = {path for path in before.keys() | after.keys() if before.get(path) != after.get(path)}
    # Reading a WAL database makes its shared memory; nothing else.
    assert {path.name for path in differ - {ours.parent}} <= {
        f"{ours.name}{side}" for side in ("-shm", "-wal")
    }


def test_settings_and_variables_that_count_are_named(know, filled, own_environment, monkeypatch):
    (own_environment / "config.toml").write_text("nonsense = 1\n")
    (filled.root / "know.toml").write_text("format = 1\n[odd\n")
    monkeypatch.setenv("KNOW_REPO", str(filled.root))
    found = told(know)
    theirs, mine = found["settings"]
    assert "not valid TOML" in theirs["problem"]
    assert mine["problem"] == "without meaning: `nonsense`"
    assert found["variables"]["KNOW_REPO"] == str(filled.root)


def test_the_last_runs_are_told(know, filled, words, monkeypatch):
    know("index", "--no-vectors")
    runs = {run["name"]: run for run in told(know)["runs"]}
    assert runs["index"]["what"]["indexed"] == 3
    assert runs["archive"]["what"] == {"new": 1}
    shown = know("status").out
    assert "last runs   index 20" in shown
    assert "            archive 20" in shown
    lines = know("status", "--log").out.splitlines()
    assert [line.split(": ")[0][17:] for line in lines] == ["archive", "index"]
    assert all(len(line) <= 80 for line in lines)
    assert [run["name"] for run in json.loads(know("status", "--log", "--json").out)["runs"]] == [
        "archive", "index",
    ]  # fmt: skip


def test_an_empty_log_says_so(know, repository):
    assert know("status", "--log").out == "nothing is in the log yet\n"


def test_a_run_that_failed_is_told_with_its_reason(know, filled):
    know("index", "--no-vectors")
    (filled.catalog.parent / "catalog.lock").unlink(missing_ok=True)
    (filled.catalog.parent / "catalog.lock").mkdir()
    write(filled, "concepts/c.md", concept("A third"))  # something to do, which needs the lock
    assert know("index", "--no-vectors").code == 1
    assert "failed: " in know("status", "--log").out


def test_the_text_fits_a_terminal_wherever_the_repository_lies(tmp_path, monkeypatch, capsys):
    from helpers import make_repository
    from knowrepo.cli.main import main

    deep = make_repository(tmp_path.joinpath(*["a-folder-with-a-long-name"] * 4, "memory"))
    monkeypatch.chdir(deep.root)
    write(deep, "concepts/a.md", concept())
    assert main(["index", "--no-vectors"]) == 0
    capsys.readouterr()
    assert main(["status"]) == 0
    out = capsys.readouterr().out
    assert all(len(line) <= 80 for line in out.splitlines()), out
    assert "/memory" in out
    assert ".git/know/catalog-" in out


HOLD = """
import sys
from dataclasses import replace
from filelock import FileLock
with FileLock(sys.argv[1]):
    print("held", flush=True)
    sys.stdin.read()
"""


def test_a_lock_that_a_process_holds_is_named_with_its_holder(know, filled):
    know("index", "--no-vectors")
    assert told(know)["locks"] == []
    lock = filled.locks / "catalog.lock"
    with subprocess.Popen(
        [sys.executable, "-c", HOLD, str(lock)], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as holder:
        assert holder.stdout.readline() == b"held\n"
        (found,) = told(know)["locks"]
        assert found["name"] == "catalog"
        if os.access(looking._KERNELS, os.R_OK):
            assert found["process"] in {holder.pid, 0}
        assert "catalog: held by" in know("status").out
        holder.stdin.close()
    assert told(know)["locks"] == []


def test_it_imports_no_duckdb_where_there_are_no_vectors_and_never_a_model(know, filled):
    know("index", "--no-vectors")
    code = (
        "import sys; from knowrepo.cli.main import main; main(['status']);"
        "print([m for m in ('duckdb', 'llama_cpp', 'git', 'numpy') if m in sys.modules])"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=filled.root
    )
    assert done.stdout.splitlines()[-1] == "[]"
