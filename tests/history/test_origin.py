"""`know blame`: who or what brought each statement."""

from __future__ import annotations

import json

from helpers import SESSION, concept, git, write
from knowrepo.concepts.document import parse
from knowrepo.history.origin import origins
from knowrepo.history.statements import statements

QUOTING = f"""---
type: Decision
title: "Two stores"
sources:
  - id: s1
    resource: ../sessions/claude/{SESSION}.jsonl#u-1
    title: "Storing vectors"
  - id: web
    resource: https://example.org/page
    author: "human:ann"
---

# Choice

Two stores, for words and vectors.[^s1]

- a page says so[^web]

[^s1]: said in a session
[^web]: a page
"""


def by_text(found) -> dict[str, str]:
    return {
        one.statement.text: one.commit.subject if one.commit else "" for one in found.origins
    }  # fmt: skip


def test_each_statement_has_the_commit_that_brought_it(repository, at):
    write(repository, "concepts/a.md", concept("A", body="First.\n\n- one\n- two"))
    at("2026-05-01", "begin")
    write(repository, "concepts/a.md", concept("A", body="First.\n\n- one\n- three\n\nLast."))
    at("2026-05-02", "go on")
    write(
        repository, "concepts/a.md",
        concept("B", body="First.\n\n- one\n- three\n\nLast."), stage=False,
    )  # fmt: skip
    assert by_text(origins(repository, "a")) == {
        "type: Decision": "begin", 'title: "B"': "", "tags: []": "begin", "First.": "begin",
        "- one": "begin", "- three": "go on", "Last.": "go on",
    }  # fmt: skip


def test_a_paragraph_of_several_commits_names_the_last_and_counts_the_others(know, repository, at):
    write(repository, "concepts/a.md", concept("A", body="one\ntwo\nthree"))
    first = at("2026-05-01", "begin")
    write(repository, "concepts/a.md", concept("A", body="one\ntwo, more\nthree"))
    second = at("2026-05-02", "go on")
    last = origins(repository, "a").origins[-1]
    assert [(share.commit.oid, share.lines) for share in last.shares] == [(second, 1), (first, 2)]
    assert "one two, more three (and 1 earlier commit)" in know("blame", "a").out


def test_renames_and_moves_within_the_file_keep_the_commit(repository, at):
    one, two = ("A long enough sentence about " + what for what in ("marsupials.", "monotremes."))
    write(repository, "concepts/a.md", concept("A", body=f"{one}\n\n{two}"))
    at("2026-05-01", "begin")
    git(repository.root, "mv", "concepts/a.md", "concepts/b.md")
    write(repository, "concepts/b.md", concept("A", body=f"{two}\n\n{one}"))
    at("2026-05-02", "move")
    found = by_text(origins(repository, "b"))
    assert (found[one], found[two]) == ("begin", "begin")


def test_a_footnote_leads_to_the_session_and_the_record(know, repository, at):
    write(repository, "concepts/a.md", QUOTING)
    commit = at("2026-05-01", "begin")
    found = {one.statement.text: one for one in origins(repository, "a").origins}
    (said,) = found["Two stores, for words and vectors.[^s1]"].sources
    assert (said.session, said.record) == (f"claude/{SESSION}", "u-1")
    (page,) = found["- a page says so[^web]"].sources
    assert (page.session, page.resource, page.author) == (
        "", "https://example.org/page", "human:ann",
    )  # fmt: skip
    out = know("blame", "a").out
    assert f"{commit[:10]} 2026-05-01 Ann" in out
    assert f"[^s1] session claude/{SESSION}, record u-1: Storing vectors" in out
    told = json.loads(know("blame", "a", "--json").out)
    cited = next(one for one in told["statements"] if one["text"].startswith("Two stores"))
    assert cited["commits"][0]["commit"] == commit
    assert cited["sources"][0]["record"] == "u-1"
    assert [source["id"] for source in told["sources"]] == ["s1", "web"]


