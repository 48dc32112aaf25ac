"""What `know recall` prints: formats, budgets, snippets, neighbours, queries in turns."""

from __future__ import annotations

import io
import json
import os
import pty
import re
import signal
import subprocess
import sys
import termios
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from helpers import SESSION, assistant, concept, transcript, user, write
from knowrepo.cli.main import main
from knowrepo.git.layout import Repository
from knowrepo.recall import route

SCHEMA = json.loads(
    (Path(__file__).resolve().parents[2] / "docs/recall.schema.json").read_text(encoding="utf-8")
)


@pytest.fixture
def filled(repository, monkeypatch, tmp_path) -> Repository:
    """A concept, and a session of twelve exchanges of which each is a chunk."""
    monkeypatch.setenv("KNOW_CACHE", str(tmp_path / "no models"))
    body = "Hooks never add files.\n\n## Why\n\nA hook that adds surprises.\n"
    write(repository, "concepts/hooks.md", concept("Hooks never add", tags=["git"], body=body))
    records = []
    for number in range(12):
        records += [
            user(f"question {number} on the journal?", 2 * number + 1),
            assistant(f"Because of it. The journal locks file {number}.", 2 * number + 2),
        ]
    transcript(repository.sessions / "claude", records)
    return repository


# -- the contract of the JSON -------------------------------------------------------


def violations(value: Any, schema: dict[str, Any], where: str = "$") -> list[str]:
    """Return where a value does not keep to a schema, as far as ours uses the language."""
    schema = SCHEMA["$defs"][schema["$ref"].rsplit("/")[-1]] if "$ref" in schema else schema
    types = {"object": dict, "array": list, "string": str, "boolean": bool, "integer": int,
             "number": (int, float)}  # fmt: skip
    found: list[str] = []
    if "oneOf" in schema:
        tried = [violations(value, one, where) for one in schema["oneOf"]]
        return [] if sum(not one for one in tried) == 1 else [f"{where}: {tried}"]
    if "type" in schema:
        right = isinstance(value, types[schema["type"]])
        if not right or (isinstance(value, bool) and schema["type"] != "boolean"):
            return [f"{where}: {value!r} is no {schema['type']}"]
    if "const" in schema and value != schema["const"]:
        found.append(f"{where}: {value!r}")
    if "enum" in schema and value not in schema["enum"]:
        found.append(f"{where}: {value!r}")
    if "minimum" in schema and value < schema["minimum"]:
        found.append(f"{where}: {value!r} is too small")
    if "maximum" in schema and value > schema["maximum"]:
        found.append(f"{where}: {value!r} is too large")
    if "maxLength" in schema and len(value) > schema["maxLength"]:
        found.append(f"{where}: {value!r} is too long")
    if "pattern" in schema and not re.search(schema["pattern"], value):
        found.append(f"{where}: {value!r} is not like {schema['pattern']}")
    if isinstance(value, list) and "items" in schema:
        for number, one in enumerate(value):
            found += violations(one, schema["items"], f"{where}[{number}]")
    if isinstance(value, dict):
        known = schema.get("properties", {})
        found += [f"{where}: no {name}" for name in schema.get("required", ()) if name not in value]
        for name, one in value.items():
            if name in known:
                found += violations(one, known[name], f"{where}.{name}")
            elif not schema.get("additionalProperties", True):
                found.append(f"{where}: {name} is not known")
    return found


def test_the_schema_is_not_kept_by_what_is_none():
    assert violations({}, SCHEMA)
    assert violations({"version": 2, "query": "", "error": "", "hint": ""}, SCHEMA)
    assert violations({"version": 1, "query": "", "error": "", "hint": "", "x": 1}, SCHEMA)
    assert not violations({"version": 1, "query": "", "error": "", "hint": ""}, SCHEMA)


@pytest.mark.parametrize(
    "arguments",
    [
        ["journal"], ["journal", "--full"], ["journal", "--snippet"], ["journal", "--explain"],
        ["journal", "--budget", "300"], ["tag:git"], ["--type", "Decision"], ["zebra"],
        ["what is it"], ["journal", "--all", "--explain", "--snippet", "-k", "2"],
    ],
    ids=" ".join,
)  # fmt: skip
def test_every_answer_keeps_to_the_schema(know, filled, arguments):
    result = know("recall", "--json", *arguments)
    assert result.code == 0
    assert violations(json.loads(result.out), SCHEMA) == []


