"""Runs over sources: what is read again, what is left out, and what a crash leaves."""

from __future__ import annotations

import json
import os
import random
import signal
import sqlite3
import subprocess
import sys
import time
from contextlib import closing
from pathlib import Path

import pytest

from helpers import (
    SESSION,
    assistant,
    jsonl,
    make_repository,
    tool_result,
    transcript,
    user,
)
from knowrepo.config import Project
from knowrepo.git.layout import Repository
from knowrepo.sessions import intake
from knowrepo.sessions import run as module
from knowrepo.sessions.archive import archive
from knowrepo.sessions.discover import find_sources
from knowrepo.sessions.forget import forget, tombstone
from knowrepo.sessions.outcome import Outcome
from knowrepo.sessions.projects import Projects
from knowrepo.sessions.readers import reader_of
from knowrepo.sessions.store import SessionName, chunks, parts
from samples import SAMPLES

RECORDS = [user("one", 1), assistant("two", 2), user("three", 3), assistant("four", 4)]
OTHER = "11111111-2222-4333-8444-555555555555"


def run(repository: Repository, *paths: Path, **options: object) -> list[Outcome]:
    return list(archive(repository, find_sources(paths), **options))


def actions(outcomes: list[Outcome]) -> list[str]:
    return [outcome.action for outcome in outcomes]


def stored(repository: Repository, session: str = SESSION) -> bytes:
    return (repository.sessions / "claude" / f"{session}.jsonl").read_bytes()


@pytest.fixture
def reads(monkeypatch) -> list[int]:
    """The number of lines that each look into a source brought in."""
    counts: list[int] = []
    whole = intake.take

    def take(*arguments, **named):
        taken = whole(*arguments, **named)
        counts.append(taken.kept.records)
        return taken

    monkeypatch.setattr(intake, "take", take)
    monkeypatch.setattr(module, "take", take)
    return counts


# -- what is read again ---------------------------------------------------------


def test_a_source_that_did_not_change_is_not_read_again(repository, tmp_path, reads):
    source = transcript(tmp_path / "in", RECORDS)
    run(repository, source)
    assert actions(run(repository, source)) == ["unchanged"]
    assert reads == [4]


def test_a_source_that_only_grew_is_read_from_where_it_was_left(repository, tmp_path, reads):
    source = transcript(tmp_path / "in", RECORDS[:3])
    run(repository, source)
    with source.open("ab") as stream:
        stream.write(jsonl(RECORDS[3:]))
    (outcome,) = run(repository, source)
    assert (outcome.action, outcome.added, outcome.lines) == ("grown", 1, 4)
    assert reads == [3, 1]
    assert stored(repository) == jsonl(RECORDS)


@pytest.mark.parametrize("change", ["rewritten", "archive gone", "archive changed", "no newline"])
def test_it_is_read_from_the_beginning_where_that_is_not_certain(
    repository, tmp_path, reads, change
):
    source = transcript(tmp_path / "in", RECORDS[:3])
    if change == "no newline":
        source.write_bytes(jsonl(RECORDS[:3])[:-1])
    run(repository, source)
    target = repository.sessions / "claude" / f"{SESSION}.jsonl"
    rows = RECORDS
    if change == "rewritten":
        rows = [user("ONE", 1), *RECORDS[1:]]
    elif change == "archive gone":
        target.unlink()
    elif change == "archive changed":
        target.write_bytes(jsonl([*RECORDS[:3], user("merged", 9)]))
    source.write_bytes(jsonl(rows))
    run(repository, source)
    assert reads == [3, 4]
    lines = stored(repository).splitlines()
    assert set(jsonl(rows).splitlines()) <= set(lines)


def test_a_session_that_was_taken_from_the_archive_is_archived_again(repository, tmp_path):
    source = transcript(tmp_path / "in", RECORDS)
    run(repository, source)
    (repository.sessions / "claude" / f"{SESSION}.jsonl").unlink()
    assert actions(run(repository, source)) == ["new"]


@pytest.mark.parametrize("damage", [b"", b"{", b"[]", b'{"format": 1, "rules": "x"}', b"\xff"])
def test_a_damaged_memory_of_sources_costs_only_time(repository, tmp_path, damage):
    source = transcript(tmp_path / "in", RECORDS)
    run(repository, source)
    (repository.locks / "seen.json").write_bytes(damage)
    assert actions(run(repository, source)) == ["unchanged"]


