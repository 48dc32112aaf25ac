"""``know doctor``: it finds what is broken, works where all is, and changes nothing unasked."""

from __future__ import annotations

import json
import os
import re
import sqlite3
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from helpers import (
    Result,
    WordEmbedder,
    catalog_file,
    concept,
    git,
    make_repository,
    transcript,
    unprivileged,
    user,
    write,
)
from knowrepo.cli.main import main
from knowrepo.git.drivers import DRIVERS
from knowrepo.index.catalog import Catalog
from knowrepo.index.fill import embed as embed_texts
from knowrepo.index.fill import pending_texts
from knowrepo.index.vectors import VectorStore
from knowrepo.upkeep.doctor import catalog as of_catalog
from knowrepo.upkeep.doctor import files, machine, model, run, trial
from knowrepo.upkeep.doctor.check import fail, ok, warn

Doctor = Callable[..., dict[str, dict]]


@pytest.fixture(autouse=True)
def quick(own_environment, monkeypatch, tmp_path) -> str:
    """Have no model: what loads one is tested on its own; returns where there is one."""
    shared = os.environ["KNOW_CACHE"]
    monkeypatch.setenv("KNOW_CACHE", str(tmp_path / "no models"))
    return shared


@pytest.fixture
def shared_cache(quick, monkeypatch) -> None:
    monkeypatch.setenv("KNOW_CACHE", quick)


@pytest.fixture
def know(capsys, monkeypatch, repository) -> Callable[..., Result]:
    monkeypatch.chdir(repository.root)

    def call(*arguments: str) -> Result:
        code = main(list(arguments))
        captured = capsys.readouterr()
        return Result(code, captured.out, captured.err)

    return call


@pytest.fixture
def doctor(know) -> Doctor:
    """Run the checks; returns them by name, and holds the exit code to them."""

    def call(*arguments: str) -> dict[str, dict]:
        done = know("doctor", "--json", *arguments)
        answer = json.loads(done.out)
        checks = {check["name"]: check for check in answer["checks"]}
        assert done.err == ""
        assert len(checks) == len(answer["checks"])
        assert done.code == (1 if answer["counts"]["fail"] else 0)
        return checks

    return call


@pytest.fixture
def filled(repository, know):
    write(repository, "concepts/a.md", concept("One decision", body="why so"))
    write(repository, "concepts/b.md", concept("Another", body="because of the weather"))
    know("index", "--no-vectors")
    return repository


def fill(repository) -> VectorStore:
    store = VectorStore(repository.vectors, "0123456789abcdef")
    with Catalog.open(repository.catalog) as catalog:
        embed_texts(pending_texts(catalog, store), store, WordEmbedder())
    return store


def verdicts(checks: dict[str, dict], verdict: str) -> set[str]:
    return {name for name, check in checks.items() if check["verdict"] == verdict}


def states(top: Path) -> dict[Path, tuple[int, int]]:
    return {
        path: (path.stat().st_mtime_ns, path.stat().st_size)
        for path in top.rglob("*")
        if path.is_file() and not path.name.endswith(("-shm", "-wal"))
    }


# -- the whole ----------------------------------------------------------------


def test_the_json_has_a_version_and_every_check_the_same_keys(know, filled):
    answer = json.loads(know("doctor", "--json").out)
    assert answer["version"] == 1
    assert set(answer["counts"]) == {"ok", "warn", "fail"}
    assert sum(answer["counts"].values()) == len(answer["checks"])
    assert [check["name"] for check in answer["checks"]] == [*run.ANYWHERE, *run.INSIDE]
    for check in answer["checks"]:
        assert set(check) == {"name", "verdict", "seen", "fix", "fixed"}
        assert check["verdict"] in {"ok", "warn", "fail"}
        assert check["seen"]
        assert check["fix"] or check["verdict"] == "ok"


