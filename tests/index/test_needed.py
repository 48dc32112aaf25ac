from __future__ import annotations

import os
import random
import shutil
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from helpers import (
    SESSION,
    WordEmbedder,
    assistant,
    concept,
    git,
    jsonl,
    make_repository,
    user,
    write,
)
from knowrepo.git.layout import Repository, repository_at
from knowrepo.index.build import refresh
from knowrepo.index.catalog import Catalog
from knowrepo.index.fill import embed, pending_texts
from knowrepo.index.needed import needed
from knowrepo.index.vectors import VectorStore
from knowrepo.sessions import store as session_store

OTHER = "11111111-2222-4333-8444-555555555555"


def embed_all(repository: Repository) -> list[str]:
    """Index and embed as `know index` does; returns what had no vector."""
    refresh(repository)
    embedder = WordEmbedder()
    catalog = Catalog.open(repository.catalog)
    assert catalog is not None
    with catalog:
        store = VectorStore(repository.vectors, embedder.fingerprint)
        waiting = pending_texts(catalog, store)
    texts = [text for _, text in waiting.texts()]
    embed(waiting, store, embedder)
    return texts


def collect(repository: Repository):
    return VectorStore(repository.vectors, "words").retain(needed(repository))


def session(repository: Repository, *texts: str, name: str = SESSION) -> None:
    records = [user(text, number) for number, text in enumerate(texts, start=1)]
    write(repository, f"sessions/claude/{name}.jsonl", jsonl(records).decode(), stage=False)


def test_what_a_deleted_branch_alone_held_goes(repository, commit):
    write(repository, "concepts/a.md", concept("Base", body="base words"))
    commit()
    git(repository.root, "checkout", "-qb", "side")
    write(repository, "concepts/b.md", concept("Side", body="side words"))
    commit()
    embed_all(repository)
    git(repository.root, "checkout", "-q", "main")
    assert collect(repository).dropped == 0
    git(repository.root, "branch", "-qD", "side")
    kept = collect(repository)
    assert (kept.kept, kept.dropped) == (1, 1)
    assert kept.freed >= 0
    assert embed_all(repository) == []


@pytest.mark.parametrize(
    "held", ["tag", "stash", "old stash", "untracked stash", "detached", "remote"]
)
def test_what_git_holds_in_other_ways_stays(repository, commit, tmp_path, held):
    write(repository, "concepts/a.md", concept("Base", body="base words"))
    commit()
    path = write(repository, "concepts/b.md", concept("Side", body="side words"))
    session(repository, "words of a session that nobody tracks")
    embed_all(repository)
    if held == "tag":
        commit()
        git(repository.root, "tag", "-a", "v1", "-m", "a tag")
        git(repository.root, "reset", "-q", "--hard", "HEAD~1")
    elif held == "detached":
        commit()
        git(repository.root, "worktree", "add", "-q", "--detach", str(tmp_path / "wt"))
        git(repository.root, "reset", "-q", "--hard", "HEAD~1")
    elif held == "remote":
        commit()
        git(repository.root, "update-ref", "refs/remotes/origin/main", "HEAD")
        git(repository.root, "reset", "-q", "--hard", "HEAD~1")
    else:
        git(repository.root, "stash", "-q", *(["-u"] if held == "untracked stash" else []))
        if held == "old stash":
            write(repository, "concepts/a.md", concept("Base", body="other words"))
            git(repository.root, "stash", "-q")
    assert not path.exists()
    assert collect(repository).dropped == 0


def test_what_a_rebase_under_way_comes_from_stays(repository, commit):
    write(repository, "concepts/a.md", concept("Base", body="base words"))
    commit()
    git(repository.root, "checkout", "-qb", "side")
    write(repository, "concepts/b.md", concept("B", body="first"))
    commit()
    write(repository, "concepts/a.md", concept("Side", body="side words"))
    commit()
    embed_all(repository)
    git(repository.root, "checkout", "-q", "main")
    write(repository, "concepts/a.md", concept("Main", body="main words"))
    commit()
    embed_all(repository)
    git(repository.root, "checkout", "-q", "side")
    git(repository.root, "rebase", "main", check=False)
    assert (repository.git_dir / "rebase-merge").is_dir()
    # The branch still names its old tip; a rebase of a detached head has no such name.
    git(repository.root, "update-ref", "-d", "refs/heads/side")
    collect(repository)
    git(repository.root, "update-ref", "refs/heads/side", "ORIG_HEAD")
    git(repository.root, "rebase", "--abort")
    assert embed_all(repository) == []


