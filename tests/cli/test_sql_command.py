"""``know sql`` as a user types it."""

from __future__ import annotations

import csv
import io
import json
import os
import re
import signal
import subprocess
import sys

import pytest

from helpers import concept, write


@pytest.fixture
def filled(repository, know):
    write(repository, "concepts/a.md", concept("A title", tags=["one"]))
    write(repository, "concepts/b.md", concept("Long " * 100, tags=["two"]))
    assert know("index", "--no-vectors").code == 0
    return repository


def test_a_table_has_aligned_columns_and_shows_null(know, filled):
    result = know("sql", "select tag, document n, null x from tags order by 1")
    assert result.out.splitlines() == [
        "tag  n  x",
        "---  -  ----",
        "one  1  null",
        "two  2  null",
    ]
    assert result.err == ""


def test_on_a_terminal_no_line_is_wider_than_it_and_no_wide_letter_breaks_a_column(
    know, filled, monkeypatch
):
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True, raising=False)
    monkeypatch.setenv("COLUMNS", "60")
    lines = know("sql", "select *, '漢字' w from documents").out.splitlines()
    assert all(len(line) <= 18 * 8 for line in lines)  # the narrowest that a cell gets is six
    lines = know("sql", "select '漢字' w, title, 1 n from documents order by 2").out.splitlines()
    assert all(len(line) <= 60 for line in lines)
    assert lines[-1].startswith("漢字  Long Long")
    assert re.search(r"…\s+1$", lines[-1])


def test_csv_and_json_give_whole_cells_and_a_table_cuts_them(know, filled):
    query = "select title, null x from documents order by title"
    whole = ("Long " * 100).strip()
    rows = list(csv.reader(io.StringIO(know("sql", query, "--format", "csv").out)))
    assert rows == [["title", "x"], ["A title", ""], [whole, ""]]
    given = json.loads(know("sql", query, "--format", "json").out)
    assert given == {
        "version": 1,
        "columns": ["title", "x"],
        "rows": [["A title", None], [whole, None]],
    }
    lines = know("sql", query, "--format", "jsonl").out.splitlines()
    assert [json.loads(line) for line in lines][1] == {"title": whole, "x": None}
    assert max(map(len, know("sql", query).out.splitlines())) < 220


def test_markdown_escapes_what_would_end_a_cell(know, filled):
    result = know("sql", "select 'a|b\\\\' x, 'c\nd' y", "--format", "md")
    assert result.out.splitlines() == ["| x | y |", "| --- | --- |", "| a\\|b\\\\\\\\ | c d |"]


def test_no_rows_and_no_columns_that_are_alike_are_no_trouble(know, filled):
    assert json.loads(know("sql", "from tags limit 0", "--format", "json").out)["rows"] == []
    twice = know("sql", "select 1 a, 2 a, 3 a_2", "--format", "jsonl").out
    assert list(json.loads(twice).values()) == [1, 2, 3]


@pytest.mark.parametrize("form", ["table", "csv", "json", "jsonl", "md"])
def test_values_of_every_kind_can_be_shown(know, filled, form):
    query = (
        "select true b, 1.5::decimal(4,2) d, 'nan'::double f, date '2026-01-02' t, [1, null] l,"
        " {'a': 'x'} s, 'x'::blob y, uuid '00000000-0000-0000-0000-000000000001' u,"
        " interval 1 day i, map {'k': 1} m, 170141183460469231731687303715884105727::hugeint h"
    )
    result = know("sql", query, "--format", form)
    assert result.code == 0, result.err
    assert "2026-01-02" in result.out
    if form == "json":
        (row,) = json.loads(result.out)["rows"]
        assert row[:6] == [True, 1.5, None, "2026-01-02", [1, None], {"a": "x"}]
    if form == "jsonl":
        assert json.loads(result.out)["h"] == 2**127 - 1


