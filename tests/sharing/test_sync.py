"""Two machines and a bare remote: what one embedded, the other need not."""

from __future__ import annotations

import json

import pytest
from machines import FINGERPRINT, REFS, declining, planted, refs, rows

from helpers import SESSION, concept, git, write
from knowrepo.index import embed, models
from knowrepo.sharing import compact, pack
from knowrepo.sharing.known import Known


def asked(machine, *queries: str) -> list:
    """Hits and scores of some queries."""
    found = []
    for query in queries:
        answer = json.loads(machine.done("recall", query, "--json", "--all", "--no-log").out)
        answer.pop("seconds", None)
        found.append(answer)
    return found


def test_a_clone_that_pulls_embeds_nothing_and_answers_the_same(one, another, words):
    one.concept("lock", "queue", "parser")
    one.session(SESSION, "how do locks end", "with the process", "and the queue?")
    git(one.root, "commit", "-qm", "session")
    one.share()
    other = another()
    words.passages.clear()
    pulled = other.done("sync", "pull")
    compared = len(words.passages)  # those of the sample
    assert 0 < compared <= 4
    assert pulled.out.startswith("file://") is False
    assert "0 texts without a vector" in pulled.out
    index = other.done("index")
    assert index.out.splitlines()[-1] == "vectors: 0 texts embedded"
    assert len(words.passages) == compared
    queries = ("locks end", "about the queue", "something else entirely", "parser")
    assert asked(other, *queries) == asked(one, *queries)
    assert {(h, p, v.tobytes()) for h, p, v in other.store.rows()} == {
        (h, p, v.tobytes()) for h, p, v in one.store.rows()
    }


def test_a_run_without_a_word_pulls_and_then_pushes(one, another):
    one.concept("a")
    one.share()
    other = another()
    other.concept("b")
    git(other.root, "push", "-q", "origin", "main")
    other.done("index")
    lines = other.done("sync").out.splitlines()
    assert "pulled" in lines[0]
    assert "1 vector pushed in 1 pack" in lines[1]
    git(one.root, "pull", "-q", "origin", "main")
    one.done("sync")
    assert one.done("index").out.splitlines()[-1] == "vectors: 0 texts embedded"


def test_what_was_pushed_is_neither_pushed_nor_fetched_again(one, another, remote):
    one.concept("a")
    one.share()
    before = refs(remote)
    assert "0 vectors pushed" in one.done("sync", "push").out
    other = another()
    other.done("sync", "pull")
    assert other.done("sync", "pull").out == (
        "origin: words: 0 vectors pulled; 0 texts without a vector\n"
    )
    assert refs(remote) == before


def test_two_machines_that_embedded_the_same_make_the_same_pack(one, another, remote, tmp_path):
    one.concept("a", "b")
    git(one.root, "push", "-q", "origin", "main")
    other = another()
    for machine in (one, other):
        machine.done("index")
    one.done("sync", "push")
    (ref,) = refs(remote)
    oid = git(remote, "rev-parse", ref)
    git(remote, "update-ref", "-d", ref)
    other.done("sync", "push")
    assert refs(remote) == [ref]
    assert git(remote, "rev-parse", ref) == oid


def test_vectors_of_texts_that_were_never_pushed_stay_here(one, remote):
    one.concept("pushed")
    one.session(SESSION, "first words")
    git(one.root, "commit", "-qm", "session")
    git(one.root, "push", "-q", "origin", "main")
    one.concept("committed")
    write(one.repository, "concepts/staged.md", concept("staged"))
    one.session(SESSION, "first words", "words after the push")
    git(one.root, "checkout", "-qb", "side")
    one.concept("aside")
    one.done("index")
    assert len(one.store.hashes()) == 6
    assert "2 vectors pushed" in one.done("sync", "push").out
    (pushed,) = map(one.texts_in, refs(remote))
    assert sorted(text.split()[-1] for text in pushed) == ["pushed", "words"]
    git(one.root, "push", "-q", "origin", "side")
    assert "4 vectors pushed" in one.done("sync", "push").out


