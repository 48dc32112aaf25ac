"""What became of the concepts between two commits, and which commit is the base."""

from __future__ import annotations

import pytest

from helpers import concept, git, write
from knowrepo.ci.base import base_of, checked_out
from knowrepo.ci.changes import Change, changes
from knowrepo.ci.recalls import compare, no_longer_asked
from knowrepo.errors import KnowError, UsageError
from knowrepo.evaluate.cases import Case
from knowrepo.evaluate.run import Outcome


@pytest.fixture
def base(repository, commit) -> str:
    long = "A line that stays as it is.\n" * 20
    for name in ("gone", "kept", "edited", "moves"):
        write(repository, f"concepts/{name}.md", concept(f"The {name} one", body=name + long))
    commit("base")
    return git(repository.root, "rev-parse", "HEAD").strip()


def test_each_change_is_told_with_its_title(repository, commit, base):
    (repository.root / "concepts" / "gone.md").unlink()
    (repository.root / "concepts" / "b").mkdir()
    git(repository.root, "mv", "concepts/moves.md", "concepts/b/mövéd one.md")
    write(repository, "concepts/edited.md", concept("Now other", status="deprecated"))
    write(repository, "concepts/added.md", concept("Brand new", kind="Failure"))
    write(repository, "concepts/index.md", "# generated\n")
    write(repository, "elsewhere.md", "no concept\n")
    commit()
    assert changes(repository, base) == [
        Change("new", "concepts/added.md", "Brand new", "Failure", "stable"),
        Change("changed", "concepts/edited.md", "Now other", "Decision", "deprecated"),
        Change(
            "moved", "concepts/b/mövéd one.md", "The moves one", "Decision", "stable",
            "concepts/moves.md",
        ),
        Change("removed", "concepts/gone.md", "The gone one", "Decision", "stable"),
    ]  # fmt: skip
    assert changes(repository, "HEAD") == []


def test_the_base_of_a_pull_request_is_where_it_left_its_branch(repository, commit, base):
    git(repository.root, "update-ref", "refs/remotes/origin/main", base)
    git(repository.root, "checkout", "-q", "-b", "change")
    write(repository, "concepts/added.md", concept("New"))
    commit()
    assert base_of(repository, "", {"GITHUB_BASE_REF": "main"}) == base
    git(repository.root, "checkout", "-q", "main")
    write(repository, "concepts/other.md", concept("Other"))
    commit()
    git(repository.root, "update-ref", "refs/remotes/origin/main", "HEAD")
    git(repository.root, "checkout", "-q", "change")
    assert base_of(repository, "", {"GITHUB_BASE_REF": "main"}) == base
    assert base_of(repository, "main~1", {"GITHUB_BASE_REF": "main"}) == base


@pytest.mark.parametrize(
    "branch", ["", "nowhere", "--all", "$(touch pwned)", "a b", "..", "x^{/y}"]
)
def test_a_base_that_git_does_not_know_is_none(repository, base, branch):
    assert base_of(repository, "", {"GITHUB_BASE_REF": branch}) == ""


def test_a_base_that_somebody_names_must_be_there(repository, base):
    for name in ("nowhere", "--all", "-h"):
        with pytest.raises(UsageError, match="no commit of this clone"):
            base_of(repository, name, {})


def test_the_base_is_checked_out_without_hooks_and_goes_again(repository, base):
    hook = repository.git_dir / "hooks" / "post-checkout"
    hook.parent.mkdir(exist_ok=True)
    hook.write_text(f"#!/bin/sh\ntouch {repository.root}/ran\n")
    hook.chmod(0o755)
    with checked_out(repository, base) as there:
        assert (there.concepts / "kept.md").is_file()
        assert there.vectors == repository.vectors
        assert there.catalog != repository.catalog
        place = there.root
    assert not place.exists()
    assert not (repository.root / "ran").exists()
    assert git(repository.root, "worktree", "list").count("\n") == 1


def test_a_base_without_knowledge_is_said_to_have_none(repository, commit, base):
    git(repository.root, "rm", "-q", "know.toml")
    commit()
    with pytest.raises(KnowError, match=r"has no know\.toml"), checked_out(repository, "HEAD"):
        raise AssertionError


def outcome(case: Case, rank: int | None, problem: str = "") -> Outcome:
    return Outcome(case, rank, "hybrid", None, problem)


def test_the_worst_turn_comes_first():
    cases = [Case(name, (name,), line=n) for n, name in enumerate("abcdef", start=1)]
    before = [1, None, 1, 3, 2, None]
    after = [1, 2, None, 5, 1, None]
    old, new = (
        [outcome(c, r, "" if r else "not there") for c, r in zip(cases, ranks, strict=True)]
        for ranks in (before, after)
    )
    told = [(one.turn, one.case.query, one.before, one.after) for one in compare(old, new)]
    assert told == [
        ("no longer found", "c", 1, None),
        ("newly found", "b", None, 2),
        ("found later", "d", 3, 5),
        ("found earlier", "e", 2, 1),
    ]


def test_a_question_in_other_capitals_is_still_asked():
    old = [Case("Who  waters the plants"), Case("where is the key")]
    assert no_longer_asked(old, [Case("who waters the PLANTS")]) == [old[1]]