@pytest.mark.parametrize("form", ["table", "csv", "json", "jsonl", "md"])
def test_no_terminal_escape_in_archived_text_reaches_the_terminal(know, filled, form):
    query = "select 'a' || chr(27) || '\"b' x, chr(27) || ']0;' y, 'owned' || chr(7) z, chr(8238) r"
    result = know("sql", query, "--format", form)
    assert not {"\x1b", "\x07", "\u202e"} & set(result.out)
    assert "owned" in result.out  # a sequence that one cell begins ends with it
    if form == "csv":
        assert [len(row) for row in csv.reader(io.StringIO(result.out))] == [4, 4]
    escaped = know("sql", f'select 1 as "{chr(27)}[31mred"', "--format", form)
    assert "\x1b" not in escaped.out


def test_a_table_stops_at_its_limit_and_says_so(know, filled):
    result = know("sql", "from range(1000)")
    assert len(result.out.splitlines()) == 202
    assert result.err == "the first 200 rows; `--limit 0` shows all\n"
    assert len(know("sql", "from range(1000)", "--limit", "0").out.splitlines()) == 1002
    assert len(know("sql", "from range(1000)", "--format", "jsonl").out.splitlines()) == 1000
    two = know("sql", "from range(2)", "--limit", "2")
    assert two.err == ""
    assert know("sql", "from range(9)", "--limit", "2", "-q").err == ""


def test_a_minus_reads_the_query_from_standard_input(know, filled, monkeypatch):
    monkeypatch.setattr("sys.stdin", io.StringIO("select 41 + 1 as answer\n"))
    assert know("sql", "-").out.splitlines()[-1].strip() == "42"


def test_the_tables_are_listed_with_their_columns(know, filled):
    lines = know("sql", "--tables").out.splitlines()
    cells = [tuple(line.split()) for line in lines]
    assert ("documents", "title", "VARCHAR") in cells
    assert ("records", "json", "JSON") in cells
    assert ("vectors", "vector", "FLOAT[]") in cells
    listed = json.loads(know("sql", "--tables", "--format", "json").out)
    assert len(listed["rows"]) == len(lines) - 2


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["selec 1"], 'Parser Error: syntax error at or near "selec"'),
        (["select x from tags"], 'Binder Error: Referenced column "x" not found'),
        (["drop table tags"], "takes a query"),
        (["select 1", "--format", "xml"], "--format xml: none of table, csv"),
        ([], "no query"),
        (["/* nothing */"], "takes one query"),
    ],
)
def test_what_is_wrong_is_said_in_one_line_and_is_wrong_usage(know, filled, arguments, told):
    result = know("sql", *arguments)
    assert result.code == 2
    assert result.out == ""
    assert told in result.err.splitlines()[0]
    assert len(result.err.splitlines()) <= 2


def test_without_a_model_a_query_for_vectors_says_so(know, filled, monkeypatch, tmp_path):
    monkeypatch.setenv("KNOW_CACHE", str(tmp_path / "empty"))
    result = know("sql", "select count(*) n from vectors", "--format", "csv")
    assert result.out == "n\n0\n"
    assert "know model pull" in result.err


def test_a_model_that_is_gone_is_told_once_with_its_reason(know, filled, own_environment):
    (own_environment / "config.toml").write_text('model = "/nowhere/gone.gguf"\n')
    result = know("sql", "select count(*) n from vectors", "--format", "csv")
    assert result.out == "n\n0\n"
    assert len(result.err.splitlines()) == 1
    assert result.err.startswith("no vectors are shown: /nowhere/gone.gguf: ")


@pytest.mark.parametrize("when", ["before the first row", "after it"])
def test_a_long_query_can_be_interrupted(filled, when):
    endless = "select count(*) from range(1000000000000) t(a) where sqrt(a) > 3"
    query = {"before the first row": endless, "after it": f"select 1 union all {endless}"}[when]
    process = subprocess.Popen(
        [sys.executable, "-c", _INTERRUPTED, query],
        cwd=filled.root, env=os.environ.copy(), stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    _, told = process.communicate(timeout=120)
    assert told.endswith("know: interrupted\n")
    assert process.returncode == 130


# The signal comes once the statement runs, and so needs no waiting.
_INTERRUPTED = f"""
import os, sys, threading
from knowrepo.index import sql
from knowrepo.cli.main import main
bring = sql._bring
def brought(*given):
    threading.Timer(0.5, os.kill, (os.getpid(), {int(signal.SIGINT)})).start()
    return bring(*given)
sql._bring = brought
sys.exit(main(["sql", sys.argv[1]]))
"""
