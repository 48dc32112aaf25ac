from __future__ import annotations

import os
from pathlib import Path

import pytest

from knowrepo.sessions import store
from knowrepo.sessions.publish import publish
from knowrepo.sessions.store import SessionName


@pytest.fixture
def session(tmp_path) -> Path:
    """The first file of a session in four parts."""
    first = tmp_path / "sessions" / "claude" / "a.jsonl"
    content = tmp_path / "content"
    content.write_text("".join(f"{number:0199}\n" for number in range(10)))
    publish(content, first, tmp_path / "publish", most=700)
    return first


def numbers(first: Path) -> list[int]:
    return [int(line) for line in store.chunks(first)]


def test_the_parts_of_a_session_are_read_as_one(session):
    names = ["a.jsonl", "a.1.jsonl", "a.2.jsonl", "a.3.jsonl"]
    assert [path.name for path in store.parts(session)] == names
    assert [store.is_part(path) for path in store.parts(session)] == [False, True, True, True]
    assert numbers(session) == list(range(10))


def test_a_part_that_does_not_fit_is_none(session):
    """As when a checkout brings older files of which some are not tracked."""
    first, one, two, three = store.parts(session)
    lines = first.read_bytes().splitlines(keepends=True)
    first.write_bytes(b"".join(lines[:-1]))
    assert store.parts(session) == [first]
    assert store.every_part(session) == [first, one, two, three]
    first.write_bytes(b"".join([*lines[:-1], b"x" * 199 + b"\n"]))  # the same size
    assert store.parts(session) == [first]
    first.write_bytes(b"".join(lines))
    two.unlink()
    assert store.parts(session) == [first, one]
    assert numbers(session) == [0, 1, 2, 3, 4, 5]


def test_a_part_that_is_a_link_is_none(session, tmp_path):
    first, one, *_ = store.parts(session)
    elsewhere = one.rename(tmp_path / "elsewhere")
    one.symlink_to(elsewhere)
    assert store.parts(session) == [first]


def test_a_session_without_its_first_file_is_not_archived(session):
    session.unlink()
    assert store.parts(session) == []
    assert len(store.every_part(session)) == 3


def test_parts_are_in_the_order_of_their_numbers(tmp_path):
    first = tmp_path / "a.jsonl"
    content = tmp_path / "content"
    content.write_text("".join(f"{number:0199}\n" for number in range(14)))
    publish(content, first, tmp_path / "publish", most=210)
    assert [int(p.suffixes[0][1:]) for p in store.every_part(first)[1:]] == list(range(1, 14))
    assert numbers(first) == list(range(14))


@pytest.mark.parametrize("before", [b"", b"first\n", b"x" * 70_000 + b"\n", b"\n"])
@pytest.mark.parametrize("line", [b"a", b"b" * 300_000, b"c" * 65_535, b"d" * 65_536])
def test_the_last_line_is_found_however_long_it_is(tmp_path, before, line):
    path = tmp_path / "x"
    path.write_bytes(before + line + b"\n")
    assert store.last_line_digest(path) == store.digest_of(line)


@pytest.mark.parametrize(
    "name",
    ["..", ".git", "a/b", "", "a" * 200, "x.1", "con", "NUL.x", "a\0b", "-a", "a.", "é"],
)
def test_what_is_no_file_name_everywhere_is_no_id(name):
    assert not SessionName("claude", name).is_safe
    assert not (name and SessionName("claude", "good", name).is_safe)


def test_a_name_is_told_from_its_place(tmp_path):
    for name in (SessionName("codex", "a-1"), SessionName("claude", "agent-1", "parent")):
        assert store.name_of(tmp_path, name.path(tmp_path)) == name
    assert store.name_of(tmp_path, tmp_path / "stray.jsonl") is None


def test_a_stamp_changes_with_every_part(session):
    before = store.stamp(session)
    last = store.parts(session)[-1]
    os.utime(last, ns=(1, 1))
    assert store.stamp(session) != before
    assert store.stamp(session.with_name("other.jsonl")) == ""