def test_what_is_asked_for_by_id_keeps_to_the_schema(know, filled):
    hit = json.loads(know("recall", "journal", "--json").out)["hits"][0]
    got = know("recall", "--get", f"{hit['id']},ffffffffff", "--json")
    near = know("recall", "--timeline", hit["id"], "--format", "json")
    assert got.code == 1
    assert json.loads(got.out)["missing"] == ["ffffffffff"]
    for result in (got, near):
        assert violations(json.loads(result.out), SCHEMA) == []
    told = json.loads(near.out)
    assert told["hits"][told["at"]]["id"] == hit["id"]


# -- what is shown of a hit -----------------------------------------------------------


def test_a_snippet_stands_for_the_summary_with_its_words_marked(know, filled):
    line = know("recall", "--snippet", "locks file 7", "-k", "1", "-q").out
    assert "**locks** **file** **7**" in line
    assert len(line.splitlines()) == 1
    told = json.loads(know("recall", "--snippet", "--json", "locks file 7", "-k", "1").out)
    assert "**locks**" in told["hits"][0]["snippet"]


def test_a_snippet_of_a_document_is_of_its_text(know, filled):
    shown = know("recall", "hooks never add", "--snippet")
    assert ": **Hooks** **never** **add** files." in shown.out
    assert "structured" in shown.err


def test_a_budget_is_kept_and_every_body_cited(know, filled):
    told = json.loads(know("recall", "journal", "--budget", "300", "--json").out)
    assert 0 < told["budget"]["used"] <= told["budget"]["tokens"] == 300
    assert told["budget"]["used"] == sum(hit["tokens"] for hit in told["hits"])
    text = know("recall", "journal", "--budget", "300", "-q").out
    for hit in told["hits"]:
        assert f"[{hit['id']}] sessions/claude/{SESSION}.jsonl" in text
    ids = told["hits"][0]["id"]
    assert know("recall", "--get", ids).code == 0


def test_bodies_come_at_once_with_full(know, filled):
    out = know("recall", "locks file 7", "--full", "-k", "1").out
    assert out.startswith("[")
    assert f"sessions/claude/{SESSION}.jsonl:15 2026-05-01 | " in out.splitlines()[0]
    assert "The journal locks file 7." in out


def test_get_brings_several_bodies_in_the_order_asked_for(know, filled):
    hits = json.loads(know("recall", "journal", "--json", "-k", "2").out)["hits"]
    ids = [hit["id"] for hit in reversed(hits)]
    shown = know("recall", "--get", ",".join(ids)).out
    assert re.findall(r"^\[(\w+)\]", shown, re.MULTILINE) == ids


def test_a_missing_id_is_told_after_those_that_are_there(know, filled):
    hit = json.loads(know("recall", "locks file 7", "--json").out)["hits"][0]
    result = know("recall", "--get", f"ffffffffff,{hit['id']}")
    assert result.code == 1
    assert "locks file 7" in result.out
    assert result.err == "[no match for ffffffffff]\n"
    assert "[no match for ffffffffff]" in know("recall", "--timeline", "ffffffffff").err


def test_a_timeline_is_of_one_document_in_its_order(know, filled):
    hit = json.loads(know("recall", "locks file 6", "--json").out)["hits"][0]
    lines = know("recall", "--timeline", hit["id"]).out.splitlines()
    assert [re.search(r": question (\d+)", line)[1] for line in lines] == [
        str(number) for number in range(1, 12)
    ]
    assert [line[:2] for line in lines] == [*["  "] * 5, "> ", *["  "] * 5]
    near = know("recall", "--timeline", hit["id"], "--window", "1", "--full").out
    assert re.findall(r"locks file (\d+)", near) == ["5", "6", "7"]


def test_a_form_that_nobody_filled_in_shows_no_comments(know, filled):
    body = "<!-- What was chosen? -->\n\n## Why\n\n<!-- Why this? -->\n"
    write(filled, "concepts/empty.md", concept("An empty form", tags=["blank"], body=body))
    hit = json.loads(know("recall", "tag:blank", "--json").out)["hits"][0]
    shown = know("recall", "tag:blank").out + know("recall", "--get", hit["id"]).out
    assert "An empty form" in shown
    assert "<!--" not in shown


