"""What a command may do to the work tree and git's index, with real git."""

from __future__ import annotations

import errno
import subprocess
import sys
import threading
from pathlib import Path

import pytest
from filelock import FileLock

from helpers import concept, git, part_ways, write
from knowrepo.concepts import bundle
from knowrepo.concepts.keeping import keep
from knowrepo.config import write_atomically
from knowrepo.errors import KnowError
from knowrepo.git import plumbing

GENERATED = ("concepts/index.md", "concepts/tag_index.jsonl")


def in_index(repository, path: str) -> str:
    return git(repository.root, "show", f":{path}")


def agrees_with_itself(repository, tmp_path) -> bool:
    """Say whether a checkout of git's index has the generated files that follow from it."""
    out = tmp_path / "checkout"
    git(repository.root, "checkout-index", "-a", f"--prefix={out}/")
    git(out, "init", "-q")
    git(out, "add", "-A")
    from knowrepo.git.layout import repository_at

    return not any(file.is_wrong for file in bundle.generated_files(repository_at(out)))


@pytest.fixture
def built(repository, commit):
    write(repository, "concepts/a.md", concept("A", tags=["git"]))
    keep(repository, {})
    commit()


def test_a_new_file_is_staged_with_what_is_generated(repository, built, tmp_path):
    kept = keep(repository, {"concepts/x/b.md": concept("B").encode()})
    assert kept.staged == ("concepts/x/b.md", *GENERATED)
    assert kept.unstaged == ()
    assert git(repository.root, "status", "--porcelain").split("\n")[:3] == [
        "M  concepts/index.md", "M  concepts/tag_index.jsonl", "A  concepts/x/b.md",
    ]  # fmt: skip
    assert agrees_with_itself(repository, tmp_path)


def test_what_a_person_has_begun_to_edit_is_theirs_to_stage(repository, built, tmp_path):
    write(repository, "concepts/a.md", concept("Begun"), stage=False)
    kept = keep(repository, {"concepts/a.md": concept("Begun", body="ours").encode()})
    assert kept.unstaged == ("concepts/a.md",)
    assert "Begun" not in in_index(repository, "concepts/a.md")
    assert agrees_with_itself(repository, tmp_path)


def test_the_next_commit_agrees_with_itself_while_another_concept_is_edited(
    repository, built, tmp_path
):
    write(repository, "concepts/a.md", concept("Edited", tags=["later"]), stage=False)
    write(repository, "concepts/draft.md", concept("Draft"), stage=False)
    keep(repository, {"concepts/b.md": concept("B", tags=["new"]).encode()})
    assert "Edited" in (repository.concepts / "index.md").read_text()
    assert "Edited" not in in_index(repository, "concepts/index.md")
    assert '"new"' in in_index(repository, "concepts/tag_index.jsonl")
    assert "later" not in in_index(repository, "concepts/tag_index.jsonl")
    assert agrees_with_itself(repository, tmp_path)
    assert not any(file.stale for file in bundle.generated_files(repository))


def test_so_it_does_while_another_concept_is_deleted(repository, built, tmp_path):
    (repository.concepts / "a.md").unlink()
    keep(repository, {"concepts/b.md": concept("B").encode()})
    assert "(a.md)" not in (repository.concepts / "index.md").read_text()
    assert "(a.md)" in in_index(repository, "concepts/index.md")
    assert agrees_with_itself(repository, tmp_path)


def test_generated_files_that_were_built_and_not_staged_are_staged(repository, built, tmp_path):
    write(repository, "concepts/b.md", concept("B"))
    bundle.write_generated(repository)
    kept = keep(repository, {"concepts/c.md": concept("C").encode()})
    assert set(GENERATED) <= set(kept.staged)
    assert agrees_with_itself(repository, tmp_path)
    (tmp_path / "checkout").rename(tmp_path / "before")
    write(repository, "concepts/d.md", concept("D"))
    bundle.write_generated(repository)
    kept = keep(repository, {})
    assert kept.staged == GENERATED
    assert agrees_with_itself(repository, tmp_path)


def test_an_index_of_a_folder_comes_with_what_is_kept_and_lists_nothing_without_it(
    repository, built, tmp_path
):
    kept = keep(repository, {"concepts/x/y/b.md": concept("B").encode()})
    assert "concepts/x/index.md" in kept.staged
    assert "(x/)" in in_index(repository, "concepts/index.md")
    write(repository, "concepts/a.md", concept("Edited"), stage=False)
    kept = keep(repository, {}, removed=["concepts/x/y/b.md"])
    assert "concepts/x/index.md" in kept.staged
    assert "(x/)" not in in_index(repository, "concepts/index.md")
    assert "y/b" not in in_index(repository, "concepts/x/index.md")
    assert agrees_with_itself(repository, tmp_path)


