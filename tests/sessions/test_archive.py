from __future__ import annotations

import json
import os
from itertools import permutations
from pathlib import Path

import pytest
from filelock import FileLock

from helpers import SESSION, assistant, git, jsonl, make_repository, transcript, user
from knowrepo.errors import KnowError
from knowrepo.git.layout import Repository
from knowrepo.sessions import publish
from knowrepo.sessions import run as module
from knowrepo.sessions.archive import archive
from knowrepo.sessions.discover import find_sources
from knowrepo.sessions.lines import read_lines
from knowrepo.sessions.outcome import Outcome
from knowrepo.sessions.readers import Found, recognise
from knowrepo.sessions.source import Source
from knowrepo.sessions.store import resolved

RECORDS = [user("one", 1), assistant("two", 2), user("three", 3), assistant("four", 4)]


def archive_path(repository: Repository, path: Path) -> Outcome:
    (outcome,) = archive(repository, [path])
    return outcome


def stored(repository: Repository, session: str = SESSION) -> bytes:
    return (repository.sessions / "claude" / f"{session}.jsonl").read_bytes()


def test_a_session_is_archived_line_for_line_under_its_agent_and_id(repository, tmp_path):
    outcome = archive_path(repository, transcript(tmp_path / "in", RECORDS))
    assert (outcome.action, outcome.session, outcome.lines) == ("new", f"claude/{SESSION}", 4)
    assert stored(repository) == jsonl(RECORDS)


def test_archiving_twice_changes_nothing(repository, tmp_path):
    source = transcript(tmp_path / "in", RECORDS)
    archive_path(repository, source)
    before = (repository.sessions / "claude" / f"{SESSION}.jsonl").stat()
    assert archive_path(repository, source).action == "unchanged"
    after = (repository.sessions / "claude" / f"{SESSION}.jsonl").stat()
    assert (before.st_mtime_ns, before.st_ino) == (after.st_mtime_ns, after.st_ino)


def test_a_longer_snapshot_appends_and_a_shorter_one_changes_nothing(repository, tmp_path):
    archive_path(repository, transcript(tmp_path / "a", RECORDS[:2]))
    grown = archive_path(repository, transcript(tmp_path / "b", RECORDS))
    assert (grown.action, grown.added) == ("grown", 2)
    assert archive_path(repository, transcript(tmp_path / "c", RECORDS[:3])).action == "unchanged"
    assert stored(repository) == jsonl(RECORDS)


def test_any_order_of_snapshots_gives_the_same_bytes(tmp_path):
    snapshots = [
        RECORDS[:2],
        RECORDS,
        [*RECORDS[:2], user("other", 9)],
        [*RECORDS[:2], user("other", 9), assistant("more", 10)],
    ]
    results = set()
    for number, order in enumerate(permutations(range(len(snapshots)))):
        repository = make_repository(tmp_path / str(number))
        for index in order:
            source = transcript(tmp_path / f"in{number}-{index}", snapshots[index])
            archive_path(repository, source)
        results.add(stored(repository))
    assert len(results) == 1
    text = results.pop().decode()
    assert all(word in text for word in ("one", "two", "three", "four", "other", "more"))


def test_a_snapshot_without_a_final_newline_grows_without_joining_lines(repository, tmp_path):
    source = transcript(tmp_path / "in", [])
    source.write_bytes(jsonl(RECORDS[:2])[:-1])
    archive_path(repository, source)
    source.write_bytes(jsonl(RECORDS)[:-1])
    archive_path(repository, source)
    assert stored(repository) == jsonl(RECORDS)


def test_an_unfinished_last_line_waits_for_its_end(repository, tmp_path):
    source = transcript(tmp_path / "in", [])
    source.write_bytes(jsonl(RECORDS)[:-30])
    outcome = archive_path(repository, source)
    assert outcome.kept.pending
    assert stored(repository) == jsonl(RECORDS[:3])
    source.write_bytes(jsonl(RECORDS))
    assert archive_path(repository, source).action == "grown"


def test_the_id_is_the_stem_where_it_is_one_else_the_last_id_inside(repository, tmp_path):
    other = "11111111-2222-4333-8444-555555555555"
    renamed = transcript(tmp_path / "in", RECORDS, f"{other}.jsonl")
    assert archive_path(repository, renamed).session == f"claude/{other}"
    moved = [{**RECORDS[0], "sessionId": other}, *RECORDS[1:]]
    assert archive_path(repository, transcript(tmp_path, moved, "full.jsonl")).session == (
        f"claude/{SESSION}"
    )


