"""Finding archived sessions, telling them by name, and summing them up at a glance."""

from __future__ import annotations

import pytest

from helpers import SESSION, assistant, jsonl, tool_result, user
from knowrepo.errors import KnowError
from knowrepo.sessions import store
from knowrepo.sessions.listing import (
    Archived,
    find,
    glance,
    resolve,
    short_names,
)
from knowrepo.sessions.publish import publish
from knowrepo.sessions.readers.claude import ClaudeReader

OTHER = "0f0e0d0c-ffff-4908-8706-050403020100"


def put(repository, name, *records):
    path = repository.sessions / f"{name}.jsonl"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(jsonl(records or [user("hello")]))
    return path


def title(text, number=9):
    return {"type": "ai-title", "aiTitle": text, "sessionId": SESSION, "uuid": f"t-{number}"}


# -- finding --------------------------------------------------------------------


def test_a_session_comes_with_its_sub_agents_and_their_sizes(repository):
    own = put(repository, f"claude/{SESSION}")
    agent = put(repository, f"claude/{SESSION}/agent-1")
    output = put(repository, f"claude/{SESSION}/tool-b2")
    (session,) = find(repository)
    assert session.name == f"claude/{SESSION}"
    assert [other.name for other in session.below] == [
        f"claude/{SESSION}/agent-1",
        f"claude/{SESSION}/tool-b2",
    ]
    assert session.sub_agents == 1
    assert session.whole_size == sum(p.stat().st_size for p in (own, agent, output))


def test_parts_are_one_session_read_one_after_the_other(repository, tmp_path):
    first = repository.sessions / "claude" / f"{SESSION}.jsonl"
    whole = tmp_path / "whole"
    whole.write_bytes(jsonl([user(text, n) for n, text in enumerate(("one", "two", "three"))]))
    publish(whole, first, tmp_path / "publish", most=500)
    (session,) = find(repository)
    parts = store.parts(first)
    assert len(parts) == 3
    assert session.size == sum(part.stat().st_size for part in parts)
    lines = store.SessionLines(session.path)
    for _ in range(2):  # readers go through it more than once
        assert [record.text for record in ClaudeReader().read(lines)] == ["one", "two", "three"]
    assert resolve(repository, str(parts[1])) == session


def test_a_name_that_ends_in_a_number_is_no_part_where_there_is_no_first(repository):
    put(repository, "claude/run.1")
    assert [session.id for session in find(repository)] == ["run.1"]


def test_sub_agents_without_their_session_are_listed_under_its_id(repository):
    put(repository, f"claude/{SESSION}/agent-1", user("the task"))
    (session,) = find(repository)
    assert (session.name, session.size) == (f"claude/{SESSION}", 0)
    assert list(store.SessionLines(session.path)) == []
    assert glance(session).title == "the task"


def test_no_symbolic_link_is_followed(repository, tmp_path):
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "x.jsonl").write_bytes(jsonl([user("a secret")]))
    (repository.sessions / "claude").mkdir()
    (repository.sessions / "claude" / "link.jsonl").symlink_to(outside / "x.jsonl")
    (repository.sessions / "evil").symlink_to(outside)
    assert find(repository) == []


def test_an_archive_that_is_not_there_is_empty(repository):
    repository.sessions.rmdir()
    assert find(repository) == []


# -- naming ---------------------------------------------------------------------


@pytest.mark.parametrize(
    "given",
    [SESSION, "0f0e0d0c-0", f"claude/{SESSION}", "claude/0f0e0d0c-0",
     f"sessions/claude/{SESSION}.jsonl"],
)  # fmt: skip
def test_a_session_is_named_by_id_prefix_or_path(repository, monkeypatch, given):
    monkeypatch.chdir(repository.root)
    put(repository, f"claude/{SESSION}")
    put(repository, f"claude/{OTHER}")
    assert resolve(repository, given).id == SESSION


def test_a_name_in_the_other_case_is_found_where_none_is_in_its_own(repository):
    put(repository, "claude/aaaa1111-x", user("one"))
    put(repository, "opencode/ses_Ab12", user("two"))
    put(repository, "opencode/ses_aB12", user("three"))
    assert resolve(repository, "AAAA1111-X").id == "aaaa1111-x"
    assert resolve(repository, "claude/AAAA").id == "aaaa1111-x"
    put(repository, "claude/aaaa1111-x/agent-7", user("three"))
    assert resolve(repository, "claude/aaaa/agent-7").name == "claude/aaaa1111-x/agent-7"
    assert resolve(repository, "ses_aB").id == "ses_aB12"
    with pytest.raises(KnowError, match="2 sessions"):
        resolve(repository, "SES_AB12")
    for other in ("codex/aaaa", "claude/bbbb/agent-7", "claude/aaaa/b/agent-7"):
        with pytest.raises(KnowError, match="no archived session"):
            resolve(repository, other)


def test_a_path_is_told_from_any_folder(repository, monkeypatch):
    path = put(repository, f"claude/{SESSION}")
    monkeypatch.chdir(path.parent)
    for given in (path.name, str(path), f"sessions/claude/{SESSION}.jsonl"):
        assert resolve(repository, given).id == SESSION


