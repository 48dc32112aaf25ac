from __future__ import annotations

import contextlib
import os

import pytest
from filelock import FileLock

from helpers import (
    assistant,
    catalog_file,
    concept,
    git,
    jsonl,
    make_repository,
    transcript,
    user,
    write,
)
from knowrepo.concepts import bundle
from knowrepo.errors import KnowError
from knowrepo.git.layout import Repository
from knowrepo.index import build, freshness
from knowrepo.index.build import Refreshed, refresh
from knowrepo.index.catalog import SEEN, Catalog, Document, Filter
from knowrepo.sessions.archive import archive


def paths(repository: Repository) -> set[str]:
    catalog = Catalog.open(repository.catalog)
    assert catalog is not None
    with catalog:
        return {document.path for document in catalog.newest(1000, Filter())}


def rows(repository: Repository) -> list[tuple]:
    """Everything that a catalog says, without its own numbers."""
    catalog = Catalog.open(repository.catalog)
    assert catalog is not None
    with catalog:
        found = []
        for document in catalog.newest(1000, Filter()):
            fields = {k: v for k, v in vars(document).items() if k not in {"id", "stamp"}}
            chunks = [
                {k: v for k, v in chunk._asdict().items() if k not in {"id", "document"}}
                for chunk in catalog.chunks_of(document.id)
            ]
            found.append((document.key, fields, chunks))
        words = ["git", "one", "two", "three", "four", "tag0", "tag1"]
        holders = catalog.holders(words)
        held = [
            len(holders.numbers(holders.called.get(word, 0) | holders.said.get(word, 0)))
            for word in words
        ]
        postings = [*held, len(holders.numbers(holders.every))]
        lexical = [len(catalog.lexical([word], 1000, Filter())) for word in words]
    return [*sorted(found, key=lambda row: row[0]), postings, lexical]


def is_current(repository: Repository) -> bool:
    catalog = Catalog.open(repository.catalog)
    assert catalog is not None
    with catalog:
        return freshness.is_current(repository, freshness.Signature.loads(catalog.meta(SEEN)))


def settle(monkeypatch: pytest.MonkeyPatch) -> None:
    """Take times as they are, however young."""
    monkeypatch.setattr(freshness, "_RACY_NANOSECONDS", -1)


def archive_session(repository: Repository, folder, records) -> None:
    list(archive(repository, [transcript(folder, records)]))


def test_tracked_concepts_and_all_sessions_are_indexed(repository, tmp_path):
    write(repository, "concepts/a.md", concept("A"))
    write(repository, "concepts/draft.md", concept("D"), stage=False)
    write(repository, "concepts/index.md", "# Concepts\n")
    archive_session(repository, tmp_path / "in", [user("one", 1)])
    assert refresh(repository) == Refreshed(indexed=2)
    assert {p.split("/")[0] for p in paths(repository)} == {"concepts", "sessions"}
    assert "concepts/draft.md" not in paths(repository)


def test_a_second_run_finds_nothing_to_do(repository):
    write(repository, "concepts/a.md", concept("A"))
    refresh(repository)
    assert refresh(repository) == Refreshed()


def test_what_is_staged_counts_and_what_is_only_edited_does_not(repository):
    write(repository, "concepts/a.md", concept("Old"))
    refresh(repository)
    write(repository, "concepts/a.md", concept("New"), stage=False)
    assert refresh(repository) == Refreshed()
    git(repository.root, "add", "-A")
    assert refresh(repository) == Refreshed(indexed=1)


def test_deletions_renames_and_growth_are_followed(repository, tmp_path, commit):
    write(repository, "concepts/a.md", concept("A"))
    write(repository, "concepts/b.md", concept("B"))
    archive_session(repository, tmp_path / "in", [user("one", 1)])
    commit()
    refresh(repository)
    git(repository.root, "mv", "concepts/a.md", "concepts/moved to.md")
    git(repository.root, "rm", "-q", "concepts/b.md")
    archive_session(repository, tmp_path / "in", [user("one", 1), assistant("two", 2)])
    assert refresh(repository) == Refreshed(indexed=2, removed=2)
    assert "concepts/moved to.md" in paths(repository)


