"""The commands as a user types them: output, remarks and exit codes through `main`."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from itertools import pairwise
from pathlib import Path

import pytest
from filelock import FileLock

from helpers import (
    SESSION,
    Result,
    assistant,
    catalog_file,
    concept,
    git,
    jsonl,
    make_repository,
    part_ways,
    transcript,
    user,
    write,
)
from knowrepo.git.layout import Repository
from knowrepo.index import build


@pytest.fixture
def filled(repository, tmp_path) -> Repository:
    write(repository, "concepts/hooks.md", concept("Hooks never add", tags=["git"], body="text"))
    (repository.root / "in").mkdir()
    transcript(
        repository.root / "in",
        [user("why does it lock?", 1), assistant("because of the journal", 2), user("ok", 3)],
    )
    return repository


def one_line_error(result: Result, code: int, *words: str, out: str = "") -> None:
    assert result.code == code, result.err
    first, *rest = result.err.strip().splitlines()
    assert first.startswith("know: ")
    assert len(rest) <= 1
    assert result.out.startswith(out) if out else result.out == ""
    for word in words:
        assert word in result.err


# -- the main job ---------------------------------------------------------------


def test_from_transcripts_to_an_answer(know, filled):
    archived = know("archive", "in")
    assert archived.code == 0
    assert archived.out == f"claude/{SESSION}: new, 3 lines, 849 B\n"
    assert know("archive", "in").out == f"claude/{SESSION}: unchanged\n"
    assert know("index", "--no-vectors").out == "catalog: 2 documents indexed, 0 removed\n"
    assert know("index", "--no-vectors").out == "catalog: 0 documents indexed, 0 removed\n"
    found = know("recall", "journal", "lock")
    assert found.code == 0
    assert "| why does it lock?" in found.out
    assert "words' weight): 2 hits" in found.err
    assert "words only" in found.err


def test_recall_prints_ids_that_get_and_timeline_take(know, filled):
    know("archive", "in")
    hit = json.loads(know("recall", "journal", "--json").out)["hits"][0]
    body = know("recall", "--get", hit["id"])
    assert body.code == 0
    assert "because of the journal" in body.out
    near = know("recall", "--timeline", hit["id"], "--window", "1").out.splitlines()
    assert [line[:3] for line in near] == ["> [", "  ["]
    full = know("recall", "--timeline", hit["id"], "--full").out
    assert "User: ok" in full


def test_a_sub_agent_is_told_by_short_names_that_export_takes(know, filled):
    below = filled.sessions / "claude" / "0b0b0b0b-0000-4000-8000-000000000000"
    below.mkdir(parents=True)
    for name in ("agent-a2271d1", "agent-b"):
        (below / f"{name}.jsonl").write_bytes(jsonl([user(f"the zebra task of {name}", 1)]))
    shown = [line.split()[1] for line in know("recall", "zebra").out.splitlines()]
    assert sorted(shown) == ["claude/0b0b0b0b/agent-a2", "claude/0b0b0b0b/agent-b"]
    for name in shown:
        assert "zebra" in know("export", name).out


def test_get_brings_what_it_finds_and_names_what_it_does_not(know, filled):
    hit = json.loads(know("recall", "tag:git", "--json").out)["hits"][0]
    result = know("recall", "--get", f"{hit['id']},ffffffff")
    assert result.code == 1
    assert "# " not in result.out.splitlines()[0]
    assert "text" in result.out
    assert result.err == "[no match for ffffffff]\n"


def test_json_is_clean_and_complete(know, filled):
    know("archive", "in")
    for arguments in (["journal"], ["tag:git"], ["what is it"], ["nothing of the kind"]):
        result = know("recall", *arguments, "--json")
        assert json.loads(result.out)["version"] == 1
    full = json.loads(know("recall", "journal", "--json", "--full").out)
    assert full["hits"][0]["text"].startswith("User: why")
    got = json.loads(know("recall", "--get", full["hits"][0]["id"], "--json").out)
    assert got["hits"][0]["text"] == full["hits"][0]["text"]
    assert json.loads(know("status", "--json").out)["sessions"] == 1


def test_quiet_leaves_only_data(know, filled):
    result = know("recall", "tag:git", "-q")
    assert result.err == ""
    assert len(result.out.splitlines()) == 1


def test_no_match_is_no_failure(know, filled):
    result = know("recall", "zebra", "crossing")
    assert (result.code, result.out) == (0, "")
    assert "no match" in result.err


def test_status_says_what_is_there_and_what_is_not(know, filled, monkeypatch, tmp_path):
    monkeypatch.setenv("KNOW_CACHE", str(tmp_path / "no models"))
    assert "not built" in know("status").out
    know("index")
    status = know("status").out
    assert "1 concept, " in status
    assert "none; `know model pull` brings one" in status


def test_index_without_a_model_indexes_words_and_says_so(know, filled, monkeypatch, tmp_path):
    monkeypatch.setenv("KNOW_CACHE", str(tmp_path / "no models"))
    result = know("index")
    assert result.code == 0
    assert "no vectors: there is no model; `know model pull` brings one" in result.err


# -- concepts and tags ------------------------------------------------------------


def test_check_gives_places_and_codes_and_fails_on_errors(know, repository):
    write(repository, "concepts/good.md", concept())
    assert know("check").code == 0
    write(repository, "concepts/bad.md", "---\ntitle: One: two\n---\n")
    result = know("check")
    assert result.code == 1
    assert result.out.startswith("concepts/bad.md:1:1: error OKF105")
    assert "concepts/bad.md:2:11: error OKF103 not YAML" in result.out
    assert "not conformant: 2 errors" in result.err
    shown = json.loads(know("check", "--json").out)
    errors = [finding for finding in shown["findings"] if finding["severity"] == "error"]
    assert (shown["conformant"], len(errors)) == (False, 2)


def test_check_looks_at_what_git_tracks_or_at_what_is_named(know, repository):
    write(repository, "concepts/draft.md", "no front matter\n", stage=False)
    assert know("check").code == 0
    assert know("check", "concepts/draft.md").code == 1


def test_strict_fails_on_warnings(know, repository):
    write(repository, "concepts/a.md", concept(body="[x](gone.md)"))
    assert know("check").code == 0
    assert know("check", "--strict").code == 1


def test_an_unknown_key_in_know_toml_is_pointed_at(know, repository):
    (repository.root / "know.toml").write_text('format = 1\ncommand = "rm -rf /"\n')
    assert "know.toml:1:1: warning KNOW301 `command` means nothing here" in know("check").out


def test_tags_are_built_checked_and_listed(know, repository):
    write(repository, "concepts/a.md", concept(tags=["git", "x"]))
    write(repository, "concepts/b.md", concept("B", tags=["git"]))
    assert know("tags", "check").code == 1
    assert know("tags", "build").out.count("written") == 2
    assert know("tags", "build").out.count("up to date") == 2
    assert know("tags", "check").code == 0
    git(repository.root, "rm", "-q", "--cached", "concepts/index.md")
    result = know("tags", "check")
    assert result.code == 1
    assert "know tags build" in result.err
    assert know("tags", "list").out == "    2  git  Decision\n    1  x    Decision\n"


def test_an_index_that_a_person_wrote_is_left_alone(know, repository):
    write(repository, "concepts/index.md", "# Mine\n")
    assert "written by hand, left alone" in know("tags", "build").err
    assert (repository.concepts / "index.md").read_text() == "# Mine\n"
    git(repository.root, "add", "-A")
    assert know("tags", "check").code == 0


# -- bad input ---------------------------------------------------------------------


def test_not_a_repository(know, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    one_line_error(know("recall", "x"), 1, "no knowledge repository", "know init")


def test_not_a_git_repository(know, tmp_path):
    (tmp_path / "plain").mkdir()
    (tmp_path / "plain" / "know.toml").write_text("")
    one_line_error(know("recall", "x", "--repo", str(tmp_path / "plain")), 1, "not in a git")
    one_line_error(know("recall", "x", "--repo", str(tmp_path / "gone")), 1, "no such folder")


def test_a_bare_repository(know, tmp_path):
    git(tmp_path, "init", "-q", "--bare", "bare.git")
    (tmp_path / "bare.git" / "know.toml").write_text("")
    result = know("recall", "x", "--repo", str(tmp_path / "bare.git"))
    one_line_error(result, 1, "bare")


def test_an_empty_repository(know):
    assert know("recall", "x").code == 0
    assert know("check").code == 0
    assert know("index", "--no-vectors").code == 0
    assert know("status").code == 0
    assert know("tags", "list").out == ""


@pytest.mark.parametrize("given", ["zzz", "abc", "a3f2;ls", "../x"])
def test_a_malformed_id(know, filled, given):
    one_line_error(know("recall", "--get", given), 2, "is no id", "4 to 40 hex digits")


def test_an_unknown_id(know, filled):
    result = know("recall", "--get", "ffffffffff")
    assert (result.code, result.out, result.err) == (1, "", "[no match for ffffffffff]\n")
    result = know("recall", "--timeline", "ffffffffff")
    one_line_error(result, 1, "[no match for ffffffffff]")


def test_an_ambiguous_id_lists_its_candidates(know, repository):
    for number in range(600):
        write(repository, f"concepts/c{number}.md", concept(f"C{number}"), stage=False)
    git(repository.root, "add", "-A")
    know("index", "--no-vectors")
    from knowrepo.index.catalog import Catalog

    catalog = Catalog.open(repository.catalog)
    assert catalog is not None
    with catalog:
        uids = sorted(uid for uid, _, _ in catalog.with_prefix("", limit=5000))
    twin = next(a[:4] for a, b in pairwise(uids) if a[:4] == b[:4])
    result = know("recall", "--get", twin)
    assert result.code == 1
    assert f"[{twin} is ambiguous: " in result.err
    for candidate in result.err.split(": ")[1].strip("]\n").split(", "):
        assert know("recall", "--get", candidate).code == 0


@pytest.mark.parametrize(
    "arguments",
    [
        ["recall"],
        ["recall", "x", "--kind", "thing"],
        ["recall", "x", "--since", "yesterday"],
        ["recall", "x", "--until", "2027-13"],
        ["recall", "x", "--agent", "bogus"],
        ["archive", "--all", "--since", "2027-13"],
        ["recall", "x", "-k", "0"],
        ["recall", "x", "--get", "a3f2"],
        ["nothing"],
        ["index", "--nothing"],
        ["model", "pull", "unknown-model"],
        ["archive"],
    ],
)
def test_wrong_usage_exits_with_2(know, filled, arguments):
    result = know(*arguments)
    assert result.code == 2
    assert result.err
    assert result.out == ""


def test_a_file_that_is_no_transcript(know, tmp_path):
    (tmp_path / "photo.jsonl").write_bytes(b"\x89PNG\r\n\x1a\n" + bytes(100))
    result = know("archive", str(tmp_path / "photo.jsonl"))
    assert result.code == 1
    assert "not a transcript that know can read" in result.err
    one_line_error(know("archive", str(tmp_path / "gone")), 1, "no such file or folder")


def test_an_unwritable_git_directory(know, filled):
    (filled.git_dir / "know").write_text("in the way")
    one_line_error(know("index"), 1, "cannot be written", "git directory")
    one_line_error(know("archive", "in"), 1, "cannot be written")
    result = know("recall", "tag:git")
    assert result.code == 0
    assert "cannot be written" in result.err


def test_a_missing_wrong_or_truncated_model(know, filled, own_environment, tmp_path):
    configuration = own_environment / "config.toml"
    configuration.write_text(f'model = "{tmp_path}/gone.gguf"\n')
    # Words are indexed all the same.
    one_line_error(know("index"), 1, "is not there", "config.toml", out="catalog: 1 documents")
    assert "unusable" in know("status").out
    (tmp_path / "gone.gguf").write_bytes(b"no model")
    one_line_error(know("index"), 1, "not a GGUF file", out="catalog:")
    (tmp_path / "gone.gguf").write_bytes(b"GGUF\x03\0\0\0")
    one_line_error(know("index"), 1, "llama.cpp cannot load it", out="catalog:")
    result = know("recall", "journal")
    assert result.code == 0
    assert know("index", "--no-vectors").code == 0


@pytest.mark.parametrize("content", ["model = [", "model = 3", 'projects = "x"', "\xff"])
def test_a_broken_configuration(know, filled, own_environment, content):
    (own_environment / "config.toml").write_text(content, encoding="latin-1")
    one_line_error(know("index"), 1, "config.toml", out="catalog:")


def test_a_newer_or_broken_know_toml(know, repository):
    (repository.root / "know.toml").write_text("format = 99\n")
    one_line_error(know("check"), 1, "newer than this know understands")
    (repository.root / "know.toml").write_text("format = [\n")
    one_line_error(know("check"), 1, "not valid TOML")


def test_a_bug_is_said_to_be_ours_and_leaves_a_log(know, filled, monkeypatch):
    from knowrepo.recall import route

    def fail(*_: object, **__: object) -> None:
        raise ZeroDivisionError("oops")

    monkeypatch.setattr(route, "recall", fail)
    result = know("recall", "x")
    assert result.code == 3
    assert "a bug: ZeroDivisionError: oops" in result.err
    log = Path(result.err.strip().rsplit(" ", 1)[1])
    assert "Traceback" in log.read_text()
    log.unlink()
    noted = (filled.logs / "know.log").read_text()
    assert f"{filled.logs / 'know.log'} says where in the code" in result.err
    assert '"run": "recall", "outcome": "bug"' in noted
    assert "oops" not in noted


def test_an_interrupt_exits_with_130(know, filled, monkeypatch):
    from knowrepo.recall import route

    def interrupt(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(route, "recall", interrupt)
    assert know("recall", "x").code == 130


def test_the_version(know):
    assert know("--version").out.startswith("know ")


def test_nothing_that_a_terminal_obeys_is_printed(know, filled):
    front = '"\\e]0;pwn\\a\\x9b2J"'
    write(
        filled, "concepts/x.md", f"---\ntype: X\ntitle: {front}\ntags: [{front}]\n---\n\x1b[31m\n"
    )
    write(filled, "concepts/e\x1b[31m.md", "---\ntype: X\n---\n[a](\x1b[2J.md)\n")
    transcript(filled.root / "in", [user("red \x1b[31m text \x9b zebra", 1)])
    (filled.root / "in" / "\x1b]0;pwn\x07.jsonl").write_text("")
    know("archive", "in")
    for arguments in (
        ["archive", "in"], ["recall", "red", "zebra"], ["recall", "red", "zebra", "--full"],
        ["recall", "type:X"], ["check"], ["tags", "list"], ["tags", "build"], ["status"],
    ):  # fmt: skip
        result = know(*arguments)
        assert result.code in {0, 1}
        assert not any(c in result.out + result.err for c in "\x1b\x07\x9b"), arguments
    assert "\x1b" not in (filled.concepts / "index.md").read_text()


OBEYED = "\u202e zebra \u2066\x9b2J\x7f"


def test_nothing_that_reorders_text_is_printed_and_json_escapes_it(know, filled):
    transcript(filled.root / "in", [user(f"red {OBEYED} end", 1)])
    know("archive", "in")
    for arguments in (["recall", "zebra"], ["recall", "zebra", "--full"], ["sessions"]):
        result = know(*arguments)
        assert "[U+202E] zebra" in result.out, arguments
        assert not any(c in result.out for c in "\u202e\u2066\x9b\x7f"), arguments
    listed = know("sessions", "--json")
    found = know("recall", "zebra", "--json", "--full")
    body = know("recall", "--get", json.loads(found.out)["hits"][0]["id"], "--json")
    for result in (listed, found, body):
        assert not any(c in result.out for c in "\u202e\u2066\x9b\x7f")
        assert "\\u202e" in result.out
    assert any(OBEYED in s["title"] for s in json.loads(listed.out)["sessions"])
    assert OBEYED in json.loads(body.out)["hits"][0]["text"]


def test_a_conflict_is_pointed_at(know, repository):
    part_ways(repository)
    git(repository.root, "merge", "-q", "one", check=False)
    result = know("check")
    assert result.code == 1
    assert "concepts/a.md:1:1: error KNOW302 in conflict" in result.out
    one_line_error(know("tags", "build"), 1, "concepts/a.md: in conflict", "git add")


@pytest.mark.parametrize(
    ("ours", "theirs", "path", "said"),
    [
        ("mv concepts/old concepts/new", "add concepts/old/b.md", "concepts/new/b.md",
         "git moved it along"),
        ("rm -q concepts/old/a.md", "edit concepts/old/a.md", "concepts/old/a.md",
         "one side changed and the other removed it: `git add` it to keep it, or `git rm` it"),
        ("mv concepts/old/a.md concepts/x.md", "mv concepts/old/a.md concepts/y.md",
         "concepts/old/a.md", "both sides renamed it: `git rm` this name"),
    ],
    ids=["moved", "changed", "gone"],
)  # fmt: skip
def test_of_a_conflict_without_markers_it_is_said_what_git_asks(
    know, repository, commit, ours, theirs, path, said
):
    write(repository, "concepts/old/a.md", concept("A", body="what it says\n" * 9))
    commit()
    for branch, step in (("one", ours), ("two", theirs)):
        git(repository.root, "checkout", "-q", "-b", branch, "main")
        name, *words = step.split()
        if name in ("add", "edit"):
            write(repository, words[0], concept("A", body="what it says\n" * 10 + name))
        else:
            git(repository.root, name, *words)
        commit()
    git(repository.root, "merge", "-q", "one", check=False)
    found = [line for line in know("check").out.splitlines() if "KNOW302" in line]
    assert [line for line in found if line.startswith(f"{path}:1:1:") and said in line], found


def test_a_draft_that_git_does_not_know_is_mentioned(know, repository):
    write(repository, "concepts/q.md", concept("Quokka"), stage=False)
    for command in (["check"], ["tags", "build"]):
        assert "left out: concepts/q.md; `git add` makes it count" in know(*command).err


def test_an_empty_path_is_no_consent(know, filled):
    one_line_error(know("archive", ""), 2, "an empty path")


def test_a_filter_alone_lists_the_newest(know, filled):
    assert "Hooks never add" in know("recall", "--type", "Decision").out
    assert know("recall", "--since", "2026-05", "--until", "2026").code == 0


def test_ids_are_taken_as_they_were_printed(know, filled):
    printed = know("recall", "tag:git", "-q").out.split(" ")[0]
    assert know("recall", "--get", printed).code == 0
    mixed = know("recall", "--get", f"{printed},zz")
    assert mixed.code == 2
    assert "text" in mixed.out
    assert "`zz` is no id" in mixed.err
    assert know("recall", "--get", ",").code == 2
    assert know("recall", "--get", printed, "--timeline", printed).code == 2


def test_a_hash_before_prose_is_no_tag(know, filled):
    assert "structured" not in know("recall", "#include", "journal").err
    assert "structured" in know("recall", "#git").err


def test_a_second_indexer_says_that_another_is_at_work_and_ends_well(know, filled, monkeypatch):
    refresh = build.refresh
    monkeypatch.setattr(build, "refresh", lambda *a, **k: refresh(*a, **{**k, "wait": 0.0}))
    filled.locks.mkdir(parents=True, exist_ok=True)
    with FileLock(filled.locks / "catalog.lock"):
        result = know("index", "--no-vectors")
    assert result.code == 0
    assert result.out == ""
    assert "another process is indexing" in result.err


def test_a_damaged_catalog_is_said_to_be_and_built_anew(know, filled):
    for number in range(60):
        write(filled, f"concepts/c{number}.md", concept(f"C{number}", body="word " * 200))
    know("index", "--no-vectors")
    file = catalog_file(filled)
    with file.open("r+b") as stream:
        size = stream.seek(0, 2)
        stream.seek(8192)
        stream.write(b"\xa5" * (size - 8192))
    for leftover in file.parent.glob(f"{file.name}-*"):
        leftover.unlink()
    assert "damaged" in know("status").out
    one_line_error(know("recall", "word"), 1, "damaged", "built anew")
    assert know("recall", "word").out
    for table in ("postings", "chunks", "words"):
        with closing(sqlite3.connect(catalog_file(filled))) as connection, connection:
            connection.execute(f"DROP TABLE {table}")
        assert know("recall", "word", "zebra", "--all").code == 1
        assert know("recall", "word", "zebra", "--all").out


def test_a_catalog_with_bytes_that_are_no_text_is_built_anew(know, filled):
    know("archive", "in")
    know("index", "--no-vectors")
    with closing(sqlite3.connect(catalog_file(filled))) as connection, connection:
        connection.execute("UPDATE chunks SET text = CAST(x'6c6f636bff' AS TEXT)")
    one_line_error(know("recall", "journal"), 1, "damaged", "built anew")
    assert "because of the journal" in know("recall", "journal", "--full").out


# -- pre-commit's entries ------------------------------------------------------------


def test_the_tags_hook_fails_until_the_commit_has_what_it_rebuilt(know, repository):
    write(repository, "concepts/a.md", concept(tags=["git"]))
    first = know("hook", "tags")
    assert first.code == 1
    assert "git add concepts/index.md concepts/tag_index.jsonl" in first.err
    assert know("hook", "tags").code == 1  # rebuilt, and still not part of the commit
    git(repository.root, "add", "-A")
    assert know("hook", "tags").code == 0


def test_two_knowledge_repositories_do_not_meet(know, repository, tmp_path):
    other = make_repository(tmp_path / "other")
    write(other, "concepts/x.md", concept("Elsewhere", tags=["far"]))
    assert know("recall", "tag:far").out == ""
    assert "Elsewhere" in know("recall", "tag:far", "--repo", str(other.root)).out
