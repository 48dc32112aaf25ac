"""``know distill`` as its users see it."""

from __future__ import annotations

import json
from typing import Any

import pytest

from helpers import (
    assistant,
    catalog_file,
    concept,
    git,
    jsonl,
    tool_call,
    tool_result,
    user,
    write,
)
from knowrepo.cli import distill as command
from line_finder import LineFinder

SESSION = "0f0e0d0c-0b0a-4908-8706-050403020100"
CACHE = "concepts/decisions/we-use-a-cache.md"
SAID = "decision cache: We use a cache."


@pytest.fixture(autouse=True)
def finder(monkeypatch) -> LineFinder:
    found = LineFinder()
    monkeypatch.setattr(command, "finder", lambda *_: found)
    return found


@pytest.fixture
def archive(repository):
    def put(*texts: str, name: str = SESSION, agent: str = "claude", **fields: Any) -> None:
        records = [user("Hello.", 1, **fields)]
        records += [assistant(text, n, **fields) for n, text in enumerate(texts, start=2)]
        write(repository, f"sessions/{agent}/{name}.jsonl", jsonl(records).decode(), stage=False)

    return put


def test_one_line_a_proposal_then_what_to_do_next(know, archive):
    archive(SAID, "preference names: Short names.")
    done = know("distill")
    assert done.code == 0
    assert done.out == (
        f"{CACHE}\tDecision\tWe use a cache\n"
        "concepts/preferences/short-names.md\tPreference\tShort names\n"
    )
    assert "2 drafts; 1 session looked at\n" in done.err
    assert "git add concepts" in done.err
    assert "not proposed again" in done.err
    again = know("distill")
    assert (again.code, again.out) == (0, "")
    assert again.err == "0 drafts; 0 sessions looked at, 1 unchanged\n"


def test_a_draft_that_grew_is_marked(know, archive):
    archive(SAID)
    know("distill")
    archive(SAID, "cause cache: It was slow.")
    done = know("distill", "-q")
    assert done.out == f"{CACHE}\tDecision\tIt was slow\t(grown)\n"
    assert done.err == ""


def test_a_dry_run_shows_the_evidence_and_writes_nothing(know, archive, repository):
    archive(SAID)
    done = know("distill", "--dry-run")
    assert done.out == (
        f"{CACHE}\tDecision\tWe use a cache\n"
        "    decision: We use a cache.\n"
        f"      claude/{SESSION}:2, assistant, 2026-05-01T10:00:02.000Z\n"
    )
    assert "1 draft would be written" in done.err
    assert "git add" not in done.err
    assert list(repository.concepts.rglob("*")) == []


def test_what_is_known_already_is_said_aside(know, archive, repository):
    write(repository, "concepts/cache.md", concept("We use a cache"))
    archive(SAID)
    done = know("distill")
    assert done.out == ""
    assert "already concepts/cache.md: We use a cache\n" in done.err
    assert "1 known already" in done.err


def test_the_json_has_a_version_and_is_all_of_standard_output(know, archive):
    archive(SAID)
    archive("x", name="bad", agent="unheard")
    done = know("distill", "--json", "--dry-run")
    assert done.code == 1
    statement = {
        "kind": "decision", "text": "We use a cache.", "record": "u-2", "line": 2,
        "role": "assistant", "time": "2026-05-01T10:00:02.000Z", "new": True,
    }  # fmt: skip
    assert json.loads(done.out) == {
        "version": 1,
        "finder": "lines/1",
        "dry_run": True,
        "sessions": {"looked": 2, "unchanged": 0},
        "proposals": [
            {
                "action": "new", "path": CACHE, "type": "Decision", "title": "We use a cache",
                "description": "We use a cache.", "tags": ["cache"],
                "session": f"claude/{SESSION}", "statements": [statement],
            }
        ],
        "failed": [{"session": "unheard/bad", "error": "no reader for unheard here"}],
    }  # fmt: skip


def test_sessions_are_named_as_the_list_names_them(know, archive, finder):
    archive(SAID)
    archive("decision wal: We use WAL.", name="another-one")
    assert "we-use-a-cache" in know("distill", f"claude/{SESSION[:8]}").out
    assert finder.seen == [f"claude/{SESSION}"]
    assert know("distill", SESSION[:8], f"sessions/claude/{SESSION}.jsonl").out == ""
    assert finder.seen == [f"claude/{SESSION}"] * 2  # named, it is looked at again
    assert know("distill", "ffff0000").code == 1


def test_sessions_are_chosen_by_date_agent_and_project(know, archive, finder):
    archive(SAID)
    archive(SAID, name="old", timestamp="2025-01-01T10:00:00.000Z", cwd="/home/dev/other")
    assert know("distill", "--dry-run", "--since", "2026").code == 0
    assert finder.seen == [f"claude/{SESSION}"]
    finder.seen.clear()
    assert know("distill", "--dry-run", "--project", "other").code == 0
    assert finder.seen == ["claude/old"]
    finder.seen.clear()
    assert know("distill", "--dry-run", "--agent", "codex").code == 0
    assert finder.seen == []


