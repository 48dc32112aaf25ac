"""What an archive is said to sum up to, against sums made by hand."""

from __future__ import annotations

import json

import pytest

from helpers import assistant, concept, jsonl, tool_call, tool_result, user, write
from knowrepo.upkeep import stats
from knowrepo.upkeep.stats import Only, Tool, collect
from knowrepo.upkeep.usage import Meter, Tokens

ONE = "11111111-0000-4000-8000-000000000001"
TWO = "22222222-0000-4000-8000-000000000002"


def answered(number, message, read, written, model="opus", **usage):
    record = assistant("said", number)
    given = {"input_tokens": read, "output_tokens": written, **usage}
    record["message"] |= {"id": message, "model": model, "usage": given}
    return record


def put(repository, name, *records):
    path = repository.sessions / f"{name}.jsonl"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(jsonl(records))
    return path


def metered(agent, *records):
    meter = Meter(agent)
    for record in records:
        meter.see(record)
    return meter.by_model()


# -- tokens -----------------------------------------------------------------------


def test_a_message_in_several_records_counts_once_with_its_largest_figures():
    records = [
        answered(1, "m1", 10, 3, cache_read_input_tokens=100, cache_creation_input_tokens=7),
        answered(2, "m1", 10, 50, cache_read_input_tokens=100, cache_creation_input_tokens=7),
        answered(3, "m2", 1, 2, model="haiku"),
        answered(4, "m3", 9, 9, model="<synthetic>"),
    ]
    assert metered("claude", *records) == {"opus": Tokens(10, 50, 100, 7), "haiku": Tokens(1, 2)}


def test_codex_tells_running_totals_and_each_counts_for_the_model_of_its_turn():
    def turn(model):
        return {"type": "turn_context", "payload": {"model": model}}

    def total(read, cached, written):
        given = {
            "input_tokens": read, "cached_input_tokens": cached, "output_tokens": written,
        }  # fmt: skip
        info = {"total_token_usage": given, "last_token_usage": given}
        return {"type": "event_msg", "payload": {"type": "token_count", "info": info}}

    empty = {"type": "event_msg", "payload": {"type": "token_count", "info": None}}
    found = metered(
        "codex", turn("a"), empty, total(100, 40, 5), total(100, 40, 5), turn("b"),
        total(300, 140, 9), total(20, 0, 1),
    )  # fmt: skip
    assert found == {"a": Tokens(60, 5, 40), "b": Tokens(100 + 20, 4 + 1, 100)}


def test_the_figures_of_other_agents():
    usage = {"input": 1, "output": 2, "cacheRead": 3, "cacheWrite": 4}
    pi = {"type": "message", "id": "1", "message": {"model": "m", "usage": usage}}
    assert metered("pi", pi, pi) == {"m": Tokens(1, 2, 3, 4)}
    gemini = {"id": "1", "model": "g", "tokens": {
        "input": 10, "cached": 4, "output": 2, "thoughts": 3, "tool": 1, "total": 16}}  # fmt: skip
    assert metered("gemini", gemini) == {"g": Tokens(7, 5, 4)}
    tokens = {"input": 1, "output": 2, "reasoning": 3, "cache": {"read": 4, "write": 5}}
    opencode = {"info": {"id": "1", "modelID": "o", "tokens": tokens}, "parts": []}
    assert metered("opencode", opencode) == {"o": Tokens(1, 5, 4, 5)}
    said = {
        "type": "assistant.message",
        "data": {"messageId": "1", "model": "c", "outputTokens": 8},
    }
    usage = {"inputTokens": 5, "outputTokens": 8, "cacheReadTokens": 2, "cacheWriteTokens": 1}
    shut = {
        "type": "session.shutdown",
        "id": "s",
        "data": {"modelMetrics": {"c": {"usage": usage}}},
    }
    assert metered("copilot", said, said, shut) == {"c": Tokens(5, 8, 2, 1)}
    assert metered("droid", said) == {}


@pytest.mark.parametrize("odd", [None, "5", -3, True, [], {}, 1e300, float("nan"), float("inf")])
@pytest.mark.parametrize("agent", ["claude", "codex", "gemini", "pi", "opencode", "copilot"])
def test_a_figure_that_is_none_counts_nothing(agent, odd):
    records = [
        {"message": {"id": odd, "model": odd, "usage": {"input_tokens": odd, "input": odd}}},
        {"message": odd, "info": odd, "tokens": odd, "payload": odd, "data": odd, "parts": []},
        {"tokens": {"input": odd}, "info": {"tokens": {"input": odd, "cache": odd}}, "parts": []},
        {"payload": {"type": "token_count", "info": {"total_token_usage": {"input_tokens": odd}}}},
        {"type": "session.shutdown", "data": {"modelMetrics": {"m": odd, "n": {"usage": odd}}}},
        {"type": "assistant.message", "data": {"outputTokens": odd, "model": odd}},
    ]
    assert all(tokens == Tokens() for tokens in metered(agent, *records).values())


# -- sums -------------------------------------------------------------------------


