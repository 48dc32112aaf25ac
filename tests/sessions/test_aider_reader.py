from __future__ import annotations

from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from unpacking import agent_of, grows_the_same, only, unpacked

START = "\n# aider chat started at 2026-06-09 14:01:00\n\n"
BANNER = "> aider --model sonnet  \n> Aider v0.86.1  \n> Git repo: .git with 4 files  \n"


def history(folder: Path, text: str) -> Path:
    path = folder / ".aider.chat.history.md"
    path.write_text(text, encoding="utf-8")
    return path


def turns(path: Path) -> list[tuple[str, str]]:
    records, _ = only(path)
    return [(record.role, record.text) for record in records[1:]]


def test_who_said_what(tmp_path):
    path = history(
        tmp_path,
        START + BANNER + "\n#### make it faster  \n#### and smaller  \n\n"
        "Done.\n\n```py\nx = 1\n```\n\n> Tokens: 2k sent.  \n> Applied edit to a.py  \n",
    )
    assert turns(path) == [
        ("tool", "aider --model sonnet\nAider v0.86.1\nGit repo: .git with 4 files"),
        ("user", "make it faster\nand smaller"),
        ("assistant", "Done.\n\n```py\nx = 1\n```"),
        ("tool", "Tokens: 2k sent.\nApplied edit to a.py"),
    ]


def test_headings_and_quotes_in_an_answer_are_the_models(tmp_path):
    path = history(
        tmp_path,
        START
        + "#### plan it  \n\nThe plan.\n\n#### Step 1\n\n> as you said\n\nDo it.\n\n#### go  \n",
    )
    assert turns(path) == [
        ("user", "plan it"),
        ("assistant", "The plan.\n\n#### Step 1\n\n> as you said\n\nDo it."),
        ("user", "go"),
    ]


def test_where_an_editor_took_the_spaces_at_line_ends_away_marks_count_as_they_look(tmp_path):
    path = history(
        tmp_path,
        START
        + "#### plan it\nHere it is:\n\n#### Step 1\nDo it.\n\n> Applied edit to a\n\n#### go\n",
    )
    assert turns(path) == [
        ("user", "plan it"),
        ("assistant", "Here it is:\n\n#### Step 1\nDo it."),
        ("tool", "Applied edit to a"),
        ("user", "go"),
    ]


def test_inputs_with_a_blank_line_between_are_two(tmp_path):
    path = history(tmp_path, START + "#### /add a.py  \n\n#### fix it  \n")
    assert turns(path) == [("user", "/add a.py"), ("user", "fix it")]


def test_answers_to_aiders_questions_are_no_words_of_the_user(tmp_path):
    path = history(tmp_path, START + "#### fix it  \n\n#### y  \n\n#### <blank>  \n")
    assert [role for role, _ in turns(path)] == ["user", "system", "system"]


def test_one_file_holds_many_sessions(tmp_path):
    path = history(
        tmp_path,
        START + "#### one  \n" + START + "#### two  \n" + START + "#### two  \n"
        + START.replace("14:01", "15:30") + BANNER,
    )  # fmt: skip
    sessions = unpacked(path)
    first_lines = [facts.first_user_line for _, facts in sessions.values()]
    assert first_lines == ["one", "two", "two"]  # the last says nothing yet
    assert all(name.startswith("20260609T140100-") for name in sessions)


def test_the_facts_of_a_session(tmp_path):
    (tmp_path / ".git").mkdir()
    _, facts = only(history(tmp_path, START + "#### make it faster  \n"))
    assert facts.title == facts.first_user_line == "make it faster"
    assert facts.date == "2026-06-09T14:01:00"
    assert facts.project == str(tmp_path)
    (tmp_path / ".git").rmdir()
    _, facts = only(tmp_path / ".aider.chat.history.md")
    assert facts.project == ""


def test_a_history_is_told_by_its_first_line(tmp_path):
    assert agent_of(history(tmp_path, "﻿" + START + "#### hi  \n")) == "aider"
    assert agent_of(history(tmp_path, "Notes\n" + START)) == ""
    assert agent_of(history(tmp_path, "# aider chat started at noon\n")) == ""
    assert agent_of(history(tmp_path, "")) == ""


def test_lines_of_windows_and_bytes_that_are_no_text_do_no_harm(tmp_path):
    path = tmp_path / "history.md"
    path.write_bytes((START + "#### caf\xe9  \n\nYes.\n").replace("\n", "\r\n").encode("latin-1"))
    assert turns(path) == [("user", "caf\ufffd"), ("assistant", "Yes.")]


WHOLE = (
    START + BANNER + "\n#### make it faster  \n\nDone.\n\n> Applied edit to a.py  \n"
    "> Commit 1234567 faster  \n" + START.replace("14:01", "15:30") + "#### smaller  \n\nAs well.\n"
)


def test_any_two_states_of_a_history_end_in_the_same_bytes(tmp_path):
    ends = [n for n in range(1, len(WHOLE) + 1) if WHOLE[n - 1] == "\n"]
    for number, end in enumerate(ends):
        if "####" not in WHOLE[:end]:
            continue
        folder = tmp_path / str(number)
        folder.mkdir()
        files = grows_the_same(
            folder,
            lambda end=end, folder=folder: history(folder, WHOLE[:end]),
            lambda folder=folder: history(folder, WHOLE),
        )
        assert len(files) == 2


@given(st.text(alphabet="#>  \n\rabc:yé\u2028"))
def test_no_text_is_an_error_and_no_letter_is_lost(tmp_path_factory, text):
    path = history(tmp_path_factory.mktemp("any"), START + "#### hi  \n" + text)
    said = "".join(text for _, text in turns(path))
    for letter in "abcé":
        assert said.count(letter) == text.count(letter)