def test_bad_lines_are_counted_from_the_beginning_of_the_source(repository, tmp_path):
    source = transcript(tmp_path / "in", RECORDS[:2])
    run(repository, source)
    with source.open("ab") as stream:
        stream.write(b"broken\n")
    (outcome,) = run(repository, source)
    assert outcome.kept.bad == [3]


# -- what is left out -----------------------------------------------------------


@pytest.mark.parametrize(
    "text", ["know:private", "please fix this. know:private", "first\nknow:private\nlast"]
)
def test_a_session_in_which_a_person_typed_the_marker_is_left_out(repository, tmp_path, text):
    source = transcript(tmp_path / "in", [*RECORDS, user(text, 5)])
    assert actions(run(repository, source)) == ["private"]
    assert actions(run(repository, source)) == ["private"]
    assert list(repository.sessions.rglob("*.jsonl")) == []


@pytest.mark.parametrize(
    "record",
    [
        assistant("type know:private to opt out", 5),
        tool_result("know:private", 5, 4),
        user("know:private", 5, isMeta=True),
        user("know:private", 5, isSidechain=True),
        user("what does `know:private` do?", 5),
        user("know:privately", 5),
        user("<system-reminder>know:private</system-reminder>hello", 5),
    ],
)
def test_a_marker_that_nobody_typed_is_none(repository, tmp_path, record):
    assert actions(run(repository, transcript(tmp_path / "in", [*RECORDS, record]))) == ["new"]


def test_what_belongs_to_a_private_session_is_left_out_too(repository, tmp_path):
    folder = tmp_path / "in"
    transcript(folder, [*RECORDS, user("know:private", 5)])
    transcript(folder, [user("task", 1, isSidechain=True)], "agent-0a1b2c3d.jsonl")
    below = folder / SESSION
    transcript(below / "subagents", [user("task", 1, isSidechain=True)], "agent-1.jsonl")
    (below / "tool-results").mkdir()
    (below / "tool-results" / "x.txt").write_text("output")
    assert actions(run(repository, folder)) == ["private"] * 4
    later = transcript(below / "subagents", [user("more", 1, isSidechain=True)], "agent-2.jsonl")
    assert actions(run(repository, later)) == ["private"]


def test_a_session_that_becomes_private_is_not_shortened_and_its_name_is_said(repository, tmp_path):
    source = transcript(tmp_path / "in", RECORDS)
    run(repository, source)
    source.write_bytes(jsonl([*RECORDS, user("know:private", 5)]))
    (outcome,) = run(repository, source)
    assert outcome.action == "private"
    assert f"know forget claude/{SESSION}" in outcome.note
    assert stored(repository) == jsonl(RECORDS)


def test_a_forgotten_session_does_not_come_back(repository, tmp_path):
    folder = tmp_path / "in"
    source = transcript(folder, RECORDS)
    transcript(folder, [user("task", 1, isSidechain=True)], "agent-0a1b2c3d.jsonl")
    run(repository, folder)
    name = SessionName("claude", SESSION)
    removed = forget(repository, name)
    assert len(removed) == 2
    assert list(repository.sessions.rglob("*.jsonl")) == []
    assert actions(run(repository, folder)) == ["forgotten", "forgotten"]
    source.write_bytes(jsonl([*RECORDS, user("more", 5)]))
    assert actions(run(repository, folder)) == ["forgotten", "forgotten"]
    assert "one" not in tombstone(repository, name).read_text()
    tombstone(repository, name).unlink()
    assert set(actions(run(repository, folder))) == {"new"}


def mapping(repository: Repository, *projects: Project, exclude: tuple[str, ...] = ()) -> Projects:
    return Projects(projects, repository.root, exclude=exclude, identify=lambda f: f"path:{f}")


def test_only_sessions_of_mapped_projects_are_archived_where_nobody_named_them(
    repository, tmp_path
):
    mine = Project("path:/home/dev/app", "/home/dev/app", str(repository.root))
    folder = tmp_path / "in"
    transcript(folder, RECORDS)
    transcript(folder, [user("x", 1, cwd="/home/dev/other")], f"{OTHER}.jsonl")
    outcomes = run(repository, folder, projects=mapping(repository, mine))
    assert actions(outcomes) == ["new", "not mapped"]
    assert outcomes[1].session == ""
    again = run(repository, folder, projects=mapping(repository, mine))
    assert actions(again) == ["unchanged", "not mapped"]
    other = Project("path:/home/dev/other", "/home/dev/other", str(repository.root))
    later = run(repository, folder, projects=mapping(repository, mine, other))
    assert actions(later) == ["unchanged", "new"]


