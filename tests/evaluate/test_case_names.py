from __future__ import annotations

import pytest

from knowrepo.evaluate.names import Names, UnknownNameError, key_of

ONE = "sessions/claude/768de5d6-0000-4000-8000-000000000001"
TWO = "sessions/claude/768de5ff-0000-4000-8000-000000000002"
NAMES = Names(
    [
        "concepts/decisions/two-stores", "concepts/top", "concepts/claude/a",
        ONE, TWO, f"{ONE}/agent-1", "sessions/codex/a", "sessions/claude/ab", "sessions/claude/abc",
    ]
)  # fmt: skip


@pytest.mark.parametrize(
    ("name", "key"),
    [
        ("concepts/decisions/two-stores.md", "concepts/decisions/two-stores"),
        ("decisions/two-stores", "concepts/decisions/two-stores"),
        ("decisions/two-stores.md", "concepts/decisions/two-stores"),
        ("top", "concepts/top"),
        (f"{ONE}.jsonl", ONE),
        (ONE, ONE),
        ("claude/768de5d6", ONE),
        ("sessions/claude/768de5d", ONE),
        (f"{ONE}/agent-1", f"{ONE}/agent-1"),
        ("claude/768de5d6/agent-1", f"{ONE}/agent-1"),
        ("codex/a", "sessions/codex/a"),
        (
            "claude/a",
            "concepts/claude/a",
        ),  # a concept by its whole id, before a session's first digits
        ("claude/ab", "sessions/claude/ab"),  # a whole name is nobody's first digits
    ],
)
def test_a_document_is_named_by_path_or_id_or_as_it_is_shown(name, key):
    assert NAMES.resolve(name) == key


def test_first_digits_of_several_sessions_name_none():
    with pytest.raises(UnknownNameError, match=r"claude/768de5 could be .*768de5d6.*768de5ff"):
        NAMES.resolve("claude/768de5")


@pytest.mark.parametrize(
    "name",
    ["two-stores", "concepts/claude/768de5d6", "claude", "sessions", "gone/x", "sessions/top", ""],
)
def test_what_is_not_there_names_nothing(name):
    with pytest.raises(UnknownNameError, match="names no document"):
        NAMES.resolve(name)


def test_a_name_that_is_nearly_right_is_told():
    with pytest.raises(UnknownNameError, match="perhaps decisions/two-stores"):
        NAMES.resolve("concepts/decisions/two-store.md")


def test_the_key_of_a_path_has_no_ending():
    assert key_of("concepts/v1.md.md") == "concepts/v1.md"
    assert key_of("sessions/claude/a.jsonl") == "sessions/claude/a"