def test_an_id_that_looks_like_a_parts_is_spelled_otherwise(repository, tmp_path):
    records = [{**record, "sessionId": "release.2"} for record in RECORDS]
    source = transcript(tmp_path, records, "full.jsonl")
    assert archive_path(repository, source).session == "claude/release-2"
    assert archive_path(repository, source).action == "unchanged"


@pytest.mark.parametrize("layout", ["beside", "below"])
def test_a_sub_agent_belongs_to_its_parent(repository, tmp_path, layout):
    folder = tmp_path / "p" if layout == "beside" else tmp_path / "p" / SESSION / "subagents"
    source = transcript(folder, [user("task", 1, isSidechain=True)], "agent-a1b2c3d4.jsonl")
    outcome = archive_path(repository, source)
    assert outcome.session == f"claude/{SESSION}/agent-a1b2c3d4"
    assert (repository.sessions / "claude" / SESSION / "agent-a1b2c3d4.jsonl").is_file()


@pytest.mark.parametrize(
    "evil", ["../../evil", "/etc/evil", "a/b", "..", ".git", "a\0b", "x" * 200]
)
def test_an_id_from_inside_a_file_cannot_leave_the_archive(repository, tmp_path, evil):
    records = [{**record, "sessionId": evil} for record in RECORDS]
    outcome = archive_path(repository, transcript(tmp_path, records, "full.jsonl"))
    assert outcome.action == "not a transcript"
    assert [p for p in repository.root.rglob("*") if "evil" in p.name] == []
    assert list(repository.sessions.rglob("*.jsonl")) == []


@pytest.mark.parametrize("link", ["sessions", "sessions/claude"])
def test_a_link_out_of_the_repository_is_not_followed(repository, tmp_path, link):
    outside = tmp_path / "outside"
    outside.mkdir()
    repository.sessions.rmdir()
    (repository.root / link).parent.mkdir(exist_ok=True)
    (repository.root / link).symlink_to(outside)
    source = transcript(tmp_path / "in", RECORDS)
    if link == "sessions":
        with pytest.raises(KnowError, match="leads out of the repository"):
            archive_path(repository, source)
    else:
        outcome = archive_path(repository, source)
        assert outcome.action == "failed"
        assert "leads out of the repository" in outcome.note
    assert list(outside.iterdir()) == []


@pytest.mark.parametrize(
    ("content", "action"),
    [
        (b"", "empty"),
        (b"just text\n", "not a transcript"),
        (b"\x89PNG\r\n\x1a\n" + bytes(1000), "not a transcript"),
        (b'{"name": "a package", "version": "1"}\n', "not a transcript"),
        ('{"a": "ü"}\n'.encode("utf-16"), "not a transcript"),
    ],
)
def test_what_is_no_transcript_is_said_to_be_none(repository, tmp_path, content, action):
    source = tmp_path / "file.jsonl"
    source.write_bytes(content)
    assert archive_path(repository, source).action == action
    assert list(repository.sessions.iterdir()) == []


def test_the_extension_tells_nothing(repository, tmp_path):
    source = transcript(tmp_path / "in", RECORDS, f"{SESSION}.txt")
    assert archive_path(repository, source).action == "new"