@pytest.fixture
def filled(repository):
    write(repository, "concepts/a.md", concept("A"))
    write(repository, "concepts/index.md", "# Index\n")
    failed = tool_result("no", 3, 2)
    failed["message"]["content"][0]["is_error"] = True
    put(
        repository, f"claude/{ONE}",
        user("run it", 1), tool_call("Bash", 2, command="x"), failed,
        tool_call("Bash", 4, command="x"), tool_result("yes", 5, 4), tool_call("Read", 6),
        answered(7, "m1", 10, 5),
    )  # fmt: skip
    put(repository, f"claude/{ONE}/agent-1", user("the task", 1), answered(2, "m9", 1, 1, "haiku"))
    late = {"timestamp": "2026-06-02T08:00:00Z", "cwd": "/home/dev/other"}
    put(repository, f"claude/{TWO}", user("more", 1, **late))
    return repository


def test_sessions_sub_agents_tools_and_tokens_are_added_up(filled):
    found = collect(filled, Only())
    assert (found.sessions, found.sub_agents, found.records, found.concepts) == (2, 1, 10, 1)
    assert found.tools == {"Bash": Tool(2, 2, 1), "Read": Tool(1, 0, 0)}
    assert found.tokens == Tokens(11, 6)
    assert found.with_tokens == 1
    assert {name: share.tokens for name, share in found.models.items()} == {
        "opus": Tokens(10, 5), "haiku": Tokens(1, 1),
    }  # fmt: skip
    assert {name: share.sessions for name, share in found.projects.items()} == {
        "app": 1, "other": 1,
    }  # fmt: skip
    assert set(found.days) == {"2026-05-01", "2026-06-02"}
    assert (found.first[:10], found.last[:10]) == ("2026-05-01", "2026-06-02")
    assert found.size == sum(path.stat().st_size for path in filled.sessions.rglob("*.jsonl"))


@pytest.mark.parametrize(
    ("only", "records"),
    [
        (Only(since="2026-06"), 1),
        (Only(until="2026-05"), 9),
        (Only(since="2026-05-01", until="2026-06-02"), 10),
        (Only(project="other"), 1),
        (Only(agent="claude"), 10),
        (Only(agent="codex"), 0),
    ],
)
def test_only_what_is_asked_for_counts_with_its_sub_agents(filled, only, records):
    assert collect(filled, only).records == records


def test_what_did_not_change_is_not_read_again_and_what_did_is(filled, monkeypatch):
    before = collect(filled, Only())
    read = []
    real = stats.sums_of

    def watched(session, stamp):
        read.append(session.name)
        return real(session, stamp)

    monkeypatch.setattr(stats, "sums_of", watched)
    assert collect(filled, Only()) == before
    assert read == []
    with (filled.sessions / "claude" / f"{TWO}.jsonl").open("ab") as stream:
        stream.write(jsonl([user("and more", 2)]))
    assert collect(filled, Only()).records == before.records + 1
    assert read == [f"claude/{TWO}"]


@pytest.mark.parametrize(
    "damage",
    [b"", b"{", b"[]", b'{"version": "0"}', b'{"version": "V", "sessions": {"claude/x": {}}}',
     b'{"version": "V", "sessions": {"claude/x": {"tools": 1, "models": {}}}}'],
)  # fmt: skip
def test_a_damaged_file_of_sums_is_made_anew(filled, damage):
    before = collect(filled, Only())
    kept = filled.locks / "stats.json"
    kept.write_bytes(damage.replace(b"V", stats.VERSION.encode()))
    assert collect(filled, Only()) == before
    assert json.loads(kept.read_bytes())["version"] == stats.VERSION


def test_a_session_that_is_gone_is_forgotten(filled):
    collect(filled, Only())
    (filled.sessions / "claude" / f"{TWO}.jsonl").unlink()
    collect(filled, Only())
    assert TWO not in (filled.locks / "stats.json").read_text()


def test_an_agent_without_a_reader_and_broken_lines_count_as_records(repository):
    path = put(repository, f"newer/{ONE}", {"a": 1}, {"b": 2})
    assert collect(repository, Only()).records == 2
    path = put(repository, f"claude/{TWO}", user("a", 1))
    path.write_bytes(path.read_bytes() + b"no json {\n")
    assert collect(repository, Only()).records == 4


def test_a_transcript_cannot_fill_the_memory_with_names_of_tools(repository):
    calls = [tool_call(f"tool-{number}" + "x" * 500, number) for number in range(1, 400)]
    put(repository, f"claude/{ONE}", *calls)
    tools = collect(repository, Only()).tools
    assert len(tools) == 201
    assert tools["(others)"].calls == 199
    assert max(map(len, tools)) <= 80


def test_a_session_of_which_only_sub_agents_are_archived_counts_by_them(repository):
    put(repository, f"claude/{ONE}/agent-1", user("task", 1))
    found = collect(repository, Only(since="2026-05"))
    assert (found.sessions, found.sub_agents, found.records) == (1, 1, 1)
    assert set(found.projects) == {"app"}