def test_a_session_that_names_no_folder_is_not_mapped(repository, tmp_path):
    mine = Project("path:/home/dev/app", "/home/dev/app", str(repository.root))
    record = {"type": "summary", "leafUuid": "x", "summary": "s", "sessionId": SESSION}
    outcomes = run(
        repository, transcript(tmp_path / "in", [record]), projects=mapping(repository, mine)
    )
    assert actions(outcomes) == ["not mapped"]


def test_a_dry_run_says_what_it_would_do_and_changes_nothing(repository, tmp_path):
    source = transcript(tmp_path / "in", RECORDS)
    (outcome,) = run(repository, source, dry_run=True)
    assert (outcome.action, outcome.lines) == ("new", 4)
    assert outcome.size == outcome.grown == len(jsonl(RECORDS))
    assert list(repository.sessions.rglob("*")) == []
    assert actions(run(repository, source)) == ["new"]


# -- large sessions --------------------------------------------------------------


def test_a_session_in_parts_grows_joins_and_shrinks_to_the_same_lines(repository, tmp_path):
    rows = [user(f"text {number} " + "x" * 200, number) for number in range(40)]
    parted = [*rows[:20], user("parted", 99)]
    source = transcript(tmp_path / "in", rows[:30])
    run(repository, source, part_bytes=3000)
    source.write_bytes(jsonl(rows))
    assert actions(run(repository, source, part_bytes=3000)) == ["grown"]
    run(repository, transcript(tmp_path / "b", parted), part_bytes=3000)
    parts = sorted((repository.sessions / "claude").iterdir())
    assert len(parts) > 2
    assert all(part.stat().st_size <= 3000 for part in parts)
    other = make_repository(tmp_path / "other")
    for snapshot in (parted, rows):
        run(other, transcript(tmp_path / "c", snapshot))
    whole = b"".join(chunks(repository.sessions / "claude" / f"{SESSION}.jsonl"))
    assert whole == stored(other)


# -- crashes ---------------------------------------------------------------------

_CRASH = """
import sys, os
from contextlib import closing
from pathlib import Path
sys.path.insert(0, sys.argv[3])
from knowrepo.git.layout import repository_at
from knowrepo.sessions.archive import archive
repository = repository_at(Path(sys.argv[1]))
print("ready", flush=True)
for outcome in archive(repository, [Path(sys.argv[2])], part_bytes=200_000):
    print(outcome.action, flush=True)
"""


def test_a_run_killed_at_any_moment_leaves_no_half_written_or_shortened_session(tmp_path):
    """Fifty runs are killed with SIGKILL, each at a random point of its work."""
    rows = [user(f"text {number} " + "x" * 2000, number) for number in range(600)]
    old, new = jsonl(rows[:300]), jsonl(rows)
    tools = Path(module.__file__).parents[2]
    repository = make_repository(tmp_path / "memory")
    source = transcript(tmp_path / "in", [])
    whole = set(new.splitlines())
    chance = random.Random(11)
    durations: list[float] = []
    killed = 0
    for _ in range(50):
        for path in [*repository.sessions.rglob("*.jsonl"), repository.locks / "seen.json"]:
            path.unlink(missing_ok=True)
        source.write_bytes(old)
        list(archive(repository, [source], part_bytes=200_000))
        source.write_bytes(new)
        process = subprocess.Popen(
            [sys.executable, "-c", _CRASH, str(repository.root), str(source), str(tools)],
            stdout=subprocess.PIPE,
        )
        assert process.stdout is not None
        process.stdout.readline()
        started = time.monotonic()
        wait = chance.random() * (max(durations) if durations else 0.05)
        try:
            process.wait(wait)
            durations.append(time.monotonic() - started)
        except subprocess.TimeoutExpired:
            process.send_signal(signal.SIGKILL)
            process.wait()
            killed += 1
            durations = durations or [0.2]
        process.stdout.close()
        lines = _all_lines(repository)
        assert set(old.splitlines()) <= set(lines)
        assert set(lines) <= whole
        list(archive(repository, [source], part_bytes=200_000))
        assert b"".join(line + b"\n" for line in _all_lines(repository)) == new
    assert killed > 5


