"""`know diff`: what became of the knowledge between two revisions."""

from __future__ import annotations

import json

import pytest

from helpers import SESSION, concept, git, transcript, user, write
from knowrepo.git import partial, revisions
from knowrepo.git.layout import repository_at
from knowrepo.history.between import between
from knowrepo.sessions.archive import archive

LONG = "\n\n".join(f"Paragraph {number} of a long text." for number in range(12))


@pytest.fixture
def span(know, repository, at) -> str:
    """A range in which all that there is happened."""
    for name in ("changed", "superseded", "deprecated", "removed", "untouched"):
        write(repository, f"concepts/{name}.md", concept(name, body=f"{LONG}\n\nOn {name} alone."))
    write(repository, "concepts/moved.md", concept("moved", body=f"{LONG}\n\n{LONG}"))
    write(repository, "concepts/index.md", "# Index\n")
    at("2026-05-01")
    write(repository, "concepts/added.md", concept("added", description="Told"))
    write(repository, "concepts/changed.md", concept("changed", tags=["x"], body=LONG))
    know("supersede", "superseded", "added")
    know("deprecate", "deprecated")
    git(repository.root, "mv", "concepts/moved.md", "concepts/to here.md")
    git(repository.root, "rm", "-q", "concepts/removed.md")
    write(repository, "concepts/index.md", "# Other\n")
    at("2026-05-02")
    return "HEAD~1..HEAD"


def test_each_concept_is_told_once_by_what_became_of_it(repository, span):
    found = between(repository, revisions.range_of(repository, span))
    assert [(entry.kind, entry.title) for entry in found.entries] == [
        (kind, kind.replace("renamed", "moved"))
        for kind in ("added", "changed", "superseded", "deprecated", "renamed", "removed")
    ]
    one = {entry.kind: entry for entry in found.entries}
    assert one["renamed"].renamed_from == "concepts/moved.md"
    assert one["superseded"].superseded_by == "concepts/added.md"
    assert one["changed"].changes == ("tags +x", "body -1")


def test_only_what_changed_is_read(repository, span, monkeypatch):
    asked = []
    original = partial.blobs
    monkeypatch.setattr(partial, "blobs", lambda r, oids: asked.extend(oids) or original(r, oids))
    between(repository, revisions.range_of(repository, span))
    untouched = git(repository.root, "rev-parse", "HEAD:concepts/untouched.md").strip()
    assert untouched not in asked
    assert len(asked) == 9  # two a change, one of what is new, gone, or moved as it was


def test_the_text_and_the_json_say_the_same(know, span):
    out = know("diff", span).out
    for line in (
        "added (1)", "  added | added: Told", "  superseded | superseded -> added",
        "  to here | moved (was moved)", "    tags +x, body -1", "removed (1)",
    ):  # fmt: skip
        assert line in out.splitlines()
    told = json.loads(know("diff", span, "--json").out)
    assert told["version"] == 1
    assert [entry["kind"] for entry in told["concepts"]] == [
        "added", "changed", "superseded", "deprecated", "renamed", "removed",
    ]  # fmt: skip
    assert know("diff", span, "--format", "json").out == know("diff", span, "--json").out


def test_the_markdown_is_a_release_note(know, span):
    assert know("diff", span, "--format", "md").out == (
        "## Knowledge: HEAD~1..HEAD\n"
        "\n### Added\n\n- **added** (`concepts/added.md`): Told\n"
        "\n### Changed\n\n- **changed** (`concepts/changed.md`): tags +x, body -1\n"
        "\n### Superseded\n\n- **superseded** (`concepts/superseded.md`),"
        " now `concepts/added.md`\n"
        "\n### Deprecated\n\n- **deprecated** (`concepts/deprecated.md`):"
        " status stable -\\> deprecated\n"
        "\n### Renamed\n\n- **moved** (`concepts/to here.md`), was `concepts/moved.md`\n"
        "\n### Removed\n\n- **removed** (`concepts/removed.md`)\n"
    )


def test_a_title_in_markdown_is_no_markup_and_calls_nobody(know, repository, at):
    write(repository, "concepts/a.md", concept("A"))
    at("2026-05-01")
    title = "[x](https://example.org) <b> @ann fixes #12 \\u202e `"
    write(repository, "concepts/b``c.md", concept(title, description="see www.example.org"))
    at("2026-05-02")
    out = know("diff", "HEAD~1", "--format", "md").out
    assert "\\[x\\](https:\u2060//example.org) \\<b\\> @\u2060ann fixes #\u206012" in out
    assert "www\u2060.example" in out
    assert "(``` concepts/b``c.md ```)" in out
    assert "\u202e" not in out


