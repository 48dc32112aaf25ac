"""Packs that are not used: each is told once in one clear line, and in nobody's way."""

from __future__ import annotations

import numpy as np
import pytest
from machines import FINGERPRINT, REFS, commit, planted, rows

from helpers import git
from knowrepo.git import plumbing
from knowrepo.index.vectors import Packed
from knowrepo.sharing import objects, pack, tables
from knowrepo.sharing.objects import name_of

GOOD = pack.encode(FINGERPRINT, rows("a", "b"))


def refused(machine) -> str:
    """Pull; the good pack is taken, one is refused. Returns the line that says why."""
    result = machine.know("sync", "pull")
    assert result.code == 1
    assert "1 vector pulled" in result.out
    assert len(machine.store.hashes()) == 1
    line, hint = result.err.splitlines()
    ref = line.split(": ")[1]
    assert ref.startswith(f"{REFS}/")
    assert line.startswith(f"origin: {ref}: refused: ")
    assert line.endswith("; nothing of it is used")
    assert hint == f"  `git push origin --delete {ref}` removes it there, if you may"
    assert "pushed" in machine.done("sync", "push").out  # the others may still be shared
    return line


@pytest.mark.parametrize(
    ("data", "why"),
    [
        (GOOD[:-1], "it has not the length of 2 vectors, as it says"),
        (b"#!/bin/sh\necho hello\n", "it is no vector pack"),
        (pack.encode("f" * 16, rows("a")), "it says that its vectors are of another fingerprint"),
        (pack.encode(FINGERPRINT, Packed(rows("x").digests, rows("x").parts,
         np.full((1, 16), 0.25, np.float16))), "its vectors have 16 numbers, not 64"),
    ],
)  # fmt: skip
def test_a_pack_with_other_bytes_than_it_should_have_is_refused(one, other, data, why):
    other.done("index")  # it has vectors already, so it knows their dimension
    for segment in other.store.segments():
        assert segment.is_file()
    planted(one, data)
    result = other.know("sync", "pull")
    assert result.code == 1
    assert why in result.err
    assert len(result.err.splitlines()) == 2
    assert len(other.store.hashes()) == 1


def test_a_pack_of_other_vectors_than_the_model_makes_is_refused(one, other):
    other.done("sync", "pull")
    one.concept("lies")
    git(one.root, "push", "-q", "origin", "main")
    one.done("index")
    (new,) = one.store.hashes() - other.store.hashes()
    wrong = rows("something else")
    digests = np.frombuffer(bytes.fromhex(new), "S16")
    planted(one, pack.encode(FINGERPRINT, Packed(digests, wrong.parts, wrong.vectors)))
    git(other.root, "pull", "-q", "origin", "main")
    result = other.know("sync", "pull")
    assert result.code == 1
    assert "its vectors are not what the model makes of the same texts" in result.err
    assert new not in other.store.hashes()
    # Its texts count as not shared, so whoever has them right pushes them.
    assert "1 vector pushed" in one.know("sync", "push").out
    other.know("sync", "pull")
    assert new in other.store.hashes()


def test_a_pack_under_the_name_of_another_is_refused(one, other):
    planted(one, GOOD, name="0" * 64)
    assert "its content has not the hash that it is named by" in refused(other)


def tree_of(machine, *lines: str) -> str:
    data = "".join(f"{line}\0" for line in lines).encode()
    return plumbing.git(machine.repository, "mktree", "-z", data=data).decode().strip()


def blob(machine, data: bytes = GOOD) -> str:
    return plumbing.git(
        machine.repository, "hash-object", "-w", "--stdin", data=data
    ).decode().strip()  # fmt: skip


def our_commit(machine, tree: str) -> str:
    return objects._made(machine.repository, "commit", objects._commit(tree))


def test_a_pack_whose_commit_has_a_parent_is_refused(one, other):
    tree = tree_of(one, f"100644 blob {blob(one)}\tvectors")
    oid = commit(one, tree, "HEAD")
    git(one.root, "push", "-q", "origin", f"{oid}:{REFS}/{name_of(GOOD)}")
    assert "its commit has a parent" in refused(other)


