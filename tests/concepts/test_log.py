"""The log of the bundle: what history says, in a file in which people write too."""

from __future__ import annotations

import subprocess

import pytest

from helpers import concept, git, write
from knowrepo.concepts.checking.validate import check
from knowrepo.concepts.writing import log
from knowrepo.concepts.writing.log_file import LOG, MARK, updated
from knowrepo.errors import KnowError


@pytest.fixture
def on(repository, monkeypatch):
    """Commit what is staged and changed, with the date of its author."""

    def commit(date: str) -> None:
        monkeypatch.setenv("GIT_AUTHOR_DATE", date if "T" in date else f"{date}T12:00:00Z")
        git(repository.root, "add", "-A")
        git(repository.root, "commit", "-qm", "x", "--allow-empty")

    return commit


def told(repository) -> list[tuple[str, str, str]]:
    return [(entry.day, entry.kind, entry.path.removeprefix("concepts/"))
            for entry in log.entries(repository)]  # fmt: skip


def keep(repository) -> str:
    """Bring the log up to date; returns it."""
    path = repository.root / LOG
    path.write_bytes(updated(repository, path.read_bytes() if path.exists() else b""))
    return path.read_text()


def test_each_day_says_what_became_of_a_concept(repository, on):
    write(repository, "concepts/a.md", concept("A"))
    write(repository, "concepts/b.md", concept("B"))
    on("2026-05-01")
    write(repository, "concepts/a.md", concept("A", body="more"))
    write(repository, "concepts/a.md", concept("A", body="and more"))
    write(repository, "concepts/c.md", concept("C"))
    on("2026-05-02")
    write(repository, "concepts/c.md", concept("C", body="the same day"))
    write(repository, "concepts/b.md", concept("B", status="deprecated"))
    on("2026-05-02")
    git(repository.root, "rm", "-q", "concepts/a.md")
    write(repository, "concepts/b.md", concept("B", status="deprecated", body="still"))
    on("2026-05-03")
    assert told(repository) == [
        ("2026-05-03", "Update", "b.md"), ("2026-05-03", "Removal", "a.md"),
        ("2026-05-02", "Creation", "c.md"), ("2026-05-02", "Update", "a.md"),
        ("2026-05-02", "Deprecation", "b.md"),
        ("2026-05-01", "Creation", "a.md"), ("2026-05-01", "Creation", "b.md"),
    ]  # fmt: skip


def test_what_came_and_went_on_a_day_is_not_told_and_what_came_back_is_no_creation(repository, on):
    write(repository, "concepts/a.md", concept("A"))
    write(repository, "concepts/b.md", concept("B"))
    on("2026-05-01")
    git(repository.root, "rm", "-q", "concepts/a.md")
    git(repository.root, "rm", "-q", "concepts/b.md")
    on("2026-05-01")
    write(repository, "concepts/b.md", concept("B again"))
    on("2026-05-02")
    git(repository.root, "rm", "-q", "concepts/b.md")
    on("2026-05-03")
    write(repository, "concepts/b.md", concept("B once more"))
    on("2026-05-04")
    assert [(day, kind) for day, kind, path in told(repository) if path == "b.md"] == [
        ("2026-05-04", "Update"), ("2026-05-03", "Removal"), ("2026-05-02", "Update"),
        ("2026-05-01", "Creation"),
    ]  # fmt: skip
    assert not [path for _, _, path in told(repository) if path == "a.md"]


def test_a_day_is_the_authors_in_utc_and_neither_zone_nor_configuration_changes_it(
    repository, on, monkeypatch
):
    write(repository, "concepts/a.md", concept())
    on("2026-05-01T23:30:00-0700")
    for key, value in (("log.showSignature", "true"), ("diff.renames", "copies"),
                       ("log.date", "relative"), ("diff.noprefix", "true")):  # fmt: skip
        git(repository.root, "config", key, value)
    monkeypatch.setenv("TZ", "America/Los_Angeles")
    monkeypatch.setenv("GIT_COMMITTER_DATE", "2027-01-01T00:00:00Z")
    assert told(repository) == [("2026-05-02", "Creation", "a.md")]


