"""What is typed becomes a concept: whose it is, what it is called, and where it lies."""

from __future__ import annotations

import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from helpers import concept, git, make_repository, unprivileged, write
from knowrepo.concepts.checking.validate import check
from knowrepo.concepts.document import parse
from knowrepo.concepts.kinds import TYPES
from knowrepo.concepts.model import read_concept
from knowrepo.concepts.writing import create, templates
from knowrepo.concepts.writing.create import (
    Author,
    alike,
    author,
    finished,
    form,
    found_title,
    near_type,
)
from knowrepo.errors import KnowError, UsageError

JANE = Author("human:Jane")
AT = "2026-05-01T10:00:00Z"


def read(data: bytes):
    return read_concept("concepts/x.md", data)


def test_a_person_is_whom_git_knows():
    assert author("Jane  Doe", "", {}) == Author("human:Jane Doe")
    with pytest.raises(KnowError, match="git does not know your name"):
        author("", "", {})


def test_an_agent_says_so_or_its_environment_does():
    assert author("Jane", "claude-code/2.1", {}).actor == "claude-code/2.1"
    assert author("", "", {"CLAUDECODE": "1"}).actor == "claude-code/unknown"
    assert author("Jane", "", {"AI_AGENT": "devin@1"}).actor == "devin/1"
    assert author("Jane", "", {"AI_AGENT": "claude-code/2.1/agent"}).actor == "claude-code/2.1"
    assert author("Jane", "", {"AI_AGENT": "\x1b[31m"}).actor == "31m/unknown"
    assert author("Jane", "", {"AI_AGENT": "//"}).actor == "agent/unknown"
    assert not author("Jane", "", {"CURSOR_AGENT": "1"}).is_human


@pytest.mark.parametrize("by", ["human:me", "claude", "/", "a/", "a b/1", "process:x"])
def test_nobody_else_speaks_as_a_person(by):
    with pytest.raises(UsageError):
        author("Jane", by, {})


def test_every_type_of_ours_has_a_template_in_the_same_order():
    assert tuple(templates.TEMPLATES) == TYPES


@pytest.mark.parametrize("kind", [*TYPES, "Runbook"])
def test_a_form_conforms_and_asks_only_in_comments(kind):
    data = form(kind, "A: title", ["one"], JANE, AT)
    found = check({"concepts/x.md": data}, lambda _: True)
    assert [finding.code for finding in found] == ["OKF276"]  # a description is to be filled in
    front = parse(data).front
    assert front["status"] == "draft"
    assert front["generated"] == {"by": "human:Jane", "at": AT}
    lines = parse(data).body.split("\n")
    assert all(not line or line.startswith(("# ", "<!-- ")) for line in lines)


def test_a_form_has_blanks_to_fill_in():
    block = form("Decision", "T", [], JANE, AT).decode()
    assert 'description: ""\ntags: []\n' in block


def test_what_a_person_says_is_theirs_and_what_a_machine_says_is_a_draft():
    _, mine = finished("Use tabs.", "Preference", JANE, AT)
    _, its = finished("Use tabs.", "Preference", Author("bot/1"), AT)
    assert (read(mine).status, read(its).status) == ("stable", "draft")
    assert b"verified" not in mine + its


@pytest.mark.parametrize(
    ("text", "title", "description"),
    [
        ("Releases are cut on Tuesdays.", "Releases are cut on Tuesdays",
         "Releases are cut on Tuesdays."),
        ("Tabs win. They are narrower, e.g. on a phone. More.", "Tabs win",
         "They are narrower, e.g. on a phone."),
        ("# Why it broke\n\nThe cache was cold.", "Why it broke", "The cache was cold."),
        ("- first thing\n- second", "first thing", "second"),
        ("One line\nthat goes on. Next.", "One line that goes on", "Next."),
        ("缓存失效。重新加载。", "缓存失效", "重新加载。"),
        ("Is it v1.2? Yes.", "Is it v1.2?", "Yes."),
        ("```\nmake all\n```", "``` make all ```", "``` make all ```"),
    ],
)  # fmt: skip
def test_a_title_and_a_sentence_are_found_in_a_text(text, title, description):
    called, data = finished(text, "Failure", JANE, AT)
    assert (called, read(data).description) == (title, description)
    assert read(data).title == title


