"""What was distilled before: a set of lines that survives people, merges and killed runs."""

from __future__ import annotations

import json

import pytest

from knowrepo.distill.ledger import (
    LEDGER,
    Journal,
    Ledger,
    Verdict,
    digest_of,
    judge,
    read_ledger,
    write_ledger,
)
from knowrepo.distill.model import Proposal, Statement
from knowrepo.errors import KnowError

DRAFT = b"---\ntype: Decision\nstatus: draft\n---\n\nWe use a cache.\n"


def proposal(*records: str) -> Proposal:
    said = tuple(Statement("decision", "x", record, 1, "user") for record in records)
    return Proposal("Decision", "A title", "", "claude/s", said)


def key(record: str) -> str:
    return proposal(record).statements[0].key("claude/s")


def ledger(**concepts: tuple[str, ...]) -> Ledger:
    made = Ledger()
    for concept, records in concepts.items():
        made.add(concept, map(key, records), digest_of(DRAFT))
    return made


def judged(made: Ledger, *records: str, claimed: tuple[str, ...] = (), **stands: str) -> Verdict:
    return judge(proposal(*records), made, stands.__getitem__, set(claimed))  # type: ignore[arg-type]


def test_the_file_is_a_sorted_set_of_lines():
    made = ledger(b=("u-2", "u-1"), a=("u-3",))
    made.add("b", [key("u-1")])
    lines = made.content().decode().splitlines()
    assert lines == sorted(set(lines))
    assert len(lines) == 5
    assert all(set(json.loads(line)) in ({"concept", "statement"}, {"concept", "sha256"})
               for line in lines)  # fmt: skip
    assert Ledger(made.content()).content() == made.content()


def test_two_branches_join_as_sets_of_lines():
    ours, theirs = ledger(a=("u-1",)), ledger(b=("u-2",))
    joined = Ledger(ours.content() + theirs.content())
    assert joined.concepts_of(key("u-1")) == ["a"]
    assert joined.concepts_of(key("u-2")) == ["b"]
    both = Ledger(ours.content() + ours.content())
    assert both.content() == ours.content()


def test_a_draft_written_on_two_branches_is_ours_in_either_form():
    made = ledger(a=("u-1",))
    other = DRAFT + b"More.\n"
    mine = Ledger(made.content() + f'{{"concept": "a", "sha256": "{digest_of(other)}"}}\n'.encode())
    assert mine.standing("a", DRAFT) == mine.standing("a", other) == "ours"
    mine.add("a", [], digest_of(other))
    assert mine.standing("a", DRAFT) == "theirs"


@pytest.mark.parametrize(
    "line",
    ["{", "null", "[]", '{"concept": 3, "statement": "x"}', '{"statement": "x"}', "a note", "\xff"],
)
def test_a_damaged_line_costs_itself_only_and_is_kept(line):
    made = ledger(a=("u-1",))
    damaged = Ledger(made.content() + line.encode("latin-1") + b"\r\n\r\n")
    assert damaged.concepts_of(key("u-1")) == ["a"]
    assert damaged.standing("a", DRAFT) == "ours"
    assert line.encode("latin-1") in damaged.content().splitlines()


@pytest.mark.parametrize(
    "concept", ["../README", "a/../../x", "/etc/x", "a//b", "index", "", "a\0"]
)
def test_a_line_that_names_no_concept_means_nothing(concept):
    line = json.dumps({"concept": concept, "sha256": digest_of(DRAFT)}).encode()
    made = Ledger(line + b"\n")
    assert not made.knows(concept)
    assert made.standing(concept, DRAFT) == "theirs"
    assert made.content() == line + b"\n"


def test_a_file_with_crlf_and_without_its_last_newline_is_read():
    made = ledger(a=("u-1",))
    assert Ledger(made.content().replace(b"\n", b"\r\n").rstrip()).content() == made.content()


def test_conflict_markers_are_an_error_that_says_what_to_do():
    made = ledger(a=("u-1",)).content()
    with pytest.raises(KnowError, match=r"distilled\.jsonl: holds conflict markers") as caught:
        Ledger(b"<<<<<<< HEAD\n" + made + b"=======\n>>>>>>> two\n")
    assert "know merge" in caught.value.hint
    assert "git add concepts/distilled.jsonl" in caught.value.hint


def test_only_an_untouched_draft_is_ours():
    made = ledger(a=("u-1",))
    assert made.standing("a", DRAFT) == "ours"
    assert made.standing("a", DRAFT.replace(b"\n", b"\r\n")) == "ours"
    assert made.standing("a", DRAFT + b" ") == "theirs"
    assert made.standing("a", DRAFT.replace(b"draft", b"stable")) == "theirs"
    assert made.standing("a", None) == "gone"
    stable = DRAFT.replace(b"draft", b"stable")
    made.add("b", [], digest_of(stable))
    assert made.standing("b", stable) == "theirs"