def _all_lines(repository: Repository) -> list[bytes]:
    first = repository.sessions / "claude" / f"{SESSION}.jsonl"
    assert all(path.read_bytes().endswith(b"\n") for path in parts(first))
    return [line.rstrip(b"\n") for line in chunks(first)]


@pytest.mark.parametrize("call", ["write", "fsync", "replace", "open"])
def test_a_failure_of_any_call_leaves_the_old_session_whole(repository, tmp_path, call):
    """Each call of a run fails once, as on a full disk, until a run has none left to fail."""
    old, new = RECORDS[:2], [*RECORDS[:1], user("parted", 9)]
    number = 0
    while True:
        for path in [*repository.sessions.rglob("*.jsonl"), repository.locks / "seen.json"]:
            path.unlink(missing_ok=True)
        list(archive(repository, [transcript(tmp_path / "old", old)]))
        source = transcript(tmp_path / "new", new)
        with pytest.MonkeyPatch.context() as patch:
            failed = _fail(patch, call, number)
            try:
                outcomes = list(archive(repository, [source]))
            except Exception as error:  # before the first source: the run as a whole
                assert "No space left" in str(error)  # noqa: PT017
                outcomes = []
        if not failed:
            break
        assert stored(repository) == jsonl(old) or b"parted" in stored(repository)
        assert set(jsonl(old).splitlines()) <= set(stored(repository).splitlines())
        assert not [p for p in repository.sessions.rglob("*") if p.name.endswith(".tmp")]
        assert all(o.action in {"failed", "joined"} for o in outcomes)
        number += 1
    assert number > 0
    assert b"parted" in stored(repository)


def _fail(patch: pytest.MonkeyPatch, call: str, number: int) -> list[str]:
    """Make the call of that number fail; the list says whether it came so far."""
    left = [number]
    failed: list[str] = []

    def count(whole, *arguments, **named):
        if left[0] == 0 and not failed:
            failed.append(call)
            raise OSError(28, "No space left on device")
        left[0] -= 1
        return whole(*arguments, **named)

    if call == "fsync":
        whole = os.fsync
        patch.setattr(os, "fsync", lambda fd: count(whole, fd))
    elif call == "replace":
        rename = Path.replace
        patch.setattr(Path, "replace", lambda self, to: count(rename, self, to))
    else:
        opened = Path.open

        def open_(self, mode="r", *arguments, **named):
            writes = "w" in mode or "x" in mode
            if call == "open" and writes:
                return count(opened, self, mode, *arguments, **named)
            stream = opened(self, mode, *arguments, **named)
            return _Failing(stream, count) if call == "write" and writes else stream

        patch.setattr(Path, "open", open_)
    return failed


class _Failing:
    """A file whose writes go through a counter."""

    def __init__(self, stream, count):
        self._stream = stream
        self._count = count

    def write(self, data):
        return self._count(self._stream.write, data)

    def writelines(self, lines):
        for line in lines:
            self.write(line)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self._stream.close()

    def __getattr__(self, name):
        return getattr(self._stream, name)


# -- databases ----------------------------------------------------------------------


def opencode(path: Path, sessions: dict[str, list[str]], updated: int) -> Path:
    """Write a database as OpenCode does, with one user message of a part for each text."""
    path.unlink(missing_ok=True)
    with closing(sqlite3.connect(path)) as db:
        db.executescript(
            "CREATE TABLE session (id TEXT, parent_id TEXT, directory TEXT, title TEXT,"
            " time_created INTEGER, time_updated INTEGER);"
            "CREATE TABLE message (id TEXT, session_id TEXT, time_created INTEGER,"
            " time_updated INTEGER, data TEXT);"
            "CREATE TABLE part (id TEXT, message_id TEXT, session_id TEXT, time_created INTEGER,"
            " time_updated INTEGER, data TEXT);"
        )
        for name, texts in sessions.items():
            row = (name, "/home/dev/app", "A title", 1, updated)
            db.execute("INSERT INTO session VALUES (?, NULL, ?, ?, ?, ?)", row)
            for number, text in enumerate(texts):
                message, part = f"msg_{name}_{number}", f"prt_{name}_{number}"
                said = json.dumps({"role": "user", "time": {"created": number}})
                db.execute("INSERT INTO message VALUES (?,?,1,1,?)", (message, name, said))
                data = json.dumps({"type": "text", "text": text})
                row = (part, message, name, len(text), data)
                db.execute("INSERT INTO part VALUES (?, ?, ?, 1, ?, ?)", row)
        db.commit()
    return path


