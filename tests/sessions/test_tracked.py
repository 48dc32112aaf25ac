"""From a path below `sessions/` to its session, and what git is to have of it."""

from __future__ import annotations

import pytest

from knowrepo.sessions.tracked import is_committed, session_of


@pytest.mark.parametrize(
    ("path", "name"),
    [
        ("claude/abc.jsonl", "claude/abc"),
        ("claude/abc.12.jsonl", "claude/abc"),
        ("claude/abc.forgotten", "claude/abc"),
        ("codex/abc/def.1.jsonl", "codex/abc/def"),
        ("claude/v1.2.3.jsonl", ""),  # no id ends in a number
        ("claude/.abc.jsonl.ff.tmp", ""),
        ("claude/.abc.jsonl", ""),
        ("claude/notes.txt", ""),
        ("NOTES.md", ""),
        ("abc.jsonl", ""),
        ("a/b/c/d.jsonl", ""),
    ],
)
def test_a_name_that_the_store_makes_names_its_session(repository, path, name):
    found = session_of(repository, repository.sessions / path)
    assert str(found or "") == name


def put(repository, path):
    full = repository.sessions / path
    full.parent.mkdir(parents=True, exist_ok=True)
    full.write_text("{}\n")
    return full


def test_of_a_session_its_files_are_committed_and_of_a_forgotten_one_their_absence(repository):
    first = put(repository, "claude/abc.jsonl")
    below = put(repository, "claude/abc/agent-1.jsonl")
    other = put(repository, "claude/abd.jsonl")
    assert is_committed(repository, first)
    assert is_committed(repository, below)
    other.unlink()
    assert not is_committed(repository, other)
    tombstone = put(repository, "claude/abc.forgotten")
    assert is_committed(repository, tombstone)
    assert not is_committed(repository, first)  # a late archive brought it back
    first.unlink()
    below.unlink()
    assert is_committed(repository, first)
    assert is_committed(repository, below)