def test_a_sound_repository_fails_nothing_and_stays_as_it_is(doctor, filled):
    fill(filled)
    before = states(filled.root)
    checks = doctor()
    assert verdicts(checks, "fail") == set()
    assert checks["catalog"]["seen"].startswith("whole, ")
    assert checks["vectors"]["seen"].startswith("whole: 1 table, 1 segment")
    assert states(filled.root) == before


def test_the_text_fits_a_terminal_and_says_what_to_do(know, filled, tmp_path):
    done = know("doctor")
    lines = done.out.splitlines()
    assert re.fullmatch(r"\d+ checks: 0 failed, \d+ to look at", lines[-1])
    # A path that is longer than the column is whole all the same: it is to be copied.
    assert all(len(line) <= 80 or max(map(len, line.split())) > 59 for line in lines), done.out
    assert "fix: `know init`" in done.out


def test_a_check_that_fails_itself_becomes_a_failure_and_the_others_go_on(doctor, monkeypatch):
    def breaks(_: object) -> None:
        raise ZeroDivisionError("oops")

    monkeypatch.setitem(run.ANYWHERE, "git", breaks)
    monkeypatch.setitem(run.INSIDE, "disk", breaks)
    checks = doctor()
    assert verdicts(checks, "fail") == {"git", "disk"}
    assert "ZeroDivisionError: oops" in checks["disk"]["seen"]
    assert checks["log"]["verdict"] == "ok"


def test_what_cannot_be_mended_keeps_its_verdict_and_says_why(doctor, monkeypatch):
    def mend() -> str:
        raise OSError(30, "Read-only file system", "catalog.db")

    monkeypatch.setitem(run.INSIDE, "disk", lambda _: fail("bad", "do it", mend))
    found = doctor("--fix")["disk"]
    assert found["verdict"] == "fail"
    assert found["seen"] == "bad; it could not be mended: catalog.db: Read-only file system"


def test_what_was_mended_is_looked_at_again(doctor, monkeypatch):
    broken = [True]

    def mend() -> str:
        broken.clear()
        return "did it"

    def look(_: object):
        return warn("bad", "do it", mend) if broken else ok("good")

    monkeypatch.setitem(run.INSIDE, "disk", look)
    assert doctor()["disk"]["verdict"] == "warn"
    found = doctor("--fix")["disk"]
    assert (found["verdict"], found["seen"], found["fixed"]) == ("ok", "good", "did it")


# -- broken places ------------------------------------------------------------


@pytest.mark.parametrize("kind", ["no repository", "no git repository", "bare", "gone"])
def test_it_works_where_there_is_no_repository_to_work_in(kind, tmp_path, monkeypatch, capsys):
    place = tmp_path / "place"
    if kind == "bare":
        git(tmp_path, "init", "-q", "--bare", str(place))
    elif kind != "gone":
        place.mkdir()
    if kind == "no repository":
        git(place, "init", "-q")
    if kind == "no git repository":
        (place / "know.toml").write_text("format = 1\n")
    assert main(["doctor", "--json", "--repo", str(place)]) == 1
    checks = {check["name"]: check for check in json.loads(capsys.readouterr().out)["checks"]}
    assert set(checks) == set(run.ANYWHERE)
    assert verdicts(checks, "fail") == {"repository"}
    assert checks["repository"]["fix"]
    if kind == "bare":
        assert "bare git repository" in checks["repository"]["seen"]


def test_without_git_it_says_so(doctor, filled, monkeypatch, tmp_path):
    monkeypatch.setenv("PATH", str(tmp_path))
    checks = doctor()
    assert checks["git"]["fix"] == "install git 2.30 or newer"
    assert "git is not installed" in checks["clone"]["seen"]
    assert checks["catalog"]["verdict"] == "ok"


