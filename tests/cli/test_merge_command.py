"""``know merge``, git's driver, and what a conflict keeps know from doing; with real git."""

from __future__ import annotations

from pathlib import Path

import pytest

from helpers import SESSION, assistant, git, jsonl, make_repository, transcript, user
from knowrepo.cli.main import main
from knowrepo.git.drivers import install
from knowrepo.git.layout import Repository, repository_at
from knowrepo.sessions.archive import archive
from knowrepo.sessions.store import chunks, parts

PATH = f"sessions/claude/{SESSION}.jsonl"
BASE = [user("one", 1), assistant("two", 2)]
MINE = [*BASE, user("the walrus", 3), assistant("answer", 4)]
THEIRS = [*BASE, user("the narwhal", 8), assistant("other", 9), user("more", 10)]


def whole(here: Repository) -> bytes:
    return b"".join(chunks(here.sessions / "claude" / f"{SESSION}.jsonl"))


def many(number: int, word: str) -> list[dict]:
    return [user(f"{word} {n} " + "x" * 200, n, uuid=f"{word}-{n}") for n in range(number)]


def joined(folder: Path, *snapshots: list[dict]) -> bytes:
    """What one archive makes of the snapshots, in one file."""
    here = make_repository(folder / "reference")
    for number, records in enumerate(snapshots):
        list(archive(here, [transcript(folder / f"reference-{number}", records)]))
    return whole(here)


def part_ways(here: Repository, folder: Path, base, mine, theirs, **options) -> None:
    """Make branches `main` and `other` that archived different snapshots of a session."""
    for branch, records in (("main", base), ("other", theirs), ("main", mine)):
        git(here.root, "checkout", "-q", *([] if branch == "main" else ["-b"]), branch, check=False)
        list(archive(here, [transcript(folder / branch, records)], **options))
        git(here.root, "add", "-A")
        git(here.root, "commit", "-qm", branch)


@pytest.fixture
def in_conflict(repository, tmp_path) -> Repository:
    """A repository in which git merged line by line, without the driver."""
    part_ways(repository, tmp_path, BASE, MINE, THEIRS)
    git(repository.root, "merge", "other", check=False)
    assert git(repository.root, "status", "--porcelain") == f"UU {PATH}\n"
    assert b"\n<<<<<<< " in (repository.root / PATH).read_bytes()
    return repository


def test_a_session_in_conflict_is_left_alone_and_the_command_is_named(know, in_conflict, tmp_path):
    before = (in_conflict.root / PATH).read_bytes()
    more = transcript(tmp_path / "more", [*MINE, user("later", 5)])
    result = know("archive", str(more))
    assert result.code == 1
    assert f"`know merge {PATH}`" in result.err
    assert (in_conflict.root / PATH).read_bytes() == before
    found = [line for line in know("check").out.splitlines() if "sessions/" in line]
    assert len(found) == 1
    assert found[0].startswith(f"{PATH}:1:1: error KNOW302 ")
    assert f"`know merge {PATH}`" in found[0]


def test_what_is_indexed_of_a_session_in_conflict_is_what_was_before(know, repository, tmp_path):
    part_ways(repository, tmp_path, BASE, MINE, THEIRS)
    know("index", "--no-vectors")
    git(repository.root, "merge", "other", check=False)
    assert "walrus" in know("recall", "walrus").out
    assert "narwhal" not in know("recall", "narwhal").out