def test_what_is_to_be_done_with_a_proposal():
    made = ledger(a=("u-1",), b=("u-2",))
    assert judged(made, "u-8", "u-9") == Verdict("new", fresh=(0, 1))
    assert judged(made, "u-1", a="ours") == Verdict("known", "a")
    grown = Verdict("grown", "a", (1,), (0, 1))
    assert judged(made, "u-1", "u-9", a="ours") == grown
    assert judged(made, "u-1", "u-9", "u-2", a="ours", b="ours") == grown
    assert judged(made, "u-9", "u-2", "u-1", a="gone", b="gone").action == "known"
    beside = Verdict("grown", "a", (2,), (1, 2), "b")
    assert judged(made, "u-2", "u-1", "u-9", a="ours", b="theirs") == beside
    assert judged(made, "u-1", "u-9", a="gone").action == "known"
    assert judged(made, "u-1", "u-2", "u-9", a="theirs", b="gone").action == "known"
    assert judged(made, "u-1", "u-9", a="theirs") == Verdict("beside", "a", (1,))
    assert judged(made, "u-1", a="theirs").action == "known"


def test_a_proposal_goes_with_the_concept_that_most_of_it_went_into():
    made = ledger(a=("u-1", "u-2", "u-3"), b=("u-3", "u-4"))
    assert judged(made, "u-3", "u-1", "u-9", a="gone", b="ours").action == "known"
    assert judged(made, "u-3", "u-4", "u-9", a="gone", b="ours").concept == "b"
    assert judged(made, "u-3", "u-1", "u-9", a="theirs", b="ours") == Verdict("beside", "a", (2,))
    made = ledger(a=("u-1", "u-2"), b=("u-3",))
    assert judged(made, "u-1", "u-2", "u-3", "u-9", a="theirs", b="ours").concept == "b"


def test_what_another_proposal_of_the_session_says_may_be_said_again():
    made = ledger(a=("u-1",))
    assert judged(made, "u-8", "u-1", claimed=("a",)) == Verdict("new", fresh=(0,))
    assert judged(made, "u-1", "u-8", claimed=("a",)) == Verdict("beside", "a", (1,))
    assert judged(made, "u-1", claimed=("a",)) == Verdict("known", "a")
    made.add("b", [key("u-8"), key("u-1")])
    again = judged(made, "u-8", "u-1", "u-9", claimed=("a",), b="ours")
    assert again == Verdict("grown", "b", (2,), (0, 1, 2))


def test_a_draft_is_taken_by_one_proposal_of_a_session_only():
    made = ledger(a=("u-1", "u-2"))
    assert judged(made, "u-2", "u-9", claimed=("a",), a="ours") == Verdict("beside", "a", (1,))


def test_nothing_is_written_where_nothing_changed(repository):
    path = repository.root / LEDGER
    write_ledger(repository, Ledger())
    assert not path.exists()
    made = ledger(a=("u-1",))
    write_ledger(repository, made)
    before = path.stat().st_mtime_ns
    again = read_ledger(path)
    again.add("a", [key("u-1")], digest_of(DRAFT))
    write_ledger(repository, again)
    assert path.stat().st_mtime_ns == before


def test_the_journal_tells_a_killed_run_from_a_rejection(tmp_path):
    journal = Journal(tmp_path / "journal")
    journal.note("written", [key("u-1")], digest_of(DRAFT))
    journal.note("not-written", [key("u-2")], digest_of(DRAFT))
    journal.note("edited", [key("u-3")], digest_of(DRAFT))
    with (tmp_path / "journal").open("ab") as stream:
        stream.write(b'{"concept": "half')
    journal.note("after", [key("u-4")], digest_of(DRAFT))
    files = {"written": DRAFT, "edited": DRAFT + b"mine\n", "after": DRAFT}
    made = Ledger()
    journal.recover(made, files.get)
    assert made.concepts_of(key("u-1")) == ["written"]
    assert made.standing("written", DRAFT) == "ours"
    assert made.concepts_of(key("u-2")) == []
    assert made.concepts_of(key("u-3")) == ["edited"]
    assert made.standing("edited", files["edited"]) == "theirs"
    assert made.concepts_of(key("u-4")) == ["after"]
    journal.clear()
    journal.clear()
    again = Ledger()
    journal.recover(again, files.get)
    assert again.content() == b""


def test_a_draft_that_was_to_be_written_anew_is_still_to_be(tmp_path):
    journal = Journal(tmp_path / "journal")
    made = ledger(a=("u-1",))
    journal.note("a", [key("u-1"), key("u-2")], digest_of(DRAFT + b"More.\n"))
    journal.recover(made, {"a": DRAFT}.get)
    assert made.concepts_of(key("u-2")) == []
    assert made.standing("a", DRAFT) == "ours"


def test_a_ledger_that_is_a_link_is_not_read_for_it_may_lead_anywhere(tmp_path):
    (tmp_path / "secret").write_text("of somebody's home\n")
    (tmp_path / "distilled.jsonl").symlink_to(tmp_path / "secret")
    with pytest.raises(KnowError, match="symbolic link"):
        read_ledger(tmp_path / "distilled.jsonl")


def test_a_ledger_that_cannot_be_read_is_named(tmp_path):
    (tmp_path / "distilled.jsonl").mkdir()
    with pytest.raises(KnowError, match=r"distilled\.jsonl: cannot be read: Is a directory"):
        read_ledger(tmp_path / "distilled.jsonl")
