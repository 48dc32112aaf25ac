"""Merging archives with real git: two clones that went on on their own."""

from __future__ import annotations

from pathlib import Path

import pytest

from helpers import SESSION, assistant, git, jsonl, transcript, user
from knowrepo.cli.main import main
from knowrepo.git.drivers import install
from knowrepo.git.layout import Repository, repository_at
from knowrepo.sessions.archive import archive

BASE = [user("one", 1), assistant("two", 2)]
LONGER = [*BASE, user("three", 3)]
LONGEST = [*LONGER, assistant("four", 4), user("five", 5)]
PARTED = [*BASE, user("other", 9), assistant("more", 10)]


def snapshot(here: Repository, folder: Path, records: list[dict], message: str) -> None:
    source = transcript(folder / message, records)
    for outcome in archive(here, [source]):
        assert outcome.action in {"new", "grown", "joined", "unchanged"}
    git(here.root, "add", "-A")
    git(here.root, "commit", "-q", "--allow-empty", "-m", message)


def stored(here: Repository) -> bytes:
    return (here.sessions / "claude" / f"{SESSION}.jsonl").read_bytes()


@pytest.fixture
def clones(repository, tmp_path):
    attributes = "sessions/**/*.jsonl -text merge=know-session\n"
    (repository.root / ".gitattributes").write_text(attributes)
    snapshot(repository, tmp_path, BASE, "base")
    git(tmp_path, "clone", "-q", str(repository.root), "other")
    other = repository_at(tmp_path / "other")
    assert install(repository)
    assert install(other)
    assert not install(other)
    return repository, other


@pytest.mark.parametrize("how", ["merge", "rebase"])
@pytest.mark.parametrize("theirs", [LONGEST, PARTED, BASE], ids=["longer", "parted", "same"])
def test_clones_that_archived_different_snapshots_merge_to_the_same_bytes(
    clones, tmp_path, theirs, how
):
    mine, other = clones
    snapshot(mine, tmp_path, LONGER, "mine")
    snapshot(other, tmp_path, theirs, "theirs")
    ends = {}
    for here, there in ((mine, other), (other, mine)):
        git(here.root, "fetch", "-q", str(there.root), "main")
        before = git(here.root, "rev-parse", "HEAD").strip()
        git(here.root, how, *(["--no-edit"] if how == "merge" else []), "FETCH_HEAD")
        ends[here.root] = stored(here)
        git(here.root, "reset", "-q", "--hard", before)
    assert len(set(ends.values())) == 1
    (merged,) = set(ends.values())
    for records in (LONGER, theirs):
        assert set(jsonl(records).splitlines()) <= set(merged.splitlines())
    source = transcript(tmp_path / "again", LONGER)
    (mine.sessions / "claude" / f"{SESSION}.jsonl").write_bytes(merged)
    assert [outcome.action for outcome in archive(mine, [source])] == ["unchanged"]


def test_an_agent_without_a_reader_is_a_conflict_and_nothing_is_lost(tmp_path, capsys):
    files = [tmp_path / name for name in "oab"]
    for number, file in enumerate(files):
        file.write_text(f"{number}\n")
    code = main(["hook", "merge-session", *map(str, files), "sessions/hal/x.jsonl"])
    assert code == 1
    assert "no reader for sessions of hal" in capsys.readouterr().err
    assert files[1].read_text() == "1\n"
