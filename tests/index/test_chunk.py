from __future__ import annotations

import io

from hypothesis import given
from hypothesis import strategies as st

from helpers import assistant, concept, jsonl, tool_call, tool_result, user
from knowrepo.concepts.model import read_concept
from knowrepo.index.chunk import LIMIT, Chunk, concept_chunks, cut, session_chunks
from knowrepo.sessions.lines import read_lines
from knowrepo.sessions.readers.claude import ClaudeReader


def chunks(records: list[dict], name: str = "x") -> list[Chunk]:
    reader = ClaudeReader()
    lines = list(read_lines(io.BytesIO(jsonl(records))))
    read = list(reader.read(lines))
    return list(session_chunks(read, reader.facts(lines, name)))


def long_session(exchanges: int) -> list[dict]:
    records: list[dict] = []
    for n in range(exchanges):
        records += [
            user(f"question {n}", len(records) + 1),
            assistant(f"answer {n}. " * 150, len(records) + 2),
            tool_call("Bash", len(records) + 3, command=f"make {n}"),
            tool_result(f"output {n} " * 100, len(records) + 4, len(records) + 3),
        ]
    return records


def test_an_exchange_is_a_users_turn_and_what_follows():
    records = [
        user("why?", 1),
        assistant("because", 2),
        tool_call("Bash", 3, command="ls"),
        tool_result("file", 4, 3),
        user("ok", 5),
    ]
    first, second = chunks(records)
    assert first.text == "User: why?\nAssistant: because\nBash: ls\nOutput: file"
    assert (first.anchor, first.heading, first.line) == ("u-1", "why?", 1)
    assert first.time == "2026-05-01T10:00:01.000Z"
    assert (second.text, second.anchor, second.line) == ("User: ok", "u-5", 5)


def test_the_embedded_text_begins_with_frozen_context():
    first, _ = chunks([user("why?", 1), user("ok", 2)])
    assert first.embedded_text == "2026-05-01 | app | why?\nUser: why?"


def test_machine_written_text_is_left_out():
    records = [user("Summary of all", 1, isCompactSummary=True), user("note", 2, isMeta=True)]
    assert chunks(records) == []


def test_tool_output_is_its_head_and_its_tail():
    (chunk,) = chunks([user("x", 1), tool_result("a" * 500 + "b" * 500, 2, 1)])
    assert f"Output: {'a' * 300} … {'b' * 150}" in chunk.text


def test_no_chunk_is_longer_than_the_limit_and_no_prose_is_lost():
    records = [user("word " * 1000, 1), assistant("sentence here. " * 400, 2)]
    found = chunks(records)
    assert all(len(chunk.text) <= LIMIT for chunk in found)
    assert sum(chunk.text.count("word") for chunk in found) == 1000
    assert sum(chunk.text.count("sentence here.") for chunk in found) == 400


@given(st.integers(1, 16))
def test_appending_to_a_session_changes_no_chunk_but_the_last(length):
    whole = long_session(4)
    before, after = chunks(whole[:length]), chunks(whole)
    assert [c.anchor for c in after][: len(before)] == [c.anchor for c in before]
    assert after[: len(before) - 1] == before[:-1]


def test_anchors_are_unique():
    anchors = [chunk.anchor for chunk in chunks(long_session(5))]
    assert len(anchors) == len(set(anchors))


def test_a_sub_agents_task_is_a_turn_and_an_inline_one_is_not():
    records = [user("task", 1, isSidechain=True), assistant("done", 2, isSidechain=True)]
    main = [user("please", 1), *[{**r, "uuid": r["uuid"] + "s"} for r in records]]
    assert len(chunks(records, name="agent-1")) == 1
    assert chunks(records, name="agent-1")[0].heading == "task"
    assert [c.heading for c in chunks(main)] == ["please"]


def of_concept(body: str, title: str = "T") -> list[Chunk]:
    return concept_chunks(read_concept("concepts/a.md", concept(title, body=body).encode()))


def test_a_concept_is_cut_at_its_headings():
    found = of_concept("intro\n\n# Why\n\nreason\n\n## Detail\n\nmore\n\n# Why\n\nagain\n")
    assert [(c.anchor, c.heading) for c in found] == [
        ("", ""), ("Why", "Why"), ("Why > Detail", "Why > Detail"), ("Why\0002", "Why"),
    ]  # fmt: skip
    assert found[2].embedded_text == "T > Why > Detail\nmore"


def test_headings_that_look_like_anchors_stay_apart():
    body = "# S\n\na\n\n# S\n\nb\n\n# S#2\n\nc\n\n# N\n\n" + "long " * 500 + "\n\n# N/1\n\nd\n"
    found = of_concept(body)
    assert len({c.anchor for c in found}) == len(found) >= 6


def test_a_heading_in_a_code_block_is_no_heading():
    (chunk,) = of_concept("text\n\n```sh\n# not a heading\n```\n")
    assert "# not a heading" in chunk.text


def test_a_long_section_is_cut_between_its_blocks():
    code = "```\n" + "line\n" * 100 + "```"
    found = of_concept(f"# H\n\n{'before ' * 100}\n\n{code}\n\n{'after ' * 100}\n")
    assert all(len(c.text) <= LIMIT for c in found)
    assert sum(c.text.count(code) for c in found) == 1


def test_a_concept_without_a_body_is_found_by_its_description():
    text = concept("T", description='"one sentence"')
    (chunk,) = concept_chunks(read_concept("concepts/a.md", text.encode()))
    assert chunk.text == "one sentence"


@given(st.text(max_size=300), st.integers(5, 50))
def test_cutting_loses_no_word(text, limit):
    pieces = cut(text, limit)
    assert all(len(piece) <= limit for piece in pieces)
    assert "".join("".join(pieces).split()) == "".join(text.split())