def test_a_file_name_that_is_no_utf_8_needs_nothing_for_it_is_not_indexed(repository, commit):
    write(repository, "concepts/a.md", concept("Base", body="base words"))
    odd = os.fsencode(repository.root) + b"/concepts/\xff\xfe.md"
    Path(os.fsdecode(odd)).write_text(concept("Odd", body="odd words"))
    commit()
    embed_all(repository)
    assert collect(repository).dropped == 0


def test_a_work_tree_needs_what_lies_in_it_untracked(repository, commit, tmp_path):
    write(repository, "concepts/a.md", concept("Base", body="base words"))
    commit()
    git(repository.root, "worktree", "add", "-q", "-b", "other", str(tmp_path / "wt"))
    other = repository_at(tmp_path / "wt")
    session(other, "words of a session in another work tree")
    embed_all(other)
    Catalog.discard(other.catalog)  # only the files say it
    assert collect(repository).dropped == 0
    (other.sessions / "claude" / f"{SESSION}.jsonl").unlink()
    assert collect(repository).dropped == 1


def test_other_repositories_in_the_same_git_repository_keep_theirs(repository, commit):
    write(repository, "concepts/a.md", concept("Base", body="base words"))
    write(repository, "team/know.toml", "format = 1\n")
    write(repository, "team/concepts/b.md", concept("Team", body="team words"))
    commit()
    embed_all(repository)
    embed_all(repository_at(repository.root / "team"))
    git(repository.root, "checkout", "-qb", "other")
    git(repository.root, "rm", "-rq", "team")
    commit()
    shutil.rmtree(repository.root / "team", ignore_errors=True)
    for catalog in repository.common_dir.rglob("catalog*.db"):
        catalog.unlink()
    assert collect(repository).dropped == 0


def test_sessions_in_parts_and_sub_agents_are_cut_as_they_are_indexed(
    repository, commit, monkeypatch
):
    monkeypatch.setattr(session_store, "PART_BYTES", 2000)
    folder = repository.sessions / "claude"
    first = jsonl([user(f"question {n} of the long session", n) for n in range(1, 12)])
    second = jsonl([assistant(f"answer {n}", n) for n in range(12, 22)])
    folder.mkdir()
    (folder / f"{SESSION}.jsonl").write_bytes(first)
    last = session_store.last_line_digest(folder / f"{SESSION}.jsonl")
    part = session_store.header(1, len(first), last) + second
    (folder / f"{SESSION}.1.jsonl").write_bytes(part)
    (folder / SESSION).mkdir()
    records = [user("the task of a sub-agent", 1, isSidechain=True), assistant("done", 2)]
    (folder / SESSION / "agent-a1.jsonl").write_bytes(jsonl(records))
    commit()
    embedded = embed_all(repository)
    assert any("answer 21" in text for text in embedded)
    assert any("the task of a sub-agent" in text for text in embedded)
    git(repository.root, "checkout", "-q", "--orphan", "empty")
    git(repository.root, "rm", "-rq", "--cached", ".")
    shutil.rmtree(repository.sessions)
    repository.sessions.mkdir()
    assert collect(repository).dropped == 0


@settings(max_examples=12, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(seed=st.integers(0, 10_000))
def test_after_it_no_checkout_has_anything_to_embed(tmp_path_factory, seed):
    choose = random.Random(seed)
    repository = make_repository(tmp_path_factory.mktemp("gc") / "memory")
    git(repository.root, "add", "-A")
    git(repository.root, "commit", "-qm", "first")
    branches = ["main"]
    for step in range(choose.randrange(3, 7)):
        git(repository.root, "checkout", "-q", choose.choice(branches))
        if choose.random() < 0.5:
            branches.append(f"b{step}")
            git(repository.root, "checkout", "-qb", branches[-1])
        for _ in range(choose.randrange(1, 4)):
            number = choose.randrange(4)
            if choose.random() < 0.5:
                text = concept(f"C{number}", body=f"## H\n\nwords {choose.randrange(9)}")
                write(repository, f"concepts/c{number}.md", text)
            else:
                turns = [f"turn {n} {choose.randrange(3)}" for n in range(choose.randrange(1, 5))]
                session(repository, *turns, name=choose.choice([SESSION, OTHER]))
        git(repository.root, "add", "-A")
        git(repository.root, "commit", "-qm", "change", "--allow-empty")
        embed_all(repository)
    for branch in [one for one in branches[1:] if choose.random() < 0.4]:
        git(repository.root, "checkout", "-q", "main")
        git(repository.root, "branch", "-qD", branch)
        branches.remove(branch)
    collect(repository)
    wanted: set[str] = set()
    for branch in branches:
        git(repository.root, "checkout", "-q", branch)
        assert embed_all(repository) == []
        catalog = Catalog.open(repository.catalog)
        assert catalog is not None
        with catalog:
            wanted |= set(catalog.text_hashes())
    assert VectorStore(repository.vectors, "words").hashes() == wanted