@pytest.mark.parametrize(
    ("date", "day"),
    [
        ("1777600000 +5130", "2026-05-01"),
        ("99999999999999999 +0000", "1970-01-01"),
        ("soon", "1970-01-01"),
    ],
)
def test_a_commit_with_an_odd_date_stops_nothing(repository, date, day):
    write(repository, "concepts/a.md", concept())
    tree = git(repository.root, "write-tree").strip()
    raw = (
        f"tree {tree}\nauthor A <a@example.org> {date}\ncommitter A <a@example.org> 1 +0000\n\nx\n"
    )
    made = subprocess.run(
        ["git", "hash-object", "-t", "commit", "-w", "--stdin", "--literally"],
        cwd=repository.root, input=raw.encode(), capture_output=True, check=True,
    )  # fmt: skip
    git(repository.root, "reset", "-q", "--soft", made.stdout.decode().strip())
    assert told(repository) == [(day, "Creation", "a.md")]


def test_an_entry_links_to_what_is_there_and_names_what_is_not(repository, on):
    write(repository, "concepts/a [1].md", concept("A *b*", description='"One sentence."'))
    write(repository, "concepts/b.md", concept("B"))
    on("2026-05-01")
    git(repository.root, "rm", "-q", "concepts/b.md")
    on("2026-05-02")
    assert [entry.text for entry in log.entries(repository)] == [
        "* **Removal** B (`b.md`)",
        "* **Creation** [A \\*b\\*](a%20%5B1%5D.md): One sentence.",
        "* **Creation** B (`b.md`)",
    ]
    data = keep(repository).encode()
    assert check({LOG: data}, lambda path: (repository.root / path).exists()) == []


def test_a_new_log_begins_with_everything_and_a_second_run_changes_nothing(repository, on):
    write(repository, "concepts/a.md", concept("A"))
    on("2026-05-01")
    first = keep(repository)
    assert first == f"# Log\n\n{MARK}\n\n## 2026-05-01\n\n* **Creation** [A](a.md)\n"
    assert keep(repository) == first
    on("2026-05-02")  # the log itself is no concept
    assert keep(repository) == first
    write(repository, "concepts/b.md", concept("B"))
    on("2026-05-03")
    assert keep(repository) == first.replace(
        "## 2026-05-01", "## 2026-05-03\n\n* **Creation** [B](b.md)\n\n## 2026-05-01"
    )


def test_a_link_to_what_is_gone_becomes_a_name_and_the_entry_stays(repository, on):
    write(repository, "concepts/a b.md", concept("A [1]", description='"One."'))
    on("2026-05-01")
    keep(repository)
    on("2026-05-01")
    git(repository.root, "mv", "concepts/a b.md", "concepts/c.md")
    on("2026-05-02")
    entries = [line for line in keep(repository).splitlines() if line.startswith("* ")]
    assert entries == [
        "* **Creation** [A \\[1\\]](c.md): One.",
        "* **Removal** A \\[1\\] (`a b.md`): One.",
        "* **Creation** A \\[1\\] (`a b.md`): One.",
    ]
    assert keep(repository).splitlines()[-1] == entries[-1]


HAND_WRITTEN = """\
---
type: Log
---

# History of this bundle

Some words.

## 2026-06-01
* **Update**: Rewrote [A](/a.md) by hand.
- a remark

```
## 2026-05-15
```

## 2026-04-01
* **Initialization**: It began.

# Notes

Last line without an end"""


@pytest.mark.parametrize("newline", ["\n", "\r\n"])
def test_every_line_of_a_person_stays_in_its_order(repository, on, newline):
    write(repository, "concepts/a.md", concept("A"))
    on("2026-05-01")
    write(repository, "concepts/a.md", concept("A", body="x"))
    write(repository, "concepts/b.md", concept("B"))
    on("2026-06-01")
    write(repository, "concepts/b.md", concept("B", body="x"))
    on("2026-07-01")
    write(repository, "concepts/c.md", concept("C"))
    on("2026-03-01")
    path = repository.root / LOG
    path.write_bytes(HAND_WRITTEN.replace("\n", newline).encode())
    keep(repository)
    after = path.read_bytes().decode()
    assert after.count("\n") == after.count(newline)
    lines = iter(after.split(newline))
    assert all(line in lines for line in HAND_WRITTEN.split("\n"))  # in their order
    days = [line[3:] for line in after.split(newline) if line.startswith("## 20")]
    assert days == ["2026-07-01", "2026-06-01", "2026-05-15", "2026-05-01", "2026-04-01",
                    "2026-03-01"]  # fmt: skip
    assert after.count("**Update**") == 2  # that of A was told by hand
    assert after.index("- a remark") < after.rindex("[B](b.md)") < after.index("## 2026-04-01")
    assert keep(repository) == path.read_text()


