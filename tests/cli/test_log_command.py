"""``know log`` as it is typed."""

from __future__ import annotations

from helpers import concept, git, write


def test_it_prints_and_writes_and_stages(know, repository, commit, monkeypatch):
    write(repository, "concepts/a.md", concept("A"))
    monkeypatch.setenv("GIT_AUTHOR_DATE", "2026-05-01T12:00:00Z")
    commit()
    assert know("log").out == "## 2026-05-01\n\n* **Creation** [A](a.md)\n"
    assert not (repository.concepts / "log.md").exists()
    assert "no commit" in know("log", "--since", "2026-06").err
    assert know("log", "--since", "2026-05").out.startswith("## 2026-05-01")
    assert know("log", "--write").out == "concepts/log.md: written\n"
    assert "concepts/log.md" in git(repository.root, "diff", "--cached", "--name-only")
    assert know("log", "--write").out == "concepts/log.md: up to date\n"
    assert know("check", "--strict").code == 0


def test_edits_of_a_person_are_theirs_to_stage(know, repository, commit):
    write(repository, "concepts/a.md", concept("A"))
    write(repository, "concepts/log.md", "# Log\n")
    commit()
    write(repository, "concepts/log.md", "# My log\n", stage=False)
    assert "git add concepts/log.md" in know("log", "--write").err
    assert "My log" not in git(repository.root, "show", ":concepts/log.md")
    assert "# My log" in (repository.concepts / "log.md").read_text()


def test_a_log_in_conflict_waits(know, repository, commit):
    for branch, base in (("one", "main"), ("two", "main")):
        git(repository.root, "checkout", "-q", "--orphan", branch)
        write(repository, "concepts/log.md", f"# {branch} {base}\n")
        git(repository.root, "commit", "-qm", "x")
    git(repository.root, "merge", "--allow-unrelated-histories", "one", check=False)
    result = know("log", "--write")
    assert result.code == 1
    assert "concepts/log.md: in conflict" in result.err


def test_before_the_first_commit_there_is_nothing(know, repository):
    assert know("log").code == 0
    assert "nothing to write" in know("log", "--write").out
    assert not (repository.concepts / "log.md").exists()
    assert know("log", "--write", "--since", "7d").code == 2


def test_a_log_that_was_written_and_never_staged_is_staged_by_the_next_run(
    know, repository, commit
):
    write(repository, "concepts/a.md", concept("A"))
    commit()
    know("log", "--write")
    git(repository.root, "rm", "-q", "--cached", "concepts/log.md")
    assert know("log", "--write").out == "concepts/log.md: staged\n"
    assert "A  concepts/log.md" in git(repository.root, "status", "--porcelain")