@pytest.mark.parametrize("how", ["merge", "rebase", "stash", "cherry-pick"])
def test_merge_joins_what_both_sides_had_and_adds_nothing(know, repository, tmp_path, how):
    if how == "stash":
        list(archive(repository, [transcript(tmp_path / "a", BASE)]))
        git(repository.root, "add", "-A")
        git(repository.root, "commit", "-qm", "base")
        list(archive(repository, [transcript(tmp_path / "b", MINE)]))
        git(repository.root, "stash", "-q")
        list(archive(repository, [transcript(tmp_path / "c", THEIRS)]))
        git(repository.root, "commit", "-qam", "theirs")
        git(repository.root, "stash", "pop", check=False)
    else:
        part_ways(repository, tmp_path, BASE, MINE, THEIRS)
        git(repository.root, how, "other", check=False)
    staged = git(repository.root, "ls-files", "-s")
    assert " 2\t" in staged
    result = know("merge")
    assert (result.code, result.out) == (0, f"claude/{SESSION}: joined\n")
    assert f"git add -A -- {PATH}" in result.err
    assert whole(repository) == joined(tmp_path, MINE, THEIRS)
    assert git(repository.root, "ls-files", "-s") == staged
    git(repository.root, "add", "-A", "--", PATH)
    assert know("check").code == 0
    assert know("merge").err == "nothing is in conflict\n"


@pytest.mark.parametrize("style", ["merge", "diff3"])
def test_conflict_markers_that_were_committed_are_found_and_mended(
    know, in_conflict, tmp_path, style
):
    git(in_conflict.root, "checkout", f"--conflict={style}", "--", PATH)
    git(in_conflict.root, "commit", "-qam", "markers and all")
    result = know("check")
    assert result.code == 1
    assert f"{PATH}:3:1: error KNOW305" in result.out
    assert "conflict marker" in know("index", "--no-vectors").err
    assert "narwhal" not in know("recall", "narwhal").out
    more = transcript(tmp_path / "more", [*MINE, user("later", 5)])
    assert know("archive", str(more)).code == 1
    assert b"know.bad" not in whole(in_conflict)
    assert know("merge", PATH).code == 0
    assert whole(in_conflict) == joined(tmp_path, MINE, THEIRS)
    assert know("check").code == 0
    assert know("archive", str(more)).code == 0
    assert "narwhal" in know("recall", "narwhal").out


@pytest.mark.parametrize("driver", [True, False], ids=["with the driver", "line by line"])
@pytest.mark.parametrize("how", ["merge", "rebase"])
def test_a_session_in_parts_is_joined_as_a_whole(know, repository, tmp_path, driver, how):
    attributes = "sessions/**/*.jsonl -text merge=know-session\n"
    (repository.root / ".gitattributes").write_text(attributes)
    if driver:
        install(repository)
    base = many(20, "base")
    mine, theirs = [*base, *many(30, "mine")], [*base, *many(33, "theirs")]
    part_ways(repository, tmp_path, base, mine, theirs, part_bytes=3000)
    git(repository.root, how, "other", check=False)
    assert "UU " in git(repository.root, "status", "--porcelain")
    result = know("merge")
    assert result.code == 0
    assert whole(repository) == joined(tmp_path, mine, theirs)
    added, goes_on = result.err.splitlines()[-2:]
    git(repository.root, *added.partition(": ")[2].split()[1:])
    assert goes_on == {"merge": "then: git commit", "rebase": "then: git rebase --continue"}[how]
    assert "U" not in git(repository.root, "status", "--porcelain")
    assert know("check").code == 0


def test_the_driver_takes_the_longer_part_where_one_only_grew(repository, tmp_path, monkeypatch):
    attributes = "sessions/**/*.jsonl -text merge=know-session\n"
    (repository.root / ".gitattributes").write_text(attributes)
    install(repository)
    base = many(20, "base")
    mine, theirs = [*base, *many(2, "same")], [*base, *many(30, "same")]
    part_ways(repository, tmp_path, base, mine, theirs, part_bytes=3000)
    git(repository.root, "merge", "--no-edit", "other")
    assert whole(repository) == jsonl(theirs)


def test_the_driver_joins_no_file_that_may_go_on_in_another(repository, tmp_path, monkeypatch):
    (repository.root / "know.toml").write_text("format = 1\n[archive]\npart_megabytes = 1\n")
    monkeypatch.chdir(repository.root)
    sides = [tmp_path / name for name in "oab"]
    for side, word in zip(sides, ("base", "mine", "theirs"), strict=True):
        side.write_bytes(jsonl(many(2500, word)))
    before = sides[1].read_bytes()
    assert main(["hook", "merge-session", *map(str, sides), PATH]) == 1
    assert sides[1].read_bytes() == before