def test_what_a_person_took_out_does_not_come_back(repository, on):
    for name, day in (("a", "2026-05-01"), ("b", "2026-05-02")):
        write(repository, f"concepts/{name}.md", concept(name))
        on(day)
    text = keep(repository).replace("* **Creation** [a](a.md)\n", "")
    (repository.root / LOG).write_text(text)
    on("2026-05-03")
    assert keep(repository) == text


def test_a_title_that_a_person_mended_is_not_written_again(repository, on):
    write(repository, "concepts/a.md", concept("A"))
    on("2026-05-01")
    text = keep(repository).replace("[A]", "[A better title]")
    (repository.root / LOG).write_text(text)
    assert keep(repository) == text


def test_a_branch_that_comes_in_late_is_told_although_its_days_are_past(repository, on):
    write(repository, "concepts/a.md", concept("A"))
    on("2026-05-01")
    git(repository.root, "checkout", "-qb", "late")
    write(repository, "concepts/late.md", concept("Late"))
    on("2026-05-02")
    git(repository.root, "checkout", "-q", "main")
    write(repository, "concepts/b.md", concept("B"))
    on("2026-05-09")
    keep(repository)
    on("2026-05-09")
    git(repository.root, "merge", "-q", "--no-edit", "late")
    assert "## 2026-05-02\n\n* **Creation** [Late](late.md)" in keep(repository)


def test_two_branches_that_both_wrote_it_end_in_one_log(repository, on):
    write(repository, "concepts/base.md", concept("Base"))
    on("2026-05-01")
    for branch in ("one", "two"):
        git(repository.root, "checkout", "-q", "-B", branch, "main")
        write(repository, f"concepts/{branch}.md", concept(branch))
        on("2026-05-02")
        keep(repository)
        on("2026-05-03")
    git(repository.root, "merge", "-q", "one", check=False)
    ours, theirs = (git(repository.root, "show", f"{name}:{LOG}") for name in ("two", "one"))
    (repository.root / LOG).write_text(ours + theirs)  # a person keeps both sides
    on("2026-05-03")
    after = keep(repository)
    entries = [line for line in after.splitlines() if line.startswith("* ")]
    assert entries == ["* **Creation** [two](two.md)", "* **Creation** [one](one.md)",
                       "* **Creation** [Base](base.md)"]  # fmt: skip
    assert after.count("## 2026-05-02") == after.count("## 2026-05-01") == 1
    assert keep(repository) == after


def test_a_clone_writes_the_same_bytes(repository, on, tmp_path):
    for name, day in (("a", "2026-05-01"), ("ä b", "2026-05-02")):
        write(repository, f"concepts/{name}.md", concept(name))
        on(day)
    subprocess.run(["git", "clone", "-q", repository.root, tmp_path / "clone"], check=True)
    from knowrepo.git.layout import repository_at

    assert updated(repository_at(tmp_path / "clone"), b"") == updated(repository, b"")


def test_a_shallow_clone_does_not_guess(repository, on, tmp_path):
    for name in ("a", "b"):
        write(repository, f"concepts/{name}.md", concept(name))
        on("2026-05-01")
    clone = tmp_path / "clone"
    git(tmp_path, "clone", "-q", "--depth", "1", repository.root.as_uri(), str(clone))
    from knowrepo.git.layout import repository_at

    with pytest.raises(KnowError, match="shallow"):
        updated(repository_at(clone), b"")


def test_without_a_commit_there_is_nothing_to_tell(repository):
    write(repository, "concepts/a.md", concept())
    assert log.entries(repository) == []
    assert updated(repository, b"") == b""
    assert updated(repository, b"# Mine\n") == b"# Mine\n"


def test_a_log_that_is_not_utf_8_is_left_alone(repository):
    with pytest.raises(KnowError, match="not UTF-8"):
        updated(repository, b"\xff\xfe")


def test_a_knowledge_repository_below_the_top_tells_its_own(tmp_path, monkeypatch):
    from helpers import make_repository
    from knowrepo.git.layout import repository_at

    outer = make_repository(tmp_path / "outer")
    inner = outer.root / "inner"
    (inner / "concepts").mkdir(parents=True)
    (inner / "know.toml").write_text("format = 1\n")
    (inner / "concepts" / "x.md").write_text(concept("X"))
    (outer.concepts / "y.md").write_text(concept("Y"))
    monkeypatch.setenv("GIT_AUTHOR_DATE", "2026-05-01T12:00:00Z")
    git(outer.root, "add", "-A")
    git(outer.root, "commit", "-qm", "x")
    assert told(repository_at(inner)) == [("2026-05-01", "Creation", "x.md")]