def test_a_budget_leaves_the_rest_for_later_and_says_so(repository):
    for number in range(200):
        write(repository, f"concepts/c{number}.md", concept(f"C{number}"), stage=False)
    git(repository.root, "add", "-A")
    done = refresh(repository, budget=0.0)
    assert done.behind + done.indexed == 200
    assert done.behind > 0
    assert not is_current(repository)
    assert refresh(repository).behind == 0
    assert len(paths(repository)) == 200


def test_a_second_indexer_steps_aside(repository):
    repository.locks.mkdir(parents=True)
    with FileLock(repository.locks / "catalog.lock"):
        assert refresh(repository).busy


def test_the_state_that_was_seen_is_told_from_a_later_one(repository, tmp_path, monkeypatch):
    settle(monkeypatch)
    write(repository, "concepts/a.md", concept("A"))
    archive_session(repository, tmp_path / "in", [user("one", 1)])
    refresh(repository)
    assert is_current(repository)
    archive_session(repository, tmp_path / "in", [user("one", 1), user("two", 2)])
    assert not is_current(repository)
    refresh(repository)
    assert is_current(repository)
    write(repository, "concepts/b.md", concept("B"))
    assert not is_current(repository)


def test_a_git_index_that_was_rewritten_without_a_change_is_current(repository, monkeypatch):
    settle(monkeypatch)
    write(repository, "concepts/a.md", concept("A"))
    refresh(repository)
    content = repository.git_index.read_bytes()
    repository.git_index.unlink()
    repository.git_index.write_bytes(content)
    assert is_current(repository)


def test_a_concept_without_a_date_has_that_of_its_last_commit(repository, commit):
    write(repository, "concepts/a.md", concept("A"))
    write(repository, "concepts/b.md", concept("B", generated="{by: x, at: 2026-01-02T00:00:00Z}"))
    refresh(repository)
    commit()
    refresh(repository)
    catalog = Catalog.open(repository.catalog)
    assert catalog is not None
    with catalog:
        dates = {d.path: d.date for d in catalog.newest(9, Filter())}
    assert dates["concepts/b.md"] == "2026-01-02T00:00:00Z"
    assert dates["concepts/a.md"] == git(repository.root, "log", "-1", "--format=%cI").strip()


def test_broken_concepts_and_odd_sessions_are_indexed_as_far_as_they_go(repository):
    write(repository, "concepts/bad.md", "---\ntitle: [x\n---\nbody words\n")
    write(repository, "concepts/binary.md", "x")
    (repository.concepts / "binary.md").write_bytes(bytes(range(256)))
    git(repository.root, "add", "-A")
    write(repository, "sessions/loose.jsonl", "{}\n")
    write(repository, "sessions/future-agent/x.jsonl", '{"a": 1}\n')
    write(repository, "sessions/claude/empty.jsonl", "")
    assert refresh(repository).indexed == 5


def test_a_hooks_temporary_git_index_is_honoured_and_a_foreign_one_is_not(
    repository, tmp_path, monkeypatch
):
    write(repository, "concepts/a.md", concept("A"))
    other = make_repository(tmp_path / "other")
    write(other, "concepts/other.md", concept("Other"))
    monkeypatch.setenv("GIT_DIR", str(other.git_dir))
    monkeypatch.setenv("GIT_INDEX_FILE", str(other.git_index))
    refresh(repository)
    assert paths(repository) == {"concepts/a.md"}
    assert bundle.read_tracked(repository).keys() == {"concepts/a.md"}
    # That of a commit in the making is what its hook checks, and not yet knowledge.
    monkeypatch.setenv("GIT_DIR", ".git")
    monkeypatch.setenv("GIT_INDEX_FILE", str(tmp_path / "empty-index"))
    assert bundle.read_tracked(repository) == {}
    refresh(repository)
    assert paths(repository) == {"concepts/a.md"}


