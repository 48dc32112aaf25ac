"""``know sessions`` and ``know export`` as a user types them."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from helpers import SESSION, assistant, catalog_file, jsonl, make_repository, tool_result, user
from knowrepo.cli.sessions import _fit
from knowrepo.sessions.export import FORMATS

OLD = "11111111-0000-4000-8000-000000000001"
NEW = "22222222-0000-4000-8000-000000000002"


def put(repository, name, *records):
    path = repository.sessions / f"{name}.jsonl"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(jsonl(records))
    return path


@pytest.fixture
def filled(repository):
    put(repository, f"claude/{OLD}", user("an old\tquestion", timestamp="2026-03-01T08:00:00Z"))
    put(repository, f"claude/{OLD}/agent-1", user("the task"))
    put(
        repository, f"claude/{NEW}",
        user("Anew", timestamp="2026-05-02T08:00:00Z", cwd="/home/dev/other"),
        tool_result("x" * 5000, 2, 1),
    )  # fmt: skip
    return repository


def names(result):
    return [line.split("\t")[2].removeprefix("claude/")[0] for line in result.out.splitlines()]


# -- know sessions ----------------------------------------------------------------


def test_a_pipe_gets_stable_fields_and_a_person_the_totals(know, filled):
    result = know("sessions")
    old = sum(p.stat().st_size for p in filled.sessions.rglob("*.jsonl") if OLD in str(p))
    new = (filled.sessions / "claude" / f"{NEW}.jsonl").stat().st_size
    assert result.out == (
        f"2026-05-02\t{new}\tclaude/{NEW}\tother\t0\tAnew\n"
        f"2026-03-01\t{old}\tclaude/{OLD}\tapp\t1\tan old question\n"
    )
    assert result.err.startswith("2 sessions and 1 sub-agent, ")
    assert know("sessions", "-q").err == ""


def test_a_terminal_gets_lines_that_fit_it(know, filled, monkeypatch):
    put(filled, f"claude/{SESSION}", user("a very long question " * 20))
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True, raising=False)
    monkeypatch.setenv("COLUMNS", "80")
    lines = know("sessions").out.splitlines()
    assert all(len(line) <= 80 for line in lines)
    assert lines[1].endswith("…")
    assert "claude/11111111  " in lines[2]
    assert lines[2].endswith("  +1 agent")


def test_wide_characters_are_counted_as_terminals_do():
    assert _fit("你好世界", 5) == "你好…"
    assert _fit("你好", 6) == "你好  "
    assert _fit("abc", 3) == "abc"


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ([], "21"),
        (["--sort", "size"], "21"),
        (["--sort", "title"], "12"),
        (["-k", "1"], "2"),
        (["-k", "0"], "21"),
        (["--project", "app"], "1"),
        (["--project", "ap"], ""),
        (["--agent", "claude"], "21"),
        (["--agent", "codex"], ""),
        (["--since", "2026-04"], "2"),
        (["--until", "2026-03"], "1"),
        (["--until", "2026-03-01"], "1"),
        (["--since", "2026-03-01", "--until", "2026-05-02"], "21"),
        (["--since", "2027"], ""),
        (["--since", "2026-03-01T08:00"], "21"),
        (["--since", "2026-03-01T10:00:01+02:00"], "2"),
        (["--until", "2026-03-01T08:00:00Z"], "1"),
        (["--until", "1h"], "21"),
        (["--since", "99999w"], "21"),
    ],
)
def test_a_list_is_filtered_and_sorted(know, filled, options, expected):
    result = know("sessions", *options)
    assert result.code == 0
    assert "".join(names(result)) == expected


def test_the_catalog_is_believed_only_about_sessions_that_have_not_changed(know, filled):
    before = know("sessions").out
    assert know("index", "--no-vectors").code == 0
    assert know("sessions").out == before
    put(filled, f"claude/{NEW}", user("Changed since", timestamp="2026-05-02T08:00:00Z"))
    assert know("sessions").out.splitlines()[0].endswith("\tChanged since")


def test_a_list_needs_no_catalog_that_can_be_read(know, filled):
    before = know("sessions").out
    know("index", "--no-vectors")
    catalog_file(filled).write_bytes(b"SQLite format 3\0" + os.urandom(8192))
    assert know("sessions").out == before


def test_a_long_title_is_cut_at_a_word_and_says_so_from_catalog_and_file_alike(know, filled):
    put(filled, f"claude/{OLD}", user("word " * 100, timestamp="2026-03-01T08:00:00Z"))
    title = next(line for line in know("sessions").out.splitlines() if OLD in line).split("\t")[-1]
    assert len(title) <= 200
    assert title.endswith("word…")
    assert know("index", "--no-vectors").code == 0
    assert f"{title}\n" in know("sessions").out


def test_an_agent_that_nobody_knows_is_wrong_usage_that_names_the_known(know, filled):
    put(filled, "future/abcdef", {"x": 1})
    assert know("sessions", "--agent", "future").code == 0
    for command in (["sessions"], ["recall", "question"]):
        result = know(*command, "--agent", "bogus")
        assert result.code == 2
        assert "claude, codex" in result.err


def test_json_has_a_version_and_full_names(know, filled):
    found = json.loads(know("sessions", "--json", "-k", "1").out)
    size = (filled.sessions / "claude" / f"{NEW}.jsonl").stat().st_size
    assert found == {
        "version": 1,
        "sessions": [
            {
                "session": f"claude/{NEW}", "agent": "claude", "id": NEW,
                "path": f"sessions/claude/{NEW}.jsonl", "date": "2026-05-02T08:00:00Z",
                "title": "Anew", "project": "other", "size": size, "sub_agents": 0,
            }
        ],
    }  # fmt: skip


def test_an_empty_archive_says_what_to_do(know):
    result = know("sessions")
    assert (result.code, result.out) == (0, "")
    assert result.err == (
        "nothing is archived yet; `know archive PATH…` brings transcripts in\n"
    )  # fmt: skip


def test_sessions_of_an_agent_that_this_version_cannot_read_are_listed(know, repository):
    put(repository, "future/abcdef", {"type": "x"})
    assert "\tfuture/abcdef\t\t0\t(no reader for future here)" in know("sessions").out


@pytest.mark.parametrize(
    "options",
    [
        ["--sort", "colour"],
        ["--since", "yesterday"],
        ["-k", "-1"],
        ["--since", "2027-13"],
        ["--until", "2026-02-30"],
        ["--since", "0000"],
        ["--since", "999999w"],
        ["--agent", "bogus"],
        ["--agent", "../claude"],
    ],
)
def test_wrong_options_are_wrong_usage(know, filled, options):
    assert know("sessions", *options).code == 2


# -- know export --------------------------------------------------------------------


@pytest.mark.parametrize(
    ("output", "options", "begins"),
    [
        ("page.html", [], "<!doctype html>"),
        ("page.HTM", [], "<!doctype html>"),
        ("page.md", [], "# an old"),
        ("page.jsonl", [], '{"format": 1,'),
        ("page.txt", [], "# an old"),
        ("page.txt", ["--format", "html"], "<!doctype html>"),
    ],
)
def test_the_form_of_a_file_follows_its_name(know, filled, output, options, begins):
    result = know("export", "1111", "-o", output, *options)
    assert result.code == 0, result.err
    assert (filled.root / output).read_text(encoding="utf-8").startswith(begins)
    assert result.out == ""
    assert result.err.startswith(f"{output}: claude/{OLD}, with 1 sub-agent, ")


def test_standard_output_gets_markdown_or_what_is_asked_for(know, filled):
    assert know("export", f"claude/{OLD}").out.startswith("# an old question\n")
    assert know("export", OLD, "-o", "-").out.startswith("# an old question\n")
    assert know("export", OLD, "--format", "html").out.startswith("<!doctype html>")
    assert "the task" in know("export", OLD).out
    assert "the task" not in know("export", OLD, "--no-subagents").out
    assert "characters left out" not in know("export", "2222", "--full").out


def test_a_file_that_is_there_is_replaced_only_by_force(know, filled):
    page = filled.root / "page.md"
    page.write_text("mine")
    refused = know("export", OLD, "-o", "page.md")
    assert refused.code == 1
    assert refused.err == "know: page.md: is there already\n  --force replaces it\n"
    assert page.read_text() == "mine"
    assert know("export", OLD, "-o", "page.md", "--force").code == 0
    assert page.read_text().startswith("# an old")


def test_a_failed_export_leaves_the_old_file_and_nothing_beside_it(know, filled, monkeypatch):
    page = filled.root / "page.html"
    page.write_text("old")
    before = sorted(filled.root.iterdir())

    def broken(*_):
        yield "half a page"
        raise OSError(28, "No space left on device")

    monkeypatch.setitem(FORMATS, "html", broken)
    result = know("export", OLD, "-o", "page.html", "--force")
    assert result.code == 1
    assert "No space left" in result.err
    assert page.read_text() == "old"
    assert sorted(filled.root.iterdir()) == before


def test_a_folder_that_cannot_be_written_to_is_named_and_not_a_file_in_it(
    know, filled, monkeypatch
):
    before = Path.open

    def closed(path, *arguments, **named):
        if path.name.startswith(".page"):
            raise PermissionError(13, "Permission denied", str(path))
        return before(path, *arguments, **named)

    monkeypatch.setattr(Path, "open", closed)
    result = know("export", OLD, "-o", "page.md")
    assert result.code == 1
    assert result.err == f"know: {filled.root}: cannot be written to: Permission denied\n"


def test_a_device_is_written_to_and_not_replaced(know, filled):
    assert know("export", OLD, "-o", os.devnull).code == 0
    assert not os.path.isfile(os.devnull)  # noqa: PTH113 - what it says is what is meant


@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        (["nowhere"], 1, "`know sessions` lists them"),
        (["12"], 1, "too short"),
        ([OLD, "--format", "pdf"], 2, "none of md, html, jsonl"),
        ([OLD, "-o", "no/such/folder.md"], 1, "know: no/such: no such folder"),
        ([OLD, "-o", "x.pdf"], 2, "x.pdf: no format of that name; there are md, html, jsonl"),
        ([OLD, "-o", "x.json"], 2, "--format"),
        ([OLD, "-o", "."], 2, "directory"),
        ([], 2, "SESSION"),
    ],
)
def test_what_cannot_be_exported_says_why(know, filled, arguments, code, words):
    result = know("export", *arguments)
    assert (result.code, result.out) == (code, "")
    assert words.lower() in result.err.lower()


def test_an_ambiguous_name_lists_its_candidates(know, filled):
    put(filled, "claude/1111aaaa", user("x"))
    result = know("export", "1111")
    assert result.code == 1
    assert f"claude/{OLD}, claude/1111aaaa" in result.err


def test_an_empty_archive_says_how_to_fill_it(know):
    assert "know archive" in know("export", "abcd").err


def test_a_page_is_utf_8_whatever_the_locale(filled):
    put(filled, f"claude/{SESSION}", user("Grüße 你好"), assistant("ok"))
    done = subprocess.run(
        [sys.executable, "-m", "knowrepo", "export", SESSION],
        cwd=filled.root, capture_output=True, check=True,
        env={**os.environ, "PYTHONIOENCODING": "latin-1"},
    )  # fmt: skip
    assert done.stdout.startswith("# Grüße 你好\n".encode())


def test_a_reader_that_stops_early_is_no_failure(filled):
    put(filled, f"claude/{SESSION}", *[assistant("word " * 200, n) for n in range(1, 2000)])
    process = subprocess.Popen(
        [sys.executable, "-m", "knowrepo", "export", SESSION, "--format", "jsonl"],
        cwd=filled.root, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    )  # fmt: skip
    process.stdout.read(10)
    process.stdout.close()
    assert process.stderr.read() == b""
    process.stderr.close()
    assert process.wait() == 0


def test_a_link_that_leads_out_of_the_repository_is_not_read(know, tmp_path, repository):
    other = make_repository(tmp_path / "other")
    put(other, f"claude/{OLD}", user("a secret"))
    (repository.sessions / "claude").symlink_to(other.sessions / "claude")
    result = know("export", OLD)
    assert result.code == 1
    assert "secret" not in result.out + result.err