def test_an_ambiguous_prefix_names_its_candidates(repository):
    put(repository, f"claude/{SESSION}")
    put(repository, f"claude/{OTHER}")
    with pytest.raises(KnowError) as error:
        resolve(repository, "0f0e0d0c")
    assert "2 sessions" in error.value.message
    assert f"claude/{SESSION}" in error.value.hint
    assert f"claude/{OTHER}" in error.value.hint


def test_many_candidates_are_not_all_listed(repository):
    for number in range(30):
        put(repository, f"claude/aaaa{number:02d}")
    with pytest.raises(KnowError) as error:
        resolve(repository, "aaaa")
    assert error.value.hint.endswith("and 20 more")


def test_an_exact_id_is_not_ambiguous_where_another_begins_with_it(repository):
    put(repository, "claude/abcd")
    put(repository, "claude/abcdef")
    assert resolve(repository, "abcd").id == "abcd"


def test_a_session_is_meant_before_its_sub_agents(repository):
    put(repository, "claude/agent-7")
    put(repository, f"claude/{SESSION}/agent-77")
    assert resolve(repository, "agent-7").name == "claude/agent-7"
    assert resolve(repository, "agent-77").name == f"claude/{SESSION}/agent-77"
    assert resolve(repository, f"claude/{SESSION}/agent-77").id == "agent-77"


@pytest.mark.parametrize("given", ["0f0", "", "/", "nowhere", "codex/0f0e0d0c", "x.jsonl",
                                   "../../etc/passwd", "/etc/passwd.jsonl"])  # fmt: skip
def test_what_names_nothing_says_how_to_see_what_there_is(repository, given):
    put(repository, f"claude/{SESSION}")
    with pytest.raises(KnowError) as error:
        resolve(repository, given)
    assert "know sessions" in error.value.hint


def test_a_shown_name_is_long_enough_to_be_unique_and_resolves(repository):
    ids = [SESSION, OTHER, "12345678-0000-4000-8000-000000000001"]
    for one in ids:
        put(repository, f"claude/{one}")
    names = short_names(find(repository))
    assert names[f"claude/{ids[2]}"] == "claude/12345678"
    assert {resolve(repository, name).id for name in names.values()} == set(ids)


# -- summing up -----------------------------------------------------------------


def facts_of(repository, *records):
    path = put(repository, f"claude/{SESSION}", *records)
    session = Archived("claude", SESSION, path, path.stat().st_size)
    return glance(session), ClaudeReader().facts(store.SessionLines(path), SESSION)


def test_a_glance_at_a_short_session_finds_all_that_reading_it_finds(repository):
    seen, read = facts_of(repository, user("why?"), assistant("because"), title("Locks"))
    assert seen == read
    assert seen.title == "Locks"


def test_a_glance_at_a_long_session_finds_its_last_title(repository):
    filling = [tool_result("x" * 5000, number, 1) for number in range(3, 60)]
    seen, read = facts_of(
        repository, title("First", 1), user("why?", 2), *filling, title("Last", 99)
    )
    assert seen == read
    assert seen.title == "Last"


def test_a_long_session_without_a_title_is_called_by_its_first_line(repository):
    filling = [tool_result("x" * 5000, number, 1) for number in range(3, 60)]
    seen, read = facts_of(repository, user("why?", 2), *filling, user("the last word", 99))
    assert seen == read
    assert seen.title == "why?"


def test_a_glance_reads_on_until_somebody_says_something(repository):
    filling = [tool_result("x" * 5000, number, 1) for number in range(3, 60)]
    seen, read = facts_of(repository, *filling, user("at last", 99), *filling)
    assert seen == read
    assert seen.first_user_line == "at last"


def test_a_line_longer_than_all_that_is_read_does_no_harm(repository):
    seen, _ = facts_of(repository, tool_result("x" * 3_000_000, 1, 1), user("late", 2))
    assert seen.title == ""


# -- forgotten ------------------------------------------------------------------


def test_a_forgotten_session_whose_files_are_there_again_is_not_found(repository):
    put(repository, f"claude/{SESSION}")
    put(repository, f"claude/{SESSION}.1")
    put(repository, f"claude/{SESSION}/agent-1")
    put(repository, f"claude/{OTHER}")
    put(repository, f"claude/{OTHER}/agent-1")
    put(repository, f"claude/{OTHER}/agent-2")
    for name in (SESSION, f"{OTHER}/agent-1"):
        (repository.sessions / "claude" / f"{name}.forgotten").write_text("forgotten\n")
    (session,) = find(repository)
    assert [session.id, *(other.id for other in session.below)] == [OTHER, "agent-2"]
    with pytest.raises(KnowError, match="was forgotten") as error:
        resolve(repository, SESSION)
    assert f"know forget claude/{SESSION} --yes" in error.value.hint


@pytest.mark.parametrize("left", [f"{SESSION}", f"{SESSION}.1", f"{SESSION}.7", f"{SESSION}/a-1"])
def test_what_is_left_of_a_session_names_it_to_be_forgotten(repository, left):
    path = put(repository, f"claude/{left}")
    for _ in range(2):
        for given in (SESSION, SESSION[:8], str(path)):
            found = resolve(repository, given, forgotten=True)
            expected = f"claude/{SESSION}"
            if "/" in left and given == str(path):
                expected = f"claude/{left}"
            assert found.name == expected
        (repository.sessions / "claude" / f"{SESSION}.forgotten").write_text("forgotten\n")