def test_a_linked_work_tree_has_a_catalog_of_its_own_and_shares_the_vectors(
    repository, tmp_path, commit
):
    from knowrepo.git.layout import repository_at

    write(repository, "concepts/a.md", concept("A"))
    commit()
    git(repository.root, "worktree", "add", "-q", "-b", "side", str(tmp_path / "side"))
    linked = repository_at((tmp_path / "side").resolve())
    git(linked.root, "rm", "-q", "concepts/a.md")
    write(linked, "concepts/b.md", concept("B"))
    refresh(repository)
    refresh(linked)
    assert paths(repository) == {"concepts/a.md"}
    assert paths(linked) == {"concepts/b.md"}
    assert linked.vectors.resolve() == repository.vectors.resolve()


def test_a_knowledge_repository_in_a_subfolder_is_indexed(tmp_path, monkeypatch):
    from knowrepo.git.layout import repository_at

    top = make_repository(tmp_path / "code")
    inner = top.root / "docs" / "memory"
    inner.mkdir(parents=True)
    (inner / "know.toml").write_text("format = 1\n")
    repository = repository_at(inner)
    write(repository, "concepts/a.md", concept("A"))
    git(top.root, "commit", "-qm", "x")
    refresh(repository)
    assert paths(repository) == {"concepts/a.md"}
    assert repository.catalog != top.catalog
    # git hands its directory down to the hooks of a linked work tree.
    git(top.root, "worktree", "add", "-q", "-b", "side", str(tmp_path / "side"))
    linked = repository_at((tmp_path / "side" / "docs" / "memory").resolve())
    monkeypatch.setenv("GIT_DIR", str(linked.git_dir))
    monkeypatch.setenv("GIT_INDEX_FILE", str(linked.git_index))
    assert bundle.read_tracked(linked).keys() == {"concepts/a.md"}


def test_one_bad_document_costs_one_document(repository, tmp_path):
    write(repository, "concepts/a.md", concept("A"))
    records = [user("half an emoji \ud83d here", 1, cwd="/x\udcff", gitBranch="\ud800")]
    archive_session(repository, tmp_path / "in", records)
    with contextlib.suppress(OSError):  # some file systems take no such name
        (repository.sessions / "claude" / os.fsdecode(b"odd\xff.jsonl")).write_text("{}")
    os.mkfifo(repository.sessions / "claude" / "pipe.jsonl")
    assert refresh(repository).indexed == 2
    assert refresh(repository) == Refreshed()


def test_a_document_that_cannot_be_read_is_named_and_not_tried_again(repository, monkeypatch):
    write(repository, "concepts/a.md", concept("A"))
    write(repository, "concepts/b.md", concept("B"))

    def fail_for_a(catalog, path, oid, data):
        if path.endswith("a.md"):
            catalog.put(Document("concepts/a", "u", path, oid, "concept"), [])
            raise ValueError("odd")
        put_concept(catalog, path, oid, data)

    put_concept = build.put_concept
    monkeypatch.setattr(build, "put_concept", fail_for_a)
    done = refresh(repository)
    assert done.notes == ("concepts/a.md: not indexed: ValueError: odd",)
    assert refresh(repository) == Refreshed()
    assert paths(repository) == {"concepts/a.md", "concepts/b.md"}