def test_broken_configuration_is_told_and_stops_nothing(doctor, filled, own_environment):
    (own_environment / "config.toml").write_text("model = [broken\n")
    (filled.root / "know.toml").write_bytes(b"\xff\xfe")
    checks = doctor()
    assert "not valid TOML" in checks["user-config"]["seen"]
    assert "know.toml: cannot be read" in checks["know-toml"]["seen"]
    assert {"user-config", "know-toml", "model"} <= verdicts(checks, "fail")
    assert checks["catalog"]["verdict"] == "ok"


def test_settings_that_mean_nothing_and_places_that_are_gone_are_named(
    doctor, filled, own_environment
):
    (filled.root / "know.toml").write_text("format = 1\nodd = 2\n")
    configuration = own_environment / "config.toml"
    configuration.write_text('repository = "/nowhere/at/all"\n')
    checks = doctor()
    assert "`odd`" in checks["know-toml"]["seen"]
    assert "/nowhere/at/all" in checks["user-config"]["seen"]
    configuration.write_text("")
    configuration.chmod(0o666)
    assert "others may write it" in doctor()["user-config"]["seen"]


def test_a_git_directory_that_cannot_be_written_is_told(filled):
    work = filled.git_dir / "know"
    work.chmod(0o555)
    for folder in (filled.root, *filled.root.parents[:3]):
        folder.chmod(folder.stat().st_mode | 0o055)
    try:
        with unprivileged():
            found = files.permissions(filled)
    finally:
        work.chmod(0o755)
    assert found.verdict == "fail"
    assert "cannot be written" in found.seen


def test_a_place_that_cannot_be_looked_into_becomes_a_finding(tmp_path, capsys, monkeypatch):
    monkeypatch.setenv("KNOW_REPO", "a" * 5000)
    assert main(["doctor", "--json"]) == 1
    checks = {check["name"]: check for check in json.loads(capsys.readouterr().out)["checks"]}
    assert verdicts(checks, "fail") == {"repository"}


# -- git ----------------------------------------------------------------------


def test_a_shallow_clone_a_work_tree_and_a_submodule_are_told_apart(
    filled, commit, tmp_path, capsys
):
    commit()
    (filled.root / "concepts" / "c.md").write_text(concept("C"))
    commit()

    def kind(root: Path) -> run.Result:
        return {result.name: result for result in run.examine(root)}["clone"]

    assert kind(filled.root).seen == "a git repository"
    git(filled.root, "worktree", "add", "-q", str(tmp_path / "tree"))
    assert kind(tmp_path / "tree").seen == "a linked work tree"
    git(tmp_path, "clone", "-q", "--depth", "1", f"file://{filled.root}", "shallow")
    shallow = kind(tmp_path / "shallow")
    assert (shallow.verdict, shallow.fix) == ("warn", "`git fetch --unshallow`")
    outer = make_repository(tmp_path / "outer")
    git(outer.root, "-c", "protocol.file.allow=always", "submodule", "add", "-q",
        str(filled.root), "inner")  # fmt: skip
    assert kind(outer.root / "inner").seen.startswith("a submodule")
    git(filled.root, "config", "uploadpack.allowFilter", "true")
    git(tmp_path, "clone", "-q", "--filter=blob:none", f"file://{filled.root}", "partial")
    partial = kind(tmp_path / "partial")
    assert (partial.verdict, "partial" in partial.seen) == ("warn", True)


def test_other_knowledge_repositories_of_the_work_tree_are_named(doctor, filled):
    write(filled, "team/know.toml", "format = 1\n")
    assert "team/know.toml" in doctor()["folders"]["seen"]


def test_a_lock_that_a_killed_git_left_and_a_merge_are_told(doctor, filled):
    assert doctor()["git-state"]["verdict"] == "ok"
    (filled.git_dir / "MERGE_HEAD").write_text("0" * 40)
    assert "a merge" in doctor()["git-state"]["seen"]
    lock = filled.git_dir / "index.lock"
    lock.touch()
    os.utime(lock, (0, 0))
    found = doctor()["git-state"]
    assert "index.lock" in found["seen"]
    assert lock.exists()


