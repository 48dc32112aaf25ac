"""What is kept of a file's content saves time, and changes nothing of what is said."""

from __future__ import annotations

import json
import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from helpers import concept, git, make_repository
from knowrepo.concepts import bundle, facts, for_commit
from knowrepo.concepts.facts import Facts, blob_id
from knowrepo.concepts.listed import as_kept, from_kept, listed
from knowrepo.concepts.model import read_concept
from knowrepo.git import plumbing
from knowrepo.git.making import NextCommit


@pytest.fixture
def repo(tmp_path):
    return make_repository(tmp_path / "repo")


def kept(repository):
    return repository.common_dir / "know" / "concepts.facts"


def test_a_fact_is_there_for_the_next_process_and_for_the_same_bytes_only(repo):
    with Facts(repo, "things") as found:
        assert found.get("a") is None
        found.put("a", "1")
        assert found.get("a") == "1"
    with Facts(repo, "things") as found:
        assert (found.get("a"), found.get("b")) == ("1", None)


def test_facts_of_other_rules_are_not_trusted(repo, monkeypatch):
    with Facts(repo, "things") as found:
        found.put("a", "1")
    monkeypatch.setattr(facts, "rules", lambda: "another version")
    with Facts(repo, "things") as found:
        assert found.get("a") is None


@pytest.mark.parametrize(
    "damage",
    [
        lambda _: b"",
        lambda _: b"\xff",
        lambda _: b"\n\n",
        lambda whole: whole[:-1],
        lambda whole: whole[: whole.index(b"\n") + 1],
        lambda whole: whole.replace(b"\t", b" "),
        lambda whole: whole + b"c\t3\n",
        lambda whole: whole[:-1] + bytes(1),
    ],
)
def test_damaged_facts_are_none(repo, damage):
    with Facts(repo, "things") as found:
        found.put("a", "1")
    file = repo.common_dir / "know" / "things.facts"
    file.write_bytes(damage(file.read_bytes()))
    with Facts(repo, "things") as found:
        assert found.get("a") is None
        found.put("b", "2")
    with Facts(repo, "things") as found:
        assert found.get("b") == "2"


def test_facts_that_nobody_asks_for_any_more_go(repo, monkeypatch):
    monkeypatch.setattr(facts, "_SPARE", 2)
    for n in range(10):
        with Facts(repo, "things") as found:
            found.put(str(n), "kept")
    with Facts(repo, "things") as found:
        held = [n for n in range(10) if found.get(str(n)) is not None]
    assert held[-1] == 9
    assert len(held) <= 4


@pytest.mark.parametrize(("key", "value"), [("a\tb", "1"), ("a\nb", "1"), ("a", "1\n2")])
def test_what_is_not_one_line_is_not_kept_and_spoils_nothing(repo, key, value):
    with Facts(repo, "things") as found:
        found.put(key, value)
        found.put("b", "\ttwo\r\u2028three")
    with Facts(repo, "things") as found:
        assert (found.get(key), found.get("b")) == (None, "\ttwo\r\u2028three")


def test_where_only_some_are_asked_for_the_others_stay(repo, monkeypatch):
    monkeypatch.setattr(facts, "_SPARE", 0)
    with Facts(repo, "things") as found:
        for n in range(10):
            found.put(str(n), "kept")
    with Facts(repo, "things", some=True) as found:
        found.put("new", "kept")
    with Facts(repo, "things", some=True) as found:
        assert [found.get(key) for key in ("0", "9", "new")] == ["kept"] * 3


def test_a_commit_of_one_body_leaves_the_facts_of_all_other_concepts(repo, monkeypatch):
    monkeypatch.setattr(facts, "_SPARE", 0)
    for name in "abcdef":
        (repo.concepts / f"{name}.md").write_text(concept(title=name))
    git(repo.root, "add", "-A")
    bundle.write_generated(repo)
    git(repo.root, "add", "-A")
    before = kept(repo).read_text().splitlines()
    with NextCommit(repo) as commit:
        assert not any(file.is_wrong for file in for_commit.write_generated(commit))
    (repo.concepts / "a.md").write_text(concept(title="a") + "More.\n")
    git(repo.root, "add", "-A")
    with NextCommit(repo) as commit:
        assert for_commit.write_generated(commit) == []
    assert set(before[1:]) < set(kept(repo).read_text().splitlines())