def test_sub_agents_are_left_out_and_counted_unless_named(know, archive, finder):
    archive(SAID)
    archive("decision wal: We use WAL.", name=f"{SESSION}/agent-a1", isSidechain=True)
    done = know("distill")
    assert "1 sub-agent left out" in done.err
    assert "we-use-wal" not in done.out
    named = know("distill", f"claude/{SESSION}/agent-a1")
    assert "we-use-wal" in named.out
    assert "left out" not in named.err


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (["--type", "Poem"], "--type Poem: not proposed"),
        (["--agent", "nobody"], "--agent nobody: not known"),
        (["--since", "soon"], "neither a date nor an age"),
        (["x", "--since", "7d"], "name sessions, or choose them"),
        (["--limit", "-1"], "--limit"),
    ],
)
def test_wrong_usage_is_told(know, archive, given, said):
    archive(SAID)
    done = know("distill", *given)
    assert done.code == 2
    assert said in done.err


def test_types_are_told_in_any_spelling_and_a_limit_holds(know, archive):
    archive(SAID, "preference names: Short names.", "preference lines: Short lines.")
    done = know("distill", "--type", "preference", "--limit", "1")
    assert done.out == "concepts/preferences/short-names.md\tPreference\tShort names\n"


def test_a_session_that_cannot_be_read_is_told_and_fails_at_the_end(know, archive):
    archive(SAID)
    archive("x", name="bad", agent="unheard")
    done = know("distill", "--quiet")
    assert done.code == 1
    assert done.out.startswith(CACHE)
    assert done.err == "unheard/bad: no reader for unheard here\n"


def test_what_a_session_says_cannot_steer_the_terminal(know, archive):
    archive("decision x: We use \x1b[31mred\x1b[0m\x07 and \u202egnp.exe here.")
    done = know("distill", "--dry-run")
    assert done.code == 0
    assert "\x1b" not in done.out
    assert "\u202e" not in done.out


def test_a_draft_that_was_added_is_recalled_with_its_sources(know, archive, repository):
    archive("decision cache: We use a cache of compiled patterns.")
    know("distill")
    assert know("check", *map(str, repository.concepts.rglob("*.md"))).out == ""
    git(repository.root, "add", "concepts")
    found = know("recall", "cache compiled patterns", "--json", "--kind", "concept")
    (hit, *_) = json.loads(found.out)["hits"]
    body = know("recall", "--get", hit["id"]).out
    assert "We use a cache of compiled patterns" in body
    assert f"session claude/{SESSION}, record u-2, assistant" in body


def test_the_rules_are_what_finds_by_default_and_they_see_struggles(know, repository, monkeypatch):
    monkeypatch.undo()
    monkeypatch.chdir(repository.root)
    failed = "Exit code 1\nModuleNotFoundError: No module named 'yaml'"
    records = [
        user("Run the tests.", 1),
        tool_call("Bash", 2, command="uv run pytest"),
        tool_result(failed, 3, 2),
        tool_call("Bash", 4, command="uv run pytest"),
        tool_result(failed, 5, 4),
        tool_call("Bash", 6, command="uv add pyyaml"),
        tool_result("Resolved 2 packages", 7, 6),
        tool_call("Bash", 8, command="uv run pytest"),
        tool_result("3 passed", 9, 8),
    ]
    for number in (2, 4):
        records[number]["message"]["content"][0]["is_error"] = True
    write(repository, f"sessions/claude/{SESSION}.jsonl", jsonl(records).decode(), stage=False)
    done = know("distill", "--json")
    found = json.loads(done.out)
    assert found["finder"].startswith("knowrepo/rules-")
    (one,) = found["proposals"]
    assert one["type"] == "Solution"
    assert one["description"] == "uv run pytest failed 2 times and worked after uv add pyyaml."


def test_on_a_terminal_a_proposal_says_what_then_where(know, archive, monkeypatch):
    archive(SAID)
    monkeypatch.setattr("sys.stdout.isatty", lambda: True)
    assert know("distill", "-q").out == f"Decision: We use a cache\n    {CACHE}\n"


@pytest.fixture
def rules(monkeypatch, repository):
    """Let the rules find, as they do for everybody."""
    monkeypatch.undo()
    monkeypatch.chdir(repository.root)


def test_tags_are_the_bundles_own_and_no_word_that_is_everywhere(know, archive, repository, rules):
    tagged = concept("Keep the ledger", tags=["ledger-file"])
    write(repository, "concepts/ledger.md", tagged)
    know("tags", "build")
    cause = "The root cause is that the ledger file dropped the tombstone of the manifest."
    archive(cause, f"{cause} The manifest keeps its tombstone now.")
    alone = json.loads(know("distill", "--dry-run", "--json").out)["proposals"][0]["tags"]
    assert alone[0] == "ledger-file"
    assert "manifest" in alone
    for number in range(8):
        write(repository, f"concepts/m{number}.md", concept(f"Manifest {number}", body="Manifest."))
    assert know("index").code == 0
    known = json.loads(know("distill", "--dry-run", "--json").out)["proposals"][0]["tags"]
    assert "manifest" not in known
    assert "tombstone" in known


@pytest.mark.parametrize("damage", [b"", b"not a database", b"SQLite format 3\x00" + bytes(4096)])
def test_a_damaged_catalog_and_tag_index_only_cost_tags(know, archive, repository, rules, damage):
    archive("The root cause is that the ledger dropped the tombstone of the manifest.")
    assert know("index").code == 0
    catalog_file(repository).write_bytes(damage)
    write(repository, "concepts/tag_index.jsonl", "no json\n")
    done = know("distill", "--json", "--dry-run")
    assert done.code == 0
    assert len(json.loads(done.out)["proposals"]) == 1