def test_hooks_that_are_configured_and_not_installed_are_named(doctor, filled, tmp_path):
    assert "no .pre-commit-config.yaml" in doctor()["pre-commit"]["seen"]
    configuration = filled.root / ".pre-commit-config.yaml"
    configuration.write_text(
        "repos:\n  - hooks:\n      - id: know-check\n      - id: 'know-tags'\n"
    )
    assert "know-scan" in doctor()["pre-commit"]["seen"]
    text = configuration.read_text()
    configuration.write_text("repos:\n  - hooks:\n      - id: know-commit\n")
    assert doctor()["pre-commit"]["verdict"] == "ok"
    configuration.write_text(text)
    with configuration.open("a") as stream:
        stream.write("      - id: know-scan\n      - id: know-sweep\n")
    checks = doctor()
    assert checks["pre-commit"]["verdict"] == "ok"
    assert checks["git-hooks"]["seen"].endswith(".git/hooks: pre-commit, post-commit")
    folder = tmp_path / "hooks of mine"
    folder.mkdir()
    git(filled.root, "config", "core.hooksPath", str(folder))
    for name in ("pre-commit", "post-commit"):
        (folder / name).write_text("#!/bin/sh\nexec true\n")
        (folder / name).chmod(0o755)
    assert "runs neither" in doctor()["git-hooks"]["seen"]
    for name in ("pre-commit", "post-commit"):
        (folder / name).write_text("#!/bin/sh\nexec pre-commit run\n")
    assert doctor()["git-hooks"]["verdict"] == "ok"


def test_a_missing_or_dead_merge_driver_is_mended_when_asked(doctor, filled):
    assert "no merge driver" in doctor()["merge-driver"]["seen"]
    (filled.root / ".gitattributes").write_text("sessions/**/*.jsonl -text merge=know-session\n")
    old = doctor()["merge-driver"]  # what a clone has that was made before the others
    assert "concepts/tag_index.jsonl" in old["seen"]
    assert "`concepts/tag_index.jsonl -text merge=know-tags`" in old["fix"]
    lines = "".join(f"{driver.attributes}\n" for driver in DRIVERS)
    (filled.root / ".gitattributes").write_text(lines)
    assert "does not know" in doctor()["merge-driver"]["seen"]
    assert git(filled.root, "config", "--get", "merge.know-session.driver", check=False) == ""
    assert doctor("--fix")["merge-driver"]["verdict"] == "ok"
    assert sys.executable in git(filled.root, "config", "--get", "merge.know-session.driver")
    git(filled.root, "config", "merge.know-session.driver", "/gone/python -m knowrepo %O")
    assert "/gone/python" in doctor()["merge-driver"]["seen"]
    found = doctor("--fix")["merge-driver"]
    assert found["verdict"] == "ok"
    assert "named the drivers" in found["fixed"]


# -- agents -------------------------------------------------------------------


def test_how_long_agents_keep_sessions_is_told(doctor, filled, own_environment, monkeypatch, know):
    assert doctor()["retention"]["verdict"] == "ok"
    claude = own_environment / ".claude"
    (claude / "projects").mkdir(parents=True)
    checks = doctor()
    assert "Claude Code deletes sessions after 30 days" in checks["retention"]["seen"]
    assert "`cleanupPeriodDays`" in checks["retention"]["fix"]
    assert checks["agent-hooks"]["verdict"] == "warn"
    (claude / "settings.json").write_text('{"cleanupPeriodDays": 7}')
    assert "after 7 days" in doctor()["retention"]["seen"]
    (claude / "settings.json").write_text('{"cleanupPeriodDays": 99999}')
    assert doctor()["retention"]["verdict"] == "ok"
    (own_environment / ".gemini" / "tmp").mkdir(parents=True)
    assert "Gemini CLI deletes sessions after 30 days" in doctor()["retention"]["seen"]
    settings = own_environment / ".gemini" / "settings.json"
    settings.write_text('{"general": {"sessionRetention": {"maxAge": "2w"}}}')
    assert "after 14 days" in doctor()["retention"]["seen"]
    settings.write_text('{"general": {"sessionRetention": {"enabled": false}}}')
    assert doctor()["retention"]["verdict"] == "ok"
    settings.write_text('{"general": [')
    assert "after 30 days" in doctor()["retention"]["seen"]