def test_a_pack_whose_commit_is_somebodys_own_is_refused(one, other):
    oid = commit(one, tree_of(one, f"100644 blob {blob(one)}\tvectors"))
    git(one.root, "push", "-q", "origin", f"{oid}:{REFS}/{name_of(GOOD)}")
    assert "its commit is not as know makes it" in refused(other)


@pytest.mark.parametrize(
    "entries",
    [
        ["120000 blob {blob}\tvectors"],
        ["100755 blob {blob}\tvectors"],
        ["040000 tree {tree}\tvectors"],
        ["100644 blob {blob}\tother"],
        ["100644 blob {blob}\tmore", "100644 blob {blob}\tvectors"],
        [],
    ],
)
def test_a_pack_whose_tree_holds_something_else_is_refused(one, other, entries):
    names = {"blob": blob(one), "tree": tree_of(one, f"100644 blob {blob(one)}\tvectors")}
    oid = our_commit(one, tree_of(one, *(entry.format(**names) for entry in entries)))
    git(one.root, "push", "-q", "origin", f"{oid}:{REFS}/{name_of(GOOD)}")
    assert "its tree holds something else than one file `vectors`" in refused(other)


def test_names_that_lead_out_of_the_tree_are_never_used_as_paths(one, other, remote):
    # `mktree` would not make it: the raw object, as a hostile program would write it.
    raw = b"100644 ../../vectors\0" + bytes.fromhex(blob(one))
    tree = plumbing.git(
        one.repository, "hash-object", "-t", "tree", "-w", "--stdin", "--literally", data=raw
    ).decode().strip()  # fmt: skip
    git(one.root, "push", "-q", "origin", f"{our_commit(one, tree)}:{REFS}/{name_of(GOOD)}")
    assert "its tree holds something else" in refused(other)
    assert not (other.root.parent / "vectors").exists()


def test_a_pack_that_git_itself_refuses_costs_the_others_nothing(one, other):
    raw = b"100644 ../../vectors\0" + bytes.fromhex(blob(one))
    tree = plumbing.git(
        one.repository, "hash-object", "-t", "tree", "-w", "--stdin", "--literally", data=raw
    ).decode().strip()  # fmt: skip
    git(one.root, "push", "-q", "origin", f"{our_commit(one, tree)}:{REFS}/{name_of(GOOD)}")
    git(other.root, "config", "transfer.fsckObjects", "true")
    result = other.know("sync", "pull")
    assert result.code == 1
    assert "1 vector pulled" in result.out
    assert f"{name_of(GOOD)}: refused: git does not take it" in result.err


def test_a_ref_that_names_no_commit_is_refused(one, other, remote):
    oid = blob(one)
    git(one.root, "push", "-q", "origin", f"{oid}:{REFS}/{name_of(GOOD)}")
    assert "it is a blob where a commit is due" in refused(other)


def test_a_pack_that_is_too_large_is_refused_by_the_size_that_git_tells(one, other, monkeypatch):
    planted(one, GOOD)
    monkeypatch.setattr(objects, "READ_BYTES", len(GOOD) - 1)
    assert f"its blob is too large ({len(GOOD)} bytes)" in refused(other)


def fetched(machine) -> list[str]:
    """Pull, and return the refs that were asked for."""
    trace = machine.root / ".git" / "trace"
    trace.unlink(missing_ok=True)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("GIT_TRACE", str(trace))
        machine.done("sync", "pull")
    lines = [line for line in trace.read_text().splitlines() if "built-in: git fetch" in line]
    return [word for line in lines for word in line.split() if word.startswith(REFS)]


BAD = b"#!/bin/sh\necho hello\n"