def test_sources_that_are_none_of_ours_name_no_session(repository, at):
    for target in ("../../sessions/claude/x.jsonl", "sessions/x", "../sessions/../etc", 7, "[]"):
        write(repository, "concepts/a.md", f"---\ntype: A\nsources:\n  - resource: {target}\n---\n")
        assert {one.session for one in origins(repository, "a").sources} == {""}
    write(repository, "concepts/a.md", "---\ntype: A\nsources: [1, {}, [x]]\n---\n")
    assert len(origins(repository, "a").sources) == 1


def test_what_no_commit_has_is_said_to_be_in_none(know, repository, at):
    write(repository, "concepts/draft.md", concept("Draft"), stage=False)
    assert "not committed yet" in know("blame", "draft").out
    at("2026-05-01")
    write(repository, "concepts/new.md", concept("New"))
    assert {one.commit for one in origins(repository, "new").origins} == {None}
    told = json.loads(know("blame", "new", "--json").out)
    assert told["statements"][0]["commits"] == [{"commit": "", "lines": 1}]


def test_of_a_concept_that_was_removed_the_history_is_pointed_to(know, repository, at):
    write(repository, "concepts/x/a.md", concept("A"))
    at("2026-05-01")
    (repository.root / "concepts/x/a.md").unlink()
    for day in ("2026-05-02", "2026-05-03"):  # of the work tree, then of a commit
        told = know("blame", "x/a")
        assert (told.code, told.out) == (1, "")
        assert told.err == (
            "know: concepts/x/a.md: removed\n  `know history concepts/x/a.md` says when\n"
        )
        write(repository, "concepts/b.md", concept(day))
        at(day)


def test_a_command_of_the_users_is_not_run_to_show_a_file(repository, at, tmp_path):
    write(repository, "concepts/a.md", concept("A"))
    write(repository, ".gitattributes", "*.md diff=loud\n")
    at("2026-05-01", "begin")
    mark = tmp_path / "ran"
    git(repository.root, "config", "diff.loud.textconv", f"touch {mark}; cat")
    assert by_text(origins(repository, "a"))['title: "A"'] == "begin"
    assert not mark.exists()


def test_odd_names_and_windows_line_ends(know, repository, at):
    path = "concepts/a b/ü\nnew.md"
    write(repository, path, "")
    (repository.root / path).write_bytes(
        concept("A", body="one\n\ntwo").replace("\n", "\r\n").encode()
    )
    at("2026-05-01", "begin")
    found = by_text(origins(repository, path))
    assert found == {
        "type: Decision": "begin", 'title: "A"': "begin", "tags: []": "begin",
        "one": "begin", "two": "begin",
    }  # fmt: skip
    assert know("blame", path).code == 0


def test_statements_end_where_a_reader_would_say():
    body = "\n".join([
        "# One", "text", "goes on", "* item", "  goes on", "  1. below", "| a | b |", "|---|---|",
        "| 1 | 2 |", "```sh", "# no heading", "", "- no item", "```", "after", "", "[^a]: note",
        "~~~", "open",
    ])  # fmt: skip
    text = f"---\ntype: A\nlist:\n  - x\n\nlast: y\n---\n{body}\n"
    lines = text.split("\n")[:-1]
    found = statements(parse(text.encode()), lines)
    assert [one.text for one in found] == [
        "type: A", "list:\n  - x", "last: y", "# One", "text\ngoes on", "* item\n  goes on",
        "  1. below", "| a | b |", "|---|---|", "| 1 | 2 |",
        "```sh\n# no heading\n\n- no item\n```", "after", "[^a]: note", "~~~\nopen",
    ]  # fmt: skip
    assert [lines[one.start - 1] for one in found] == [one.text.split("\n")[0] for one in found]


def test_a_file_without_front_matter_is_blamed_too(know, repository, at):
    write(repository, "concepts/a.md", "just text\n")
    write(repository, "concepts/b.md", "---\ntype: [\n---\nbroken\n")
    at("2026-05-01", "begin")
    assert by_text(origins(repository, "a")) == {"just text": "begin"}
    assert by_text(origins(repository, "b"))["broken"] == "begin"
    assert know("blame", "nowhere").code == 1