def test_where_hooks_note_every_session_its_retention_is_no_worry(doctor, own_environment, know):
    (own_environment / ".claude" / "projects").mkdir(parents=True)
    bin_folder = own_environment / "bin"
    bin_folder.mkdir()
    for name in ("know", "know-hook"):
        (bin_folder / name).write_text("#!/bin/sh\n")
        (bin_folder / name).chmod(0o755)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PATH", f"{bin_folder}{os.pathsep}{os.environ['PATH']}")
        assert know("hooks", "install", "--agent", "claude").code == 0
        checks = doctor()
        assert checks["agent-hooks"]["verdict"] == "ok"
        assert "its hooks note each before that" in checks["retention"]["seen"]
    (bin_folder / "know-hook").unlink()
    assert "know-hook is not there" in doctor()["agent-hooks"]["seen"]


def test_a_queue_that_nobody_takes_is_told(doctor, own_environment):
    from knowrepo import hook

    folder = Path(hook.state_dir()) / hook.QUEUE
    folder.mkdir(parents=True, mode=0o700)
    entry = {"agent": "claude", "path": "/x/y.jsonl", "session": "", "cwd": "", "event": "",
             "time": time.time() - 5 * 86_400, "closed": False}  # fmt: skip
    (folder / "one.json").write_text(json.dumps(entry))
    found = doctor()["queue"]
    assert "the oldest for 5 days" in found["seen"]
    assert found["fix"] == "`know archive --queued`"
    (folder / "two.json").write_text("no entry")
    assert "1 that are no entries" in doctor()["queue"]["seen"]


# -- derived files ------------------------------------------------------------


def test_a_damaged_catalog_is_found_and_built_anew_when_asked(doctor, filled, know):
    for number in range(40):
        write(filled, f"concepts/more-{number}.md", concept(f"More {number}", body="words " * 200))
    know("index", "--no-vectors")
    data = bytearray(catalog_file(filled).read_bytes())
    for at in range(len(data) // 3, len(data) // 3 + 8 * 4096, 4096):
        data[at : at + 2000] = b"\xaa" * 2000
    catalog_file(filled).write_bytes(bytes(data))
    before = catalog_file(filled).read_bytes()
    found = doctor()["catalog"]
    assert found["verdict"] == "fail"
    assert catalog_file(filled).read_bytes() == before
    found = doctor("--fix")["catalog"]
    assert found["verdict"] == "ok"
    assert "built anew: 42 documents" in found["fixed"]


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ("DELETE FROM words_docsize WHERE id = 1", "1 chunks without words"),
        ("DELETE FROM chunks WHERE id = 1", "1 words without a chunk"),
        ("DELETE FROM documents WHERE id = 1", "chunks without a document"),
        ("DELETE FROM words_data WHERE id > 10", "words"),
        ("UPDATE words_data SET block = x'00' WHERE id > 10", "words"),
    ],
)
def test_tables_of_a_catalog_that_disagree_are_found(doctor, filled, change, said):
    with sqlite3.connect(catalog_file(filled)) as db:
        db.execute(change)
    db.close()
    found = doctor()["catalog"]
    assert found["verdict"] == "fail"
    assert said in found["seen"]
    assert doctor("--fix")["catalog"]["verdict"] == "ok"


def test_a_catalog_of_another_version_is_no_damage(doctor, filled):
    with sqlite3.connect(catalog_file(filled)) as db:
        db.execute("UPDATE meta SET value = '0.0.0' WHERE key = 'version'")
    db.close()
    found = doctor()["catalog"]
    assert (found["verdict"], found["seen"]) == ("warn", "of another version of know")