def test_of_a_database_only_the_sessions_that_changed_are_read_again(repository, tmp_path, reads):
    path = opencode(tmp_path / "opencode.db", {"ses_a": ["one"], "ses_b": ["two"]}, 1)
    assert actions(run(repository, path)) == ["new", "new"]
    assert len(reads) == 2
    opencode(path, {"ses_a": ["one"], "ses_b": ["two", "more"]}, 1)
    os.utime(path, ns=(1, 1))
    outcomes = run(repository, path)
    assert actions(outcomes) == ["unchanged", "grown"]
    assert len(reads) == 3
    opencode(path, {"ses_a": ["one edited in place"], "ses_b": ["two", "more"]}, 1)
    os.utime(path, ns=(2, 2))
    assert actions(run(repository, path)) == ["joined", "unchanged"]
    text = (repository.sessions / "opencode" / "ses_a.jsonl").read_text()
    assert "edited in place" in text.splitlines()[-1]


# -- redaction ------------------------------------------------------------------------

KEY = "ghp_" + "Qw8Er7Ty6Ui5Op4As3Df2Gh1Jk0Lz9Xc8Vb7"


@pytest.mark.parametrize("with_ids", [True, False])
def test_what_was_redacted_is_not_unredacted_by_a_user_who_allows_it(
    repository, tmp_path, own_environment, with_ids
):
    rows = [*RECORDS[:2], user(f"use {KEY} for it", 3), assistant("done", 4)]
    if not with_ids:
        rows = [{k: v for k, v in row.items() if k != "uuid"} for row in rows]
    source = transcript(tmp_path / "in", rows)
    run(repository, source)
    redacted = stored(repository)
    assert b"[redacted:github-token]" in redacted
    (own_environment / "config.toml").write_text(f'[redact]\nallow = ["{KEY[:12]}.*"]\n')
    longer = transcript(tmp_path / "in", [*rows, user("more", 5)])
    (outcome,) = run(repository, longer)
    assert outcome.action == "joined"
    assert KEY.encode() not in stored(repository)
    assert stored(repository).startswith(redacted)
    assert len(stored(repository).splitlines()) == 5
    plain = make_repository(tmp_path / "plain")
    run(plain, longer)  # allowed, and never redacted there
    assert KEY.encode() in stored(plain)
    (own_environment / "config.toml").unlink()
    assert actions(run(plain, longer)) == ["joined"]  # the rule holds again, for what is archived
    assert KEY.encode() not in stored(plain)
    assert len(stored(plain).splitlines()) == 5


# -- what two reviews found ---------------------------------------------------------


@pytest.mark.parametrize("agent", SAMPLES)
def test_the_tail_of_a_session_belongs_where_its_head_did(repository, tmp_path, agent):
    """Most records of most agents name no folder."""
    records = SAMPLES[agent]
    reader = reader_of(agent)
    assert reader is not None
    folder = next(filter(None, map(reader.folder, records)))
    here = mapping(repository, Project(f"path:{folder}", folder, str(repository.root)))
    source = tmp_path / f"{OTHER}.jsonl"
    for number in range(1, len(records) + 1):
        source.write_bytes(jsonl(records[:number]))
        outcomes = run(repository, source, projects=here)
    assert outcomes[-1].action in {"grown", "unchanged", "joined"}
    assert outcomes[-1].lines == len(records) or outcomes[-1].action == "unchanged"
    lines = [line for p in repository.sessions.rglob("*.jsonl") for line in p.open("rb")]
    assert len(lines) == len(records)


def test_a_tool_result_belongs_where_its_session_does(repository, tmp_path):
    here = mapping(repository, Project("path:/home/dev/app", "/home/dev/app", str(repository.root)))
    folder = tmp_path / "in"
    transcript(folder, RECORDS)
    spilled = folder / SESSION / "tool-results" / "x.txt"
    spilled.parent.mkdir(parents=True)
    spilled.write_text("a long output")
    stray = folder / OTHER / "tool-results" / "y.txt"
    stray.parent.mkdir(parents=True)
    stray.write_text("of a session that is not there")
    outcomes = run(repository, folder, projects=here)
    assert sorted(actions(outcomes)) == ["new", "new", "not mapped"]