def test_a_long_sentence_is_cut_at_a_word_and_stands_whole_in_the_description():
    text = "The storage service drops " + "about one upload " * 8 + "a day."
    assert len(found_title(text)) <= 80
    assert found_title(text).endswith(("upload…", "one…", "about…"))
    _, data = finished(text, "Failure", JANE, AT)
    assert read(data).description == text


@given(st.text(st.characters(exclude_categories=["Cs", "Cc"]), min_size=1))
def test_any_text_gives_a_concept_that_says_it(text):
    called, data = finished(text, "X", JANE, AT)
    assert len(called) <= 80
    assert "\n" not in called
    assert parse(data).body.strip("\n") == text.strip("\n")


def test_what_says_the_same_is_found_whatever_its_case_and_marks():
    texts = (concept("Use Tabs!", aliases="[indenting]"), concept("B", body="One, two: *three*."))
    there = [read_concept(f"concepts/{n}.md", text.encode()) for n, text in enumerate(texts)]
    assert alike(there, "use tabs", "other") == there[0]
    assert alike(there, "Indenting", "other") == there[0]
    assert alike(there, "C", "one two THREE") == there[1]
    assert alike(there, "C", "one two") is None
    assert alike(there, "🎉", "🎉") is None


def test_a_slip_in_a_type_is_noticed_and_a_type_in_use_is_none():
    assert near_type("Decison", []) == "Decision"
    assert near_type("Runbok", ["Runbook"]) == "Runbook"
    assert near_type("Runbook", ["Runbook"]) == ""
    assert near_type("Metric", []) == ""


def test_a_name_that_is_taken_anywhere_is_not_taken_again(repository):
    write(repository, "concepts/decisions/a-title.md", concept())
    git(repository.root, "commit", "-qm", "x")
    (repository.concepts / "decisions" / "a-title.md").unlink()  # git still knows it
    (repository.concepts / "decisions" / "A-Title-2.md").write_text("x")
    assert create.place(repository, "Decision", "A title", b"x") == (
        "concepts/decisions/a-title-3.md"
    )


def test_many_at_once_take_no_name_twice(repository):
    def one(number: int) -> str:
        return create.place(repository, "Decision", "The same", str(number).encode())

    with ThreadPoolExecutor(8) as pool:
        paths = list(pool.map(one, range(24)))
    assert len(set(paths)) == 24
    said = sorted(int((repository.root / path).read_bytes()) for path in paths)
    assert said == list(range(24))


def test_nothing_is_written_outside_or_through_a_file(repository, tmp_path):
    outside = tmp_path / "outside"
    outside.mkdir()
    (repository.concepts / "decisions").symlink_to(outside)
    with pytest.raises(KnowError, match="leads out of the repository"):
        create.place(repository, "Decision", "x", b"x")
    assert list(outside.iterdir()) == []
    (repository.concepts / "failures").write_text("a file")
    with pytest.raises(KnowError, match="its folder is a file"):
        create.place(repository, "Failure", "x", b"x")


def test_a_folder_without_permission_is_named(monkeypatch):
    config = {"COUNT": "1", "KEY_0": "safe.directory", "VALUE_0": "*"}
    for key, value in config.items():
        monkeypatch.setenv(f"GIT_CONFIG_{key}", value)
    monkeypatch.delenv("GIT_CONFIG_GLOBAL")
    monkeypatch.setenv("HOME", "/")
    with tempfile.TemporaryDirectory() as folder:  # pytest's own is closed to others
        Path(folder).chmod(0o755)
        repository = make_repository(Path(folder) / "memory")
        repository.concepts.chmod(0o555)
        with unprivileged(), pytest.raises(KnowError) as error:
            create.place(repository, "Decision", "A", b"x")
        repository.concepts.chmod(0o755)
    assert error.value.message == "concepts/decisions/a.md: cannot be written: Permission denied"
