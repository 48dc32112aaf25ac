"""A repository is distilled: drafts follow their sessions, people's concepts stay theirs."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from filelock import FileLock

from helpers import assistant, concept, git, jsonl, make_repository, part_ways, user, write
from knowrepo.concepts import keeping
from knowrepo.concepts.checking.validate import check
from knowrepo.distill import ledger, run
from knowrepo.distill.ledger import LEDGER
from knowrepo.distill.looked import Looked
from knowrepo.distill.pending import Wanted
from knowrepo.distill.run import Outcome
from knowrepo.errors import KnowError
from knowrepo.git.layout import Repository
from knowrepo.sessions.listing import find
from line_finder import LineFinder

CACHE = "concepts/decisions/we-use-a-cache.md"
SAID = "decision cache: We use a cache."
MORE = "cause cache: Reading twice was slow."


def archive(repository: Repository, *texts: str, name: str = "s-1", **fields: Any) -> Path:
    """Put a session into the archive in which the agent says each text in a record."""
    records = [user("Hello.", 1, **fields)]
    records += [assistant(text, number, **fields) for number, text in enumerate(texts, start=2)]
    path = repository.sessions / "claude" / f"{name}.jsonl"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(jsonl(records))
    return path


class Distilled:
    """What runs told, and where."""

    def __init__(self, repository: Repository) -> None:
        self.repository = repository
        self.finder = LineFinder()

    def __call__(self, **wanted: Any) -> list[tuple[str, str]]:
        return [(one.action, one.path) for one in self.outcomes(**wanted)]

    def outcomes(self, **wanted: Any) -> list[Outcome]:
        told: list[Outcome] = []
        run.distill(
            self.repository, find(self.repository), self.finder, told.append,
            wanted=Wanted(**wanted), clock=lambda: datetime(2026, 5, 2, tzinfo=UTC),
        )  # fmt: skip
        return told

    def text(self, path: str = CACHE) -> str:
        return (self.repository.root / path).read_text(encoding="utf-8")

    def ledger(self) -> str:
        return self.text(LEDGER)

    def files(self) -> set[str]:
        found = self.repository.concepts.rglob("*.md")
        return {path.relative_to(self.repository.root).as_posix() for path in found}


@pytest.fixture
def distill(repository: Repository) -> Distilled:
    return Distilled(repository)


# -- what is new ----------------------------------------------------------------


def test_a_session_becomes_drafts_that_are_not_staged(repository, distill):
    archive(repository, SAID, "preference names: Short names.", MORE)
    assert distill() == [
        ("new", "concepts/decisions/reading-twice-was-slow.md"),
        ("new", "concepts/preferences/short-names.md"),
    ]
    assert git(repository.root, "ls-files", "concepts") == ""
    text = distill.text("concepts/decisions/reading-twice-was-slow.md")
    assert "> We use a cache. [^" in text
    assert '"../../sessions/claude/s-1.jsonl#u-2"' in text
    files = {path: (repository.root / path).read_bytes() for path in distill.files()}
    assert check(files, lambda path: (repository.root / path).exists()) == []


def test_what_was_distilled_is_not_proposed_again(repository, distill):
    archive(repository, SAID, MORE)
    distill()
    before = distill.ledger()
    assert distill() == distill(again=True) == []
    assert distill.ledger() == before


def test_a_session_that_did_not_change_is_not_read_again(repository, distill):
    path = archive(repository, SAID)
    archive(repository, "nothing", name="s-2")
    distill()
    distill.finder.seen.clear()
    assert distill() == []
    assert distill.finder.seen == []
    path.write_bytes(path.read_bytes() + jsonl([assistant("x", 9)]))
    distill()
    assert distill.finder.seen == ["claude/s-1"]


def test_new_rules_look_at_every_session_again(repository, distill):
    archive(repository, SAID)
    distill()
    distill.finder = LineFinder("lines/2")
    assert distill() == []
    assert distill.finder.seen == ["claude/s-1"]


def test_a_branch_without_the_drafts_is_distilled_for_itself(repository, distill, commit):
    archive(repository, SAID)
    commit("sessions")
    git(repository.root, "checkout", "-qb", "other")
    distill()
    commit("drafts")
    git(repository.root, "checkout", "-q", "main")
    assert not (repository.root / CACHE).exists()
    assert distill() == [("new", CACHE)]


def test_a_name_that_is_taken_gets_a_number(repository, distill):
    write(repository, CACHE, concept("Something else"))
    archive(repository, SAID)
    assert distill() == [("new", CACHE.replace(".md", "-2.md"))]


# -- a session that grew --------------------------------------------------------


def test_an_untouched_draft_follows_its_session_and_keeps_its_path(repository, distill):
    archive(repository, SAID)
    distill()
    git(repository.root, "add", "concepts")
    archive(repository, SAID, MORE)
    (one,) = distill.outcomes()
    assert (one.action, one.path, len(one.fresh)) == ("grown", CACHE, 1)
    assert "# Why\n\n> Reading twice was slow." in distill.text()
    assert 'title: "Reading' not in distill.text()
    assert "title: Reading twice was slow" in distill.text()
    assert distill() == []


def test_a_draft_that_a_checkout_gave_crlf_is_still_untouched(repository, distill):
    archive(repository, SAID)
    distill()
    path = repository.root / CACHE
    path.write_bytes(path.read_bytes().replace(b"\n", b"\r\n"))
    archive(repository, SAID, MORE)
    assert distill() == [("grown", CACHE)]


def edited(path: Path) -> None:
    path.write_text(path.read_text() + "\nMine.\n")


def accepted(path: Path) -> None:
    path.write_text(path.read_text().replace("status: draft", "status: stable"))


@pytest.mark.parametrize("touch", [edited, accepted])
def test_what_a_person_touched_is_never_written_again(repository, distill, touch):
    archive(repository, SAID)
    distill()
    touch(repository.root / CACHE)
    before = distill.text()
    archive(repository, SAID, MORE)
    assert distill() == []
    assert distill.text() == before
    assert distill.files() == {CACHE}


def test_a_new_decision_beside_a_touched_concept_links_to_it(repository, distill):
    archive(repository, SAID)
    distill()
    accepted(repository.root / CACHE)
    archive(repository, SAID, MORE, "decision cache: The cache holds a thousand entries.")
    path = "concepts/decisions/the-cache-holds-a-thousand-entries.md"
    assert distill() == [("new", path)]
    text = distill.text(path)
    assert "* [We use a cache](we-use-a-cache.md)" in text
    assert "Reading twice" not in text
    assert distill(again=True) == []
    archive(
        repository, SAID, MORE, "decision cache: The cache holds a thousand entries.",
        "cause cache: More do not fit.",
    )  # fmt: skip
    assert distill() == [("grown", path)]
    text = distill.text(path)
    assert "title: The cache holds a thousand entries\n" in text
    assert "> More do not fit" in text
    assert "* [We use a cache](we-use-a-cache.md)" in text


# -- what was rejected ----------------------------------------------------------


def deleted(path: Path) -> None:
    path.unlink()


def renamed(path: Path) -> None:
    path.rename(path.with_name("another.md"))


@pytest.mark.parametrize("reject", [deleted, renamed])
def test_what_was_deleted_or_renamed_stays_so(repository, distill, reject):
    archive(repository, SAID)
    distill()
    reject(repository.root / CACHE)
    before = distill.files()
    archive(repository, SAID, MORE, "decision cache: The cache holds a thousand entries.")
    assert distill() == distill(again=True) == []
    assert distill.files() == before


def test_what_was_deleted_in_a_commit_stays_so_in_another_clone(
    repository, distill, commit, tmp_path
):
    archive(repository, SAID)
    distill()
    commit("draft")
    git(repository.root, "rm", "-q", CACHE)
    commit("reject")
    git(tmp_path, "clone", "-q", str(repository.root), "clone")
    other = run.Repository(*(tmp_path / "clone",) * 2, *(tmp_path / "clone" / ".git",) * 2)
    clone = Distilled(other)
    assert clone() == []
    assert clone.files() == set()


def test_the_name_of_a_rejected_draft_is_not_given_to_another(repository, distill):
    archive(repository, SAID)
    distill()
    (repository.root / CACHE).unlink()
    archive(repository, "decision other: We use a cache!", name="s-2")
    assert distill() == [("new", CACHE.replace(".md", "-2.md"))]


# -- what is known already ------------------------------------------------------


def test_what_a_concept_says_already_is_reported_and_not_written(repository, distill):
    write(repository, "concepts/decisions/cache.md", concept("We use a cache"))
    archive(repository, SAID)
    assert distill() == [("already", "concepts/decisions/cache.md")]
    assert distill.files() == {"concepts/decisions/cache.md"}
    assert distill(again=True) == []
    (repository.root / "concepts/decisions/cache.md").unlink()
    assert distill(again=True) == []


def test_a_copy_of_a_session_proposes_nothing_twice(repository, distill):
    archive(repository, SAID)
    archive(repository, SAID, name="s-2")
    assert distill() == [("new", CACHE), ("already", CACHE)]
    archive(repository, SAID, MORE, name="s-2")
    before = distill.text()
    assert distill() == []  # the draft quotes another session, and is not s-2's to write
    assert distill.text() == before
    archive(repository, SAID, MORE)
    assert distill() == [("grown", CACHE)]


def test_two_groups_never_take_turns_with_one_draft(repository, distill):
    archive(repository, SAID, MORE)
    distill()
    path = "concepts/decisions/reading-twice-was-slow.md"
    archive(repository, SAID, MORE.replace("cache:", "speed:"), "fix speed: Read once.")
    before = distill.text(path)
    distill()
    assert distill() == []
    assert distill.text(path) == before


def test_a_draft_names_the_finder_that_found_it(repository, distill):
    archive(repository, SAID)
    propose = distill.finder.propose
    distill.finder.propose = lambda session: [
        replace(one, found_by="another/2") for one in propose(session)
    ]
    distill()
    assert 'by: "another/2"' in distill.text()


def test_two_proposals_may_share_a_statement_and_each_follows_its_own(repository, distill):
    """As a cause that a decision and a failure have in common."""
    shared = "cause cache: Slow. / cause speed: Slow."
    finder = distill.finder
    propose = finder.propose

    def sharing(session):  # one sentence in two proposals
        found = propose(session)
        cause = next(s for p in found for s in p.statements if s.text.startswith("Slow"))
        return [
            replace(p, statements=(*(s for s in p.statements if s.text[:4] != "Slow"), cause))
            for p in found
        ]

    finder.propose = sharing
    first = ("decision cache: We use a cache.", shared, "decision speed: We read once.")
    archive(repository, *first)
    assert [action for action, _ in distill(dry_run=True)] == ["new", "new"]
    told = distill()
    assert [action for action, _ in told] == ["new", "new"]
    paths = [path for _, path in told]
    assert all("> Slow" in distill.text(path) for path in paths)
    assert distill(again=True) == []
    archive(repository, *first, "fix cache: Cached.", "fix speed: Joined.")
    assert distill() == [("grown", path) for path in paths]
    assert "> Joined" in distill.text(paths[1])
    assert "> Joined" not in distill.text(paths[0])
    (repository.root / paths[0]).unlink()
    archive(repository, *first, "fix cache: Cached.", "fix speed: Joined.", "fix cache: Again.")
    assert distill() == []


def test_related_concepts_are_linked(repository, distill):
    write(repository, "concepts/solutions/cache.md", concept("A cache with two entries"))
    archive(repository, "decision cache: The cache has two entries at most, in memory.")
    ((_, path),) = distill()
    assert "* [A cache with two entries](../solutions/cache.md)" in distill.text(path)


# -- which sessions and proposals -----------------------------------------------


def test_types_and_a_limit_leave_the_rest_for_later(repository, distill):
    archive(repository, SAID, "preference names: Short names.", "decision wal: We use WAL.")
    assert distill(types=frozenset({"Preference"})) == [
        ("new", "concepts/preferences/short-names.md")
    ]
    assert distill(limit=1) == [("new", CACHE)]
    assert distill() == [("new", "concepts/decisions/we-use-wal.md")]
    assert distill() == []


def test_a_sub_agents_session_and_a_warm_up_are_left_out(repository, distill):
    archive(repository, SAID, name="agent-a1")
    path = archive(repository, SAID, name="s-2")
    path.write_bytes(jsonl([user("Warmup", 1), assistant(SAID, 2)]))
    assert distill() == []
    assert distill(named=True) == [("new", CACHE)]
    assert "agent-a1" in distill.text()


def test_a_dry_run_says_the_same_and_writes_nothing(repository, distill):
    archive(repository, SAID, "preference names: Short names.")
    archive(repository, SAID, name="s-2")
    told = distill(dry_run=True)
    assert distill.files() == set()
    assert not (repository.root / LEDGER).exists()
    assert list(repository.locks.glob("distill*.json*")) == []
    assert distill() == told


# -- what goes wrong ------------------------------------------------------------


def test_a_session_that_cannot_be_read_stops_no_other(repository, distill, monkeypatch):
    archive(repository, SAID)
    archive(repository, "x", name="a-0")
    (repository.sessions / "unheard").mkdir()
    (repository.sessions / "unheard" / "x.jsonl").write_text("{}\n")
    (repository.sessions / "claude" / "a-0.jsonl").write_bytes(
        b"<<<<<<< ours\n{}\n>>>>>>> theirs\n"
    )
    told = distill.outcomes()
    assert [(one.action, one.session) for one in told] == [
        ("failed", "claude/a-0"), ("new", "claude/s-1"), ("failed", "unheard/x"),
    ]  # fmt: skip
    assert "know merge sessions/claude/a-0.jsonl" in told[0].note
    assert "no reader for unheard" in told[2].note


def test_a_finder_that_fails_costs_its_session_only(repository, distill):
    archive(repository, SAID)
    archive(repository, SAID, name="a-0")
    propose = distill.finder.propose

    def failing(session):
        if session.name == "claude/a-0":
            raise KnowError("the model does not answer")
        return propose(session)

    distill.finder.propose = failing
    assert distill() == [("failed", ""), ("new", CACHE)]
    distill.finder.propose = propose
    assert distill() == [("already", CACHE)]  # what failed is looked at again


def test_nothing_is_distilled_while_concepts_are_in_conflict(repository, distill):
    part_ways(repository)
    git(repository.root, "merge", "one", check=False)
    archive(repository, SAID)
    with pytest.raises(KnowError, match=r"concepts/a\.md: in conflict"):
        distill()
    assert distill.files() == {"concepts/a.md"}


def test_a_ledger_with_conflict_markers_is_named(repository, distill):
    archive(repository, SAID)
    write(repository, LEDGER, "<<<<<<< ours\n=======\n>>>>>>> theirs\n", stage=False)
    with pytest.raises(KnowError, match=r"distilled\.jsonl: holds conflict markers"):
        distill()
    assert distill.files() == set()


def test_a_second_run_waits_its_turn(repository, distill):
    archive(repository, SAID)
    repository.locks.mkdir(parents=True, exist_ok=True)
    lock = FileLock(repository.locks / "distill.lock")
    lock.acquire()
    told: list[Outcome] = []
    waited: list[bool] = []

    def waiting() -> None:
        waited.append(not told)
        lock.release()

    run.distill(repository, find(repository), distill.finder, told.append, waiting=waiting)
    assert waited == [True]
    assert [one.action for one in told] == ["new"]


def test_a_run_that_is_stopped_keeps_what_it_did(repository, distill):
    archive(repository, SAID)
    archive(repository, "decision wal: We use WAL.", name="s-2")

    def stop(outcome: Outcome) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run.distill(repository, find(repository), distill.finder, stop)
    assert distill.files() == {CACHE}
    assert "decisions/we-use-a-cache" in distill.ledger()
    assert distill() == [("new", "concepts/decisions/we-use-wal.md")]


@pytest.mark.parametrize("step", ["note", "write", "ledger", "clear", "looked"])
@pytest.mark.parametrize("before", [True, False])
@pytest.mark.parametrize("grows", [True, False])
def test_a_killed_run_neither_loses_nor_doubles(
    repository, distill, monkeypatch, step, before, grows
):
    archive(repository, SAID)
    if grows:
        distill()
        archive(repository, SAID, MORE)
    owner, name = {
        "note": (ledger.Journal, "note"), "write": (keeping, "write"),
        "ledger": (run, "write_ledger"), "clear": (ledger.Journal, "clear"),
        "looked": (Looked, "save"),
    }[step]  # fmt: skip
    killed(monkeypatch, distill, owner, name, before=before)
    distill()
    assert distill(again=True) == []
    assert distill.files() == {CACHE}
    assert ("Reading twice" in distill.text()) == grows
    other = Distilled(make_repository(repository.root.parent / "other"))
    archive(other.repository, SAID)
    other()
    if grows:
        archive(other.repository, SAID, MORE)
        other()
    assert distill.text() == other.text()
    assert distill.ledger() == other.ledger()


def test_a_draft_that_is_deleted_after_a_killed_run_is_proposed_once_more(
    repository, distill, monkeypatch
):
    archive(repository, SAID)
    killed(monkeypatch, distill, keeping, "write", before=False)
    (repository.root / CACHE).unlink()  # nobody could know that it was meant as a rejection
    assert distill() == [("new", CACHE)]


def killed(
    monkeypatch: pytest.MonkeyPatch,
    distill: Callable[[], object],
    owner: Any,
    name: str,
    *,
    before: bool,
) -> None:
    """Run in a process that ends, without any clean-up, before or after a function's first call."""
    real = getattr(owner, name)

    def ends(*given: Any) -> None:
        if not before:
            real(*given)
        os._exit(9)

    child = os.fork()
    if child == 0:
        setattr(owner, name, ends)
        distill()
        os._exit(0)
    _, status = os.waitpid(child, 0)
    assert os.waitstatus_to_exitcode(status) == 9


def test_a_dry_run_takes_no_lock_for_the_disk_may_be_read_only(repository, distill):
    archive(repository, SAID)
    repository.locks.mkdir(parents=True, exist_ok=True)
    told: list[Outcome] = []
    with FileLock(repository.locks / "distill.lock"):
        run.distill(
            repository, find(repository), distill.finder, told.append,
            wanted=Wanted(dry_run=True), waiting=lambda: pytest.fail("waited"),
        )  # fmt: skip
    assert [one.action for one in told] == ["new"]