def test_a_session_that_goes_on_in_an_excluded_folder_is_left_out(repository, tmp_path):
    mine = Project("path:/home/dev/app", "/home/dev/app", str(repository.root))
    here = mapping(repository, mine, exclude=("/home/dev/app/secret",))
    moved = [*RECORDS, user("there", 5, cwd="/home/dev/app/secret/deep")]
    source = transcript(tmp_path / "in", moved)
    assert actions(run(repository, source, projects=here)) == ["not mapped"]
    assert actions(run(repository, source, projects=here)) == ["not mapped"]
    source.write_bytes(jsonl(RECORDS))
    assert actions(run(repository, source, projects=here)) == ["new"]
    source.write_bytes(jsonl(moved))  # what is archived stays; what comes from there does not
    assert actions(run(repository, source, projects=here)) == ["not mapped"]
    assert stored(repository) == jsonl(RECORDS)


def test_a_denial_is_asked_again(repository, tmp_path):
    known: list[str] = []
    here = Projects(
        [Project("commit:abc", "/elsewhere", str(repository.root))],
        repository.root,
        identify=lambda folder: known[0] if known else f"path:{folder}",
    )
    app = tmp_path / "app"
    app.mkdir()
    source = transcript(tmp_path / "in", [user("x", 1, cwd=str(app))])
    assert actions(run(repository, source, projects=here)) == ["not mapped"]
    known.append("commit:abc")
    again = Projects(
        [Project("commit:abc", "/elsewhere", str(repository.root))],
        repository.root,
        identify=lambda _: known[0],
    )
    assert actions(run(repository, source, projects=again)) == ["new"]


def test_a_sub_agent_of_a_private_session_stays_out_however_it_comes(repository, tmp_path):
    folder = tmp_path / "in"
    source = transcript(folder, [*RECORDS, user("know:private", 5)])
    task = [user("task", 1, isSidechain=True)]
    below = folder / SESSION / "subagents"
    alone = transcript(below, task, "agent-1.jsonl")
    assert actions(run(repository, alone)) == ["private"]  # its session was never looked at
    run(repository, source)
    source.unlink()
    later = transcript(below, task, "agent-2.jsonl")
    assert actions(run(repository, later, part_bytes=1000)) == ["private"]
    beside = transcript(folder, task, "agent-0a.jsonl")
    assert actions(run(repository, beside)) == ["private"]
    assert list(repository.sessions.rglob("*.jsonl")) == []


def test_a_child_in_the_same_database_waits_for_its_parent(repository, tmp_path):
    path = opencode(tmp_path / "opencode.db", {"ses_a": ["child"], "ses_b": ["know:private"]}, 1)
    with closing(sqlite3.connect(path)) as db:
        db.execute("UPDATE session SET parent_id = 'ses_b' WHERE id = 'ses_a'")
        db.commit()
    assert actions(run(repository, path)) == ["private", "private"]


def test_a_full_disk_while_parts_are_published_costs_nothing(repository, tmp_path):
    rows = [user(f"text {number} " + "x" * 300, number) for number in range(30)]
    parted = [*rows[:10], user("parted", 99)]
    run(repository, transcript(tmp_path / "a", rows), part_bytes=3000)
    source = transcript(tmp_path / "b", parted)
    for number in range(40):
        with pytest.MonkeyPatch.context() as patch:
            failed = _fail(patch, "replace", number)
            list(archive(repository, [source], part_bytes=3000))
        if not failed:
            break
        (outcome,) = run(repository, source, part_bytes=3000)
        assert outcome.action in {"joined", "unchanged"}
        other = make_repository(tmp_path / f"other{number}")
        run(other, transcript(tmp_path / "a", rows), part_bytes=3000)
        run(other, source, part_bytes=3000)
        assert _all_lines(repository) == _all_lines(other)
        for path in repository.sessions.rglob("*.jsonl"):
            path.unlink()
        run(repository, transcript(tmp_path / "a", rows), part_bytes=3000)
    assert number > 3