def test_a_damaged_segment_is_found_set_aside_and_then_removed_when_asked(doctor, filled):
    store = fill(filled)
    (segment,) = store.folder.glob("*.duckdb")
    segment.write_bytes(segment.read_bytes()[:4096])
    found = doctor()["vectors"]
    assert found["verdict"] == "fail"
    assert segment.name in found["seen"]
    assert segment.exists()
    found = doctor("--fix")["vectors"]
    assert "set aside" in found["fixed"]
    assert not segment.exists()
    aside = segment.with_name(f"{segment.name}.damaged")
    assert aside.exists()
    assert "of no more use" in doctor()["vectors"]["seen"]
    assert doctor("--fix")["vectors"]["verdict"] == "ok"
    assert not aside.exists()


def test_a_segment_that_is_gone_and_a_manifest_that_is_lost_are_found(doctor, filled):
    store = fill(filled)
    (segment,) = store.folder.glob("*.duckdb")
    manifest = store.folder / "manifest.json"
    named = manifest.read_bytes()
    manifest.write_text("{")
    assert "no manifest names" in doctor()["vectors"]["seen"]
    manifest.write_bytes(named)
    segment.unlink()
    assert segment.name in doctor()["vectors"]["seen"]


def test_what_a_killed_run_left_is_removed_when_asked_and_nothing_else(doctor, filled):
    old = filled.locks / f".know.json.{'ab' * 8}.tmp"
    young = filled.locks / f".know.json.{'cd' * 8}.tmp"
    tracked = filled.concepts / f".a.md.{'ef' * 8}.tmp"
    other = filled.concepts / ".notes.tmp"
    for path in (old, young, tracked, other):
        path.write_text("x")
    git(filled.root, "add", "-f", str(tracked))
    for path in (old, tracked, other):
        os.utime(path, (0, 0))
    found = doctor()["leftovers"]
    assert found["verdict"] == "warn"
    assert old.exists()
    assert "removed 1 unfinished file" in doctor("--fix")["leftovers"]["fixed"]
    assert [path.exists() for path in (old, young, tracked, other)] == [False, True, True, True]


def test_a_link_that_leads_out_of_the_repository_is_found(doctor, filled, tmp_path):
    (filled.sessions / "claude").symlink_to(tmp_path)
    (filled.sessions / "inside").symlink_to(filled.concepts)
    found = doctor("--fix")["links"]
    assert found["verdict"] == "fail"
    assert found["seen"].endswith(": sessions/claude")
    assert (filled.sessions / "claude").is_symlink()


def test_files_from_the_future_are_named(doctor, filled):
    ahead = time.time() + 86_400
    os.utime(filled.git_index, (ahead, ahead))
    assert str(filled.git_index) in doctor()["clock"]["seen"]


def test_what_others_could_read_is_made_private_when_asked(doctor, filled):
    log = filled.logs / "know.log"
    log.chmod(0o644)
    assert doctor()["permissions"]["verdict"] == "warn"
    assert doctor("--fix")["permissions"]["verdict"] == "ok"
    assert log.stat().st_mode & 0o777 == 0o600


def test_little_room_is_told(doctor, monkeypatch):
    monkeypatch.setattr(files, "LITTLE", 1 << 62)
    assert doctor()["disk"]["verdict"] == "warn"
    monkeypatch.setattr(files, "NOTHING", 1 << 62)
    assert doctor()["disk"]["verdict"] == "fail"


def test_a_last_run_that_failed_is_told(doctor, filled, know):
    catalog_file(filled).unlink()
    lock = filled.locks / "catalog.lock"
    lock.unlink(missing_ok=True)
    lock.mkdir()
    know("index", "--no-vectors")
    lock.rmdir()
    assert "the last run failed: index" in doctor()["log"]["seen"]
    know("index", "--no-vectors")
    assert doctor()["log"]["verdict"] == "ok"