@pytest.mark.parametrize("ours", ["forgot", "grew"])
def test_a_session_that_one_side_forgot_stays_forgotten(know, repository, tmp_path, ours):
    part_ways(repository, tmp_path, BASE, MINE, THEIRS)
    git(repository.root, "checkout", "-q", "other")
    know("forget", SESSION, "--yes")
    git(repository.root, "add", "-A")
    git(repository.root, "commit", "-qm", "forget")
    mine, other = ("other", "main") if ours == "forgot" else ("main", "other")
    git(repository.root, "checkout", "-q", mine)
    git(repository.root, "merge", other, check=False)
    assert "`know merge" in know("check").out
    result = know("merge")
    assert (result.code, result.out) == (0, f"claude/{SESSION}: stays forgotten\n")
    added = result.err.splitlines()[-2].partition(": ")[2].split()
    git(repository.root, *added[1:])
    git(repository.root, "commit", "--no-edit")
    assert git(repository.root, "ls-files", "sessions").split() == [
        PATH.replace(".jsonl", ".forgotten")
    ]
    assert git(repository.root, "status", "--porcelain") == ""
    assert know("check").code == 0


def test_a_session_that_one_side_deleted_by_hand_stays(know, repository, tmp_path):
    part_ways(repository, tmp_path, BASE, MINE, THEIRS)
    git(repository.root, "checkout", "-q", "other")
    git(repository.root, "rm", "-q", PATH)
    git(repository.root, "commit", "-qm", "delete")
    git(repository.root, "checkout", "-q", "main")
    git(repository.root, "merge", "other", check=False)
    assert know("merge").code == 0
    assert whole(repository) == jsonl(MINE)


def test_what_is_in_no_conflict_is_said_to_be_in_none(know, repository, tmp_path):
    list(archive(repository, [transcript(tmp_path / "a", BASE)]))
    result = know("merge", PATH)
    assert (result.code, "not in conflict" in result.err) == (1, True)
    assert know("merge", "concepts/a.md").code == 1
    assert whole(repository) == jsonl(BASE)


def test_a_linked_work_tree_has_its_own_conflicts(know, repository, tmp_path):
    part_ways(repository, tmp_path, many(20, "base"), [*many(20, "base"), *many(9, "mine")],
              [*many(20, "base"), *many(9, "theirs")], part_bytes=3000)  # fmt: skip
    linked = tmp_path / "linked"
    git(repository.root, "worktree", "add", "-q", str(linked), "-b", "third", "main")
    git(linked, "merge", "other", check=False)
    assert know("merge").err == "nothing is in conflict\n"
    assert know("merge", "--repo", str(linked)).code == 0
    content = whole(repository_at(linked))
    assert b"mine 8" in content
    assert b"theirs 8" in content
    assert all(path.stat().st_size for path in parts(linked / PATH))


# -- what was distilled -----------------------------------------------------------

LEDGER = "concepts/distilled.jsonl"
LINE = '{{"concept": "decisions/{0}", "statement": "{0}"}}\n'


def distilled(here: Repository, *names: str) -> None:
    (here.root / LEDGER).write_text("".join(map(LINE.format, names)))
    git(here.root, "add", "-A")
    git(here.root, "commit", "-qm", " ".join(names))