def test_a_dry_run_finishes_nothing_that_was_left(repository, tmp_path):
    rows = [user(f"text {number} " + "x" * 300, number) for number in range(30)]
    source = transcript(tmp_path / "a", rows[:10])
    run(repository, source, part_bytes=3000)
    source.write_bytes(jsonl(rows))
    with pytest.MonkeyPatch.context() as patch:
        _fail(patch, "replace", 2)
        list(archive(repository, [source], part_bytes=3000))
    before = {p: p.read_bytes() for p in repository.sessions.rglob("*") if p.is_file()}
    list(archive(repository, [], dry_run=True))
    assert {p: p.read_bytes() for p in repository.sessions.rglob("*") if p.is_file()} == before
    list(archive(repository, [], part_bytes=3000))
    assert _all_lines(repository) == jsonl(rows).splitlines()


def test_what_git_brings_while_a_session_is_joined_is_joined_too(repository, tmp_path, monkeypatch):
    source = transcript(tmp_path / "a", RECORDS[:2])
    run(repository, source)
    pulled = jsonl([*RECORDS[:2], user("pulled", 9)])
    target = repository.sessions / "claude" / f"{SESSION}.jsonl"
    whole = module.unite
    came: list[int] = []

    def unite(*arguments):
        done = whole(*arguments)
        if not came:
            came.append(1)
            target.write_bytes(pulled)
        return done

    monkeypatch.setattr(module, "unite", unite)
    source.write_bytes(jsonl(RECORDS))
    run(repository, source)
    lines = set(stored(repository).splitlines())
    assert set(pulled.splitlines()) | set(jsonl(RECORDS).splitlines()) <= lines


def test_a_smaller_cap_is_applied_to_what_is_archived(repository, tmp_path):
    rows = [user("x" * 300, number) for number in range(20)]
    source = transcript(tmp_path / "a", rows)
    run(repository, source)
    assert actions(run(repository, source, part_bytes=3000)) == ["unchanged"]
    files = parts(repository.sessions / "claude" / f"{SESSION}.jsonl")
    assert len(files) > 1
    assert all(path.stat().st_size <= 3000 for path in files)
    assert _all_lines(repository) == jsonl(rows).splitlines()


def test_an_archive_is_a_source_like_any_other(repository, tmp_path):
    rows = [user(f"text {number} " + "x" * 300, number) for number in range(30)]
    run(repository, transcript(tmp_path / "a", rows), part_bytes=3000)
    run(repository, transcript(tmp_path / "b", [*rows[:10], user("parted", 99)]), part_bytes=3000)
    other = make_repository(tmp_path / "other")
    outcomes = run(other, repository.sessions)
    assert actions(outcomes).count("new") == 1
    assert _all_lines(other) == _all_lines(repository)
    part = parts(repository.sessions / "claude" / f"{SESSION}.jsonl")[1]
    (outcome,) = run(other, part)
    assert "its first file stands for all" in outcome.note


def test_a_line_that_pretends_to_be_a_version_of_another_record_is_none(repository, tmp_path):
    mark = {"type": "know.version"}
    snapshots = [[RECORDS[0], mark, *RECORDS[1:]], RECORDS]
    results = set()
    for number, order in enumerate((snapshots, snapshots[::-1])):
        here = make_repository(tmp_path / str(number))
        for snapshot in order:
            run(here, transcript(tmp_path / "in", snapshot))
        results.add(stored(here))
    assert results == {jsonl(RECORDS)}


def test_a_file_name_as_long_as_they_come_is_no_hindrance(repository, tmp_path):
    source = tmp_path / ("x" * 249 + ".jsonl")
    source.write_bytes(jsonl(RECORDS))
    assert actions(run(repository, source)) == ["new"]


def test_all_that_came_in_was_kept_dropped_bad_or_waits(repository, tmp_path):
    source = tmp_path / f"{SESSION}.jsonl"
    progress = {"type": "progress", "data": {"type": "hook_progress"}, "sessionId": SESSION}
    source.write_bytes(
        jsonl([RECORDS[0], progress])
        + b"broken\n\n"
        + jsonl(RECORDS[1:3]).replace(b"}\n{", b"}{")
        + jsonl(RECORDS[3:])[:-20]
    )
    (outcome,) = run(repository, source)
    kept = outcome.kept
    assert (kept.lines, kept.pieces, kept.recovered) == (5, 6, 1)
    assert (kept.records, kept.dropped, len(kept.bad), kept.pending) == (3, 1, 1, True)
    assert kept.pieces == kept.records + kept.dropped + len(kept.bad) + kept.pending