def test_sessions_are_counted_by_project(know, repository, at, tmp_path):
    write(repository, "concepts/a.md", concept("A"))
    at("2026-05-01")
    one = [user("one", 1, cwd="/work/alpha")]
    list(archive(repository, [transcript(tmp_path / "one", one)]))
    at("2026-05-02")
    two = [*one, user("two", 2, cwd="/work/alpha")]
    list(archive(repository, [transcript(tmp_path / "two", two)]))
    other = SESSION.replace("0f0e", "1111")
    source = transcript(
        tmp_path / "three", [user("x", 1, cwd="C:\\beta", sessionId=other)], f"{other}.jsonl"
    )
    list(archive(repository, [source]))
    at("2026-05-03")
    out = know("diff", "HEAD~1").out
    assert out == "sessions\n  alpha: 1 grown\n  beta: 1 session added\n"
    assert "alpha: 1 session added" in know("diff", "HEAD~2..HEAD~1").out
    assert "alpha: 1 removed" in know("diff", "HEAD..HEAD~2").out
    assert "- alpha: 1 grown" in know("diff", "HEAD~1", "--format", "md").out


def test_a_project_that_is_noted_beside_a_session_is_the_sessions(know, repository, at, tmp_path):
    write(repository, "concepts/a.md", concept("A"))
    at("2026-05-01")
    list(archive(repository, [transcript(tmp_path / "one", [user("numbats", 1, cwd="/w/x")])]))
    note = json.dumps({"name": "tool", "project": "example.org/team/tool"})
    write(repository, f"sessions/claude/{SESSION}.project", note)
    at("2026-05-02")
    assert know("diff", "HEAD~1").out == "sessions\n  tool: 1 session added\n"
    git(repository.root, "rm", "-rq", "sessions")
    at("2026-05-03")
    assert know("diff", "HEAD~1").out == "sessions\n  tool: 1 removed\n"
    asked = ("recall", "--at", "HEAD~1", "--json", "--project", "example.org/team/tool", "numbats")
    assert len(json.loads(know(*asked).out)["hits"]) == 1


def test_what_does_not_differ_says_so_and_is_no_failure(know, repository, at):
    write(repository, "concepts/a.md", concept("A"))
    at("2026-05-01")
    result = know("diff", "HEAD..HEAD")
    assert (result.code, result.out) == (0, "")
    assert "no concept and no session differs" in result.err
    assert "No concept" in know("diff", "HEAD..HEAD", "--format", "md").out


def test_wrong_usage_and_what_is_no_revision(know, repository, at):
    assert know("diff", "a..b").code == 1  # no commit yet
    write(repository, "concepts/a.md", concept("A"))
    at("2026-05-01")
    assert know("diff", "--format", "html").code == 2
    assert know("diff", "--json", "--format", "md").code == 2
    result = know("diff", "nowhere..HEAD")
    assert (result.code, result.err.splitlines()[0]) == (
        1, "know: nowhere: no revision of this repository",
    )  # fmt: skip
    assert know("diff", "--", "--output=x..HEAD").code == 1


def test_a_partial_clone_tells_paths_and_counts_what_it_could_not_read(
    know, repository, span, tmp_path
):
    git(repository.root, "config", "uploadpack.allowFilter", "true")
    git(tmp_path, "clone", "-q", "--filter=blob:none", f"file://{repository.root}", "partial")
    clone = repository_at(tmp_path / "partial")
    before = git(clone.root, "count-objects", "-v")
    result = know("diff", span, "--repo", str(clone.root), "--json")
    assert "concepts: this partial clone lacks what they say" in result.err
    assert json.loads(result.out)["unread"] > 0
    assert git(clone.root, "count-objects", "-v") == before


def test_what_becomes_a_link_or_an_index_is_a_concept_no_more(repository, at):
    write(repository, "concepts/a.md", concept("A"))
    write(repository, "concepts/b.md", concept("B", body=LONG))
    at("2026-05-01")
    (repository.root / "concepts/a.md").unlink()
    (repository.root / "concepts/a.md").symlink_to("b.md")
    git(repository.root, "mv", "concepts/b.md", "concepts/index.md")
    at("2026-05-02")
    found = between(repository, revisions.range_of(repository, "HEAD~1"))
    assert [(entry.kind, entry.path) for entry in found.entries] == [
        ("removed", "concepts/a.md"), ("removed", "concepts/b.md"),
    ]  # fmt: skip
