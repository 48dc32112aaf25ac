"""What must hold of every reader, whatever its agent."""

from __future__ import annotations

import copy
import io
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, get_args

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from helpers import jsonl
from knowrepo.sessions.lines import Line, read_lines
from knowrepo.sessions.readers import READERS, reader_of, recognise
from knowrepo.sessions.readers.values import (
    without_wrappers,
    wrappers,
)
from knowrepo.sessions.record import Reader, Record, Role
from knowrepo.sessions.source import Source, as_lines
from samples import SAMPLES

AGENTS = sorted(SAMPLES)
every_reader = pytest.mark.parametrize("reader", READERS, ids=lambda reader: reader.agent)
every_agent = pytest.mark.parametrize("agent", AGENTS)


def read(agent: str, records: list[dict[str, Any]]) -> list[Record]:
    reader = reader_of(agent)
    assert reader
    return list(reader.read(list(read_lines(io.BytesIO(jsonl(records))))))


def test_every_agent_has_one_reader():
    agents = [reader.agent for reader in READERS]
    assert len(set(agents)) == len(agents)
    assert set(AGENTS) <= set(agents)


@every_agent
def test_a_session_is_recognised_by_its_own_reader_only(agent, tmp_path):
    claims = {reader.agent for reader in READERS if reader.recognises(SAMPLES[agent])}
    assert claims == {agent}
    path = tmp_path / "no-name.txt"
    path.write_bytes(jsonl(SAMPLES[agent]))
    found = recognise(Source(path))
    assert found
    assert (found.reader.agent, found.sessions) == (agent, None)


@every_reader
@pytest.mark.parametrize(
    "records",
    [
        [],
        [{}],
        [{"type": "message"}],
        [{"role": "user", "content": "a chat of no agent"}],
        [{"type": "session", "name": "a log"}],
        [{"timestamp": "t", "level": "info", "message": "a log"}],
    ],
    ids=str,
)
def test_what_is_no_session_is_nobodys(reader, records):
    assert not reader.recognises(records)


@every_agent
def test_each_is_given_with_its_words_and_its_call(agent):
    said = read(agent, SAMPLES[agent])
    spoken = [(r.role, r.text) for r in said if r.text and r.role not in ("injected", "system")]
    assert spoken == [
        ("user", "why is it slow?"),
        ("tool", "12 s"),
        ("assistant", "It reads twice."),
    ]
    calls = [call.argument for record in said for call in record.calls]
    assert len(calls) == 1
    assert "app" in calls[0]


@every_agent
def test_a_record_says_where_it_stands(agent):
    raw = jsonl(SAMPLES[agent])
    said = read(agent, SAMPLES[agent])
    assert len({record.key for record in said}) == len(said)
    assert [record.line for record in said] == sorted(record.line for record in said)
    for record in said:
        assert json.loads(raw[record.start : record.end]) == SAMPLES[agent][record.line - 1]
        assert record.role in get_args(Role)


@every_agent
def test_facts_sum_every_session_up(agent):
    reader = reader_of(agent)
    assert reader
    found = reader.facts(list(read_lines(io.BytesIO(jsonl(SAMPLES[agent])))), "x")
    assert found.first_user_line == "why is it slow?"
    assert found.title in ("why is it slow?", "Slow start")
    assert found.project == "/home/dev/app"
    assert found.date.startswith("2026-05-01T10:00:0")
    assert not found.helper
    assert not found.sub_agent


@every_agent
def test_a_session_whose_file_has_no_telling_name_is_called_by_its_id_inside(agent):
    reader = reader_of(agent)
    assert reader
    ids = [found for record in SAMPLES[agent] if (found := reader.session_id(record))]
    named = reader.identity(Path("copy.jsonl"), ids[0], ids[-1], "")
    assert named == (ids[0], "")


@every_agent
def test_what_recall_printed_is_not_recalled_again_from_any_agent(agent):
    told = json.loads(json.dumps(SAMPLES[agent]).replace("app", "know recall slow"))
    if agent == "codex":  # the folder's name is no call
        told = json.loads(
            json.dumps(SAMPLES[agent]).replace(r"\"time\", \"app\"", r"\"know\", \"recall\"")
        )
    assert [r.text for r in read(agent, told) if r.role == "tool"] == []
    assert "12 s" in [r.text for r in read(agent, told) if r.role == "injected"]


# -- any field of any type ----------------------------------------------------

_leaves = st.one_of(
    st.none(), st.booleans(), st.integers(), st.floats(), st.text(max_size=8),
    st.sampled_from(["user", "assistant", "text", "tool_result", "\ud83d", "<system-reminder>"]),
)  # fmt: skip
_values = st.recursive(
    _leaves,
    lambda inner: st.one_of(
        st.lists(inner, max_size=3),
        st.dictionaries(
            st.sampled_from(["type", "role", "content", "text", "id", "payload", "data"]),
            inner,
            max_size=3,
        ),
    ),
    max_leaves=6,
)
_shapes = [record for sample in SAMPLES.values() for record in sample]


def places(value: Any) -> Iterator[tuple[Any, Any]]:
    """Every container in a value with each of its keys."""
    if isinstance(value, dict | list):
        for key in list(value) if isinstance(value, dict) else range(len(value)):
            yield value, key
            yield from places(value[key])


@st.composite
def disturbed(draw: st.DrawFn) -> dict[str, Any]:
    """A record in the shape of some agent's, with one or two fields of any type."""
    record: dict[str, Any] = copy.deepcopy(draw(st.sampled_from(_shapes)))
    for _ in range(draw(st.integers(1, 2))):
        container, key = draw(st.sampled_from(list(places(record))))
        container[key] = draw(_values)
    return record


def everything(reader: Reader, records: list[dict[str, Any]], lines: list[Line]) -> list[str]:
    reader.recognises(records)
    for record in records:
        reader.record_id(record)
        reader.rank(record)
        first, parent = reader.session_id(record), reader.parent_id(record)
        # Some name a session by what its file says; this one is there, and says other things.
        reader.identity(Path(__file__), first, first, parent)
        reader.folder(record)
    facts = reader.facts(lines, "x")
    said = list(reader.read(lines))
    texts = [facts.title, facts.project, facts.branch, facts.date, facts.first_user_line]
    for record in said:
        texts += [record.key, record.text, record.time, record.parent]
        texts += [part for call in record.calls for part in (call.name, call.argument)]
    return texts


@every_reader
@given(records=st.lists(st.one_of(disturbed(), st.sampled_from(_shapes)), max_size=6))
@settings(max_examples=150, deadline=None)
def test_no_field_of_any_type_stops_a_reader(reader, records):
    for text in everything(reader, records, list(as_lines(records))):
        text.encode()


def test_tags_that_are_never_closed_hide_nothing_and_cost_no_time():
    found = wrappers("note", "hint")
    assert without_wrappers("<note a='1'>x</note> said <hint>y", found) == "said <hint>y"
    assert without_wrappers("<note>a<hint>b</hint></note>c", found) == "c"
    opened = "<note>" * 200_000
    assert without_wrappers(opened, found) == opened