def test_a_damaged_last_state_is_none(repo):
    (repo.concepts / "a.md").write_text(concept())
    git(repo.root, "add", "-A")
    bundle.write_generated(repo)
    git(repo.root, "add", "-A")
    for damage in ("", "\0", "100644 x", "160000 aa 0\tconcepts/a.md"):
        with Facts(repo, "generated") as found:
            found.put("last", damage)
        with NextCommit(repo) as commit:
            assert not any(file.is_wrong for file in for_commit.write_generated(commit))


def test_a_folder_that_cannot_be_written_costs_time_only(repo):
    (repo.common_dir / "know").write_text("in the way")
    with Facts(repo, "things") as found:
        found.put("a", "1")


def test_a_blob_has_the_id_that_git_gives_it(repo):
    (repo.root / "a").write_bytes(b"a\r\n\xff")
    assert git(repo.root, "hash-object", "--no-filters", "a").strip() == blob_id(b"a\r\n\xff")


def test_a_blob_of_a_repository_of_sha_256_has_its_id_too(tmp_path):
    git(tmp_path, "init", "-q", "--object-format=sha256")
    (tmp_path / "a").write_bytes(b"a\r\n\xff")
    found = git(tmp_path, "hash-object", "--no-filters", "a").strip()
    assert found == blob_id(b"a\r\n\xff", like=found)


TEXTS = st.text("aB_#[]*\"\\'ä\u2028 :-\t", max_size=8)


@given(TEXTS, TEXTS, st.lists(TEXTS, max_size=3), st.lists(TEXTS, max_size=3))
def test_what_was_kept_of_a_concept_is_listed_as_its_file_is_wherever_it_lies(
    title, description, tags, aliases
):
    front = {"type": title[::-1], "title": title, "description": description,
             "tags": tags, "aliases": aliases}  # fmt: skip
    data = f"---\n{json.dumps(front)}\n---\n".encode()
    kept = as_kept(listed(read_concept("", data)))
    assert "\n" not in kept
    for path in ("concepts/a-b.md", "concepts/sub/c_d_.md"):
        assert from_kept(kept, path) == listed(read_concept(path, data))


def test_concepts_that_did_not_change_are_not_read_again(repo, monkeypatch):
    for name in ("a", "b"):
        (repo.concepts / f"{name}.md").write_text(concept(title=name))
    git(repo.root, "add", "-A")
    bundle.write_generated(repo)
    (repo.concepts / "b.md").write_text(concept(title="new"))
    read = []
    monkeypatch.setattr(bundle, "read_concept", lambda p, d: read.append(d) or read_concept(p, d))
    bundle.write_generated(repo)
    assert read == [concept(title="new").encode()]
    assert '"title": "new"' in (repo.concepts / "tag_index.jsonl").read_text()


def test_what_is_generated_is_the_same_with_and_without_facts_over_random_edits(repo):
    chance = random.Random(7)
    names = [f"{folder}{n}.md" for folder in ("", "sub/", "sub/deep/") for n in "abc"]
    for _ in range(25):
        path = repo.concepts / chance.choice(names)
        path.parent.mkdir(parents=True, exist_ok=True)
        text = concept(title=chance.choice(["One", "Two", ""]), tags=[chance.choice("xyz")])
        match chance.randrange(6):
            case 0:
                path.unlink(missing_ok=True)
            case 1:
                path.write_bytes(text.replace("\n", "\r\n").encode())
            case 2:
                path.write_text(text.replace("type", "tape: [", 1))
            case _:
                path.write_text(text)
        if chance.random() < 0.7:
            git(repo.root, "add", "-A")
        for staged in (False, True):
            remembered = bundle.generated_files(repo, staged=staged)
            aside = kept(repo).rename(kept(repo).with_suffix(".aside"))
            afresh = bundle.generated_files(repo, staged=staged)
            aside.rename(kept(repo))
            assert remembered == afresh
            files = bundle.read_tracked(repo, staged=staged)
            assert [c.path for c in bundle._listed(  # as it would be if all were read
                repo, plumbing.tracked(repo, "concepts"), staged=staged)
            ] == [path for path in files if bundle.is_concept_path(path)]  # fmt: skip
        with NextCommit(repo) as commit:
            assert for_commit.generated_files(commit) == remembered
        if chance.random() < 0.5:
            bundle.write_generated(repo)