def test_a_session_that_grew_counts_as_far_as_it_was_pushed(one):
    texts = [f"question {n} " + "word " * 300 for n in range(4)]
    one.session(SESSION, *texts[:2])
    git(one.root, "commit", "-qm", "session")
    git(one.root, "push", "-q", "origin", "main")
    one.done("index")
    before = one.store.hashes()
    one.session(SESSION, *texts)
    one.done("index")
    grown = one.store.hashes()
    assert grown > before
    result = json.loads(one.done("sync", "push", "--json").out)["push"][0]
    assert result["texts"] == len(before)


def test_a_branch_that_somebody_else_pushed_counts(one, another):
    one.concept("a")
    one.share()
    other = another()
    other.concept("b")
    git(other.root, "push", "-q", "origin", "main")
    git(one.root, "fetch", "-q")
    git(one.root, "merge", "-q", "--no-edit", "origin/main")
    one.done("index")
    git(one.root, "update-ref", "refs/remotes/origin/main", "HEAD~1")
    other.concept("c")  # what the remote has now is not here
    git(other.root, "push", "-q", "origin", "main")
    assert "1 vector pushed" in one.done("sync", "push").out


def test_a_rewritten_remote_no_longer_holds_what_it_held(one):
    one.concept("a")
    git(one.root, "push", "-q", "origin", "main")
    one.concept("secret")
    git(one.root, "push", "-q", "origin", "main")
    git(one.root, "push", "-qf", "origin", "HEAD~1:main")
    git(one.root, "update-ref", "refs/remotes/origin/main", "HEAD")
    one.done("index")
    assert "1 vector pushed" in one.done("sync", "push").out


def test_a_dry_run_and_a_status_change_nothing(one, another, remote):
    one.concept("a", "b")
    git(one.root, "push", "-q", "origin", "main")
    one.done("index")
    objects = git(one.root, "count-objects")
    assert "2 vectors would be pushed in 1 pack" in one.done("sync", "push", "--dry-run").out
    assert git(one.root, "count-objects") == objects
    assert refs(remote) == []
    one.done("sync", "push")
    other = another()
    objects = git(other.root, "count-objects")
    dry = other.done("sync", "--dry-run").out
    assert "1 pack never looked at may hold more" in dry
    found = json.loads(other.done("sync", "status", "--json").out)
    assert found["version"] == 1
    (status,) = found["status"]
    assert (status["packs"], status["pull"]["unknown"], status["vectors"]) == (1, 1, 0)
    assert "1 pack" in other.done("sync", "status").out
    assert git(other.root, "count-objects") == objects
    assert other.store.is_empty()


def test_the_bytes_that_are_told_are_those_that_git_counts(one, remote):
    one.concept(*(f"c{n}" for n in range(60)))
    git(one.root, "push", "-q", "origin", "main")
    one.done("index")
    told = json.loads(one.done("sync", "push", "--json").out)["push"][0]["size"]
    (ref,) = refs(remote)
    listed = git(one.root, "rev-list", "--objects", git(remote, "rev-parse", ref).strip())
    oids = "\n".join(line.split()[0] for line in listed.splitlines())
    (one.root / "oids").write_text(oids)
    git(one.root, "config", "alias.measure", "!git pack-objects --stdout <oids 2>/dev/null | wc -c")
    wire = int(git(one.root, "measure"))
    assert abs(told - wire) < 0.02 * wire


def test_a_linked_work_tree_shares_what_is_known(one, another, tmp_path):
    one.concept("a")
    one.share()
    other = another()
    other.done("sync", "pull")
    git(other.root, "worktree", "add", "-q", "-b", "side", str(tmp_path / "linked"))
    linked = type(other)(tmp_path / "linked", other._run)
    assert "0 vectors pulled; 0 texts without" in linked.done("sync", "pull", "origin").out