# -- formats -----------------------------------------------------------------------------


def test_places_are_one_line_each(know, filled):
    lines = know("recall", "journal", "--format", "paths", "-q").out.splitlines()
    assert lines
    assert all(re.fullmatch(rf"sessions/claude/{SESSION}\.jsonl:\d+", line) for line in lines)
    assert len(set(lines)) == len(lines)
    assert know("recall", "tag:git", "--format", "paths", "-q").out == "concepts/hooks.md:1\n"


def test_markdown_is_a_list_with_quotations(know, filled):
    lines = know("recall", "tag:git", "--format", "md", "-q").out
    assert lines.startswith("- [Hooks never add](concepts/hooks.md) (`")
    full = know("recall", "tag:git", "--format", "md", "--full", "-q").out
    assert "  > ```text\n" in full


@pytest.mark.parametrize(
    "arguments",
    [
        ["x", "--format", "yaml"], ["x", "--format", "md", "--json"], ["x", "--full", "--snippet"],
        ["x", "--budget", "900", "--full"], ["x", "--budget", "9"],
        ["--get", "a3f2", "--budget", "100"],
        ["--timeline", "a3f2", "--snippet"], ["-", "--get", "a3f2"],
    ],
    ids=" ".join,
)  # fmt: skip
def test_what_does_not_go_together_is_wrong_usage(know, filled, arguments):
    result = know("recall", *arguments)
    assert result.code == 2
    assert result.err.startswith("know: ")
    assert result.out == ""


# -- where nothing matches well -----------------------------------------------------------


@pytest.fixture
def unsure(monkeypatch):
    """Answers without confidence."""
    known = route.recall

    def recall(*arguments, **named):
        answer = known(*arguments, **named)
        return replace(answer, confident=False, confidence=0.12, explanation={"margin": 0.01})

    monkeypatch.setattr(route, "recall", recall)


def test_without_confidence_nothing_is_shown_and_said_so(know, filled, unsure):
    result = know("recall", "journal")
    assert (result.code, result.out) == (0, "")
    assert "no confident match" in result.err
    assert "--all" in result.err
    told = json.loads(know("recall", "journal", "--json").out)
    assert (told["confident"], told["confidence"], told["hits"]) == (False, 0.12, [])
    assert violations(told, SCHEMA) == []
    assert know("recall", "journal", "--format", "paths").out == ""
    assert know("recall", "journal", "--budget", "500").out == ""


def test_the_nearest_are_shown_where_they_are_asked_for(know, filled, unsure):
    result = know("recall", "journal", "--all", "--explain")
    assert len(result.out.splitlines()) > 1
    assert "confidence: 0.12, not confident\nterms: journal\nmargin: 0.01\n[" in result.err
    assert json.loads(know("recall", "journal", "--all", "--json").out)["hits"]


# -- queries in turns ----------------------------------------------------------------------


def asked(monkeypatch, text: bytes) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(text)))


def test_queries_are_answered_one_by_one(know, filled, monkeypatch):
    asked(monkeypatch, b"\xef\xbb\xbftag:git\n\n   \nlocks file 7\n\xff\xfe zebra\r\n")
    result = know("recall", "-", "-k", "1", "-q")
    assert result.code == 0
    first, second, third = result.out.strip().split("\n\n")
    assert first.splitlines()[0] == "> tag:git"
    assert "Hooks never add" in first
    assert second.splitlines()[0] == "> locks file 7"
    assert "claude/0f0e0d0c" in second
    assert third == "> \ufffd\ufffd zebra"


def test_an_error_in_one_query_does_not_end_the_rest(know, filled, monkeypatch):
    asked(monkeypatch, b"id:ffffffffff\ntag:git\n")
    result = know("recall", "-", "--json", "-q")
    assert result.code == 1
    failed, answered = map(json.loads, result.out.splitlines())
    assert failed["error"] == "[no match for ffffffffff]"
    assert answered["hits"][0]["title"] == "Hooks never add"
    assert violations(failed, SCHEMA) == violations(answered, SCHEMA) == []
    assert "id:ffffffffff: [no match for ffffffffff]" in result.err