def test_a_disk_without_wal_is_told(filled, monkeypatch):
    from knowrepo.index.catalog import health

    monkeypatch.setattr(health, "wal_problem", lambda _: "SQLite keeps to delete here")
    found = of_catalog.wal(filled)
    assert (found.verdict, "local disk" in found.fix) == ("warn", True)


# -- the machine and the model ------------------------------------------------


def test_what_kills_its_process_costs_a_line():
    said, problem = trial.tried("import os, signal; os.kill(os.getpid(), signal.SIGILL)")
    assert (said, problem) == ("", "the process died of SIGILL")
    assert trial.tried("raise ValueError('no')").problem == "ValueError: no"
    assert trial.tried("print('talk'); print('answer')").said == "answer"


def test_a_trial_imports_nothing_from_the_folder_at_hand(tmp_path, monkeypatch):
    (tmp_path / "duckdb.py").write_text("__version__ = 'a trap'\n")
    monkeypatch.chdir(tmp_path)
    assert "a trap" not in trial.tried("import duckdb; print(duckdb.__version__)").said


def test_a_llama_cpp_that_crashes_takes_nothing_down(doctor, filled, tmp_path, monkeypatch):
    stub = tmp_path / "stub"
    stub.mkdir()
    (stub / "llama_cpp.py").write_text("import os, signal\nos.kill(os.getpid(), signal.SIGSEGV)\n")
    path = os.environ.get("PYTHONPATH", "")
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(filter(None, (str(stub), path))))
    monkeypatch.syspath_prepend(str(stub))
    trial.imported.cache_clear()
    try:
        found = doctor()["llama-cpp"]
    finally:
        trial.imported.cache_clear()
    assert found["verdict"] == "fail"
    assert "the process died of SIGSEGV" in found["seen"]


def test_a_missing_llama_cpp_is_no_failure(monkeypatch):
    import importlib.util

    monkeypatch.setattr(importlib.util, "find_spec", lambda _: None)
    found = machine.llama_cpp(run.find(None))
    assert (found.verdict, "words" in found.seen) == ("warn", True)


def test_a_model_that_is_not_what_it_was_is_found_by_its_whole_content(
    doctor, filled, own_environment, tmp_path
):
    path = tmp_path / "own.gguf"
    path.write_bytes(b"GGUF" + b"a" * 1000)
    (own_environment / "config.toml").write_text(f'model = "{path}"\n')
    checks = doctor()
    assert checks["model-hash"]["verdict"] == "ok"
    assert checks["embedding"]["verdict"] == "fail"
    stat = path.stat()
    path.write_bytes(b"GGUF" + b"b" * 1000)
    os.utime(path, ns=(stat.st_atime_ns, stat.st_mtime_ns))  # as a failing disk would
    found = doctor()["model-hash"]
    assert found["verdict"] == "fail"
    assert "damaged" in found["seen"]


def test_a_server_that_does_not_answer_is_told_as_one_and_not_as_a_bad_build(
    doctor, filled, own_environment
):
    (own_environment / "config.toml").write_text(
        '[endpoint]\nurl = "http://127.0.0.1:9/v1"\nmodel = "served"\n'
    )
    found = doctor()["embedding"]
    assert found["verdict"] == "fail"
    assert found["seen"] == "served does not embed: http://127.0.0.1:9/v1: nothing answers there"
    assert "start the server" in found["fix"]
    assert "llama" not in found["fix"]


@pytest.mark.model
def test_the_real_model_is_whole_and_embeds(shared_cache):
    place = run.find(None)
    assert model.whole(place).verdict == "ok"
    assert model.embeds(place).seen.startswith("384 dimensions")


def test_sessions_are_no_trouble(doctor, filled, tmp_path, know):
    source = transcript(tmp_path / "in", [user("the build fails", 1, cwd="/home/dev/app")])
    know("archive", str(source))
    know("index", "--no-vectors")
    assert verdicts(doctor(), "fail") == set()