@pytest.mark.parametrize("options", [["--filter=blob:none"], ["--depth=1"], ["--filter=tree:0"]])
def test_a_partial_or_shallow_clone_pulls_and_pushes(one, another, remote, options):
    git(remote, "config", "uploadpack.allowFilter", "true")
    git(remote, "config", "uploadpack.allowAnySHA1InWant", "true")
    one.concept("a")
    one.concept("b")
    git(one.root, "checkout", "-qb", "side")
    one.concept("c")
    git(one.root, "push", "-q", "origin", "side")
    git(one.root, "checkout", "-q", "main")
    one.share()
    other = another(*options)
    other.done("sync", "pull")
    assert other.done("index").out.splitlines()[-1] == "vectors: 0 texts embedded"
    other.concept("d")
    git(other.root, "push", "-q", "origin", "main")
    other.done("index")
    assert "1 vector pushed" in other.done("sync", "push").out


def test_the_environment_of_a_hook_does_not_lead_elsewhere(one, another, tmp_path, monkeypatch):
    one.concept("a")
    one.share()
    other = another()
    git(tmp_path, "init", "-q", "elsewhere")
    monkeypatch.setenv("GIT_DIR", str(tmp_path / "elsewhere" / ".git"))
    monkeypatch.setenv("GIT_INDEX_FILE", str(tmp_path / "none"))
    assert "1 vector pulled" in other.done("sync", "pull").out


def test_the_users_own_refs_and_hooks_are_left_alone(one, another):
    one.concept("a")
    one.share()
    other = another()
    hook = other.root / ".git" / "hooks" / "pre-push"
    hook.parent.mkdir(exist_ok=True)
    hook.write_text("#!/bin/sh\necho ran >> hook.log\nexit 1\n")
    hook.chmod(0o755)
    before = git(other.root, "for-each-ref")
    other.done("sync")
    assert git(other.root, "for-each-ref") == before
    assert not (other.root / ".git" / "FETCH_HEAD").exists()
    assert not (other.root / "hook.log").exists()


def test_without_a_model_the_packs_that_exist_are_pulled_and_named(one, another, monkeypatch):
    one.concept("a")
    one.share()
    monkeypatch.setattr(models, "current", lambda: None)
    other = another()
    result = other.done("sync", "pull")
    assert f"{FINGERPRINT}: 1 vector pulled" in result.out
    assert "there is no model here: vectors of every model are meant" in result.err
    assert len(other.store.hashes()) == 1


def test_where_the_model_cannot_run_packs_are_taken_without_a_look(one, another, monkeypatch):
    one.concept("a")
    one.share()
    monkeypatch.setattr(embed, "lacking", lambda _model: "llama-cpp-python is not installed")
    result = another().done("sync", "pull")
    assert "1 vector pulled" in result.out
    assert "no vector was compared with its text" in result.err


def test_many_small_packs_become_one_and_no_vector_is_lost(one, another, remote):
    names = [f"c{n}" for n in range(compact.MOST_PACKS + 4)]
    for name in names:
        one.concept(name)
        one.share()
        assert len(refs(remote)) <= compact.MOST_PACKS
    other = another()
    assert f"{len(names)} vectors pulled" in other.done("sync", "pull").out


def test_a_remote_that_keeps_every_ref_still_gets_new_ones(one, remote):
    declining(remote, 'test "$3" != 0000000000000000000000000000000000000000')
    for number in range(compact.MOST_PACKS):
        one.concept(f"c{number}")
        one.share()
    one.concept("last")
    git(one.root, "push", "-q", "origin", "main")
    one.done("index")
    result = one.done("sync", "push")
    assert "1 vector pushed" in result.out
    assert "small packs are on the remote: hook declined" in result.err


@pytest.mark.parametrize(
    ("sizes", "taken"),
    [
        ([1] * 8, 0),
        ([1] * 9, 9),
        ([10] * 3 + [1] * 6, 9),
        ([1000, 400, 100] + [1] * 6, 6),
        ([5000] * 20, 0),
        ([900] * 9, 9),
        ([1200] * 9, 8),
    ],
)
def test_small_packs_are_joined_and_large_ones_are_left(sizes, taken):
    plan = compact.plan({str(n): size for n, size in enumerate(sizes)}, full=9600)
    assert len(plan) == taken