def test_a_remark_is_made_once_however_many_ask(know, filled, monkeypatch):
    asked(monkeypatch, b"journal\njournal\n")
    result = know("recall", "-")
    assert result.err.count("no vectors yet") == 1


def test_no_query_is_no_failure(know, filled, monkeypatch):
    asked(monkeypatch, b"\n")
    assert know("recall", "-")[:2] == (0, "")


@pytest.fixture
def partner(filled):
    """A process that answers in turns."""
    with subprocess.Popen(
        [sys.executable, "-m", "knowrepo", "recall", "-", "--json", "-q"],
        cwd=filled.root, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    ) as process:  # fmt: skip
        yield process
        process.kill()


def test_another_program_can_ask_and_read_in_turns(partner):
    for query in ("tag:git", "locks file 7", "tag:git"):
        partner.stdin.write(f"{query}\n".encode())
        partner.stdin.flush()
        assert json.loads(partner.stdout.readline())["query"] == query
    partner.stdin.close()
    assert partner.wait() == 0


def test_an_interrupt_ends_the_turns(partner):
    partner.stdin.write(b"tag:git\n")
    partner.stdin.flush()
    partner.stdout.readline()
    partner.send_signal(signal.SIGINT)
    assert partner.wait() == 130
    assert b"Traceback" not in partner.stderr.read()


def test_who_no_longer_listens_ends_the_turns(filled):
    command = f"yes tag:git | '{sys.executable}' -m knowrepo recall - | head -n 1"
    done = subprocess.run(
        ["bash", "-c", f"{command}; exit ${{PIPESTATUS[1]}}"],
        cwd=filled.root, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0
    assert done.stdout == "> tag:git\n"
    assert "Traceback" not in done.stderr


# -- terminals ------------------------------------------------------------------------------


def on_a_terminal(folder: Path, *arguments: str, columns: int = 70, **environment: str) -> str:
    """Run a command whose output is a terminal; returns what it was sent."""
    ours, theirs = pty.openpty()
    termios.tcsetwinsize(theirs, (24, columns))
    known = {
        name: value for name, value in os.environ.items() if name not in {"NO_COLOR", "COLUMNS"}
    }
    with subprocess.Popen(
        [sys.executable, "-m", "knowrepo", *arguments], cwd=folder, stdin=theirs, stdout=theirs,
        stderr=subprocess.DEVNULL, env={**known, "TERM": "xterm", **environment},
    ) as process:  # fmt: skip
        os.close(theirs)
        sent = b""
        try:
            while block := os.read(ours, 1 << 16):
                sent += block
        except OSError:  # how the end of a terminal is told
            pass
    os.close(ours)
    assert process.returncode == 0
    return sent.decode().replace("\r\n", "\n")


def test_a_line_fits_a_terminal_and_is_coloured_there(know, filled):
    shown = on_a_terminal(filled.root, "recall", "journal", "-k", "3")
    assert "\x1b[36m[" in shown
    lines = re.sub(r"\x1b\[\d*m", "", shown).splitlines()
    assert len(lines) > 1
    for line in lines:
        assert len(line) <= 70
        assert re.search(r"2026-05-01 \| .* score=\d\.\d\d$", line)
    assert "\x1b" not in know("recall", "journal").out


def test_a_match_is_bold_on_a_terminal_and_starred_without_colours(filled):
    shown = on_a_terminal(filled.root, "recall", "locks file 7", "--snippet", "-k", "1")
    assert "\x1b[1mlocks\x1b[0m" in shown
    without = on_a_terminal(
        filled.root, "recall", "locks file 7", "--snippet", "-k", "1", NO_COLOR="1"
    )
    assert "**locks**" in without
    assert "\x1b" not in without


def test_no_hit_colours_a_terminal_by_itself(filled):
    write(filled, "concepts/odd.md", concept("Odd \\e[31mred zebra", tags=["odd"], body="x"))
    shown = on_a_terminal(filled.root, "recall", "tag:odd", columns=200)
    assert "red zebra" in shown
    assert "\x1b[31m" not in shown


# -- help ---------------------------------------------------------------------------------------


def test_the_help_has_examples_within_80_columns(capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    assert main(["recall", "--help"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert max(map(len, lines)) <= 80
    assert sum(line.startswith("    know recall ") for line in lines) >= 8
