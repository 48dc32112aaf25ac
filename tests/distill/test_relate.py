"""Links to what has to do with a proposal, and what is said already."""

from __future__ import annotations

import pytest

from knowrepo.distill.relate import Relations


def bundle() -> Relations:
    made = Relations()
    made.add(
        "decisions/wal", "SQLite runs in WAL mode", "Readers never wait.", ["sqlite", "locking"]
    )
    made.add("solutions/locked", "A locked database", "SQLite was locked by a reader.", ["sqlite"])
    made.add("decisions/tabs", "Indent with tabs", "Tabs in all files.", ["style"], ["tabulators"])
    made.add("preferences/short", "Short names", "Names are short.", ["style"])
    return made


def concepts(*given: str) -> list[str]:
    return [one.concept for one in bundle().related(*given)]


def test_a_proposal_links_to_what_shares_rare_words_with_it():
    found = concepts("SQLite locking in readers", "A reader locked SQLite.")
    assert found == ["decisions/wal", "solutions/locked"]
    assert concepts("Use tabulators for indenting") == ["decisions/tabs"]


def test_what_shares_one_word_or_none_is_no_relation():
    assert concepts("A reader of mail") == []
    assert concepts("") == []
    assert concepts("the of and") == []


def test_a_proposal_has_at_most_three_links_and_none_to_itself():
    made = Relations()
    for number in range(9):
        made.add(f"a/{number}", f"Cache eviction {number}", "Old entries go first.")
    found = made.related("Cache eviction", "Entries go.", but=frozenset({"a/0"}))
    assert [one.concept for one in found] == ["a/1", "a/2", "a/3"]


def test_a_word_that_many_concepts_share_relates_none():
    made = Relations()
    for number in range(40):
        made.add(f"a/{number}", f"Release process number{number}")
    assert made.related("Release process") == []


@pytest.mark.parametrize(
    ("title", "same"),
    [
        ("SQLite runs in WAL mode", "decisions/wal"),
        ("sqlite running in wal-mode", "decisions/wal"),
        ("SQLite runs in WAL mode from 3.7 on", ""),
        ("SQLite does not run in WAL mode", ""),
        ("Indent with tabs", "decisions/tabs"),
        ("Indent without tabs", ""),
        ("Never indent with tabs", ""),
        ("Short names", "preferences/short"),
        ("Long names", ""),
    ],
)
def test_nearly_the_same_title_says_the_same(title, same):
    assert bundle().said_by(title) == same


def test_a_long_title_may_differ_in_a_word():
    made = Relations()
    long = "Archive every session as one append only file with redacted values in place"
    made.add("a/b", long)
    assert made.said_by(long.replace("redacted", "masked")) == "a/b"
    assert made.said_by(long.replace("redacted values", "all secrets")) == ""


def test_a_description_of_its_own_says_the_same_under_another_title():
    made = bundle()
    long = "Readers never wait for the writer since SQLite runs in WAL mode."
    made.add("decisions/other", "WAL", long)
    assert made.said_by("Something else", long) == "decisions/other"
    assert made.said_by("Something else", "Readers never wait.") == ""


def test_however_many_concepts_there_are_a_proposal_looks_at_few():
    made = Relations()
    for number in range(5000):
        made.add(f"a/{number}", f"Common words everywhere word{number} thing{number // 20}")
    looked: list[str] = []

    class Counting(dict):  # type: ignore[type-arg]
        def __getitem__(self, concept):
            looked.append(concept)
            return super().__getitem__(concept)

    made._entries = Counting(made._entries)
    assert made.said_by("Common words everywhere word77777 thing3") == ""
    made.related("Common words everywhere thing3")
    assert len(looked) < 100