def test_an_index_that_a_person_wrote_is_not_staged(repository, commit, tmp_path):
    write(repository, "concepts/index.md", "# Mine\n")
    commit()
    write(repository, "concepts/index.md", "# Mine, more\n", stage=False)
    kept = keep(repository, {"concepts/b.md": concept("B").encode()})
    assert kept.staged == ("concepts/b.md", "concepts/tag_index.jsonl")
    assert in_index(repository, "concepts/index.md") == "# Mine\n"
    assert agrees_with_itself(repository, tmp_path)


def test_in_a_folder_below_the_top_too(repository, tmp_path):
    from knowrepo.git.layout import repository_at

    inner = repository.root / "in ner"
    (inner / "concepts").mkdir(parents=True)
    (inner / "know.toml").write_text("format = 1\n")
    below = repository_at(inner)
    keep(below, {"concepts/a.md": concept("A").encode()})
    git(inner, "commit", "-qm", "x")
    write(below, "concepts/a.md", concept("Edited"), stage=False)
    keep(below, {"concepts/b.md": concept("B").encode()})
    assert git(inner, "show", ":./concepts/index.md").count("* [") == 2
    assert "Edited" not in git(inner, "show", ":./concepts/index.md")


def test_in_conflict_nothing_is_touched(repository):
    part_ways(repository)
    git(repository.root, "merge", "-q", "one", check=False)
    before = git(repository.root, "status", "--porcelain")
    with pytest.raises(KnowError, match="in conflict"):
        keep(repository, {"concepts/b.md": b"x"}, removed=["concepts/a.md"])
    assert git(repository.root, "status", "--porcelain") == before


def test_a_conflict_in_what_is_generated_is_solved_by_building_it(repository, built, tmp_path):
    for branch in ("one", "two"):
        git(repository.root, "checkout", "-q", "-B", branch, "main")
        keep(repository, {f"concepts/{branch}.md": concept("Same place").encode()})
        git(repository.root, "commit", "-qm", branch)
    git(repository.root, "merge", "-q", "one", check=False)
    assert "UU concepts/index.md" in git(repository.root, "status", "--porcelain")
    keep(repository, {})
    assert git(repository.root, "ls-files", "--unmerged") == ""
    assert "<<<<" not in in_index(repository, "concepts/index.md")
    assert agrees_with_itself(repository, tmp_path)


def test_a_second_process_waits_until_the_first_has_staged(repository, built):
    with FileLock(repository.locks / "keeping.lock"):
        other = threading.Thread(
            target=keep, args=(repository, {"concepts/b.md": concept("B").encode()}), daemon=True
        )
        other.start()
        other.join(timeout=0.3)
        assert other.is_alive()
        assert not (repository.root / "concepts/b.md").exists()
    other.join()
    assert "B" in in_index(repository, "concepts/index.md")


def test_another_git_at_work_is_waited_for(repository, built, monkeypatch):
    lock = repository.git_dir / "index.lock"
    lock.touch()
    waited: list[float] = []

    def wait(seconds: float) -> None:
        waited.append(seconds)
        if len(waited) == 2:
            lock.unlink()

    monkeypatch.setattr(plumbing.time, "sleep", wait)
    keep(repository, {"concepts/b.md": concept("B").encode()})
    assert len(waited) == 2
    assert "B" in in_index(repository, "concepts/index.md")


def test_a_lock_that_a_crash_left_is_named_with_what_to_do(repository, built, monkeypatch):
    (repository.git_dir / "index.lock").touch()
    monkeypatch.setattr(plumbing.time, "sleep", lambda _: None)
    with pytest.raises(KnowError) as caught:
        keep(repository, {"concepts/b.md": concept("B").encode()})
    assert "index.lock" in caught.value.message
    assert "remove that file" in caught.value.hint


def test_a_process_that_is_killed_leaves_nothing_that_git_would_add(built, repository):
    program = """
import os, sys
from pathlib import Path
from knowrepo.concepts.keeping import keep
from knowrepo.git.layout import repository_at
Path.replace = lambda self, target: os._exit(9)  # all is written, and not yet in place
keep(repository_at(Path(sys.argv[1])), {"concepts/b.md": b"---\\ntype: X\\n---\\n"})
"""
    done = subprocess.run([sys.executable, "-c", program, str(repository.root)], check=False)
    assert done.returncode == 9
    assert git(repository.root, "status", "--porcelain", "--ignored") == ""


def test_what_cannot_be_moved_from_another_disk_is_made_in_its_place(tmp_path, monkeypatch):
    aside, real = tmp_path / "aside", Path.replace
    aside.mkdir()

    def replace(self: Path, target: Path) -> Path:
        if self.parent == aside:
            raise OSError(errno.EXDEV, "Invalid cross-device link")
        return real(self, target)

    monkeypatch.setattr(Path, "replace", replace)
    write_atomically(tmp_path / "a", b"new", aside=aside)
    assert (tmp_path / "a").read_bytes() == b"new"
    assert sorted(path.name for path in tmp_path.rglob("*")) == ["a", "aside"]