def test_what_was_forgotten_leaves_the_packs_and_does_not_come_back(one, another, remote):
    other_id = "11111111-2222-4333-8444-555555555555"
    one.concept("kept")
    one.session(SESSION, "to be forgotten")
    one.session(other_id, "a session that stays")
    git(one.root, "commit", "-qm", "sessions")
    one.share()
    late = another()
    late.done("sync", "pull")
    assert len(late.store.hashes()) == 3
    (ref,) = refs(remote)
    one.done("forget", SESSION, "--yes")
    git(one.root, "add", "-A")
    git(one.root, "commit", "-qm", "forget")
    git(one.root, "push", "-q", "origin", "main")
    assert "1 pack compacted" in one.done("sync", "push").out
    (after,) = refs(remote)
    assert after != ref
    assert "2 vectors pulled" in another().done("sync", "pull").out
    # An older branch on the remote still has it, and a clone that does not know yet.
    git(remote, "update-ref", "refs/heads/old", "main~1")
    late.done("sync", "push")
    one.done("sync")
    assert len(one.store.hashes()) == 2
    assert len(another().store.hashes()) == 0
    again = another()
    again.done("sync", "pull")
    assert len(again.store.hashes()) == 2


def test_a_clone_with_a_tombstone_takes_no_forgotten_text_from_a_pack(one, another, remote):
    one.concept("kept")
    one.session(SESSION, "to be forgotten")
    git(one.root, "commit", "-qm", "sessions")
    one.share()
    other = another()
    other.done("forget", SESSION, "--yes")
    other.done("sync", "pull")
    assert len(other.store.hashes()) == 1


def test_what_is_known_of_packs_goes_with_them(one, remote):
    one.concept("a")
    one.share()
    (ref,) = refs(remote)
    name = ref.rpartition("/")[2]
    assert Known(one.repository, FINGERPRINT).texts(name) is not None
    git(remote, "update-ref", "-d", ref)
    one.concept("b")
    one.share()  # both texts are pushed in one pack now
    assert Known(one.repository, FINGERPRINT).texts(name) is None
    assert len(refs(remote)) == 1


def test_a_ref_is_never_both_a_file_and_a_folder(one, remote):
    one.concept("a")
    one.share()
    (ref,) = refs(remote)
    parts = ref.split("/")
    assert "/".join(parts[:-1]) == REFS
    assert [len(part) for part in parts[-2:]] == [16, 64]


def test_what_the_catalog_lacks_is_taken_from_a_pack_that_was_seen_before(one, another):
    one.concept("a")
    one.share()
    other = another()
    other.done("sync", "pull")
    for segment in other.store.segments():
        segment.unlink()
    (other.store.folder / "manifest.json").unlink()
    assert "1 vector pulled; 0 texts without" in other.done("sync", "pull").out


def test_names_under_our_refs_that_are_no_packs_are_passed_over(one, another):
    one.concept("a")
    one.share()
    git(one.root, "push", "-q", "origin", f"HEAD:{REFS}/notes")
    assert "1 vector pulled" in another().done("sync", "pull").out


def test_a_large_table_travels_in_several_packs(one, another, remote, monkeypatch):
    monkeypatch.setattr(pack, "MOST_BYTES", 32 + 20 * (18 + 2 * 64))
    one.concept(*(f"c{n}" for n in range(50)))
    one.share()
    assert len(refs(remote)) == 4
    assert "50 vectors pulled, 4 packs" in another().done("sync", "pull").out


def test_rows_of_a_planted_pack_that_nothing_holds_do_no_harm(one, another):
    one.concept("a")
    one.share()
    planted(one, pack.encode(FINGERPRINT, rows("what no branch holds")))
    other = another()
    assert "2 vectors pulled" in other.done("sync", "pull").out
    assert "1 vector dropped, 1 kept" in other.done("gc").out
    assert "0 vectors pulled" in other.done("sync", "pull").out