@pytest.mark.parametrize("style", ["merge", "diff3"])
@pytest.mark.parametrize("paths", [[], [LEDGER]])
def test_both_sides_of_what_was_distilled_are_joined(repository, monkeypatch, capsys, style, paths):
    monkeypatch.chdir(repository.root)
    distilled(repository, "m")
    git(repository.root, "checkout", "-qb", "other")
    distilled(repository, "k", "m", "n")
    git(repository.root, "checkout", "-q", "main")
    distilled(repository, "j", "m", "o")
    git(repository.root, "-c", f"merge.conflictStyle={style}", "merge", "other", check=False)
    assert "<<<<<<<" in (repository.root / LEDGER).read_text()
    assert main(["distill"]) == 1
    assert "`know merge` joins both sides" in capsys.readouterr().err
    assert main(["merge", *paths]) == 0
    told = capsys.readouterr()
    assert told.out == f"{LEDGER}: joined\n"
    assert f"git add -A -- {LEDGER}" in told.err
    assert (repository.root / LEDGER).read_text() == "".join(map(LINE.format, "jkmno"))
    git(repository.root, "add", "-A", "--", LEDGER)
    assert main(["distill"]) == 0
    assert main(["merge"]) == 0
    assert "nothing is in conflict" in capsys.readouterr().err


NOTE = f"sessions/claude/{SESSION}.project"
NOTES = [f'{{"name": "app", "project": "{host}/acme/app"}}\n' for host in ("one.test", "two.test")]


def note_both(here: Repository, folder: Path) -> None:
    """Make branches `main` and `other` that noted two projects of one session."""
    list(archive(here, [transcript(folder / "one", BASE)]))
    git(here.root, "add", "-A")
    git(here.root, "commit", "-qm", "base")
    git(here.root, "branch", "other")
    for branch, note in zip(("other", "main"), reversed(NOTES), strict=True):
        git(here.root, "checkout", "-q", branch)
        (here.root / NOTE).write_text(note)
        git(here.root, "add", "-A")
        git(here.root, "commit", "-qm", branch)


@pytest.mark.parametrize("to", ["main", "other"])
@pytest.mark.parametrize("driver", [True, False], ids=["with the driver", "line by line"])
def test_of_two_projects_of_a_session_one_is_kept_in_every_clone(
    know, repository, tmp_path, driver, to
):
    (repository.root / ".gitattributes").write_text(
        "sessions/**/*.project -text merge=know-project\n"
    )
    if driver:
        install(repository)
    note_both(repository, tmp_path)
    git(repository.root, "checkout", "-q", to)
    git(repository.root, "merge", "-q", "other" if to == "main" else "main", check=False)
    if not driver:
        result = know("check")
        assert result.code == 1
        assert f"{NOTE}:1:1: error KNOW302 in conflict; `know merge {PATH}`" in result.out
        assert f"git add -A -- {NOTE}\n" in know("merge").err
        git(repository.root, "add", "-A", "--", NOTE)
    assert (repository.root / NOTE).read_text() == NOTES[0]
    assert know("merge").err == "nothing is in conflict\n"
    assert know("check").code == 0


def test_a_note_that_was_committed_with_conflict_markers_is_mended(know, repository, tmp_path):
    note_both(repository, tmp_path)
    git(repository.root, "merge", "-q", "other", check=False)
    git(repository.root, "commit", "-qam", "markers and all")
    assert f"{NOTE}:1:1: error KNOW305" in know("check").out
    assert know("merge").code == 0
    assert (repository.root / NOTE).read_text() == NOTES[0]
    assert know("check").code == 0


@pytest.mark.parametrize("how", ["stash", "squash"])
def test_a_session_whose_project_is_noted_is_joined_though_no_merge_goes_on(
    know, repository, tmp_path, how
):
    (repository.sessions / "claude").mkdir()
    (repository.root / NOTE).write_text(NOTES[0])
    part_ways(repository, tmp_path, BASE, MINE, THEIRS)
    if how == "stash":
        git(repository.root, "reset", "-q", "--soft", "HEAD~1")
        git(repository.root, "stash", "-q")
        git(repository.root, "merge", "-q", "other")
        git(repository.root, "stash", "pop", check=False)
    else:
        git(repository.root, "merge", "--squash", "other", check=False)
    result = know("merge")
    assert (result.code, result.out) == (0, f"claude/{SESSION}: joined\n")
    assert whole(repository) == joined(tmp_path, MINE, THEIRS)