def test_a_session_that_cannot_be_read_now_stays_as_it_was(repository, tmp_path, monkeypatch):
    archive_session(repository, tmp_path / "in", [user("one", 1)])
    refresh(repository)
    archive_session(repository, tmp_path / "in", [user("one", 1), user("two", 2)])

    def too_many_files(*_: object) -> None:
        raise OSError(24, "Too many open files")

    with monkeypatch.context() as patched:
        patched.setattr(build, "put_session", too_many_files)
        done = refresh(repository)
    assert (done.behind, done.indexed) == (1, 0)
    assert "Too many open files" in done.notes[0]
    assert [len(row[2]) for row in rows(repository)[:1]] == [1]
    refresh(repository)
    assert [len(row[2]) for row in rows(repository)[:1]] == [2]


def test_ids_that_contradict_each_other_cost_one_document(repository, tmp_path):
    write(repository, "concepts/a.md", concept("A"))
    odd = [user("x", 1, uuid="a"), user("y", 2, uuid="a"), user("z", 3, uuid="a\0002")]
    archive_session(repository, tmp_path / "in", odd)
    refresh(repository)
    assert "concepts/a.md" in paths(repository)
    assert refresh(repository) == Refreshed()


def test_a_damaged_catalog_is_built_anew(repository):
    for number in range(60):
        write(repository, f"concepts/c{number}.md", concept(f"C{number}", body="x " * 200))
    refresh(repository)
    file = catalog_file(repository)
    size = file.stat().st_size
    with file.open("r+b") as stream:
        stream.seek(8192)
        stream.write(os.urandom(size - 8192))
    for leftover in file.parent.glob(f"{file.name}-*"):
        leftover.unlink()
    refresh(repository)
    assert len(paths(repository)) == 60


@pytest.mark.parametrize("anew", [False, True], ids=["as it was", "built anew"])
def test_of_what_is_in_conflict_our_side_is_indexed(repository, commit, anew):
    session = repository.sessions / "claude" / "x.jsonl"
    session.parent.mkdir()
    write(repository, "concepts/a.md", concept("Base"))
    session.write_bytes(jsonl([user("base", 1)]))
    commit()
    for branch in ("theirs", "ours"):
        git(repository.root, "checkout", "-q", "-B", branch, "main")
        write(repository, "concepts/a.md", concept(branch))
        session.write_bytes(jsonl([user("base", 1), user(f"word {branch}", 2)]))
        commit()
    refresh(repository)
    git(repository.root, "merge", "-q", "theirs", check=False)
    assert b"<<<<<<<" in session.read_bytes()
    if anew:
        Catalog.discard(repository.catalog)
    assert refresh(repository).notes == ()
    catalog = Catalog.open(repository.catalog)
    assert catalog is not None
    with catalog:
        concepts = catalog.newest(9, Filter(kind="concept"))
        found = [document.title for document in concepts]
        words = [len(catalog.lexical([word], 9, Filter())) for word in ("ours", "theirs")]
    assert found == ["ours"]
    assert words == [2, 0]  # the concept and the session
    assert not (repository.locks / "ours").exists()
    with pytest.raises(KnowError, match="in conflict"):
        bundle.write_generated(repository)


def test_a_growing_session_rewrites_only_what_changed(repository, tmp_path):
    records = [user(f"question {n}", n) for n in range(1, 30)]

    def numbers() -> dict[str, int]:
        catalog = Catalog.open(repository.catalog)
        assert catalog is not None
        with catalog:
            (document,) = catalog.newest(1, Filter())
            return {chunk.uid: chunk.id for chunk in catalog.chunks_of(document.id)}

    archive_session(repository, tmp_path / "in", records)
    refresh(repository)
    before = numbers()
    archive_session(repository, tmp_path / "in", [*records, user("question 30", 30)])
    refresh(repository)
    after = numbers()
    assert len(after) == 30
    assert before.items() <= after.items()


def test_a_link_in_the_place_of_the_sessions_is_not_followed(repository, tmp_path):
    transcript(tmp_path / "outside" / "claude", [user("private", 1)])
    repository.sessions.rmdir()
    repository.sessions.symlink_to(tmp_path / "outside")
    with pytest.raises(KnowError, match="leads out of the repository"):
        refresh(repository)