def test_what_was_refused_is_told_once_and_then_neither_fetched_nor_in_the_way(one, other):
    planted(one, BAD)
    refused(other)
    one.concept("b")
    one.share()
    assert len(fetched(other)) == 1  # the good one, which is new
    result = other.done("sync", "pull")
    assert result.err == (
        "origin: 1 pack refused before and passed over; `know sync status` says why,"
        " `--recheck` looks again\n"
    )
    assert other.done("sync", "pull", "--quiet").err == ""
    assert len(other.store.hashes()) == 2
    told = other.done("sync", "status").out
    assert f"refused    {REFS}/{name_of(BAD)}: it is no vector pack" in told
    assert "never looked at" not in told


def test_what_was_refused_can_be_looked_at_again(one, other):
    planted(one, BAD)
    refused(other)
    other.done("sync", "status", "--recheck")  # changes nothing
    other.done("sync", "pull", "--recheck", "--dry-run")
    other.done("sync", "pull")
    assert other.know("sync", "pull", "--recheck").code == 1
    git(one.root, "push", "-q", "origin", "--delete", f"{REFS}/{name_of(BAD)}")
    assert other.done("sync", "pull").err == ""
    assert not list(other.repository.common_dir.glob("know/sharing/**/*.refused"))


def test_another_version_of_know_looks_at_what_this_one_refuses(one, other, monkeypatch):
    planted(one, BAD)
    refused(other)
    monkeypatch.setattr("knowrepo.__version__", "99.0")
    assert other.know("sync", "pull").code == 1


def test_a_good_pack_under_a_name_that_was_refused_is_taken(one, other, remote):
    planted(one, BAD, name=name_of(GOOD))
    refused(other)
    git(one.root, "push", "-q", "origin", "--delete", f"{REFS}/{name_of(GOOD)}")
    planted(one, GOOD)
    assert "2 vectors pulled" in other.done("sync", "pull").out


def test_many_packs_that_are_refused_are_told_in_a_few_lines(one, other):
    planted(one, *(BAD + bytes([number]) for number in range(30)))
    result = other.know("sync", "pull")
    assert result.code == 1
    assert "1 vector pulled" in result.out
    told = result.err.splitlines()
    assert len(told) == 7
    assert "25 more are refused" in told[5]


def test_a_push_names_what_it_refuses_and_does_not_fail_of_it(one, other):
    planted(one, BAD)
    other.concept("b")
    git(other.root, "push", "-q", "origin", "main")
    other.done("index")
    result = other.done("sync", "push")
    assert "1 vector pushed" in result.out
    assert "refused: it is no vector pack" in result.err


def test_a_pack_that_is_too_large_is_never_brought_as_a_whole(one, other, monkeypatch):
    noise = np.random.default_rng(1).bytes(3_000_000)
    planted(one, *(pack.encode(FINGERPRINT, rows(f"text {n}")) for n in range(5)), noise)
    monkeypatch.setattr(pack, "READ_BYTES", 100_000)
    result = other.know("sync", "pull")
    assert result.code == 1
    assert "6 vectors pulled" in result.out
    assert f"{name_of(noise)}: refused: git does not take it (origin: " in result.err
    assert "File too large" in result.err
    here = sum(path.stat().st_size for path in other.root.rglob(".git/objects/**/*"))
    assert here < 1_000_000
    assert name_of(noise) not in " ".join(fetched(other))


def test_a_pack_of_other_dimensions_does_not_decide_what_the_others_must_have(
    one, another, monkeypatch
):
    monkeypatch.setattr("knowrepo.index.models.current", lambda: None)
    made = tables.described(None)
    fingerprint, table = next((f, t) for f, t in made.items() if t.dimension == 384)
    digests, parts = rows("x").digests, rows("x").parts

    def of(dimension: int) -> bytes:
        vectors = np.zeros((1, dimension), np.float16)
        vectors[0, 0] = 1
        return pack.encode(fingerprint, Packed(digests, parts, vectors))

    for dimension in (8, 16, 384):
        made_one = objects.write(one.repository, fingerprint, of(dimension))
        git(one.root, "push", "-q", "origin", f"{made_one.commit}:{made_one.ref}")
    result = another().know("sync", "pull")
    assert f"{table.name}: 1 vector pulled" in result.out
    assert "its vectors have 8 numbers, not 384" in result.err
    assert "its vectors have 16 numbers, not 384" in result.err