def test_a_failed_rename_leaves_the_old_session_whole(repository, tmp_path, monkeypatch):
    archive_path(repository, transcript(tmp_path / "a", RECORDS[:2]))

    def fail(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(publish, "put_in_place", fail)
    outcome = archive_path(repository, transcript(tmp_path / "b", RECORDS))
    assert outcome.action == "failed"
    assert "No space left" in outcome.note
    assert stored(repository) == jsonl(RECORDS[:2])
    assert [p.name for p in repository.sessions.iterdir()] == ["claude"]


def test_what_a_killed_run_left_is_cleared(repository, tmp_path):
    left = repository.locks / "archive" / "session.jsonl"
    left.parent.mkdir(parents=True)
    left.write_text("half")
    archive_path(repository, transcript(tmp_path / "in", RECORDS))
    assert not left.exists()


def test_a_run_that_changes_nothing_touches_nothing(repository, tmp_path):
    source = transcript(tmp_path / "in", RECORDS)
    archive_path(repository, source)
    before = repository.sessions.stat().st_mtime_ns
    archive_path(repository, source)
    assert repository.sessions.stat().st_mtime_ns == before


def test_a_git_directory_on_another_disk_is_no_hindrance(repository, tmp_path, monkeypatch):
    def other_disk(self: Path, target: Path) -> None:
        raise OSError(18, "Invalid cross-device link")

    whole = Path.replace
    monkeypatch.setattr(
        Path,
        "replace",
        lambda self, to: (other_disk if self.name == "session.jsonl" else whole)(self, to),
    )
    archive_path(repository, transcript(tmp_path / "in", RECORDS))
    assert stored(repository) == jsonl(RECORDS)


def test_only_regular_files_are_opened(repository, tmp_path):
    folder = tmp_path / "in"
    good = transcript(folder, RECORDS)
    os.mkfifo(folder / "pipe.jsonl")
    (folder / "dangling.jsonl").symlink_to(tmp_path / "nowhere")
    assert list(find_sources([folder])) == [good]
    with pytest.raises(KnowError, match="neither a regular file nor a folder"):
        list(find_sources([folder / "pipe.jsonl"]))


def test_a_second_archiver_says_that_it_waits(repository, tmp_path):
    repository.locks.mkdir(parents=True)
    said: list[str] = []
    lock = FileLock(repository.locks / "archive.lock", thread_local=False)
    lock.acquire()

    def waiting() -> None:
        said.append("waiting")
        lock.release()

    source = transcript(tmp_path / "in", RECORDS)
    (outcome,) = archive(repository, [source], waiting=waiting)
    assert (said, outcome.action) == (["waiting"], "new")


def test_a_text_that_quotes_a_transcript_is_none(repository, tmp_path):
    folder = tmp_path / "in"
    archive_path(repository, transcript(folder, RECORDS))
    quoted = folder / "notes.txt"
    quoted.write_bytes(b"output of tail -2:\n" + jsonl(RECORDS[2:]))
    assert archive_path(repository, quoted).action == "not a transcript"
    spilled = folder / SESSION / "tool-results" / "b1.txt"
    spilled.parent.mkdir(parents=True)
    spilled.write_bytes(jsonl(RECORDS[2:]))
    outcome = archive_path(repository, spilled)
    assert outcome.session == f"claude/{SESSION}/tool-b1"


def test_an_archive_whose_last_newline_an_editor_took_loses_nothing(repository, tmp_path):
    archive_path(repository, transcript(tmp_path / "a", RECORDS[:2]))
    path = repository.sessions / "claude" / f"{SESSION}.jsonl"
    path.write_bytes(path.read_bytes() + b'{"cut')
    archive_path(repository, transcript(tmp_path / "b", [*RECORDS[:2], user("other", 9)]))
    text = stored(repository).decode()
    assert "cut" in text
    assert "other" in text


def test_what_no_reader_foresaw_fails_alone(repository, tmp_path, monkeypatch):
    good = transcript(tmp_path / "in", RECORDS)
    bad = transcript(tmp_path / "bad", RECORDS)

    def fail_for_bad(source: Source) -> Found | None:
        if source.path == bad:
            raise TypeError("odd")
        return recognise(source)

    monkeypatch.setattr(module, "recognise", fail_for_bad)
    outcomes = list(archive(repository, [bad, good]))
    assert [outcome.action for outcome in outcomes] == ["failed", "new"]
    assert "TypeError: odd" in outcomes[0].note


def test_a_source_that_cannot_be_read_fails_alone(repository, tmp_path):
    good = transcript(tmp_path / "in", RECORDS)
    outcomes = list(archive(repository, [tmp_path / "gone.jsonl", good]))
    assert [outcome.action for outcome in outcomes] == ["failed", "new"]


def test_folders_are_searched_and_a_path_that_is_not_there_is_an_error(tmp_path):
    source = transcript(tmp_path / "deep" / "er", RECORDS)
    (tmp_path / "deep" / ".git").mkdir()
    (tmp_path / "deep" / ".git" / "config").write_text("x")
    assert list(find_sources([tmp_path])) == [source]
    with pytest.raises(KnowError, match="no such file"):
        list(find_sources([tmp_path / "nowhere"]))


def test_reading_an_archive_gives_the_last_version_of_a_record_and_no_markers(tmp_path):
    record = {"type": "user", "uuid": "1", "sessionId": SESSION}
    rows = [record, {"type": "know.version"}, {**record, "done": True}, {**record, "uuid": "2"}]
    path = transcript(tmp_path, rows)
    with path.open("rb") as stream:
        found = [line.record for line in resolved(read_lines(stream))]
    assert found == [rows[2], rows[3]]


def test_archived_bytes_survive_git(repository, tmp_path, commit):
    (repository.root / ".gitattributes").write_text("sessions/**/*.jsonl -text\n")
    git(repository.root, "config", "core.autocrlf", "true")
    rows = [user("one\r\ntwo", 1)]
    archive_path(repository, transcript(tmp_path / "in", rows))
    commit()
    git(repository.root, "rm", "-q", "-r", "--cached", "sessions")
    (repository.sessions / "claude" / f"{SESSION}.jsonl").unlink()
    git(repository.root, "reset", "-q", "--hard")
    assert json.loads(stored(repository)) == rows[0]
    assert stored(repository) == jsonl(rows)