def edited(repo, chance):
    """Change something among the concepts, as a person or another tool may."""
    there = sorted(path for path in repo.concepts.rglob("*.md") if path.name != "index.md")
    one = chance.choice(there) if there else repo.concepts / "a.md"
    new = repo.concepts / chance.choice(
        ["a.md", "b_c.md", "sub/a.md", "sub/deep/d.md", "\u00e4.md"]
    )
    new.parent.mkdir(parents=True, exist_ok=True)
    match chance.randrange(20):
        case 0:
            one.unlink(missing_ok=True)
        case 1:
            new.unlink(missing_ok=True)
            new.symlink_to("a.md")
        case 2:
            new.unlink(missing_ok=True)
            new.touch()
            git(repo.root, "add", "-N", "-f", "--", str(new))
            return
        case 3:
            new.unlink(missing_ok=True)
            new.write_text(concept(title=chance.choice(["One", ""]), tags=["x"]))
        case 4 if one.exists():
            one.rename(new)
        case 5:
            (new.parent / "index.md").write_text("# Mine\n")
        case 6:
            (repo.concepts / "tag_index.jsonl").write_text(chance.choice(["", "{}\n"]))
        case 7 if one.is_file() and not one.is_symlink():
            one.write_bytes(one.read_bytes().replace(b"\n", b"\r\n"))
        case _ if one.is_file() and not one.is_symlink():
            one.write_bytes(one.read_bytes() + b"\nMore.\n")  # most edits are of the body
    git(repo.root, "add", "-A")


@pytest.mark.parametrize("seed", range(4))
def test_what_is_known_to_be_right_is_right_over_random_histories(repo, seed, monkeypatch):
    chance = random.Random(seed)
    known = []
    same = for_commit._lists_the_same

    def noted(*given):
        known.append(same(*given))
        return known[-1]

    monkeypatch.setattr(for_commit, "_lists_the_same", noted)
    for _ in range(30):
        edited(repo, chance)
        with NextCommit(repo) as commit:
            wanted = [file for file in for_commit.generated_files(commit) if file.is_wrong]
        with NextCommit(repo) as commit:
            assert [file for file in for_commit.write_generated(commit) if file.is_wrong] == wanted
        if chance.random() < 0.7:
            bundle.write_generated(repo)
            git(repo.root, "add", "-A")
            with NextCommit(repo) as commit:
                for_commit.write_generated(commit)
    assert {True, False} <= set(known)


def test_a_file_that_was_only_announced_is_listed_once_it_is_staged(repo):
    (repo.concepts / "empty.md").touch()
    (repo.concepts / "new.md").write_text("Text.\n")  # nothing is listed of it but its name
    git(repo.root, "add", "concepts/empty.md")
    git(repo.root, "add", "-N", "concepts/new.md")
    for _ in range(2):
        with NextCommit(repo) as commit:
            files = for_commit.write_generated(commit)
        git(repo.root, "add", "concepts/index.md", "concepts/tag_index.jsonl")
    assert not any(file.is_wrong for file in files)
    git(repo.root, "add", "concepts/new.md")
    with NextCommit(repo) as commit:
        assert any(file.is_wrong for file in for_commit.write_generated(commit))
